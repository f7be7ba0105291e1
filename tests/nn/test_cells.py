"""Cells of one's own: compiled when they are recorded, held against their record when they are called again."""

import collections
import functools
import gc
import importlib
import io
import threading
import warnings
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import Executor, LoDTensor, Program, append_backward, data, kernels, nn, ops
from lodcore.nn import kept_cells
from lodcore.ops.elementwise.ufuncs import UFUNC_RULES
from tests.helpers.new_memory import new_memory_holds_anything
from tests.helpers.random_cells import (
    COMPILED_CELLS,
    Cell,
    anew,
    arrays_of,
    assert_near,
    bits,
    compilations,
    operator_by_operator,
    run,
    with_gradients,
)
from tests.helpers.tables import for_each

pytestmark = COMPILED_CELLS

LENGTHS, INPUT, WIDTH = [3, 0, 1, 5, 2, 2], 3, 4
SIGMOID, TANH = lodcore.sigmoid, lodcore.tanh


def numbers(*shape, dtype="f4", seed=0):
    return (np.random.default_rng([seed, *shape]).standard_normal(shape) * 0.5).astype(dtype)


def parameters_of(dtype="f4", **shapes):
    return {name: numbers(*shape, dtype=dtype, seed=k) for k, (name, shape) in enumerate(shapes.items())}


def batch(dtype="f4", lengths=LENGTHS, width=INPUT):
    return LoDTensor.from_lengths(numbers(sum(lengths), width, dtype=dtype, seed=9), lengths)


def norm(x):
    away = x - np.mean(x, axis=-1, keepdims=True)
    return away / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5)


def peepholes(p, x, state):
    h, c = state
    g = x @ p["x"] + h @ p["h"] + p["b"]
    u, i, f, o = (g[:, k * WIDTH : (k + 1) * WIDTH] for k in range(4))
    c = SIGMOID(f + p["f"] * c) * c + SIGMOID(i + p["i"] * c) * TANH(u)
    h = SIGMOID(o + p["o"] * c) * TANH(c)
    return h, (h, c)


def with_layer_norm(p, x, state):
    h, c = state
    g = norm(x @ p["x"] + h @ p["h"]) * p["s"] + p["b"]
    u, i, f, o = (g[:, k * WIDTH : (k + 1) * WIDTH] for k in range(4))
    c = SIGMOID(f) * c + SIGMOID(i) * TANH(u)
    h = SIGMOID(o) * TANH(norm(c))
    return h, (h, c)


def gru(p, x, h):
    zr = SIGMOID(x @ p["x"][:, : 2 * WIDTH] + h @ p["h"][:, : 2 * WIDTH] + p["b"][: 2 * WIDTH])
    z, r = zr[:, :WIDTH], zr[:, WIDTH:]
    n = TANH(x @ p["x"][:, 2 * WIDTH :] + (r * h) @ p["h"][:, 2 * WIDTH :] + p["b"][2 * WIDTH :])
    h = h + z * (n - h)
    return h, h


def minimal(p, x, h):
    f = SIGMOID(np.concatenate([x, h], axis=1) @ p["f"] + p["b"])
    h = (1 - f) * h + f * TANH(np.concatenate([x, f * h], axis=1) @ p["h"])
    return h, h


def two_widths(p, x, state):
    h, m = state
    h, m = TANH(x @ p["x"] + h @ p["h"] + m @ p["m"]), m * 0.9 + h @ p["n"]
    return {"h": h, "m": m}, (h, m)


def residual(p, x, state):
    low, high = state
    x = x @ p["x"]
    low = TANH(x + low @ p["l"])
    high = TANH((x + low) @ p["m"] + high @ p["h"])
    return x + low + high, (low, high)


def attending(p, x, state):
    h, memory = state  # two vectors for each sequence
    scores = [np.sum(h * memory[:, k : k + WIDTH], axis=1, keepdims=True) for k in (0, WIDTH)]
    weights = ops.softmax(np.concatenate(scores, axis=1))
    found = weights[:, :1] * memory[:, :WIDTH] + weights[:, 1:] * memory[:, WIDTH:]
    h = TANH(x @ p["x"] + h @ p["h"] + found)
    return h, (h, memory)


