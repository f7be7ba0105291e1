"""Gradients of operators that move rows, at every level: a cotangent goes to the row that was moved there.

The rows that an operator moves are found by moving the numbers of the rows.
"""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, ops, vjp
from lodcore.testing.samples import several
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # kernels are compared with their twins in tests/kernels

LOD = LoD.from_lengths([2, 0, 1], [2, 0, 1], [3, 0, 2])
#: Sequences of 1, 2 and 3 levels, with as many rows.
NESTED = {n: LoDTensor(np.arange(5), LoD.from_offsets(*map(LOD.offsets, range(3 - n, 3)))) for n in (1, 2, 3)}
FULL = LoDTensor(np.arange(6), LoD.from_lengths([2, 1], [1, 2, 1], [1, 2, 1, 2]))
BY = LoD.from_lengths([2, 1], [0, 2, 3], [1, 1, 2, 0, 2])


def each(x, level, most):
    """Make one number for each sequence of a level: 0 .. most in turn, at most its length."""
    lengths = x.lod.lengths(level)
    return np.minimum(np.arange(len(lengths)) % (most + 1), lengths)


MOVING = {
    "gather_sequences": lambda x, k: lodcore.gather_sequences(x, [-1, 0, 0], k),
    "sequence_slice": lambda x, k: lodcore.sequence_slice(x, each(x, k, 1), x.lod.lengths(k) - each(x, k, 1), k),
    "sequence_reverse": lodcore.sequence_reverse,
    "sequence_roll": lambda x, k: lodcore.sequence_roll(x, each(x, k, 2) - 1, k),
    "sequence_repeat": lambda x, k: lodcore.sequence_repeat(x, np.arange(x.lod.offsets(k)[-1]) % 3, k),
    "sequence_chunk": lambda x, k: lodcore.sequence_chunk(x, 2, 1, "short", k),
    "sequence_chunk, full": lambda x, k: lodcore.sequence_chunk(x, 2, 2, "full", k),
    "sequence_pairs": lambda x, k: lodcore.sequence_pairs(x, True, k),
    "cartesian": lambda x, k: lodcore.cartesian(x, x, k)[1],
    "sequence_concat": lambda x, k: lodcore.sequence_concat([x, x, x], k),
    "concat_batches": lambda x, k: lodcore.concat_batches([x, x[:1], x]),
    "sequence_interleave": lambda x, k: lodcore.sequence_interleave([x, x], k),
    "combinations": lambda x, k: lodcore.combinations(x, 3, True, k),
    "slice_along": lambda x, k: ops.slice_along(x, None, None, -1, k + 1),
    "slice_along, in steps": lambda x, k: ops.slice_along(x, 0, None, 2, k),
    "split_by_mask": lambda x, k: lodcore.split_by_mask(x, np.arange(x.lod.num_sequences(k)) % 2 == 0, k),
    "sequence_truncate": lambda x, k: lodcore.sequence_truncate(x, 1, "left", k),
}


def check(call, x, width):
    """Compare a gradient with the sum of the cotangents over the places where the number of each row is."""
    moved, count = several(call(x)), x.num_rows if isinstance(x, LoDTensor) else len(x)
    rows = np.cos(np.arange(count * width, dtype=float)).reshape(count, width)
    given = x.with_values(rows) if isinstance(x, LoDTensor) else rows
    found, back = vjp(call, given)
    wanted, cotangents = np.zeros_like(rows), []
    for numbers, one in zip(moved, several(found), strict=True):
        numbers, values = (getattr(part, "values", part) for part in (numbers, one))
        np.testing.assert_array_equal(values, rows[numbers])
        cotangents.append(np.sin(1.0 + np.arange(values.size)).reshape(values.shape))
        np.add.at(wanted, numbers, cotangents[-1])
    (d,) = back(*cotangents)
    np.testing.assert_allclose(getattr(d, "values", d), wanted, rtol=1e-12, atol=1e-12)


