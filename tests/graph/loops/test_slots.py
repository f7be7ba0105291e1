"""Slots and Variables as values: bool, int, float, len and the like, and conversions that would cut the tape."""

import math

import numpy as np
import pytest

import lodcore
from lodcore import GraphError, LoDTensor, TensorArray, vjp
from lodcore.graph import Program, VarArray, Variable, data, while_loop
from tests.helpers.texts_in_every_way import run_body

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

LISTS = LoDTensor.from_lengths(np.array([1.0, 2.0, -1.0]), [1, 0, 2])


def slot_of(value):
    slots = VarArray()
    slots.get(0).update(value)
    return slots.get(0)


HOLDERS = {"slot": slot_of, "Variable": lambda value: Variable("v", value)}
every_holder = pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)


@every_holder
@pytest.mark.parametrize("value", [0.0, 2.5, 0, 7, True, False], ids=repr)
def test_slot_or_variable_of_one_number_converts_as_the_number(hold, value):
    held = hold(np.array(value))
    assert bool(held) is bool(value)
    assert int(held) == int(value)
    assert float(held) == float(value)
    assert (held.shape, held.ndim, held.dtype) == ((), 0, np.array(value).dtype)
    if isinstance(value, int):
        assert list(range(5))[: held.__index__()] == list(range(5))[:value]
    with pytest.raises(TypeError):
        len(held)


@every_holder
def test_slot_or_variable_of_a_tensor_has_its_len_shape_and_dtype(hold):
    held = hold(np.zeros((2, 3), np.float32))
    assert (len(held), held.shape, held.ndim, held.dtype) == (2, (2, 3), 2, np.float32)
    held = hold(LISTS)
    assert (len(held), held.shape, held.ndim, held.dtype) == (3, (3, None), 2, np.float64)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(hold(np.zeros(2)))


def test_slot_at_a_negative_index_is_its_boot_value():
    slots = VarArray()
    assert not slots.get(-1, 0.0)
    assert float(slots.get(-1, 2.5)) == 2.5
    assert slots.get(-1, np.ones((2, 3))).shape == (2, 3)
    with pytest.raises(IndexError):
        bool(slots.get(0))


USES = {
    "bool": bool,
    "int": int,
    "float": float,
    "len": len,
    "range": range,
    "if": lambda x: 1 if x else 2,
    "math": lambda x: math.exp(x),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("holder", ["slot", "Variable"])
def test_conversion_of_a_slot_without_a_value_names_break_if(use, holder):
    def body(step):
        slots = VarArray().segment(np.arange(3))
        USES[use](slots.get(step) if holder == "slot" else step)

    with pytest.raises((GraphError, TypeError), match=r"break_if|operator"):
        run_body(body)


def test_slot_of_a_segmented_array_knows_shape_and_dtype_in_a_body():
    seen = []

    def body(step):
        slot = VarArray().segment(np.zeros((3, 2, 5), np.float32)).get(step)
        seen.append((slot.shape[1:], slot.ndim, slot.dtype))

    run_body(body)
    assert seen == [((5,), 2, np.float32)]


# -- what would cut the tape -----------------------------------------------------------------------------------------

CUTS = {
    "float": float,
    "math.exp": math.exp,
    "np.asarray": np.asarray,
    "np.array": lambda v: np.array([v, v], float),
    "math.floor": math.floor,
    "int": int,
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("holder", ["Variable", "slot", "result", "element"])
def test_conversion_to_a_number_under_vjp_is_refused_and_names_get(cut, holder):
    """It would have no gradient. The error names the operator to use, or v.get() to look at the value."""

    def f(x):
        array = TensorArray()
        array.write(0, x)
        held = {"Variable": x, "slot": slot_of(x), "result": x * 2.0, "element": array.read(0)}[holder]
        return x * CUTS[cut](held)

    with pytest.raises((GraphError, TypeError), match=r"(?s)operator.*get\(\)") as caught:
        vjp(f, np.array(0.5))
    assert caught.type is not lodcore.DTypeError


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", ">f8"])
def test_asarray_of_any_differentiable_variable_is_refused(dtype):
    with refused():
        vjp(np.asarray, np.ones(2, dtype))
    with Program(), refused():
        np.asarray(lodcore.parameter(np.ones(2, dtype), "w"))


def refused():
    return pytest.raises(GraphError, match=r"(?s)operator.*get\(\)")


@pytest.mark.parametrize("cut", ["float", "math.exp", "np.asarray", "int"])
def test_conversion_of_a_parameter_in_a_program_or_body_is_refused(cut):
    w = lodcore.parameter(np.array(0.5), "w")
    with Program(), pytest.raises((GraphError, TypeError), match=r"(?s)operator.*get\(\)"):
        CUTS[cut](w)
    with pytest.raises((GraphError, TypeError), match=r"(?s)operator.*get\(\)"):
        run_body(lambda step: CUTS[cut](w))


def test_get_returns_the_value_under_vjp():
    seen = []

    def f(x):
        seen.append(float(x.get()))
        seen.append(float((x * 2.0).get()))
        return x * x

    assert float(vjp(f, np.array(0.5))[1](1.0)[0]) == 1.0
    assert seen == [0.5, 1.0]


def test_integers_and_bools_with_values_convert():
    def f(x, n):
        if x > 0.0:  # a bool: Python control flow on values
            x = x * float(int(n))
        for _ in range(int(n)):
            x = x * 2.0
        return x * float(n) * math.sqrt(n) * np.asarray(n + 1)

    y, pullback = vjp(f, np.array(0.5), np.array(4))
    derivative = 4.0 * 2.0**4 * 4.0 * 2.0 * 5.0
    assert (float(y), float(pullback(1.0)[0])) == (0.5 * derivative, derivative)


def test_results_of_an_eager_loop_convert_to_numbers():
    loop = while_loop()
    with loop.loop():
        t, s = loop.loop_var(0), loop.loop_var(np.array(1.0))
        loop.break_if(t >= 3)
        s.update(s * 2.0)
    assert (float(s), int(t), math.log2(s), bool(s), len(range(t))) == (8.0, 3, 3.0, True, 3)
    np.testing.assert_array_equal(np.asarray(s), 8.0)
    np.testing.assert_array_equal(np.asarray([s, s]), [8.0, 8.0])
    assert float(Variable("v", np.array(2.5))) == 2.5


def test_conversions_of_data_without_a_value_raise_with_a_hint_at_break_if():
    with Program():
        n = data("n", (), "int64")
        for use in (bool, int, len, float):
            with pytest.raises((GraphError, TypeError), match=r"break_if|operator"):
                use(n)


@pytest.mark.parametrize("steps", range(4))
@pytest.mark.parametrize("used_before", [False, True])
def test_a_slot_from_outside_is_read_anew_in_every_step(steps, used_before):
    """Also if its value was read outside before."""
    array = VarArray()
    array.write(0, np.array(1.0))
    slot = array.get(0)
    if used_before:
        assert float(slot) == 1.0
    loop = while_loop()
    with loop.loop():
        step = loop.loop_var(0)
        total = loop.loop_var(0.0)
        loop.break_if(lodcore.greater_equal_than(step, steps))
        now = lodcore.add(slot, 0.0)
        array.write(0, lodcore.mul(now, 2.0))
        total.update(lodcore.add(total, now))
    assert float(total.get()) == 2**steps - 1
    assert float(array.read(0)) == 2**steps
