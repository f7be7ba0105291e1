"""Cells that are given other Generators or constants at each call: compiled a few times, with a new record's bits."""

import itertools
import warnings

import numpy as np

import lodcore
from lodcore import LoDTensor, nn
from lodcore.nn import kept_cells
from tests.helpers.random_cells import COMPILED_CELLS, anew, bits, compilations, numbers, run
from tests.helpers.tables import for_each

pytestmark = COMPILED_CELLS

LENGTHS, WIDTH = [3, 0, 1, 5, 2, 2], 4


X = LoDTensor.from_lengths(numbers(sum(LENGTHS), WIDTH), LENGTHS)
PARAMETERS, ZERO = {"x": numbers(WIDTH, WIDTH), "h": numbers(WIDTH, WIDTH)}, np.zeros((len(LENGTHS), WIDTH), "f4")


def bits_of(cell, *given):
    return [bits(some) for some in run(cell, *(given or (PARAMETERS, X, ZERO)))]


def dropping(one, other):
    """Return a cell that draws three times."""

    def cell(p, x, h):
        h = np.tanh(nn.dropout(x, 0.5, one) @ p["x"] + nn.dropout(h, 0.25, other) @ p["h"])
        return nn.dropout(h, 0.5, one), h

    return cell


def generators(pattern, seed, bits=np.random.PCG64):
    """Return two Generators: two of their own, one for both, or two with one source."""
    one, other = bits(seed), bits(seed + 100)
    first = np.random.Generator(one)
    return first, {"two": np.random.Generator(other), "same": first, "shared": np.random.Generator(one)}[pattern]


def test_new_generators_at_each_call_are_no_new_cell():
    """Also of other kinds, in other threads' hands, or one in place of two."""
    kinds = [np.random.PCG64, np.random.MT19937, np.random.PCG64, np.random.Philox]
    for pattern in ("two", "same", "shared"):
        counts = []
        for seed in range(8):
            given, wanted = [generators(pattern, seed, kinds[seed % 4]) for _ in range(2)]
            with compilations() as compiled:
                found = bits_of(dropping(*given))
            counts.append(len(compiled))
            assert found == bits_of(anew(dropping(*wanted)))
            assert [rng.random() for rng in given] == [rng.random() for rng in wanted]
        assert counts[4:] == [0] * 4, (pattern, counts)


def test_a_pullback_uses_the_masks_of_its_own_call():
    def called(seed):
        cell = dropping(*generators("two", seed))
        return lodcore.vjp(lambda p: nn.dynamic_rnn(cell, p, X, ZERO)[0], PARAMETERS)

    for _ in range(3):
        called(0)
    found = [called(seed) for seed in range(3)]
    for seed, (y, pull) in enumerate(found):
        cell = anew(dropping(*generators("two", seed)))
        wanted, back = lodcore.vjp(lambda p, cell=cell: nn.dynamic_rnn(cell, p, X, ZERO)[0], PARAMETERS)
        np.testing.assert_array_equal(y.values, wanted.values)
        for one, other in zip(*map(lodcore.tree_leaves, (pull(y), back(y))), strict=True):
            np.testing.assert_array_equal(one, other)


@for_each("is_error", [False, True])
def test_steps_that_run_again_to_warn_draw_from_the_generators_of_their_call(is_error):
    x, found = LoDTensor.from_lengths(np.full((3, 2), 30, "f4"), [3]), []

    def overflowing(rng):
        def cell(p, x, h):
            h = np.exp(nn.dropout(x, 0.5, rng) * 1.6) * h
            return h, h

        return cell

    def called(seed, changed=lambda cell: cell):
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                made = bits_of(changed(overflowing(rng)), None, x, np.ones((1, 2), "f4"))
            except FloatingPointError as error:
                made = str(error)
        return made, [str(one.message) for one in warned], rng.bit_generator.state

    with np.errstate(all="ignore"):
        for seed in range(3):
            called(seed)
    with np.errstate(over="raise" if is_error else "warn"):
        for seed in range(3, 7):
            found.append(called(seed))
            np.testing.assert_equal(found[-1], called(seed, anew))
    assert any([warned or isinstance(made, str) for made, warned, _ in found])


def scaled(*given):
    """Return a cell with constants in several places."""
    a, b, c = given

    def cell(p, x, h):
        h = np.tanh((x * a) @ p["x"] + (h - b) @ p["h"]) / c
        return (h > b) * h + a, h

    return cell


NUMBERS = [0.5, 2, 1.0, -0.0, 0.0, float("nan"), float("inf"), 1e30, 1e-42, 3, True, 0.1, 2**24 + 1, -7]


