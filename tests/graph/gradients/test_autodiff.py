"""vjp, value_and_grad, grad_check: forms of inputs and results, cotangents, memory; and gradients through loops."""

import gc
import itertools
import threading
import tracemalloc
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import lodcore
from lodcore import (
    DenseTensor,
    DTypeError,
    GraphError,
    LoDError,
    LoDTensor,
    ShapeError,
    TensorArray,
    ops,
    value_and_grad,
    vjp,
)
from lodcore.graph import Executor, Program, VarArray, Variable, append_backward, data, parameter, while_loop
from lodcore.graph.gradients.cotangents import differentiable, of_type
from lodcore.tensors.tensor import Tensor
from tests.helpers.agree import same_memory, values_of
from tests.helpers.calls import calls_of_python
from tests.helpers.paths import on_each_path
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([[1.0, 2.0], [3.0, 4.0]])
LISTS = lodcore.array([[1.0, 2.0], [], [3.0]])


class Pair(NamedTuple):
    one: object
    two: object


# -- forms of inputs and results -----------------------------------------------------------------------------------


def test_vjp_of_trees_of_inputs_and_results():
    def f(weights, x, extra):
        hidden = lodcore.mul(x, weights["a"])
        return {"hidden": hidden, "both": (extra[0], [lodcore.mul(weights["b"][0], 2.0), None, "text"])}

    weights = {"a": X, "b": [np.ones(2), np.zeros(3)]}
    y, pullback = vjp(f, weights, X, Pair(np.array(5.0), 7))
    assert y["both"][0] == 5.0
    assert y["both"][1][1:] == [None, "text"]
    d_weights, d_x, d_extra = pullback({"hidden": np.ones((2, 2)), "both": (3.0, [np.array([1.0, 5.0]), None, None])})
    np.testing.assert_array_equal(d_weights["a"], X)
    np.testing.assert_array_equal(d_weights["b"][0], [2.0, 10.0])
    np.testing.assert_array_equal(d_weights["b"][1], np.zeros(3))
    np.testing.assert_array_equal(d_x, X)
    assert isinstance(d_extra, Pair)
    assert d_extra.one == 3.0
    assert d_extra.two is None


def test_pullback_takes_none_for_results_without_cotangent():
    y, pullback = vjp(lambda x: (lodcore.mul(x, 2.0), lodcore.mul(x, 3.0)), X)
    assert isinstance(y, tuple)
    np.testing.assert_array_equal(pullback(X, None)[0], 2 * X)
    np.testing.assert_array_equal(pullback(None, X)[0], 3 * X)
    np.testing.assert_array_equal(pullback(X, X)[0], 5 * X)
    np.testing.assert_array_equal(pullback((X, X))[0], 5 * X, "or as the function returned them")
    np.testing.assert_array_equal(pullback(None)[0], 0 * X)


def test_vjp_of_a_list_of_one_result_returns_a_list():
    y, pullback = vjp(lambda x: [lodcore.mul(x, 2.0)], X)
    assert isinstance(y, list)
    np.testing.assert_array_equal(pullback(X)[0], 2 * X)


@pytest.mark.parametrize(
    ("cotangents", "error", "says"),
    [
        ((), ValueError, "cotangents: are 0; the function gave 2"),
        ((X, X, X), ValueError, "cotangents: are 3; the function gave 2"),
        ((X, {"a": 1}), ValueError, r"cotangents\[1\]: is dict of 1; list of 1 is needed"),
        ((X, [X, X]), ValueError, r"cotangents\[1\]: is list of 2; list of 1 is needed"),
        ((X[:1], None), ShapeError, r"cotangents\[0\]: has shape \(1, 2\); the result has \(2, 2\)"),
        ((1.0, None), ShapeError, r"cotangents\[0\]: has shape \(\)"),
        ((X * 1j, None), DTypeError, r"cotangents\[0\]: has dtype complex128; float64 is needed"),
        ((X.astype("U4"), None), DTypeError, r"cotangents\[0\]: has dtype <U4"),
        ((X.astype(object), None), DTypeError, r"cotangents\[0\]: has dtype object"),
        ((lodcore.array([[1.0], [2.0]]), None), LoDError, r"cotangents\[0\]: has levels; the result has none"),
        (([[1.0], [1.0, 2.0]], None), ShapeError, r"cotangents\[0\]: is a list of uneven lists"),
        ((Variable("d", X), None), GraphError, r"cotangents\[0\]: is a Variable; gradients of gradients"),
    ],
)
def test_pullback_refuses_cotangents_that_do_not_fit_the_results(cotangents, error, says):
    pullback = vjp(lambda x: (lodcore.mul(x, 2.0), [x]), X)[1]
    with pytest.raises(error, match=f"pullback: {says}"):
        pullback(*cotangents)


def test_cotangents_of_nested_results():
    y, pullback = vjp(lambda x: lodcore.mul(x, 2.0), LISTS)
    for d in (
        np.array([1.0, 2.0, 3.0]),
        [1, 2, 3],
        [[1.0, 2.0], [], [3.0]],
        lodcore.array([[1, 2], [], [3]]),
        LoDTensor(np.array([1, 2, 3], np.float16), y.lod),
        np.arange(3, 0, -1)[::-1].astype(">i4"),
        DenseTensor([1.0, 2.0, 3.0]),
    ):
        (found,) = pullback(d)
        assert found.lod is LISTS.lod
        np.testing.assert_array_equal(found.values, [2.0, 4.0, 6.0], strict=True)
    with pytest.raises(LoDError, match=r"pullback: cotangents\[0\]: sequence 0 of level 0 has length 1"):
        pullback(lodcore.array([[1.0], [2.0], [3.0]]))
    with pytest.raises(LoDError, match=r"cotangents\[0\]: has 2 levels"):
        pullback(lodcore.array([[[1.0, 2.0], [], [3.0]]]))


def test_gradients_have_the_type_and_dtype_of_their_inputs():
    inputs = (X, LISTS, DenseTensor([1.0, 2.0]), 2.0, np.float32(3), 3, np.arange(2), True, "text", None, 1j)
    y, pullback = vjp(lambda *given: given[0], *inputs)
    assert y is X
    found = pullback(X)
    kinds = [np.ndarray, LoDTensor, DenseTensor, np.ndarray, np.ndarray, *[type(None)] * 5, np.ndarray]
    assert list(map(type, found)) == kinds
    assert found[1].lod is LISTS.lod
    assert [d.dtype for d in found[:5]] == [np.float64] * 4 + [np.float32]
    assert found[3].shape == found[4].shape == ()
    assert not found[1].values.any()


def test_vjp_of_numbers_returns_0_d_gradients():
    y, pullback = vjp(lambda x, y: lodcore.add(lodcore.mul(x, y), x), 2.0, np.float32(3))
    assert float(y) == 8.0
    d_x, d_y = pullback(1.0)
    assert (type(d_x), d_x.shape, float(d_x)) == (np.ndarray, (), 4.0)
    assert (d_y.dtype, float(d_y)) == (np.float32, 2.0)


