"""Samples of the operator that splits sequences into chunks."""

from lodcore import DTypeError, LevelError
from reference.ops import chunk as oracle
from tests.helpers.agree import from_the_first
from tests.helpers.draw import DTYPES, ROW_SHAPES, composite, integers, lod_tensors, sampled_from
from tests.samples import Samples, call
from tests.samples.common import smooth_batches

PLAIN = [dtype for dtype in DTYPES if dtype.names is None]


@composite
def chunk_calls(draw, tensors):
    x = draw(tensors)
    size = draw(sampled_from([1, 1, 2, 3, 4, 2**40]))
    stride = draw(sampled_from([None, 1, size, max(1, size - 1)]))
    level = draw(integers(-x.num_levels, x.num_levels - 1))
    align = draw(sampled_from(["start", "start", "middle", "end"]))
    return call(x, size, stride, draw(sampled_from(["short", "full", "drop"])), level, align)


def chunked(arguments):
    x = arguments["x"]
    level = from_the_first(arguments["level"], x.lod)
    how = [arguments[name] for name in ("size", "stride", "last")]
    return oracle.sequence_chunk(x.tolist(), *how, level, arguments["align"])


COSTS = """
lodcore.sequence_chunk(x, 2, 1)
lodcore.sequence_chunk(x, 3, align="middle")
lodcore.sequence_chunk(x, n, last="full", align="end")
"""
SAMPLES = {
    "sequence_chunk": Samples(
        chunk_calls(lod_tensors(1, 3, PLAIN, ROW_SHAPES, 6)),
        chunked,
        chunk_calls(smooth_batches([(), (2,), (0,)])),
        [
            ("sequence_chunk(flat, 0)", ValueError, "size: is 0; 1"),
            ("sequence_chunk(flat, 2**63)", ValueError, "size: is 9223372036854775808"),
            ("sequence_chunk(flat, 2.0)", DTypeError, "size: is 2.0"),
            ("sequence_chunk(flat, 2, 3)", ValueError, "stride: is 3; at most the size 2"),
            ("sequence_chunk(flat, 2, 3, 'drop')", ValueError, "stride: is 3; at most the size 2"),
            ("sequence_chunk(flat, 2, 3, 'full')", ValueError, "stride: is 3; at most the size 2"),
            ("sequence_chunk(flat, 2, 0)", ValueError, "stride: is 0; 1 or more"),
            ("sequence_chunk(flat, 2, last='long')", ValueError, "last: is 'long'; one of 'short'"),
            ("sequence_chunk(flat, 2, align='left')", ValueError, "align: is 'left'; one of 'start'"),
            ("sequence_chunk(flat, 2, level=1)", LevelError, "level: is 1"),
            ("sequence_chunk(rows, 2)", DTypeError, "x: is ndarray"),
        ],
    )
}
