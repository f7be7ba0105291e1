"""Samples of indexing."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LoDError, LoDTensor, ShapeError
from lodcore.ops import select_by_mask
from lodcore.tensors import lod_body
from reference.ops import index as oracle
from tests.helpers.draw import DTYPES, ROW_SHAPES, composite, integers, lod_tensors, odd_forms, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS, smooth_batches

PLAIN = [dtype for dtype in DTYPES if dtype.names is None]
ANY = lod_tensors(1, 3, PLAIN, ROW_SHAPES, 6)
SMOOTH = smooth_batches([(), (2,)])


def axes(x):
    return st.integers(0, x.num_levels)


# -- slices and single elements ------------------------------------------------------------------------------------


@composite
def slices(draw, tensors):
    x = draw(tensors)
    bounds = st.one_of(st.none(), st.integers(-6, 6), st.sampled_from([2**63, -(2**70)]))
    steps = st.one_of(st.none(), st.just(1), st.integers(-3, 3).filter(bool), st.sampled_from([2**70, -(2**70)]))
    return call(x, draw(bounds), draw(bounds), draw(steps), draw(axes(x)))


@composite
def picks(draw, tensors):
    x = draw(tensors.filter(len))
    axis = draw(axes(x))
    if axis == 0:
        return call(x, draw(integers(-len(x), len(x) - 1)), 0)
    lengths = x.lod.lengths(axis - 1)
    if not lengths.all():  # nothing can be selected from an empty sequence
        kept = read_only(lengths > 0)
        x = select_by_mask(x, LoDTensor(kept, lod_body.slice_levels(x.lod, 0, axis - 1)) if axis > 1 else kept)
        lengths = x.lod.lengths(axis - 1)
    random = np.random.default_rng(draw(SEEDS))
    if draw(st.booleans()) or not len(lengths):
        shortest = int(lengths.min()) if len(lengths) else 1
        return call(x, draw(integers(-shortest, shortest - 1)), axis)
    numbers = (random.random(len(lengths)) * 2 * lengths).astype(np.int64) - lengths
    return call(x, draw(odd_forms(numbers)), axis)


def expected_pick(arguments):
    x, index, axis = arguments["x"], arguments["index"], arguments["axis"]
    count = x.lod.num_sequences(axis - 1) if axis else 1
    return oracle.pick_along(x.tolist(), np.broadcast_to(np.ravel(index), count).tolist(), axis)


# -- masks and numbers ---------------------------------------------------------------------------------------------


@composite
def masks(draw, tensors):
    x = draw(tensors)
    axis = draw(axes(x))
    count = x.lod.num_sequences(axis) if axis < x.num_levels else x.num_rows
    held = read_only(np.random.default_rng(draw(SEEDS)).random(count) < draw(sampled_from([0, 0.2, 0.5, 0.9, 1])))
    held = held[:, None] if draw(st.booleans()) else held
    return call(x, LoDTensor(held, lod_body.slice_levels(x.lod, 0, axis)) if axis else held)


def expected_selection(arguments):
    x, mask = arguments["x"], arguments["mask"]
    nested = LoDTensor(mask.values.ravel(), mask.lod).tolist() if isinstance(mask, LoDTensor) else mask.ravel().tolist()
    return oracle.select_by_mask(x.tolist(), nested, mask.num_levels if isinstance(mask, LoDTensor) else 0)


@composite
def nested_indices(draw, tensors):
    x = draw(tensors)
    axis = draw(integers(1, x.num_levels))
    lengths = x.lod.lengths(axis - 1)
    random = np.random.default_rng(draw(SEEDS))
    sizes = np.where(lengths > 0, random.integers(0, 4, len(lengths)), 0)
    of = np.repeat(lengths, sizes)
    numbers = read_only(
        ((random.random(len(of)) * 2 * of).astype(np.int64) - of).astype(draw(sampled_from(["i8", "i4"])))
    )
    upper = [x.lod.offsets(k) for k in range(axis - 1)]
    return call(x, LoDTensor.from_offsets(numbers, *upper, np.concatenate([[0], np.cumsum(sizes)])))


def expected_taking(arguments):
    x, index = arguments["x"], arguments["index"]
    return oracle.take_nested(x.tolist(), index.tolist(), index.num_levels)


@composite
def common_indices(draw, tensors):
    drawn = draw(picks(tensors))
    x, axis = drawn.args[0], max(drawn.args[2], 1)
    lengths = x.lod.lengths(axis - 1)
    shortest = int(lengths.min()) if len(lengths) else 2
    index = draw(st.lists(st.integers(-shortest, shortest - 1), max_size=3)) if shortest else []
    return call(x, draw(odd_forms(index)) if index else np.array(index, int), axis)


def expected_of_each(arguments):
    index = np.ravel(arguments["index"]).tolist()
    return oracle.take_of_each(arguments["x"].tolist(), index, arguments["axis"])


COSTS = """
ops.take_nested(x, lodcore.sequence_argsort(x))
ops.take_of_each(full, [0, -1], 1)
ops.pick_along(full, -1, 1)
ops.slice_along(x, 0, 2, None, 1)
ops.select_by_mask(x, x > 1)
"""
SAMPLES = {
    "slice_along": Samples(
        slices(ANY),
        lambda arguments: oracle.slice_along(arguments.pop("x").tolist(), **arguments),
        slices(SMOOTH),
        [
            ("ops.slice_along(flat, 0, 1, 0)", ValueError, "step: is 0"),
            ("ops.slice_along(flat, 1.0)", DTypeError, "start: is 1.0"),
            ("ops.slice_along(flat, 0, 'a')", DTypeError, "stop: is 'a'"),
            ("ops.slice_along(flat, 0, 1, True)", DTypeError, "step: is True"),
            ("ops.slice_along(flat, 0, 1, 1, 2)", LoDError, "axis: is 2.*1 level"),
            ("ops.slice_along(flat, 0, 1, 1, -1)", LoDError, "axis: is -1"),
            ("ops.slice_along(flat, 0, 1, 1, 1.0)", DTypeError, "axis: is 1.0"),
            ("ops.slice_along(rows, 0, 1)", DTypeError, "x: is ndarray"),
        ],
    ),
    "pick_along": Samples(
        picks(ANY),
        expected_pick,
        picks(SMOOTH),
        [
            (
                "ops.pick_along(flat, 0, 1)",
                IndexError,
                "index 0 is out .* sequence 1 of level 0 with length 0",
            ),
            ("ops.pick_along(flat, [1, 0, -4], 1)", IndexError, "index 0 .*sequence 1"),
            ("ops.pick_along(flat, 3)", IndexError, "index 3 is out of bounds for axis 0 with size 3"),
            ("ops.pick_along(flat, -4)", IndexError, "index -4"),
            ("ops.pick_along(flat, [0, 1], 1)", ShapeError, "index: has 2 entries; there are 3"),
            ("ops.pick_along(flat, [0, 1], 0)", DTypeError, r"index: is \[0, 1\]"),
            ("ops.pick_along(flat, 1.0, 1)", DTypeError, "index.*float64"),
            ("ops.pick_along(flat, 0, 2)", LoDError, "axis: is 2"),
        ],
    ),
    "select_by_mask": Samples(
        masks(ANY),
        expected_selection,
        masks(SMOOTH),
        [
            ("ops.select_by_mask(flat, [True, False])", ShapeError, "mask: has 2 entries; there are 3"),
            ("ops.select_by_mask(flat, [1, 0, 1])", DTypeError, "mask: has dtype int64"),
            ("ops.select_by_mask(flat, flat)", DTypeError, "mask: has dtype int64"),
            ("ops.select_by_mask(flat, np.ones((3, 2), bool))", ShapeError, r"mask: has rows of shape \(2,\)"),
            (
                "ops.select_by_mask(flat, array([[True], [], [True] * 3]))",
                LoDError,
                "sequence 0 .* length 1.*2",
            ),
            ("ops.select_by_mask(flat, x == 1)", LoDError, "axis: is 2"),
            (  # as many sequences and rows
                "ops.select_by_mask(x, LoDTensor(x.values > 1, LoD.from_lengths([1, 0, 2], x.lod.lengths(1))))",
                LoDError,
                "mask: sequence 0 of level 0 has length 1; that of x has 2",
            ),
            (
                "ops.select_by_mask(x, LoDTensor(x.values > 1, LoD.from_lengths([2, 0, 1], [1, 2, 3])))",
                LoDError,
                "mask: sequence 0 of level 1 has length 1; that of x has 2",
            ),
        ],
    ),
    "take_nested": Samples(
        nested_indices(ANY),
        expected_taking,
        nested_indices(SMOOTH),
        [
            ("ops.take_nested(flat, [[0], [0], []])", IndexError, "index 0 .*sequence 1 of level 0 with length 0"),
            ("ops.take_nested(flat, [[-3], [], []])", IndexError, "index -3 .*sequence 0 of level 0 with length 2"),
            ("ops.take_nested(flat, [[0], []])", LoDError, "index: has 2 sequences; x has 3"),
            (
                "ops.take_nested(x, [[[0], [0], [0]], [], [[0]]])",
                LoDError,
                "sequence 0 .* length 3.*2",
            ),
            (
                "ops.take_nested(x, LoDTensor.from_lengths([0, 0, 0], [1, 0, 2], [1, 1, 1]))",
                LoDError,
                "index: sequence 0 of level 0 has length 1; that of x has 2",
            ),
            ("ops.take_nested(flat, [[0.0], [], []])", DTypeError, "index: has dtype float64"),
            ("ops.take_nested(flat, x)", LoDError, "axis: is 2"),
            ("ops.take_nested(flat, wide)", ShapeError, r"index: has shape \(5, 2\)"),
        ],
    ),
    "take_of_each": Samples(
        common_indices(ANY),
        expected_of_each,
        common_indices(SMOOTH),
        [
            ("ops.take_of_each(flat, [0], 1)", IndexError, "index 0 .*sequence 1 of level 0 with length 0"),
            ("ops.take_of_each(flat, [0, 2], 1)", IndexError, "index 2 .*sequence 0 of level 0 with length 2"),
            ("ops.take_of_each(flat, [0], 0)", LoDError, "axis: is 0; use gather"),
            ("ops.take_of_each(flat, [0], 2)", LoDError, "axis: is 2"),
            ("ops.take_of_each(flat, [0.0], 1)", DTypeError, "index: has dtype float64"),
        ],
    ),
}
