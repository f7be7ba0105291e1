"""Sorting of text, cells by their positions, interpolation between neighbours: kernels and their twins."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed
from tests.helpers.rows import alike
from tests.helpers.tables import for_each

OFFSETS = st.sampled_from([(8, 5), (4, 17)]).flatmap(lambda most: lengths(None, *most)).map(running_sum).map(int64)
SEEDS = st.integers(0, 2**32)
NUMBERS = st.sampled_from(["f4", "f8", "i8", "u8"])


def texts(seed, count, unit, size):
    """Make texts of few different characters, so that many share a prefix: uint8, shape (count, size * unit)."""
    random = np.random.default_rng(seed)
    few = random.choice([0, 1, 97, 98, 255] if unit == 1 else [0, 97, 256, 2**21 - 2, 2**21, 2**32 - 1], (count, size))
    few[:, : size // 2] = few[:1, : size // 2] if count and random.random() < 0.5 else few[:, : size // 2]
    return read_only(few.astype("u1" if unit == 1 else "<u4").view("u1").reshape(count, size * unit))


@st.composite
def batches(draw):
    """Draw texts, their unit, offsets, sorted keys, and positions."""
    offsets, unit, width = draw(OFFSETS), draw(st.sampled_from([1, 4])), draw(st.sampled_from([1, 1, 2, 0]))
    n_rows, size = int(offsets[-1]), draw(st.integers(0, 11))
    x = texts(draw(SEEDS), n_rows * width, unit, size)
    keys = unwritten(n_rows * width, dtype="u8")
    kernels.order.prefix_keys(x, unit, keys)
    descending, kept, places = draw(st.booleans()), unwritten(n_rows, width, dtype="u8"), unwritten(n_rows, width)
    kernels.sort.sort_rows(read_only(keys.reshape(n_rows, width)), offsets, offsets, descending, kept, places)
    return x.reshape(n_rows, width * size * unit), unit, offsets, descending, read_only(kept), places


@st.composite
def mixtures(draw, dtypes=NUMBERS):
    """Draw cells, offsets, lower neighbours and weights."""
    offsets, width, count = draw(OFFSETS), draw(st.sampled_from([1, 2, 3])), draw(st.integers(0, 3))
    dtype, random = np.dtype(draw(dtypes)), np.random.default_rng(draw(SEEDS))
    x = read_only(values_from_seed(draw(SEEDS), int(offsets[-1]), dtype, (width,)))
    shape = (len(offsets) - 1, count * width)
    weights = random.choice([0, 1, 0.5] if dtype.kind in "iu" else [0, 0.25, 0.5, 0.9, 1], shape)
    return x, offsets, read_only(random.integers(-1, 20, shape)), read_only(weights.astype("f8"))


@pytest.mark.not_on_reference
class TestTwins:
    @given(SEEDS, st.integers(0, 9), st.sampled_from([1, 4]), st.integers(0, 11))
    @example(0, 3, 1, 0)  # texts without characters
    def test_keys(self, seed, count, unit, size):
        agree("order.prefix_keys", texts(seed, count, unit, size), unit, unwritten(count, dtype="u8"))

    @given(batches())
    def test_ties(self, drawn):
        x, unit, offsets, descending, keys, positions = drawn
        agree("order.order_ties", x, unit, keys, offsets, descending, positions)

    @given(batches(), st.data())
    def test_take(self, drawn, data):
        x, _, offsets, _, _, positions = drawn
        if positions.size and data.draw(st.booleans()):
            places = st.sampled_from([-1, 0, 3, 1000, 2**63 - 1])
            positions.flat[data.draw(st.integers(0, positions.size - 1))] = data.draw(places)
        agree("order.take_cells", x, offsets, read_only(positions), unwritten(*x.shape, dtype="u1"))

    @given(mixtures(st.sampled_from(["f4", "f8"])))
    def test_count(self, drawn):
        x, offsets, _, _ = drawn
        x = np.concatenate([x[:0], *[np.sort(x[a:b], axis=0) for a, b in itertools.pairwise(offsets)]])  # nan come last
        agree("order.count_numbers", read_only(x), offsets, unwritten(len(offsets) - 1, x.shape[1]))

    @given(mixtures(st.sampled_from(["f4", "f8"])), st.sampled_from([0.0, -np.inf, np.nan]))
    def test_fill(self, drawn, value):
        x = drawn[0].reshape(-1)
        agree("order.fill_nan", x, value, np.zeros(len(x), x.dtype))

    @given(mixtures())
    def test_mix(self, drawn):
        x, offsets, low, weights = drawn
        agree("order.mix_rows", x, offsets, low, weights, np.full(low.shape, 9, x.dtype), seen=alike)

    @given(mixtures(st.sampled_from(["f4", "f8"])), SEEDS)
    def test_spread(self, drawn, seed):
        x, offsets, low, weights = drawn
        rows = np.random.default_rng(seed).normal(size=low.shape).astype(x.dtype)
        agree("order.spread_mixed", read_only(rows), offsets, low, weights, np.full(x.shape, 9, x.dtype))


@given(batches())
def test_order_ties_of_texts_equals_sorting_in_python(drawn):
    x, unit, offsets, descending, keys, positions = drawn
    width = positions.shape[1]
    kernels.order.order_ties(x, unit, keys, offsets, descending, positions)
    letters = x.view("u1" if unit == 1 else "<u4").reshape(len(x), width, -1 if x.size else 0).tolist()
    for s in range(len(offsets) - 1):
        for c in range(width):
            column = [row[c] for row in letters[offsets[s] : offsets[s + 1]]]
            want = sorted(range(len(column)), key=column.__getitem__, reverse=descending)
            assert positions[offsets[s] : offsets[s + 1], c].tolist() == want


def test_keys_of_every_size_tell_whether_texts_may_share_them():
    for unit, most in ((1, 8), (4, 3)):
        for size in range(most + 5):
            x = np.full((2, size * unit), 97, "u1") if unit == 1 else np.full((2, size), 97, "<u4").view("u1")
            assert kernels.order.prefix_keys(x, unit, unwritten(2, dtype="u8")) is (size > most), (unit, size)
    wide = np.array([[97, 2**21 - 1]], "<u4").view("u1")  # a character that a key does not hold
    assert kernels.order.prefix_keys(wide, 4, unwritten(1, dtype="u8")) is True


def test_keys_have_the_order_of_texts():
    """Every character of a key counts, those after it do not."""
    for unit, most in ((1, 8), (4, 3)):
        for size in range(1, most + 3):
            letters = np.full((size + 1, size), 97, "u1" if unit == 1 else "<u4")
            letters[np.arange(size), np.arange(size)] += 1
            keys = unwritten(size + 1, dtype="u8")
            kernels.order.prefix_keys(letters.view("u1").reshape(size + 1, -1), unit, keys)
            shown = min(size, most)
            assert sorted(keys[:shown].tolist(), reverse=True) == keys[:shown].tolist()
            assert len(set(keys.tolist())) == shown + 1
            assert (keys[shown:] == keys[-1]).all()


@pytest.mark.not_on_reference
def test_ties_in_a_sequence_that_is_longer_than_those_before():
    places, lines = int64([*range(3), *range(700)])[:, None] + 0, np.full((703, 9), 97, "u1")
    lines[3:, 8] = np.arange(700) * 7 % 256
    offsets = int64([0, 0, 3, 703, 703])
    kernels.order.order_ties(lines, 1, np.zeros((703, 1), "u8"), offsets, False, places)
    assert places[3:, 0].tolist() == sorted(range(700), key=lambda k: k * 7 % 256)


@for_each("descending", [False, True])
@for_each(("unit", "dtype"), [(1, "u1"), (4, "<u4")])
def test_texts_that_differ_after_their_keys(unit, dtype, descending):
    """Runs of 2 to 9 texts with one key: characters above 127 are greater, equal texts keep their order."""
    random = np.random.default_rng(unit)
    for count in range(2, 10):
        tails = random.choice([0, 97, 127, 128, 255] if unit == 1 else [97, 2**20, 2**31, 2**32 - 1], (count, 2))
        letters = np.full((count, 11), 98, dtype)
        letters[:, 9:] = tails
        places = int64(np.arange(count))[:, None] + 0
        x = letters.view("u1").reshape(count, -1)
        kernels.order.order_ties(x, unit, np.zeros((count, 1), "u8"), int64([0, count]), descending, places)
        texts = tails.tolist()
        assert places[:, 0].tolist() == sorted(range(count), key=texts.__getitem__, reverse=descending), texts


@for_each(("place", "bad"), [(1, -1), (2, 2), (-1, 2), (2**62, 2)])
@for_each("size", [1, 3, 4, 8])
def test_the_first_position_after_the_end_of_a_sequence(size, place, bad):
    x, places = np.arange(4 * size, dtype="u1").reshape(4, size), int64([[1], [0], [place], [0]])
    out = unwritten(4, size, dtype="u1")
    assert kernels.order.take_cells(x, int64([0, 2, 4]), places, out) == bad
    assert bad >= 0 or (out == x[[1, 0, 3, 2]]).all()


TOP32, TOP64, INF = float(np.finfo("f4").max), float(np.finfo("f8").max), float("inf")


@for_each(
    ("dtype", "cells", "weight", "wanted"),
    [
        ("f8", [-TOP64, TOP64], 0.5, 0.0),  # their difference is infinite
        ("f8", [-TOP64, TOP64], 0.25, -TOP64 * 0.75 + TOP64 * 0.25),
        ("f4", [-TOP32, TOP32], 0.5, 0.0),
        ("f8", [INF, INF], 0.5, INF),
        ("f8", [-INF, -INF], 0.25, -INF),
        ("f8", [-INF, 1], 0.5, -INF),
        ("f8", [1, INF], 0.0, 1),
        ("f8", [1, INF], 1.0, INF),
        ("i8", [2**62 + 1, 2**62 + 3], 1.0, 2**62 + 3),
        ("u8", [2**63 + 1, 2**63 + 3], 0.0, 2**63 + 1),
        ("f4", [1, 3], 0.75, 2.5),
    ],
)
def test_neighbours_that_are_equal_or_far_apart(dtype, cells, weight, wanted):
    out = np.empty((1, 1), dtype)
    x = np.array(cells, dtype)[:, None]
    kernels.order.mix_rows(x, int64([0, 2]), int64([[0]]), np.array([[weight]]), out)
    assert out[0, 0] == wanted


@for_each(("dtype", "nothing"), [("f4", np.nan), ("f8", np.nan), ("i8", 0), ("u8", 0)])
@for_each("low", [-1, -2, -(2**63)])
def test_cells_without_neighbours(low, dtype, nothing):
    x, out = np.full((4, 1), 3, dtype), np.empty((3, 2), dtype)
    lows = int64([[0, low], [0, 0], [low, 1]])
    kernels.order.mix_rows(x, int64([0, 2, 2, 4]), lows, np.zeros((3, 2)), out)
    np.testing.assert_array_equal(out, [[3, nothing], [nothing, nothing], [nothing, 3]])


@for_each("dtype", ["f4", "f8"])
def test_spread_mixed_does_not_cross_the_end_of_a_sequence(dtype):
    rows, out = np.array([[1], [np.inf]], dtype), np.full((4, 1), 7, dtype)
    kernels.order.spread_mixed(rows, int64([0, 2, 4]), int64([[1], [5]]), np.array([[0.25], [0.0]]), out)
    np.testing.assert_array_equal(out[:2], [[0], [1]])
    assert out[2] == 0


@for_each(("dtype", "count"), [("f4", 1), ("f4", 3), ("f8", 17), ("f4", 100), ("f8", 1025)])
def test_every_nan_is_filled(dtype, count):
    x, out = np.full(count, np.nan, dtype), unwritten(count, dtype=dtype)
    kernels.order.fill_nan(x, 2.5, out)
    assert (out == 2.5).all()


def test_arrays_that_do_not_belong_together():
    x, offsets = np.zeros((2, 3), "u1"), int64([0, 2])
    keys, places, out = np.zeros((2, 3), "u8"), np.zeros((2, 3), np.int64), np.zeros((2, 3), "u1")
    reals, low, weights = np.ones((2, 3)), np.zeros((1, 3), np.int64), np.zeros((1, 3))
    order = kernels.order
    for call in [
        lambda: order.prefix_keys(x, 4, np.zeros(2, "u8")),
        lambda: order.prefix_keys(x, 1, np.zeros(3, "u8")),
        lambda: order.order_ties(x, 1, keys, int64([0, 1]), False, places),
        lambda: order.order_ties(x, 4, keys, offsets, False, places),
        lambda: order.order_ties(x, 1, keys, offsets, False, places + 2),
        lambda: order.take_cells(x, offsets, places, out[:1]),
        lambda: order.take_cells(x, int64([0, 1]), places, out),
        lambda: order.mix_rows(reals, offsets, low, weights[:, :2].copy(), np.zeros((1, 3))),
        lambda: order.mix_rows(reals, int64([0, 1]), low, weights, np.zeros((1, 3))),
        lambda: order.spread_mixed(weights, int64([0, 1]), low, weights, reals),
        lambda: order.spread_mixed(weights, offsets, low[:0], weights, reals),
        lambda: order.fill_nan(np.zeros(2), 0.0, np.zeros(3)),
    ]:
        with pytest.raises(ValueError, match=r"belong together|name no rows"):
            call()
