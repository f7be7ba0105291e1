"""Linear, embedding, layer norm and loss: against NumPy, their gradients, and in Programs and loops."""

import functools

import numpy as np
import pytest

import lodcore
from lodcore import (
    DTypeError,
    LoDTensor,
    ShapeError,
    SparseTensor,
    grad_check,
    nn,
    ops,
    value_and_grad,
    vjp,
    while_loop,
)
from tests.helpers.tables import for_each

LENGTHS = [2, 0, 3]
IDS = lodcore.array([[3, 1], [], [3, 0, 4]])
SHAPES = {
    nn.Linear(3, 4): {"weight": (3, 4), "bias": (4,)},
    nn.Embedding(5, 3): {"table": (5, 3)},
    nn.LayerNorm(3): {"scale": (3,), "shift": (3,)},
    nn.AdditiveAttention(3, 2, 4): {"weight_query": (3, 4), "weight_memory": (2, 4), "bias": (4,), "score": (4,)},
}


def drawn(*shape, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def rows(*, seed=0, dtype=np.float64, width=3, lengths=LENGTHS):
    return LoDTensor.from_lengths(drawn(sum(lengths), width, seed=seed, dtype=dtype), lengths)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layer", SHAPES, ids=repr)
def test_layer_init_gives_parameters_of_the_documented_shapes(layer, dtype):
    parameters = layer.init(np.random.default_rng(0), dtype)
    assert {name: x.shape for name, x in parameters.items()} == SHAPES[layer]
    assert {x.dtype for x in parameters.values()} == {np.dtype(dtype)}
    again = layer.init(np.random.default_rng(0), dtype)
    assert all(x.tobytes() == again[name].tobytes() for name, x in parameters.items())
    assert layer.init(np.random.default_rng(0)).popitem()[1].dtype == np.float32


@for_each("layer", [*SHAPES, nn.SimpleRNN(2, 3), nn.GRU(2, 3), nn.LSTM(2, 3), nn.Bidirectional(nn.LSTM(2, 3))])
def test_parameters_are_single_or_double(layer):
    for dtype in ("f2", "i4", "c8", "?", "S4"):
        with pytest.raises(DTypeError, match=r"init: dtype: is .*; float32 or float64 is needed"):
            layer.init(np.random.default_rng(0), dtype)


#: Layers, and for each of their drawn parameters the bound of a uniform distribution, or the deviation of a normal one.
WIDTHS = {
    "Linear": (nn.Linear(300, 100), {"weight": ("even", (6 / 400) ** 0.5)}),
    "Embedding": (nn.Embedding(1000, 64), {"table": ("normal", 1 / 8)}),
    "AdditiveAttention": (
        nn.AdditiveAttention(100, 200, 5000),
        {
            "weight_query": ("even", (6 / 5100) ** 0.5),
            "weight_memory": ("even", (6 / 5200) ** 0.5),
            "score": ("normal", 5000**-0.5),
        },
    ),
    "SimpleRNN": (nn.SimpleRNN(100, 200), {"weight_x": ("even", 0.1), "weight_h": ("even", 200**-0.5)}),
    "GRU": (nn.GRU(100, 200), {"weight_x": ("even", 0.1), "weight_h": ("even", 200**-0.5)}),
    "LSTM": (
        nn.LSTM(100, 400, projection=50),
        {"weight_x": ("even", 0.1), "weight_h": ("even", 50**-0.5), "projection": ("even", 1 / 20)},
    ),
}


@pytest.mark.parametrize("name", WIDTHS)
def test_initial_weights_have_the_documented_distribution(name):
    layer, widths = WIDTHS[name]
    parameters = layer.init(np.random.default_rng(0))
    assert {key for key, x in parameters.items() if x.std() > 0 and key != "bias"} == widths.keys()
    for key, (kind, width) in widths.items():
        found = parameters[key]
        assert abs(found.mean()) < width / 20
        if kind == "normal":
            assert found.std() == pytest.approx(width, rel=0.03)
            assert abs(found).max() > 2.5 * width
        else:
            assert 0.99 * width < abs(found).max() <= width
            assert found.std() == pytest.approx(width / 3**0.5, rel=0.02)


#: Layers, and a call of each on something that fits.
CALLED = [
    (nn.Linear(3, 4), lambda layer, p: layer(p, np.ones((2, 3)))),
    (nn.Embedding(5, 3), lambda layer, p: layer(p, [0, 1])),
    (nn.LayerNorm(3), lambda layer, p: layer(p, np.ones((2, 3)))),
    (nn.AdditiveAttention(3, 4, 5), lambda layer, p: layer(p, np.ones((2, 3)), lodcore.array([np.ones((1, 4))] * 2))),
    *(
        (layer, lambda layer, p: layer(p, lodcore.array([np.ones((2, 3)), np.ones((1, 3))])))
        for layer in (
            nn.SimpleRNN(3, 4),
            nn.GRU(3, 4),
            nn.LSTM(3, 4),
            nn.LSTM(3, 4, peepholes=True),
            nn.LSTM(3, 4, projection=2),
        )
    ),
]


@pytest.mark.parametrize("at", range(len(CALLED)))
def test_parameters_of_other_sizes_are_refused(at):
    layer, call = CALLED[at]
    parameters = layer.init(np.random.default_rng(0), np.float64)
    call(layer, parameters)
    for key, x in parameters.items():
        for axis in range(x.ndim):
            for wrong in (np.concatenate([x, x], axis), np.delete(x, 0, axis), x[None]):
                with pytest.raises(ShapeError, match=r"ha(s|ve) (shape|rows of shape)"):
                    call(layer, {**parameters, key: wrong})


@pytest.mark.parametrize("made", [nn.Linear, nn.Embedding, nn.SimpleRNN, nn.GRU, nn.LSTM, nn.AdditiveAttention])
def test_layers_take_sizes_of_zero_and_refuse_negative_ones(made):
    count = 3 if made is nn.AdditiveAttention else 2
    for at in range(count):
        sizes = [0 if at == j else 3 for j in range(count)]
        parameters = made(*sizes).init(np.random.default_rng(0))
        assert any(0 in x.shape for x in parameters.values())
        with pytest.raises(ValueError, match="is -1; 0 or more"):
            made(*[-1 if at == j else 3 for j in range(count)])
        with pytest.raises(DTypeError, match=r"is 1\.0; an integer"):
            made(*[1.0 if at == j else 3 for j in range(count)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linear_layer_is_a_product_and_a_bias(dtype):
    layer = nn.Linear(3, 4)
    parameters = {"weight": drawn(3, 4, dtype=dtype), "bias": drawn(4, seed=1, dtype=dtype)}
    x = rows(dtype=dtype)
    y = layer(parameters, x)
    assert y.lod is x.lod
    assert y.dtype == dtype
    np.testing.assert_allclose(y.values, x.values @ parameters["weight"] + parameters["bias"], rtol=1e-6)
    np.testing.assert_array_equal(layer(parameters, x.values), y.values)
    two = LoDTensor.from_lengths(x.values, [1, 2], LENGTHS)
    assert layer(parameters, two).lod is two.lod


def test_layer_norm_layer_normalizes_scales_and_shifts_rows():
    layer, x = nn.LayerNorm(3, eps=0.01), rows()
    parameters = {"scale": drawn(3), "shift": drawn(3, seed=1)}
    y, values = layer(parameters, x), x.values
    rest = values - values.mean(axis=1, keepdims=True)
    wanted = rest / np.sqrt(values.var(axis=1, keepdims=True) + 0.01) * parameters["scale"] + parameters["shift"]
    assert y.lod is x.lod
    np.testing.assert_allclose(y.values, wanted, rtol=1e-12)
    narrow = {name: p.astype(np.float32) for name, p in parameters.items()}
    of_narrow = layer(narrow, rows(dtype=np.float32))
    assert of_narrow.dtype == np.float32
    np.testing.assert_allclose(of_narrow.values, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.not_on_reference
def test_layer_norm_gradients_of_many_float32_rows_are_close_to_float64():
    """Sums of scale and shift over 100,000 rows of float32 are close to those of float64."""
    layer, lengths = nn.LayerNorm(4), [60_000, 40_000]
    parameters = layer.init(np.random.default_rng(0))
    x, d = rows(dtype=np.float32, width=4, lengths=lengths), abs(drawn(100_000, 4, seed=3, dtype=np.float32))
    y, pullback = vjp(layer, parameters, x)
    found, _ = pullback(d)
    np.testing.assert_allclose(found["shift"], d.sum(axis=0, dtype=np.float64), rtol=1e-6)
    wanted = (d * y.values).sum(axis=0, dtype=np.float64)
    np.testing.assert_allclose(found["scale"], wanted, atol=1e-6 * found["shift"].max())


def test_embedding_has_a_sparse_gradient():
    layer = nn.Embedding(5, 3)
    parameters = layer.init(np.random.default_rng(0), np.float64)
    y = layer(parameters, IDS)
    assert y.lod is IDS.lod
    np.testing.assert_array_equal(y.values, parameters["table"][IDS.values])
    _, gradients = value_and_grad(lambda p: ops.sum(layer(p, IDS) * 2.0))(parameters)
    assert isinstance(gradients["table"], SparseTensor)
    np.testing.assert_array_equal(gradients["table"].to_dense()[:, 0], [2, 2, 0, 4, 2])


def network(parameters, ids, labels, smoothing=0.1):
    """Run all layers of this file, one after another."""
    x = nn.LayerNorm(3)(parameters["norm"], nn.Embedding(5, 3)(parameters["words"], ids))
    logits = nn.Linear(3, 4)(parameters["out"], lodcore.tanh(x))
    return lodcore.mean(nn.cross_entropy(logits, labels, label_smoothing=smoothing))


def parameters_of_network(dtype=np.float64):
    rng = np.random.default_rng(0)
    layers = {"words": nn.Embedding(5, 3), "norm": nn.LayerNorm(3), "out": nn.Linear(3, 4)}
    return {name: layer.init(rng, dtype) for name, layer in layers.items()}


LABELS = np.array([0, 3, 1, 2, 2])


def test_gradients_of_layers_are_derivatives():
    grad_check(lambda p: network(p, IDS, LABELS), parameters_of_network())
    _, wide = value_and_grad(network)(parameters_of_network(), IDS, LABELS)
    value, narrow = value_and_grad(network)(parameters_of_network(np.float32), IDS, LABELS)
    assert value.dtype == np.float32
    for one, other in zip(lodcore.tree_leaves(narrow), lodcore.tree_leaves(wide), strict=True):
        dense = [x.to_dense() if isinstance(x, SparseTensor) else x for x in (one, other)]
        np.testing.assert_allclose(*dense, rtol=1e-4, atol=1e-5)


def test_layers_give_the_same_in_a_program():
    parameters = parameters_of_network()
    with lodcore.Program() as program:
        ids = lodcore.data("ids", (None,), "int64", num_levels=1)
        labels = lodcore.data("labels", (None,), "int64")
        variables = lodcore.tree_map(lodcore.parameter, parameters)
        loss = network(variables, ids, labels)
        lodcore.append_backward(loss)
    weight = variables["out"]["weight"]
    found = lodcore.Executor().run(
        program,
        {"ids": IDS, "labels": LABELS},
        [loss, f"{weight.name}@GRAD", f"{variables['norm']['scale'].name}@GRAD"],
    )
    value, gradients = value_and_grad(network)(parameters, IDS, LABELS)
    for one, other in zip(found, (value, gradients["out"]["weight"], gradients["norm"]["scale"]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_layers_in_the_body_of_a_loop():
    layer, norm = nn.Linear(3, 3), nn.LayerNorm(3)
    rng = np.random.default_rng(0)
    parameters = {"linear": layer.init(rng, np.float64), "norm": norm.init(rng, np.float64)}

    def looped(p, x):
        loop = while_loop()
        with loop.loop():
            state = loop.loop_var(x)
            loop.break_if(loop.step() >= 3)
            state.update(norm(p["norm"], lodcore.tanh(layer(p["linear"], state))))
        return ops.sum(state * state * state)

    def by_hand(p, x):
        for _ in range(3):
            x = norm(p["norm"], lodcore.tanh(layer(p["linear"], x)))
        return ops.sum(x * x * x)

    x = rows()
    (one, of_loop), (other, of_python) = (value_and_grad(f, (0, 1))(parameters, x) for f in (looped, by_hand))
    assert one == pytest.approx(other)
    for a, b in zip(lodcore.tree_leaves(of_loop), lodcore.tree_leaves(of_python), strict=True):
        a, b = (x.values if isinstance(x, LoDTensor) else x for x in (a, b))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_layers_of_batches_without_rows_return_no_rows_and_zero_gradients(lengths):
    ids = LoDTensor.from_lengths(np.empty(0, np.int64), lengths)
    parameters = parameters_of_network(np.float32)
    x = nn.LayerNorm(3)(parameters["norm"], nn.Embedding(5, 3)(parameters["words"], ids))
    logits = nn.Linear(3, 4)(parameters["out"], x)
    assert logits.lod is ids.lod
    assert nn.cross_entropy(logits, np.empty(0, np.int64)).values.shape == (0,)
    _, pullback = vjp(lambda p: nn.Linear(3, 4)(p["out"], nn.LayerNorm(3)(p["norm"], x)), parameters)
    (gradients,) = pullback(np.zeros((0, 4), np.float32))
    assert not any(np.any(one) for one in lodcore.tree_leaves(gradients))


def test_smoothed_labels_are_those_of_pytorch():
    logits = np.array([[0.5, -1.0, 2.0], [3.0, 0.0, -1.5]])
    losses, pullback = vjp(lambda x: nn.cross_entropy(x, [2, 0], label_smoothing=0.1), logits)
    np.testing.assert_allclose(losses, [0.391311296657157, 0.30911389527280325], rtol=1e-12)
    wanted = [
        [0.14195705880670337, 0.0057792399373541165, -0.14773629874405747],
        [0.009266072093346511, 0.013595927708152676, -0.02286199980149909],
    ]
    np.testing.assert_allclose(pullback(np.ones(2))[0], wanted, rtol=1e-9)


def test_rows_with_the_ignored_label_have_no_loss_and_no_gradient():
    logits = np.array([[0.5, -1.0, 2.0], [np.nan, np.inf, 0.0], [3.0, 0.0, -1.5], [1.0, 2.0, 3.0]])
    for smoothing in (0.0, 0.1):
        for dtype in (np.int64, np.int8):
            labels, chosen = np.array([2, -100, 0, -100], dtype), [0, 2]
            for skipped in (labels, np.where(labels < 0, 1, labels)):
                ignored = -100 if skipped is labels else 1
                loss = functools.partial(
                    nn.cross_entropy, labels=skipped, label_smoothing=smoothing, ignore_index=ignored
                )
                losses, pullback = vjp(loss, logits)
                alone = functools.partial(nn.cross_entropy, labels=skipped[chosen], label_smoothing=smoothing)
                others, back = vjp(alone, logits[chosen])
                np.testing.assert_array_equal(losses[chosen], others)
                np.testing.assert_array_equal(losses[[1, 3]], 0)
                found = pullback(np.ones(4))[0]
                np.testing.assert_array_equal(found[chosen], back(np.ones(2))[0])
                np.testing.assert_array_equal(found[[1, 3]], 0)
    every = LoDTensor.from_lengths(np.full(3, -1), [2, 1])
    assert nn.cross_entropy(np.ones((3, 2)), every, ignore_index=-1).tolist() == [[0.0, 0.0], [0.0]]


def test_linear_refuses_a_weight_of_another_shape():
    with pytest.raises(ShapeError, match=r"Linear: weight: has shape \(2, 7\); \(2, 3\) is needed"):
        nn.Linear(2, 3)({"weight": np.ones((2, 7)), "bias": np.ones(7)}, np.ones((1, 2)))


@for_each("dtype", ["f4", "f8"])
def test_gradients_of_layer_norm_have_the_same_bits_for_any_threads(dtype):
    random, shape = np.random.default_rng(0), (8000, 300)  # of which threads take parts
    rows = (random.normal(size=shape) + random.normal(size=(8000, 1))).astype(dtype)
    scale, shift, d = (random.normal(size=size).astype(dtype) for size in (300, 300, shape))
    before, found = lodcore.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            lodcore.set_num_threads(threads)
            out, pullback = vjp(ops.layer_norm, rows, scale, shift)
            found.append([one.tobytes() for one in (out, *pullback(d))])
    finally:
        lodcore.set_num_threads(before)
    assert found[0] == found[1] == found[2]
