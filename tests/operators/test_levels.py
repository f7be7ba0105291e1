"""Levels one beyond the first and the last, for all functions with a level: always the same error."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, IndicesMap, LevelError, LoD, LoDError, LoDTensor, RankTable, ops
from lodcore.operators.registry import OPS
from lodcore.testing.rules import described
from lodcore.testing.samples import Sample, sample_of, tensors_of
from tests.helpers.draw import at_most, lods
from tests.helpers.tables import for_each
from tests.samples import SAMPLES

NAMES = {
    name: next(one for one in ("level", "ref_level") if one in OPS[name].parameters)
    for name in sorted(SAMPLES)
    if {"level", "ref_level"} & set(OPS[name].parameters)
}
#: The level is known at run time: it is that of the map.
LATER = {"tensor_array_pack"}
BEYOND = [0, 1, 2**62, 2**70]
NO_LEVELS = [(1.5, DTypeError), ("a", DTypeError), ([0], DTypeError)]


def test_many_operators_take_a_level():
    assert len(NAMES) > 40


def test_level_of_counts_from_the_first_and_refuses_what_has_no_levels():
    for of in (lodcore.array([[[1]]]), lodcore.array([[[1]]]).lod, 2):
        assert [ops.level_of("f", of, level) for level in (0, -1)] == [0, 1]
    for of in ([[1]], None, "x"):
        with pytest.raises(DTypeError, match=f"^level_of: of: is {type(of).__name__}; a LoD, LoDTensor, Spec or int"):
            ops.level_of("f", of, 0)


@pytest.mark.twins
@pytest.mark.parametrize("name", NAMES)
@at_most(4)
@given(data=st.data())
def test_operators_refuse_levels_out_of_range(name, data):
    op, sample = OPS[name], sample_of(data.draw(SAMPLES[name].calls))
    levels = max([x.num_levels for x in tensors_of(sample) if isinstance(x, LoDTensor)], default=1)
    arguments = op.bind(sample.args, {key: x for key, x in sample.kwargs.items() if key != "out"})
    lod_levels = [x.num_levels for x in arguments.values() if isinstance(x, LoD)]
    lod_levels += [x.lod.num_levels for x in arguments.values() if isinstance(x, (IndicesMap, RankTable))]
    most = max([levels, *lod_levels]) + (name == "insert_level")  # insert_level makes one more
    beyond = [level for far in BEYOND for level in (most + far, -most - 1 - far)]
    for wrong, error in [*((level, LevelError) for level in beyond), *NO_LEVELS]:
        call = Sample((), {**arguments, NAMES[name]: wrong})
        with pytest.raises(LoDError if error is LevelError and name in LATER else error):
            op(**call.kwargs)
        if name not in LATER or error is not LevelError:
            with pytest.raises(error):
                op.infer_arguments(described(op, call)[0])


METHODS = {
    "num_sequences": lambda lod, level: lod.num_sequences(level),
    "offsets": lambda lod, level: lod.offsets(level),
    "row_offsets": lambda lod, level: lod.row_offsets(level),
    "lengths": lambda lod, level: lod.lengths(level),
    "segment_ids": lambda lod, level: lod.segment_ids(level),
    "positions": lambda lod, level: lod.positions(level),
    "take": lambda lod, level: lod.take([], level),
    "slice": lambda lod, level: lod.slice(0, 0, level),
    "drop": lambda lod, level: lod.drop(level),
    "flatten": lambda lod, level: LoDTensor(np.zeros((lod.num_rows, 1)), lod).flatten(level),
    "per_sequence": lambda lod, level: LoDTensor(np.zeros(lod.num_rows), lod).per_sequence([], level),
}


@pytest.mark.parametrize("name", METHODS)
@given(lods(1, 4), st.sampled_from([0, 1, 2**62, 2**70]))
def test_levels_that_a_lod_has_not(name, lod, beyond):
    for level in (lod.num_levels + beyond, -lod.num_levels - 1 - beyond):
        there = "is 1 level" if lod.num_levels == 1 else f"are {lod.num_levels} levels"
        with pytest.raises(LevelError, match=f"level: is {level}; there {there}"):
            METHODS[name](lod, level)


def wrapped(x, times=1):
    """Put the whole batch into one sequence, several times."""
    for _ in range(times):
        x = ops.insert_level(x, 0, whole=True)
    return x


TWO = lodcore.array([[[1.5, 2.5], []], [[3.0, 7.0, 2.0]], [[4.0], [5.0]]])

MASKS = [True, False, True], [True, False, True, False, True]

INSIDE = {  # of a tensor and a level: operators whose result is the same inside of coarser levels
    "sort": lambda x, k: lodcore.sequence_sort(x, k),
    "topk": lambda x, k: lodcore.sequence_topk(x, 1, k)[0],
    "places of topk": lambda x, k: lodcore.sequence_topk(x, 1, k)[1],
    "argsort": lambda x, k: lodcore.sequence_argsort(x, k),
    "rank": lambda x, k: lodcore.sequence_rank(x, "dense", k),
    "unique": lambda x, k: lodcore.sequence_unique(x, k),
    "inverse": lambda x, k: lodcore.sequence_unique_all(x, k)[2],
    "cumsum": lambda x, k: lodcore.sequence_cumsum(x, k),
    "softmax": lambda x, k: lodcore.sequence_softmax(x, k),
    "rolling": lambda x, k: lodcore.sequence_rolling(x, 2, level=k),
    "shift": lambda x, k: lodcore.sequence_shift(x, 1, level=k),
    "average": lambda x, k: lodcore.sequence_moving_average(x, 0.5, level=k),
    "accumulate": lambda x, k: lodcore.sequence_accumulate(x, np.maximum, k),
    "reverse": lambda x, k: lodcore.sequence_reverse(x, k),
    "slice": lambda x, k: lodcore.sequence_slice(x, 0, 0, k),
    "drawn": lambda x, k: ops.sample_places(x, 0, 1, k),
    "shuffled": lambda x, k: lodcore.sequence_shuffle(x, 0, k),
    "positions": lambda x, k: lodcore.lod_positions(x, k),
    "windows": lambda x, k: lodcore.sliding_window(x, 2),
    "runs": lambda x, k: lodcore.run_lengths(x)[1],
    "differences": lambda x, k: lodcore.sequence_diff(x),
    "erased": lambda x, k: lodcore.sequence_erase(x.astype(int), [2]),
    "reshaped": lambda x, k: lodcore.sequence_reshape(x, 1),
    "repeated": lambda x, k: lodcore.repeat_runs(x, x.astype(int)),
    "by position": lambda x, k: ops.by_position(x, k % x.num_levels),
    "pooled positions": lambda x, k: ops.pool_positions(x, "sum"),
    "matmul": lambda x, k: lodcore.sequence_matmul(
        x.with_values(x.values[:, None]), x.with_values(x.values[:, None]), True, k
    ),
    "searched": lambda x, k: lodcore.sequence_searchsorted(lodcore.sequence_sort(x), x),
    "interpolated": lambda x, k: lodcore.sequence_interp(x, lodcore.sequence_sort(x), x),
    "lengths": lambda x, k: lodcore.lod_num(x, -1),
    "of a LoD": lambda x, k: lodcore.lod_reset(x.values, x.lod),
    "appended": lambda x, k: lodcore.lod_append(x, lengths=np.ones(x.num_rows, int)),
    "concat": lambda x, k: lodcore.sequence_concat([x, x, x], k),
    "quantile": lambda x, k: lodcore.sequence_quantile(x, 0.5, level=-1),
    "true side": lambda x, k: lodcore.split_by_mask(x, MASKS[k % x.num_levels - x.num_levels + 2], k)[0],
    "false side": lambda x, k: lodcore.split_by_mask(x, MASKS[k % x.num_levels - x.num_levels + 2], k)[1],
}

#: Operators with a result of fewer levels, and the outermost level, which stands for the batch itself.
OUTER = {"by position", "true side", "false side", "concat"}


@pytest.mark.not_on_reference
@for_each(("name", "level"), [(name, level) for name in INSIDE for level in (-1, -2)])
def test_operators_on_an_inner_level_keep_all_coarser_levels(name, level):
    """With one and with two levels more, of two sequences each: four and five in all."""
    call = INSIDE[name]
    wanted = wrapped(call(wrapped(TWO), level)) if name in OUTER and level == -2 else wrapped(call(TWO, level), 2)
    if name not in OUTER or level == -1:
        assert call(wrapped(TWO, 2), level).equals(wanted)
        assert call(wrapped(TWO, 2), level + TWO.num_levels + 2).equals(wanted)
        wanted = wrapped(wanted)
    else:
        wanted = wrapped(call(wrapped(TWO), level), 2)
    assert call(wrapped(TWO, 3), level).equals(wanted)
    assert call(wrapped(TWO, 3), level + TWO.num_levels + 3).equals(wanted)


@pytest.mark.not_on_reference
def test_merge_by_mask_after_split_by_mask_keeps_coarser_levels():
    for level, times in itertools.product((-1, -2), (2, 3)):
        x, mask = wrapped(TWO, times), MASKS[level + 2]
        assert lodcore.merge_by_mask(*lodcore.split_by_mask(x, mask, level), mask, level).equals(x)
