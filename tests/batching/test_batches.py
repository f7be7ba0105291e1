"""Batches by a budget: every sequence once per epoch, equal steps on every rank, and resuming anywhere."""

import json
import multiprocessing
import pickle
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import DTypeError, LoD, LoDError, gather_sequences
from lodcore.batching import batches
from lodcore.batching.buckets import classes_by_edges, least_padding, suggested
from tests.helpers.plans import document_lengths, documents_of


@st.composite
def calls(draw):
    lengths = draw(document_lengths(30))
    return lengths, {
        "max_tokens": draw(st.integers(max([1, *lengths]), 40)),
        "count": draw(st.sampled_from(["padded", "sum"])),
        "max_items": draw(st.none() | st.integers(1, 4)),
        "buckets": draw(st.none() | st.integers(1, 4) | st.just([3, 7]) | st.just([])),
        "shuffle": draw(st.booleans()),
        "seed": draw(st.integers(0, 3)),
        "drop_last": draw(st.booleans()),
        "world_size": draw(st.integers(1, 5)),
    }


def ranks(call, epoch=0):
    """List the batches of all ranks of an epoch."""
    lengths, arguments = call
    plans = [batches(lengths, rank=rank, **arguments) for rank in range(arguments["world_size"])]
    for plan in plans:
        plan.set_epoch(epoch)
    return plans, [list(plan) for plan in plans]


@given(calls(), st.integers(0, 2))
def test_every_sequence_once_and_equal_steps(call, epoch):
    lengths, arguments = call
    plans, found = ranks(call, epoch)
    assert len({len(one) for one in found}) == 1
    for plan in plans:
        plan.set_epoch(epoch)
    assert {len(plan) for plan in plans} == {len(found[0])}
    seen = sorted(int(k) for one in found for batch in one for k in batch)
    left_out = plans[0].left_out.tolist()
    assert sorted(seen + left_out) == list(range(len(lengths)))
    assert not left_out or arguments["drop_last"]
    assert plans[0].report().left_out.tolist() == left_out
    sizes = np.array(lengths, np.int64)
    edges = plans[0].edges
    for batch in (batch for one in found for batch in one):
        held = sizes[batch]
        used = len(held) * held.max(initial=0) if arguments["count"] == "padded" else held.sum()
        assert used <= arguments["max_tokens"]
        assert arguments["max_items"] is None or len(held) <= arguments["max_items"]
        if edges is not None and len(held) and not (arguments["world_size"] > 1 and not arguments["drop_last"]):
            assert len(set(np.searchsorted(edges, held).tolist())) == 1


@given(calls())
def test_the_report_counts_what_all_ranks_hold(call):
    lengths, arguments = call
    plans, found = ranks(call)
    plans[0].set_epoch(0)
    sizes, each = np.array(lengths, np.int64), [batch for step in zip(*found, strict=True) for batch in step]
    report, held = plans[0].report(), [sizes[batch].tolist() for batch in each if len(batch)]
    assert [int(one) for one in plans[0].tokens()] == [int(sizes[batch].sum()) for batch in each]
    assert (report.num_steps, report.max_tokens) == (len(found[0]), arguments["max_tokens"])
    assert (report.num_sequences, report.num_batches) == (sum(map(len, held)), len(held))
    assert report.num_tokens == sum(map(sum, held))
    padded = sum(len(one) * max(one) for one in held)
    assert report.padding == (padded - report.num_tokens if arguments["count"] == "padded" else 0)
    assert report.occupancy == (report.num_tokens / (len(held) * arguments["max_tokens"]) if held else 1.0)


@given(calls(), st.integers(0, 60))
def test_a_state_goes_on_where_it_was(call, steps):
    lengths, arguments = call
    plan = batches(lengths, **arguments)
    for _ in range(steps):
        next(plan, None)
    state = json.loads(json.dumps(plan.state_dict()))
    assert len(state) <= 8
    fresh = batches(np.array(lengths, np.int64), **arguments | {"seed": 99})
    begun = batches(np.array(lengths, np.int64), **arguments | {"seed": 98})
    assert len(begun) >= 0
    next(begun, None)  # its order is fixed, and that of the state differs
    for other in (fresh, begun):
        other.load_state_dict(state)
    for _ in range(30):
        one, *others = next(plan, None), next(fresh, None), next(begun, None)
        for other in others:
            assert (one is None) == (other is None)
            np.testing.assert_array_equal(one, other)


