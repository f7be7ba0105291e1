"""Arrays made in a body end with its step, and are not loop variables; those from outside are updated or unchanged."""

import numpy as np
import pytest

import lodcore
from lodcore import GraphError, TensorArray, vjp
from lodcore.graph import while_loop
from tests.helpers.texts_in_every_way import WAYS, WHILE_RECORDING, run_body

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([0.5, -1.5, 2.0])


def leak(make, use):
    """Record a loop that makes an array in its body, and use the array afterwards."""
    kept = []
    run_body(lambda step: kept.append(make()))
    return use(kept[0])


USES = {
    "read": lambda array: array.read(0),
    "write": lambda array: array.write(0, X),
    "size": lambda array: array.size(),
    "len": len,
    "stack": lambda array: array.stack(),
    "concat": lambda array: array.concat(),
    "in the next loop": lambda array: run_body(lambda step: array.read(0)),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("recording", WHILE_RECORDING)
@pytest.mark.parametrize(
    "make",
    [lambda: TensorArray(name="inner"), lambda: TensorArray(name="inner", unstack_from=X)],
    ids=["empty", "unstack_from"],
)
def test_array_made_in_a_body_used_after_the_loop_is_an_error_with_its_name(use, recording, make):
    with pytest.raises(GraphError, match="inner"):
        WHILE_RECORDING[recording](lambda: leak(make, USES[use]))


def test_array_made_in_an_outer_body_is_usable_until_that_body_ends():
    kept = []

    def body(step):
        array = TensorArray(name="outer")
        run_body(lambda inner: array.write(inner, X))
        kept.append(array.stack())
        kept.append(array)

    run_body(body)
    with pytest.raises(GraphError, match="outer"):
        kept[1].read(0)
    with pytest.raises(GraphError):
        lodcore.add(kept[0], 1.0)


@pytest.mark.parametrize("way", ["at once", "vjp", "recompute", "Program"])
@pytest.mark.parametrize("index", ["step", "constant", "step before"])
def test_read_of_an_unwritten_element_of_an_array_made_in_the_body_says_it_is_new_each_step(way, index):
    """The most common mistake: states are made in the body, and the state of the previous step is read.

    There is nothing to read, so it is an IndexError, like any such read, whenever it is found.
    """

    def text(while_loop, x):
        loop = while_loop()
        with loop.loop():
            t, s = loop.loop_var(0), loop.loop_var(x)
            loop.break_if(t >= 3)
            states = TensorArray()
            before = {"step": t, "constant": 0, "step before": t - 1}[index]
            s.update(states.read(before) if index != "step before" else states.read(before, x) + s)
            states.write(t, s)
        return s

    with pytest.raises(IndexError, match=r"(?s)made anew in every step.*make it before the loop"):
        WAYS[way](text, X)


@pytest.mark.parametrize("recording", WHILE_RECORDING)
@pytest.mark.parametrize("given", [TensorArray, lambda: TensorArray(unstack_from=X)], ids=["empty", "filled"])
@pytest.mark.parametrize("in_loop_vars", [False, True], ids=["loop_var", "loop_vars"])
def test_loop_var_and_loop_vars_refuse_arrays(recording, given, in_loop_vars):
    """An array is carried as it is: `loop_var` and `loop_vars` refuse it, in an error with their own name."""

    def declare():
        loop = while_loop([given()] if in_loop_vars else ())
        with loop.loop():
            if not in_loop_vars:
                loop.loop_var(given())
            loop.break_if(loop.step() >= 1)

    with pytest.raises(GraphError, match=f"{'loop_vars' if in_loop_vars else 'loop_var'}: .*TensorArray"):
        WHILE_RECORDING[recording](declare)


# -- where outer arrays end ------------------------------------------------------------------------------------------


def test_writes_of_an_eager_loop_into_an_outer_array_stay():
    outside = TensorArray()
    run_body(lambda step: outside.write(step, step * 2))
    assert [int(element) for element in outside] == [0, 2]
    vjp(lambda x: run_body(lambda step: outside.write(step + 2, x * 3.0)) and x, np.array(1.5))
    assert [float(element) for element in outside] == [0, 2, 4.5, 4.5]
