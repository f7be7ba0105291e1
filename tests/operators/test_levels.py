"""Levels one beyond the first and the last, for all functions with a level: always the same error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import DTypeError, IndicesMap, LevelError, LoD, LoDError, LoDTensor, RankTable
from lodcore.operators.registry import OPS
from lodcore.testing.rules import described
from lodcore.testing.samples import Sample, sample_of, tensors_of
from tests.helpers.draw import at_most, lods
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


@pytest.mark.twins
@pytest.mark.parametrize("name", NAMES)
@at_most(4)
@given(data=st.data())
def test_levels_that_are_not_there(name, data):
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
