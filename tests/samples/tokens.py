"""Samples of windows of numbers, removed numbers, and columns given by ids."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError
from reference.nested import nest
from reference.ops import tokens as oracle
from tests.helpers.agree import from_the_first, offsets_of
from tests.helpers.draw import (
    composite,
    corners,
    int64,
    integers,
    lods,
    odd_forms,
    read_only,
    sampled_from,
    whole_numbers,
)
from tests.samples import Samples, call
from tests.samples.window import real_numbers

INTEGERS = ["i8", "i4", "i2", "i1", "u1", "u2", "u4", "u8"]


@composite
def numbered_rows(draw, lod=None):
    """Draw a LoDTensor of numbers, most of them small, of any integer dtype: rows of shape () or (1,)."""
    lod = draw(lods(1, 3, most=5)) if lod is None else lod
    dtype = np.dtype(draw(sampled_from(INTEGERS)))
    numbers = st.integers(0, 6) | st.sampled_from(corners(dtype).tolist())
    values = np.array(draw(st.lists(numbers, min_size=lod.num_rows, max_size=lod.num_rows)), dtype)
    return LoDTensor(read_only(values.reshape(-1, 1) if draw(st.booleans()) else values), lod)


def levels_of(lod):
    return st.integers(-lod.num_levels, lod.num_levels - 1)


@composite
def enumerations(draw):
    x = draw(numbered_rows())
    limits = np.iinfo(x.dtype)
    pad_value = draw(sampled_from([0, 1, int(limits.min), int(limits.max), np.int8(7)]))
    return call(x, draw(integers(1, 6) | st.sampled_from([20])), pad_value, level=draw(levels_of(x.lod)))


@composite
def erasures(draw):
    x = draw(numbered_rows())
    limits = np.iinfo(x.dtype)
    known = st.integers(0, 8) | st.sampled_from([int(limits.min), int(limits.max)])
    tokens = draw(st.lists(known | st.sampled_from([-1, 256, -(2**63), 2**63 - 1]), max_size=8))
    if max(tokens, default=0) < 2**63:
        return call(x, draw(odd_forms(tokens)))
    return call(x, read_only(np.array([token for token in tokens if token >= 0], "u8")))


@composite
def scatterings(draw, smooth=False):
    lod = draw(lods(1, 3, most=5))
    level = draw(levels_of(lod))
    count = lod.num_sequences(level)
    width, n_columns = draw(sampled_from([None, 1, 2, 0])), draw(integers(1, 4))
    numbers = draw(st.lists(st.integers(0, n_columns - 1), min_size=lod.num_rows, max_size=lod.num_rows))
    ids = int64(numbers).astype(draw(sampled_from(INTEGERS)))
    ids = LoDTensor(read_only(ids.reshape(-1, 1) if draw(st.booleans()) else ids), lod)
    dtypes = [draw(sampled_from(["f8"] if smooth else ["f8", "f4", "i8", "i2", "u4"])) for _ in range(2)]
    cells = 1 if width is None else width

    def make(n_rows, dtype):
        if smooth:
            return real_numbers(draw(integers(0, 2**32)), n_rows, cells)
        return abs(draw(whole_numbers(n_rows, "i2", cells))).astype(dtype)

    x, rows = make(count * n_columns, dtypes[0]), make(lod.num_rows, dtypes[1])
    x = x.reshape(count, n_columns) if width is None else x.reshape(count, n_columns, width)
    form = draw(sampled_from(["nested", "dense", "one row for all", "nested"]))
    if form == "one row for all":
        rows = np.array(make(1, dtypes[1])[0] if width is not None else make(1, dtypes[1])[0, 0])
    elif width is None and draw(st.booleans()):
        rows = rows[:, 0].copy()
    updates = LoDTensor(read_only(rows), lod) if form == "nested" else read_only(rows)
    x = LoDTensor(read_only(x), LoD.from_lengths([count])) if draw(st.booleans()) else read_only(x)
    return call(x, ids, updates, level=level)


def number_lists(x):
    """Return a LoDTensor as nested lists whose rows are numbers."""
    return LoDTensor(x.values.reshape(-1), x.lod).tolist()


def expected_windows(arguments):
    x, level = arguments["x"], from_the_first(arguments["level"], arguments["x"].lod)
    pad_value = int(arguments["pad_value"])
    return oracle.sequence_enumerate(number_lists(x), arguments["win_size"], pad_value, level, x.num_levels)


def expected_erased(arguments):
    x, tokens = arguments["x"], arguments["tokens"]
    tokens = {int(np.asarray(token).item()) for token in tokens}
    left = oracle.sequence_erase(number_lists(x), tokens, x.num_levels)
    return left if x.values.ndim == 1 else as_columns(left)


def as_columns(nested):
    """Put each number into a list of one."""
    return [as_columns(one) if isinstance(one, list) else [one] for one in nested]


def expected_scattered(arguments):
    x, ids, updates = arguments["x"], arguments["ids"], arguments["updates"]
    level = from_the_first(arguments["level"], ids.lod)
    lines, rows = getattr(x, "values", x), getattr(updates, "values", updates)
    rows = rows.ravel() if lines.ndim == 2 else rows
    rows = np.broadcast_to(rows, (ids.num_rows, *lines.shape[2:]))
    made = oracle.sequence_scatter(lines.tolist(), number_lists(ids), rows.tolist(), level, ids.num_levels)
    return nest(made, offsets_of(x.lod)) if isinstance(x, LoDTensor) else made


COSTS = """
lodcore.sequence_enumerate(i, 2)
lodcore.sequence_erase(i, i.values[::-1])
lodcore.sequence_scatter(np.zeros((k, 5)), i % 5, x)
"""
SAMPLES = {
    "sequence_enumerate": Samples(
        calls=enumerations(),
        expected=expected_windows,
        smooth=None,
        errors=[
            ("sequence_enumerate(wide, 2)", DTypeError, "x.*float64"),
            ("sequence_enumerate(LoDTensor(np.zeros((5, 2), int), flat.lod), 2)", ShapeError, r"x.*\(2,\)"),
            ("sequence_enumerate(flat, 0)", ValueError, "win_size.*0"),
            ("sequence_enumerate(flat, -2**70)", ValueError, "win_size"),
            ("sequence_enumerate(flat, 2.0)", DTypeError, "win_size.*2.0"),
            ("sequence_enumerate(flat, 2**61)", MemoryError, None),
            ("sequence_enumerate(flat, 2, 0.5)", DTypeError, "pad_value.*0.5"),
            ("sequence_enumerate(flat, 2, 2**63)", ValueError, "pad_value.*9223372036854775808"),
            ("sequence_enumerate(flat, 2, level=1)", LevelError, "level.*1"),
            ("sequence_enumerate(rows, 2)", DTypeError, "x.*ndarray"),
            ("sequence_enumerate(flat, 2, out=np.zeros((5, 3), int))", ShapeError, r"out.*\(5, 3\).*\(5, 2\)"),
            ("sequence_enumerate(flat, 2, out=np.zeros((5, 2)))", DTypeError, "out.*float64"),
            ("sequence_enumerate(flat, np.array([2]))", DTypeError, "win_size: is array"),
            ("sequence_enumerate(flat * 0.5, 2)", DTypeError, "^sequence_enumerate: x: has dtype float64"),
            (
                "sequence_enumerate(flat.astype('i1'), 2, 128)",
                ValueError,
                r"pad_value: is 128; int8 holds -128 \.\. 127",
            ),
            ("sequence_enumerate(flat.astype('i1'), 2, -129)", ValueError, "pad_value: is -129"),
        ],
    ),
    "sequence_erase": Samples(
        calls=erasures(),
        expected=expected_erased,
        smooth=None,
        errors=[
            ("sequence_erase(wide, [1])", DTypeError, "x.*float64"),
            ("sequence_erase(LoDTensor(np.zeros((5, 2), int), flat.lod), [1])", ShapeError, r"x.*\(2,\)"),
            ("sequence_erase(flat, [1.0])", DTypeError, "tokens.*float64"),
            ("sequence_erase(flat, [2**64, 'a'])", DTypeError, "tokens.*'a' at position 1"),
            ("sequence_erase(flat, 'a')", DTypeError, "tokens"),
            ("sequence_erase(flat, None)", DTypeError, "tokens"),
            ("sequence_erase(flat, [[1, 2]])", ShapeError, r"tokens.*\(1, 2\)"),
            ("sequence_erase(rows, [1])", DTypeError, "x.*ndarray"),
            ("sequence_erase(LoDTensor(rows, LoD.from_offsets(num_rows=5)), [1])", LevelError, "level"),
            ("sequence_erase(flat, [1, 2**70, 0.5])", DTypeError, "tokens: is 0.5 at position 2; an integer"),
            ("sequence_erase(flat, [0.5, 2**70])", DTypeError, "tokens: "),
            ("sequence_erase(flat, [1, 2**70, 'a', 0.5])", DTypeError, "tokens: is 'a' at position 2; an integer"),
            ("sequence_erase(flat * 0.5, [2])", DTypeError, "^sequence_erase: x: has dtype float64"),
        ],
    ),
    "sequence_scatter": Samples(
        calls=scatterings(),
        expected=expected_scattered,
        smooth=scatterings(smooth=True),
        errors=[
            ("sequence_scatter(dense, flat, flat)", IndexError, "ids.*4 at row 3, in sequence 2.*4 columns"),
            ("sequence_scatter(dense, [[0], [], [3, -1]], 1.0)", IndexError, "ids.*-1 at row 2, in sequence 2"),
            (
                "sequence_scatter(dense, LoDTensor(np.full(5, 2**64 - 1, 'u8'), flat.lod), 1.0)",
                IndexError,
                "ids.*18446744073709551615 at row 0, in sequence 0",
            ),
            ("sequence_scatter(dense, [[0], [1]], 1.0)", LoDError, "ids.*2 sequences.*3 lines"),
            ("sequence_scatter(np.zeros(3), flat, flat)", ShapeError, r"x.*\(3,\)"),
            ("sequence_scatter(dense, wide, flat)", DTypeError, "ids.*float64"),
            ("sequence_scatter(dense, flat, [[1.0], [], [1.0]])", LoDError, "updates.*sequence 0"),
            ("sequence_scatter(dense, flat, wide)", ShapeError, r"updates.*\(2,\)"),
            ("sequence_scatter(dense, flat, np.zeros(3))", ShapeError, r"updates.*\(3,\).*\(5,\)"),
            ("sequence_scatter(dense, flat, np.zeros(5, complex))", DTypeError, "updates.*complex128"),
            ("sequence_scatter(dense, flat, flat, level=3)", LevelError, "level.*3"),
            ("sequence_scatter(dense, rows, rows)", DTypeError, "ids.*ndarray"),
            ("sequence_scatter(dense, [[0, 1], [2], []], np.ones((1, 1)))", ShapeError, r"updates: has shape \(1, 1\)"),
            ("sequence_scatter(dense, [[0, 1], [2], []], np.ones((2, 1)))", ShapeError, r"updates: has shape \(2, 1\)"),
            (
                "sequence_scatter(dense, [[0, 1], [2, 9], [7]], 1.0)",
                IndexError,
                "ids: is 9 at row 3, in sequence 1; x has 4",
            ),
            (
                "sequence_scatter(dense, [[0], [], [9, 7]], 1.0)",
                IndexError,
                "ids: is 9 at row 1, in sequence 2; x has 4",
            ),
            ("sequence_scatter(dense, [[], [], [2**63]], 1.0)", IndexError, "at row 0, in sequence 2; x has 4 columns"),
            ("sequence_scatter(dense > 1, [[0], [1], [2]], True)", DTypeError, "make dtype bool"),
            ("sequence_scatter(dense, [[0], [1], [2]], array([[[1.0]], [[1.0]], [[1.0]]]))", LoDError, "updates"),
            (
                "sequence_scatter(np.ones((3, 4, 2)), [[0], [1], [2]], array([[1.0], [1.0], [1.0]]))",
                ShapeError,
                "updates: has rows",
            ),
        ],
    ),
}