GATES = {"x": (INPUT, 4 * WIDTH), "h": (WIDTH, 4 * WIDTH), "b": (4 * WIDTH,)}
#: Each cell with the shapes of its parameters and the widths of its states.
CELLS = {
    "an LSTM with peepholes": (peepholes, {**GATES, "i": (WIDTH,), "f": (WIDTH,), "o": (WIDTH,)}, (WIDTH, WIDTH)),
    "an LSTM with layer norm": (with_layer_norm, {**GATES, "s": (4 * WIDTH,)}, (WIDTH, WIDTH)),
    "a GRU with slices": (gru, {"x": (INPUT, 3 * WIDTH), "h": (WIDTH, 3 * WIDTH), "b": (3 * WIDTH,)}, WIDTH),
    "a minimal gated unit": (minimal, {"f": (7, WIDTH), "b": (WIDTH,), "h": (7, WIDTH)}, WIDTH),
    "two states": (two_widths, {"x": (INPUT, 4), "h": (4, 4), "m": (2, 4), "n": (4, 2)}, (4, 2)),
    "a residual stack": (residual, {"x": (INPUT, 4), "l": (4, 4), "m": (4, 4), "h": (4, 4)}, (4, 4)),
    "attention": (attending, {"x": (INPUT, WIDTH), "h": (WIDTH, WIDTH)}, (WIDTH, 2 * WIDTH)),
}


def given_to(name, dtype, lengths=LENGTHS):
    """Return a cell, its parameters, inputs and states."""
    cell, shapes, widths = CELLS[name]
    state = lodcore.tree_map(lambda width: numbers(len(lengths), width, dtype=dtype, seed=5), widths)
    return cell, parameters_of(dtype, **shapes), batch(dtype, lengths), state


def loss_of(results):
    return functools.reduce(lodcore.add, [ops.sum(one * one) for one in lodcore.tree_leaves(results)])


def program_of(cell, parameters, x, state, is_reverse=False):
    """Return a Program with a cell, what it is fed, and what to fetch: results and gradients of the sum of squares."""
    declare = lambda name, one: data(name, (None, *one.shape[1:]), one.dtype)  # noqa: E731
    with Program() as program:
        rows = data("rows", (None, x.shape[-1]), x.dtype, num_levels=1)
        matrices = {name: data(name, one.shape, one.dtype) for name, one in parameters.items()}
        boots = [declare(f"state{k}", one) for k, one in enumerate(lodcore.tree_leaves(state))]
        given = iter(boots)
        state_of_data = lodcore.tree_map(lambda _: next(given), state)
        results = nn.dynamic_rnn(cell, matrices, rows, state_of_data, is_reverse=is_reverse)
        append_backward(loss_of(results))
    feed = {"rows": x, **parameters, **{f"state{k}": one for k, one in enumerate(lodcore.tree_leaves(state))}}
    names = [one.name for one in lodcore.tree_leaves(results)]
    return program, feed, [*names, *[f"{name}@GRAD" for name in feed]]


def in_program(cell, parameters, x, state):
    """Return a function that runs a cell in a Program."""
    program, feed, fetch = program_of(cell, parameters, x, state)
    return lambda: arrays_of(Executor().run(program, feed, fetch))


@for_each("name", [*CELLS])
@for_each("dtype", ["f4", "f8"])
def test_every_way_of_running_gives_the_same(name, dtype):
    """At once, under vjp, in a Program, for any threads, kept or recorded again: the same bits; near the operators."""
    cell, *rest = given_to(name, dtype)
    with operator_by_operator():
        wanted = run(cell, *rest)
    with compilations() as compiled:
        found = run(cell, *rest)
    assert all(compiled)  # none where another test has left a body that is kept
    for one, other, what in zip(found, wanted, ("results", "gradients"), strict=True):
        assert_near(one, other, what)
    for again in (cell, cell, cell, anew(cell)):
        assert list(map(bits, run(again, *rest))) == list(map(bits, found))
        assert bits(arrays_of(nn.dynamic_rnn(again, *rest))) == bits(found[0])
    before = lodcore.get_num_threads()
    try:
        lodcore.set_num_threads(2)
        assert list(map(bits, run(cell, *rest))) == list(map(bits, found))
    finally:
        lodcore.set_num_threads(before)
    parameters, x, state = rest
    _, gradients = lodcore.value_and_grad(
        lambda x, parameters, state: loss_of(nn.dynamic_rnn(cell, parameters, x, state)), (0, 1, 2)
    )(x, parameters, state)
    once = in_program(cell, parameters, x, state)
    for _ in range(2):
        assert bits(once()) == bits([*found[0], *arrays_of(gradients)])


