"""Batches by a budget: every sequence once per epoch, equal steps on every rank, and resuming anywhere."""

import itertools
import json
import math
import multiprocessing
import pickle
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import DTypeError, LoD, LoDError, gather_sequences
from lodcore.batching import batches
from lodcore.batching.buckets import classes_by_edges, classes_by_length, least_padding, occupancy, suggested
from lodcore.batching.limits import longest_first, size_counts
from lodcore.batching.reports import batch_report
from tests.helpers.plans import document_lengths, documents_of
from tests.helpers.tables import for_each


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
def test_batches_go_on_from_a_loaded_state(call, steps):
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


def test_batches_are_read_only():
    for count, drop_last in ((5, False), (6, False), (5, True)):
        plan = batches([2] * count, 4, shuffle=False, world_size=2, drop_last=drop_last)
        for k in range(len(plan)):
            with pytest.raises(ValueError, match="read-only"):
                plan[k][:] = 0


@pytest.mark.parametrize("count", [3, 2**15 - 1, 2**15, 2**15 + 3])
def test_classes_by_edges_of_any_number_count_from_0(count):
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


def test_report_of_batches_suggests_settings_with_better_occupancy():
    lengths = np.random.default_rng(0).integers(600, 1000, 2000)
    report = batches(lengths, 1024, shuffle=False).report()
    assert report.occupancy < 0.8
    better = batches(lengths, report.suggested_max_tokens, buckets=report.suggested_buckets).report()
    assert better.occupancy > 0.9
    assert "suggested: max_tokens" in str(report)
    assert batches([], 5).report().occupancy == 1.0
    assert batches([], 5).report().suggested_buckets.tolist() == []


def test_report_of_many_sequences_suggests_a_budget_by_a_sample(monkeypatch):
    lengths = np.random.default_rng(0).integers(600, 1000, 2000)
    plan = batches(lengths, 1024, shuffle=False)
    wanted, sizes = plan.report(), []

    def noted(sample, *rest):
        sizes.append(len(sample))
        return occupancy(sample, *rest)

    monkeypatch.setattr(batch_report, "occupancy", noted)
    for size in (500, 1999, 2000):
        monkeypatch.setattr(batch_report, "SAMPLE", size)
        report = plan.report()
        assert report.suggested_max_tokens == wanted.suggested_max_tokens
        assert report.suggested_buckets.tolist() == wanted.suggested_buckets.tolist()
        assert set(sizes) == {size}
        sizes.clear()


@given(document_lengths(40, 30), st.integers(1, 6))
def test_least_padding_finds_edges_with_as_little_padding_as_any(lengths, count):
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


def test_suggested_buckets_of_lognormal_lengths_are_few_and_pad_little():
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
    found = queue.get(timeout=600)
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
    (([1], 5), {"buckets": [3, 3]}, ValueError, "buckets: is 3 at position 1, after 3; edges must increase"),
    (([1], 5), {"buckets": [1.5]}, DTypeError, "buckets"),
    (([1], 5), {"world_size": 0}, ValueError, "world_size: is 0"),
    (([1], 5), {"rank": 2, "world_size": 2}, IndexError, "rank: is 2; world_size is 2"),
    (([1], 5), {"rank": -1, "world_size": 2}, IndexError, "rank: is -1; world_size is 2"),
    (([1], 5), {"seed": -3}, ValueError, "seed: is -3"),
]


@pytest.mark.parametrize(("given_", "named", "error", "says"), WRONG)
def test_wrong_calls_of_batches_name_argument_and_value(given_, named, error, says):
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
def test_load_state_dict_of_batches_refuses_states_of_other_plans(state, says):
    with pytest.raises(DTypeError, match="state: is NoneType; a dict is needed, like that of state_dict"):
        batches([1], 5).load_state_dict(None)
    plan = batches(LoD.from_lengths([1, 2, 3]), 5)
    given_ = plan.state_dict() | state
    given_ = {name: number for name, number in given_.items() if number is not None}
    with pytest.raises(ValueError, match=says):
        plan.load_state_dict(given_)


# -- tables: every combination, not only those that are drawn

LENGTHS = [3, 1, 9, 7, 1, 0, 12, 5, 9, 2, 2, 8, 12, 4, 6, 1]


