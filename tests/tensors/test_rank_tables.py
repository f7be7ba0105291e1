"""One rank object: the map of unpack, the table of lod_rank_table and `steps.rank` agree; structure is data."""

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDError, LoDTensor, TensorArray, ops
from lodcore.graph import Executor, Program, VarArray, data
from tests.helpers.texts_in_every_way import WAYS, check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

RANDOM = np.random.default_rng(11)
LENGTHS = [2, 0, 4, 1, 4, 0, 3]
X = LoDTensor.from_lengths(RANDOM.standard_normal((sum(LENGTHS), 2)), LENGTHS)
BOOT = RANDOM.standard_normal((len(LENGTHS), 3))
W, U = RANDOM.standard_normal((2, 3)), RANDOM.standard_normal((3, 3))
NESTED = LoDTensor.from_lengths(np.arange(6.0), [2, 0, 1], [1, 3, 2])


def rnn_by_hand(x, boot, w, u):
    """Run the network over each sequence separately."""
    made = [np.empty((0, boot.shape[1]))]
    for s in range(len(x)):
        state = boot[s]
        for row in x[s]:
            state = np.tanh(row @ w + state @ u)
            made.append(state[None])
    return LoDTensor(np.concatenate(made), x.lod)


#: Ways to obtain a rank: from the sequences, the steps, and their map.
RANKS = {
    "indices_map": lambda x, steps, indices_map: indices_map,
    "RankTable": lambda x, steps, indices_map: lodcore.lod_rank_table(x),
    "steps.rank": lambda x, steps, indices_map: steps.rank,
}
RANK_OF_STEPS = [(sort, name) for sort in (True, False) for name in RANKS if sort or name != "RankTable"]

every_rank = pytest.mark.parametrize(("sort_by_length", "name"), RANK_OF_STEPS)


@every_way
@every_rank
def test_rank_of_unpack_serves_reorder_shrink_and_pack(way, sort_by_length, name):
    """In reorder_by_rank, shrink_memory and pack, also for unsorted steps, which are in the order of the batch."""

    def text(while_loop, x, boot, w, u):
        steps, indices_map = TensorArray.unpack(x, 0, sort_by_length)
        rank = RANKS[name](x, steps, indices_map)
        outputs, first = TensorArray(), lodcore.reorder_by_rank(boot, rank)
        loop = while_loop()
        with loop.loop():
            t, before = loop.loop_var(0), loop.loop_var(first)
            loop.break_if(t >= steps.size())
            state = lodcore.tanh(steps.read(t) @ w + lodcore.shrink_memory(before, t, rank) @ u)
            outputs.write(t, state)
            before.update(state)
        return outputs.pack(0, rank)

    check(way, text, rnn_by_hand, X, BOOT, W, U)


@every_way
@pytest.mark.parametrize("sort_by_length", [True, False])
@pytest.mark.parametrize("kind", [TensorArray, VarArray])
def test_rnn_over_unpacked_steps_with_steps_boot_equals_plain_loops(way, sort_by_length, kind):
    """Nothing is ranked twice: `steps.boot` takes a state in the order of the batch."""

    def text(while_loop, x, boot, w, u):
        steps, outputs = kind(), kind()
        _, indices_map = steps.unpack(x, 0, sort_by_length)
        default = steps.boot(boot)
        loop = while_loop()
        with loop.loop():
            t = loop.loop_var(0)
            loop.break_if(t >= steps.size())
            before = lodcore.shrink_memory(outputs.read(t - 1, default), t, steps.rank)
            outputs.write(t, lodcore.tanh(steps.read(t) @ w + before @ u))
        return outputs.pack(0, indices_map)

    check(way, text, rnn_by_hand, X, BOOT, W, U)


@every_way
def test_boot_of_a_lod_tensor_is_reordered_by_sequences(way):
    """A state may be a LoDTensor with one sequence per sequence of x, in the order of the batch; two of x are empty."""
    memory = LoDTensor.from_lengths(RANDOM.standard_normal(9), [1, 3, 0, 2, 2, 0, 1])

    def text(while_loop, x, memory):
        steps, indices_map = TensorArray.unpack(x, 0)
        sums = lodcore.sequence_pool(steps.boot(memory), "sum")
        return sums[:5], lodcore.reorder_by_rank(memory, indices_map)

    def meaning(x, memory):
        order = np.argsort(-np.array(LENGTHS), kind="stable")
        sums = np.array([np.sum(memory[s]) for s in order[:5]])
        return sums, LoDTensor.from_arrays([np.asarray(memory[s]) for s in order])

    check(way, text, meaning, X, memory)


@pytest.mark.parametrize("sort_by_length", [True, False])
def test_rank_has_indices_and_lengths_in_its_order(sort_by_length):
    steps, indices_map = TensorArray.unpack(X, 0, sort_by_length)
    order = np.argsort(-np.array(LENGTHS), kind="stable") if sort_by_length else np.arange(7)
    for rank in (steps.rank, indices_map):
        assert rank.indices.tolist() == order.tolist()
        assert rank.lengths.tolist() == [LENGTHS[s] for s in order]
    if sort_by_length:
        table = lodcore.lod_rank_table(X)
        assert table.indices.tolist() == order.tolist()
        assert steps.pack(0, table).equals(X)
    boot = steps.boot(BOOT)
    np.testing.assert_array_equal(boot, BOOT[order][: len(boot)])


