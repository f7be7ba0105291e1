"""All small cases of operators, one by one, compared with NumPy or with a few lines of plain Python."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDError, LoDTensor, ShapeError
from lodcore.ops.reduce.quantiles import METHODS
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # kernels are compared with their twins elsewhere
EDGES = [-np.inf, np.nan, np.inf]


# -- quantiles, at the limits of each number of rows ---------------------------------------------------------------


@for_each("method", METHODS)
def test_quantiles_at_and_beside_the_limits(method):
    for count in range(1, 9):
        limits = np.arange(count + 1) / count
        chances = np.unique(np.clip([limits, limits + 1e-4, limits - 1e-4, np.nextafter(limits, 2)], 0, 1))
        column = np.random.default_rng(count).permutation(count) * 1.5
        found = lodcore.sequence_quantile(
            LoDTensor.from_lengths(np.append(column, column), [count] * 2), chances, method
        )
        wanted = np.quantile(column, chances, method=method)
        np.testing.assert_allclose(found, [wanted] * 2, rtol=1e-12, atol=1e-12)


def test_one_nan_in_one_column():
    for (count, width), skip in itertools.product(itertools.product(range(1, 5), (1, 2, 3)), (True, False)):
        for row, column in itertools.product(range(count), range(width)):
            values = np.arange(1.0, 2 * count * width + 1).reshape(2 * count, width)
            values[count + row, column] = np.nan
            found = lodcore.sequence_quantile(LoDTensor.from_lengths(values, [count, count]), 0.4, skip_nan=skip)
            for part, one in zip(np.split(values, 2), found, strict=True):
                kept = [c[~np.isnan(c)] if skip else c for c in part.T]
                np.testing.assert_allclose(one, [np.quantile(c, 0.4) if len(c) else np.nan for c in kept])


# -- ranges --------------------------------------------------------------------------------------------------------


@for_each("step", [1, 2, 3, -1, -2, -3, 0.5, -0.75])
def test_ranges_are_those_of_numpy(step):
    ends = np.arange(-3, 4) * (1 if isinstance(step, int) else 0.5)
    starts, stops = (one.ravel() for one in np.meshgrid(ends, ends))
    wanted = [np.arange(a, b, step).tolist() for a, b in zip(starts, stops, strict=True)]
    assert lodcore.arange(starts, stops, step).tolist() == wanted
    assert lodcore.arange(starts, stops, np.full(len(starts), step)).tolist() == wanted
    assert lodcore.arange(starts, stops[0], step).tolist() == [np.arange(a, stops[0], step).tolist() for a in starts]
    assert lodcore.arange(starts[:3], stops[:3], step).tolist() == wanted[:3]


def test_ranges_of_nothing():
    for given in ([], 0, 0), (0, [], 2), (3, 5, []), ([], [], []):
        assert lodcore.arange(*given).tolist() == []
    with pytest.raises(ShapeError, match="starts: has 2 entries; there are 0 ranges"):
        lodcore.arange([1, 2], [3, 4], [])


# -- what remains of a batch, in tables of every order -------------------------------------------------------------


def tables():
    """Yield tables in the order of a batch, and longest first, with the lengths in their order."""
    for count in range(5):
        for lengths in itertools.product(range(3), repeat=count):
            x = LoDTensor.from_lengths(np.zeros(sum(lengths)), np.array(lengths, int))
            for sort_by_length in (False, True):
                table = lodcore.TensorArray.unpack(x, 0, sort_by_length=sort_by_length)[1]
                yield (sorted(lengths, reverse=True) if sort_by_length else list(lengths)), table


@pytest.fixture(scope="module")
def all_tables():
    return list(tables())


def test_what_remains_at_each_step(all_tables):
    for lengths, table in all_tables:
        batches = {tuple(j for j, length in enumerate(lengths) if length > t) for t in range(-1, 3)}
        for step in range(4):
            for there in batches:
                left = [j for j in there if lengths[j] > step]
                if len(left) == sum(length > step for length in lengths):
                    assert lodcore.shrink_memory(np.array(there, int), step, table).tolist() == left
            wanted = {len(there) for there in batches if len(there) >= sum(length > step for length in lengths)}
            falls = lengths == sorted(lengths, reverse=True)
            for count in range(len(lengths) + 2):
                most = sum(length > step for length in lengths) <= count <= len(lengths)
                if count not in wanted and not (falls and most):
                    with pytest.raises(LoDError, match=rf"shrink_memory: x: has {count} sequences; "):
                        lodcore.shrink_memory(np.zeros(count), step, table)


def test_gradients_of_what_remains(all_tables):
    for lengths, table in all_tables[-162:]:
        x = LoDTensor.from_lengths(np.zeros(sum(lengths)), lengths)
        for step in range(3):
            left = np.repeat(np.array(lengths) > step, lengths)
            result, back = lodcore.vjp(lambda x, step=step, table=table: lodcore.shrink_memory(x, step, table), x)
            assert result.lengths.tolist() == [length for length in lengths if length > step]
            (found,) = back(np.arange(1.0, left.sum() + 1))
            assert found.values[left].tolist() == list(range(1, left.sum() + 1))
            assert not found.values[~left].any()


def test_another_order_is_refused_at_every_step():
    lengths = [3, 1, 3, 2]
    of_batch = lodcore.TensorArray.unpack(LoDTensor.from_lengths(np.zeros(9), lengths), 0, sort_by_length=False)[1]
    for order in itertools.permutations(lengths):
        for table, of_table in ((of_batch, lengths), (lodcore.lod_rank_table(of_batch.lod), [3, 3, 2, 1])):
            x = LoDTensor.from_lengths(np.zeros(9), order)
            if list(order) == of_table:
                continue
            j = [a == b for a, b in zip(order, of_table, strict=True)].index(False)
            with pytest.raises(LoDError, match=f"sequence {j} has length {order[j]}, the table {of_table[j]} there"):
                lodcore.shrink_memory(x, 0, table)
    late = LoDTensor.from_lengths(np.zeros(5), [2, 3])  # what remains at step 1, but for the last
    with pytest.raises(LoDError, match="sequence 0 has length 2, the table 3 there"):
        lodcore.shrink_memory(late, 2, RANKED := lodcore.RankTable([0, 1], [3, 2]))
    assert len(RANKED) == 2
