"""Optimizers: their numbers, sparse rows, trees, unchanged arguments; clipping and learning rates."""

import copy
import itertools
import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoDTensor, ShapeError, SparseTensor, nn, tree_leaves, tree_map
from reference.nn import optimizers as oracle
from tests.helpers.calls import calls_of_python
from tests.helpers.tables import for_each

START = [0.5, -1.25, 2.0]
GRADIENTS = [[0.1, -0.2, 0.3], [0.4, 0.5, -0.6], [-0.7, 0.8, 0.9]]
#: Results of the optimizers of PyTorch 2.13.0 in float64, step by step; for `Adam` with decay, of its `AdamW`.
TORCH = {
    "SGD(0.1)": [[0.49, -1.23, 1.97], [0.45, -1.28, 2.03], [0.52, -1.36, 1.94]],
    "SGD(0.1, 0.9)": [[0.49, -1.23, 1.97], [0.441, -1.262, 2.003], [0.4669, -1.3708, 1.9427]],
    "SGD(0.1, 0.9, 0.01)": [
        [0.4895, -1.22875, 1.968],
        [0.4395605, -1.25839625, 1.997232],
        [0.4641753895, -1.36381947875, 1.931543568],
    ],
    "SGD(0.1, weight_decay=0.5)": [
        [0.465, -1.1675, 1.87],
        [0.40175, -1.159125, 1.8365],
        [0.4516625, -1.18116875, 1.654675],
    ],
    "Adam(0.1)": [
        [0.400000009999999, -1.1500000049999999, 1.9000000033333333],
        [0.31156236397511705, -1.194221530217233, 1.9366103552652194],
        [0.33193096338006123, -1.2663054878797553, 1.9022862477655111],
    ],
    "Adam(0.01, (0.5, 0.75), 0.001)": [
        [0.4900990099009901, -1.2400497512437811, 1.9900332225913622],
        [0.4804333531727671, -1.2466997928065409, 1.996090736473117],
        [0.4856838137685855, -1.256109532620222, 1.9905823216256118],
    ],
    "AdamW(0.1)": [
        [0.399500009999999, -1.1487500049999997, 1.8980000033333333],
        [0.31066286396511705, -1.1918227802122328, 1.9327123552618861],
        [0.3307208005060961, -1.262714915094543, 1.896455535406916],
    ],
    "Adam(0.1, weight_decay=0.5)": [
        [0.375000009999999, -1.0875000049999999, 1.8000000033333332],
        [0.26781236347511705, -1.077346529967233, 1.7466103550985526],
        [0.27479034470630537, -1.0955631611313934, 1.6249557298439166],
    ],
}
OPTIMIZERS = sorted(TORCH)


def made(text):
    return eval(f"nn.{text}", {"nn": nn})


def steps_of(optimizer, parameters, gradients, **settings):
    """Run one step per gradient, and list the parameters after each."""
    state, found = optimizer.init(parameters), []
    for gradient in gradients:
        parameters, state = optimizer.step(parameters, gradient, state, **settings)
        found.append(copy.deepcopy(parameters))
    assert state["step"] == len(gradients)
    return found


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("text", OPTIMIZERS)
def test_numbers_are_those_of_pytorch(text, dtype, in_place):
    start, gradients = np.array(START, dtype), [np.array(g, dtype) for g in GRADIENTS]
    found = steps_of(made(text), start, gradients, in_place=in_place)
    assert {x.dtype for x in found} == {np.dtype(dtype)}
    np.testing.assert_allclose(found, TORCH[text], rtol=1e-12 if dtype == "f8" else 3e-6)


REALS = st.floats(-4, 4, allow_subnormal=False)