@given(st.integers(0, 2**32))
def test_drawn_cells_compute_the_same_when_compiled(seed):
    with np.errstate(all="ignore"):
        cell = Cell(seed)
        with operator_by_operator():
            run(cell, {}, cell.x, cell.state)  # which makes its parameters
            given = cell.parameters, cell.x, cell.state, cell.is_reverse
            wanted = run(cell, *given)
        with compilations() as compiled:
            found = [run(cell, *given) for _ in range(3)]
        assert all(compiled), "it runs operator by operator"
        assert len({b"".join(bits([*results, *gradients])) for results, gradients in found}) == 1
        assert bits(arrays_of(nn.dynamic_rnn(cell, *given[:3], is_reverse=given[3]))) == bits(found[0][0])
        for one, other, what in zip(found[0], wanted, ("results", "gradients"), strict=True):
            assert_near(one, other, what)


@given(st.integers(0, 2**32))
def test_gradients_of_some_inputs_are_those_of_all(seed):
    """Nothing is left out for those that are not asked for, not even if new memory holds nan."""
    with np.errstate(all="ignore"):
        cell = Cell(seed)
        with operator_by_operator():
            run(cell, {}, cell.x, cell.state)  # which makes its parameters
            _, wanted = run(cell, cell.parameters, cell.x, cell.state, cell.is_reverse)
        every = {**cell.parameters, "x": cell.x, **dict(enumerate(cell.state))}
        some = [key for key in every if cell.random.random() < 0.5]

        def steps(given):
            now = {**every, **given}
            state = tuple([now[j] for j in range(len(cell.state))])
            return nn.dynamic_rnn(cell, now, now["x"], state, is_reverse=cell.is_reverse)

        with compilations() as compiled, new_memory_holds_anything():
            found = [with_gradients(steps, {key: every[key] for key in some})[1] for _ in range(3)]
    assert all(compiled), "it runs operator by operator"
    chosen = [one for key, one in zip(every, wanted, strict=True) if key in some]
    for gradients in found:
        assert_near(gradients, chosen, some)


@for_each("threads", [1, 2])
def test_a_batch_that_is_split_among_threads_has_the_same_bits(threads):
    lengths = np.random.default_rng(0).integers(1, 9, 300).tolist()
    cell, parameters, x, state = given_to("a GRU with slices", "f4", lengths)
    found, before = [], lodcore.get_num_threads()
    try:
        for count in (1, threads):
            lodcore.set_num_threads(count)
            found.append(list(map(bits, run(cell, parameters, x, state))))
    finally:
        lodcore.set_num_threads(before)
    assert found[0] == found[1]


# -- the record --------------------------------------------------------------------------------------------------------

W = numbers(INPUT, WIDTH)
X, ZERO = batch(), np.zeros((len(LENGTHS), WIDTH), np.float32)


def recorded_anew(cell, *rest):
    return list(map(bits, run(anew(cell), *rest)))


class Changing:
    """A cell whose calls are those of `variants`, one after the other."""

    def __init__(self, *variants):
        self.variants, self.number = variants, 0

    def cell(self, p, x, h):
        return self.variants[self.number % len(self.variants)](p, x, h)


def step(change):
    """Return a cell: what `change` makes of the next state is the output."""

    def cell(p, x, h):
        h = TANH(x @ p["w"] + h)
        return change(p, x, h), h

    return cell


OTHER = numbers(WIDTH, seed=3)


