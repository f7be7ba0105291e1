"""An array made in the body of a loop is new in every step; one from outside is carried from step to step."""

import numpy as np
import pytest

import lodcore
from lodcore import TensorArray, ops
from lodcore.graph import VarArray
from tests.helpers.texts_in_every_way import check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([0.5, -1.5, 2.0])


def both(x):
    """Return x and its double as two rows."""
    return x * np.array([[1.0], [2.0]])


def made_empty(x):
    array = TensorArray()
    array.write(0, x)
    array.write(1, x * 2.0)
    return array


def made_of_a_size(x):
    array = TensorArray(2)
    array.write(1, x * 2.0)
    array.write(0, x)
    return array


def made_by_the_operator(x):
    return lodcore.tensor_array_unstack(both(x))


def made_by_filling(x):
    return TensorArray().unstack(both(x))


MAKERS = {
    "written": made_empty,
    "of a fixed number of slots": made_of_a_size,
    "unstack": lambda x: TensorArray.unstack(both(x)),
    "unstack_from": lambda x: TensorArray(unstack_from=both(x)),
    "tensor_array_unstack": made_by_the_operator,
    "unstack of an instance": made_by_filling,
}


@every_way
@pytest.mark.parametrize("make", MAKERS)
def test_array_made_in_a_body_is_new_in_each_step(way, make):
    """The next step does not see what one step writes at 1, and beyond the end."""

    def text(while_loop, x, w):
        loop = while_loop()
        with loop.loop():
            t, total = loop.loop_var(0), loop.loop_var(np.zeros(3))
            loop.break_if(t >= 3)
            array = MAKERS[make](x)
            total.update(total * w + array.read(1) + ops.cast(array.size(), "float64"))
            array.write(1, array.read(0) * 100.0)
            array.write(2, x)
        return total

    def meaning(x, w):
        total = np.zeros(3)
        for _ in range(3):
            total = total * w + 2.0 * x + 2.0
        return total

    check(way, text, meaning, X, np.array(0.5))


@every_way
def test_a_var_array_made_in_the_body(way):
    def text(while_loop, x):
        loop = while_loop()
        with loop.loop():
            t, total = loop.loop_var(0), loop.loop_var(np.zeros(()))
            loop.break_if(t >= 3)
            inner, slots = while_loop(), VarArray()
            with inner.loop():
                k = inner.loop_var(0)
                inner.break_if(k > t)
                slots.get(k).update(slots.get(k - 1, 0.0) + ops.sum(x))
            total.update(total + ops.sum(slots.stack()) * ops.cast(slots.size(), "float64"))
        return total

    def meaning(x):
        return sum(n * sum(k * np.sum(x) for k in range(1, n + 1)) for n in (1, 2, 3))

    check(way, text, meaning, X)
