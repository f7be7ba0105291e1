"""The oracles where their rules are decided: ties, nan, empty lists, the last of a run, more than a few sequences."""

import math

import pytest

from reference import indexing
from reference.batching import attention_inputs, chunks
from reference.dual import Dual, derivatives
from reference.ops import (
    arrange,
    axes,
    chunk,
    expand,
    gather,
    group,
    index,
    levels,
    masks,
    matmul,
    neighbours,
    position,
    quantiles,
    ranges,
    rank_table,
    recurrent_layers,
    reduce_values,
    rolling,
    runs,
    search,
    shuffle,
    softmax,
    states,
    structure,
    tensor_arrays,
    tokens,
    values,
    window,
)
from reference.read_cases import agree
from reference.tensors import fill

pytestmark = pytest.mark.not_on_reference  # no kernels

INF, NAN, OTHER = math.inf, math.nan, float("nan")
RUNS_OF_TWO = [[2 * s, 2 * s + 1] for s in range(20)]


@pytest.mark.parametrize("better", [neighbours.greatest, neighbours.least])
def test_the_first_of_equal_numbers_stays_and_the_first_nan(better):
    one = 1
    assert better(one, 1.0) is one
    for before, after in ((NAN, OTHER), (NAN, 1.0), (1.0, NAN)):
        assert better(before, after) is NAN
    best = reduce_values.largest if better is neighbours.greatest else reduce_values.smallest
    assert best([one, 1.0, True], None) is one
    assert best([1.0, NAN, OTHER, 5.0], None) is NAN
    assert best([], None) is None
    assert rolling.best([one, 1.0, NAN, OTHER], better is neighbours.greatest) is NAN


def test_oracle_of_places_names_the_first_extreme_or_nan():
    assert [reduce_values.place(numbers, numbers[-1]) for numbers in ([1, 2, 3, 4, NAN], [NAN, OTHER], [2, 2])] == [
        4,
        0,
        0,
    ]
    nested = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    assert indexing.getitem(nested, [[0, 1], [1, 0], 1]) == [4, 6]
    assert indexing.getitem(nested, [indexing.Nested([[1], [0, 1]], 1), 0]) == [[3], [5, 7]]


def test_oracle_of_interpolation_stays_between_its_points():
    assert [repr(search.interpolated(x, [1, 2], [3, 5])) for x in (0, 1, 2, 3)] == ["3.0", "3.0", "5.0", "5.0"]
    assert [repr(search.interpolated(x, [1], [3])) for x in (0, 1, 3)] == ["3.0"] * 3
    assert math.isnan(search.interpolated(1, [], []))


def test_quantiles_ranks_and_windows():
    assert quantiles.quantile([2.9, 9.8], 0.5, "linear", False) == 9.8 - (9.8 - 2.9) * 0.5
    assert runs.sequence_rank([[7, 7, 9, 7]], "average", 0, False, 1, ()) == [[2, 2, 4, 2]]
    assert runs.sequence_rank([[7, 7]], "average", 0, False, 1, ()) == [[1.5, 1.5]]
    for kind in ("var", "std"):
        assert all(math.isnan(rolling.reduced([3.0] * size, kind, ddof)) for size, ddof in ((1, 1), (2, 2), (1, 3)))
    still = rolling.reduced([Dual(2.0, {0: 1.0}), Dual(2.0, {1: 1.0})], "std", 0)
    assert (still.value, set(derivatives(still).values())) == (0.0, {0.0})


def test_logsumexp_of_empty_and_infinite_columns():
    assert [softmax.logsumexp(column) for column in ([], [-INF], [-INF, -INF], [INF, 1.0])] == [-INF, -INF, -INF, INF]
    assert softmax.logsumexp([-INF, 2.0]) == 2.0
    for column, shares in (([INF, 1.0, INF], [0.5, 0, 0.5]), ([-INF, -INF], [0.5, 0.5]), ([-INF, 2.0], [0, 1])):
        found = derivatives(softmax.logsumexp([Dual(x, {k: 1.0}) for k, x in enumerate(column)]))
        assert [found.get(k, 0) for k in range(len(column))] == shares


def test_groups_of_nan():
    keys, rows = group.group_rows([NAN, 1.0, OTHER, 1.0], "sorted")
    assert (keys[0], rows) == (1.0, [[1, 3], [0, 2]])
    assert group.runs([NAN, OTHER, 1.0, NAN]) == [[0, 1], [2], [3]]
    assert group.match_keys([NAN, 1], [OTHER], "outer")[1:] == ([0, 1], [0, -1])
    assert group.match_keys([1], [2], "outer") == ([1, 2], [0, -1], [-1, 0])


def test_ends_of_ranges_and_chunks():
    wanted = [[0.0, 0.25, 0.5, 0.75], [0.0, 0.5, 1.0], [], [1.0, 0.5]]
    assert ranges.arange([0.0, 0.0, 1.0, 1.0], [1.0, 1.1, 1.0, 0.0], [0.25, 0.5, 1.0, -0.5]) == wanted
    assert ranges.arange([0, 3, 2], [4, 0, 2], [3, -1, 1]) == [[0, 3], [3, 2, 1], []]
    six = [*range(6)]
    assert chunk.chunks(six, 4, 2, "keep") == [six[:4], six[2:]]
    assert chunk.chunks(six, 3, 3, "keep") == chunk.chunks(six, 3, 3, "drop") == [six[:3], six[3:]]
    assert chunk.chunks(six, 4, 3, "full") == [six[:4], six[2:]]
    assert chunk.chunks(six, 4, 3, "drop") == [six[:4]]
    assert chunk.chunks(six[:3], 4, 4, "drop") == []


