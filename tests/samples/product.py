"""Samples of products, truth and positions of extremes, of whole sequences."""

from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDTensor
from lodcore.ops import select_by_mask
from lodcore.tensors import lod_body
from reference.ops import product as oracle
from tests.helpers.draw import composite, integers, read_only
from tests.samples import Samples, call
from tests.samples.common import batches, smooth_batches
from tests.samples.reduce_values import NUMBERS, SMOOTH


@composite
def with_level(draw, tensors, *rest):
    x = draw(tensors)
    return call(x, *[draw(one) for one in rest], draw(integers(-x.num_levels, x.num_levels - 1)))


def expected(function):
    """Call an oracle on the rows below each sequence of a level."""

    def computed(arguments):
        x, names = arguments["x"], [arguments["name"]] if "name" in arguments else []
        level = arguments["level"] % x.num_levels
        return function(x.tolist(), *names, level, x.num_levels, x.values.shape[1:])

    return computed


@composite
def full_batches(draw):
    """Draw a batch without empty sequences, and any level."""
    x = draw(smooth_batches([(), (2,)]))
    for level in range(x.num_levels - 1, -1, -1):
        lengths = x.lod.lengths(level)
        if not lengths.all():
            held = read_only(lengths > 0)
            x = select_by_mask(x, LoDTensor(held, lod_body.slice_levels(x.lod, 0, level)) if level else held)
    return call(x, "max", draw(integers(-x.num_levels, x.num_levels - 1)))


WRONG_LEVEL = [
    ("ops.{}(flat{}, level=1)", LevelError, "level: is 1"),
    ("ops.{}(flat{}, level=0.5)", DTypeError, "level: is 0.5"),
    ("ops.{}(rows{})", DTypeError, "x: is ndarray"),
]


def wrong(name, middle=""):
    return [(text.format(name, middle), error, says) for text, error, says in WRONG_LEVEL]


COSTS = """
ops.sequence_prod(x)
ops.sequence_prod(t, 0)
ops.sequence_place(x, "argmax")
ops.sequence_truth(x > 1, "any")
ops.refuse_empty(full, "max")
"""
SAMPLES = {
    "sequence_prod": Samples(
        with_level(batches(NUMBERS)),
        expected(oracle.sequence_prod),
        with_level(SMOOTH),
        [*wrong("sequence_prod"), ("ops.sequence_prod([['a']])", DTypeError, "x: has dtype <U1")],
        exact=False,
    ),
    "sequence_truth": Samples(
        with_level(batches(["?"]), st.sampled_from(["any", "all"])),
        expected(oracle.sequence_truth),
        None,
        [
            ("ops.sequence_truth(array([[True]]), 'any', 1)", LevelError, "level: is 1"),
            ("ops.sequence_truth(array([[True]]), 'one')", ValueError, "name: is 'one'"),
            ("ops.sequence_truth(flat, 'any')", DTypeError, "x: has dtype int64"),
            ("ops.sequence_truth(flat.astype('i1'), 'any')", DTypeError, "x: has dtype int8; bool"),
        ],
    ),
    "sequence_place": Samples(
        with_level(batches(NUMBERS), st.sampled_from(["argmax", "argmin"])),
        expected(oracle.sequence_place),
        None,
        [
            *wrong("sequence_place", ", 'argmax'"),
            ("ops.sequence_place(flat, 'max')", ValueError, "name: is 'max'"),
            ("ops.sequence_place([['a']], 'argmin')", DTypeError, "x: has dtype <U1"),
        ],
    ),
    "refuse_empty": Samples(
        full_batches(),
        lambda arguments: arguments["x"].tolist(),
        full_batches(),
        [
            *wrong("refuse_empty", ", 'max'"),
            ("ops.refuse_empty(flat, 'max')", ValueError, "max: sequence 1 of level 0 is empty"),
            ("ops.refuse_empty(x, 'max', 0)", ValueError, "max: sequence 1 of level 0 is empty"),
            ("ops.refuse_empty(array([[1], [], [2], []]), 'max')", ValueError, "max: sequence 1 of level 0 is empty"),
        ],
    ),
}
