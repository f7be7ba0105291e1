"""Functions that the samples of several families share."""

import numpy as np
from hypothesis import strategies as st

from lodcore import LoD, LoDTensor
from lodcore.tensors import lod_body
from tests.helpers.draw import composite, integers, lods, read_only, sampled_from
from tests.helpers.rows import SEEDS

SMALL = {"f": (-4, 5), "i": (-4, 5), "u": (0, 5), "b": (0, 2)}
SAMPLES = {}


def small_values(seed, shape, dtype, nans=True):
    """Make small values whose sums and products are exact, a few nan among the floats: a read-only ndarray."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    made = np.asarray(random.integers(*SMALL[dtype.kind], shape)).astype(dtype)
    if dtype.kind == "f":
        made = np.asarray(made / dtype.type(2))
        if nans:
            made[random.random(shape) < 0.1] = np.nan
    return read_only(made)


def smooth_values(seed, shape, low=0.1, high=0.9):
    """Make float64 values between two bounds, far from each other and from kinks: a read-only ndarray."""
    return read_only(np.random.default_rng(seed).uniform(low, high, shape))


ROW_SHAPES = [(), (3,), (1,), (2, 2), (0,)]


@composite
def batches(draw, dtypes, row_shapes=ROW_SHAPES, make=small_values, min_levels=1, max_levels=3, most=6):
    """Draw a LoDTensor of values from a function of seed, shape and dtype."""
    lod = draw(lods(min_levels, max_levels, most))
    shape = (lod.num_rows, *draw(sampled_from(row_shapes)))
    return LoDTensor(make(draw(SEEDS), shape, draw(sampled_from(dtypes))), lod)


@composite
def full_batches(draw, row_shapes=ROW_SHAPES):
    """Draw a LoDTensor of float64 numbers far from each other, without empty sequences."""
    count, levels = draw(integers(1, 3)), []
    for _ in range(draw(integers(1, 3))):
        levels.append(draw(st.lists(st.integers(1, 3), min_size=count, max_size=count)))
        count = sum(levels[-1])
    shape = (count, *draw(sampled_from(row_shapes)))
    numbers = np.random.default_rng(draw(SEEDS)).permutation(int(np.prod(shape))) / 4 - 2
    return LoDTensor(read_only(numbers.reshape(shape)), LoD.from_lengths(*levels))


def smooth_batches(row_shapes=ROW_SHAPES, low=0.1, high=0.9, **kwargs):
    """Draw a LoDTensor of float64, fit for measuring derivatives."""
    return batches(["f8"], row_shapes, lambda seed, shape, _: smooth_values(seed, shape, low, high), **kwargs)


def level_of(draw, x):
    """Draw a level, from the first or from the last."""
    return draw(integers(-x.num_levels, x.num_levels - 1))


def finite(seed, shape, dtype):
    """Make small values without nan."""
    return small_values(seed, shape, dtype, nans=False)


def operand(x):
    """Return an operand for the oracles: (levels or None, axes of a row or of all, nested lists)."""
    if isinstance(x, LoDTensor):
        return x.num_levels, x.values.ndim - 1, x.tolist()
    return None, np.ndim(x), x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x


@composite
def operands(draw, count, dtypes, make=small_values, ones=(1,)):
    """Draw operands that broadcast: at least one LoDTensor or all dense, axes of 1 or missing, fewer levels."""
    row_shape = draw(sampled_from(ROW_SHAPES))
    lod = draw(lods(1, 3, 6))
    forms = ["same", "same", "narrow", "weights", "outer", "number", "row", "rows", "dense"]
    chosen = [draw(sampled_from(forms)) for _ in range(count)]
    if "same" not in chosen:
        chosen[draw(integers(0, count - 1))] = draw(sampled_from(["same", "dense"]))
    nested = "same" in chosen

    def one(form):
        dtype, seed = draw(sampled_from(dtypes)), draw(SEEDS)
        stretched = tuple(1 if draw(st.booleans()) else size for size in row_shape)
        if form == "same" or (form in ("narrow", "weights") and nested):
            shape = row_shape if form == "same" else stretched if form == "narrow" else ()
            return LoDTensor(make(seed, (lod.num_rows, *shape), dtype), lod)
        if form in ("outer", "dense") and nested:  # the first levels, or none of them
            kept = draw(integers(1, lod.num_levels)) if form == "outer" else 0
            outer = lod_body.slice_levels(lod, 0, kept)
            shape = (*(1,) * (lod.num_levels - kept), *stretched)
            made = make(seed, (outer.num_rows if kept else lod.num_sequences(0), *shape), dtype)
            return LoDTensor(made, outer) if kept else made
        if form == "number":
            return abs(np.asarray(make(seed, (), dtype)).item())
        if form == "row":
            return make(seed, stretched[draw(integers(0, len(row_shape))) :], dtype)
        return make(seed, (lod.num_rows if form != "rows" else 1, *row_shape), dtype)

    made = [one(form) for form in chosen]
    if all(not isinstance(x, (LoDTensor, np.ndarray)) for x in made):
        made[0] = np.array(made[0])
    return made