@pytest.mark.parametrize("held", ["all", "step before", "step 0"])
def test_a_state_shrinks_by_unsorted_steps(held):
    """The number of its rows determines whether they belong to an earlier step, or to all sequences."""
    rank = TensorArray.unpack(X, 0, sort_by_length=False)[1]
    lengths = np.array(LENGTHS)
    for t in range(1, 5):
        before = np.arange(7) if held == "all" else np.flatnonzero(lengths > (t - 1 if held == "step before" else 0))
        found = lodcore.shrink_memory(before * 10.0, t, rank)
        assert found.tolist() == (np.flatnonzero(lengths > t) * 10.0).tolist()
    with pytest.raises(LoDError, match="shrink_memory: x: has 6"):
        lodcore.shrink_memory(np.zeros(6), 1, rank)


def test_a_rank_of_another_batch_is_refused():
    steps, _ = TensorArray.unpack(X, 0)
    with pytest.raises(LoDError, match="table: has 3 sequences; x has 7"):
        lodcore.reorder_by_rank(X, lodcore.lod_rank_table([[1.0], [], [2.0]]))
    with pytest.raises(LoDError):
        steps.pack(0, lodcore.lod_rank_table([[1.0], [], [2.0]]))
    with pytest.raises(LoDError, match="table: has 7 sequences; x has 3"):
        steps.boot(BOOT[:3])


@every_way
def test_sequences_in_another_order_than_the_rank_are_refused(way):
    """Without the check it would be silently wrong: row k would be matched with the k-th longest sequence."""
    x = LoDTensor.from_lengths(np.arange(5.0), [1, 3, 1])

    def text(while_loop, x):
        return lodcore.shrink_memory(x, 1, lodcore.lod_rank_table(x))

    with pytest.raises(LoDError, match=r"shrink_memory: x: .*order"):
        WAYS[way](text, x)

    def in_order(while_loop, x):
        table = lodcore.lod_rank_table(x)
        return lodcore.shrink_memory(lodcore.reorder_by_rank(x, table), 1, table)

    check(way, in_order, lambda x: LoDTensor.from_lengths(x.values[1:4], [3]), x)


def test_docstring_of_shrink_memory_mentions_unchecked_dense_states():
    assert "order" in lodcore.shrink_memory.__doc__
    assert "dense" in lodcore.shrink_memory.__doc__


# -- structure is data ------------------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize(
    "lengths_of",
    [
        lambda x: x.lengths,
        lambda x: lodcore.lod_lengths(x),
        lambda x: lodcore.lod_lengths(x, level=0),
        lambda x: x.offsets[1:] - x.offsets[:-1],
    ],
    ids=["x.lengths", "lod_lengths", "lod_lengths of level 0", "x.offsets"],
)
def test_lengths_of_a_variable_divide_sums_in_every_way(way, lengths_of):
    def text(while_loop, x):
        lengths = ops.cast(lengths_of(x), "float64")
        return lengths, lodcore.sequence_pool(x, "sum") / (lengths + 1.0)

    def meaning(x):
        lengths = np.array([4.0, 0.0, 3.0])
        return lengths, np.array([np.sum(x[s]) / (lengths[s] + 1.0) for s in range(3)])

    check(way, text, meaning, LoDTensor.from_lengths(np.arange(7.0), [4, 0, 3]))


@every_way
def test_operators_take_x_lod_as_an_argument_in_every_way(way):
    def text(while_loop, x, v):
        return lodcore.sequence_expand_as(v, x.lod), lodcore.lod_reset(ops.sum(x, axis=-1), x.lod)

    def meaning(x, v):
        return LoDTensor(np.repeat(v, LENGTHS, axis=0), x.lod), LoDTensor(x.values.sum(axis=1), x.lod)

    check(way, text, meaning, X, BOOT)


@every_way
def test_indices_map_computes_as_an_int32_tensor(way):
    """The int32 tensor of the design document: from elements of the steps to elements of x."""

    def text(while_loop, x):
        _, indices_map = TensorArray.unpack(x, 0)
        return lodcore.add(indices_map, 1), ops.cast(indices_map, "float64") * ops.sum(x)

    order = np.concatenate([[s for s in (2, 4, 6, 0, 3) if LENGTHS[s] > t] for t in range(4)])
    steps = np.repeat(range(4), [sum(length > t for length in LENGTHS) for t in range(4)])
    rows = np.cumsum([0, *LENGTHS])[order] + steps

    check(way, text, lambda x: (rows + 1, rows * np.sum(x.values)), X)


def test_executor_fetches_lengths_offsets_tables_and_maps():
    with Program() as program:
        x = data("x", (None,), "float64", num_levels=2)
        table = lodcore.lod_rank_table(x)
        _, indices_map = TensorArray.unpack(x, 0)
        wanted = [x.lengths, x.offsets, lodcore.lod_lengths(x, level=1), lodcore.lod_lengths(x, -1)]
        wanted += [table.lengths, table.indices, indices_map, x.lod]
    for fed in (NESTED, NESTED[1:], NESTED[:0]):
        found = Executor().run(program, {"x": fed}, wanted)
        lengths = fed.lod.lengths(0)
        order = np.argsort(-lengths, kind="stable")
        for one, other in zip(
            found[:6],
            [lengths, fed.lod.offsets(0), fed.lod.lengths(1), fed.lod.lengths(1), lengths[order], order],
            strict=True,
        ):
            assert one.dtype.kind == "i"
            assert one.tolist() == other.tolist()
        assert np.asarray(found[6]).tolist() == TensorArray.unpack(fed, 0)[1].tolist()
        assert isinstance(found[7], LoD)
        assert found[7] == fed.lod


def test_lod_lengths_refuses_levels_out_of_range():
    for level in (1, -2, 5):
        with pytest.raises(lodcore.LevelError, match=f"lod_lengths: level: is {level}"):
            lodcore.lod_lengths(X, level)
    with pytest.raises(lodcore.DTypeError, match="lod_lengths: x"):
        lodcore.lod_lengths(np.zeros(3))
