"""Losses of rows, dropout as a layer, and layers stacked by their number, compared with NumPy."""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, Executor, LoD, LoDError, LoDTensor, Program, append_backward, data, grad_check, nn
from tests.helpers.recorded import assert_recorded
from tests.helpers.tables import for_each

LODS = [LoD.from_lengths([2, 0, 3]), LoD.from_lengths([2, 1], [1, 1, 3])]


def rows(lod, *shape, seed=0, dtype="f8"):
    return LoDTensor(np.random.default_rng(seed).normal(size=(5, *shape)).astype(dtype), lod)


@for_each(("lod", "shape", "dtype"), [(lod, s, d) for lod in LODS for s in [(), (3,), (2, 2)] for d in ("f8", "f4")])
def test_squared_errors_are_means_over_rows(lod, shape, dtype):
    x, y = rows(lod, *shape, dtype=dtype), rows(lod, *shape, seed=1)
    found = nn.mean_squared_error(x, y)
    assert (found.lod, found.dtype, found.values.shape) == (lod, x.dtype, (5,))
    wanted = ((x.values.astype("f8") - y.values) ** 2).reshape(5, -1).mean(1)
    np.testing.assert_allclose(found.values, wanted, rtol=1e-5)
    np.testing.assert_allclose(nn.mean_squared_error(x.values, y.values), wanted, rtol=1e-5)
    if dtype == "f8":
        grad_check(nn.mean_squared_error, x, y)
        assert_recorded(lambda x: nn.mean_squared_error(x, y), x)


@for_each(("lod", "shape"), [(lod, shape) for lod in LODS for shape in [(), (3,)]])
def test_binary_cross_entropy_is_that_of_the_sigmoid(lod, shape):
    z = rows(lod, *shape)
    for labels in (rows(lod, *shape, seed=1) > 0, (rows(lod, *shape, seed=1) > 0).astype("i8"), 0.25):
        found = nn.binary_cross_entropy(z, labels)
        y = getattr(labels, "values", labels) * 1.0
        p = 1 / (1 + np.exp(-z.values))
        np.testing.assert_allclose(found.values, -(y * np.log(p) + (1 - y) * np.log(1 - p)), rtol=1e-12)
        assert found.lod is lod
        grad_check(lambda z, labels=labels: nn.binary_cross_entropy(z, labels), z)
    assert nn.binary_cross_entropy(z.astype("f4"), 1).dtype == np.float32


def test_binary_cross_entropy_at_zero_and_far_away():
    z = np.array([0.0, 1e4, -1e4])
    losses, back = lodcore.vjp(lambda z: nn.binary_cross_entropy(z, [1, 0, 1]), z)
    np.testing.assert_allclose(losses, [np.log(2), 1e4, 1e4])
    np.testing.assert_array_equal(back(np.ones(3))[0], [-0.5, 1.0, -1.0])


@for_each(("dtype", "nested"), [(dtype, nested) for dtype in ("f4", "f8") for nested in (False, True)])
def test_binary_cross_entropy_of_infinite_logits_is_the_limit(dtype, nested):
    inf = np.inf
    z, y = np.array([inf, inf, inf, -inf, -inf, -inf], dtype), np.array([1, 0, 0.5, 1, 0, 0.5], dtype)
    wanted, slopes = [0, inf, inf, inf, 0, inf], [0, 1, 0.5, -1, 0, -0.5]
    z, y, ones = (LoDTensor.from_lengths(x, [2, 0, 4]) if nested else x for x in (z, y, np.ones_like(z)))

    losses, back = lodcore.vjp(lambda z: nn.binary_cross_entropy(z, y), z)
    with Program() as program:
        v = data("z", (None,), dtype, num_levels=int(nested))
        recorded = nn.binary_cross_entropy(v, y)
        fetch = [recorded, append_backward(lodcore.ops.sum(recorded), v)]
    for loss, slope in ((losses, back(ones)[0]), Executor().run(program, {"z": z}, fetch)):
        assert loss.dtype == slope.dtype == z.dtype
        np.testing.assert_array_equal(loss.values if nested else loss, wanted)
        np.testing.assert_array_equal(slope.values if nested else slope, slopes)


def test_binary_cross_entropy_of_sure_logits_keeps_small_losses():
    z = np.array([200.0, -200.0])
    np.testing.assert_allclose(nn.binary_cross_entropy(z, [1, 0]), np.exp([-200.0, -200.0]))
    grad_check(nn.binary_cross_entropy, np.array([0.5, -1.5]), np.array([0.25, 0.75]))
    assert np.isnan(nn.binary_cross_entropy(np.array([np.nan, np.nan]), [0, 1])).all()


