"""Strategies of hypothesis, named after what they draw.

Structures are drawn from coarse to fine, where each level counts the next one, so that all of them are valid and shrink
to few short sequences. Arrays of values come from a seed: only their structure shrinks.
"""

import functools
from typing import NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from lodcore import LoD, LoDTensor
from reference import draw as plain
from reference.nested import nest

running_sum = plain.running_sum
ROW_SHAPES = [(), (1,), (3,), (2, 2), (0,)]
NAMES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "M8[s]", "m8[ns]"]
DTYPES = [np.dtype(name) for name in [*NAMES, "S3", "U2", "V5", "i2, (2,)f4"]]
NUMBERS = [dtype for dtype in DTYPES if dtype.kind in "iuf"]


def at_most(examples):
    """Bound the examples of a test that takes long; a profile may draw fewer."""
    return settings(max_examples=min(examples, settings.default.max_examples))


# -- strategies that are made once -----------------------------------------------------------------------------------

MOST = 5_000  # the maximum number of cached strategies of one kind


def key(thing):
    """Convert an argument to a key of a dictionary; lists become tuples."""
    if isinstance(thing, (list, tuple)):
        return (type(thing), *map(key, thing))
    return type(thing), thing.hex() if isinstance(thing, float) else thing  # 0.0 is not -0.0


def made_once(strategy):
    """Cache the strategies of a function by its arguments: making a strategy takes longer than drawing from it."""
    made = {}

    @functools.wraps(strategy)
    def find(*args, **kwargs):
        try:
            place = key(args), *((name, key(value)) for name, value in kwargs.items())
            found = made.get(place)
        except TypeError:  # an argument that is not hashable
            return strategy(*args, **kwargs)
        if found is None:
            if len(made) > MOST:
                made.clear()
            found = made[place] = strategy(*args, **kwargs)
        return found

    return find


def composite(draw):
    """Make a composite strategy, cached by its arguments."""
    return made_once(st.composite(draw))


integers = made_once(st.integers)
sampled_from = made_once(st.sampled_from)


@made_once
def many_integers(count, low, high):
    return st.lists(st.integers(low, high), min_size=count, max_size=count)


# -- structures ----------------------------------------------------------------------------------------------------


class Drawn:
    """A source of choices for `reference.draw`, so that the cases for other implementations are drawn in the same way.

    Parameters
    ----------
    draw : callable
        As passed by hypothesis to a composite strategy.
    """

    def __init__(self, draw):
        self.draw = draw

    def integer(self, low, high):
        return self.draw(integers(low, high))

    def integers(self, count, low, high):
        return self.draw(many_integers(count, low, high)) if count else []

    def choice(self, options):
        return self.draw(sampled_from(options))


@composite
def lengths(draw, count=None, most=8, longest=5):
    """Draw the lengths of `count` sequences (by default of up to `most`), often corner cases."""
    return plain.lengths(Drawn(draw), count, most, longest)


@composite
def levels(draw, min_levels=1, max_levels=4, most=8):
    """Draw the offsets of a structure, from coarse to fine: a list of lists of int.

    Every other structure, and the first of a test, has sequences of several elements on each level. Those of the cases
    for other implementations are corner cases on each level, so that every other one has no rows.
    """
    if most < 1 or max_levels < 1 or draw(sampled_from(["full", "corner"])) == "corner":
        return plain.levels(Drawn(draw), min_levels, max_levels, most)
    made, count = [], draw(integers(min(2, most), most))
    for _ in range(draw(integers(max(min_levels, 1), max_levels))):
        longest = 3 if count < 16 else 1
        sizes = draw(many_integers(count, 0, longest))
        sizes[draw(integers(0, count - 1))] = longest
        made.append(running_sum(sizes))
        count = made[-1][-1]
    return made


@composite
def lods(draw, min_levels=1, max_levels=4, most=8):
    """Draw a LoD; with `min_levels=0` also one without levels."""
    offsets = draw(levels(min_levels, max_levels, most))
    return LoD.from_offsets(*offsets, num_rows=offsets[-1][-1] if offsets else draw(integers(0, 5)))


class Wounded(NamedTuple):
    """A structure with a single defect."""

    levels: list[list[int]]
    wound: str
    level: int  # the level that an error must name
    position: int
    num_rows: int  # of the original structure


@composite
def wounded_levels(draw, min_levels=1, max_levels=4):
    """Draw a valid structure and damage it in one way: a Wounded.

    The kinds of damage: a level has "no offsets"; the "start" is not 0; one offset is less than the one before, a
    "fall", or "negative"; one is a "peak", so that the next one is less; the "end" does not count the next level, or
    the rows.
    """
    good = draw(levels(min_levels, max_levels))
    rich = [k for k in range(len(good)) if len(good[k]) > 2]
    level = draw(sampled_from(rich or range(len(good))))
    offsets = list(good[level])
    last = len(offsets) - 1
    falls = [i for i in range(1, last + 1) if offsets[i - 1] > 0]
    possible = ["start", "no offsets"]
    possible += ["end", "negative"] * (last > 0) + ["peak"] * (last > 1) + ["fall"] * (len(falls) > 0)
    wound = draw(sampled_from(possible))
    position = 0
    if wound == "start":
        offsets[0] = draw(sampled_from([1, -1, 2**62, -(2**63)]))
    elif wound == "no offsets":
        offsets = []
    elif wound == "end":
        position = last
        offsets[last] += draw(sampled_from([1, 2**62]))
    elif wound == "negative":
        position = draw(integers(1, last))
        offsets[position] = draw(sampled_from([-1, -(2**63)]))
    elif wound == "peak":
        position = draw(integers(2, last))
        offsets[position - 1] = 2**63 - 1
    else:
        position = draw(sampled_from(falls))
        offsets[position] = draw(integers(0, offsets[position - 1] - 1))
    return Wounded([*good[:level], offsets, *good[level + 1 :]], wound, level, position, good[-1][-1])


