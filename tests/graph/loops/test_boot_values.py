"""Reads before the first element: boot values of slots, and defaults of reads, with their gradients."""

import numpy as np
import pytest

from lodcore import TensorArray, ops, vjp
from lodcore.graph import Executor, Program, VarArray, data, while_loop
from tests.helpers.texts_in_every_way import check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([0.5, -1.5, 2.0])


# -- slots -----------------------------------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("n", [3, 1, 0])
@pytest.mark.parametrize("boot", [0.0, 2.5, np.array(1.5)], ids=repr)
def test_slot_before_the_first_is_the_given_number(way, n, boot):
    def text(while_loop, x):
        states = VarArray()
        loop = while_loop()
        with loop.loop():
            t = loop.loop_var(0)
            loop.break_if(t >= n)
            states.get(t).update(states.get(t - 1, boot) * 0.5 + x)
        return states.get(n - 1, boot) * x

    def meaning(x):
        state = float(boot)
        for _ in range(n):
            state = state * 0.5 + x
        return state * x

    check(way, text, meaning, np.array(1.25))


@every_way
def test_read_default_is_used_at_negative_indices_and_its_gradient_is_summed(way):
    """The default is read if and only if the index is negative; its gradient is the sum over all steps that read it."""

    def text(while_loop, x, default):
        array = TensorArray.unstack(x)
        loop = while_loop()
        with loop.loop():
            t, total = loop.loop_var(0), loop.loop_var(0.0)
            loop.break_if(t >= 5)
            total.update(total * 0.5 + array.read(t - 2, default) ** 2)
        return total

    def meaning(x, default):
        total = 0.0
        for t in range(5):
            total = total * 0.5 + (default if t < 2 else x[t - 2]) ** 2
        return total

    check(way, text, meaning, X, np.array(0.75))
    with pytest.raises(IndexError, match="is 3; the size is 3"):
        TensorArray.unstack(X).read(3, 0.0)
    holes = TensorArray(2)
    with pytest.raises(IndexError, match="is 1, a hole"):
        holes.read(1, default=0.0)


def alternating(x):
    """Write the sum of x with alternating signs, from a boot value without axes."""
    boot, states, loop = ops.sum(x), TensorArray(), while_loop()
    with loop.loop():
        t = loop.loop_var(0)
        loop.break_if(t >= 3)
        states.write(t, -states.read(t - 1, boot))
    return states.stack()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "c8"])
def test_a_number_of_numpy_is_a_boot_value_in_every_way_of_running(dtype):
    x = np.array([2, 1], dtype)
    found = [alternating(x), vjp(alternating, x)[0]]
    with Program() as program:
        result = alternating(data("x", (2,), dtype))
    found += Executor().run(program, {"x": x}, [result])
    for one in found:
        assert one.dtype == found[0].dtype == result.dtype
        assert one.tolist() == [-3, 3, -3]