def test_dropout_is_a_layer_without_parameters():
    layer, x = nn.Dropout(0.5), rows(LODS[0], 4)
    assert layer.init(np.random.default_rng(0)) == {}
    for rng in (None, 7):
        found = layer({}, x, rng and np.random.default_rng(rng))
        assert found.equals(nn.dropout(x, 0.5, rng and np.random.default_rng(rng)))
    assert repr(layer) == "Dropout(rate=0.5)"


@for_each(
    "layer", [nn.SimpleRNN(3, 4, "relu"), nn.LSTM(3, 4, projection=2), nn.GRU(3, 3), nn.Bidirectional(nn.GRU(3, 2))]
)
def test_stacked_by_number_is_stacked_by_hand(layer):
    stack = nn.Stacked(layer, num_layers=3)
    assert [one.n_in for one in stack.layers] == [3, layer.n_out, layer.n_out]
    assert {type(one) for one in stack.layers} == {type(layer)}
    assert layer.n_in == 3
    parameters = stack.init(np.random.default_rng(0), np.float64)
    outputs, last = stack(parameters, rows(LODS[0], 3))
    assert (outputs.values.shape, len(last)) == ((5, layer.n_out), 3)
    again = nn.Stacked(stack.layers)(parameters, rows(LODS[0], 3))[0]
    assert again.equals(outputs)
    assert len(nn.Stacked(layer).layers) == 1


X = rows(LODS[0])


@for_each(
    ("call", "error", "text"),
    [
        (lambda: nn.mean_squared_error([1, 2], [1.0, 2.0]), DTypeError, "mean_squared_error: x: has dtype int64"),
        (lambda: nn.mean_squared_error(X, ["a"]), DTypeError, "mean_squared_error: targets: has dtype <U1"),
        (lambda: nn.mean_squared_error(X, lodcore.array([[1.0]])), LoDError, "mean_squared_error: y: has 1 seq"),
        (lambda: nn.binary_cross_entropy(X, 2), ValueError, "binary_cross_entropy: labels: is 2.0; 0 .. 1"),
        (lambda: nn.binary_cross_entropy(X, [np.nan] * 5), ValueError, "binary_cross_entropy: labels: is nan"),
        (lambda: nn.binary_cross_entropy([1], [1]), DTypeError, "binary_cross_entropy: logits: has dtype int64"),
        (lambda: nn.Dropout(1.5), ValueError, "Dropout: rate: is 1.5"),
        (lambda: nn.Dropout("a"), DTypeError, "Dropout: rate: is 'a'"),
        (lambda: nn.Stacked(nn.GRU(2, 2), num_layers=0), ValueError, "Stacked: num_layers: is 0; 1 .. 1000 is valid"),
        (
            lambda: nn.Stacked(nn.GRU(2, 2), num_layers=10**9),
            ValueError,
            "num_layers: is 1000000000; 1 .. 1000 is valid",
        ),
        (lambda: nn.Stacked([nn.GRU(2, 2)], num_layers=2), ValueError, "Stacked: num_layers: is 2; it goes with"),
    ],
)
def test_refusals_name_argument_and_value(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_binary_cross_entropy_takes_labels_with_and_without_an_axis_of_one():
    logits, labels = np.array([0.5, -1.0]), np.array([1, 0])
    wanted = nn.binary_cross_entropy(logits, labels)
    np.testing.assert_array_equal(nn.binary_cross_entropy(logits, labels[:, None]), wanted)
    np.testing.assert_array_equal(nn.binary_cross_entropy(logits[:, None], labels), wanted[:, None])
    x = LoDTensor.from_lengths(logits, [1, 1])
    found = nn.binary_cross_entropy(x, LoDTensor.from_lengths(labels[:, None], [1, 1]))
    assert found.shape == (2, None)
    np.testing.assert_array_equal(found.values, wanted)


def test_gradient_of_the_label_of_an_infinite_logit_without_weight_is_zero():
    def loss(x, y):
        return (nn.binary_cross_entropy(x, y) * np.array([0.0, 1.0])).sum()

    _, (_, d_y) = lodcore.value_and_grad(loss, (0, 1))(np.array([-np.inf, 1.0]), np.array([0.0, 1.0]))
    assert d_y.tolist() == [0, -1]


def test_a_negative_label_names_ignore_index():
    with pytest.raises(IndexError, match=r"labels: is -100 at row 1; there are 3 classes; ignore_index= leaves out"):
        nn.cross_entropy(np.zeros((2, 3)), [0, -100])
    with pytest.raises(IndexError, match=r"labels: is -1 at row 1; there are 3 classes$"):
        nn.cross_entropy(np.zeros((2, 3)), [0, -1], ignore_index=-100)