@given(st.lists(REALS, min_size=1, max_size=5), st.data())
def test_numbers_are_those_of_the_reference(gradients, data):
    x, rates = data.draw(REALS), data.draw(st.lists(st.floats(0, 1), min_size=5, max_size=5))[: len(gradients)]
    momentum, decay = data.draw(st.floats(0, 1)), data.draw(st.floats(0, 1))
    betas, eps = data.draw(st.tuples(st.floats(0, 0.99), st.floats(0, 0.99))), data.draw(st.floats(1e-6, 1))
    each = [np.array([d]) for d in gradients]
    found = steps_of(nn.SGD(rates.__getitem__, momentum, decay), np.array([x]), each)
    wanted = oracle.sgd(x, gradients, rates, momentum, decay)
    np.testing.assert_allclose(np.ravel(found), wanted, rtol=1e-9, atol=1e-12)
    found = steps_of(nn.Adam(rates.__getitem__, betas, eps, decay), np.array([x]), each)
    wanted = oracle.adam(x, gradients, rates, betas, eps, decay)
    np.testing.assert_allclose(np.ravel(found), wanted, rtol=1e-9, atol=1e-12)


# -- sparse rows -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", OPTIMIZERS)
@given(seed=st.integers(0, 2**32))
def test_sparse_is_dense_where_all_rows_appear(text, seed):
    random = np.random.default_rng(seed)
    table = random.normal(size=(4, 3))
    index = np.concatenate([random.permutation(4), random.integers(0, 4, 5)])
    sparse = [SparseTensor(index, random.integers(-3, 4, (9, 3)) * 0.5, 4) for _ in range(3)]
    found = steps_of(made(text), table, sparse)
    wanted = steps_of(made(text), table, [gradient.to_dense() for gradient in sparse])
    np.testing.assert_array_equal(found, wanted)


def test_rows_of_adam_are_those_of_the_sparse_adam_of_pytorch():
    gradients = [
        SparseTensor([0, 2, 0], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], 3),
        SparseTensor([1], [[1.0, -1.0]], 3),
        SparseTensor([0, 1], [[0.5, 0.5], [2.0, 2.0]], 3),
    ]
    found = steps_of(nn.Adam(0.1), np.arange(1.0, 7.0).reshape(3, 2), gradients)[-1]
    wanted = [
        [0.8373692147669202, 1.8386033497231205],
        [2.8427290900273383, 4.04298504632076],
        [4.900000010540924, 5.900000007905693],
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)  # it adds eps in another place


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("text", OPTIMIZERS)
def test_rows_that_are_not_named_stay(text, in_place):
    optimizer, table = made(text), np.arange(1.0, 13.0).reshape(6, 2)
    before = table.copy()
    _, state = optimizer.step(table, np.ones((6, 2)), optimizer.init(table))
    known = copy.deepcopy(state)
    after, next_state = optimizer.step(table, SparseTensor([4, 1, 4], np.ones((3, 2)), 6), state, in_place=in_place)
    rest = [0, 2, 3, 5]
    np.testing.assert_array_equal(after[rest], before[rest])
    assert (after[[1, 4]] != before[[1, 4]]).all()
    for name in optimizer.kept:
        np.testing.assert_array_equal(next_state[name][rest], known[name][rest])
        assert (next_state[name][[1, 4]] != known[name][[1, 4]]).all()
    assert (after is table) == in_place
    if not in_place:
        np.testing.assert_array_equal(table, before)


def test_step_with_empty_gradients_and_parameters():
    optimizer = nn.Adam(0.1)
    parameters = {"table": np.ones((3, 2)), "nothing": np.ones((0, 2))}
    gradients = {"table": SparseTensor([], np.ones((0, 2)), 3), "nothing": np.ones((0, 2))}
    after, state = optimizer.step(parameters, gradients, optimizer.init(parameters))
    np.testing.assert_array_equal(after["table"], 1)
    assert after["nothing"].shape == (0, 2)
    assert state["step"] == 1
    assert nn.SGD(0.1).step({}, {}, {"step": 4}) == ({}, {"step": 5})
    assert optimizer.step({}, {}, optimizer.init({})) == ({}, {"step": 1, "mean": {}, "square": {}})


# -- trees -------------------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    weight: Any
    rest: Any