@for_each(
    "variants",
    {
        "an if of Python": [lambda p, x, h: h * 2, lambda p, x, h: h],
        "constants": [lambda p, x, h: h * 2, lambda p, x, h: h * 3, lambda p, x, h: h * -0.0, lambda p, x, h: h * 0.0],
        "types of constants": [lambda p, x, h: h * 2, lambda p, x, h: h * 2.0, lambda p, x, h: h * True],
        "arrays around it": [lambda p, x, h: h * OTHER, lambda p, x, h: h * (OTHER + 1), lambda p, x, h: h * OTHER[:1]],
        "more operators": [lambda p, x, h: h * 2, lambda p, x, h: np.sin(h * 2), lambda p, x, h: np.cos(np.sin(h * 2))],
        "columns": [lambda p, x, h: h[:, 1:], lambda p, x, h: h[:, :-1], lambda p, x, h: h[:, 1:2]],
        "operands": [lambda p, x, h: h - x[:, :1], lambda p, x, h: x[:, :1] - h],
        "parameters": [lambda p, x, h: h * p["a"], lambda p, x, h: h * p["b"], lambda p, x, h: p["a"] * h],
        "trees": [lambda p, x, h: (h, x), lambda p, x, h: [h, x], lambda p, x, h: {"h": h, "x": x}, lambda p, x, h: h],
        "an operator that takes no part": [lambda p, x, h: h * 2, lambda p, x, h: np.sort(h, axis=1)],
        "a loop in it": [
            lambda p, x, h: h * 2,
            lambda p, x, h: nn.static_rnn(lambda p, x, h: (h, TANH(h)), None, [1, 2], h)[1],
        ],
    }.values(),
)
def test_cells_whose_calls_change_equal_newly_recorded_ones(variants):
    parameters = {"w": W, "a": numbers(WIDTH, seed=1), "b": numbers(WIDTH, seed=2)}
    changing = Changing(*map(step, variants))
    wanted = [recorded_anew(step(one), parameters, X, ZERO) for one in variants]
    for number in (0, 0, 0, 1, 1, 1, 2, 0, 1, 2, 3, 3, 0, 0):
        changing.number = number
        found = run(changing.cell, parameters, X, ZERO)
        assert list(map(bits, found)) == wanted[number % len(variants)], number


@pytest.fixture(params=["as usual", "often"])
def garbage(request, monkeypatch):
    """Collect cycles as usual, or so often that some are in the oldest generation while a cell is compiled."""
    monkeypatch.setattr(kept_cells, "_kept", collections.OrderedDict())
    usual = gc.get_threshold()
    if request.param == "often":
        gc.set_threshold(20, 2, 2)
    yield
    gc.set_threshold(*usual)


@for_each("name", [*CELLS])
def test_a_cell_that_is_called_again_is_compiled_no_more(name, garbage):
    """To compile all these cells twice takes seconds."""
    cell, *rest = given_to(name, "f8")
    for _ in range(2):
        run(cell, *rest)
        nn.dynamic_rnn(cell, *rest)
    with compilations() as compiled:
        for times in range(4):
            if times % 2:  # what only a cycle refers to counts as nobody
                gc.collect()
            run(cell, *rest)
            nn.dynamic_rnn(cell, *rest)
    assert compiled == []


def test_a_new_lambda_of_the_same_code_is_not_compiled_again():
    def call(scale):
        return run(lambda p, x, h: (h * scale, TANH(x @ p["w"] + h)), {"w": W * scale}, X, ZERO)

    wanted = [recorded_anew(lambda p, x, h: (h * 2.0, TANH(x @ p["w"] + h)), {"w": W * 2.0}, X, ZERO)]
    call(2.0), call(2.0)
    with compilations() as compiled:
        found = call(2.0)
        assert not compiled, "it was compiled again"
        other = call(3.0)
    assert list(map(bits, found)) == wanted[0]
    assert bits(other[0]) != bits(found[0])


def test_recorded_cells_take_other_parameters_of_the_same_shape():
    cell, parameters, x, state = given_to("an LSTM with peepholes", "f4")
    for scale in (1, 1, 2, 3):
        scaled = {name: one * scale for name, one in parameters.items()}
        assert list(map(bits, run(cell, scaled, x, state))) == recorded_anew(cell, scaled, x, state)
    for dtype in ("f8", "f4"):
        others = given_to("an LSTM with peepholes", dtype, [2, 2])[1:]
        assert list(map(bits, run(cell, *others))) == recorded_anew(cell, *others)
    same = {**parameters, "f": parameters["i"]}  # one object under two names
    assert list(map(bits, run(cell, same, x, state))) == recorded_anew(cell, same, x, state)
    assert list(map(bits, run(cell, parameters, x, state))) == recorded_anew(cell, parameters, x, state)