def test_python_control_flow_on_values():
    def f(x, count):
        for _ in range(count):
            x = lodcore.mul(x, 2.0) if ops.sum(x) < 100 else lodcore.mul(x, 3.0)
        assert len(x) == 2
        return x

    y, pullback = vjp(f, np.array([10.0, 20.0]), 3)
    np.testing.assert_array_equal(y, [10 * 2 * 2 * 3, 20 * 2 * 2 * 3])
    np.testing.assert_array_equal(pullback(np.ones(2))[0], [12.0, 12.0])
    assert float(vjp(lambda x: x if bool(x) else lodcore.mul(x, 2), 0.0)[1](1.0)[0]) == 2.0


def test_vjp_of_inputs_used_twice_never_and_captured():
    w = np.array([[2.0, 0.0], [0.0, 2.0]])

    def f(x, unused):
        return lodcore.add(lodcore.mul(x, x), lodcore.matmul(x, w))

    _, pullback = vjp(f, X, X)
    d_x, d_unused = pullback(np.ones((2, 2)))
    np.testing.assert_array_equal(d_x, 2 * X + 2)
    np.testing.assert_array_equal(d_unused, 0 * X)
    (same, other), pullback = vjp(lambda x, y: (x, y), X, X)
    assert same is other is X
    np.testing.assert_array_equal(pullback(X, None)[1], 0 * X)


def test_batches_of_variables_and_constants():
    y, pullback = vjp(lambda x: lodcore.concat_batches([x, LISTS, x]), LISTS)
    assert len(y) == 9
    d = np.arange(9.0)
    np.testing.assert_array_equal(pullback(d)[0].values, d[:3] + d[6:])


def test_cast_to_integers_stops_the_gradient():
    def f(x):
        return lodcore.add(ops.cast(ops.cast(x, "int64"), "float64"), lodcore.mul(x, 0.5))

    np.testing.assert_array_equal(vjp(f, X)[1](np.ones((2, 2)))[0], 0 * X + 0.5)
    y, pullback = vjp(lambda x: ops.cast(x, "int64"), X)
    assert y.dtype == np.int64
    np.testing.assert_array_equal(pullback(None)[0], 0 * X)
    np.testing.assert_array_equal(pullback(np.ones((2, 2)))[0], 0 * X)


def test_vjp_refuses_masked_and_object_arrays():
    for x in (np.ma.masked_array([1.0, 2.0], [True, False]), np.array([object()])):
        with pytest.raises(DTypeError, match="vjp: an input"):
            vjp(lambda x: x, x)
    y, pullback = vjp(lambda x: lodcore.mul(x, 2.0), X[:1].view(Watched))
    assert type(y) is type(pullback(np.ones((1, 2)))[0]) is np.ndarray


@pytest.mark.parametrize("result", [object(), iter([1.0]), {1.0}, lambda: 1, (x for x in [1])])
def test_vjp_refuses_results_that_are_no_tensors(result):
    with pytest.raises(DTypeError, match=r"vjp: f: returned an? \w+; tensors"):
        vjp(lambda x: [lodcore.mul(x, 2.0), result], X)


def test_variables_of_no_block_are_taken_by_their_values():
    w = parameter(X, "w")
    y, pullback = vjp(lambda w: lodcore.mul(w, 2.0), w)
    np.testing.assert_array_equal(y, 2 * X)
    np.testing.assert_array_equal(pullback(X)[0], 2 * X)
    y, pullback = vjp(lambda x: lodcore.mul(x, w), X)
    np.testing.assert_array_equal(pullback(X)[0], X * X)
    np.testing.assert_array_equal(lodcore.mul(w, 3.0), 3 * X)


# -- memory ----------------------------------------------------------------------------------------------------------


def test_gradients_share_no_memory():
    for f in (
        lambda x, y: lodcore.add(x, y),
        lambda x, y: lodcore.mul(lodcore.add(x, y), 2.0),  # one array is the gradient of both
        lambda x, y: lodcore.mul(x + y, x + y),
        lambda x, y: ops.tanh(ops.concat_values([x, y], 1)),
        lambda x, y: ops.exp(x) + y * 2.0,
        lambda x, y: [x, y, x],
        lambda x, y: lodcore.concat_batches([LoDTensor.from_lengths(X, [2]), LoDTensor.from_lengths(X, [2])]),
        lambda x, y: lodcore.mul(ops.sum(x), ops.sum(y)),
        lambda x, y: stacked([x, y]),
    ):
        y, pullback = vjp(f, X, X.copy())
        d = [np.ones(values.shape) for values in map(values_of, y if isinstance(y, list) else [y])]
        found = pullback(*d)
        arrays = [*found, *d]
        for j, one in enumerate(arrays):
            assert one.flags.writeable
            assert not any(np.shares_memory(one, other) for other in arrays[j + 1 :])


#: Functions whose rules make an array for the gradient of y, and functions of x and h that hand one on to both.
MADE = {
    "columns": lambda y: y[:, :1],
    "rows": lambda y: y[1:],
    "layer norm": lambda y: lodcore.ops.layer_norm(y, np.array([1.0, 2.0, 3.0]), np.zeros(3)),
    "columns twice": lambda y: y[:, :2] * y[:, 1:],
}
SHARED = {
    "sum": lambda x, h: x + h,
    "difference": lambda x, h: x - h,
    "sum twice": lambda x, h: x + h + x,
    "joined": lambda x, h: np.concatenate([x, h])[1:4] + x,
}


@for_each(("made", "shared"), [(made, shared) for made in MADE for shared in SHARED])
def test_gradients_of_two_losses_are_the_sum_of_both(made, shared):
    x, h = np.arange(1.0, 10.0).reshape(3, 3) ** 0.5, np.cos(np.arange(9.0)).reshape(3, 3)

    def first(x, h):
        return lodcore.ops.sum(MADE[made](SHARED[shared](x, h)) * 2.0)

    def second(x, h):
        return lodcore.ops.sum(np.exp(x)) + lodcore.ops.sum(np.tanh(h))

    apart = [lodcore.value_and_grad(f, (0, 1))(x, h)[1] for f in (first, second)]
    for both in (lambda x, h: second(x, h) + first(x, h), lambda x, h: first(x, h) + second(x, h)):
        found = lodcore.value_and_grad(both, (0, 1))(x, h)[1]
        for gradient, one, other in zip(found, *apart, strict=True):
            np.testing.assert_allclose(gradient, one + other, rtol=1e-12)


def test_gradients_in_a_program_share_no_memory():
    for f in (
        lambda x, y: ops.sum(lodcore.add(x, y)),
        lambda x, y: ops.sum(lodcore.mul(lodcore.add(x, y), 2.0)),
        lambda x, y: ops.sum(lodcore.mul(x + y, x + y)),
    ):
        with Program() as program:
            x, y = data("x", (2, 2), "float64"), data("y", (2, 2), "float64")
            append_backward(f(x, y))
        fed = {"x": X, "y": X.copy()}
        arrays = [*Executor().run(program, fed, ["x@GRAD", "y@GRAD", "x", "y"])]
        arrays += Executor().run(program, fed, ["x@GRAD", "y@GRAD"])
        for j, one in enumerate(arrays[:2]):
            assert one.flags.writeable
            assert not any(np.shares_memory(one, other) for other in arrays[j + 1 :])