@dataclass(frozen=True)
class Layer:
    weight: Any
    name: str


def tree(value):
    """Make a tree with all kinds of branches."""
    rest = [np.full(2, value), (np.full((2, 2), value), {"deep": np.full((), value)})]
    return {"pair": Pair(np.full(3, value), rest), "layer": Layer(np.full(1, value), "first"), "number": 2 * value}


@pytest.mark.parametrize("text", OPTIMIZERS)
def test_trees_keep_their_form_and_inputs_their_values(text):
    optimizer, parameters, gradients = made(text), tree(1.0), tree(0.5)
    state = optimizer.init(parameters)
    kept = copy.deepcopy((parameters, gradients, state))
    after, next_state = optimizer.step(parameters, gradients, state)
    assert repr((parameters, gradients, state)) == repr(kept)
    alone, _ = optimizer.step(np.array([1.0]), np.array([0.5]), optimizer.init(np.array([1.0])))
    assert isinstance(after["pair"], Pair)
    assert isinstance(after["pair"].rest[1], tuple)
    assert after["layer"].name == "first"
    assert type(after["number"]) is float
    for leaf in tree_leaves(after)[:4]:
        np.testing.assert_array_equal(leaf, np.full_like(leaf, alone[0]))
    for name in optimizer.kept:
        tree_map(lambda one, other: None, next_state[name], parameters)  # of the same form


def test_step_leaves_parameters_without_gradient():
    parameters = {"weight": np.ones(2), "ids": np.arange(3), "name": "a", "frozen": {"table": np.ones(2)}}
    _, gradients = lodcore.value_and_grad(lambda p: lodcore.ops.sum(p["weight"]))(parameters)
    optimizer = nn.Adam(0.5)
    for given_ones in (gradients, {**gradients, "frozen": None}, {"weight": gradients["weight"]}):
        after, _ = optimizer.step(parameters, given_ones, optimizer.init(parameters))
        np.testing.assert_allclose(after["weight"], 0.5)
        assert after["ids"] is parameters["ids"]
        assert after["name"] == "a"
        np.testing.assert_array_equal(after["frozen"]["table"], 1)


@for_each("kept", [(), ("speed",), ("mean", "square"), ("mean",), ("mean", "square", "speed")])
def test_states_of_other_optimizers_are_refused(kept):
    x, one = np.ones(2), np.ones(2)
    state = {"step": 0, **{name: np.zeros(2) for name in kept}}
    for optimizer in (nn.SGD(0.5), nn.SGD(0.5, 0.9), nn.Adam(0.5), nn.AdamW(0.5)):
        if optimizer.kept == kept:
            optimizer.step(x, one, state)
        else:
            with pytest.raises(DTypeError, match=r"step: state: is a dict of step.*; what `init` returns is needed"):
                optimizer.step(x, one, state)


@for_each("dtype", ["?", "i1", "u2", "i8", "f2", "f4", "f8", ">f4"])
@for_each("parameter", [np.float32([[1, 2], [3, 4]]), np.float64([[1, 2], [3, 4]])])
def test_gradients_have_any_real_dtype_and_the_shape_of_the_parameter(dtype, parameter):
    optimizer, gradient = nn.SGD(0.5), np.array([[1, 0], [0, 1]], dtype)
    for one in (gradient, SparseTensor([1, 0], gradient[::-1], 2)):
        after, _ = optimizer.step(parameter, one, {"step": 0})
        assert (after.dtype, after.tolist()) == (parameter.dtype, [[0.5, 2], [3, 3.5]])
    for wrong in (gradient.ravel(), gradient[None], gradient.reshape(4, 1), gradient[0], gradient[:1], gradient[0, 0]):
        with pytest.raises(ShapeError, match=r"SGD.step: gradients: has shape .*; the parameter has \(2, 2\)"):
            optimizer.step(parameter, wrong, {"step": 0})


