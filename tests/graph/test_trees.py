"""Functions of trees of parameters: dicts, lists, tuples, named tuples and dataclasses; what a Variable retains."""

import dataclasses
import itertools
import re
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDTensor, TensorArray, grad_check, nn, ops, value_and_grad, vjp
from lodcore.graph import Variable
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import rows_of

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([[1.0, -0.5], [0.25, 2.0]])
LISTS = LoDTensor.from_lengths(np.array([1.0, 2.0, -1.0]), [1, 0, 2])


class Pair(NamedTuple):
    weight: Any
    bias: Any


@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any
    name: str = "layer"


@dataclasses.dataclass(frozen=True)
class Frozen:
    weight: Any
    bias: Any


def weight_and_bias(p):
    if isinstance(p, dict):
        return p["weight"], p["bias"]
    return (p[0], p[1]) if isinstance(p, (list, tuple)) else (p.weight, p.bias)


KINDS = {
    "dict": lambda w, b: {"weight": w, "bias": b},
    "list": lambda w, b: [w, b],
    "tuple": lambda w, b: (w, b),
    "named tuple": Pair,
    "dataclass": Layer,
    "frozen dataclass": Frozen,
}


def linear(p, x=X):
    w, b = weight_and_bias(p)
    return ops.sum(lodcore.tanh(x @ w + b) ** 2)


