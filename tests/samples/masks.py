"""Samples of the operators that split and merge by a mask."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDError, LoDTensor, ShapeError, split_by_mask
from reference.ops import masks as oracle
from tests.helpers.agree import from_the_first
from tests.helpers.draw import ROW_SHAPES, composite, integers, lod_tensors, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.expand import FLOAT, NARROW, PLAIN, levels_of, tame


@composite
def masked_tensors(draw, dtypes, row_shapes):
    """Draw a tensor, a mask in one of its forms, and a level."""
    x = draw(lod_tensors(max_levels=3, dtypes=dtypes, row_shapes=row_shapes, most=5))
    if draw(integers(0, 4)) == 0:
        x, level, count = x.values, draw(sampled_from([0, -1])), len(x.values)
    else:
        level = draw(levels_of(x.num_levels))
        count = x.lod.num_sequences(level)
    mask = read_only(np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool))
    forms = [mask, mask.tolist(), mask.reshape(-1, 1), np.repeat(mask, 2)[::2]]
    if count and (mask == mask[0]).all():
        forms += [mask[0], bool(mask[0])]
    return x, draw(sampled_from(forms)), level


@composite
def split_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    return call(*draw(masked_tensors(dtypes, row_shapes)))


def the_level(x, level):
    return from_the_first(level, x.lod) if isinstance(x, LoDTensor) else 0


def chosen(mask, count):
    return np.broadcast_to(np.array(mask, bool).reshape(-1), count).tolist()


def divided(arguments):
    x, level = arguments["x"], the_level(arguments["x"], arguments["level"])
    count = x.lod.num_sequences(level) if isinstance(x, LoDTensor) else len(x)
    return oracle.split_by_mask(x.tolist(), chosen(arguments["mask"], count), level)


@composite
def merge_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    x, mask, level = draw(masked_tensors(dtypes, row_shapes))
    sides = split_by_mask(x, mask, level)
    for side in sides:
        read_only(side.values if isinstance(side, LoDTensor) else side)
    return call(*sides, mask, level)


def merged(arguments):
    true, false = arguments["when_true"], arguments["when_false"]
    level = the_level(true, arguments["level"])
    counts = [x.lod.num_sequences(level) if isinstance(x, LoDTensor) else len(x) for x in (true, false)]
    return oracle.merge_by_mask(true.tolist(), false.tolist(), chosen(arguments["mask"], sum(counts)), level)


MASK_ERRORS = [
    ("split_by_mask(flat, [True, False])", ShapeError, r"mask: has 2 entries; there are 3 sequences"),
    ("split_by_mask(flat, [[True, False, True]])", ShapeError, r"mask: has shape \(1, 3\)"),
    ("split_by_mask(flat, [1, 0, 1])", DTypeError, "mask: has dtype int64; bool"),
    ("split_by_mask(flat[:0], np.zeros(0))", DTypeError, "mask: has dtype float64; bool"),
    ("split_by_mask(flat[:1], [[True, True]])", ShapeError, r"mask: has shape \(1, 2\)"),
    ("split_by_mask(flat, [True])", ShapeError, "mask: has 1 entries; there are 3 sequences"),
    ("split_by_mask(flat, np.ma.array([True, False, True]))", DTypeError, "mask: is a masked array"),
    ("split_by_mask(flat, None)", DTypeError, "mask: is None"),
    ("split_by_mask(flat, flat)", DTypeError, "mask: is LoDTensor"),
    ("split_by_mask(x, True, 2)", LevelError, "level.*2.*2"),
    ("split_by_mask(rows, True, 1)", LevelError, "level: is 1; x has no levels"),
    ("split_by_mask(None, True)", DTypeError, "x: .*None"),
]

COSTS = """
lodcore.merge_by_mask(*lodcore.split_by_mask(x, m), m)
"""
SAMPLES = {
    "split_by_mask": Samples(split_calls(), divided, split_calls(FLOAT, NARROW).map(tame), MASK_ERRORS),
    "merge_by_mask": Samples(
        merge_calls(),
        merged,
        merge_calls(FLOAT, NARROW).map(tame),
        [
            ("merge_by_mask(flat, x, True)", LoDError, "when_false: has 2 levels; when_true has 1"),
            ("merge_by_mask(flat, rows, True)", LoDError, "when_true: has 1 level; the other side has none"),
            ("merge_by_mask(flat, wide, True)", DTypeError, "when_false: has dtype float64; when_true has int64"),
            ("merge_by_mask(rows, rows.reshape(5, 1), True)", ShapeError, r"when_false: .*\(1,\); .*\(\)"),
            (
                "merge_by_mask(flat, flat[:1], [True, False])",
                ShapeError,
                r"mask: has 2 entries; when_true has 3 sequences and when_false 1",
            ),
            ("merge_by_mask(flat, flat[:1], True)", LoDError, "mask: is true 4 times; when_true has 3 sequences"),
            ("merge_by_mask(rows, rows, [True] * 4 + [False] * 6)", LoDError, "mask: is true 4 times; when_true has 5"),
            ("merge_by_mask(flat, flat, [1] * 6)", DTypeError, "mask: has dtype int64"),
            ("merge_by_mask(x, x, [True] * 6, 1)", LoDError, "mask: is true 3 times|mask: is true .* in sequence 0"),
            (
                "merge_by_mask(x, x[:2], [True] * 3 + [False] * 2, 1)",
                LoDError,
                "when_false: has 2 sequences at level 0; when_true has 3",
            ),
            (
                "merge_by_mask(x, x, [True] * 3 + [False] * 3, 1)",
                LoDError,
                "mask: is true 3 times in sequence 0 of level 0; when_true has 2 there",
            ),
            ("merge_by_mask(x, x, [True, False] * 3, 2)", LevelError, "level.*2.*2"),
            ("merge_by_mask(rows, flat, True)", LoDError, "when_false: has 1 level; the other side has none"),
            (
                "merge_by_mask(rows, wide.values.astype(int), True)",
                ShapeError,
                r"when_false: has rows of shape \(2,\); .* \(\)",
            ),
            (
                "merge_by_mask(wide, wide[:, :, :1], True)",
                ShapeError,
                r"when_false: has rows of shape \(1,\); .* \(2,\)",
            ),
            ("merge_by_mask(flat, flat[:1], [True, True, False, False])", LoDError, "true 2 times; when_true has 3"),
            (
                "merge_by_mask(array([[[1]], [[2], [3]]]), [[[1]], [[2]]], [True, False, False, True, False], 1)",
                LoDError,
                "mask: is true 1 times in sequence 1 of level 0; when_true has 2 there",
            ),
        ],
    ),
}