@for_each(
    "f",
    [
        lambda x: [x, x[np.array([0, 0])]],
        lambda x: [x[np.array([1, 1])], x, x[np.array([0, 1])]],
        lambda x: [x, x * 2.0, x],
        lambda x: [x, ops.sum(x), lodcore.matmul(x, X)],
        lambda x: [x, x[:1], x[1:]],
    ],
)
def test_cotangents_are_never_changed(f):
    """The first gradient that is added to another one is that of the caller."""
    y, pullback = vjp(f, X)
    given = [np.arange(1.0, 1 + np.size(one)).reshape(np.shape(one)) for one in y]
    before = [one.copy() for one in given]
    found = [pullback(*given)[0].tolist() for _ in range(2)]
    wanted = sum(pullback(*[one if j == k else None for k, one in enumerate(given)])[0] for j in range(len(given)))
    assert found == [wanted.tolist()] * 2
    for one, same in zip(given, before, strict=True):
        np.testing.assert_array_equal(one, same)


@for_each(
    "f",
    [
        lambda x: lodcore.sequence_pool(ops.with_values(LISTS, x), "sum"),
        lambda x: lodcore.sequence_pool(ops.with_values(LISTS, x), "max"),
        lambda x: ops.softmax(x),
        lambda x: ops.layer_norm(x, np.ones(3), np.zeros(3)),
        lambda x: lodcore.matmul(x, np.arange(9.0).reshape(3, 3)),
        lambda x: ops.linear(x, np.arange(9.0).reshape(3, 3), np.ones(3)),
        lambda x: x[np.array([2, 0, 2])],
        lambda x: x * 2.0,
        lambda x: x,
    ],
)
def test_cotangents_of_any_memory_order(f):
    _, pullback = vjp(f, np.arange(9.0).reshape(3, 3) ** 2 / 40)
    d = np.arange(9.0).reshape(3, 3) - 4
    wanted = pullback(d)[0]
    strided = np.zeros((6, 6))
    strided[::2, ::2] = d
    for given in (np.asfortranarray(d), strided[::2, ::2], np.ascontiguousarray(d[::-1])[::-1], d.astype(">f8")):
        found = pullback(given)[0]
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, wanted)


def test_variables_kept_from_a_function_that_raised_are_refused():
    """While the error is alive, so is the tape."""
    for give in (lambda x: x, lambda x: x * 2.0, lambda x: TensorArray.unstack(x)):
        kept = []
        with pytest.raises(ZeroDivisionError) as caught:
            vjp(lambda x, give=give, kept=kept: kept.append(give(x)) or 1 / 0, X)
        (one,) = kept
        name = "TensorArray" if isinstance(one, TensorArray) else "Variable"
        with pytest.raises(GraphError, match=f"^{name}.*(made in a Block that is closed|belongs to another Tape)"):
            _ = one.read(0) if name == "TensorArray" else one + 1.0
        with pytest.raises(GraphError, match=r"made in a Block that is closed|belongs to another Tape"):
            vjp(lambda y, one=one: y + one, X)
        assert caught.value


def test_arrays_written_by_a_function_that_raises_stay_as_they_were():
    array = lodcore.TensorArray(unstack_from=[1.0, 2.0])

    def f(x):
        array.write(0, x)
        array.write(2, x * 2.0)
        assert len(array) == 3
        raise ZeroDivisionError

    for x in (np.array(5.0), np.array(7.0)):
        with pytest.raises(ZeroDivisionError):
            vjp(f, x)
        assert [float(one) for one in array] == [1.0, 2.0]


def stacked(elements):
    array = lodcore.TensorArray()
    for at, element in enumerate(elements):
        array.write(at, element)
    return array.stack()


def test_pullback_writes_gradients_to_out():
    _, pullback = vjp(lambda x, w: lodcore.matmul(x, w), X, X)
    wanted = pullback(X)
    places = np.full((2, 2), np.nan), np.full((2, 2), np.nan)
    found = pullback(X, out=places)
    for place, one, other in zip(places, found, wanted, strict=True):
        assert one is place
        np.testing.assert_array_equal(one, other)
    found = pullback(X, out=[None, places[1]])
    assert found[1] is places[1]
    np.testing.assert_array_equal(found[0], wanted[0])
    place = np.empty(3)
    found = vjp(lambda x: lodcore.mul(x, 3.0), LISTS)[1](np.ones(3), out=(place,))[0]
    assert same_memory(found.values, place)
    assert found.lod is LISTS.lod
    np.testing.assert_array_equal(place, 3.0)
    place = np.full(3, np.nan)
    assert vjp(lambda x: 1.0, np.ones(3))[1](None, out=(place,))[0] is place
    np.testing.assert_array_equal(place, 0.0)


def test_out_of_an_input_that_is_used_often():
    x = np.arange(3.0)

    def f(x):
        for _ in range(3):
            x = lodcore.add(lodcore.mul(x, 2.0), x)
        return lodcore.add(ops.softmax(x), x)

    wanted = vjp(f, x)[1](np.arange(3.0))[0]
    place = np.full(3, np.nan)
    assert vjp(f, x)[1](np.arange(3.0), out=(place,))[0] is place
    np.testing.assert_array_equal(place, wanted)


def test_out_of_an_input_whose_gradient_several_rules_write():
    x = LoDTensor.from_lengths(np.array([[1.0, 4.0], [3.0, 2.0], [5.0, 6.0]]), [2, 1])
    functions = [
        lodcore.sequence_cumsum,
        lodcore.sequence_sort,
        lambda x: lodcore.sequence_pool(x, "max"),
        lambda x: lodcore.gather_sequences(x, [0, 0, 1]),
    ]
    for f, g in itertools.product(functions, repeat=2):
        y, pullback = vjp(lambda x, f=f, g=g: [f(x), g(x)], x)
        given = [np.arange(1.0, 1 + one.size).reshape(one.shape) for one in map(plain_values, y)]
        wanted = pullback(given[0], None)[0].values + pullback(None, given[1])[0].values
        place = np.full((3, 2), np.nan)
        assert same_memory(pullback(*given, out=(place,))[0].values, place)
        np.testing.assert_array_equal(place, wanted)


def plain_values(y):
    return y.values if isinstance(y, LoDTensor) else y


@for_each("asked", [(True, False), (False, True), (True, True)])
@for_each("swapped", [False, True])
def test_a_gradient_that_a_rule_hands_on_to_both_operands_is_written_to_out_of_its_own_alone(
    monkeypatch, asked, swapped
):
    def rule(d, x, y, context):
        made = context.new("x")
        made[...] = d
        return made, made

    with_rule(monkeypatch, lodcore.matmul, rule)
    pullback = vjp(lambda x, y: lodcore.matmul(y, x) if swapped else lodcore.matmul(x, y), X, X)[1]
    places = [np.full((2, 2), np.nan) if one else None for one in asked]
    found = pullback(X, out=places)
    for one, place in zip(found, places, strict=True):
        assert place is None or one is place
        np.testing.assert_array_equal(one, X)
    assert not np.shares_memory(*found)


