"""Samples of binary search and of interpolation."""

import numpy as np

from lodcore import DTypeError, LoD, LoDError, LoDTensor, ShapeError
from lodcore.ops import sequence_sort
from reference.ops import search as oracle
from tests.helpers.draw import composite, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS, batches, full_batches

NUMBERS = batches(["f8", "f4", "i8", "u1", "?"], [()])


def with_lengths(x, lengths):
    """Return the LoD of x with other lengths of the sequences of its last level."""
    return LoD.from_lengths(*[x.lod.lengths(k) for k in range(x.num_levels - 1)], lengths)


@composite
def searches(draw):
    x = sequence_sort(draw(NUMBERS))
    random = np.random.default_rng(draw(SEEDS))
    lod = with_lengths(x, random.integers(0, 4, x.lod.num_sequences(x.num_levels - 1)))
    v = random.integers(0, 4, lod.num_rows).astype(draw(sampled_from(["f8", "f4", "i8", "u1"])))
    v = LoDTensor(read_only(v), lod)
    kind = draw(sampled_from(["number", "number", "S3", "U2", "M8[D]", "m8[s]"]))
    if kind != "number":  # small numbers as text and dates, with the same order
        x, v = (
            one.with_values(np.nan_to_num(one.values.astype("f8").clip(0, 9)).astype("i8").astype(kind))
            for one in (x, v)
        )
        x = sequence_sort(x)
    return draw(sampled_from([call(x, v), call(x, v, "right")]))


@composite
def interpolations(draw, drawn, empty=True):
    x = draw(drawn)
    random = np.random.default_rng(draw(SEEDS))
    lod = with_lengths(x, random.integers(0 if empty else 1, 4, x.lod.num_sequences(x.num_levels - 1)))
    places = np.arange(lod.num_rows) * 0.75 - lod.num_rows * 0.37 + 0.1034
    values = random.normal(size=(lod.num_rows, *draw(sampled_from([(), (), (2,), (2, 1), (0,)]))))
    return call(x, LoDTensor(read_only(places), lod), LoDTensor(read_only(values), lod))


COSTS = """
lodcore.sequence_searchsorted(x, x)
lodcore.sequence_interp(x, x, x)
"""
SAMPLES = {
    "sequence_searchsorted": Samples(
        searches(),
        lambda a: oracle.sequence_searchsorted(a["x"].tolist(), a["v"].tolist(), a["side"], a["x"].num_levels),
        None,
        [
            ("sequence_searchsorted(flat, flat[:2])", LoDError, "v: has 2 sequences; x has 3"),
            ("sequence_searchsorted(flat, x)", LoDError, "v: has 2 levels; x has 1"),
            ("sequence_searchsorted(flat, flat, 'middle')", ValueError, "side: is 'middle'; one of"),
            ("sequence_searchsorted(wide, flat)", ShapeError, r"x: has rows of shape \(2,\)"),
            ("sequence_searchsorted(flat, [['a'], [], []])", DTypeError, "v: has dtype <U1.*on both sides"),
            ("sequence_searchsorted(rows, flat)", DTypeError, "x: .*ndarray"),
            ("sequence_searchsorted(flat, flat.astype('g'))", DTypeError, "v: has dtype (longdouble|float128)"),
            ("sequence_searchsorted(flat, flat.astype(bool) + 0j)", DTypeError, "v: has dtype complex128"),
            ("sequence_searchsorted(flat[:2], flat)", LoDError, "v: has 3 sequences; x has 2"),
        ],
    ),
    "sequence_interp": Samples(
        interpolations(batches(["f8", "f4", "i8"], [()])),
        lambda a: oracle.sequence_interp(
            *[a[name].tolist() for name in ("x", "xp", "fp")], a["x"].num_levels, a["fp"].values.shape[1:]
        ),
        interpolations(full_batches([()]), False),
        [
            ("sequence_interp(flat, flat[:2], flat[:2])", LoDError, "xp: has 2 sequences; x has 3"),
            ("sequence_interp(flat, flat, [[1], [], [1, 2, 3]])", LoDError, "fp: sequence 0"),
            ("sequence_interp(flat, x, x)", LoDError, "xp: has 2 levels; x has 1"),
            ("sequence_interp(flat, flat, x)", LoDError, "fp: has 2 levels; x has 1"),
            ("sequence_interp(wide, wide, wide)", ShapeError, r"x: has rows of shape \(2,\)"),
            ("sequence_interp([['a']], [[1]], [[1]])", DTypeError, "x: has dtype <U1"),
            ("sequence_interp(rows, flat, flat)", DTypeError, "x: .*ndarray"),
            ("sequence_interp(x, x, flat)", LoDError, "fp: has 1 level; x has 2"),
            ("sequence_interp(flat, flat, flat.astype('g'))", DTypeError, "fp: has dtype (longdouble|float128)"),
            ("sequence_interp(flat[:2], flat, flat)", LoDError, "xp: has 3 sequences; x has 2"),
            ("sequence_interp(flat, flat, flat[:2])", LoDError, "fp: has 2 sequences"),
            ("sequence_interp(flat[:2], flat[:2], flat)", LoDError, "fp: has 3 sequences"),
        ],
        exact=False,
    ),
}
