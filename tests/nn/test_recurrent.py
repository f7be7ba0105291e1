"""Recurrent layers: fused, looped, and their definition, for every dtype, direction and level."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
import lodcore.kernels
from lodcore import (
    DTypeError,
    Executor,
    LevelError,
    LoDTensor,
    Program,
    ShapeError,
    append_backward,
    data,
    grad_check,
    nn,
    ops,
    tree_leaves,
    tree_map,
    value_and_grad,
    vjp,
)
from reference.nn.dynamic_rnn import dynamic_rnn as meaning_of_loop
from reference.ops.recurrent_layers import layer as meaning
from reference.ops.recurrent_layers import run_cell
from tests.helpers.draw import lengths
from tests.helpers.tables import for_each
from tests.nn.networks import (
    LAYERS,
    N_IN,
    STRUCTURES,
    assert_means,
    assert_same,
    batch,
    drawn,
    lists,
    network,
    states_of,
    values,
)

NAMES = list(LAYERS)
COMBINED = {
    "bidirectional": nn.Bidirectional(nn.LSTM(N_IN, 2)),
    "stacked": nn.Stacked([nn.LSTM(N_IN, 3, projection=2), nn.GRU(2, 4), nn.SimpleRNN(4, 2)]),
    "both": nn.Stacked([nn.Bidirectional(nn.GRU(N_IN, 2)), nn.LSTM(4, 2)]),
    "stacked twice": nn.Stacked([nn.Stacked([nn.GRU(N_IN, 2)]), nn.GRU(2, 1)]),
}


def over_levels(lengths):
    """List the levels of a structure, also counted from the last."""
    return [*range(len(lengths)), -1]


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("name", NAMES)
def test_fused_looped_and_reference_agree(name, structure, dtype, is_reverse):
    layer, cell = LAYERS[name]
    x = batch(STRUCTURES[structure], dtype)
    for level in over_levels(STRUCTURES[structure]):
        count = x.lod.num_sequences(level)
        parameters, state = network(layer, count, dtype)
        row_cell, k = partial(cell, lists(parameters)), level % x.num_levels
        for given_state in (state, None):
            boots = states_of(layer.initial_state(parameters, count) if given_state is None else state, count)
            fused = layer(parameters, x, given_state, is_reverse, level)
            assert fused[0].lod is x.lod
            assert_means(fused, meaning(row_cell, x.tolist(), x.num_levels, k, boots, is_reverse), x, dtype)
            looped = nn.dynamic_rnn(layer.cell, parameters, x, given_state, level, is_reverse)
            step = through_rows(row_cell, x.num_levels - k - 1)
            assert_means(looped, meaning_of_loop(step, x.tolist(), k, boots, is_reverse), x, dtype)


def through_rows(cell, levels):
    """Make the cell of an element that has levels itself: it runs forward over all of its rows."""
    if not levels:
        return cell

    def step(element, state):
        return run_cell(through_rows(cell, levels - 1), element, state, False)

    return step


@given(lengths(None, 8, 6), st.sampled_from(NAMES), st.booleans(), st.integers(0, 2**32))
def test_fused_and_looped_agree_on_any_lengths(sizes, name, is_reverse, seed):
    layer, x = LAYERS[name][0], batch([sizes], seed=seed)
    parameters, state = network(layer, len(sizes), seed=seed)
    fused = layer(parameters, x, state, is_reverse)
    assert_same(nn.dynamic_rnn(layer.cell, parameters, x, state, is_reverse=is_reverse), fused)


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("structure", ["empty within", "empty first", "only empty", "no sequences", "two levels"])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_fused_and_looped_agree(name, structure, is_reverse):
    layer, x = LAYERS[name][0], batch(STRUCTURES[structure])
    parameters, state = network(layer, x.lod.num_sequences(-1))
    ways = [partial(layer, is_reverse=is_reverse), partial(nn.dynamic_rnn, layer.cell, is_reverse=is_reverse)]
    found = []
    for way in ways:
        results, pullback = vjp(way, parameters, x, state)
        found.append(pullback(*tree_map(lambda one: np.cos(values(one)), results)))
    assert_same(*found)
    empty = np.flatnonzero(x.lod.lengths(-1) == 0)
    last = tree_leaves(layer(parameters, x, state)[1])
    for one, d in zip(last, tree_leaves(found[0][2]), strict=True):
        np.testing.assert_array_equal(d[empty], np.cos(one[empty]))  # its cotangent is that of the last state


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "relu"])
def test_gradients_of_recurrent_layers_are_derivatives(name, is_reverse):
    """Through outputs, last state and last cell, with respect to parameters, inputs and both boot states."""
    layer, x = LAYERS[name][0], batch([[0, 3, 1, 0]])
    parameters, state = network(layer, 4)
    grad_check(lambda p, x, s: layer(p, x, s, is_reverse), parameters, x, state)
    grad_check(lambda p, x: layer(p, x, None, is_reverse)[0], parameters, x)
    grad_check(lambda p, x, s: layer(p, x, s, is_reverse)[1], parameters, x, state)
    deep = batch([[2, 0, 1], [0, 2, 1]])
    grad_check(lambda p, x: layer(p, x, None, is_reverse, level=0), parameters, deep)


@pytest.mark.parametrize("name", NAMES)
def test_float32_gradients_are_near(name):
    layer, found = LAYERS[name][0], []
    for dtype in (np.float32, np.float64):
        x = batch(STRUCTURES["empty within"], np.float32)
        parameters, state = (tree_map(lambda one, d=dtype: one.astype(d), one) for one in network(layer, 6, np.float32))
        results, pullback = vjp(layer, parameters, x.with_values(x.values.astype(dtype)), state)
        found.append(pullback(*tree_map(lambda one: np.ones_like(values(one)), results)))
    for one, other in zip(*map(tree_leaves, found), strict=True):
        assert values(one).dtype == np.float32
        np.testing.assert_allclose(values(one), values(other), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", ["fused", "looped"])
def test_recurrent_layers_give_the_same_in_a_program(name, way):
    """Recorded once, fed with sequences of any lengths; the number of states is that of the sequences."""
    layer = LAYERS[name][0]
    run = layer if way == "fused" else partial(nn.dynamic_rnn, layer.cell)
    parameters, _ = network(layer, 1)
    with Program() as program:
        x = data("x", (None, N_IN), "float64", num_levels=1)
        outputs, last = run(parameters, x)
        loss = ops.sum(outputs * outputs)
        for one in tree_leaves(last):
            loss = loss + ops.sum(one * one)
        append_backward(loss)
    for structure in ("empty within", "only empty", "no sequences", "one row"):
        given = batch(STRUCTURES[structure])
        found = Executor().run(program, {"x": given}, [outputs, *tree_leaves(last), "x@GRAD"])
        wanted, pullback = vjp(lambda x: layer(parameters, x), given)
        d_x = pullback(*tree_map(lambda one: 2 * values(one), wanted))
        assert_same(found, [*tree_leaves(wanted), *d_x])


@pytest.mark.parametrize("name", NAMES)
def test_layer_cell_equals_one_step_of_the_layer(name):
    layer, cell = LAYERS[name]
    parameters, state = network(layer, 2)
    rows = np.random.default_rng(3).standard_normal((2, N_IN))
    kept = tree_map(np.copy, (parameters, rows, state))
    output, following = layer.cell(parameters, rows, state)
    for s, boot in enumerate(states_of(state, 2)):
        wanted, last = cell(lists(parameters), rows[s].tolist(), boot)
        np.testing.assert_allclose(output[s], wanted, rtol=1e-12)
        np.testing.assert_allclose(np.concatenate([one[s] for one in tree_leaves(following)]), np.hstack(last))
    assert_same((parameters, rows, state), kept, 0)
    assert_same(layer.cell.initial_state(parameters, 3), tree_map(np.zeros_like, network(layer, 3)[1]))


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU, nn.SimpleRNN, partial(nn.LSTM, projection=30)])
@pytest.mark.not_on_reference
def test_threads_give_the_same_bits(make, is_reverse, request):
    """Also if the batch is divided into runs, each of which has some of the last states."""
    request.addfinalizer(lambda: lodcore.set_num_threads(1))
    sizes = np.random.default_rng(5).integers(0, 40, 90)
    layer, x = make(N_IN, 60), batch([sizes], np.float32)
    parameters, state = network(layer, len(sizes), np.float32)
    parameters = tree_map(lambda one: one / 4, parameters)  # with larger ones, rounding errors grow from step to step
    found = []
    for count in (1, 2, 3, 4):
        lodcore.set_num_threads(count)
        results, pullback = vjp(partial(layer, is_reverse=is_reverse), parameters, x, state)
        found.append((results, pullback(*tree_map(lambda one: np.cos(values(one)), results))))
    for other in found[1:]:
        assert_same(other, found[0], 0 if lodcore.kernels.matrix.is_fast() else 1e-4)
    (outputs, last), _ = found[0]
    ends = [s for s, size in enumerate(sizes) if size]
    rows = [outputs[s][0 if is_reverse else -1] for s in ends]
    np.testing.assert_array_equal(tree_leaves(last)[0][ends], rows)
    looped = nn.dynamic_rnn(layer.cell, parameters, x, state, is_reverse=is_reverse)
    assert_same(looped, found[0][0], 1e-4)


# -- layers of layers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("level", [-1, 0])
def test_bidirectional_is_both_directions(level, is_reverse):
    layer, x = COMBINED["bidirectional"], batch(STRUCTURES["two levels"])
    parameters, state = network(layer, x.lod.num_sequences(level))
    outputs, last = layer(parameters, x, state, is_reverse, level)
    ways = {"forward": is_reverse, "backward": not is_reverse}
    each = [
        layer.layer(parameters[way], x, boot, reverse, level)
        for (way, reverse), boot in zip(ways.items(), state, strict=True)
    ]
    np.testing.assert_array_equal(outputs.values, np.hstack([one.values for one, _ in each]))
    assert outputs.lod is x.lod
    assert_same(last, tuple(one for _, one in each), 0)


def test_stacked_is_one_on_top_of_another():
    layer, x = COMBINED["stacked"], batch(STRUCTURES["empty within"])
    parameters, state = network(layer, 6)
    outputs, last = layer(parameters, x, state)
    below = x
    for one, of, boot, found in zip(layer.layers, parameters, state, last, strict=True):
        below, wanted = one(of, below, boot)
        assert_same(found, wanted, 0)
    assert_same(outputs, below, 0)


@pytest.mark.parametrize("name", ["stacked", "stacked twice"])
@pytest.mark.parametrize("is_reverse", [False, True])
def test_the_cell_of_stacked_layers(name, is_reverse):
    layer, x = COMBINED[name], batch(STRUCTURES["empty within"])
    parameters, state = network(layer, 6)
    wanted = layer(parameters, x, state, is_reverse)
    assert_same(nn.dynamic_rnn(layer.cell, parameters, x, state, is_reverse=is_reverse), wanted)
    deep = batch(STRUCTURES["two levels"])
    assert_same(nn.dynamic_rnn(layer.cell, parameters, deep, level=0), layer(parameters, deep, level=0))


@pytest.mark.parametrize("name", COMBINED)
def test_layers_of_layers_have_gradients(name):
    layer, x = COMBINED[name], batch([[0, 3, 1, 0]])
    parameters, state = network(layer, 4)
    grad_check(layer, parameters, x, state)
    loss, derivatives = value_and_grad(lambda p: ops.sum(layer(p, x)[0] * 2.0))(parameters)
    assert np.isfinite(loss)
    assert_same(tree_map(np.zeros_like, derivatives), tree_map(np.zeros_like, parameters))


# -- parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, "f8"])
@pytest.mark.parametrize("name", NAMES)
def test_init_of_recurrent_layers_draws_parameters_within_their_bounds(name, dtype):
    layer = LAYERS[name][0]
    made, again = (layer.init(np.random.default_rng(5), dtype) for _ in range(2))
    assert_same(made, again, 0)
    for key, one in made.items():
        assert one.dtype == dtype
        assert one.flags.writeable
        if key != "bias":
            assert np.unique(one).size == one.size
            assert np.abs(one).max() <= len(one) ** -0.5
    forget = slice(2 * layer.n_hidden, 3 * layer.n_hidden) if isinstance(layer, nn.LSTM) else slice(0)
    assert (made["bias"][forget] == 1).all()
    assert made["bias"].sum() == made["bias"][forget].size


def test_init_of_layers_has_the_documented_shapes():
    assert {k: v.shape for k, v in nn.LSTM(3, 4).init(np.random.default_rng(0)).items()} == {
        "weight_x": (3, 16),
        "weight_h": (4, 16),
        "bias": (16,),
    }
    assert nn.LSTM(3, 4, peepholes=True).init(np.random.default_rng(0))["bias"].shape == (28,)
    projected = nn.LSTM(3, 4, projection=2).init(np.random.default_rng(0))
    assert (projected["weight_h"].shape, projected["projection"].shape) == ((2, 16), (4, 2))
    assert nn.GRU(3, 4).init(np.random.default_rng(0))["weight_h"].shape == (4, 12)
    assert nn.SimpleRNN(3, 4).init(np.random.default_rng(0))["weight_h"].shape == (4, 4)


def test_layers_agree_with_the_operators_on_projected_inputs():
    x = batch(STRUCTURES["empty within"])
    lstm, gru = LAYERS["peepholes"][0], LAYERS["origin"][0]
    of, (h_0, c_0) = network(lstm, 6)
    hidden, _ = lodcore.dynamic_lstm(x @ of["weight_x"], of["weight_h"], of["bias"], h_0, c_0, use_peepholes=True)
    assert_same(lstm(of, x, (h_0, c_0))[0], hidden)
    of, h_0 = network(gru, 6)
    hidden = lodcore.dynamic_gru(x @ of["weight_x"], of["weight_h"], of["bias"], h_0, origin_mode=True)
    assert_same(gru(of, x, h_0)[0], hidden)


def test_first_states_are_those_of_each_direction():
    layer = nn.Bidirectional(nn.Stacked([nn.GRU(3, 2), nn.SimpleRNN(2, 4)]))
    random = np.random.default_rng(0)
    of = {"forward": layer.layer.init(random, np.float32), "backward": layer.layer.init(random, np.float64)}
    found = [[(one.shape, one.dtype.char) for one in part] for part in layer.initial_state(of, 5)]
    assert found == [[((5, 2), "f"), ((5, 4), "f")], [((5, 2), "d"), ((5, 4), "d")]]


def test_repr_of_layers_and_cells():
    assert repr(nn.LSTM(3, 4, clip=1.0)) == "LSTM(3, 4, clip=1.0)"
    assert repr(nn.GRU(3, 4).cell) == "<cell of GRU(3, 4)>"
    assert repr(COMBINED["both"]) == "Stacked([Bidirectional(GRU(3, 2)), LSTM(4, 2)])"


# -- wrong calls ---------------------------------------------------------------------------------------------------

GRU = nn.GRU(3, 2)
OF = GRU.init(np.random.default_rng(0), np.float64)
X = batch(STRUCTURES["some"])
WRONG = [
    (lambda: nn.LSTM(-1, 2), ValueError, "LSTM: n_in: is -1; 0 or more"),
    (lambda: nn.GRU(2, 2.5), TypeError, "GRU: n_hidden.*2.5"),
    (lambda: nn.SimpleRNN(2, 2, "elu"), ValueError, "SimpleRNN: activation: is 'elu'; one of"),
    (lambda: nn.LSTM(2, 2, clip=-1), ValueError, "LSTM: clip: is -1; a number above 0"),
    (lambda: nn.LSTM(2, 2, projection=-1), ValueError, "LSTM: projection: is -1"),
    (lambda: nn.Bidirectional("GRU"), DTypeError, "Bidirectional: layer: is str"),
    (lambda: nn.Bidirectional(GRU).cell, ValueError, "Bidirectional: cell: there is none"),
    (lambda: nn.Bidirectional(GRU).cell, AttributeError, "Bidirectional: cell: there is none"),
    (
        lambda: nn.Stacked([nn.GRU(2, 2), nn.Bidirectional(nn.GRU(2, 2))]).cell,
        ValueError,
        "Bidirectional: cell: there is none",
    ),
    (lambda: nn.Stacked([]), ValueError, "Stacked: layers: is empty"),
    (lambda: nn.Stacked(3), DTypeError, "Stacked: layers: is int; a list"),
    (lambda: nn.Stacked([GRU, 3]), DTypeError, r"Stacked: layers\[1\]: is int"),
    (lambda: nn.Stacked([GRU, GRU]), ShapeError, r"layers\[1\]: takes rows of width 3; layers\[0\] returns .* 2"),
    (lambda: GRU.init(0), DTypeError, "GRU: init: rng: is int; a numpy.random.Generator"),
    (lambda: GRU.init(np.random.default_rng(0), np.int64), DTypeError, "GRU: init: dtype: is int64"),
    (lambda: GRU([1], X), DTypeError, "GRU: parameters: is list; a dict"),
    (lambda: GRU({}, X), KeyError, "GRU: parameters: has no 'weight_x'; an array of shape"),
    (lambda: GRU({**OF, "bias": np.zeros(3)}, X), ShapeError, r"parameters\['bias'\]: has shape \(3,\); \(6,\) is"),
    (lambda: GRU(OF, np.zeros((3, 3))), DTypeError, "x: is ndarray"),
    (
        lambda: GRU(OF, X[:, :2] if False else batch([[1]]).with_values(np.zeros((1, 2)))),
        ShapeError,
        "x: has rows of sh",
    ),
    (lambda: GRU(OF, X, np.zeros((2, 2))), ShapeError, r"h_0: has shape \(2, 2\); \(3, 2\)"),
    (lambda: GRU(OF, X, level=1), LevelError, "level: is 1"),
    (lambda: nn.LSTM(3, 2)(nn.LSTM(3, 2).init(np.random.default_rng(0)), X, np.zeros((3, 2))), ValueError, "a pair"),
    (lambda: nn.LSTM(3, 2)(nn.LSTM(3, 2).init(np.random.default_rng(0)), X, np.zeros((2, 2))), ValueError, "a pair"),
    (lambda: nn.LSTM(3, 2)(nn.LSTM(3, 2).init(np.random.default_rng(0)), X, 0.0), ValueError, "is float; a pair"),
    (lambda: nn.Stacked([GRU])([OF, OF], X), DTypeError, "Stacked: parameters: is 2; a list of 1"),
    (lambda: nn.Stacked([GRU])([OF], X, np.zeros((3, 2))), ValueError, "Stacked: initial_state: has ndarray; 1 are"),
    (
        lambda: nn.Bidirectional(GRU)(OF, X),
        DTypeError,
        "Bidirectional: parameters: is .*weight_x.*; a dict of 'forward'",
    ),
    (
        lambda: GRU.cell(OF, np.zeros((2, 5)), np.zeros((2, 2))),
        ShapeError,
        r"GRU: input: has rows of shape \(5,\); \(3,\)",
    ),
    (lambda: nn.dynamic_rnn(GRU.cell, OF, []), ShapeError, r"GRU: input: has rows of shape \(\); \(3,\)"),
    (lambda: GRU.initial_state(OF, -1), ValueError, "n: is -1"),
]


@pytest.mark.parametrize(("wrong", "error", "says"), WRONG, ids=[says for _, _, says in WRONG])
def test_wrong_calls_of_recurrent_layers_name_argument_and_value(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()


@for_each("name", [*NAMES, *COMBINED])
def test_is_reverse_is_any_truth_value(name):
    layer = COMBINED[name] if name in COMBINED else LAYERS[name][0]
    parameters = layer.init(np.random.default_rng(0), np.float64)
    x = LoDTensor.from_lengths(np.random.default_rng(1).normal(size=(4, N_IN)), [3, 0, 1])
    wanted = [layer(parameters, x, None, is_reverse)[0].values for is_reverse in (False, True)]
    assert not np.array_equal(*wanted)
    for truth in (0, 1, np.False_, np.True_):
        np.testing.assert_array_equal(layer(parameters, x, None, truth)[0].values, wanted[bool(truth)])
        if name == "gru":
            looped = nn.dynamic_rnn(layer.cell, parameters, x, is_reverse=truth)[0]
            np.testing.assert_allclose(looped.values, wanted[bool(truth)], rtol=1e-12)


@for_each("name", ["lstm", "peepholes", "projection", "all of it", "gru", "tanh"])
def test_cells_of_parameters_of_several_dtypes(name):
    """A prepared cell computes in the dtype to which all parameters are promoted, whichever of them is wider."""
    layer = LAYERS[name][0]
    parameters = layer.init(np.random.default_rng(0), np.float32)
    if "bias" in parameters:
        parameters["bias"] += np.float32(0.1)
    x, state = np.ones((2, N_IN), np.float32), layer.initial_state(parameters, 2)
    plain, _ = layer.cell(layer.cell.prepare(parameters), x, state)
    assert plain.dtype == np.float32
    for key in parameters:
        found, _ = layer.cell(layer.cell.prepare({**parameters, key: parameters[key].astype(np.float64)}), x, state)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, plain, rtol=1e-5)


def test_each_stacked_layer_takes_the_rows_of_the_one_below():
    layers = [nn.GRU(3, 2), nn.GRU(2, 4), nn.GRU(4, 3), nn.GRU(3, 2)]
    assert (nn.Stacked(layers).n_in, nn.Stacked(layers).n_out) == (3, 2)
    for at, width in [(1, 3), (2, 2), (3, 2), (3, 4)]:
        wrong = [nn.GRU(width, layer.n_out) if j == at else layer for j, layer in enumerate(layers)]
        with pytest.raises(
            ShapeError, match=rf"Stacked: layers\[{at}\]: takes rows of width {width}; layers\[{at - 1}\]"
        ):
            nn.Stacked(wrong)


@for_each("name", NAMES)
def test_every_size_of_every_parameter_is_checked(name):
    layer, x = LAYERS[name][0], LoDTensor.from_lengths(np.ones((3, N_IN)), [2, 1])
    parameters = layer.init(np.random.default_rng(0), np.float64)
    for key, one in parameters.items():
        for axis in range(one.ndim):
            for wrong in (np.concatenate([one, one[:1] if axis == 0 else one[:, :1]], axis), one[..., None], one[0]):
                for call in (layer, partial(nn.dynamic_rnn, layer.cell)):
                    with pytest.raises(ShapeError, match=rf"parameters\['{key}'\]: has shape .* is needed"):
                        call({**parameters, key: wrong}, x)


@pytest.mark.parametrize("kind", [tuple, list])
def test_states_of_lstms_are_pairs_of_either_form(kind):
    layer = nn.LSTM(2, 3)
    parameters = layer.init(np.random.default_rng(0), np.float64)
    x = lodcore.LoDTensor.from_lengths(np.ones((3, 2)), [3, 0])
    state = np.full((2, 3), 0.5), np.full((2, 3), -0.5)
    for run in (layer, lambda *given: nn.dynamic_rnn(layer.cell, *given)):
        outputs, (last, cell) = run(parameters, x, kind(state))
        wanted, (wanted_last, wanted_cell) = run(parameters, x, state)
        assert outputs.values.tolist() == wanted.values.tolist()
        assert (last.tolist(), cell.tolist()) == (wanted_last.tolist(), wanted_cell.tolist())
        assert (last[1].tolist(), cell[1].tolist()) == ([0.5] * 3, [-0.5] * 3)


def test_nested_lists_are_sequences():
    found, last = GRU(OF, [np.ones((2, 3)), np.ones((1, 3))])
    assert found.lengths.tolist() == [2, 1]
    assert isinstance(found, LoDTensor)
    np.testing.assert_array_equal(last[1], found[1][-1])
    assert drawn(last).shape == (2, 2)


@pytest.mark.parametrize("origin_mode", [False, True])
def test_a_cell_of_a_gru_keeps_the_digits_of_what_replaces_a_large_state(origin_mode):
    """As the layer computes, not as the old state and a difference."""
    layer, x = lodcore.nn.GRU(1, 1, origin_mode), lodcore.LoDTensor.from_lengths(np.ones((1, 1), np.float32), [1])
    gate = -40 if origin_mode else 40
    parameters = {name: np.zeros((1, 3), np.float32) for name in ("weight_x", "weight_h")}
    parameters["bias"] = np.float32([gate, 0, 0.1])
    for size in (1e4, 1e8):
        state = np.float32([[size]])
        outputs, _ = lodcore.nn.dynamic_rnn(layer.cell, parameters, x, state)
        np.testing.assert_allclose(outputs.values, layer(parameters, x, state)[0].values, rtol=1e-6)
        np.testing.assert_allclose(outputs.values, np.tanh(0.1), rtol=1e-6)
