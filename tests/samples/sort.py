"""Samples of sorting and of the greatest rows."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDTensor
from reference.ops import sort as oracle
from tests.helpers.agree import from_the_first
from tests.helpers.draw import ROW_SHAPES, composite, integers, lods, read_only, sampled_from, values
from tests.samples import Samples, call

CELLS = [np.dtype(name) for name in ("f8", "f4", "f2", "i8", "i4", "u1", "u8", "?")]
TEXT_AND_DATES = [np.dtype(name) for name in ("S3", "S9", "U2", "U5", "M8[ns]", "m8[ns]", "c8", "c16")]


@composite
def tensors(draw):
    """Draw a tensor of cells that have an order, many of them equal or not."""
    lod = draw(lods(1, 3, most=5))
    if draw(st.booleans()):
        return LoDTensor(draw(values(lod.num_rows, CELLS)), lod)
    dtype, row_shape = draw(sampled_from(CELLS)), draw(sampled_from(ROW_SHAPES))
    few = np.random.default_rng(draw(integers(0, 2**32))).integers(0, 4, (lod.num_rows, *row_shape))
    return LoDTensor(read_only(few.astype(dtype)), lod)


@composite
def texts(draw):
    """Draw a tensor of text of few letters, of dates, some of them NaT, or of complex numbers, some of them nan."""
    lod, dtype = draw(lods(1, 3, most=5)), draw(sampled_from(TEXT_AND_DATES))
    shape = (lod.num_rows, *draw(sampled_from(ROW_SHAPES)))
    random = np.random.default_rng(draw(integers(0, 2**32)))
    if dtype.kind in "Mm":
        made = random.integers(-3, 3, shape)
        made[random.random(shape) < 0.2] = -(2**63)
        return LoDTensor(read_only(made.view(dtype)), lod)
    if dtype.kind == "c":
        numbers = (random.integers(-1, 2, shape) + 1j * random.integers(-1, 2, shape)).astype(dtype)
        numbers[random.random(shape) < 0.2] = complex(np.nan, np.nan)
        return LoDTensor(read_only(numbers), lod)
    unit, size = ("u1", dtype.itemsize) if dtype.kind == "S" else ("u4", dtype.itemsize // 4)
    letters = random.choice([0, 97, 98, 233], (*shape, size)).astype(unit)
    letters[..., : size // 2] = 98
    return LoDTensor(read_only(letters.view(dtype)[..., 0]), lod)


@composite
def distinct(draw):
    """Draw a tensor of numbers far from each other."""
    lod, row_shape = draw(lods(1, 3, most=4)), draw(sampled_from([(), (2,), (0,)]))
    size = lod.num_rows * int(np.prod(row_shape))
    numbers = np.random.default_rng(draw(integers(0, 2**32))).permutation(size) / 4 - 2
    return LoDTensor(read_only(numbers.reshape(lod.num_rows, *row_shape)), lod)


@composite
def sort_calls(draw, drawn):
    x = draw(drawn)
    level = draw(integers(-x.num_levels, x.num_levels - 1))
    return draw(sampled_from([call(x), call(x, level), call(x, level, True), call(x, descending=True)]))


@composite
def topk_calls(draw, drawn):
    x = draw(drawn)
    k = draw(integers(0, 6) | st.sampled_from([np.int8(2), 50, 2**70]))
    return call(x, k, *draw(sampled_from([[], [draw(integers(-x.num_levels, x.num_levels - 1))]])))


def by(function, *names):
    """Make `expected` from an oracle."""

    def expected(arguments):
        x = arguments["x"]
        given = {name: arguments[name] for name in names}
        level = from_the_first(arguments["level"], x.lod)
        return function(x.tolist(), **given, level=level, num_levels=x.num_levels, row_shape=x.values.shape[1:])

    return expected


def errors(name, k=""):
    """List the wrong calls that both operators share."""
    return [
        (f"{name}(flat{k}, level=1)", LevelError, "level: is 1; there is 1 level"),
        (f"{name}(x{k}, level=-3)", LevelError, "level: is -3; there are 2 levels"),
        (f"{name}(x{k}, level=0.0)", DTypeError, "level: is 0.0"),
        (f"{name}(lod{k})", DTypeError, "x: .*LoD"),
        (f"{name}(rows{k})", DTypeError, "x: .*ndarray"),
        (f"{name}(LoDTensor(np.zeros(5, 'g'), flat.lod){k})", DTypeError, "x: has dtype"),
        (f"{name}(LoDTensor(np.zeros(5, 'V3'), flat.lod){k})", DTypeError, r"x: has dtype \|V3"),
    ]


COSTS = """
ops.sequence_sort(x)
ops.sequence_sort(t, 0)
lodcore.sequence_topk(x, 3)
lodcore.sequence_topk(x, n)
"""
SAMPLES = {
    "sequence_sort": Samples(
        sort_calls(tensors() | texts()),
        by(oracle.sequence_sort, "descending"),
        sort_calls(distinct()),
        errors("sequence_sort"),
    ),
    "sequence_topk": Samples(
        topk_calls(tensors() | texts()),
        by(oracle.sequence_topk, "k"),
        topk_calls(distinct()),
        [
            *errors("sequence_topk", ", 1"),
            ("sequence_topk(flat, -1)", ValueError, "k: is -1; 0 or more"),
            ("sequence_topk(flat, 1.0)", DTypeError, "k: is 1.0"),
            ("sequence_topk(flat, True)", DTypeError, "k: is True"),
            ("sequence_topk(flat, None)", DTypeError, "k: is None"),
            ("sequence_topk(flat, np.array([1, 2]))", DTypeError, r"k: is array\(\[1, 2\]\)"),
            ("sequence_topk(flat > 1, -1)", ValueError, "k: is -1; 0 or more"),
        ],
    ),
}
