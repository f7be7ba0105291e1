"""Samples of the operator that draws without replacement."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDTensor, ShapeError
from reference.ops import shuffle as oracle
from reference.ops.levels import sequences
from tests.helpers.agree import from_the_first, numbered
from tests.helpers.draw import composite, integers, lod_tensors, odd_forms, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS


@composite
def sample_calls(draw):
    x = draw(lod_tensors(max_levels=3, most=6))
    level = draw(integers(-x.num_levels, x.num_levels - 1))
    count = x.lod.num_sequences(level)
    size = draw(sampled_from([None, 0, 1, 2, 9, "each"]))
    if size == "each":
        size = draw(odd_forms(draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))))
    return call(draw(sampled_from([x, x.lod])), draw(SEEDS), size, level)


def sampled(arguments):
    x = arguments["x"]
    lod = x.lod if isinstance(x, LoDTensor) else x
    level = from_the_first(arguments["level"], lod)
    found = [len(sequence) for sequence in sequences(numbered(lod), level)]
    size = arguments["size"]
    sizes = found if size is None else np.broadcast_to(np.ravel(size), len(found)).tolist()
    count = sum(map(min, sizes, found))
    chances = np.random.default_rng(arguments["rng"]).random(count).tolist()
    return oracle.sample_places(numbered(lod), sizes, chances, level)


COSTS = """
lodcore.sample_places(x, 0, 2)
"""
SAMPLES = {
    "sample_places": Samples(
        sample_calls(),
        sampled,
        None,
        [
            ("ops.sample_places(flat, None)", DTypeError, "rng: is None"),
            ("ops.sample_places(flat, -1)", DTypeError, "rng: is -1"),
            ("ops.sample_places(flat, 0, -1)", ValueError, "size: is -1 for sequence 0"),
            ("ops.sample_places(flat, 0, [1, 2])", ShapeError, "size: has 2 entries; there are 3"),
            ("ops.sample_places(flat, 0, 1.5)", DTypeError, "size: .*float64"),
            ("ops.sample_places(flat, 0, 1, 1)", LevelError, "level: is 1"),
            ("ops.sample_places(rows, 0)", DTypeError, "x: is ndarray"),
            ("ops.sample_places(flat, 0, [1, -1, -2])", ValueError, "size: is -1 for sequence 1; 0 or more"),
        ],
    )
}