@for_each(("name", "levels", "width"), itertools.product(MOVING, NESTED, (1, 3)))
def test_gradients_of_moving_operators_go_back_to_the_rows(name, levels, width):
    for x, k in itertools.product((NESTED[levels], FULL if levels == 3 else FULL[0]), range(levels)):
        if x.num_levels == levels:
            check(lambda x, k=k: MOVING[name](x, k), x, width)


@for_each(("ref_level", "levels"), itertools.product(range(-3, 3), range(3)))
def test_gradients_of_expanded_rows_are_summed_over_copies(ref_level, levels):
    """`sequence_expand` of rows, and of sequences of one and two levels; `sequence_expand_as` of rows."""
    count = BY.num_sequences(ref_level)
    lengths = [np.arange(count) % 3]
    lengths.append(np.arange(lengths[0].sum()) % 2 + 1)
    lod = LoD.from_lengths(*lengths[:levels]) if levels else None
    x = LoDTensor(np.arange(lod.num_rows), lod) if levels else np.arange(count)
    for width in (1, 3):
        check(lambda x: lodcore.sequence_expand(x, BY, ref_level), x, width)
        check(lambda x: lodcore.sequence_expand_as(x, BY, ref_level), np.arange(count), width)


@for_each(("dtype", "key"), itertools.product(["f2", "f4", "f8", "c8"], range(6)))
def test_gradients_of_repeated_index_entries_are_summed(dtype, key):
    """By vectors, matrices, negative numbers and masks."""
    rows = np.array([0, 2, 2, 0, -1, 2])
    keys = [
        [rows],
        [rows.reshape(2, 3)],
        [slice(None), rows],
        [rows, rows],
        [rows % 2 == 0, slice(1, None)],
        [rows, 1],
    ][key]
    x = np.arange(36).reshape(6, 6).astype(dtype)
    found, back = vjp(lambda x: ops.index_values(x, keys), x)
    d = np.arange(1, 1 + found.size).reshape(found.shape).astype(dtype)
    wanted = np.zeros_like(x)
    np.add.at(wanted, tuple(keys), d)
    np.testing.assert_array_equal(found, x[tuple(keys)])
    np.testing.assert_array_equal(back(d)[0], wanted, strict=True)


@for_each(("name", "dtype"), itertools.product(["sum", "mean", "max", "min", "lookup", "weighted"], ["f4", "f8"]))
def test_gradients_of_repeated_table_rows_are_summed(name, dtype):
    table = np.sin(np.arange(21)).reshape(7, 3).astype(dtype)
    numbers = np.arange(23) * 5 % 7
    ids = LoDTensor.from_lengths(numbers, [9, 0, 1, 13])
    weights = np.cos(np.arange(23)).astype(dtype)
    if name == "lookup":
        found, back = vjp(lambda table: lodcore.lookup_table(table, ids, padding_idx=3).values, table)
    elif name == "weighted":
        found, back = vjp(lambda table: lodcore.embedding_bag(table, ids, per_sample_weights=weights), table)
    else:
        found, back = vjp(lambda table: lodcore.embedding_bag(table, ids, name), table)
    d, wanted = np.cos(np.arange(found.size)).reshape(found.shape).astype(dtype), np.zeros_like(table)
    for s, (start, stop) in enumerate(itertools.pairwise(ids.lod.offsets())):
        for at in range(start, stop):
            taken, row = table[numbers[start:stop]], numbers[at]
            if name == "lookup":
                wanted[row] += d[at] * (row != 3)
            elif name in ("max", "min"):
                wanted[row] += d[s] * (getattr(taken, f"arg{name}")(0) == at - start)
            else:
                wanted[row] += d[s] * {"sum": 1, "mean": 1 / (stop - start), "weighted": weights[at]}[name]
    np.testing.assert_allclose(back(d)[0].to_dense(), wanted, rtol=1e-5, atol=1e-5)
