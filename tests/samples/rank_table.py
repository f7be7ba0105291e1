"""Samples of the operators that depend on the lengths of sequences."""

import numpy as np

import lodcore
from lodcore import DTypeError, LevelError, LoDError, LoDTensor, ShapeError, lod_rank_table
from reference.ops import rank_table as oracle
from tests.helpers.draw import ROW_SHAPES, composite, integers, lods, sampled_from
from tests.samples import Samples, call
from tests.samples.expand import FLOAT, NARROW, PLAIN, tame, tensors_of


@composite
def reorder_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    table = lod_rank_table(draw(lods(1, 1)))
    return call(draw(tensors_of(len(table), draw(integers(0, 3)), dtypes, row_shapes)), table)


def reordered(arguments):
    return oracle.reorder_by_rank(arguments["x"].tolist(), arguments["table"].indices.tolist())


@composite
def shrink_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    table = lod_rank_table(draw(lods(1, 1)))
    step = draw(integers(0, int(table.lengths.max(initial=0)) + 1))
    left = int((table.lengths > step).sum())
    x = draw(tensors_of(draw(integers(left, len(table))), draw(integers(0, 3)), dtypes, row_shapes))
    if getattr(x, "num_levels", 0) == 1 and sorted(x.lengths) == sorted(table.lengths[: len(x)]):
        x = lodcore.reorder_by_rank(x, lod_rank_table(x))  # the sequences of the table are in its order
    return call(x, draw(sampled_from([int, np.int8, np.array, lambda t: np.array([t])]))(step), table)


def shrunk(arguments):
    step = int(np.array(arguments["step"]).reshape(()))
    return oracle.shrink_memory(arguments["x"].tolist(), step, arguments["table"].lengths.tolist())


@composite
def table_calls(draw):
    lod = draw(lods(1, 3))
    level = draw(integers(-lod.num_levels, lod.num_levels - 1))
    return call(LoDTensor(np.zeros(lod.num_rows), lod), level)


def ranked(arguments):
    x, level = arguments["x"], arguments["level"]
    return oracle.lod_rank_table(x.tolist(), level % x.num_levels)


COSTS = """
lodcore.reorder_by_rank(x, lodcore.lod_rank_table(x))
ops.shrink_memory(e, 1, lodcore.lod_rank_table(x))
"""
SAMPLES = {
    "lod_rank_table": Samples(
        table_calls(),
        ranked,
        None,
        [
            ("lod_rank_table(flat, 1)", LevelError, "level.* 1"),
            ("lod_rank_table(flat, -2)", LevelError, "level.*-2"),
            ("lod_rank_table(3)", DTypeError, "x.*int"),
            ("lod_rank_table(rows)", DTypeError, "x.*ndarray"),
            ("lod_rank_table(None)", DTypeError, "x: is None"),
        ],
    ),
    "reorder_by_rank": Samples(
        reorder_calls(),
        reordered,
        reorder_calls(FLOAT, NARROW).map(tame),
        [
            ("reorder_by_rank(flat[:2], table)", LoDError, "table.*3.*2"),
            ("reorder_by_rank(rows[:3], RankTable([0, 1, 3], [1, 1, 1]))", IndexError, "3 at position 2.*3"),
            ("reorder_by_rank(objects, RankTable([0, 1], [1, 1]))", DTypeError, "object"),
            ("reorder_by_rank(rows, table)", LoDError, "table.*3.*5"),
            ("reorder_by_rank(flat, [2, 0, 1])", DTypeError, "table.*list"),
            ("reorder_by_rank(None, table)", DTypeError, "x: is None"),
            ("reorder_by_rank(np.array(1), table)", ShapeError, "x.*no axis"),
        ],
    ),
    "shrink_memory": Samples(
        shrink_calls(),
        shrunk,
        shrink_calls(FLOAT, NARROW).map(tame),
        [
            ("shrink_memory(flat, -1, table)", IndexError, "step.*-1"),
            ("shrink_memory(flat, np.array([-1]), table)", IndexError, "step.*-1"),
            ("shrink_memory(flat, np.array([0, 1]), table)", DTypeError, "step"),
            ("shrink_memory(flat, True, table)", DTypeError, "step.*True"),
            ("shrink_memory(flat, np.array(1.0), table)", DTypeError, "step"),
            ("shrink_memory(flat, -2**70, table)", IndexError, "step"),
            ("shrink_memory(flat, 1.0, table)", DTypeError, "step.*1.0"),
            ("shrink_memory(flat, None, table)", DTypeError, "step.*None"),
            ("shrink_memory(flat[:1], 0, table)", LoDError, "x.*1.*2"),
            ("shrink_memory(rows, 0, table)", LoDError, "x.*5.*3"),
            ("shrink_memory(flat, 0, flat)", DTypeError, "table.*LoDTensor"),
            (
                "shrink_memory(LoDTensor.from_lengths(rows, [2, 3]), 1, RankTable([0, 1, 2], [3, 2, 1]))",
                LoDError,
                "sequence 0 has",
            ),
            ("shrink_memory(np.zeros(4), 0, table)", LoDError, "x: has 4 sequences; 2 are longer than step 0, of 3"),
            ("shrink_memory(np.zeros(1), 0, table)", LoDError, "x: has 1 sequences; 2 are longer than step 0, of 3"),
        ],
    ),
}
