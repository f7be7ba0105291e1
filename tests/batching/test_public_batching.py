"""The public interface of lodcore.batching: loaded when it is first used, documented, with examples that run."""

import doctest
import inspect
import subprocess
import sys

import pytest

import lodcore
from lodcore import batching
from tests.helpers.processes import environment

FUNCTIONS = [name for name in batching.__all__ if inspect.isfunction(getattr(batching, name))]
pytestmark = pytest.mark.not_on_reference


@pytest.mark.parametrize("name", batching.__all__)
def test_public_names_of_batching_and_their_members_have_docstrings(name):
    thing = getattr(batching, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if not member.startswith("_") and callable(value):
                assert inspect.getdoc(value), f"{name}.{member}"


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "plot_occupancy"])
def test_functions_have_examples_that_run(name):
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(batching, name), name)
    assert example.examples, f"{name} shows no example"
    assert doctest.DocTestRunner().run(example).failed == 0


def test_lodcore_batching_is_loaded_when_it_is_first_used():
    program = (
        "import sys, lodcore; assert 'lodcore.batching' not in sys.modules; "
        "assert lodcore.batching.pack_plan([1, 2], 3).num_bins == 1; "
        "assert not {'torch', 'pyarrow', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], env=environment(), check=True, timeout=600)
    assert "batching" in dir(lodcore)