@for_each("make", [nn.Adam, nn.AdamW])
def test_betas_are_two_numbers_in_any_list(make):
    assert make(0.5, [0.5, 0.25]).betas == make(0.5, (np.float32(0.5), 0.25)).betas == (0.5, 0.25)
    assert make(0.5, (0, 0)).betas == (0, 0)
    for betas, says in [
        ((1, 0.5), r"betas\[0\]: is 1"),
        ((0.5, 1), r"betas\[1\]: is 1"),
        ((0.5, -1), r"betas\[1\]: is -1"),
    ]:
        with pytest.raises(ValueError, match=f"{make.__name__}: {says}"):
            make(0.5, betas)


@for_each("optimizer", [nn.SGD(0.5), nn.SGD(0.5, 0.9), nn.Adam(0.5), nn.AdamW(0.5)])
@for_each("gradient", [np.ones((3, 2), "f4"), SparseTensor([2, 0], np.ones((2, 2), "f4"), 3)])
def test_a_step_changes_neither_parameter_nor_state(optimizer, gradient):
    parameter = np.ones((3, 2), "f4")
    _, state = optimizer.step(parameter, gradient, optimizer.init(parameter))
    kept = copy.deepcopy(state)
    following, after = optimizer.step(parameter, gradient, state)
    assert (parameter == 1).all()
    assert not np.shares_memory(following, parameter)
    for name in optimizer.kept:
        assert (state[name] == kept[name]).all()
        assert not np.shares_memory(state[name], after[name])


@for_each("kind", [float, np.float32, np.float64])
@for_each("optimizer", [nn.SGD(0.5), nn.SGD(0.5, 0.9), nn.Adam(0.5)])
def test_step_keeps_the_type_of_numbers(kind, optimizer):
    for in_place in (False, True):
        after, state = optimizer.step(kind(2), 1.0, optimizer.init(kind(2)), in_place)
        assert type(after) is kind
        assert after == pytest.approx(1.5, rel=1e-6)
        assert {state[name].dtype for name in optimizer.kept} <= {np.dtype(kind)}


@for_each("optimizer", [nn.SGD(0.5, 0.9), nn.Adam(0.5)])
def test_step_in_place_refuses_read_only_parameters_and_states(optimizer):
    """The error says so before anything is written: the parameter, and each entry of the state."""
    for locked in ("parameter", *optimizer.kept):
        parameter, gradient = np.ones(2), np.ones(2)
        state = optimizer.init(parameter)
        (parameter if locked == "parameter" else state[locked]).flags.writeable = False
        with pytest.raises(ValueError, match=r"step: parameters: (is read-only|has a read-only state); in_place"):
            optimizer.step(parameter, gradient, state, in_place=True)
        assert parameter.tolist() == [1, 1]
        np.testing.assert_allclose(optimizer.step(parameter, gradient, state)[0], 0.5)


@for_each("optimizer", [nn.SGD(0.5), nn.SGD(0.5, 0.9), nn.Adam(0.5, weight_decay=0.1)])
def test_repeated_rows_are_added_up_in_place_too(optimizer):
    start = np.arange(6.0).reshape(3, 2)
    twice = SparseTensor([2, 0, 2], np.array([[1.0, 2], [3, 4], [5, 6]]), 3)
    once = SparseTensor([0, 2], np.array([[3.0, 4], [6, 8]]), 3)
    wanted, plain = optimizer.step(start.copy(), once, optimizer.init(start))
    found, state = optimizer.step(start.copy(), twice, optimizer.init(start), in_place=True)
    np.testing.assert_array_equal(found, wanted)
    for name in optimizer.kept:
        np.testing.assert_array_equal(state[name], plain[name])


