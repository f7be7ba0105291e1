"""lod_rank_table, reorder_by_rank and shrink_memory, compared with their oracles."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import (
    LoD,
    LoDError,
    LoDTensor,
    RankTable,
    TensorArray,
    array,
    lod_rank_table,
    reorder_by_rank,
    shrink_memory,
)
from reference.ops import rank_table as oracle
from tests.helpers.agree import assert_rows, from_the_first, numbered, same
from tests.helpers.draw import lod_tensors, lods, values


@given(lods(min_levels=1), st.data())
def test_lod_rank_table(lod, data):
    level = data.draw(st.integers(-lod.num_levels, lod.num_levels - 1))
    indices, lengths = oracle.lod_rank_table(numbered(lod), from_the_first(level, lod))
    for x in (lod, LoDTensor(np.empty((lod.num_rows, 0)), lod)):
        table = lod_rank_table(x, level)
        assert table.indices.tolist() == indices
        assert table.lengths.tolist() == lengths
        assert len(table) == len(indices)
        for vector in (table.indices, table.lengths):
            assert vector.dtype == np.int64
            assert not vector.flags.writeable


def test_few_long_sequences_are_ranked_without_memory_for_their_steps():
    lengths = [2**40, 3, 0, 2**45, 3, 2**40]
    table = lod_rank_table(LoD.from_lengths(lengths))
    assert table.indices.tolist() == [3, 0, 5, 1, 4, 2]
    assert table.lengths.tolist() == sorted(lengths, reverse=True)


@given(lod_tensors())
def test_reorder_by_rank(x):
    table = lod_rank_table(x)
    result = reorder_by_rank(x, table)
    assert_rows(result, oracle.reorder_by_rank(numbered(x.lod), table.indices.tolist()), x.num_levels, x.values)
    assert result.values.flags.writeable
    assert not np.may_share_memory(result.values, x.values)
    assert same(reorder_by_rank(result, RankTable(np.argsort(table.indices), table.lengths)), x)


@given(lod_tensors(), st.data())
def test_reorder_by_rank_of_dense_rows_copies_them(x, data):
    table = lod_rank_table(x)
    rows = data.draw(values(n_rows=len(x)))
    result = reorder_by_rank(rows, table)
    assert_rows(result, table.indices.tolist(), 0, rows)
    assert not np.may_share_memory(result, rows)


@given(lod_tensors(), st.data())
def test_shrink_memory_keeps_the_rows_of_sequences_that_are_longer(x, data):
    table = lod_rank_table(x)
    ordered = reorder_by_rank(x, table)
    memory = data.draw(values(n_rows=len(x)))
    nested = numbered(ordered.lod)
    for step in range(int(x.lengths.max(initial=0)) + 2):
        kept = oracle.shrink_memory(nested, step, table.lengths.tolist())
        assert_rows(shrink_memory(ordered, step, table), kept, x.num_levels, ordered.values)
        left = oracle.shrink_memory(list(range(len(x))), step, table.lengths.tolist())
        shrunk = shrink_memory(memory, np.int8(step), table)
        assert_rows(shrunk, left, 0, memory)
        assert shrunk.nbytes == 0 or np.shares_memory(shrunk, memory)
        memory = memory[: len(shrunk)]  # a loop passes on the result of an earlier step
    assert len(shrink_memory(ordered, 2**70, table)) == 0


def test_shrink_memory_gives_records_the_byte_order_of_the_machine():
    records = np.array([(1, [2.0, 3.0]), (4, [5.0, 6.0])], [("a", "i4"), ("v", np.dtype("f8").newbyteorder("S"), 2)])
    shrunk = shrink_memory(records, 1, lod_rank_table([[1], [2, 3]]))
    assert shrunk.dtype == np.dtype([("a", "i4"), ("v", "f8", 2)])
    assert shrunk["v"].tolist() == [[2.0, 3.0]]


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("by_length", [False, True])
def test_sequences_in_another_order_than_the_table_are_refused(level, by_length):
    x = array([[[1], [2, 3, 4]], [[5, 6]]])
    table = TensorArray.unpack(x, level, sort_by_length=by_length)[1].rank
    upper = x if level == 0 else LoDTensor(x.values, LoD.from_offsets(x.lod.offsets(1)))
    for order in itertools.permutations(range(len(upper))):
        y = upper[list(order)]
        if y.lengths.tolist() == table.lengths.tolist():
            assert shrink_memory(y, 0, table).equals(y)
        else:
            with pytest.raises(LoDError, match=r"shrink_memory: x: sequence [01] has length .*reorder_by_rank"):
                shrink_memory(y, 0, table)
            assert shrink_memory(y, 0, table, check_order=False).equals(y)


@given(st.permutations(range(4)), st.lists(st.integers(0, 5), min_size=4, max_size=4))
def test_tables_of_two_vectors_are_those_of_the_sequences(indices, lengths):
    lengths.sort(reverse=True)
    table = RankTable(indices, lengths)
    of_sequences = np.empty(4, np.int64)
    of_sequences[list(indices)] = lengths
    assert table.lod == LoD.from_lengths(of_sequences)
    assert table.lod.lengths()[table.indices].tolist() == table.lengths.tolist() == lengths
    x = LoDTensor.from_lengths(np.arange(sum(lengths)), of_sequences)
    assert reorder_by_rank(x, table).tolist() == [x.tolist()[k] for k in indices]


def test_equal_lengths_keep_their_order():
    x = array([[1], [2, 3], [4], [5, 6], []])
    table = lod_rank_table(x)
    assert table.indices.tolist() == [1, 3, 0, 2, 4]
    assert table.lengths.tolist() == [2, 2, 1, 1, 0]
    assert reorder_by_rank(x, table).tolist() == [[2, 3], [5, 6], [1], [4], []]
    assert shrink_memory(reorder_by_rank(x, table), 1, table).tolist() == [[2, 3], [5, 6]]
    assert repr(table) == "RankTable(5 sequences, index: length {1: 2, 3: 2, 0: 1, 2: 1, 4: 0})"


def test_many_sequences_of_few_lengths_stay_in_order():
    lengths = np.arange(1000) % 7
    table = lod_rank_table(LoDTensor.from_lengths(np.empty((lengths.sum(), 0)), lengths))
    assert table.indices.tolist() == np.argsort(-lengths, kind="stable").tolist()


def test_reorder_and_shrink_return_plain_native_arrays():
    table = lod_rank_table([[1], [2, 3], [4]])
    for rows in (np.arange(3, dtype=">i4"), np.arange(3).view(np.recarray), np.arange(6)[::2]):
        for result in (shrink_memory(rows, 0, table), reorder_by_rank(rows, table)):
            assert type(result) is np.ndarray
            assert result.dtype.isnative
            assert sorted(result.tolist()) == rows.tolist()


@pytest.mark.parametrize("lengths", [[5, 3, 3, 0], [0, 3, 5, 3], []])
def test_sequences_longer_than_a_step_in_any_order(lengths):
    x = LoDTensor.from_lengths(np.zeros(sum(lengths)), np.array(lengths, int))
    tables = lod_rank_table(x), TensorArray.unpack(x, 0, sort_by_length=False)[1].rank
    for table in tables:
        assert [table.count_longer(step) for step in range(7)] == [sum(n > step for n in lengths) for step in range(7)]


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


@pytest.mark.not_on_reference
def test_shrink_memory_keeps_the_sequences_longer_than_the_step_in_every_table(all_tables):
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


@pytest.mark.not_on_reference
def test_shrink_memory_gradient_is_zero_for_sequences_that_were_dropped(all_tables):
    for lengths, table in all_tables[-162:]:
        x = LoDTensor.from_lengths(np.zeros(sum(lengths)), lengths)
        for step in range(3):
            left = np.repeat(np.array(lengths) > step, lengths)
            result, back = lodcore.vjp(lambda x, step=step, table=table: lodcore.shrink_memory(x, step, table), x)
            assert result.lengths.tolist() == [length for length in lengths if length > step]
            (found,) = back(np.arange(1.0, left.sum() + 1))
            assert found.values[left].tolist() == list(range(1, left.sum() + 1))
            assert not found.values[~left].any()


@pytest.mark.not_on_reference
def test_shrink_memory_refuses_sequences_in_another_order_at_every_step():
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
