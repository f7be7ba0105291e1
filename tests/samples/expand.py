"""Samples of the operators that repeat and reverse."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError, TensorArray
from reference.ops import expand as oracle
from tests.helpers.agree import elements_of, from_the_first, numbered, of_elements
from tests.helpers.draw import (
    DTYPES,
    ROW_SHAPES,
    composite,
    integers,
    lengths,
    lod_tensors,
    lods,
    read_only,
    running_sum,
    values,
)
from tests.samples import Call, Samples, call

PLAIN = [dtype for dtype in DTYPES if dtype.names is None]  # the comparison of lists needs numbers
FLOAT = [np.dtype("f8")]
NARROW = [(), (2,), (0,)]


@composite
def lods_of(draw, count, num_levels, longest=3):
    """Draw a LoD of a number of outermost sequences."""
    made, size = [], count
    for _ in range(num_levels):
        made.append(running_sum(draw(lengths(count=size, longest=longest if size < 12 else 1))))
        size = made[-1][-1]
    return LoD.from_offsets(*made, num_rows=size)


@composite
def tensors_of(draw, count, num_levels, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    """Draw a tensor of a number of outermost sequences; an ndarray without levels."""
    lod = draw(lods_of(count, num_levels))
    rows = draw(values(lod.num_rows, dtypes, row_shapes))
    return LoDTensor(rows, lod) if num_levels else rows


def tame(drawn):
    """Return a call with numbers of a size at which derivatives can be measured."""
    random = np.random.default_rng(0)

    def change(x):
        if isinstance(x, list):
            return [change(one) for one in x]
        if isinstance(x, TensorArray):
            return of_elements(list(map(change, elements_of(x))))
        if isinstance(x, LoDTensor):
            return LoDTensor(change(x.values), x.lod)
        return read_only(random.standard_normal(x.shape)) if isinstance(x, np.ndarray) and x.dtype == float else x

    return Call(tuple(map(change, drawn.args)), {name: change(x) for name, x in drawn.kwargs.items()})


def levels_of(num_levels):
    """Draw a level, counted from the first or from the last."""
    return st.integers(-num_levels, num_levels - 1)


def structure(draw, lod):
    """Return a structure in one of the forms that y may have."""
    return lod if draw(st.booleans()) else LoDTensor(np.zeros((lod.num_rows, 0)), lod)


def structure_of(y):
    """Return the LoD of y."""
    return y if isinstance(y, LoD) else y.lod


@composite
def expand_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    y = draw(lods(1, 3, most=4))
    level = draw(levels_of(y.num_levels))
    count = y.num_sequences(level)
    x = draw(tensors_of(count, draw(integers(0, 2)), dtypes, row_shapes))
    return call(x, structure(draw, y), *([] if level == -1 and draw(st.booleans()) else [level]))


def expanded(arguments):
    lod = structure_of(arguments["y"])
    level = from_the_first(arguments["ref_level"], lod)
    return oracle.sequence_expand(arguments["x"].tolist(), numbered(lod), level)


@composite
def expand_as_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    y = draw(lods(1, 3, most=4))
    level = draw(levels_of(y.num_levels))
    k = from_the_first(level, y)
    rows = draw(values(y.num_sequences(k), dtypes, row_shapes))
    x = LoDTensor(rows, LoD.from_offsets(*(y.offsets(j) for j in range(k)))) if k and draw(st.booleans()) else rows
    return call(x, structure(draw, y), level)


def expanded_as(arguments):
    x, lod = arguments["x"], structure_of(arguments["y"])
    rows = x.values.tolist() if isinstance(x, LoDTensor) else x.tolist()
    return oracle.sequence_expand_as(rows, numbered(lod), from_the_first(arguments["level"], lod), lod.num_levels)


@composite
def reverse_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    x = draw(lod_tensors(max_levels=3, dtypes=dtypes, row_shapes=row_shapes, most=5))
    return call(x, draw(levels_of(x.num_levels)))


def reversed_elements(arguments):
    x = arguments["x"]
    return oracle.sequence_reverse(x.tolist(), from_the_first(arguments["level"], x.lod))


@composite
def other_values(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    x = draw(lods(1, 3, most=4))
    rows = draw(values(x.num_rows, dtypes, row_shapes))
    return call(structure(draw, x), LoDTensor(rows, x) if draw(st.booleans()) else rows)


def with_other_values(arguments):
    v, lod = arguments["v"], structure_of(arguments["x"])
    rows = v.values.tolist() if isinstance(v, LoDTensor) else v.tolist()
    return oracle.with_values(numbered(lod), rows, lod.num_levels)


COSTS = """
ops.with_values(x, v)
lodcore.sequence_expand(e, x)
lodcore.sequence_expand_as(e, x)
"""
SAMPLES = {
    "with_values": Samples(
        other_values(),
        with_other_values,
        other_values(FLOAT, NARROW).map(tame),
        [
            ("ops.with_values(flat, rows[:3])", ShapeError, "v: has 3 entries; x has 5 rows"),
            ("ops.with_values(flat, 3)", ShapeError, "v: is a number"),
            ("ops.with_values(flat, x)", LoDError, "v: has 2 levels; x has 1"),
            (
                "ops.with_values(flat, array([[1, 2, 3], [], [4, 5]]))",
                LoDError,
                "v: sequence 0 of level 0 has length 3",
            ),
            ("ops.with_values(flat, None)", DTypeError, "v: is None"),
            ("ops.with_values(rows, rows)", DTypeError, "x: .*ndarray"),
            ("ops.with_values(flat, objects)", DTypeError, "v: .*object"),
        ],
    ),
    "sequence_expand": Samples(
        expand_calls(),
        expanded,
        expand_calls(FLOAT, NARROW).map(tame),
        [
            ("sequence_expand(rows, x)", LoDError, r"x: .*5 rows.*level 1 of y has 3"),
            ("sequence_expand(flat, rows.reshape(5, 1))", DTypeError, "y: .*ndarray"),
            ("sequence_expand(x[:2], flat)", LoDError, "x: .*2 sequences.*level 0 of y has 3"),
            ("sequence_expand(flat, x, 2)", LevelError, "ref_level: is 2; there are 2 levels"),
            ("sequence_expand(flat, x, -3)", LevelError, "ref_level: is -3"),
            ("sequence_expand(flat, x, 0.0)", DTypeError, "ref_level: is 0.0"),
            ("sequence_expand(flat, None)", DTypeError, "y: .*None"),
            ("sequence_expand(None, flat)", DTypeError, "x: .*None"),
            ("sequence_expand(lod, flat)", DTypeError, "x: .*LoD"),
            ("sequence_expand(objects, LoD.from_lengths([1, 1]))", DTypeError, "x: .*object"),
            ("sequence_expand(rows[:1], LoD.from_lengths([2**62]))", MemoryError, "2"),
            ("sequence_expand([[1]], LoD.from_lengths([2**62]))", MemoryError, "4611686018427387904"),
            ("sequence_expand(rows[:3], flat, out=np.zeros(4, int))", ShapeError, r"out.*\(4,\).*\(5,\)"),
        ],
    ),
    "sequence_expand_as": Samples(
        expand_as_calls(),
        expanded_as,
        expand_as_calls(FLOAT, NARROW).map(tame),
        [
            ("sequence_expand_as(rows, flat)", LoDError, "x: .*5 rows.*level 0 of y has 3"),
            ("sequence_expand_as(flat, x)", LoDError, "x: sequence 0 of level 0 has length 2; .*2|x: "),
            ("sequence_expand_as(flat, flat)", LoDError, "x: .*1 level"),
            ("sequence_expand_as(x, x)", LoDError, "x: .*2 levels"),
            ("sequence_expand_as(rows[:3], x, 2)", LevelError, "level.*2.*2"),
            ("sequence_expand_as(rows[:3], rows)", DTypeError, "y: .*ndarray"),
            ("sequence_expand_as(5, flat)", ShapeError, "x: .*no axis"),
            ("sequence_expand_as(rows[:3], flat, out=rows)", ValueError, "out.*overlaps"),
            ("sequence_expand_as(rows[:1], LoD.from_lengths([2**62]))", MemoryError, "4611686018427387904"),
        ],
    ),
    "sequence_reverse": Samples(
        reverse_calls(),
        reversed_elements,
        reverse_calls(FLOAT, NARROW).map(tame),
        [
            ("sequence_reverse(rows)", DTypeError, "x: .*ndarray"),
            ("sequence_reverse(x, 2)", LevelError, "level.*2.*2"),
            ("sequence_reverse(LoDTensor(rows, LoD.from_offsets(num_rows=5)))", LevelError, "-1.*0"),
            ("sequence_reverse(flat, out=flat.values)", ValueError, "out: overlaps an input"),
            ("sequence_reverse(flat, out=np.zeros(5))", DTypeError, "out.*float64.*int64"),
        ],
    ),
}