def test_constants_that_change_at_each_call_are_bound():
    counts = []
    for k in range(24):
        given = 0.5 + k, 0.25 * k, 1.0 + k
        with compilations() as compiled:
            found = bits_of(scaled(*given))
        counts.append(len(compiled))
        assert found == bits_of(anew(scaled(*given))), given
    assert counts[7:] == [0] * 17, counts


def test_cells_with_changed_constants_equal_newly_recorded_ones():
    with np.errstate(all="ignore"):
        for k, one in enumerate(NUMBERS * 2):
            given = one, NUMBERS[k // 2 % len(NUMBERS)], NUMBERS[-(k % 5)] or 1.0
            assert bits_of(scaled(*given)) == bits_of(anew(scaled(*given))), given


def test_numbers_that_were_equal_once_may_differ_later():
    for given in [(2.0, 3.0), (3.0, 2.0), (1.0, 1), (2, 1.0), (1.0, 2.0), (4.0, 4.0), (4.0, 1.0), (1.0, 1.0)] * 2:
        cell_of = lambda a, b: lambda p, x, h: (a - h + b * x, np.tanh(b - x @ p["x"] + h * a + h * b))  # noqa: E731
        assert bits_of(cell_of(*given)) == bits_of(anew(cell_of(*given))), given


def test_constants_beside_parameters_keep_the_gradients_of_these():
    def cell_of(scale):
        return lambda p, x, h: (h * scale, np.tanh(x @ p["x"] + h * scale))

    for scale in (2.0, np.array(0.5, "f4"), 3.0, np.array(4.0, "f4"), 1.0, 5.0):
        assert bits_of(cell_of(scale)) == bits_of(anew(cell_of(scale)))
    for scale in (2.0, 3.0, 4.0):  # a parameter now, a number then
        _, gradient = lodcore.value_and_grad(
            lambda s: lodcore.ops.sum(nn.dynamic_rnn(cell_of(s), PARAMETERS, X, ZERO)[0])
        )(np.array(scale, "f4"))
        assert gradient != 0


def test_a_cell_that_is_another_at_each_call_is_compiled_once_each():
    """What is kept is a copy, which costs as much again; it is made less and less often."""
    parts, counts = itertools.cycle([1, 2, 3]), []

    def cell(p, x, h):
        h = np.tanh(x @ p["x"] + h)
        return h[:, :next_part], h

    for _ in range(60):
        next_part = next(parts)
        with compilations() as compiled:
            nn.dynamic_rnn(cell, PARAMETERS, X, ZERO)
        counts.append(len(compiled))
    assert sum(counts) <= 60 + 8
    for _ in range(65):
        with compilations() as compiled:
            nn.dynamic_rnn(cell, PARAMETERS, X, ZERO)
    assert not compiled


def test_operators_of_a_body_are_looked_at_once_for_their_constants(monkeypatch):
    looked_at = []

    def counted(constants, op, arguments):
        looked_at.append(op)
        add_constants(constants, op, arguments)

    add_constants = kept_cells.add_constants
    monkeypatch.setattr(kept_cells, "add_constants", counted)

    def cell_of(scale):
        def cell(p, x, h):
            for k in range(20):
                h = h * (scale + k) + 0.5
            return h, np.tanh(x @ p["x"] + h)

        return cell

    counts = []
    for scale in (1.0, 2.0, 3.0, 4.0, 5.0):
        looked_at.clear()
        bits_of(cell_of(scale))
        counts.append(len(looked_at))
    assert 0 < max(counts) <= 2 * 43, counts  # the recording of a call, and that of the copy that is kept


def test_weights_that_were_two_and_are_one_are_recorded_anew():
    """The record of two weights is not held against a call where both are one, whatever was called in between."""
    x, start = lodcore.LoDTensor.from_lengths(np.ones((3, 2)), [2, 0, 1]), np.zeros((3, 2))
    a, b, c = np.eye(2), 2 * np.eye(2), 3 * np.eye(2)

    def cell(weights, x, state):
        for weight in weights:
            state = state @ weight
        state = lodcore.tanh(x + state)
        return state, state

    for weights in ([a, b], [a, b, c], [a, a], [a, b], [b, b], [a, a, a], [a, b, a], [a, a]):
        _, last = nn.dynamic_rnn(cell, weights, x, start)
        factor = np.prod([weight[0, 0] for weight in weights])
        once = np.tanh(1.0)
        wanted = [[np.tanh(1 + factor * once)] * 2, [0.0, 0.0], [once] * 2]
        np.testing.assert_allclose(last, wanted, rtol=1e-12)
        value, pullback = lodcore.vjp(lambda weights: nn.dynamic_rnn(cell, weights, x, start)[1].sum(), weights)
        (found,) = pullback(1.0)
        assert len(found) == len(weights)
        np.testing.assert_allclose(value, np.sum(wanted), rtol=1e-12)
