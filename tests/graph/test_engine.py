"""The execution of recorded calls: the fast path for arrays computes the same results and derivatives."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ShapeError, ops, vjp
from lodcore.graph import Executor, Program, data, while_loop
from lodcore.graph.engine import BreakIf, Call, run
from lodcore.graph.gradients.backward_pass import Context, Gradients
from lodcore.operators.registry import OPS

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

SHORT = [name for name, op in OPS.items() if op.on_arrays is not None]
WITH_RULES = [name for name in SHORT if OPS[name].differentiable]
RNG = np.random.default_rng(5)
SQUARE, ROW = RNG.uniform(0.1, 0.9, (3, 3)), RNG.uniform(0.1, 0.9, 3)
OPERANDS = [
    *(SQUARE, SQUARE.astype(np.float32), SQUARE.T, ROW, np.array([1, 2, 3]), np.array([True, False, True])),
    *(np.array(0.5), np.float32(0.5), np.float64(0.25), np.int64(2), np.int8(3), 2, 0.5, np.zeros((0, 3))),
]


def by_function(op, given):
    try:
        return op.__wrapped__(*given)
    except (ValueError, TypeError) as error:
        return error


def by_engine(op, given):
    """Run a call on a frame with the arguments after slot 0."""
    slots = tuple(range(1, len(given) + 1))
    call = Call(None, op.__wrapped__, op.on_arrays, op.parameters, slots, (len(given) + 1,), True, {}, False)
    frame = [None, *given, None]
    try:
        assert run([call], frame, 1) == -1
    except (ValueError, TypeError) as error:
        assert frame[0] == 0
        return error
    return frame[-1]


@pytest.mark.parametrize("name", SHORT)
@np.errstate(all="ignore")
def test_engine_results_have_types_and_bits_of_the_function(name):
    op = OPS[name]
    for given in itertools.product(OPERANDS, repeat=len(op.parameters)):
        one, other = by_engine(op, given), by_function(op, given)
        assert type(one) is type(other), given
        if isinstance(one, Exception):
            assert str(one) == str(other)
        else:
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_array_equal(one, other)


def test_engine_keeps_the_lod_of_lod_tensors():
    """The fast path is used for arrays only."""
    x = LoDTensor.from_lengths(np.ones((3, 2)), [1, 2])
    for name in SHORT:
        others = [np.ones((2, 2)) if name == "matmul" else 1.0] * (len(OPS[name].parameters) - 1)
        given = [x, *others]
        assert by_engine(OPS[name], given).lod is x.lod


def test_common_operators_declare_on_arrays():
    assert {"add", "minus", "mul", "div", "tanh", "matmul", "greater_equal_than", "less_than"} <= set(SHORT)


@pytest.mark.parametrize("name", WITH_RULES)
def test_vjp_rules_give_arrays_and_lod_tensors_the_same_gradients(name):
    """One rule serves arrays and the rows of LoDTensors."""
    op = OPS[name]
    real = [x for x in OPERANDS if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    for given in itertools.product(real, repeat=len(op.parameters)):
        if (
            isinstance(by_function(op, given), Exception)
            or given[0].ndim == 0
            or max(x.ndim for x in given) > given[0].ndim
        ):
            continue
        nested = LoDTensor.from_lengths(given[0], [len(given[0])])
        try:
            out, pullback = vjp(op, nested, *given[1:])
        except ShapeError:  # rows of a shape other than those of x
            continue
        found = pullback(np.ones(out.values.shape))
        out, pullback = vjp(op, *given)
        for one, other, x in zip((found[0].values, *found[1:]), pullback(np.ones(np.shape(out))), given, strict=True):
            assert one.dtype == other.dtype == x.dtype
            np.testing.assert_array_equal(one, other)


def test_error_in_a_loop_has_the_text_of_the_call_outside():
    with pytest.raises(ShapeError) as alone:
        lodcore.add(np.ones(2), np.ones(3))
    loop = while_loop()
    with loop.loop(exec_immediately=False):
        x = loop.loop_var(np.ones(2))
        step = loop.step()
        loop.break_if(lodcore.greater_equal_than(step, 5))
        lodcore.add(x, np.ones(3))
    with pytest.raises(ShapeError) as inside:
        loop()
    assert str(inside.value) == f"while_loop: step 0: {alone.value}"


def test_program_runs_operators_with_lists_and_several_results():
    with Program() as program:
        x, y = data("x", (2,), "float64"), data("y", (2,), "float64")
        longest = ops.elementwise([x, y], np.maximum)
        steps, indices_map = lodcore.tensor_array_unpack(data("z", (None,), "float64", num_levels=1), 0)
        back = lodcore.tensor_array_pack(steps, 0, indices_map)
    feed = {"x": [1.0, 2.0], "y": [3.0, 4.0], "z": [[1.0], [2.0, 3.0]]}
    found = Executor().run(program, feed, [longest, back])
    assert [one.tolist() for one in found] == [[3.0, 4.0], feed["z"]]


def test_run_returns_the_call_that_failed():
    def fails(x):
        raise ValueError("no")

    good = Call(None, np.negative, None, ("x",), (1,), (2,), True, {}, False)
    bad = Call(None, fails, None, ("x",), (2,), (3,), True, {}, False)
    frame = [None, 1.0, None, None]
    with pytest.raises(ValueError, match="no"):
        run([good, None, bad], frame, 3)
    assert frame[:3] == [2, 1.0, -1.0]
    frame = [None, np.True_, None, None]
    assert run([None, BreakIf(1), bad], frame, 3) == 1
    assert run([None, BreakIf(1), bad], frame, 1) == -1


def test_last_uses_are_released_if_shape_and_dtype_equal_the_result():
    """The backward pass takes shape and dtype from the cotangent."""
    given = [np.ones((2, 3)), np.ones((2, 3), np.float32), np.ones((1, 3)), np.ones(3), 1.0, np.float64(1)]
    for kept, x in enumerate(given):
        call = Call(None, np.add, np.add, ("x", "y"), (1, 2), (3,), True, {}, False)
        call.ending = (2,)
        frame = [None, given[0], x, None]
        run([call], frame, 1)
        np.testing.assert_array_equal(frame[3], np.full((2, 3), 2.0))
        assert frame[1] is given[0]
        assert frame[2] is (x if kept else None)


@pytest.mark.parametrize("name", SHORT)
def test_engine_does_not_change_wide_operands(name):
    """NumPy may compute in the memory of temporary operands; those of a frame are not temporary."""
    op = OPS[name]
    given = [RNG.uniform(0.1, 0.9, (300, 300)) for _ in op.parameters]
    copies = [x.copy() for x in given]
    slots = tuple(range(1, len(given) + 1))
    call = Call(None, op.__wrapped__, op.on_arrays, op.parameters, slots, (len(given) + 1,), True, {}, False)
    frame = [None, *given, None]
    del given
    run([call], frame, 1)
    for x, copy in zip(frame[1:-1], copies, strict=True):
        assert not np.may_share_memory(frame[-1], x)
        np.testing.assert_array_equal(x, copy)


def test_slots_beyond_a_frame_are_refused():
    call = Call(None, np.negative, None, ("x",), (7,), (2,), True, {}, False)
    with pytest.raises(IndexError):
        run([call], [None, 1.0, None], 1)
    with pytest.raises(IndexError):
        run([None], [None], 2)
    with pytest.raises(TypeError):
        run([len], [None], 1)
    context = Context([], None, None)
    for question in (lambda: context.new("x"), lambda: context.anything):
        with pytest.raises(AttributeError):
            question()
    with pytest.raises(AttributeError):
        Gradients(set()).back([None], [None])


def test_warning_before_a_floating_point_error_is_given_once():
    """The logarithm divides by zero, of which NumPy warns, before it is invalid, which raises."""
    with Program() as program:
        y = lodcore.log(data("x", (None,), "float64"))
    with (
        np.errstate(divide="warn", invalid="raise"),
        pytest.warns(RuntimeWarning, match="divide by zero") as found,
        pytest.raises(FloatingPointError, match="invalid value encountered in log"),
    ):
        Executor().run(program, {"x": np.array([0.0, -1.0])}, [y])
    assert len(found) == 1