def test_cell_that_raises_does_not_change_later_calls():
    fails = []

    def cell(p, x, h):
        made = x @ p["w"]
        if fails and fails.pop():
            raise RuntimeError("in the middle")
        h = TANH(made + h)
        return h, h

    wanted = recorded_anew(cell, {"w": W}, X, ZERO)
    for number in range(8):
        if number in (1, 4, 5):
            fails.append(True)
            with pytest.raises(RuntimeError, match="in the middle"):
                run(cell, {"w": W}, X, ZERO)
        else:
            assert list(map(bits, run(cell, {"w": W}, X, ZERO))) == wanted


def test_cell_that_uses_a_variable_of_an_earlier_call_raises():
    leaked = []

    def cell(p, x, h):
        made = x @ p["w"]
        if leaked and leaked[-1] is not None:
            made = made + leaked[-1]
        leaked.append(made)
        h = TANH(made + h)
        return h, h

    wanted = recorded_anew(lambda p, x, h: (TANH(x @ p["w"] + h),) * 2, {"w": W}, X, ZERO)
    for called in [cell] * 4 + [anew(cell)]:
        for _ in range(3):  # the third one finds a body that was kept
            leaked.append(None)
            assert list(map(bits, run(called, {"w": W}, X, ZERO))) == wanted
        with pytest.raises(lodcore.GraphError, match=r"Variable matmul: .* cannot be used outside"):
            run(called, {"w": W}, X, ZERO)


def test_cell_that_calls_dynamic_rnn_of_another_cell():
    def outer(p, x, h):
        wide = nn.dynamic_rnn(inner, p, X, ZERO)[1] if h is None else h
        h = TANH(x @ p["w"] + wide)
        return h, h

    def inner(p, x, h):
        h = TANH(x @ p["w"] + h)
        return h, h

    depth = []

    def itself(p, x, h):
        depth.append(None)
        again = len(depth) % 2 == 1
        more = ops.sum(nn.dynamic_rnn(itself, p, X, ZERO)[1]) if again else 1.0
        h = TANH(x @ p["w"] + h) * more
        return h, h

    wanted = recorded_anew(itself, {"w": W}, X, ZERO)
    for _ in range(4):
        assert list(map(bits, run(itself, {"w": W}, X, ZERO))) == wanted
    for _ in range(3):
        assert list(map(bits, run(outer, {"w": W}, X, ZERO))) == recorded_anew(inner, {"w": W}, X, ZERO)


def test_threads_with_one_cell_get_their_own_results():
    cell, parameters, x, state = given_to("a GRU with slices", "f4")
    scaled = [{name: one * scale for name, one in parameters.items()} for scale in (1, 2, 3)]
    wanted = [recorded_anew(cell, one, x, state) for one in scaled]
    failed = []

    def work(number):
        for _ in range(6):
            if list(map(bits, run(cell, scaled[number], x, state))) != wanted[number]:
                failed.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_kept_cell_holds_no_arrays_of_its_calls():
    cell, parameters, x, state = given_to("an LSTM with peepholes", "f4")
    seen = []
    for _ in range(4):
        given = {name: one.copy() for name, one in parameters.items()}
        values = x.values.copy()
        rows = x.with_values(values)
        boots = tuple([one.copy() for one in state])
        results, pull = lodcore.vjp(lambda p, x, s: nn.dynamic_rnn(cell, p, x, s), given, rows, boots)
        seen += [weakref.ref(one) for one in (*given.values(), values, *boots)]
        del given, values, rows, boots, results, pull
    gc.collect()
    assert not [k for k, one in enumerate(seen) if one() is not None]


# -- floating point ----------------------------------------------------------------------------------------------------