LAYOUTS = {
    "C": np.copy,
    "Fortran": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
}


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">f4", ">f8"])
@pytest.mark.parametrize("text", OPTIMIZERS)
def test_steps_in_place_write_to_state_of_any_form(text, dtype, is_sparse):
    """The parameter and each entry of its state are overwritten, for any form of the others."""
    start, optimizer = np.arange(1.0, 7).reshape(2, 3).astype(dtype[1:]), made(text)
    gradients = [start - 3, 2 - start, start / 2]
    gradients = [SparseTensor([1, 0], one[::-1], 2) for one in gradients] if is_sparse else gradients
    wanted, plain = start, optimizer.init(start)
    for gradient in gradients:
        wanted, plain = optimizer.step(wanted, gradient, plain)
    for of_parameter, of_state in itertools.product(LAYOUTS, LAYOUTS):
        parameter = LAYOUTS[of_parameter](start.astype(dtype))
        state = optimizer.init(parameter)
        kept = {name: LAYOUTS[of_state](state[name]) for name in optimizer.kept}
        state = {**state, **kept}
        for gradient in gradients:
            found, state = optimizer.step(parameter, gradient, state, in_place=True)
            assert found is parameter
        np.testing.assert_array_equal(parameter, wanted)
        for name, one in kept.items():
            assert state[name] is one
            np.testing.assert_array_equal(one, plain[name])


@pytest.mark.not_on_reference
@for_each("text", ["SGD(0.1)", "SGD(0.1, momentum=0.5)", "AdamW(0.1)"])
def test_step_of_arrays_has_the_same_bits_with_and_without_other_leaves(text):
    rng = np.random.default_rng(0)
    optimizer = eval(f"nn.{text}")
    for dtype in (np.float32, np.float64):
        plain = {
            "a": [rng.normal(size=(3, 4)).astype(dtype)],
            "b": (rng.normal(size=5).astype(dtype), np.ones((), dtype)),
        }
        gradients = tree_map(lambda x: rng.normal(size=x.shape).astype(x.dtype), plain)
        one, other = (plain, optimizer.init(plain)), ({**plain, "c": 0}, optimizer.init({**plain, "c": 0}))
        for _ in range(3):
            one = optimizer.step(one[0], gradients, one[1])
            other = optimizer.step(other[0], {**gradients, "c": None}, other[1])
        wanted = [x for x in tree_leaves(other) if isinstance(x, np.ndarray)]
        found = [x for x in tree_leaves(one) if isinstance(x, np.ndarray)]
        assert [x.tobytes() for x in found] == [x.tobytes() for x in wanted]
        assert one[1]["step"] == 3


@pytest.mark.parametrize("in_place", [False, True])
def test_a_step_of_arrays_calls_python_once_for_each(in_place):
    optimizer, parameters = nn.Adam(0.1), {"some": [np.ones(3) for _ in range(100)], "one": np.ones((2, 2))}
    state = optimizer.init(parameters)
    calls = calls_of_python(lambda: optimizer.step(parameters, parameters, state, in_place))
    assert calls < 101 + 30


def test_any_number_of_threads_gives_the_same_bits():
    random = np.random.default_rng(0)
    x, d = random.normal(size=(2, 1_500_001)).astype(np.float32)
    optimizer, before = nn.Adam(0.1), lodcore.get_num_threads()
    one = optimizer.step(x, d, optimizer.init(x))[0]
    try:
        lodcore.set_num_threads(3)
        several = optimizer.step(x, d, optimizer.init(x))[0]
    finally:
        lodcore.set_num_threads(before)
    assert one.tobytes() == several.tobytes()


# -- learning rates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leaf", [np.ones(2), 1.5])
@pytest.mark.parametrize("change", [dict.clear, lambda tree: tree.update(c=np.ones(1)), lambda tree: tree.pop("a")])
def test_a_step_has_the_form_of_the_parameters_at_the_call_if_the_learning_rate_changes_them(leaf, change):
    parameters = {"a": leaf, "b": [leaf, leaf]}
    state = lodcore.nn.SGD(1.0).init(parameters)

    def learning_rate(step):
        change(parameters)
        return 1.0

    made, _ = lodcore.nn.SGD(learning_rate).step(parameters, {"a": leaf, "b": [leaf, leaf]}, state)
    assert list(made) == ["a", "b"]
    assert all(np.all(one == 0) for one in lodcore.tree_leaves(made))