@pytest.mark.parametrize(
    ("out", "error", "says"),
    [
        (np.empty((2, 2)), ValueError, "out: a tuple with an entry for each of the 2"),
        ((None,), ValueError, "out: a tuple with an entry for each of the 2"),
        ((np.empty((2, 3)), None), ShapeError, r"out\[0\]: out: shape"),
        ((np.empty((2, 2), np.float32), None), DTypeError, r"out\[0\]: out: dtype"),
        ((np.empty((2, 2)).T, None), ValueError, r"out\[0\]: out: strides"),
        ((X, None), ValueError, r"out\[0\]: out: overlaps an input"),
        ((None, np.empty(2, np.int64)), DTypeError, r"out\[1\]: the input has no gradient"),
    ],
)
def test_pullback_refuses_out_that_does_not_fit_the_inputs(out, error, says):
    pullback = vjp(lambda x, n: lodcore.mul(x, 2.0), X, np.arange(2))[1]
    with pytest.raises(error, match=f"pullback: {says}"):
        pullback(X, out=out)


def test_pullback_refuses_one_array_as_out_of_two_inputs():
    pullback = vjp(lambda x, y: lodcore.add(x, y), X, X)[1]
    place = np.full((2, 2), 7.0)
    with pytest.raises(ValueError, match=r"out\[1\]: out: overlaps"):
        pullback(X, out=(place, place))
    with pytest.raises(ValueError, match=r"out\[0\]: out: overlaps"):
        pullback(place, out=(place, None))
    np.testing.assert_array_equal(place, 7.0)


