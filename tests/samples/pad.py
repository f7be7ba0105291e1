"""Samples of the operators that pad."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, ShapeError
from reference.ops import pad as oracle
from tests.helpers.draw import (
    NUMBERS,
    ROW_SHAPES,
    composite,
    integers,
    lengths,
    lod_tensors,
    odd_forms,
    read_only,
    sampled_from,
    values,
)
from tests.samples import Samples, call
from tests.samples.expand import FLOAT, NARROW, PLAIN, tame


@composite
def pad_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES, as_tensor=False):
    x = draw(lod_tensors(max_levels=3, dtypes=dtypes, row_shapes=row_shapes, most=5))
    longest = int(x.lod.lengths(-1).max(initial=0))
    shape = draw(sampled_from([(), (1,), x.values.shape[1:]]))
    filling = draw(values(1, [x.dtype], [shape]))[0] if shape else draw(values(1, [x.dtype], [()])).reshape(())
    options = {"maxlen": draw(sampled_from([None, longest, longest + 2]))}
    if as_tensor or draw(st.booleans()):
        options["pad_value"] = filling
    if draw(st.booleans()):
        options["level"] = draw(sampled_from([-1, x.num_levels - 1]))
    return call(x, **options)


def padded(arguments):
    x, filling = arguments["x"], arguments["pad_value"]
    row = np.zeros((1, *x.values.shape[1:]), x.dtype)
    if type(filling) is not float:
        row[...] = filling
    return oracle.sequence_pad(x.tolist(), row.tolist()[0], arguments["maxlen"], x.num_levels)


@composite
def unpad_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    sizes = draw(lengths(most=5, longest=4))
    maxlen = max(sizes, default=0) + draw(integers(0, 2))
    rows = draw(values(len(sizes) * maxlen, dtypes, row_shapes))
    x = read_only(rows.reshape(len(sizes), maxlen, *rows.shape[1:]))
    if sizes and draw(integers(0, 5)) == 0:
        return call(x, np.int8(sizes[0]) if sizes[0] < 100 else sizes[0])
    return call(x, draw(odd_forms(sizes)) if sizes else sizes)


def unpadded(arguments):
    sizes = np.broadcast_to(np.array(arguments["length"], np.int64).reshape(-1), len(arguments["x"]))
    return oracle.sequence_unpad(arguments["x"].tolist(), sizes.tolist())


@composite
def mask_calls(draw):
    shape = draw(sampled_from([(), (3,), (2, 1), (0,), (2, 0), (1, 2, 2)]))
    random = np.random.default_rng(draw(integers(0, 2**32)))
    drawn = random.integers(0, 6, shape).astype(draw(sampled_from(["i8", "u1", "i4", ">i2"])))
    sizes = draw(sampled_from([drawn, drawn.tolist() if shape != (2, 0) else drawn]))
    dtype = draw(sampled_from([bool, *NUMBERS, "c8"]))
    return call(read_only(sizes) if isinstance(sizes, np.ndarray) else sizes, draw(sampled_from([None, 0, 4])), dtype)


def masked(arguments):
    sizes = np.array(arguments["lengths"], np.int64)
    maxlen = int(sizes.max(initial=0)) if arguments["maxlen"] is None else arguments["maxlen"]
    return oracle.sequence_mask(sizes.tolist(), maxlen)


COSTS = """
lodcore.sequence_pad(short)
lodcore.sequence_unpad(*lodcore.sequence_pad(short))
lodcore.sequence_mask(short.lengths)
"""
SAMPLES = {
    "sequence_pad": Samples(
        pad_calls(),
        padded,
        pad_calls(FLOAT, NARROW, as_tensor=True).map(tame),
        [
            ("sequence_pad(flat, maxlen=2)", ValueError, "maxlen: is 2; the longest sequence has 3 rows"),
            ("sequence_pad(flat, maxlen=-1)", ValueError, "maxlen: is -1"),
            ("sequence_pad(flat, maxlen=4.0)", DTypeError, "maxlen: is 4.0"),
            ("sequence_pad(flat, maxlen=2**62)", MemoryError, None),
            ("sequence_pad(x, 0, level=0)", LevelError, "level: is 0; only the last of 2 levels"),
            ("sequence_pad(x, 0, level=2)", LevelError, "level.*2"),
            ("sequence_pad(LoDTensor(rows, LoD.from_offsets(num_rows=5)))", LevelError, "-1"),
            ("sequence_pad(flat, 0.5)", DTypeError, "pad_value: is 0.5; int64"),
            ("sequence_pad(flat, [1, 2])", ShapeError, r"pad_value: has shape \(2,\)"),
            ("sequence_pad(wide, [1, 2, 3])", ShapeError, r"pad_value: has shape \(3,\).*\(2,\)"),
            ("sequence_pad(flat, 'a')", DTypeError, "pad_value: is 'a'; int64"),
            ("sequence_pad(wide, None)", DTypeError, "pad_value: is None"),
            ("sequence_pad(rows)", DTypeError, "x: .*ndarray"),
            ("sequence_pad(flat, out=np.zeros((3, 3)))", DTypeError, "out.*float64"),
            ("sequence_pad(flat, out=np.zeros((3, 2), int))", ShapeError, r"out.*\(3, 2\).*\(3, 3\)"),
            ("sequence_pad(flat, [[1], [2, 3]])", ShapeError, "pad_value: is nested unevenly"),
        ],
    ),
    "sequence_unpad": Samples(
        unpad_calls(),
        unpadded,
        unpad_calls(FLOAT, NARROW).map(tame),
        [
            ("sequence_unpad(dense, [1, 5, 2])", IndexError, "length: is 5 for sequence 1; its line has 4 rows"),
            ("sequence_unpad(dense, [1, -1, 2])", IndexError, "length: is -1 for sequence 1"),
            ("sequence_unpad(dense, [2**62, 2**62, 2**62])", IndexError, "length: is 4611686018427387904 for sequence"),
            ("sequence_unpad(dense, 5)", IndexError, "length: is 5 for sequence 0"),
            ("sequence_unpad(dense, [1, 2])", ShapeError, "length: has 2 entries; there are 3"),
            ("sequence_unpad(dense, [1.0, 2.0, 0.0])", DTypeError, "length: has dtype float64"),
            ("sequence_unpad(rows, [1])", ShapeError, r"x: has shape \(5,\)"),
            ("sequence_unpad(flat, [1])", DTypeError, "x: is a LoDTensor"),
            ("sequence_unpad(np.zeros((1, 2), object), [1])", DTypeError, "x: .*object"),
            ("sequence_unpad(dense, 1, out=np.zeros(4))", ShapeError, r"out.*\(4,\).*\(3,\)"),
            ("sequence_unpad(dense, 4, out=dense.reshape(-1))", ValueError, "out.*overlaps"),
            ("sequence_unpad(dense, [1, 5, 9])", IndexError, "length: is 5 for sequence 1; its line has 4 rows"),
            ("sequence_unpad(dense, [1, -1, -9])", IndexError, "length: is -1 for sequence 1;"),
        ],
    ),
    "sequence_mask": Samples(
        mask_calls(),
        masked,
        None,
        [
            ("sequence_mask([1, -1])", IndexError, "lengths: is -1 for sequence 1"),
            ("sequence_mask([1, -2**63], 3)", IndexError, "lengths: is -9223372036854775808 for sequence 1"),
            ("sequence_mask([1.0])", DTypeError, "lengths: has dtype float64"),
            ("sequence_mask(np.zeros(0))", DTypeError, "lengths: has dtype float64"),
            ("sequence_mask(None)", DTypeError, "lengths: is None"),
            ("sequence_mask([[1], [2, 3]])", ShapeError, "lengths: is nested unevenly"),
            ("sequence_mask(flat)", DTypeError, "lengths: is a LoDTensor"),
            ("sequence_mask([1], -1)", ValueError, "maxlen: is -1"),
            ("sequence_mask([1], 2.0)", DTypeError, "maxlen: is 2.0"),
            ("sequence_mask([1], 2**62)", MemoryError, None),
            ("sequence_mask([2**62])", MemoryError, None),
            ("sequence_mask([1], 2**70)", MemoryError, None),
            ("sequence_mask([1], 2, 'S1')", DTypeError, r"dtype: is \|S1"),
            ("sequence_mask([1], 2, object)", DTypeError, "dtype: is object"),
            ("sequence_mask([1], 2, None)", DTypeError, "dtype: is None"),
            ("sequence_mask([1], 2, 'nonsense')", DTypeError, "nonsense"),
            ("sequence_mask([1], np.array([2]))", DTypeError, "maxlen: is array"),
            ("sequence_mask([3, -1, -9])", IndexError, "lengths: is -1 for sequence 1;"),
            ("sequence_mask([[3, 1], [-1, -9]])", IndexError, "lengths: is -1 for sequence 2;"),
        ],
    ),
}