def test_a_learning_rate_may_be_a_function_of_the_step():
    asked = []

    def rate(step):
        asked.append(step)
        return 0.5**step

    found = steps_of(nn.SGD(rate), np.zeros(1), [np.ones(1)] * 3)
    assert asked == [0, 1, 2]
    np.testing.assert_allclose(np.ravel(found), [-1, -1.5, -1.75])


SCHEDULES = [
    nn.linear_schedule(2.0, 10, 3, 0.5),
    nn.cosine_schedule(2.0, 10, 3, 0.5),
    nn.inverse_root_schedule(2.0, 3),
    nn.step_schedule(2.0, 0.5, 4),
]


@pytest.mark.parametrize("schedule", SCHEDULES[:2])
def test_schedules_rise_to_the_peak_and_fall_to_the_end(schedule):
    rates = [schedule(step) for step in range(15)]
    np.testing.assert_allclose(rates[:4], [2 / 3, 4 / 3, 2, 2])
    assert (np.diff(rates[3:11]) < 0).all()
    assert rates[10:] == [0.5] * 5


def test_the_rates_of_inverse_root_and_step_schedules_are_in_proportion_to_the_first_argument():
    root, step = SCHEDULES[2:]
    np.testing.assert_allclose([root(j) for j in (0, 1, 2, 11, 26)], [2 / 3, 4 / 3, 2, 1, 2 / 3])
    assert [step(j) for j in range(9)] == [2.0] * 4 + [1.0] * 4 + [0.5]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules_can_be_pickled(schedule):
    again = pickle.loads(pickle.dumps(schedule))
    assert [again(step) for step in range(12)] == [schedule(step) for step in range(12)]


@pytest.mark.parametrize("make", [nn.linear_schedule, nn.cosine_schedule])
def test_schedules_may_end_above_their_peak(make):
    np.testing.assert_allclose([make(1.0, 4, 2, 3.0)(step) for step in range(6)], [0.5, 1, 1, 2, 3, 3])


def test_schedules_without_steps():
    assert nn.cosine_schedule(1.0, 0)(0) == 0
    assert nn.linear_schedule(1.0, 2, 2)(1) == 1


# -- clipping ----------------------------------------------------------------------------------------------------------


def test_clipping_is_that_of_pytorch():
    gradients = [np.array([3.0, 0.0]), {"weight": np.array([[4.0, 12.0]])}]
    clipped, norm = nn.clip_by_global_norm(gradients, 2.0)
    assert norm == 13
    np.testing.assert_allclose(clipped[0], [6 / 13, 0])
    np.testing.assert_allclose(clipped[1]["weight"], [[8 / 13, 24 / 13]])
    np.testing.assert_array_equal(gradients[0], [3, 0])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("limit", [1.0, 1000.0])
def test_clip_by_global_norm_counts_real_and_imaginary_parts_of_every_dtype(dtype, limit):
    values = np.arange(1, 7).reshape(3, 2).astype(dtype)
    values = values * (2 - 3j) if values.dtype.kind == "c" else values
    whole = np.linalg.norm(np.append(np.abs(values).astype(np.float64).ravel(), 4.0))
    clipped, norm = nn.clip_by_global_norm({"w": values, "b": np.array([4.0])}, limit)
    np.testing.assert_allclose(norm, whole, rtol=1e-3 if dtype == "f2" else 1e-6)
    share = min(1.0, limit / whole)
    assert clipped["w"].dtype == values.dtype
    np.testing.assert_allclose(clipped["w"], values * share, rtol=1e-2 if dtype == "f2" else 1e-5)
    np.testing.assert_allclose(clipped["b"], [4 * share], rtol=1e-3)