def test_no_batch_can_be_written():
    for count, drop_last in ((5, False), (6, False), (5, True)):
        plan = batches([2] * count, 4, shuffle=False, world_size=2, drop_last=drop_last)
        for k in range(len(plan)):
            with pytest.raises(ValueError, match="read-only"):
                plan[k][:] = 0


@pytest.mark.parametrize("count", [3, 2**15 - 1, 2**15, 2**15 + 3])
def test_any_number_of_buckets(count):
    edges = np.arange(1, count + 1)
    lengths = np.array([0, 1, 2, count - 1, count, count + 1])
    assert classes_by_edges(lengths, edges).tolist() == [0, 0, 1, count - 2, count - 1, count]


def test_a_sequence_and_an_iterator():
    plan = batches([3, 1, 4, 1, 5, 9, 2, 6] * 20, 30, seed=3)
    assert [one.tolist() for one in (plan[k] for k in range(len(plan)))] == [one.tolist() for one in plan]
    assert plan.epoch == 1
    np.testing.assert_array_equal(plan[-1], plan[len(plan) - 1])
    with pytest.raises(IndexError, match="step: is 999; this epoch has"):
        plan[999]
    first, second = [one.tolist() for one in plan], [one.tolist() for one in plan]
    assert first != second
    assert sorted(chain(*first)) == sorted(chain(*second))
    with pytest.raises(ValueError, match="read-only"):
        plan[0][:] = 0
    plan.seek(len(plan) - 1)
    assert len(list(plan)) == 1
    assert "epoch 4" in repr(plan)


def test_set_epoch_stays_in_the_same_one():
    plan = batches([1] * 10, 2)
    next(plan)
    plan.set_epoch(0)
    assert plan.position == 1
    plan.set_epoch(1)
    assert plan.position == 0
    assert plan.state_dict(position=3)["position"] == 3


def test_the_last_batches_are_split():
    plans = [batches([2] * 5, 10, shuffle=False, rank=rank, world_size=3) for rank in range(3)]
    assert [plan[0].tolist() for plan in plans] == [[0, 1], [2], [3, 4]] or sum(len(plan[0]) for plan in plans) == 5
    assert {len(plan) for plan in plans} == {1}
    few = [batches([2, 2], 10, shuffle=False, rank=rank, world_size=4) for rank in range(4)]
    assert [plan[0].tolist() for plan in few] == [[0], [1], [], []]
    x = documents_of([2, 2])
    assert len(gather_sequences(x, few[3][0])) == 0  # a batch of zero sequences


def test_what_is_left_out_is_named():
    plan = batches([2] * 5, 4, shuffle=False, drop_last=True, world_size=2)
    assert len(plan) == 1
    assert plan.report().left_out.tolist() == [4]
    assert "left out: 1 sequence: 4" in str(plan.report())


def test_shuffling_keeps_lengths_together():
    random = np.random.default_rng(0)
    lengths = random.lognormal(3, 1, 5000).astype(int).clip(1, 500)
    plan = batches(lengths, 2000)
    report = plan.report()
    assert report.occupancy > 0.85
    assert report.padding < 0.1 * report.num_tokens
    pairs = [{frozenset(batch.tolist()) for batch in plan} for _ in range(2)]
    assert len(pairs[0] & pairs[1]) < 0.1 * len(pairs[0])  # other batches, not just another order of them
    means = [float(lengths[plan[k]].mean()) for k in range(len(plan))]
    assert abs(np.corrcoef(means[1:], means[:-1])[0, 1]) < 0.2  # and no order of lengths among the batches


def test_report_suggests_what_fills_better():
    lengths = np.random.default_rng(0).integers(600, 1000, 2000)
    report = batches(lengths, 1024, shuffle=False).report()
    assert report.occupancy < 0.8
    better = batches(lengths, report.suggested_max_tokens, buckets=report.suggested_buckets).report()
    assert better.occupancy > 0.9
    assert "suggested: max_tokens" in str(report)
    assert batches([], 5).report().occupancy == 1.0
    assert batches([], 5).report().suggested_buckets.tolist() == []


