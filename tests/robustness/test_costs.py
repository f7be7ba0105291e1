"""Calls of Python functions and memory grow at most as n log n, for any input; `make hunt` measures times."""

import pytest

import lodcore
from lodcore import LoD, LoDTensor, SparseTensor, batching, graph, interop, nn, ops
from lodcore.numpy_api.protocols import FUNCTIONS
from lodcore.operators.registry import OPS
from tests.robustness import costs
from tests.robustness.costly_calls import WITHOUT_COSTS

REGISTERED = {*OPS}  # before examples of docstrings register theirs


@pytest.mark.not_on_reference
def test_calls_and_memory_grow_with_the_input():
    """8 times the size: at most 14 times the calls and the bytes, apart from what a call needs for nothing.

    To count calls and bytes of all public functions takes seconds.
    """
    found = []
    for shape in costs.SHAPES[:10:2]:  # values matter to compiled loops only
        small, large = (costs.names_of(*shape, size) for size in (60, 480))
        for text in costs.texts_of(shape, costs.CALLS):
            costs.run(text, small)
            before, after = costs.counted(text, small), costs.counted(text, large)
            if after.calls > 14 * before.calls + 100 or after.used > 14 * before.used + 100_000:
                found.append((text, shape, before, after))
    assert not found


@pytest.mark.not_on_reference
def test_every_public_function_is_among_the_calls_or_has_a_reason():
    public = {name for module in (lodcore, batching, graph, interop, nn, ops) for name in module.__all__}
    public |= {name for kind in (LoD, LoDTensor, SparseTensor) for name in dir(kind) if not name.startswith("_")}
    public |= REGISTERED | {*(function.__name__ for function in FUNCTIONS)}
    without, called = {name for names in WITHOUT_COSTS.values() for name in names.split()}, costs.called()
    assert public - called - without == set(), "name them in COSTS of their samples, or in costly_calls.py"
    assert without & called == set()
    assert without - public == set()
