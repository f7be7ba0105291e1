"""Samples of distinct values, ranks, and sequences as runs of equal rows."""

import numpy as np

from lodcore import DTypeError, LoDError, LoDTensor, ShapeError
from reference.ops import runs as oracle
from tests.helpers.agree import from_the_first
from tests.helpers.draw import composite, integers, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS, batches
from tests.samples.sort import by, distinct, errors, tensors, texts

METHODS = ["average", "min", "max", "dense", "ordinal"]


@composite
def leveled(draw, drawn):
    x = draw(drawn)
    return draw(sampled_from([call(x), call(x, draw(integers(-x.num_levels, x.num_levels - 1)))]))


@composite
def rank_calls(draw, drawn):
    x, method = draw(drawn), draw(sampled_from(METHODS))
    level = draw(integers(-x.num_levels, x.num_levels - 1))
    return draw(sampled_from([call(x), call(x, method), call(x, method, level), call(x, method, level, True)]))


def single(x):
    """Return the first column alone."""
    width = int(np.prod(x.values.shape[1:]))
    rows = x.values.reshape(len(x.values), width)[:, 0].copy() if width else np.zeros(len(x.values))
    return LoDTensor(read_only(rows), x.lod)


SINGLES = (tensors() | texts()).map(single)
DISTINCT = distinct().map(single).filter(lambda x: len(np.unique(x.values)) == len(x.values))


@composite
def repeated(draw, drawn):
    x = draw(drawn)
    counts = np.random.default_rng(draw(SEEDS)).integers(0, 4, x.num_rows)
    return call(x, LoDTensor(read_only(counts.astype(draw(sampled_from(["i8", "u1", "i4"])))), x.lod))


def of_singles(function):
    """Make `expected` from an oracle for rows of one value."""
    return lambda a: function(a["x"].tolist(), from_the_first(a["level"], a["x"].lod), a["x"].num_levels)


def without_empty(x):
    """Return whether no sequence is empty; the mode of one is nan."""
    return all((x.lod.lengths(level) > 0).all() for level in range(x.num_levels))


def kinds(name):
    """List the wrong calls of operators that need rows of one value."""
    return [*errors(name), (f"{name}(wide)", ShapeError, r"x: has rows of shape \(2,\)")]


COSTS = """
ops.sequence_unique(x)
ops.sequence_unique(t, 0)
lodcore.repeat_runs(x, i % 3)
"""
SAMPLES = {
    "sequence_unique": Samples(
        leveled(SINGLES), of_singles(oracle.sequence_unique), leveled(DISTINCT), kinds("sequence_unique")
    ),
    "sequence_unique_all": Samples(
        leveled(SINGLES),
        of_singles(oracle.sequence_unique_all),
        leveled(DISTINCT),
        kinds("sequence_unique_all"),
    ),
    "sequence_n_unique": Samples(
        leveled(tensors() | texts()), by(oracle.sequence_n_unique), None, errors("sequence_n_unique")
    ),
    "sequence_mode": Samples(
        leveled(batches(["f8", "f4", "f2"])),
        by(oracle.sequence_mode),
        leveled(distinct().filter(without_empty)),
        [
            *errors("sequence_mode"),
            ("sequence_mode(flat)", ValueError, "x: sequence 1 of level 0 is empty; int64 has no nan"),
            (
                "sequence_mode(array([[1], [], [2], []]))",
                ValueError,
                "sequence 1 of level 0 is empty; int64 has no nan",
            ),
            ("sequence_mode(array([[[1], [2]], [[3], [], []]]))", ValueError, "sequence 3 of level 1 is empty"),
            ("sequence_mode(array([['a'], ['b'], []]))", ValueError, "sequence 2 of level 0 is empty; <U1 has no nan"),
        ],
    ),
    "sequence_rank": Samples(
        rank_calls(tensors() | texts()),
        by(oracle.sequence_rank, "method", "descending"),
        None,
        [*errors("sequence_rank"), ("sequence_rank(flat, 'first')", ValueError, "method: is 'first'; one of")],
    ),
    "run_lengths": Samples(
        (tensors() | texts()).map(call),
        lambda a: oracle.run_lengths(a["x"].tolist(), a["x"].num_levels),
        distinct().map(call),
        [("run_lengths(rows)", DTypeError, "x: .*ndarray"), ("run_lengths(lod)", DTypeError, "x: .*LoD")],
    ),
    "repeat_runs": Samples(
        repeated(tensors() | texts()),
        lambda a: oracle.repeat_runs(a["x"].tolist(), a["counts"].tolist(), a["x"].num_levels),
        repeated(distinct()),
        [
            ("repeat_runs(flat, x)", LoDError, "counts: has 2 levels"),
            ("repeat_runs(flat, [[1], [], [1, 1, 1]])", LoDError, "counts: sequence 0"),
            ("repeat_runs(flat, [[1, -1], [], [1, 1, 1]])", ValueError, "counts: is -1 at row 1; 0 or more"),
            ("repeat_runs(flat, [[1, 1], [], [1, 1, 1.5]])", DTypeError, "counts: has dtype float64"),
            ("repeat_runs(wide, wide)", ShapeError, r"counts: has rows of shape \(2,\)"),
            ("repeat_runs(flat, [[1, 2**62], [], [2**62, 1, 1]])", MemoryError, "repeat_runs"),
            ("repeat_runs(rows, rows)", DTypeError, "x: .*ndarray"),
            ("repeat_runs(array([[1, 2, 3, 4]]), [[2**62] * 4])", MemoryError, None),
            ("repeat_runs(array([[1, 2, 3, 4]]), [[2**61] * 4])", MemoryError, None),
            ("repeat_runs(flat, [[1, 2], [], [1, -1, -9]])", ValueError, "counts: is -1 at row 3; 0 or more"),
            (
                "repeat_runs(array([[1, 2]]), array([[0, 2**63]], dtype='u8'))",
                IndexError,
                "counts: is 9223372036854775808",
            ),
            ("repeat_runs(flat, flat * 0.5)", DTypeError, "counts: has dtype float64; integers"),
            (
                "repeat_runs(flat[:0], wide.astype(int)[:0])",
                ShapeError,
                r"counts: has rows of shape \(2,\); one number per row",
            ),
        ],
    ),
}