def test_clip_by_global_norm_merges_sparse_rows_and_keeps_other_leaves():
    lists = LoDTensor.from_lengths(np.array([2.0, 1.0]), [1, 0, 1])
    table = SparseTensor([1, 1], np.array([[1.0], [1.0]], np.float32), 5)
    gradients = {"table": table, "lists": lists, "none": None, "name": "a", "ids": np.arange(9)}
    clipped, norm = nn.clip_by_global_norm(gradients, 1.5)
    assert norm == 3
    assert clipped["table"].dtype == np.float32
    merged = SparseTensor([1, 4], np.ones((2, 1)), 5).merge()  # which merges into itself
    once = nn.clip_by_global_norm([merged], 1.0)[0][0]
    assert not np.shares_memory(once.indices, merged.indices)
    np.testing.assert_allclose(clipped["table"].to_dense()[:, 0], [0, 1, 0, 0, 0])
    assert clipped["lists"].lod is lists.lod
    np.testing.assert_allclose(clipped["lists"].values, [1, 0.5])
    assert (clipped["none"], clipped["name"]) == (None, "a")
    assert clipped["ids"] is gradients["ids"]


def test_clip_by_global_norm_within_the_limit_and_of_infinite_gradients():
    for gradient, norm in [(np.array([3.0, 4.0]), 5.0), (np.array([np.inf]), np.inf), (np.array([1e30], "f4"), 1e30)]:
        gradients = [gradient]
        found, measured = nn.clip_by_global_norm(gradients, 1e31)
        assert found is gradients
        assert measured == pytest.approx(norm)
    exactly = {"w": np.array([3.0, 0.0]), "b": SparseTensor([1], np.array([[4.0]]), 2)}
    assert nn.clip_by_global_norm(exactly, 5.0)[0] is exactly
    found, measured = nn.clip_by_global_norm([np.array([np.nan, 1.0])], 1.0)
    assert np.isnan(measured)
    assert nn.clip_by_global_norm({}, 1.0) == ({}, 0.0)


def test_the_norm_of_squares_whose_sum_float64_cannot_hold():
    large = [np.array([1.2e154]), np.array([1.2e154])]
    assert nn.clip_by_global_norm(large, 1.0)[1] == pytest.approx(1.2e154 * 2**0.5)
    assert nn.clip_by_global_norm([np.array([np.inf]), *large], 1.0)[1] == np.inf


@for_each("size", [1e300, 1e170, 1e-150, 1e-200, 5e-324])
def test_the_norm_of_numbers_whose_squares_float64_cannot_hold(size):
    gradients = [np.array([3.0, 0.0]) * size, np.zeros(0), np.array([4.0, 12.0]) * size, np.zeros(2, "f4")]
    clipped, norm = nn.clip_by_global_norm(gradients, 6.5 * size if size > 1e-300 else 1e-300)
    assert norm == pytest.approx(13 * size, rel=1e-15)
    if size > 1e-300:
        np.testing.assert_allclose(np.concatenate(clipped) / size, [1.5, 0, 2, 6, 0, 0], rtol=1e-14)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "<f8"])
def test_clipped_gradients_keep_their_dtype(dtype):
    (clipped,), norm = nn.clip_by_global_norm([np.full(400, 30.0, dtype)], 1.0)
    assert (clipped.dtype, norm) == (np.dtype(dtype).newbyteorder("="), 600)
    np.testing.assert_allclose(clipped, 0.05, rtol=1e-3)


def test_states_of_two_optimizers_in_one_program_have_names_of_their_own():
    trees = [{"w": lodcore.parameter(np.ones(2), f"w{j}")} for j in range(2)]
    with lodcore.Program() as program:
        states = [nn.Adam(0.1).init(trees[0]), nn.Adam(0.2).init(trees[1])]
        loss = lodcore.ops.sum(trees[0]["w"] * trees[1]["w"])
        for state, parameters, gradients in zip(states, trees, lodcore.append_backward(loss, trees), strict=True):
            nn.Adam(0.1).step(parameters, gradients, state)
        with pytest.raises(lodcore.GraphError, match="w0: is updated already in this Program"):
            nn.SGD(0.1).step(trees[0], lodcore.append_backward(loss, trees[0]))
    text = str(program)
    for name in ("mean", "square", "step"):
        assert f"parameter {name}_0: " in text
        assert f"parameter {name}_1: " in text
    assert [state["step"].name for state in states] == ["step_0", "step_1"]