def told(call):
    """Return what a call says: the texts of its warnings, and its error."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            call()
        except (FloatingPointError, RuntimeWarning) as error:
            return sorted({str(one.message) for one in found}), f"{type(error).__name__}: {error}"
    return sorted({str(one.message) for one in found}), None


def growing(p, x, h):
    h = h * p["w"] + x[:, :1]
    return np.log(h + 2.0) / (h - 1.0), h


@for_each("is_error", [False, True])
@for_each("scale", [1e25, 1.0, 1e-44])
def test_floating_point_errors_of_cells_equal_those_of_single_operators(scale, is_error):
    parameters = {"w": np.float32([scale, 0.5, 1, 0])}
    call = lambda: nn.dynamic_rnn(growing, parameters, X, ZERO + 1)  # noqa: E731
    with np.errstate(all="raise" if is_error else "warn"):
        with operator_by_operator():
            wanted = told(call)
        assert wanted != ([], None) or scale == 1.0
        for _ in range(3):
            assert told(call) == wanted
    with np.errstate(all="ignore"):
        assert told(call) == ([], None)


def rooted(p, x, h):
    h = np.sqrt(x * x) * p["w"] + h
    return h * 1.0, h


@ops.elementwise_operator
def at_most(x):
    """An operator of a user's, whose function does with arrays what rows that are traced do not."""
    return np.minimum(x[...], 0.5)


@at_most.define_vjp
def _(d, x):
    return d[...] * (x <= 0.5)


@ops.elementwise_operator
def at_most_there(x):
    return np.minimum(x, 0.5)


@at_most_there.define_vjp
def _(d, x):
    return d * (x <= 0.5) if len(x) else d


@for_each("name", [*CELLS])
@for_each("is_reverse", [False, True])
def test_a_cell_that_was_saved_runs_where_it_cannot_be_compiled(name, is_reverse, monkeypatch):
    cell, parameters, x, state = given_to(name, "f8")
    program, feed, fetch = program_of(cell, parameters, x, state, is_reverse)
    file = io.BytesIO()
    lodcore.save(file, program)
    wanted = arrays_of(Executor().run(program, feed, fetch))
    monkeypatch.setattr(kernels.matrix, "is_fast", lambda: False)
    with compilations() as compiled:
        loaded = lodcore.load(io.BytesIO(file.getvalue()))
    assert compiled == [True]
    (recurrence,) = [op.arguments["loop"] for op in loaded.ops if op.name == "recurrence"]
    assert type(recurrence.compiled).__name__ == "Uncompiled"
    monkeypatch.undo()
    for _ in range(2):
        assert_near(arrays_of(Executor().run(loaded, feed, fetch)), wanted, "results and gradients")


def test_operators_that_cannot_be_traced_run_one_by_one():
    x, state = batch(width=WIDTH), numbers(len(LENGTHS), WIDTH)
    for f in (at_most, at_most_there):

        def cell(p, x, h, f=f):
            return f(x) + h, f(h)

        with compilations() as compiled:
            found = run(cell, {}, x, state)
        assert not any(compiled)
        wanted = run(lambda p, x, h: (np.minimum(x, 0.5) + h, np.minimum(h, 0.5)), {}, x, state)
        for one, other in zip(found, wanted, strict=True):
            assert_near(one, other, f.__name__)


def test_a_body_that_finds_no_memory_while_it_is_compiled_raises():
    """It does not run operator by operator instead: the next call would have other last bits."""
    x, state = batch(width=WIDTH), numbers(len(LENGTHS), WIDTH)
    calls = []

    def fail(rows):
        if calls and not isinstance(rows, np.ndarray):
            calls.append(rows)
            if len(calls) == calls[0] + 1:
                raise MemoryError(f"call {calls[0]}")

    @ops.elementwise_operator
    def doubled(x):
        fail(x)
        return x + x

    @doubled.define_vjp
    def _(d):
        fail(d)
        return d + d

    def cell(p, x, h):
        h = TANH(x @ p["w"] + doubled(h))
        return h, h

    given = cell, {"w": numbers(WIDTH, WIDTH)}, x, state
    for number in (1, 2):  # in the function, and in its vjp rule
        calls[:] = [number]
        with pytest.raises(MemoryError, match=f"call {number}"):
            run(*given)
    calls.clear()
    wanted = list(map(bits, run(*given)))
    assert list(map(bits, run(*given))) == wanted


