"""Profiles of hypothesis, and the packages of kernels on which the suite runs."""

import contextlib
import functools
import gc
import importlib
import importlib.util
import inspect
import os
import sys
import types
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from lodcore import kernels

# Most tests run once per package of kernels, as methods of another `self` each time; a loaded machine draws slowly.
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])
settings.register_profile("default", COMMON, max_examples=100)
settings.register_profile("ci", COMMON, max_examples=25, derandomize=True, database=None)
settings.register_profile("mutants", COMMON, max_examples=100, derandomize=True, database=None)
settings.register_profile("nightly", COMMON, max_examples=10_000, derandomize=False)
settings.register_profile("soak", COMMON, max_examples=100, derandomize=False, database=None, print_blob=True)
settings.register_profile("dozen", COMMON, max_examples=12, derandomize=True, database=None)
settings.register_profile("handful", COMMON, max_examples=5, derandomize=True, database=None)
settings.register_profile("pair", COMMON, max_examples=2, derandomize=True, database=None)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
settings.load_profile(PROFILE)
# Without a database, hypothesis asks the settings of all earlier rows of a parametrized test for one, at each row.
if settings.get_profile(PROFILE).database is None:
    type.__setattr__(settings, "database", property(lambda self: None, lambda self, value: None))
# No test draws from the global generators, so they need not be saved, compared and restored around each example.
with contextlib.suppress(ImportError, AttributeError):  # other versions of hypothesis
    for module, name in (("core", "deterministic_PRNG"), ("control", "deprecate_random_in_strategy")):
        module = importlib.import_module(f"hypothesis.{module}")
        getattr(module, name)
        setattr(module, name, lambda *_: contextlib.nullcontext(lambda drawn: drawn))  # the oldest versions call it
# Hypothesis also draws constants from the loaded files. Which files are loaded depends on the tests that ran before in
# the process, and parsing them takes seconds. Without this, examples are the same every time.
with contextlib.suppress(ImportError, AttributeError):  # other versions of hypothesis
    providers = importlib.import_module("hypothesis.internal.conjecture.providers")
    providers._get_local_constants = functools.partial(lambda none: none, providers.Constants())
# Hypothesis reads and tokenizes the source of a test twice per case, to seed its examples; the digest stays the same.
with contextlib.suppress(ImportError, AttributeError):
    reflection = importlib.import_module("hypothesis.internal.reflection")
    reflection._clean_source = functools.cache(reflection._clean_source)
    reflection.inspect = types.SimpleNamespace(**{**vars(inspect), "getsource": functools.cache(inspect.getsource)})

# The folders of tests that `make test` runs on the compiled kernels and on the reference; `make twins` runs all.
BOTH_TREES = {"kernels", "operators", "ops", "tensors"}
NOT_TWICE = ("not_on_reference", "twins", "beyond_the_rules", "large")  # markers of tests that run once there, too

# These tests read the source tree, which an installed package does not have.
OF_SOURCES = ["test_architecture.py", "docs/test_promises.py", "robustness/test_statuses.py"]
collect_ignore = [] if (Path(__file__).parents[1] / "lodcore").exists() else OF_SOURCES
# `make doors` runs the doors with all of their libraries (LODCORE_DOORS=1), `make extras` with those that it names;
# otherwise a file whose name ends with a library runs if that library is installed.
DOORS = os.environ.get("LODCORE_DOORS", "")
HERE = {name for name in ("awkward", "matplotlib", "pyarrow", "torch") if importlib.util.find_spec(name)}
for path in sorted((Path(__file__).parent / "doors").glob("test_*.py")) if DOORS != "1" else ():
    library = path.stem.split("_")[-1]
    of_several = library not in ("awkward", "matplotlib", "pyarrow", "torch")
    needs = "pyarrow" if path.stem.startswith("test_engines") else library
    if (needs not in HERE) if (DOORS and needs == "pyarrow") or not of_several else not DOORS:
        collect_ignore += [f"doors/{path.name}"]
if "pyarrow" not in HERE:
    collect_ignore += ["helpers/engines.py"]