def test_oracles_of_moving_take_many_sequences():
    turned = [pair[::-1] for pair in RUNS_OF_TWO]
    assert expand.sequence_reverse(RUNS_OF_TWO, 0) == turned
    assert expand.sequence_reverse([RUNS_OF_TWO], 1) == [turned]
    assert arrange.sequence_roll(RUNS_OF_TWO, [1] * 20, 0) == turned
    assert tensor_arrays.step_order([[1], [2, 3], []], 0, False) == [0, 1, 2]
    assert tensor_arrays.step_order([[1], [2, 3], []], 0, True) == [1, 0, 2]
    assert masks.split_by_mask([[1], [2], [3]], [1, 0, 1], 0) == ([[1], [3]], [[2]])
    assert masks.split_by_mask([[1], [2], [3]], [True, False, True], 0) == ([[1], [3]], [[2]])


def test_states_are_not_changed():
    boot = [[1.0], [2.0]]
    assert states.last_of_steps([[[5.0]], []], boot, [1, 0]) == [[1.0], [5.0]]
    assert boot == [[1.0], [2.0]]


def test_cells_that_are_clipped():
    parameters = {"weight_x": [[9.0, 0.0, 0.0, 0.0]], "weight_h": [[0.0] * 4], "bias": [0.0, 9.0, 9.0, 9.0]}
    for cell, wanted in ((5.0, 2.0), (-5.0, -2.0)):
        _, (_, c) = recurrent_layers.lstm_cell(parameters, [0.0], ([0.0], [cell]), clip=2.0)
        assert c == [wanted]


def test_windows_of_documents():
    for size, stride, full, wanted in [
        (4, 3, False, [(0, 4), (3, 6)]),
        (4, 3, True, [(0, 4), (2, 6)]),
        (3, 3, False, [(0, 3), (3, 6)]),
        (9, 3, True, [(0, 6)]),
    ]:
        assert chunks.windows([0] * 6, size, stride, full) == wanted
    assert chunks.undo([[1, 2], [4, 6]], [(0, 2), (1, 3)], 3, True) == [1, 2, 6]
    assert chunks.undo([[1, 2], [4, 6]], [(0, 2), (1, 3)], 3, False) == [1, 3, 6]


def test_the_mask_of_attention_inputs_is_false_for_filling():
    row = [0, 0, 1, -1, -1]
    whole = [[True, True, False, False, False]] * 2 + [[False, False, True, False, False]] + [[False] * 5] * 2
    causal = [[one and b <= a for b, one in enumerate(line)] for a, line in enumerate(whole)]
    assert attention_inputs.mask(row, False) == whole
    assert attention_inputs.mask(row, True) == causal


def test_results_with_more_or_fewer_parts():
    for got, want in (({"a": 1, "b": 2}, {"a": 1}), ({}, {"a": 1}), ([1, 2], [1]), ([1], [1, 2]), ([], [None])):
        assert not agree(got, want, 0.0)
    assert agree({"a": [1, None]}, {"a": [1, None]}, 0.0)


def test_the_last_entries_of_each():
    assert levels.drop([[[[1], [2]], [[3]]], [[]]], 2) == [[[1, 2], [3]], [[]]]
    assert structure.sequence_reshape([[[1, 2]], [], [[1, 2], [3, 4]]], 2, 1) == [[[1, 2]], [], [[1, 2], [3, 4]]]
    filtered = window.sequence_conv([[[1.0]]], [[1.0], [10.0], [100.0]], 1, 3, -1, [[5.0], [7.0]], 0, 1)
    assert filtered == [[[715.0]]]
    assert gather.gather_nested([1, 2], [-1, 0, 2], 0, 9) == [9, 1, 9]
    assert gather.sequence_slice(RUNS_OF_TWO, [0] * 20, [1] * 20, 0) == [[2 * s] for s in range(20)]
    assert rank_table.shrink_memory("abc", 3, [5, 4, 3]) == ["a", "b"]
    assert [len(found) for found in position.by_position([*[[1]] * 18, [1, 2]], 0)] == [19, 1]
    assert axes.reduce_axis(sum, [[1], [2, 3]], 0, 2, ()) == [3, 3]
    assert shuffle.sample_places([[*range(5)]], [5], [0.9] * 5, 0) == [[4, 0, 1, 2, 3]]
    assert index.slice_along([*range(6)], 5, None, -2, 0) == [5, 3, 1]
    assert all(math.isnan(x) for column in ([NAN, 1.0], [1.0, NAN]) for x in softmax.softmax(column))
    assert softmax.cumsum([1] * 10) == [*range(1, 11)]
    assert matmul.softmax([]) == []
    assert group.match_keys([1], [2], "right") == ([2], [-1], [0])
    assert masks.merge_by_mask([*range(10)], [10, 11], [True] * 10 + [False] * 2, 0) == [*range(12)]
    assert recurrent_layers.run_cell(lambda one, state: (one, one), [*range(10)], None, True) == ([*range(10)], 0)
    assert chunk.chunks([0, 1, 2], 4, 4, "full") == [[0, 1, 2]]
    assert runs.sequence_rank([[7, 7, 3]], "ordinal", 0, False, 1, ()) == [[2, 3, 1]]
    assert rolling.sequence_rolling([[1.0]], 2, "sum", 0, 0, 0, 1, ()) == [[1.0]]
    assert tokens.sequence_enumerate([[1, 2, 3, 4]], 4, 0, 0, 1)[0][:2] == [[1, 2, 3, 4], [2, 3, 4, 0]]
    assert values.argwhere([0.0, NAN, 2.0], 1) == [[1], [2]]
    assert (fill([3], ()), fill([3], (1,))) == (3, [3])