def gradients_by_hand(w, b, x=X):
    y = np.tanh(x @ w + b)
    d = 2 * y * (1 - y * y)
    return x.T @ d, d.sum(axis=0)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_trees_of_the_same_kind(kind):
    w, b = np.array([[0.5, 1.0], [-1.0, 0.25]]), np.array([0.125, -0.5])
    p = KINDS[kind](w, b)
    wanted = gradients_by_hand(w, b)
    value, gradient = value_and_grad(linear)(p)
    assert float(value) == pytest.approx(np.sum(np.tanh(X @ w + b) ** 2))
    y, pullback = vjp(linear, p)
    for found in (gradient, pullback(np.array(1.0))[0]):
        assert type(found) is type(p)
        for one, other in zip(weight_and_bias(found), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    assert np.shape(y) == ()
    grad_check(linear, p)
    assert weight_and_bias(p)[0] is w, "what is given is not changed"


def test_trees_in_trees():
    p = {"layers": [Layer(X, X[0]), Pair(X.T, LISTS)], "scale": (np.array(2.0),)}

    def f(p):
        first, second = p["layers"]
        return ops.sum(first.weight @ second.weight) * p["scale"][0] + ops.sum(first.bias) + ops.sum(second.bias)

    _, gradient = value_and_grad(f)(p)
    first, second = gradient["layers"]
    assert (type(first), type(second), type(gradient["scale"])) == (Layer, Pair, tuple)
    assert first.name == "layer"
    np.testing.assert_allclose(first.weight, 2.0 * np.ones((2, 2)) @ X)
    assert second.bias.lod is LISTS.lod
    assert float(gradient["scale"][0]) == pytest.approx(np.sum(X @ X.T))


@pytest.mark.parametrize("kind", KINDS)
def test_results_may_be_trees(kind):
    def f(x):
        return KINDS[kind](x * 2.0, ops.sum(x))

    y, pullback = vjp(f, X)
    assert type(y) is type(KINDS[kind](0, 0))
    np.testing.assert_array_equal(weight_and_bias(y)[0], X * 2.0)
    cotangents = KINDS[kind](np.ones((2, 2)), np.array(3.0))
    (d,) = pullback(*cotangents) if kind in ("list", "tuple", "named tuple") else pullback(cotangents)
    np.testing.assert_array_equal(d, np.full((2, 2), 5.0))


@pytest.mark.parametrize(
    "argument",
    [np.arange(4), 3, True, "text", None, [], {}, {"ids": np.arange(2)}, Layer(1, 2), LoDTensor.from_lengths([1], [1])],
    ids=repr,
)
def test_an_argument_without_floating_point_tensors_is_an_error(argument):
    """If its gradient is requested by name; an integer input of vjp has None among those of others."""
    with pytest.raises(DTypeError, match=r"value_and_grad: argument 0: .*floating-point"):
        value_and_grad(lambda p, x: ops.sum(x))(argument, X)
    with pytest.raises(DTypeError, match=r"value_and_grad: argument 1: .*floating-point"):
        value_and_grad(lambda x, p: ops.sum(x), argnums=(0, 1))(X, argument)
    with pytest.raises(DTypeError, match=r"grad_check: .*floating-point"):
        grad_check(lambda p: np.array(1.0), argument)
    assert value_and_grad(lambda p, x: ops.sum(x), argnums=1)(argument, X)[1].shape == X.shape


def test_vjp_of_integer_leaves_returns_none():
    _, gradient = value_and_grad(lambda p: ops.sum(lodcore.lookup_table(p["table"], p["ids"])))(
        {"table": X, "ids": np.array([1])}
    )
    assert gradient["ids"] is None
    assert gradient["table"].to_dense().tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert vjp(lambda x, ids: lodcore.lookup_table(x, ids), X, np.array([0]))[1](np.ones((1, 2)))[1] is None


def test_tree_map_and_leaves_are_public():
    tree = {"a": [1, Pair(2, 3)], "b": Layer(4, (5,))}
    doubled = lodcore.tree_map(lambda x: x * 2 if isinstance(x, int) else x, tree)
    assert doubled == {"a": [2, Pair(4, 6)], "b": Layer(8, (10,))}
    assert [x for x in lodcore.tree_leaves(tree) if isinstance(x, int)] == [1, 2, 3, 4, 5]
    assert lodcore.tree_map(lambda x, y: x + y, [1, (2,)], [10, (20,)]) == [11, (22,)]
    for size in range(5):
        kind = namedtuple("kind", [*"abcd"][:size])
        for found in (
            lodcore.tree_map(lambda x: -x, kind(*range(size))),
            lodcore.tree_map(max, *[kind(*range(size))] * 2),
        ):
            assert type(found) is kind
            assert [abs(x) for x in found] == [*range(size)]


@for_each("at", [0, 1, 2])
@for_each("other", [{"a": [1, 2], "b": 3}, {}, [[1, 2]], {"a": (1, 2)}, {"a": [1]}, {"a": [1, 2, 3]}, {"b": [1, 2]}, 5])
def test_each_tree_has_the_form_of_the_first(at, other):
    """The error names the first that differs, and where."""
    tree = {"a": [1, 2]}
    given, inner = [tree] * 3, isinstance(other, dict) and other.keys() == tree.keys()
    given[at] = other
    if inner and isinstance(other["a"], tuple):
        assert lodcore.tree_map(lambda *x: x, tree, *given) == {"a": [(1,) * 4, (2,) * 4]}
        return
    with pytest.raises(
        ValueError, match=rf"^tree_map: trees\[{at}\]{re.escape(str(['a'])) if inner else ''}: is .* is needed"
    ):
        lodcore.tree_map(lambda *x: x, tree, *given)


def test_gradients_of_no_parameter_are_refused():
    parameters, optimizer = {"w": np.ones(2), "more": {"v": np.ones(2)}}, nn.SGD(0.5)
    state = optimizer.init(parameters)
    for gradients, place in [
        ({"w": np.ones(2), "z": np.ones(2)}, ""),
        ({"more": {"v": np.ones(2), "z": None}}, r"\['more'\]"),
    ]:
        with pytest.raises(ValueError, match=f"SGD.step: gradients{place}: is dict of 2; a dict with keys of"):
            optimizer.step(parameters, gradients, state)
    for cotangent, place in [({"z": 1.0}, ""), ({"more": {"z": 1.0}}, r"\['more'\]")]:
        with pytest.raises(ValueError, match=rf"pullback: cotangents\[0\]{place}: is dict of 1; a dict with keys of"):
            vjp(lambda p: p, parameters)[1](cotangent)


@pytest.mark.parametrize("order", [*itertools.permutations("abc")], ids="".join)
def test_branches_of_dicts_belong_together_by_their_keys(order):
    """In trees that are mapped together, in cotangents, in gradients given to an optimizer; at every depth."""

    def sorted_as(keys, tree):
        return {key: sorted_as(keys, tree[key]) if isinstance(tree[key], dict) else tree[key] for key in keys}

    numbers = {"a": 1.0, "b": {"a": 2.0, "b": 3.0, "c": 4.0}, "c": 5.0}
    tens = sorted_as(order, lodcore.tree_map(lambda x: 10 * x, numbers))
    hundreds = sorted_as(order[::-1], lodcore.tree_map(lambda x: 100 * x, numbers))
    wanted = {"a": (1, 10, 100), "b": {"a": (2, 20, 200), "b": (3, 30, 300), "c": (4, 40, 400)}, "c": (5, 50, 500)}
    found = lodcore.tree_map(lambda *x: x, numbers, tens, hundreds)
    assert found == wanted
    assert [*found] == [*found["b"]] == ["a", "b", "c"]
    arrays = lodcore.tree_map(np.array, numbers)
    _, pullback = vjp(lambda p: lodcore.tree_map(lambda x: x * 2.0, p), arrays)
    (gradient,) = pullback(sorted_as(order, lodcore.tree_map(np.array, tens)))
    assert lodcore.tree_map(float, gradient) == lodcore.tree_map(lambda x: 20 * x, numbers)
    optimizer = nn.SGD(0.5)
    state = optimizer.init(arrays)
    stepped, _ = optimizer.step(arrays, sorted_as(order, gradient), state)
    assert lodcore.tree_map(float, stepped) == lodcore.tree_map(lambda x: -9 * x, numbers)


# -- what a Variable takes over --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [TensorArray, lodcore.VarArray])
def test_a_clone_of_an_array_shares_no_elements(kind):
    """Neither written elements, nor the buffer of unstack or unpack."""
    first, rows = kind(), np.array([[1.0, 2.0], [3.0, 4.0]])
    first.write(0, rows[0])
    first.write(2, LISTS)
    for held in (first, kind.unstack(rows), TensorArray.unpack(LISTS, 0)[0]):
        v, w = Variable("v", held), Variable("w")
        w.clone(v)
        clone = w.get()
        assert type(clone) is type(held)
        assert clone.size() == held.size()
        for at in {0, held.size() - 1}:
            one, other = clone.read(at), held.read(at)
            assert not np.shares_memory(rows_of(one), rows_of(other))
            np.testing.assert_array_equal(rows_of(one), rows_of(other))
        held.write(0, np.zeros(2))
        assert np.any(rows_of(clone.read(0)))


@dataclasses.dataclass
class Derived:
    weight: Any
    scale: Any = dataclasses.field(init=False, default=None)
    shift: Any = dataclasses.field(default=0.5, kw_only=True)


def test_fields_that_are_no_arguments_are_branches():
    layer = Derived(np.array([1.0, 2.0]))
    layer.scale = np.array([3.0, 4.0])
    assert [np.asarray(leaf).tolist() for leaf in lodcore.tree_leaves(layer)] == [[1, 2], [3, 4], 0.5]
    doubled = lodcore.tree_map(lambda leaf: leaf * 2, layer)
    assert (type(doubled), doubled.scale.tolist(), doubled.shift) == (Derived, [6, 8], 1)
    _, gradient = lodcore.value_and_grad(lambda p: ops.sum(p.weight * p.scale) + p.shift)(layer)
    assert (gradient.weight.tolist(), gradient.scale.tolist(), float(gradient.shift)) == ([3, 4], [1, 2], 1)