if "awkward" not in HERE:
    collect_ignore += ["helpers/with_awkward.py", "numpy_api/test_with_awkward.py"]


def pytest_addoption(parser):
    parser.addoption("--kernels", metavar="PACKAGE", help="run on the kernels of this package only")


def pytest_configure(config):
    config.addinivalue_line("markers", "not_on_reference: compares with the reference kernels, or uses no kernels")
    config.addinivalue_line("markers", "twins: runs on the reference in `make twins`, and otherwise only as compiled")
    config.addinivalue_line(
        "markers", "beyond_the_rules: asks for more than docs/kernels.md does, of lodcore's kernels only"
    )
    config.addinivalue_line("markers", "large(*modules): takes too long with kernels of the reference in these modules")


def pytest_collection_modifyitems(config, items):
    """Skip what other kernels than lodcore's need not do, and what would take minutes with those of the reference."""
    package = config.getoption("kernels") or "lodcore.kernels"
    if package == "lodcore.kernels":
        return
    for item in items:
        if item.get_closest_marker("beyond_the_rules"):
            item.add_marker(pytest.mark.skip(reason="asks for more than docs/kernels.md does"))
        if marker := item.get_closest_marker("large"):
            modules = marker.args or (item.path.stem.removeprefix("test_"),)
            if any(of_the_reference(f"{package}.{module}") for module in modules):
                item.add_marker(pytest.mark.skip(reason="takes too long with kernels of the reference"))


def of_the_reference(module):
    """Return whether a module of kernels has functions of `reference`."""
    functions = filter(inspect.isfunction, vars(importlib.import_module(module)).values())
    return any(function.__module__.startswith("reference.kernels.") for function in functions)


def pytest_collection(session):
    """Let each worker rewrite the assertions of its share of the files, which all would do that collect them."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode:
        return
    with contextlib.suppress(ImportError, AttributeError, OSError, SyntaxError, ValueError):  # which collection reports
        rewrite = importlib.import_module("_pytest.assertion.rewrite")
        state = session.config.stash[rewrite.assertstate_key]
        share = slice(int(worker["workerid"].removeprefix("gw")), None, worker["workercount"])
        asked = [Path(name.partition("::")[0]) for name in session.config.args]
        files = {path for place in asked for path in (place.rglob("test_*.py") if place.is_dir() else [place])}
        for path in sorted(path for path in files if path.suffix == ".py")[share]:
            folder = rewrite.get_cache_dir(path)
            kept = folder / f"{path.stem}{rewrite.PYC_TAIL}"
            if rewrite.try_makedirs(folder) and rewrite._read_pyc(path, kept) is None:
                rewrite._write_pyc(state, *reversed(rewrite._rewrite_test(path, session.config)), kept)


def pytest_collection_finish():
    """Exclude the objects that exist before the first test from garbage collection: there are 30,000 tests.

    Of what they make, the youngest objects are looked at as often as usual, all of them less often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], 100)


def pytest_generate_tests(metafunc):
    """Run each test once per package of kernels."""
    if "kernel_tree" not in metafunc.fixturenames:
        return
    package = metafunc.config.getoption("kernels")
    trees = {package: package} if package else {"cython": "lodcore.kernels", "reference": "reference.kernels"}
    folder = metafunc.definition.path.resolve().relative_to(Path(__file__).resolve().parent).parts[0]
    if folder not in BOTH_TREES or any(map(metafunc.definition.get_closest_marker, NOT_TWICE)):
        trees.pop("reference", None)
    metafunc.parametrize("kernel_tree", list(trees.values()), ids=list(trees), indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def kernel_tree(request):
    """Replace the modules of `lodcore.kernels` by those of another package."""
    package = getattr(request, "param", "lodcore.kernels")  # examples of docstrings have no parameters
    with pytest.MonkeyPatch.context() as patch:
        for name in kernels.__all__:
            patch.setattr(kernels, name, importlib.import_module(f"{package}.{name}"))
        yield package
    gc.collect()
    gc.freeze()  # what this file leaves, so that collections in later ones do not look at it