@for_each(
    ("count", "shuffle", "most", "edges"),
    itertools.product(("padded", "sum"), (False, True), (None, 1, 3), ([2, 5, 9], [4], [0, 12], np.array(2))),
)
def test_batches_of_each_bucket_keep_all_limits(count, shuffle, most, edges):
    plan = batches(LENGTHS, 24, count=count, shuffle=shuffle, max_items=most, buckets=edges, seed=4)
    orders = []
    for _ in range(2):
        found = [batch.tolist() for batch in plan]
        assert sorted(chain(*found)) == list(range(len(LENGTHS)))
        for batch in found:
            held = [LENGTHS[k] for k in batch]
            assert (len(held) * max(held) if count == "padded" else sum(held)) <= 24
            assert len(held) <= (most or 24)
            assert len({sum(edge < n for edge in plan.edges) for n in held}) == 1  # the first edge not exceeded
        orders.append([max(LENGTHS[k] for k in batch) for batch in found])
        assert shuffle or list(chain(*found)) == sorted(chain(*found), key=lambda k: sum(plan.edges < LENGTHS[k]))
    assert (orders[0] != orders[1]) == shuffle


def test_batches_visit_buckets_in_random_order():
    plan = batches([1, 10, 100] * 20, 100, buckets=[1, 10, 100], seed=0)
    for _ in range(3):
        visited = [[1, 10, 100][k % 3] for k in (int(batch[0]) for batch in plan)]
        assert visited != sorted(visited)


@pytest.mark.not_on_reference
def test_flags_and_numbers_of_any_kind():
    """Flags may be NumPy's, or 0 and 1; numbers may be NumPy's."""
    named = {"world_size": 5, "seed": 3, "buckets": [4, 12]}
    for shuffle, drop_last in itertools.product((False, True), repeat=2):
        want = batches(LENGTHS, 24, shuffle=shuffle, drop_last=drop_last, **named)
        for kind in (np.bool_, int, np.int8):
            plan = batches(LENGTHS, np.int16(24), shuffle=kind(shuffle), drop_last=kind(drop_last), **named)
            assert [batch.tolist() for batch in plan] == [batch.tolist() for batch in want]
            want.set_epoch(0)
            plan.set_epoch(0)
            assert bool(plan.left_out.size) == drop_last
            assert (plan.left_out.tolist(), plan.state_dict()) == (want.left_out.tolist(), want.state_dict())
    for number in (3, np.int64(3), np.array(3), np.uint8(3)):
        assert batches(LENGTHS, 24, buckets=number).edges.tolist() == batches(LENGTHS, 24, buckets=3).edges.tolist()


@pytest.mark.not_on_reference
def test_edges_given_to_batches_are_copied():
    edges, lengths = np.array([4, 12]), np.array(LENGTHS)
    plan = batches(lengths, 24, buckets=edges, seed=2)
    want = [batch.tolist() for batch in batches(LENGTHS, 24, buckets=[4, 12], seed=2)]
    edges[:], lengths[:] = [1, 2], 1
    assert (plan.edges.tolist(), plan.lengths.tolist()) == ([4, 12], LENGTHS)
    assert [batch.tolist() for batch in plan] == want
    edges[:] = 0  # it is still writable


@pytest.mark.not_on_reference
def test_batches_reach_their_budget_and_never_exceed_it():
    for place in range(3):
        lengths = [1, 1, 1]
        lengths[place] = 5
        assert len(batches(lengths, 5)) > 0
        for named in ({}, {"count": "sum"}, {"buckets": [2]}):
            with pytest.raises(LoDError, match=f"lengths: is 5 at sequence {place}; max_tokens is 4"):
                batches(lengths, 4, **named)
    plan = batches([2] * 6, 4, shuffle=False)
    assert [plan[k].tolist() for k in (-3, 2, 0)] == [[0, 1], [4, 5], [0, 1]]
    for k in (-4, 3):
        with pytest.raises(IndexError, match=f"step: is {k}; this epoch has 3"):
            plan[k]


@pytest.mark.not_on_reference
def test_batches_report_lists_left_out_sequences_in_increasing_order():
    for seed in range(6):
        plan = batches([2] * 23, 8, drop_last=True, world_size=4, seed=seed)
        used = {k for rank in range(4) for batch in batches([2] * 23, 8, drop_last=True, world_size=4, seed=seed,
                                                            rank=rank) for k in batch.tolist()}  # fmt: skip
        assert plan.left_out.tolist() == sorted(set(range(23)) - used) == plan.report().left_out.tolist()
        assert len(plan.left_out) > 4


