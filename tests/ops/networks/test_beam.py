"""Beam search: the order of equal scores, and cases that the oracle does not cover."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDError, LoDTensor, TensorArray, beam_search, beam_search_decode

FLOATS = ["float32", "float64"]


def scores_of(rows, *lengths, dtype=np.float64):
    return LoDTensor.from_lengths(np.array(rows, dtype), *lengths)


def steps_of(*steps):
    """Make the arrays of a decode from (id, score) lists: steps, sources, prefixes, items."""
    parts = []
    for place in (0, 1):
        made = [[[[item[place] for item in prefix] for prefix in source] for source in step] for step in steps]
        parts.append([lodcore.array(step, ["int64", "float64"][place], num_levels=2) for step in made])
    return parts


# -- one step ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_beam_search_orders_equal_scores_as_paddle(dtype):
    """The order of PaddlePaddle, as measured."""

    def kept(beam_size, *rows):
        scores = scores_of(rows, [len(rows)], dtype=dtype)
        ids, _, parents = beam_search([9] * len(rows), 0.0, None, scores, beam_size, 0)
        return list(zip(parents.tolist(), ids.values.tolist(), strict=True))

    assert kept(1, [0.5, 0.5, 0.5]) == [(0, 2)]
    assert kept(2, [0.5, 0.5, 0.5]) == [(0, 0), (0, 2)]
    assert kept(3, [0.5, 0.5, 0.5]) == [(0, 0), (0, 1), (0, 2)]
    assert kept(1, [0.5], [0.5]) == [(1, 0)]
    assert kept(2, [0.5, 0.5], [0.5, 0.5]) == [(1, 0), (1, 1)]


def test_beam_search_keeps_the_levels_above_its_level():
    scores = scores_of(np.arange(6.0).reshape(3, 2), [2, 1], [1, 0, 2])
    ids, _, _ = beam_search([5] * 3, [0.0] * 3, None, scores, 1, 0, level=1)
    assert ids.tolist() == [[[[1]], []], [[[], [1]]]]


def test_results_keep_ranks_and_dtypes():
    scores = scores_of([[0.5, 0.1]], [1], [1], dtype=np.float32)
    candidates = np.array([[300, 2]], np.int16)
    ids, values, _ = beam_search(np.array([[5]], np.int32), np.zeros((1, 1)), candidates, scores, 2, 0)
    assert (ids.dtype, ids.values.shape) == (np.int16, (2, 1))
    assert (values.dtype, values.values.shape) == (np.float32, (2, 1))
    ids, values, _ = beam_search(5, 0, None, scores, 2, 0)
    assert (ids.dtype, ids.values.shape, values.values.shape) == (np.int64, (2,), (2,))


def test_probabilities_may_be_zero():
    with np.errstate(all="raise"):
        _, values, _ = beam_search([5], [-1.0], None, scores_of([[0.0, 1.0]], [1]), 2, 0, is_accumulated=False)
    assert values.tolist() == [[[-1.0, -np.inf]]]


def test_wide_rows_of_odd_memory():
    wide = np.random.default_rng(1).random((3, 500))
    for rows in (np.asfortranarray(wide), wide.astype(">f8"), wide[:, ::-1][:, ::-1]):
        ids, values, _ = beam_search([1] * 3, 0.0, None, LoDTensor.from_lengths(rows, [3]), 5, -1)
        best = np.sort(wide.ravel())[::-1][:5]
        np.testing.assert_array_equal(np.sort(values.values)[::-1], best)
        assert values.dtype.isnative
        assert ids.dtype == np.int64


@pytest.mark.parametrize("dtype", ["i1", "u1", ">i2", "<i2"])
def test_ids_number_as_many_columns_as_their_dtype_can(dtype):
    """Also in another byte order; results are native."""
    most = int(np.iinfo(dtype).max) + 1
    before = np.array([1], dtype)
    wide = np.zeros((1, most))
    wide[0, -1] = 1.0
    ids, _, _ = beam_search(before, 0.0, None, scores_of(wide, [1]), 1, 0)
    assert ids.tolist() == [[[most - 1]]]
    assert ids.dtype == np.dtype(dtype).newbyteorder("=")
    assert ids.dtype.isnative
    chosen, _, _ = beam_search(before, 0.0, np.full((1, most), 3, dtype), scores_of(wide, [1]), 1, 0)
    assert chosen.dtype.isnative
    assert chosen.tolist() == [[[3]]]
    with pytest.raises(ValueError, match=f"scores: has {most + 1} columns; .*pre_ids, cannot number them"):
        beam_search(before, 0.0, None, scores_of(np.zeros((1, most + 1)), [1]), 1, 0)


@pytest.mark.parametrize("ids", [None, [[3, 4], [5, 6], [7, 8]]])
def test_each_result_has_the_rank_of_its_own_prefixes(ids):
    """In one step, and in decoding, where ids and scores may be columns or not, too."""
    scores = scores_of([[0.5, 0.1], [0.2, 0.3], [0.4, 0.0]], [2, 1])
    wanted = [[[0], [1]], [[0, 1]]] if ids is None else [[[3], [6]], [[7, 8]]]
    for left, right in [((3,), (3,)), ((3, 1), (3,)), ((3,), (3, 1)), ((3, 1), (3, 1))]:
        before = np.full(left, 9), np.zeros(right)
        found, values, parents = beam_search(*before, ids, scores, 2, 2)
        assert (found.values.shape, values.values.shape) == ((4, *left[1:]), (4, *right[1:]))
        assert found.with_values(found.values.ravel()).tolist() == wanted
        assert values.values.ravel().tolist() == [0.5, 0.3, 0.4, 0.0]
        assert parents.tolist() == [0, 1, 2, 2]
        sentences, totals = beam_search_decode([found], [values], 2, 2)
        assert (sentences.values.shape, totals.values.shape) == ((4, *left[1:]), (4, *right[1:]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_one_score_for_all_prefixes_has_all_its_digits(dtype):
    """That of a branch that has ended is written as it was given."""
    scores = scores_of([[0.2, 0.1], [0.3, 0.25]], [2], dtype=dtype)
    for score in (0.7, np.float64(0.7), np.array(0.7), [0.7, 0.7], np.full(2, 0.7)):
        ids, values, parents = beam_search([1, 5], score, None, scores, 2, 1)
        assert values.values.tolist() == [np.dtype(dtype).type(0.7), scores.values[1, 0]]
        assert (ids.values.tolist(), parents.tolist()) == ([1, 0], [0, 1])


# -- all steps ---------------------------------------------------------------------------------------------------------


def test_equal_sentences_keep_their_order_and_nan_is_last():
    ids, scores = steps_of([[[(1, 0.5), (2, np.nan), (3, 0.5), (4, 0.7)]]])
    assert beam_search_decode(ids, scores, 4, 0)[0].tolist() == [[[4], [1], [3], [2]]]


def test_sources_without_anything():
    ids, scores = steps_of([[], [[]]], [[], []])
    assert beam_search_decode(ids, scores, 2, 0)[0].tolist() == [[], []]
    none = [lodcore.array([], "int64", num_levels=2)], [lodcore.array([], "float64", num_levels=2)]
    assert beam_search_decode(*none, 2, 0)[0].tolist() == []


def test_lists_and_arrays_are_the_same():
    lists = steps_of([[[(1, 0.0)]]], [[[(7, -1.0), (8, -0.5)]]])
    arrays = [TensorArray.of_elements(len(x), dict(enumerate(x))) for x in lists]
    for one, other in zip(beam_search_decode(*lists, 2, 0), beam_search_decode(*arrays, 2, 0), strict=True):
        assert one.equals(other)


@pytest.mark.parametrize("end_id", [-(2**63), 2**63 - 1, 2**63, -(2**63) - 1, 2**70, -(2**70)])
def test_beam_search_decode_takes_any_end_id(end_id):
    limits = np.iinfo(np.int64)
    ids = [LoDTensor.from_lengths(np.array([limits.min, limits.max]), [1], [2])]
    scores = [LoDTensor(np.zeros(2), ids[0].lod)]
    assert beam_search_decode(ids, scores, 2, end_id)[0].tolist() == [[[limits.min], [limits.max]]]
    for first, second in ([0, 1], [2, 3]), ([1, 0], [-1, 0]), ([0, 2], [0, 2]):  # no token ends
        ids = [LoDTensor.from_lengths(first, [1], [2]), LoDTensor.from_lengths(second, [2], [1, 1])]
        scores = [LoDTensor(np.zeros(2), one.lod) for one in ids]
        assert beam_search_decode(ids, scores, 2, end_id)[0].tolist() == [
            [list(way) for way in zip(first, second, strict=True)]
        ]


@pytest.mark.parametrize("moved", [0, 1])
def test_prefixes_of_each_source_are_those_that_were_kept(moved):
    """Also where the numbers of all sources together agree."""
    kept = LoDTensor.from_lengths(np.array([5, 6, 7]), [2, 1], [1, 1, 1])
    following = LoDTensor.from_lengths(np.array([7, 8, 9]), [2 - moved, 1 + moved], [1, 1, 1])
    ids, scores = [kept, following], [x.with_values(np.zeros(3)) for x in (kept, following)]
    if not moved:
        assert beam_search_decode(ids, scores, 2, 1)[0].tolist() == [[[5, 7], [6, 8]], [[7, 9]]]
        return
    with pytest.raises(LoDError, match="step 1 has 1 prefixes of source 0; step 0 has kept 2"):
        beam_search_decode(ids, scores, 2, 1)


def test_ids_of_no_prefixes_are_integers_though_an_empty_list_is_not():
    scores = LoDTensor.from_lengths(np.zeros((0, 3)), [0, 0], [])
    ids, found, parents = lodcore.beam_search([], [], None, scores, 2, 0)
    assert (ids.dtype, found.dtype, parents.dtype) == (np.int64, np.float64, np.int32)