def test_a_pullback_may_be_called_often_and_in_many_threads():
    x = np.random.default_rng(0).standard_normal((4, 4))

    def f(x):
        array = lodcore.TensorArray()
        loop = while_loop(recompute=True)
        with loop.loop():
            time, s = loop.step(), loop.loop_var(x)
            loop.break_if(lodcore.equal(time, 30))
            array.write(time, s)
            s.update(lodcore.tanh(lodcore.matmul(array.read(time), x)))
        return s

    pullback = vjp(f, x)[1]
    d = np.ones((4, 4))
    wanted = pullback(d)[0]
    found = []
    threads = [threading.Thread(target=lambda: found.append(pullback(d)[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for one in found:
        np.testing.assert_array_equal(one, wanted)


def test_a_pullback_inside_a_program_computes():
    pullback = vjp(lambda x: lodcore.TensorArray.unpack(x, 0)[0].read(1), LISTS)[1]
    with Program() as program:
        (d,) = pullback(np.ones(1))
        y, _ = vjp(lambda x: lodcore.mul(x, 2.0), X)
    assert d.tolist() == [[0.0, 1.0], [], [0.0]]
    np.testing.assert_array_equal(y, 2 * X)
    assert not program.ops


class Watched(np.ndarray):
    """An array that can be watched."""


def test_pullback_releases_all_values_when_it_is_deleted(monkeypatch):
    """Without the garbage collector, which does not account for the size of arrays."""
    alive = []
    plain = lodcore.tanh.__wrapped__

    def watched(x):
        result = plain(x).view(Watched)
        alive.append(weakref.ref(result))
        return result

    monkeypatch.setattr(lodcore.tanh, "__wrapped__", watched)

    monkeypatch.setattr(lodcore.tanh, "on_arrays", None)

    def f(x, w):
        first = lodcore.tanh(x)
        loop = while_loop()
        with loop.loop():
            time, s = loop.step(), loop.loop_var(first)
            loop.break_if(lodcore.equal(time, 3))
            inner = while_loop()
            with inner.loop():
                r = inner.loop_var(s)
                inner.break_if(lodcore.equal(inner.step(), 2))
                r.update(lodcore.tanh(lodcore.matmul(r, w)))
            s.update(r)
        return lodcore.tanh(s)

    gc.disable()
    try:
        y, pullback = vjp(f, X, X)
        pullback(np.ones((2, 2)))
        assert len(alive) == 1 + 6 + 1
        assert all(ref() is not None for ref in alive)
        del y, pullback
        assert [ref() for ref in alive] == [None] * 8
    finally:
        gc.enable()


# -- no gradients of gradients ---------------------------------------------------------------------------------------


def test_gradients_of_gradients_are_refused():
    def inner(x):
        return ops.sum(lodcore.mul(x, x))

    with pytest.raises(GraphError, match="gradients of gradients are not supported"):
        vjp(lambda x: vjp(inner, x)[1](1.0)[0], X)
    with pytest.raises(GraphError, match="gradients of gradients are not supported"):
        vjp(lambda x: vjp(inner, X)[1](ops.sum(x))[0], X)
    with pytest.raises(GraphError, match="gradients of gradients are not supported"):
        vjp(lambda x: vjp(lambda y: lodcore.mul(x, y), X)[1](X)[0], X)
    with pytest.raises(GraphError, match="gradients of gradients are not supported"):
        value_and_grad(lambda x: value_and_grad(inner)(x)[0])(X)
    with Program(), pytest.raises(GraphError, match="vjp: Variable x: is data of a Program"):
        vjp(inner, data("x", (2,), "float64"))


# -- value_and_grad ------------------------------------------------------------------------------------------------


def test_value_and_grad_returns_value_and_gradients():
    def f(x, y, scale=1.0):
        return lodcore.mul(ops.sum(lodcore.mul(x, y)), scale)

    y = X + 1
    value, derivative = value_and_grad(f)(X, y)
    assert float(value) == float((X * y).sum())
    np.testing.assert_array_equal(derivative, y)
    np.testing.assert_array_equal(value_and_grad(f, argnums=-1)(X, y)[1], X)
    value, derivatives = value_and_grad(f, argnums=(1, 0))(X, y, scale=2.0)
    np.testing.assert_array_equal(derivatives[0], 2 * X)
    np.testing.assert_array_equal(derivatives[1], 2 * y)
    assert value_and_grad(f, argnums=np.int64(1))(X, y)[1].shape == (2, 2)
    assert value_and_grad(f, argnums=[0])(X, y)[1][0].shape == (2, 2)
    value, derivative = value_and_grad(lambda p: f(p["x"], p["y"]))({"x": X, "y": y})
    np.testing.assert_array_equal(derivative["x"], y)
    value, derivative = value_and_grad(lambda p: f(p["x"], p["y"]))({"n": 3, "name": "a", "x": X, "y": y})
    assert (derivative["n"], derivative["name"]) == (None, "a")
    np.testing.assert_array_equal(derivative["x"], y)
    np.testing.assert_allclose(value_and_grad(lambda z: ops.sum(np.abs(z)))(3 + 4j)[1], 0.6 + 0.8j)
    assert value_and_grad(f).__name__ == "f"
    value, derivative = value_and_grad(lambda x: ops.sum(x, axis=0))(np.ones((2, 1)))
    assert value.shape == (1,)


@pytest.mark.parametrize("argnums", [(0, 1, 2), (2, 1, 0), (1, 2), (2, 0), [1, 0], (-1, 0), (0, -2), (-1, -2, -3)])
def test_gradients_come_in_the_order_of_argnums(argnums):
    """The arguments have other powers and other dtypes each, and the function gets every one in its place."""

    def f(a, b, c):
        assert [x.dtype for x in (a, b, c)] == [np.float64, np.float32, np.float64]
        return lodcore.mul(a, lodcore.mul(lodcore.mul(b, b), lodcore.mul(c, lodcore.mul(c, c))))

    value, gradients = value_and_grad(f, argnums)(np.array(2.0), np.array(3.0, np.float32), np.array(5.0))
    wanted = [9 * 125.0, 2 * 2 * 3 * 125.0, 2 * 9 * 3 * 25.0]
    assert float(value) == 2 * 9 * 125
    assert [float(d) for d in gradients] == [wanted[number] for number in argnums]
    assert [d.dtype == np.float32 for d in gradients] == [number % 3 == 1 for number in argnums]


@for_each(
    ("argnums", "named"),
    [(1, 1), (-1, 3), (-3, 1), ((0, 1), 1), ((0, 3), 3), ((0, -1), 3), ((2, 0, 3), 3), ((3, 1), 3)],
)
def test_value_and_grad_names_the_argument_without_a_gradient(argnums, named):
    f = value_and_grad(lambda a, b, c, d: ops.sum(a), argnums)
    with pytest.raises(DTypeError, match=f"^value_and_grad: argument {named}: has dtype int64; "):
        f(np.ones(2), 1, np.ones(2), np.arange(2))


@for_each("constant", [np.ones(3), lodcore.array([[1.0], [2.0, 3.0]]), np.float64(1)])
def test_cotangents_of_results_without_gradients_are_checked(constant):
    (y, z), pullback = vjp(lambda x: (lodcore.mul(x, 2.0), constant), np.ones(2))
    for good in (None, z):
        assert pullback(y, good)[0].tolist() == [4, 4]
    for wrong in (np.ones(4), np.ones((3, 1)), np.ones(np.shape(getattr(z, "values", z)), "S1")):
        with pytest.raises((ShapeError, DTypeError), match=r"^pullback: cotangents\[1\]: has "):
            pullback(y, wrong)


@for_each("ids", [[3, 1, 3], [0], [], [4, 0, 4, 4], [[1, 4], [4, 2]]])
def test_gradients_of_rows_go_to_out(ids):
    ids, table = np.array(ids, int), np.arange(10.0).reshape(5, 2)
    place = np.full((5, 2), 9.0)
    y, pullback = vjp(lambda table: lodcore.lookup_table(table, ids), table)
    (found,) = pullback(np.ones(y.shape), out=(place,))
    assert found is place
    assert place.tolist() == [[np.count_nonzero(ids == row)] * 2 for row in range(5)]
    assert (table == np.arange(10.0).reshape(5, 2)).all()


@pytest.mark.parametrize(
    ("f", "argnums", "error", "says"),
    [
        (lambda x: x, 0, ShapeError, r"f: returned shape \(2, 2\); one number"),
        (lambda x: [ops.sum(x)], 0, ShapeError, "f: returned list; one number"),
        (lambda x: None, 0, ShapeError, "f: returned NoneType; one number"),
        (lambda x: ops.cast(ops.sum(x), "int64"), 0, DTypeError, "f: returned dtype int64; a real number"),
        (lambda x: lodcore.mul(ops.sum(x), 1j), 0, DTypeError, "f: returned dtype complex128; a real number"),
        (lambda x: ops.sum(x), 1, IndexError, "argnums: is 1; there are 1 arguments"),
        (lambda x: ops.sum(x), (0, -1), ValueError, "each argument is needed once"),
    ],
)
def test_wrong_uses_of_value_and_grad(f, argnums, error, says):
    with pytest.raises(error, match=f"value_and_grad: .*{says}"):
        value_and_grad(f, argnums)(X)
    with pytest.raises(TypeError):
        value_and_grad(f, 0.5)


# -- grad_check ----------------------------------------------------------------------------------------------------


def wrong_gradient(monkeypatch, rule):
    monkeypatch.setattr(lodcore.tanh, "only_rule", lodcore.tanh.prepared_rule(rule))


def counted():
    """Count the calls of Python under vjp, there and back: in 100 operators on arrays, and for 100 inputs."""
    a, b = np.ones(3), np.ones(3)

    def product(x):
        for _ in range(50):
            x = lodcore.mul(lodcore.mul(x, a), b)
        return x

    def some(xs):
        return xs[0] + xs[99]

    inputs = [np.ones(3) for _ in range(100)]
    found = []
    for f, x in ((product, np.ones(3)), (some, inputs)):
        pullback = vjp(f, x)[1]
        pullback(np.ones(3))  # imports whatever is loaded at first use
        found += [calls_of_python(lambda: vjp(f, x)), calls_of_python(lambda: pullback(np.ones(3)))]  # noqa: B023
    return " ".join(map(str, found))


@pytest.mark.not_on_reference
def test_operators_on_arrays_and_many_inputs_take_few_calls_of_python():
    """Neither a call, a constant nor an input takes any; on the way back, only the rule of each call does.

    In a separate process: once a kind of tensors is registered, every operator looks it up.
    """
    for counts in on_each_path("tests.graph.gradients.test_autodiff", "counted").values():
        there, back, of_inputs, back_to_inputs = map(int, counts.split())
        assert there < 30
        assert back < 100 + 30
        assert of_inputs < 30
        assert back_to_inputs < 30


def test_grad_check_names_the_worst_entry(monkeypatch):
    x = np.array([[0.1, 0.2], [0.3, 0.4]])
    lodcore.grad_check(lambda x: lodcore.tanh(x), x)
    wrong_gradient(monkeypatch, lambda d, out: d * (1 - out**2) * np.array([[1, 1], [1, 1.1]]))
    with pytest.raises(AssertionError, match=r"input 1 at \(1, 1\): gradient"):
        lodcore.grad_check(lambda unused, x: lodcore.tanh(x), 1.0, x)
    lodcore.grad_check(lambda x: lodcore.tanh(x), x, rtol=1.0)


def test_grad_check_sees_nan(monkeypatch):
    wrong_gradient(monkeypatch, lambda d, out: np.array([np.nan, *(d * (1 - out**2))[1:]]))
    with pytest.raises(AssertionError, match=r"at \(0,\): gradient nan"):
        lodcore.grad_check(lambda x: lodcore.tanh(x), np.array([0.1, 0.2, 0.3]))


def test_grad_check_takes_all_forms():
    lodcore.grad_check(lambda p, n: [lodcore.mul(p["x"], p["y"]), (n, p["z"])], {"x": X, "y": 2.0, "z": LISTS}, 3)
    lodcore.grad_check(lambda x: lodcore.tanh(x), X.astype(np.float32))
    single = X.astype(np.float32)
    lodcore.grad_check(lambda x, y: [lodcore.tanh(x), lodcore.mul(x, lodcore.tanh(y))], single, X)
    lodcore.grad_check(lambda y, x: [lodcore.tanh(x), lodcore.mul(x, lodcore.tanh(y))], X, single)


@for_each("at", [0, 1, 2])
def test_grad_check_compares_every_result_and_input(monkeypatch, at):
    """A wrong derivative is found wherever it is."""
    wrong_gradient(monkeypatch, lambda d, out: d * (1 - out**2) * 1.01)

    def f(*x):
        return [lodcore.tanh(one) if j == at else lodcore.mul(one, 2.0) for j, one in enumerate(x)]

    with pytest.raises(AssertionError, match=f"grad_check: input {at} at"):
        lodcore.grad_check(f, X, X, X)


# -- loops: wrong results of Paddle -----------------------------------------------------------------------------------


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("start", ["captured", "first value"])
@pytest.mark.parametrize("order", [*itertools.permutations(range(4))], ids=str)
def test_gradients_through_a_chain_of_loop_variables(order, start, recompute):
    """After n steps the k-th sum of sums of w is binomial(n, k + 1) w; updates come in any order."""

    def f(w):
        loop = while_loop(recompute=recompute)
        with loop.loop():
            sums = [loop.loop_var(0.0) for _ in order]
            source = loop.loop_var(w) if start == "first value" else w
            loop.break_if(lodcore.equal(loop.step(), 6))
            for k in order:
                sums[k].update(lodcore.add(sums[k], sums[k - 1] if k else source))
        return tuple(sums)

    values, pullback = vjp(f, 2.0)
    assert [float(y) for y in values] == [12.0, 30.0, 40.0, 30.0]
    found = [float(pullback(*[float(j == k) for j in range(4)])[0]) for k in range(4)]
    assert found == [6.0, 15.0, 20.0, 15.0]
    assert float(pullback(1.0, 2.0, 3.0, 4.0)[0]) == 6 + 30 + 60 + 60


@for_each("rows", [2, 150])
@for_each("recompute", [False, True])
def test_gradients_of_a_matrix_that_multiplies_the_state_from_the_left(rows, recompute):
    """It is square, so that states look like rows of the shared matrix, which they are not."""

    def f(w, x):
        loop = while_loop(recompute=recompute)
        with loop.loop():
            state = loop.loop_var(x)
            loop.break_if(loop.step() >= 3)
            state.update(lodcore.matmul(w, state))
        return state

    random = np.random.default_rng(0)
    w, x, d = random.normal(size=(rows, rows)) / rows, random.normal(size=(rows, 2)), random.normal(size=(rows, 2))
    y, pullback = vjp(f, w, x)
    np.testing.assert_allclose(y, w @ w @ w @ x, rtol=1e-9)
    states, back = [x, w @ x, w @ w @ x], [w.T @ w.T @ d, w.T @ d, d]
    d_w, d_x = pullback(d)
    np.testing.assert_allclose(d_w, sum(one @ state.T for one, state in zip(back, states, strict=True)), atol=1e-12)
    np.testing.assert_allclose(d_x, w.T @ w.T @ w.T @ d, atol=1e-12)


def test_a_variable_given_to_a_loop_is_its_last_value_also_under_vjp():
    def f(x):
        v = x * 1.0
        loop = while_loop([v])
        with loop.loop():
            loop.break_if(loop.step() >= 3)
            v.update(v * 2.0)
        return v + 0.0, lodcore.mul(x, v), v

    y, pullback = vjp(f, np.array(1.5))
    assert [float(one) for one in y] == [12, 18, 12]
    assert [float(pullback(*d)[0]) for d in ((1.0, None, None), (None, 1.0, None), (None, None, 1.0))] == [8, 24, 8]


@for_each("loops", [1, 2])
@for_each(
    "use", [lambda v, x: v, lambda v, x: v * 1.0, lambda v, x: ops.exp(ops.log(v)), lambda v, x: lodcore.mul(v, 1.0)]
)
def test_a_variable_without_a_block_has_its_last_value_under_vjp_and_after_it(loops, use):
    """Whatever function is applied to it, the gradient goes back through the loops, in each of which it is cubed."""
    v = Variable("v", np.array(1.0))

    def f(x):
        for _ in range(loops):
            loop = while_loop([v])
            with loop.loop():
                loop.break_if(loop.step() >= 3)
                v.update(v * x)
        return use(v, x)

    y, pullback = vjp(f, np.array(2.0))
    power = 3 * loops
    np.testing.assert_allclose([float(y), float(v.get())], [2**power] * 2, rtol=1e-12)
    np.testing.assert_allclose(float(pullback(1.0)[0]), power * 2 ** (power - 1), rtol=1e-12)
    assert (v.block, float(v * 2.0)) == (None, 2 ** (power + 1)), "it has no Block again"
    v.set(np.array(1.0))
    assert float(vjp(f, np.array(3.0))[1](1.0)[0]) == pytest.approx(power * 3 ** (power - 1))


def test_a_variable_given_to_a_loop_has_the_shape_of_its_last_value():
    def f(x):
        v = x * 1.0
        loop = while_loop([v])
        with loop.loop():
            loop.break_if(loop.step() >= 2)
            v.update(ops.concat_values([v, v], 0))
        assert (v.shape, v.get().shape, len(v)) == ((8, 3), (8, 3), 8)
        return v

    assert vjp(f, np.ones((2, 3)))[1](np.ones((8, 3)))[0].tolist() == [[4.0] * 3] * 2


def test_gradients_of_shared_arrays_of_a_rule_are_not_added_in_place():
    """A rule returns one array for two inputs; adding to one of them at a later step must not affect the other."""

    def step(s, w):
        scaled, double = lodcore.mul(w, 1.5), lodcore.mul(s, 2.0)
        return lodcore.add(lodcore.add(s, scaled), double)

    def looped(x, w):
        loop = while_loop()
        with loop.loop():
            s, q = loop.loop_var(x), loop.loop_var(w)
            loop.break_if(lodcore.equal(loop.step(), 3))
            s.update(step(s, q))
        return lodcore.add(s, q)

    def unrolled(x, w):
        s = x
        for _ in range(3):
            s = step(s, w)
        return lodcore.add(s, w)

    found, wanted = (vjp(f, X, X + 1)[1](np.ones((2, 2))) for f in (looped, unrolled))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_loop_without_gradient_keeps_no_scopes():
    loops = []

    def f(x, n):
        loop = while_loop()
        with loop.loop():
            s = loop.loop_var(n)
            loop.break_if(lodcore.greater_than(s, 5.0))
            s.update(lodcore.mul(s, 2.0))
        loops.append(loop)
        return lodcore.mul(x, s)

    pullback = vjp(lambda x: f(x, 1.0), X)[1]
    assert loops[-1].step_scopes == ()
    pullback = vjp(f, X, 1.0)[1]
    scopes = loops[-1].step_scopes
    assert [float(scope.find_var("input").get()) for scope in scopes] == [1, 2, 4, 8]
    assert len({id(scope.parent) for scope in scopes}) == 1
    assert scopes[0].parent.kids == scopes
    del pullback, scopes
    assert loops[-1].step_scopes == (), "they are gone with the pullback"
    f(X, 1.0)
    assert loops[-1].step_scopes == ()


def test_memory_with_and_without_recomputing():
    """Without it, what gradients read of each step is kept; with it, the loop variables, and one step at a time."""
    rows, steps, products = 20_000, 20, 6
    w = np.eye(2)

    def f(x, w, recompute):
        loop = while_loop(recompute=recompute)
        with loop.loop():
            s = loop.loop_var(x)
            loop.break_if(lodcore.equal(loop.step(), steps))
            y = s
            for _ in range(products):
                y = lodcore.tanh(lodcore.matmul(y, w))
            s.update(y)
        return ops.sum(s)

    x = np.random.default_rng(0).standard_normal((rows, 2))
    one = x.nbytes

    def peak(recompute):
        tracemalloc.start()
        value, pullback = vjp(lambda x, w: f(x, w, recompute), x, w)
        kept = tracemalloc.get_traced_memory()[0]
        gradients = pullback(1.0)
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return kept / one, highest / one, (value, *gradients)

    kept, highest, results = peak(False)
    kept_less, highest_less, same = peak(True)
    assert products * steps < kept < (products + 1) * steps, "no gradient reads the products"
    assert kept_less < steps + 4, "loop variables"
    assert highest_less < kept_less + 2 * products + 8, "and one step more"
    assert highest_less < highest / 4
    for one, other in zip(results, same, strict=True):
        np.testing.assert_array_equal(one, other)


def test_memory_without_gradient_is_flat():
    x = np.ones((20_000, 2))

    def run(steps):
        loop = while_loop()
        with loop.loop():
            s = loop.loop_var(x)
            loop.break_if(lodcore.equal(loop.step(), steps))
            s.update(lodcore.tanh(s))
        return s.get()

    peaks = []
    for steps in (3, 100):
        tracemalloc.start()
        run(steps)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] < 5 * x.nbytes


def test_a_single_input_may_give_its_array_alone():
    x = lodcore.array([[1.0, 2.0], [], [3.0]])
    out = np.full(3, np.nan)
    _, pullback = vjp(lambda x: lodcore.mul(x, x), x)
    (gradient,) = pullback(np.ones(3), out=out)
    assert same_memory(gradient.values, out)
    assert out.tolist() == [2.0, 4.0, 6.0]


def test_gradients_lie_row_by_row():
    """vjp rules may return any memory order; the gradient of a LoDTensor has contiguous rows."""
    x = LoDTensor.from_lengths(np.ones((3, 2)), [1, 2])
    gradient = of_type(x, np.arange(6.0).reshape(2, 3).T)
    assert gradient.values.flags.c_contiguous
    assert gradient.values.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


def with_rule(monkeypatch, op, rule):
    monkeypatch.setattr(op, "only_rule", op.prepared_rule(rule))


FIXED = np.array([[1.0, 2.0], [3.0, 4.0]])
FIXED.flags.writeable = False


@for_each("order", ["F", "C"])
@for_each("dtype", [np.float64, np.float32, np.int64])
def test_gradients_of_rules_are_cast_and_made_contiguous(monkeypatch, order, dtype):
    """The gradients of x and y have the dtypes of x and y, are contiguous, and share no memory."""
    d_x, d_y = (np.asarray(one, dtype, order) for one in (FIXED, FIXED + 4))
    with_rule(monkeypatch, lodcore.matmul, lambda d, x, y: (d_x, d_y))
    _, pullback = vjp(lambda x, y: lodcore.matmul(ops.softmax(x) * 0.0 + x, y), X, X.astype(np.float32))
    for one, wanted, kept in zip(pullback(X), (FIXED, FIXED + 4), (np.float64, np.float32), strict=True):
        assert one.dtype == kept
        assert one.flags.c_contiguous
        assert one.flags.writeable
        np.testing.assert_array_equal(one, wanted)


def test_gradient_is_a_copy_of_an_array_that_the_rule_keeps(monkeypatch):
    with_rule(monkeypatch, lodcore.matmul, lambda d, x, y: (FIXED, None))
    (d_x,) = vjp(lambda x: lodcore.matmul(x, X), X)[1](X)
    assert not np.shares_memory(d_x, FIXED)
    d_x += 1.0
    assert FIXED.tolist() == [[1, 2], [3, 4]]


@for_each(
    ("found", "error", "says"),
    [
        ((np.ones((2, 3)), None), ShapeError, r"matmul: .* gradient of shape \(2, 3\); \(2, 2\) is needed"),
        ((None, np.ones((1, 2, 2))), ShapeError, r"matmul: .* gradient of shape \(1, 2, 2\); \(2, 2\) is needed"),
        ((None, 1.0), ShapeError, r"matmul: .* gradient of shape \(\); \(2, 2\) is needed"),
        ((X,), ValueError, "matmul: its vjp rule returned no tuple of 2 gradients"),
        ((X, X, X), ValueError, "matmul: its vjp rule returned no tuple of 2 gradients"),
        ([X, X], ValueError, "matmul: its vjp rule returned no tuple of 2 gradients"),
        (X, ValueError, "matmul: its vjp rule returned no tuple of 2 gradients"),
    ],
)
def test_gradients_of_rules_that_do_not_fit_are_refused(monkeypatch, found, error, says):
    with_rule(monkeypatch, lodcore.matmul, lambda d, x, y: found)
    with pytest.raises(error, match=says):
        vjp(lambda x, y: lodcore.matmul(x, y), X, X)[1](X)


def test_unread_elements_of_an_array_have_gradients_of_zeros():
    """Their gradients are zeros of the shapes of the elements, not holes."""

    def read_one(ta):
        return ops.sum(ta.read(1))

    array = TensorArray()
    for at, size in enumerate([3, 2, 1]):
        array.write(at, np.ones(size))
    _, pullback = vjp(read_one, array)
    (gradient,) = pullback(1.0)
    assert [one.tolist() for one in gradient] == [[0.0, 0.0, 0.0], [1.0, 1.0], [0.0]]


def test_gradient_of_lookup_table_in_a_computed_table_is_dense():
    """The gradient of a table is a SparseTensor; that of a computed table becomes dense."""
    ids = np.array([1, 0, 1])
    w = np.array([[1.0, 0.5], [-0.5, 2.0]])
    for before in (
        lambda x, w: lodcore.tanh(lodcore.matmul(x, w)),
        lambda x, w: lodcore.relu(lodcore.add(lodcore.mul(x, w), 3.0)),
        lambda x, w: lodcore.minus(w, lodcore.div(x, w)),
    ):

        def once(x, w, before=before):
            return lodcore.lookup_table(before(x, w), ids)

        def in_a_loop(x, w, before=before):
            loop = while_loop()
            with loop.loop():
                state = loop.loop_var(x)
                loop.break_if(lodcore.equal(loop.step(), 2))
                state.update(lodcore.lookup_table(before(state, w), np.array([1, 0])))
            return state

        lodcore.grad_check(once, X, w)
        lodcore.grad_check(in_a_loop, X, w)


@pytest.mark.parametrize(
    "runs", [lodcore.vjp, lambda f, x: value_and_grad(f)(x), lambda f, x: lodcore.grad_check(f, x)]
)
@pytest.mark.parametrize("kind", [lodcore.TensorArray, VarArray])
def test_array_writes_of_a_function_that_raised_are_undone(runs, kind):
    array, more = kind(), kind()
    array.write(0, np.array(1.0))

    def f(x):
        array.write(0, lodcore.mul(x, 5.0))
        array.write(1, x)
        more.write(0, x)
        raise KeyError("in between")

    with pytest.raises(KeyError):
        runs(f, np.array(1.0))
    assert (float(array.read(0)), len(array), len(more)) == (1.0, 1, 0)
    array.write(1, np.array(2.0))
    assert float(array.read(1)) == 2.0


# -- arguments of recorded calls -----------------------------------------------------------------------------------


def test_out_may_be_given_by_position():
    out = np.empty(3)
    assert lodcore.gather_sequences(LISTS, [2, 0], 0, out).values is out
    table, ids = np.ones((3, 2)), [[0], [1, 2]]
    _, pullback = vjp(lambda table: lodcore.embedding_bag(table, ids, "sum", None), table)
    np.testing.assert_array_equal(pullback(np.ones((2, 2)))[0].to_dense(), np.ones((3, 2)))
    with pytest.raises(GraphError, match="embedding_bag: out: a recorded result cannot be written to an array"):
        vjp(lambda table: lodcore.embedding_bag(table, ids, "sum", np.empty((2, 2))), table)


@pytest.mark.parametrize(
    ("more", "kwargs", "says"),
    [
        ((), {}, "missing a required argument: 'pool_type'"),
        (("sum", 0.0, -1, None, 1), {}, "too many positional arguments"),
        (("sum",), {"pool_type": "max"}, "multiple values for argument 'pool_type'"),
        (("sum",), {"pad": 0.0}, "got an unexpected keyword argument 'pad'"),
    ],
)
def test_vjp_of_a_function_that_is_called_wrongly_raises_its_type_error(more, kwargs, says):
    with pytest.raises(TypeError, match=says):
        vjp(lambda x: lodcore.sequence_pool(x, *more, **kwargs), LISTS)


def test_pullback_of_a_ufunc_may_be_called_twice():
    _, pullback = vjp(np.hypot, LISTS, LISTS)
    for _ in range(2):
        for gradient in pullback(LISTS):
            np.testing.assert_allclose(gradient.values, LISTS.values / np.sqrt(2))


# -- a value besides the loss -----------------------------------------------------------------------------------------


def test_value_and_grad_with_has_aux_returns_any_tree():
    def loss(w, x):
        scores = lodcore.mul(x, w)
        return ops.sum(lodcore.tanh(scores)), {"scores": scores, "count": len(x), "name": "a", "nothing": None}

    plain = value_and_grad(lambda w, x: loss(w, x)[0])(2.0, X)
    (value, aux), gradient = value_and_grad(loss, has_aux=True)(2.0, X)
    assert (value, gradient) == plain
    np.testing.assert_array_equal(aux["scores"], X * 2.0)
    assert (aux["count"], aux["name"], aux["nothing"]) == (len(X), "a", None)
    (value, _), gradients = value_and_grad(loss, (0, 1), has_aux=True)(2.0, X)
    wanted = value_and_grad(lambda w, x: loss(w, x)[0], (0, 1))(2.0, X)
    assert value == wanted[0]
    for one, other in zip(gradients, wanted[1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_aux_of_value_and_grad_has_no_gradient():
    def loss(w):
        return ops.sum(w * 3.0), ops.sum(w * w)

    (value, aux), gradient = value_and_grad(loss, has_aux=True)(np.ones(2))
    assert (value, aux, gradient.tolist()) == (6.0, 2.0, [3.0, 3.0])


@pytest.mark.parametrize(
    ("f", "argument", "text"),
    [
        (lambda w: ops.sum(w), np.ones(2), "f: returned a float64; a pair of a number and anything else is needed"),
        (lambda w: (ops.sum(w), w, w), np.ones(2), "f: returned a tuple; a pair"),
        (
            lambda w: ops.sum(w),
            np.arange(3),
            r"argument 0: has dtype int64; a floating-point tensor is needed, .*astype",
        ),
        (lambda w: ops.sum(w), {"a": np.arange(3), "b": [True]}, "argument 0: has dtype int64, bool; a floating-point"),
        (lambda w: ops.sum(w), "text", "argument 0: is str; a floating-point tensor is needed, or a tree with one$"),
    ],
)
def test_value_and_grad_refuses_results_and_arguments_without_gradients(f, argument, text):
    with pytest.raises(DTypeError, match=f"^value_and_grad: {text}"):
        value_and_grad(f, has_aux=True)(argument)


def test_value_and_grad_of_a_pair_suggests_has_aux():
    with pytest.raises(ShapeError, match=r"f: returned a tuple \(has_aux=True takes a pair .*\); one number is needed"):
        value_and_grad(lambda w: (ops.sum(w), w))(np.ones(2))


def test_parameters_and_inputs_of_any_order_of_bytes_are_learned_alike():
    made = []
    for order in "=S":
        weight = np.arange(6.0).reshape(3, 2).astype(np.dtype("f8").newbyteorder(order))
        x = LoDTensor.from_lengths(np.linspace(-1.0, 1.0, 12).reshape(4, 3).astype(weight.dtype), [1, 3])
        with Program() as program:
            v, w = data("x", (None, 3), "f8", num_levels=1), parameter(weight, "w")
            padded = lodcore.sequence_pad(lodcore.tanh(v @ w), 0.5)[0]
            loss = ops.sum(padded * padded)
            gradients = append_backward(loss, [w, v])
            w.update(w - 0.1 * gradients[0])
        executor = Executor()
        for _ in range(3):
            found = executor.run(program, {"x": x}, [loss, *gradients])
        made.append([*map(np.asarray, (*found[:2], found[2].values, executor.scope.get(w)))])
    for one, wanted in zip(*reversed(made), strict=True):
        np.testing.assert_array_equal(one, wanted)


def test_an_interrupt_while_a_class_is_looked_up_is_raised(monkeypatch):
    def interrupted(cls, other):
        raise KeyboardInterrupt

    monkeypatch.setattr(Tensor, "__subclasshook__", classmethod(interrupted))
    with pytest.raises(KeyboardInterrupt):
        differentiable(type("New", (), {})())