def test_in_place_refuses_an_array_that_is_two_parameters():
    shared = np.array([1.0])
    optimizer, parameters = nn.Adam(0.1), {"x": shared, "y": np.array([2.0]), "z": shared}
    gradients, state = {name: np.ones(1) for name in parameters}, optimizer.init(parameters)
    with pytest.raises(ValueError, match=r"Adam.step: parameters\[2\]: is the array that parameters\[0\] is"):
        optimizer.step(parameters, gradients, state, in_place=True)
    assert shared.tolist() == [1.0]
    assert optimizer.step(parameters, gradients, state)[0]["z"].round(6).tolist() == [0.9]


@for_each("other", [lambda w: w.T, lambda w: w[:], lambda w: w.ravel(), lambda w: w[1:, ::2], lambda w: w[::-1, 2:]])
def test_in_place_refuses_parameters_that_share_memory(other):
    whole = np.arange(12.0).reshape(3, 4)
    parameters = {"a": np.ones(3), "b": other(whole), "c": whole}
    optimizer = nn.SGD(0.1)
    gradients, state = {name: np.ones_like(one) for name, one in parameters.items()}, optimizer.init(parameters)
    with pytest.raises(ValueError, match=r"SGD.step: parameters\[2\]: shares memory with parameters\[1\], which"):
        optimizer.step(parameters, gradients, state, in_place=True)
    assert whole.ravel().tolist() == list(range(12))


def test_in_place_updates_a_view_whose_array_has_no_gradient():
    whole, optimizer = np.zeros((2, 2)), nn.SGD(1.0)
    parameters = {"rows": whole, "columns": whole.T}
    gradients = {"rows": np.array([[1.0, 2.0], [3.0, 4.0]]), "columns": None}
    optimizer.step(parameters, gradients, optimizer.init(parameters), in_place=True)
    assert whole.tolist() == [[-1, -2], [-3, -4]]


def test_in_place_takes_many_columns_of_one_array_in_linear_time():
    whole, optimizer = np.zeros((3, 5000)), nn.SGD(1.0)
    parameters = [whole[:, k] for k in range(5000)]
    optimizer.step(parameters, parameters, optimizer.init(parameters), in_place=True)
    parameters[3] = whole[1:, 7]
    with pytest.raises(ValueError, match=r"parameters\[7\]: shares memory with parameters\[3\]"):
        optimizer.step(parameters, parameters, optimizer.init(parameters), in_place=True)


def test_in_place_updates_parts_of_one_array_that_do_not_overlap():
    whole = np.zeros((3, 6))
    parameters = [whole[:, :2], whole[:, 2::2], whole[:0], whole[:, 3::2], np.zeros(2)]
    optimizer = nn.SGD(1.0)
    gradients = [np.full_like(one, j + 1) for j, one in enumerate(parameters)]
    optimizer.step(parameters, gradients, optimizer.init(parameters), in_place=True)
    assert whole.tolist() == [[-1, -1, -2, -4, -2, -4]] * 3


@pytest.mark.parametrize("optimizer", [nn.SGD(0.1, momentum=0.9), nn.AdamW(0.1)])
def test_parameters_and_states_of_any_byte_order(optimizer):
    p, g = np.random.default_rng(0).normal(size=(2, 40))
    wanted, state = optimizer.step(p, g, optimizer.init(p))
    swapped = p.astype(p.dtype.newbyteorder())
    for value, start in (
        (swapped, optimizer.init(p)),
        (p, optimizer.init(swapped)),
        (swapped, optimizer.init(swapped)),
    ):
        found, after = optimizer.step(value, g, start)
        np.testing.assert_array_equal(found, wanted)
        for name in state:
            np.testing.assert_array_equal(after[name], state[name])