@for_each(
    ("left", "says"),
    [
        (1, "left out: 1 sequence: 0"),
        (8, "left out: 8 sequences: 0, 1, 2, 3, 4, 5, 6, 7"),
        (9, "left out: 9 sequences: 0, 1, 2, 3, 4, 5, 6, 7 and 1 more"),
    ],
)
def test_str_of_a_batches_report_counts_and_names_left_out_sequences(left, says):
    plan = batches([1] * left, 1, shuffle=False, drop_last=True, world_size=100)
    assert str(plan.report()).split("\n")[1] == says


@pytest.mark.not_on_reference
def test_str_of_suggested_buckets_shows_six_edges_and_the_last():
    """Of more than eight edges, the first six and the last are shown."""
    sizes = 2 ** np.arange(10)
    for count, shown in ((10, "1, 2, 4, 8, 16, 32, ..., 512"), (9, "1, 2, 4, 8, 16, 32, ..., 256"), (8, None)):
        lengths = np.repeat(sizes[:count], 512 // sizes[:count])  # 512 tokens of each length
        assert suggested(lengths).tolist() == sizes[:count].tolist()
        text = str(batches(lengths, 700, shuffle=False, max_items=1).report())
        assert text.endswith(f"{count} buckets up to {shown or '1, 2, 4, 8, 16, 32, 64, 128'}")


@for_each(
    ("length", "budget", "wanted"),
    [
        (7, 10, 80),  # 1, 2, 5 of 7 are 70 %, 70 % and 87.5 %; 11 are 96.25 % of 80
        (10, 10, 10),
        (61, 64, 64),
        (33, 64, 512),  # 15 of 33 are 96.7 %
        (513, 1024, 16 * 1024),  # 31 of 513 are 97 %
        (60, 100, 800),  # 13 of 60 are 97.5 %
        (51, 53, 53),  # 96.2 %
    ],
)
def test_the_suggested_budget_is_the_first_that_fills(length, budget, wanted):
    assert batches([length] * 3120, budget).report().suggested_max_tokens == wanted


@for_each(
    ("lengths", "budget", "settings", "wanted"),
    [
        ([6] * 5, 8, {}, 32),  # all five of them, 30 of 32
        ([6] * 5, 8, {"max_items": 1}, 8),  # more room is never used
        ([6] * 5, 8, {"max_items": 2}, 8),
        ([6] * 5, 8, {"max_items": 3}, 8),
        ([5, 3] * 6, 7, {}, 7),  # 48 of 63, 70, 84, 112 and 112, with padding
        ([5, 3] * 6, 7, {"count": "sum"}, 28),  # six of 3 and two of 5, without
        ([5, 3] * 6, 7, {"count": "sum", "max_items": 4}, 7),  # 48 of 63, 70 and 84
    ],
)
def test_the_suggested_budget_is_that_of_the_same_plan(lengths, budget, settings, wanted):
    assert batches(lengths, budget, shuffle=False, **settings).report().suggested_max_tokens == wanted


@for_each(
    ("world_size", "drop_last", "padding"),
    [(1, False, 5), (2, False, 5), (3, False, 2), (4, False, 0), (1, True, 5), (2, True, 0)],
)
def test_padding_of_the_last_batches_is_counted(world_size, drop_last, padding):
    lengths = [4, 1, 4, 2]
    report = batches(lengths, 100, shuffle=False, world_size=world_size, drop_last=drop_last).report()
    assert (report.padding, report.num_tokens) == (padding, 0 if drop_last and world_size > 1 else 11)


@pytest.mark.not_on_reference
def test_batches_of_every_seed_and_epoch_have_an_order_of_their_own():
    """Not that of the next seed in the epoch before."""
    orders = set()
    for seed in range(4):
        plan = batches([1] * 30, 5, seed=seed)
        orders |= {tuple(np.concatenate([*plan]).tolist()) for _ in range(4)}
    assert len(orders) == 16


@pytest.mark.not_on_reference
def test_states_of_plans_with_equally_many_sequences():
    state = batches([1, 2, 3], 5, seed=1).state_dict()
    for lengths, name, mine, theirs in (
        ([1, 2, 4], "num_tokens", 7, 6),
        ([1, 2, 3, 0], "num_sequences", 4, 3),
    ):
        with pytest.raises(ValueError, match=f"{name} is {theirs}; this plan has {mine}"):
            batches(lengths, 5).load_state_dict(state)
    with pytest.raises(ValueError, match="max_tokens is 5; this plan has 6"):
        batches([1, 2, 3], 6).load_state_dict(state)
    plan = batches([1] * 9, 3)
    next(plan)
    assert [plan.state_dict(k)["position"] for k in (0, 1, 2, None)] == [0, 1, 2, 1]
    assert repr(batches([1] * 9, 3, "sum", rank=1, world_size=3)) == (
        "BatchPlan(9 sequences, max_tokens=3, count='sum', rank 1 of 3, epoch 0, position 0 of 1)"
    )


@pytest.mark.not_on_reference
def test_load_state_dict_of_batches_refuses_states_of_plans_with_other_options():
    given_ = {"lengths": [1, 2, 3, 2, 1, 3] * 3, "max_tokens": 6, "seed": 3}
    state = batches(**given_).state_dict()
    for other in (
        {"buckets": [2]},
        {"count": "sum"},
        {"max_items": 2},
        {"shuffle": False},
        {"drop_last": True},
        {"lengths": [2, 1, 3, 2, 1, 3] * 3},
    ):
        with pytest.raises(ValueError, match="state: is that of a plan with other lengths, count, max_items, buckets"):
            batches(**given_ | other).load_state_dict(state)
    ranks_ = [batches(**given_, world_size=3, rank=rank) for rank in range(3)]
    for plan in ranks_:  # that of one rank serves all
        plan.load_state_dict(ranks_[1].state_dict(position=1))
        assert plan.state_dict() == ranks_[1].state_dict(position=1)
    count = len(batches(**given_))
    for call in (
        lambda plan: plan.load_state_dict(state | {"position": count + 1}),
        lambda plan: plan.state_dict(position=count + 1),
        lambda plan: plan.seek(count + 1),
    ):
        with pytest.raises(ValueError, match=f"position: is {count + 1}; epoch 0 has {count} batches"):
            call(batches(**given_))
    plan = batches(**given_)
    plan.load_state_dict(state | {"position": count})
    assert [*plan] == []
    assert (plan.epoch, len([*plan])) == (1, count)


def lists(plan):
    return [batch.tolist() for batch in plan]


@pytest.mark.not_on_reference
def test_second_iteration_of_a_plan_returns_the_same_batches():
    plan, same = (batches([1, 2, 3, 2, 1, 3] * 3, 6, seed=3) for _ in range(2))
    first, second = lists(same), lists(same)
    assert [batch.tolist() for batch, _ in zip(plan, range(2), strict=False)] == first[:2]
    assert next(iter(plan)).tolist() == first[0]
    for _ in plan:
        break
    assert plan.state_dict()["position"] == 1  # what the newest iterator returned
    assert lists(plan) == first
    assert (plan.epoch, plan.position) == (1, 0)
    older = iter(plan)
    next(older)
    assert next(iter(plan)).tolist() == second[0]
    assert [batch.tolist() for batch in older] == second[1:]  # goes on, and ends the epoch
    assert (plan.epoch, plan.position) == (2, 0)


@pytest.mark.not_on_reference
def test_an_iterator_goes_on_once_where_a_state_was():
    plan, same = (batches([1, 2, 3, 2, 1, 3] * 3, 6, seed=3) for _ in range(2))
    first, second = lists(same), lists(same)
    for _ in range(2):
        next(plan)
    state = plan.state_dict()
    other = batches([1, 2, 3, 2, 1, 3] * 3, 6, seed=8)
    iter(other)  # never used, as by a loader with workers
    other.load_state_dict(state)
    other.set_epoch(0)
    iter(other)
    assert lists(other) == first[2:]
    assert lists(other) == second
    other.load_state_dict(state)
    next(iter(other))
    assert lists(other) == first
    old = iter(other)
    next(old)
    other.load_state_dict(state)  # iterators from before end nothing
    list(old)
    assert lists(other) == first[2:]


@pytest.mark.not_on_reference
def test_state_dict_of_a_loader_that_prefetches_counts_the_batches_in_use():
    plan, same = (batches([1, 2, 3, 2, 1, 3] * 3, 6, seed=3) for _ in range(2))
    first, second = lists(same), lists(same)
    taken = lists(plan)  # all of them, while two were used
    assert taken == first
    for state, wanted in (
        (plan.state_dict(position=2), first[2:]),
        (plan.state_dict(position=2, epoch=0), first[2:]),
        (plan.state_dict(epoch=1), second),
        (plan.state_dict(), second),
    ):
        other = batches([1, 2, 3, 2, 1, 3] * 3, 6)
        other.load_state_dict(state)
        assert lists(other) == wanted


@pytest.mark.not_on_reference
def test_lengths_of_one_class_of_batches_differ_by_a_twentieth_at_most():
    """Also beyond the lengths that a table counts; whether it is used depends on the longest one."""
    lengths = np.array([0, 1, 2, 3, 100, 104, 2**16 - 2, 2**16 - 1, 2**16, 2**16 + 1, 70_000, 73_600, 10**6, 2**40])
    want = [math.floor(math.log(n + 1) / math.log(1.05)) for n in lengths.tolist()]
    assert len(set(want)) == 11
    for count in range(1, len(want) + 1):
        assert classes_by_length(lengths[:count]).tolist() == want[:count]


@for_each(
    "lengths",
    [
        LENGTHS,
        [1, 2, 3, 4, 5, 6],
        [1] * 9 + [10],
        [5] * 4,
        [1, 1, 2, 2, 30, 31, 32, 60, 61],
        [0, 3],
        [12] * 5 + [13] * 3,
    ],
)
def test_edges_against_all_choices(lengths):
    sizes, different = np.array(lengths), sorted(set(lengths))

    def least(count):
        some = ((*few, different[-1]) for few in combinations(different[:-1], count - 1))
        return min(sum(min(e for e in edges if e >= n) - n for n in lengths) for edges in some)

    padding = [least(count) for count in range(1, len(different) + 1)]
    for count, want in enumerate(padding, 1):
        edges = least_padding(sizes, count)
        assert len(edges) == len(set(edges.tolist())) <= count
        assert sum(int(edges[edges >= n][0]) - n for n in lengths) == want
    fewest = next(k for k, one in enumerate(padding, 1) if one <= 0.05 * (sum(lengths) + one) + 1e-9)
    assert len(suggested(sizes)) == fewest


@pytest.mark.not_on_reference
def test_few_of_many_lengths_may_be_edges():
    edges = least_padding(np.arange(1, 401), 300)
    assert 200 < len(edges) <= 256
    assert (np.diff(edges) > 0).all()
    assert edges[-1] == 400
    for longest in (256, 257, 1200, 5000):  # the last edge is the longest, however few tokens it has
        assert least_padding(np.arange(1, longest + 1), 2)[-1] == longest


@for_each("count", [1, 2, 3, 5, 64])
@pytest.mark.not_on_reference
def test_the_last_of_few_edges_of_many_lengths_is_the_greatest(count):
    for lengths in (
        np.arange(1, 257),
        np.arange(1, 258),
        np.arange(1, 2001),
        np.append(np.ones(500, int), np.arange(1, 601)),
    ):
        edges = least_padding(lengths, count)
        assert len(edges) == count
        assert edges[-1] == lengths.max()
        padded = edges[np.searchsorted(edges, lengths)].sum()
        even = np.quantile(lengths, np.arange(1, count + 1) / count, method="higher")
        assert count > 5 or padded <= 1.01 * even[np.searchsorted(even, lengths)].sum()
        if count == 2:
            least = min(
                edge * (lengths <= edge).sum() + lengths.max() * (lengths > edge).sum()
                for edge in range(1, lengths.max())
            )
            assert least <= padded <= 1.001 * least
    plan = batches(np.arange(1, 2001), 20000, buckets=count)
    assert (len(plan.edges), plan.edges[-1]) == (count, 2000)
    assert suggested(np.arange(1, 2001))[-1] == 2000


@for_each("count", [2**17 - 1, 2**17, 2**17 + 1, 2 * 2**17 + 5])
@pytest.mark.not_on_reference
def test_size_counts_and_longest_first_of_many_lengths_equal_numpy(count):
    lengths = np.arange(count) * 7 % 11
    lengths[[0, count - 1]] = [40, 41]
    sizes, counts = size_counts(lengths)
    assert sizes.tolist() == [41, 40, *range(10, -1, -1)]
    assert counts.tolist() == [int((lengths == n).sum()) for n in sizes]
    assert (longest_first(lengths) == np.argsort(-lengths, kind="stable")).all()


@for_each("longest", [2**16, 2**16 + 1, 2**40])
@pytest.mark.not_on_reference
def test_order_and_counts_of_few_long_lengths(longest):
    lengths = np.array([3, longest, 1, 3, 0, longest, 3])
    assert longest_first(lengths).tolist() == [1, 5, 0, 3, 6, 2, 4]
    assert [one.tolist() for one in size_counts(lengths)] == [[longest, 3, 1, 0], [2, 3, 1, 1]]
