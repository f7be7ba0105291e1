"""A value that a dtype cannot represent is refused everywhere, or stored exactly: never truncated or wrapped."""

import numpy as np
import pytest

import lodcore
from lodcore import Executor, GraphError, LoD, LoDTensor, Program, data
from lodcore.graph import while_loop
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference
DTYPES = ["?", "i1", "u1", "i8", "u8", "f2", "f8", "F", "S2", "U2"]
VALUES = [-1, 2, 300, 2**63, 0.5, -2.5, 1e30, float("nan"), 1j, "abc", b"abc", True]


def empty(dtype):
    """Make two sequences, of two rows and one, of zeros or empty text."""
    return LoDTensor(np.zeros(3, dtype), LoD.from_lengths([2, 1]), share=True)


def assigned(dtype, value):
    x = empty(dtype)
    x[0] = value
    return x.values[0]


def assigned_array(dtype, value):
    x = empty(dtype)
    x[0] = np.array([value, value])
    return x.values[1]


def assigned_by_a_mask(dtype, value):
    x = empty(dtype)
    x[x.with_values(np.array([False, True, True]))] = value
    return x.values[1]


def fed(dtype, value):
    with Program() as program:
        y = lodcore.sequence_reverse(data("x", (None,), dtype, num_levels=1))
    return Executor().run(program, feed={"x": [[value, value]]}, fetch=[y])[0].values[0]


def fed_dense(dtype, value):
    with Program() as program:
        y = lodcore.gather_nested(data("x", (None,), dtype), [0])
    return Executor().run(program, feed={"x": [value]}, fetch=[y])[0][0]


def updated(dtype, value):
    loop = while_loop()
    with loop.loop():
        step = loop.loop_var(0)
        kept = loop.loop_var(np.zeros((), dtype))
        loop.break_if(lodcore.greater_equal_than(step, 1))
        kept.update(value)
    return np.asarray(kept.get())


DOORS = {
    "assignment": assigned,
    "assignment of an array": assigned_array,
    "assignment by a mask": assigned_by_a_mask,
    "to_padded": lambda dtype, value: empty(dtype).to_padded(value)[1, 1],
    "sequence_pad": lambda dtype, value: lodcore.sequence_pad(empty(dtype), value)[0][1, 1],
    "gather_nested": lambda dtype, value: lodcore.gather_nested(np.zeros(2, dtype), [7], default=value)[0],
    "sequence_shift": lambda dtype, value: lodcore.sequence_shift(empty(dtype), 1, value).values[0],
    "full_like": lambda dtype, value: np.full_like(empty(dtype), value).values[0],
    "feed": fed,
    "feed of a vector": fed_dense,
    "update": updated,
}


def is_held(door, dtype, given):
    """Return whether a value is refused, or stored exactly; a float as rounded to its dtype, and never as infinity."""
    try:
        with np.errstate(all="ignore"):
            found = DOORS[door](dtype, given)
    except (TypeError, ValueError, OverflowError, GraphError):
        return True
    if found.dtype != dtype:  # for a result with the common dtype of both
        return found == given or given != given
    if found.dtype.kind in "SU":
        return bool(found == np.asarray(given).astype(found.dtype.kind))
    if found.dtype.kind in "fc" and isinstance(given, float):
        return bool(found == found.dtype.type(given) and np.isfinite(found)) or bool(found != found and given != given)
    return bool(found == given)


@for_each("dtype", DTYPES)
@pytest.mark.parametrize("door", DOORS)
def test_values_that_a_dtype_cannot_represent_are_refused_everywhere(door, dtype):
    values = [value for value in VALUES if isinstance(value, (str, bytes)) or dtype[0] not in "SU"]
    assert [value for value in values if not is_held(door, dtype, value)] == []


@for_each(
    ("door", "dtype"), [(door, dtype) for door in DOORS for dtype in DTYPES if door[:4] != "feed" or dtype[0] != "u"]
)
def test_values_of_the_dtype_are_stored(door, dtype):
    given = {"S": b"ab", "U": "ab", "b": True}.get(np.dtype(dtype).kind, 1)
    assert DOORS[door](dtype, given) == given