# -- values --------------------------------------------------------------------------------------------------------


def read_only(array):
    """Make an array read-only, so that writing to an input raises an error."""
    array.flags.writeable = False
    return array


def corners(dtype):
    """List the values of a dtype that are most likely to fail."""
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        numbers = [np.nan, np.inf, -np.inf, -0.0, limits.max, -limits.max, limits.smallest_subnormal, 1.0]
    elif dtype.kind == "c":
        numbers = [complex(np.nan, 1.0), complex(-0.0, np.inf), complex(1e30, 1e-30)]
    elif dtype.kind in "iu":
        numbers = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0]
    elif dtype.kind in "mM":
        numbers = ["NaT"]
    else:
        numbers = []
    return np.array(numbers, dtype)


def values_from_seed(seed, n_rows, dtype, row_shape):
    """Make values of a dtype, every fourth a corner case if there are any: an ndarray of shape (n_rows, *row_shape)."""
    random = np.random.default_rng(seed)
    shape = (n_rows, *row_shape)
    if dtype.kind == "U":  # not every 32 bits are a character
        return random.integers(0x20, 0xD800, (*shape, dtype.itemsize // 4), "u4").view(dtype)[..., 0]
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    made = np.frombuffer(random.bytes(n_rows * int(np.prod(row_shape)) * dtype.itemsize), dtype).reshape(shape).copy()
    special = corners(dtype)
    if len(special):
        places = random.random(shape) < 0.25
        made[places] = random.choice(special, int(places.sum()))
    return made


@composite
def values(draw, n_rows=None, dtypes=DTYPES, row_shapes=ROW_SHAPES):
    """Draw the rows of a batch, of any dtype without Python objects: a read-only ndarray, shape (n_rows, ...)."""
    n_rows = draw(integers(0, 12)) if n_rows is None else n_rows
    dtype, row_shape = draw(sampled_from(dtypes)), draw(sampled_from(row_shapes))
    return read_only(values_from_seed(draw(integers(0, 2**32)), n_rows, np.dtype(dtype), row_shape))


@composite
def whole_numbers(draw, n_rows, dtype, width):
    """Draw small integers, whose sums and products are exact: a read-only ndarray, shape (n_rows, width)."""
    random = np.random.default_rng(draw(integers(0, 2**32)))
    return read_only(random.integers(-8, 9, (n_rows, width)).astype(dtype))


@composite
def lod_tensors(draw, min_levels=1, max_levels=4, dtypes=DTYPES, row_shapes=ROW_SHAPES, most=8):
    """Draw a LoDTensor over read-only values."""
    lod = draw(lods(min_levels, max_levels, most))
    return LoDTensor(draw(values(lod.num_rows, dtypes, row_shapes)), lod)


@composite
def nested_lists(draw, min_levels=1, max_levels=4, rows=None):
    """Draw nested lists of numbers, and the number of their levels: (list, int)."""
    offsets = draw(levels(min_levels, max_levels))
    entries = st.integers(-9, 9) if rows is None else rows
    count = offsets[-1][-1]
    return nest(draw(st.lists(entries, min_size=count, max_size=count)), offsets), len(offsets)


# -- indices and other vectors -------------------------------------------------------------------------------------


def indices(count, most=10):
    """Draw indices of `count` elements, with repetitions and negative ones: a list of int."""
    return st.lists(st.integers(-count, count - 1), max_size=most) if count else st.just([])


@composite
def ranges(draw, count, most=8):
    """Draw ranges (start, stop) among `count` elements, in any order, which may overlap: int64, shape (n, 2)."""
    ends = st.integers(0, count)
    pairs = draw(st.lists(st.tuples(ends, ends).map(sorted), max_size=most))
    return read_only(np.array(pairs, np.int64).reshape(-1, 2))


def int64(numbers):
    """Make a read-only int64 vector."""
    return read_only(np.array(numbers, np.int64))


def forms(numbers):
    """List the forms of a vector of integers: pairs of a name and an object."""
    vector = np.array(numbers, np.int64)
    found = [("list", list(map(int, vector))), ("tuple", tuple(map(int, vector))), ("NumPy scalars", list(vector))]
    for name in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
        limits = np.iinfo(name)
        if all(limits.min <= number <= limits.max for number in vector):
            found.append((name, vector.astype(name)))
    wide = np.repeat(vector, 2)
    wide[1::2] = -99
    shifted = np.frombuffer(b"\x00" + vector.tobytes(), np.uint8)[1:].view(np.int64)
    found += [
        ("strided", wide[::2]),
        ("backwards", vector[::-1].copy()[::-1]),
        ("byte-swapped", vector.astype(vector.dtype.newbyteorder())),
        ("misaligned", shifted),
        ("column", vector.reshape(-1, 1)),
        ("read-only", read_only(vector.copy())),
    ]
    return found


def odd_forms(numbers):
    """Draw one of the forms of a vector of integers."""
    return st.sampled_from(forms(numbers)).map(lambda form: form[1])


def batch(*offsets, width=None, dtype=np.float64):
    """Make a batch whose rows are 1, 2, 3, ..."""
    count = offsets[-1][-1]
    values = np.arange(1, count + 1, dtype=dtype)
    return LoDTensor.from_offsets(values if width is None else np.repeat(values[:, None], width, 1), *offsets)
