"""Windows of numbers, removed numbers, columns given by ids: tokens out of range, memory layouts, and laws."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, grad_check, sequence_erase, sequence_scatter
from lodcore.operators.registry import OPS
from lodcore.testing import rules
from lodcore.testing.samples import Sample
from tests.helpers.draw import read_only
from tests.helpers.tables import for_each

# -- tokens ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_tokens_out_of_range_are_in_no_row(dtype):
    limits = np.iinfo(dtype)
    x = LoDTensor.from_lengths(np.array([0, limits.min, limits.max], dtype), [3])
    size = 2 ** (8 * x.dtype.itemsize)
    outside = [limits.min - 1, limits.max + 1, size, -size]
    assert sequence_erase(x, outside).equals(x)
    assert sequence_erase(x, [*outside, limits.max]).values.tolist() == [0, limits.min]
    for token in (limits.min - size, limits.max + size, -1 if limits.min == 0 else limits.max + 1):
        assert sequence_erase(x, [token]).equals(x)


def test_sequence_erase_of_one_token_and_of_none():
    x = lodcore.array([[1, 2], [1]])
    assert sequence_erase(x, 1).tolist() == [[2], []]
    for none in ([], (), np.zeros(0, int), np.zeros((0, 1), "u2")):
        assert sequence_erase(x, none).equals(x)
    assert sequence_erase(x, np.uint64([2**64 - 1, 1])).tolist() == [[2], []]
    assert sequence_erase(LoDTensor.from_lengths(np.uint64([2**64 - 1, 1]), [2]), [2**64 - 1, -1]).tolist() == [[1]]


@pytest.mark.parametrize("n_rows", [3, 64, 65, 1025, 5000])
@pytest.mark.parametrize("tokens", [[3], range(0, 40, 2), [0, 10**6, 2 * 10**6, 3 * 10**6, 2**40, 5]])
def test_erased_rows_own_their_memory(n_rows, tokens):
    values = np.random.default_rng(n_rows).choice([*range(8), 10**6, 2**40], n_rows)
    x = LoDTensor.from_lengths(read_only(values), [n_rows // 3, 0, n_rows - n_rows // 3])
    found = sequence_erase(x, list(tokens))
    kept = ~np.isin(values, list(tokens))
    np.testing.assert_array_equal(found.values, values[kept])
    assert found.lod.lengths().tolist() == [kept[: n_rows // 3].sum(), 0, kept[n_rows // 3 :].sum()]
    column = LoDTensor(values.reshape(-1, 1), x.lod)
    np.testing.assert_array_equal(sequence_erase(column, list(tokens)).values, values[kept].reshape(-1, 1))


# -- columns -----------------------------------------------------------------------------------------------------------


def test_scatter_of_equal_ids_adds_in_order():
    x = np.array([[1.0]])
    found = sequence_scatter(x, [[0, 0, 0]], [[1e16, 1.0, -1e16]])
    assert found.tolist() == [[(1.0 + 1e16 + 1.0) - 1e16]]


def test_scatter_gradient_of_updates_that_are_broadcast():
    ids = lodcore.array([[0, 1, 1], [2]])
    grad_check(lambda x, u: sequence_scatter(x, ids, u), np.zeros((2, 3)), np.array(2.0))
    grad_check(lambda x, u: sequence_scatter(x, ids, u), np.zeros((2, 3, 2)), np.array([2.0, 3.0]))
    grad_check(lambda x, u: sequence_scatter(x, ids, u), np.zeros((2, 3)), np.ones((4, 1)))


@pytest.mark.parametrize("number", [True, 2, 2.5])
@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f4", "f8"])
def test_a_number_for_all_ids_has_no_dtype_of_its_own(dtype, number):
    """As x[i] += number of an array; at recording, too."""
    x, ids = np.zeros((2, 3), dtype), lodcore.array([[0, 2, 0], []])
    wanted = x + number
    made = sequence_scatter(x, ids, number)
    rules.check_infer(OPS["sequence_scatter"], Sample((x, ids, number), {}))
    assert made.dtype == wanted.dtype
    np.testing.assert_array_equal(made, np.array([[2, 0, 1], [0, 0, 0]]) * number)


@pytest.mark.not_on_reference
@for_each("order", "CFK")
def test_sequence_scatter_into_arrays_of_any_memory_order(order):
    lines = np.arange(24.0).reshape(2, 3, 4)
    given = {"C": lines, "F": np.asfortranarray(lines), "K": np.ascontiguousarray(lines.T).T}[order]
    for dtype in ("f8", "f4"):
        updates = LoDTensor.from_lengths(np.ones((3, 4), dtype), [2, 1])
        found = lodcore.sequence_scatter(given, [[0, 2], [1]], updates)
        wanted = lines.copy()
        wanted[[0, 0, 1], [0, 2, 1]] += 1
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(given, lines)


@pytest.mark.not_on_reference
@for_each("dtype", ["i1", "i8", "u8"])
def test_sequence_erase_ignores_tokens_that_the_dtype_cannot_hold(dtype):
    ends = [np.iinfo(dtype).min, 0, 1, np.iinfo(dtype).max]
    x = LoDTensor(np.array(ends, dtype), LoD.from_lengths([2, 2]))
    for count in range(5):
        for tokens in itertools.combinations(ends, count):
            for beyond in ([], [2**70], [-(2**70)], [2**64], [-(2**63) - 1], [-1] if dtype == "u8" else []):
                found = lodcore.sequence_erase(x, [*tokens, *beyond])
                assert found.tolist() == [[v for v in part if v not in tokens] for part in (ends[:2], ends[2:])]


@pytest.mark.not_on_reference
def test_sequence_enumerate_in_threads_with_as_many_rows_as_offsets():
    n = 50_000
    lengths = np.ones(n, int)
    lengths[: n // 2 : 2], lengths[1 : n // 2 : 2], lengths[0] = 2, 0, 3
    values = np.arange(lengths.sum())
    before = lodcore.get_num_threads()
    lodcore.set_num_threads(2)
    try:
        found = lodcore.sequence_enumerate(LoDTensor.from_lengths(values, lengths), 2, -1).values
    finally:
        lodcore.set_num_threads(before)
    last = np.cumsum(lengths)[lengths > 0] - 1
    wanted = np.stack([values, values + 1], axis=1)
    wanted[last, 1] = -1
    assert len(values) == n + 1
    assert (found == wanted).all()
