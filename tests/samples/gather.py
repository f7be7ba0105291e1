"""Samples of the operators that select sequences, and rows by nested numbers."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError
from reference.ops import gather as oracle
from reference.ops.levels import sequences
from tests.helpers.agree import from_the_first
from tests.helpers.draw import (
    ROW_SHAPES,
    composite,
    indices,
    integers,
    lengths,
    lod_tensors,
    lods,
    odd_forms,
    read_only,
    running_sum,
    sampled_from,
    values,
)
from tests.samples import Samples, call
from tests.samples.common import SEEDS
from tests.samples.expand import FLOAT, NARROW, PLAIN, levels_of, lods_of, tame, tensors_of


@composite
def nested_gather_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    levels = draw(integers(0, 2))
    x = draw(tensors_of(draw(integers(1, 5)), levels, dtypes, row_shapes))
    default = draw(sampled_from([None, [] if levels else 1]))
    if default == 1 and x.dtype.kind not in "iufc":
        default = None
    least, most = (-len(x), len(x) - 1) if default is None else (-3, len(x) + 3)
    random = np.random.default_rng(draw(SEEDS))
    if draw(st.booleans()):
        lod = draw(lods(1, 2, 4))
        numbers = random.integers(least, most + 1, lod.num_rows).astype(draw(sampled_from(["i8", "i4"])))
        return call(x, LoDTensor(read_only(numbers), lod), default)
    numbers = random.integers(least, most + 1, draw(integers(0, 5)))
    return call(x, draw(odd_forms(numbers)) if len(numbers) else numbers, default)


def filled(default, row_shape):
    """Make a row of one number."""
    return [filled(default, row_shape[1:])] * row_shape[0] if row_shape else default


def gathered_nested(arguments):
    x, index, default = arguments["x"], arguments["index"], arguments["default"]
    if default == 1:
        default = filled(np.ones((), x.dtype).item(), x.shape[1:])
    nested = index.tolist() if isinstance(index, LoDTensor) else np.ravel(index).tolist()
    return oracle.gather_nested(x.tolist(), nested, getattr(index, "num_levels", 0), default)


@composite
def gather_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    x = draw(lod_tensors(max_levels=3, dtypes=dtypes, row_shapes=row_shapes, most=5))
    level = draw(levels_of(x.num_levels))
    index = draw(indices(x.lod.num_sequences(level), most=6))
    return call(x, draw(odd_forms(index)) if index else index, level)


def gathered(arguments):
    x = arguments["x"]
    index = np.array(arguments["index"], np.int64).reshape(-1)
    return oracle.gather_sequences(x.tolist(), index, from_the_first(arguments["level"], x.lod))


@composite
def concat_batches_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    num_levels, dtype = draw(integers(1, 3)), draw(sampled_from(dtypes))
    shape = draw(sampled_from(row_shapes))
    counts = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    found = [draw(lods_of(count, num_levels)) for count in counts]
    return call([LoDTensor(draw(values(lod.num_rows, [dtype], [shape])), lod) for lod in found])


def joined_batches(arguments):
    return oracle.concat_batches([x.tolist() for x in arguments["xs"]])


@composite
def concat_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    dtype, shape = draw(sampled_from(dtypes)), draw(sampled_from(row_shapes))
    k, finer = draw(integers(0, 2)), draw(integers(0, 1))
    common = draw(lods_of(draw(integers(0, 3)), k))
    batches = []
    for _ in range(draw(integers(1, 3))):
        own = [running_sum(draw(lengths(count=common.num_rows, longest=3)))]
        for _ in range(finer):
            own.append(running_sum(draw(lengths(count=own[-1][-1], longest=2))))
        lod = LoD.from_offsets(*(common.offsets(j) for j in range(k)), *own)
        batches.append(LoDTensor(draw(values(lod.num_rows, [dtype], [shape])), lod))
    return call(batches, draw(sampled_from([k, k - (k + 1 + finer)])))


def joined(arguments):
    xs = arguments["xs"]
    return oracle.sequence_concat([x.tolist() for x in xs], from_the_first(arguments["level"], xs[0].lod))


@composite
def slice_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    x = draw(lod_tensors(max_levels=3, dtypes=dtypes, row_shapes=row_shapes, most=5))
    level = draw(levels_of(x.num_levels))
    sizes = x.lod.lengths(level).tolist()
    offset = [draw(integers(0, size)) for size in sizes]
    length = [draw(integers(0, size - first)) for size, first in zip(sizes, offset, strict=True)]
    return call(x, *(draw(odd_forms(vector)) if vector else vector for vector in (offset, length)), level)


def sliced(arguments):
    x = arguments["x"]
    level = from_the_first(arguments["level"], x.lod)
    vectors = [np.array(arguments[name], np.int64).reshape(-1).tolist() for name in ("offset", "length")]
    assert len(sequences(x.tolist(), level)) == len(vectors[0])
    return oracle.sequence_slice(x.tolist(), *vectors, level)


COSTS = """
lodcore.concat_batches([x, x])
lodcore.sequence_concat([x, x])
lodcore.gather_nested(np.arange(5.0), i % 5)
lodcore.gather_sequences(x, [*range(k)][::-1])
lodcore.sequence_slice(x, 0 * ls, ls)
"""
SAMPLES = {
    "gather_sequences": Samples(
        gather_calls(),
        gathered,
        gather_calls(FLOAT, NARROW).map(tame),
        [
            ("gather_sequences(x, [0, 3])", IndexError, "index.*3 at position 1.*3"),
            ("gather_sequences(x, [3])", IndexError, "index.*3 at position 0.*3"),
            ("gather_sequences(x, [0, -4])", IndexError, "index.*-4 at position 1.*3"),
            ("gather_sequences(x, [3], 1)", IndexError, "index.*3 at position 0.*3"),
            ("gather_sequences(x, [-2**63])", IndexError, "-9223372036854775808 at position 0"),
            ("gather_sequences(x, [2**63 - 1])", IndexError, "9223372036854775807 at position 0"),
            ("gather_sequences(x, np.uint8([255]))", IndexError, "255 at position 0"),
            ("gather_sequences(x[:0], [0])", IndexError, "index.*0 at position 0.*0"),
            ("gather_sequences(rows, [0])", DTypeError, "x.*ndarray"),
            ("gather_sequences(None, [0])", DTypeError, "x: is None"),
            ("gather_sequences(lod, [0])", DTypeError, "x.*LoD"),
            ("gather_sequences(LoDTensor(rows, LoD.from_offsets(num_rows=5)), [0])", LevelError, "0"),
            (
                "gather_sequences(LoDTensor.from_lengths(np.empty((2**40, 0)), [2**40]), np.zeros(2**23, int))",
                MemoryError,
                "8388607",
            ),
            (
                "gather_sequences(LoDTensor.from_lengths(np.zeros((2**16, 2)), [2**16]), np.zeros(2**22, int))",
                MemoryError,
                None,
            ),
            (
                "gather_sequences(LoDTensor.from_lengths(np.empty((2**40, 0)), [2**40]), np.zeros(2**22 + 1, int))",
                MemoryError,
                None,
            ),
            ("gather_sequences(flat, [0], 5)", LevelError, "gather_sequences: level: is 5; there is 1 level"),
            ("gather_sequences(flat, [0], np.array([0]))", DTypeError, "gather_sequences: level: is array"),
        ],
    ),
    "concat_batches": Samples(
        concat_batches_calls(),
        joined_batches,
        concat_batches_calls(FLOAT, NARROW).map(tame),
        [
            ("concat_batches([flat, x])", LoDError, "batch 1.*2 levels.*1"),
            ("concat_batches([flat, wide])", DTypeError, r"xs\[1\]: has dtype float64; xs\[0\] has int64"),
            (
                "concat_batches([wide, LoDTensor(np.zeros((5, 1)), flat.lod)])",
                ShapeError,
                r"xs\[1\].*rows of shape \(1,\)",
            ),
            ("concat_batches([])", LoDError, "xs"),
            ("concat_batches(None)", (LoDError, DTypeError), "xs"),
            ("concat_batches(3)", (LoDError, DTypeError), "xs"),
            ("concat_batches([flat, rows])", DTypeError, r"xs\[1\].*ndarray"),
            ("concat_batches([flat, None])", DTypeError, r"xs\[1\].*NoneType"),
            (
                "concat_batches([flat, LoDTensor(np.zeros((5, 1), int), flat.lod)])",
                ShapeError,
                r"xs\[1\].*\(1,\).*\(\)",
            ),
            ("concat_batches([flat, flat, [['a']], [[None]]])", DTypeError, "concat_batches: xs"),
            ("concat_batches([[[1]], [[1, [2]]], [[None]]])", ShapeError, r"concat_batches: xs\[1\]: entry 1"),
        ],
    ),
    "sequence_concat": Samples(
        concat_calls(),
        joined,
        concat_calls(FLOAT, NARROW).map(tame),
        [
            ("sequence_concat([])", LoDError, "xs: is empty"),
            ("sequence_concat(None)", DTypeError, "xs.*NoneType"),
            ("sequence_concat(flat)", DTypeError, "xs.*LoDTensor"),
            ("sequence_concat([flat, x])", LoDError, r"xs\[1\]: has 2 levels; xs\[0\] has 1"),
            ("sequence_concat([flat, flat[:2]])", LoDError, r"xs\[1\]: has 2 sequences at level 0; xs\[0\] has 3"),
            (
                "sequence_concat([x, x[::1], gather_sequences(x, [0, 2, 1])])",
                LoDError,
                r"xs\[2\]: sequence 1 of level 0",
            ),
            ("sequence_concat([flat, wide])", DTypeError, r"xs\[1\]: has dtype float64; xs\[0\] has int64"),
            ("sequence_concat([flat, LoDTensor(np.zeros((5, 1), int), flat.lod)])", ShapeError, r"xs\[1\].*\(1,\)"),
            ("sequence_concat([flat, rows])", DTypeError, r"xs\[1\].*ndarray"),
            ("sequence_concat([x, x], 2)", LevelError, "level.*2.*2"),
            ("sequence_concat([flat, flat], out=flat.values)", ShapeError, r"out: shape \(5,\).*\(10,\)"),
            (
                "sequence_concat([LoDTensor.from_lengths(np.empty((2**62, 0), 'i1'), [2**62])] * 2)",
                MemoryError,
                "9223372036854775808",
            ),
        ],
    ),
    "sequence_slice": Samples(
        slice_calls(),
        sliced,
        slice_calls(FLOAT, NARROW).map(tame),
        [
            ("sequence_slice(flat, [0, 1, 0], 0)", IndexError, "offset, length.*1, 0 for sequence 1.*0"),
            ("sequence_slice(flat, [0, 0, 2], [2, 0, 2])", IndexError, "offset, length.*2, 2 for sequence 2.*3"),
            ("sequence_slice(flat, [-1, 0, 0], 0)", IndexError, "offset, length.*-1, 0 for sequence 0"),
            ("sequence_slice(flat, 0, [0, 0, -1])", IndexError, "offset, length.*0, -1 for sequence 2"),
            ("sequence_slice(flat, 2**63 - 1, 2**63 - 1)", IndexError, "for sequence 0"),
            ("sequence_slice(flat, [1, 0, 0], [2**63 - 1, 0, 0])", IndexError, "for sequence 0"),
            ("sequence_slice(flat, -2**63, 0)", IndexError, "-9223372036854775808.*sequence 0"),
            ("sequence_slice(flat, 2**70, 0)", IndexError, "offset.*1180591620717411303424"),
            ("sequence_slice(flat, 0, 1)", IndexError, "for sequence 1.*0"),
            ("sequence_slice(flat, [0, 0], 0)", ShapeError, "offset.*2.*3"),
            ("sequence_slice(flat, 0, [0, 0, 0, 0])", ShapeError, "length.*4.*3"),
            ("sequence_slice(flat, 0.0, 0)", DTypeError, "offset.*float64"),
            ("sequence_slice(flat, 0, None)", DTypeError, "length: is None"),
            ("sequence_slice(flat, 0, '1')", DTypeError, "length"),
            ("sequence_slice(flat, True, 0)", DTypeError, "offset.*bool"),
            ("sequence_slice(rows, 0, 0)", DTypeError, "x.*ndarray"),
        ],
    ),
    "gather_nested": Samples(
        nested_gather_calls(),
        gathered_nested,
        nested_gather_calls(FLOAT, [(), (2,), (0,)]).map(tame),
        [
            ("gather_nested(rows, [0, 5])", IndexError, "index: is 5 at position 1; there are 5 rows"),
            ("gather_nested(flat, [[0], [-4]])", IndexError, "index: is -4 at position 1; there are 3 sequences"),
            ("gather_nested(rows, [0.5])", DTypeError, "index: has dtype float64"),
            ("gather_nested(rows, [0], default='a')", DTypeError, "default: is 'a'; int64 cannot hold it"),
            ("gather_nested(flat, [0], default=0)", DTypeError, "default: is 0; x has levels"),
            ("gather_nested(None, [0])", DTypeError, "x: is None"),
            ("gather_nested(rows, [1, -7, 9])", IndexError, "index: is -7 at position 1; there are 5 rows"),
            ("gather_nested(flat, [1, 9, -7])", IndexError, "index: is 9 at position 1; there are 3 sequences"),
        ],
    ),
}
