"""Samples of attention."""

import math

from lodcore import DTypeError, LoD, LoDError, LoDTensor, ShapeError
from lodcore.tensors import lod_body
from reference.ops import attention as oracle
from tests.helpers.draw import composite, integers, lods, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS, small_values, smooth_values
from tests.samples.expand import lods_of


@composite
def calls(draw, smooth=False):
    lod = draw(lods(1, 3, 5))
    last = lod.num_levels - 1
    count, width = lod.num_sequences(last), draw(sampled_from([1, 2, 3, 0]))

    def array(*shape):
        if smooth:
            return smooth_values(draw(SEEDS), shape, -1, 1)
        return small_values(draw(SEEDS), shape, draw(sampled_from(["f4", "f8", "f2", "i8"])), nans=False)

    form = draw(sampled_from(["dense", "outer", "several"]))
    if form == "several":
        below = draw(lods_of(count, 1))
        mine = LoD.from_offsets(*[lod.offsets(k) for k in range(last)], below.offsets(0), num_rows=below.num_rows)
        query = LoDTensor(array(mine.num_rows, width), mine)
    else:
        query = array(count, width)
        query = LoDTensor(query, lod_body.slice_levels(lod, 0, last)) if form == "outer" and last else query
    values = [None, LoDTensor(array(lod.num_rows, draw(integers(0, 2))), lod)][draw(integers(0, 1))]
    return call(query, LoDTensor(array(lod.num_rows, width), lod), values, *draw(sampled_from([(), (0.5,), (-2,)])))


def expected(arguments):
    query, memory = arguments["query"], arguments["memory"]
    values, scale = arguments["values"], arguments["scale"]
    values = memory if values is None else values
    scale = 1 / math.sqrt(memory.values.shape[1] or 1) if scale is None else scale
    levels = query.num_levels if isinstance(query, LoDTensor) else 0
    shapes = (levels, query.tolist()), (memory.num_levels, memory.tolist())
    return oracle.dot_attention(*shapes, values.tolist(), values.values.shape[1], scale)


SAMPLES = {
    "dot_attention": Samples(
        calls(),
        expected,
        calls(smooth=True),
        [
            ("ops.dot_attention(np.ones((2, 2)), wide)", LoDError, "query: has 2 rows; memory has 3 sequences"),
            ("ops.dot_attention(np.ones((3, 4)), wide)", ShapeError, "query: has rows of 4 .* memory have 2"),
            ("ops.dot_attention(np.ones(3), wide)", ShapeError, r"query: has values of shape \(3,\)"),
            ("ops.dot_attention(np.ones((3, 2)), flat)", ShapeError, r"memory: has rows of shape \(\)"),
            ("ops.dot_attention(wide[:2], wide)", LoDError, "query: has 2 sequences; memory has 3 sequences"),
            ("ops.dot_attention(x.with_values(np.ones((6, 2))), wide)", LoDError, "query: has 2 levels; memory has 1"),
            ("ops.dot_attention(wide, wide, wide[:2])", LoDError, "values: has 2 sequences at level 0; memory has 3"),
            (
                "ops.dot_attention(wide, wide, LoDTensor(wide.values, LoD.from_lengths([3, 0, 2])))",
                LoDError,
                "values: sequence 0 of level 0 has length 3; that of memory has 2",
            ),
            (
                "ops.dot_attention(wide, wide, x[:, :, :1].with_values(np.ones((3, 2))))",
                LoDError,
                "values: has 2 levels; memory has 1",
            ),
            ("ops.dot_attention(wide, wide, flat)", ShapeError, r"values: has rows of shape \(\)"),
            ("ops.dot_attention(wide, wide, scale='a')", DTypeError, "scale: is 'a'; a number is needed"),
            ("ops.dot_attention(wide, wide, scale=float('nan'))", ValueError, "scale: is nan"),
            ("ops.dot_attention(np.ones((3, 2)), rows)", DTypeError, "memory: is ndarray"),
            ("ops.dot_attention(np.full((3, 2), 'a'), wide)", DTypeError, "query: has dtype <U1"),
        ],
        exact=False,
    ),
}
