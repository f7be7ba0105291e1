"""Samples of the operators that return structure as nested tensors."""

from lodcore import DTypeError, LevelError, LoDTensor
from reference.ops.levels import at_level, each_at_level, positions, segment_ids
from tests.helpers.agree import from_the_first, numbered
from tests.helpers.draw import composite, integers, lod_tensors, sampled_from
from tests.samples import Samples, call


@composite
def structures(draw):
    x = draw(lod_tensors(max_levels=3, most=5))
    level = draw(integers(-x.num_levels, x.num_levels - 1))
    return call(draw(sampled_from([x, x.lod])), level)


def known(arguments):
    """Return the structure as nested lists, the level, and the number of levels."""
    x = arguments["x"]
    lod = x.lod if isinstance(x, LoDTensor) else x
    return numbered(lod), from_the_first(arguments["level"], lod), lod.num_levels


def lengths(arguments):
    nested, level, _ = known(arguments)
    return at_level(len, nested, level)


def per_row(oracle):
    def expected(arguments):
        nested, level, num_levels = known(arguments)
        return each_at_level(oracle(nested, level, num_levels), nested, num_levels)

    return expected


def wrong(name):
    return [
        (f"{name}(x, 2)", LevelError, "level: is 2; there are 2 levels"),
        (f"{name}(flat, 0.0)", DTypeError, "level: is 0.0"),
        (f"{name}(rows)", DTypeError, "x: is ndarray"),
        (f"{name}(None)", DTypeError, "x: is None"),
    ]


SAMPLES = {
    "lod_num": Samples(structures(), lengths, None, wrong("lod_num")),
    "lod_positions": Samples(structures(), per_row(positions), None, wrong("lod_positions")),
    "lod_segment_ids": Samples(structures(), per_row(segment_ids), None, wrong("lod_segment_ids")),
}