def test_comparisons_with_nan_run_once(monkeypatch):
    """NumPy tells nothing of them, so nothing has to be told by operators that run once more, one by one."""
    one_by_one = importlib.import_module("lodcore.nn.one_by_one").OneByOne
    monkeypatch.setattr(one_by_one, "forward", lambda *_: pytest.fail("the operators run again"))
    monkeypatch.setattr(one_by_one, "back", lambda *_: pytest.fail("the operators run again"))

    def cell(p, x, h):
        some = np.where(x > h, SIGMOID(x), ops.relu(h)) * (x <= 0.5) + ops.softmax(x)
        return np.maximum(some, h), some + p

    x = batch(width=WIDTH)
    x = LoDTensor(np.where(x.values > 0, x.values, np.nan), x.lod)
    state = numbers(len(LENGTHS), WIDTH)
    with np.errstate(all="raise"):
        outputs, pullback = lodcore.vjp(lambda p: nn.dynamic_rnn(cell, p, x, state)[0], np.ones(WIDTH, "f4"))
        pullback(outputs)


@for_each("is_error", [False, True])
def test_floating_point_errors_of_gradients_of_cells_equal_those_of_single_operators(is_error):
    x = X.with_values(X.values * (X.values > 0))

    def call():
        with np.errstate(all="raise" if is_error else "warn"):
            pull(X.values, ZERO[:, :INPUT])

    with operator_by_operator():
        pull = lodcore.vjp(lambda x: nn.dynamic_rnn(rooted, {"w": np.float32([1, 1e30, 1])}, x, ZERO[:, :INPUT]), x)[1]
        wanted = told(call)
    assert wanted != ([], None)
    for _ in range(3):
        pull = lodcore.vjp(lambda x: nn.dynamic_rnn(rooted, {"w": np.float32([1, 1e30, 1])}, x, ZERO[:, :INPUT]), x)[1]
        assert told(call) == wanted


@for_each("exponent", [-2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3])
@for_each("dtype", ["f4", "f8"])
def test_powers_in_a_compiled_cell_have_the_bits_of_the_operators(exponent, dtype):
    rows = np.random.default_rng(0).standard_normal((40, 17)).astype(dtype)
    x, states = LoDTensor.from_lengths(rows, [4] * 10), np.zeros((10, 17), dtype)

    def power(x):
        return (np.abs(x) + 0.5) ** exponent

    run = lodcore.vjp(lambda x: nn.dynamic_rnn(lambda p, x, s: (power(x), s), None, x, states)[0], x)
    alone = lodcore.vjp(power, rows)
    assert bits(run[0].values) == bits(alone[0])
    ones = np.ones_like(rows)
    assert bits(run[1](x.with_values(ones))[0].values) == bits(alone[1](ones)[0])


@for_each("power", [2, 3, 0.5, -1.5, lambda x: x, lambda x: np.logaddexp(x, 0.5)])
def test_cells_with_powers_are_compiled_with_their_gradients(power):
    def cell(p, x, h):
        base = lodcore.sigmoid(x @ p["w"] + h)
        made = base ** (power(h) if callable(power) else power)
        return made, made

    with compilations() as compiled:
        for _ in range(3):
            run(cell, {"w": W}, X, ZERO)
    assert compiled
    assert all(compiled)


@for_each("name", sorted(UFUNC_RULES.keys() - {"float_power"}))  # a state of float32 stays one
def test_cells_with_any_differentiable_ufunc_are_compiled_with_their_gradients(name):
    """A vjp rule that asks a question of all numbers at once cannot be compiled."""
    ufunc, least = getattr(np, name), 1.5 if name == "arccosh" else 0.5

    def cell(p, x, h):
        between = 0.25 * np.tanh(x @ p["w"] + h) + least
        made = ufunc(*[between, 0.5 * h + 0.5][: ufunc.nin]) * p["d"]
        return made, made

    with compilations() as compiled:
        found = run(cell, {"w": W, "d": np.full(WIDTH, 0.5, "f4")}, X, ZERO)
    assert compiled
    assert all(compiled)
    with operator_by_operator():
        wanted = run(cell, {"w": W, "d": np.full(WIDTH, 0.5, "f4")}, X, ZERO)
    for some, others in zip(found, wanted, strict=True):
        assert_near(some, others, name)