@given(document_lengths(40, 30), st.integers(1, 6))
def test_edges_of_least_padding(lengths, count):
    sizes = np.array(lengths, np.int64)
    edges = least_padding(sizes, count)
    assert len(edges) <= count
    assert (np.diff(edges) > 0).all()
    assert edges[-1:].tolist() == sorted(lengths)[-1:]
    different = sorted(set(lengths))

    def padding(chosen):
        chosen = np.array(chosen)
        return int((chosen[np.searchsorted(chosen, sizes)] - sizes).sum()) if len(sizes) else 0

    if 0 < len(different) <= 7:
        size = min(count, len(different))
        best = min(padding((*some, different[-1])) for some in combinations(different[:-1], size - 1))
        assert padding(edges) == best


def test_few_buckets_are_enough():
    lengths = np.random.default_rng(0).lognormal(5, 1, 20_000).astype(int).clip(1, 2048)
    edges = suggested(lengths)
    padded = edges[np.searchsorted(edges, lengths)].sum()
    assert padded * 0.95 <= lengths.sum() * 1.01
    assert len(edges) < 40


def child(plan, queue):
    queue.put([batch.tolist() for batch in plan])


@pytest.mark.not_on_reference
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_make_the_same_plan(method):
    context = multiprocessing.get_context(method)
    plan = batches(list(range(1, 30)), 40, seed=5, world_size=2, rank=1)
    queue = context.Queue()
    process = context.Process(target=child, args=(plan, queue))
    process.start()
    found = queue.get(timeout=60)
    process.join()
    assert found == [batch.tolist() for batch in plan]


def test_a_pickled_plan_is_small_and_goes_on():
    plan = batches(np.ones(10_000, np.int64), 100)
    next(plan)
    data = pickle.dumps(plan)
    assert len(data) < 10_000 * 8 + 2000
    again = pickle.loads(data)
    np.testing.assert_array_equal(next(again), next(plan))


class Loader:
    """Simulate the use of a batch_sampler and a map-style dataset by torch's DataLoader."""

    def __init__(self, dataset, batch_sampler, collate_fn):
        self.dataset, self.batch_sampler, self.collate_fn = dataset, batch_sampler, collate_fn

    def __len__(self):
        return len(self.batch_sampler)

    def __iter__(self):
        for indices in iter(self.batch_sampler):
            yield self.collate_fn([self.dataset[index] for index in indices])


def test_as_a_batch_sampler():
    x = documents_of([3, 1, 4, 1, 5, 9, 2, 6])
    plan = batches(x, 10)
    loader = Loader([x[k] for k in range(8)], plan, list)
    assert len(loader) == len(plan)
    seen = [token for batch in loader for one in batch for token in one.tolist()]
    assert sorted(seen) == list(range(31))


WRONG = [
    (([1, 20], 10), {}, LoDError, r"batches: lengths: is 20 at sequence 1; max_tokens is 10"),
    (([1, -1], 10), {}, LoDError, "lengths: is -1 at position 1"),
    (([1], 0), {}, ValueError, "max_tokens: is 0"),
    (([1], 5), {"count": "mean"}, ValueError, "count: is 'mean'; 'padded' or 'sum'"),
    (([1], 5), {"max_items": 0}, ValueError, "max_items: is 0"),
    (([1], 5), {"buckets": 0}, ValueError, "buckets: is 0"),
    (([1], 5), {"buckets": [3, 3]}, ValueError, "buckets: is 3 at position 1, after 3; edges rise"),
    (([1], 5), {"buckets": [1.5]}, DTypeError, "buckets"),
    (([1], 5), {"world_size": 0}, ValueError, "world_size: is 0"),
    (([1], 5), {"rank": 2, "world_size": 2}, IndexError, "rank: is 2; world_size is 2"),
    (([1], 5), {"seed": -3}, ValueError, "seed: is -3"),
]


@pytest.mark.parametrize(("given_", "named", "error", "says"), WRONG)
def test_wrong_calls(given_, named, error, says):
    with pytest.raises(error, match=says):
        batches(*given_, **named)


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({"seed": None}, "seed missing"),
        ({"num_sequences": 9}, "num_sequences is 9; this plan has 3"),
        ({"world_size": 2}, "world_size is 2"),
        ({"position": -1}, "position: is -1"),
    ],
)
def test_states_of_other_plans(state, says):
    plan = batches(LoD.from_lengths([1, 2, 3]), 5)
    given_ = plan.state_dict() | state
    given_ = {name: number for name, number in given_.items() if number is not None}
    with pytest.raises(ValueError, match=says):
        plan.load_state_dict(given_)
