"""Packing plans: every token once, correct reports, overflow, shards, exact solutions, exact inverses."""

import copy
import io
import itertools
import pickle
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoD, LoDError, LoDTensor
from lodcore.base.articles import with_number
from lodcore.batching import (
    PackPlan,
    attention_inputs,
    batch_stream,
    batches,
    chunk_plan,
    concat_and_cut,
    pack_plan,
    pack_stream,
    sample_by_temperature,
)
from lodcore.batching.packing import equal_shards
from lodcore.batching.reports.pack_report import bins_at_least
from lodcore.graph import Executor, Program, data
from reference.batching.exact import fewest_bins
from tests.helpers.plans import METHODS, document_lengths, documents_of
from tests.helpers.tables import for_each

OVERFLOWS = ["error", "split", "truncate", "drop", "own_bin"]


@st.composite
def calls(draw):
    """Draw lengths and all arguments of `pack_plan`."""
    lengths = draw(document_lengths())
    overflow = draw(st.sampled_from(OVERFLOWS))
    least = max([1, *lengths]) if overflow == "error" else 1
    method = draw(st.sampled_from(METHODS))
    return lengths, {
        "budget": draw(st.integers(least, 14)),
        "method": method,
        "max_items": draw(st.none() | st.integers(1, 4)),
        "overflow": overflow,
        "multiple_of": draw(st.integers(1, 3)),
        "shards": draw(st.integers(1, 3)),
        "seed": None if method == "in_order" else draw(st.none() | st.integers(0, 5)),
        "window": draw(st.integers(1, 3)) if method == "in_order" else 1,
    }


@given(calls())
def test_pack_plan_places_every_token_once_or_reports_it_as_dropped(call):
    lengths, arguments = call
    plan = pack_plan(lengths, **arguments)
    report = plan.report()
    places = [(d, t) for d, s, n in zip(plan.documents, plan.starts, plan.sizes, strict=True) for t in range(s, s + n)]
    named = [(d, t) for d, start, stop in report.dropped for t in range(start, stop)]
    assert sorted(places + named) == [(d, t) for d, length in enumerate(lengths) for t in range(length)]
    assert not named or arguments["overflow"] in ("truncate", "drop")
    assert report.num_tokens == len(places)
    lost = {document for document, start, _ in report.dropped if start == 0}
    assert {*plan.documents.tolist()} == {*range(len(lengths))} - lost  # also those without tokens


@given(calls())
def test_bins_keep_budget_limit_and_number(call):
    lengths, arguments = call
    plan = pack_plan(lengths, **arguments)
    budget, most = arguments["budget"], arguments["max_items"]
    used = [int(plan.sizes[start:stop].sum()) for start, stop in zip(*bounds(plan.bins), strict=True)]
    for bin, tokens in enumerate(used):
        alone = len(plan[bin]) == 1 and arguments["overflow"] == "own_bin"
        assert tokens <= budget or alone
        assert most is None or len(plan[bin]) <= most
    assert len(plan) % (arguments["multiple_of"] * arguments["shards"]) == 0
    sizes = {plan.shard(rank).num_bins for rank in range(arguments["shards"])}
    assert len(sizes) == 1
    together = [plan.shard(rank)[bin].tolist() for bin in range(*sizes) for rank in range(arguments["shards"])]
    assert together == [one.tolist() for one in plan]


def bounds(lod):
    return lod.offsets()[:-1], lod.offsets()[1:]


@given(calls(), st.sampled_from([(), (2,)]))
def test_undo_is_the_inverse_of_apply(call, width):
    lengths, arguments = call
    x = documents_of(lengths, width=width)
    plan = pack_plan(x, **arguments)
    packed = plan.apply(x)
    assert packed.lod == plan.lod
    kept = np.array(lengths, np.int64)
    for document, start, _ in plan.report().dropped:
        kept[document] = start
    want = [x[d][: kept[d]].tolist() for d in range(len(lengths))]
    assert [np.asarray(one).tolist() for one in plan.undo(packed)] == want
    made = LoDTensor(np.stack([packed.values, packed.values], axis=-1) * 0.5, packed.lod)  # as from a network
    assert plan.undo(made).tolist() == [[np.array([t, t]).T.dot(0.5).tolist() for t in map(np.array, d)] for d in want]
    assert plan.undo(packed.values).equals(plan.undo(packed))
    for rank in range(arguments["shards"]):
        part = plan.shard(rank)
        back = part.undo(part.apply(x))
        whole = plan.undo(packed)
        assert back.lod.lengths().sum() == part.lod.num_rows
        if arguments["overflow"] != "split":
            assert all(len(one) in (0, len(all)) for one, all in zip(back, whole, strict=True))


@given(calls())
def test_plans_are_the_same_again(call):
    lengths, arguments = call
    plan, again = (pack_plan(np.array(lengths, np.int64), **arguments) for _ in range(2))
    for name, array in plan.to_arrays().items():
        np.testing.assert_array_equal(array, again.to_arrays()[name])
        np.testing.assert_array_equal(array, pickle.loads(pickle.dumps(plan)).to_arrays()[name])


def test_pack_plan_of_small_cases_stays_within_the_proved_bounds_of_its_methods():
    random = np.random.default_rng(11)
    bounds_of = {  # the proved bound of the number of bins of each method, from the minimum
        "next_fit": lambda n: 2 * n - 1,
        "in_order": lambda n: 2 * n - 1,
        "first_fit": lambda n: 17 * n // 10,
        "best_fit": lambda n: 17 * n // 10,
        "next_fit_decreasing": lambda n: max(n, int(1.6911 * n + 3)),
        "first_fit_decreasing": lambda n: (11 * n + 6) // 9,
        "best_fit_decreasing": lambda n: (11 * n + 6) // 9,
        "histogram": lambda n: (11 * n + 6) // 9,
    }
    exact = tight = 0
    for _ in range(1000):
        budget = int(random.integers(5, 40))
        lengths = random.integers(1, budget + 1, random.integers(1, 10))
        if random.random() < 0.5:
            lengths = np.maximum(lengths // 2, 1)
        most = None if random.random() < 0.7 else int(random.integers(1, 4))
        fewest = fewest_bins(lengths.tolist(), budget, most)
        assert bins_at_least(lengths, budget, most) <= fewest
        tight += bins_at_least(lengths, budget, most) == fewest
        for method, bound in bounds_of.items():
            bins = pack_plan(lengths, budget, method, max_items=most).num_bins
            assert fewest <= bins
            if most is None:
                assert bins <= bound(fewest), (method, lengths, budget)
        exact += pack_plan(lengths, budget, max_items=most).num_bins == fewest
    assert exact > 950
    assert tight > 900


def test_packing_methods_give_the_textbook_packings():
    """A textbook example in which every method has a different packing."""
    lengths, found = [5, 7, 5, 2, 4, 2, 5, 1, 6], {}
    for method in METHODS:
        found[method] = [one.tolist() for one in pack_plan(lengths, 10, method)]
    assert found["next_fit"] == [[0], [1], [2, 3], [4, 5], [6, 7], [8]]
    assert found["in_order"] == found["next_fit"]
    assert found["first_fit"] == [[0, 2], [1, 3, 7], [4, 5], [6], [8]]
    assert found["best_fit"] == [[0, 2], [1, 3, 7], [4, 5], [6], [8]]
    assert found["first_fit_decreasing"] == [[1, 3, 7], [8, 4], [0, 2], [6, 5]]
    assert found["best_fit_decreasing"] == [[1, 3, 7], [8, 4], [0, 2], [6, 5]]
    assert found["next_fit_decreasing"] == [[1], [8], [0, 2], [6, 4], [3, 5, 7]]
    by_lengths = [
        sorted([lengths[k] for k in bin] for bin in found[name]) for name in ("histogram", "best_fit_decreasing")
    ]
    assert by_lengths[0] == by_lengths[1]


def test_first_fit_is_not_best_fit():
    lengths = [4, 6, 3, 4]  # with a budget of 10 the last one fits the first bin, and leaves less room in the second
    assert [one.tolist() for one in pack_plan([5, 7, 3], 10, "first_fit")] == [[0, 2], [1]]
    assert [one.tolist() for one in pack_plan([5, 7, 3], 10, "best_fit")] == [[0], [1, 2]]
    assert pack_plan(lengths, 10, "best_fit").num_bins == 2


@given(document_lengths(), st.integers(12, 30), st.none() | st.integers(1, 4))
def test_pack_plan_in_order_keeps_the_order_of_documents(lengths, budget, most):
    plan = pack_plan(lengths, budget, "in_order", max_items=most, shards=2, multiple_of=2)
    np.testing.assert_array_equal(plan.documents, np.arange(len(lengths)))


@given(document_lengths(), st.integers(1, 6), st.none() | st.integers(1, 4), st.integers(1, 3))
def test_pack_plan_in_order_leaves_long_documents_in_their_place(lengths, budget, most, shards):
    """Each closes the bin before it, and is alone in its own."""
    plan = pack_plan(lengths, budget, "in_order", most, "own_bin", shards=shards)
    np.testing.assert_array_equal(plan.documents, np.arange(len(lengths)))
    bins, room = [], -1
    for document, length in enumerate(lengths):
        if length > room or len(bins[-1]) == most or length > budget:
            bins.append([])
            room = budget
        bins[-1].append(document)
        room -= length
    if shards == 1:
        assert [bin.tolist() for bin in plan] == bins
    delayed = pack_plan(lengths, budget, "in_order", most, "own_bin", window=2)
    seen = set()
    for bin in delayed:
        seen |= set(bin.tolist())
        assert len(set(range(max(seen))) - seen) <= 2


@given(document_lengths(30), st.integers(1, 5))
def test_in_order_with_a_window_delays_documents_by_at_most_the_window(lengths, window):
    plan = pack_plan(lengths, 14, "in_order", window=window)
    seen = set()
    for bin in plan:
        seen |= set(bin.tolist())
        assert len(set(range(max(seen))) - seen) <= window
    firsts = [int(bin[0]) for bin in plan]
    assert firsts == sorted(firsts)
    assert all((np.diff(bin) > 0).all() for bin in plan)


def test_pack_plan_with_a_seed_shuffles_and_keeps_the_number_of_bins():
    lengths = np.random.default_rng(1).integers(1, 100, 500)
    plans = [pack_plan(lengths, 200, seed=seed) for seed in (None, 1, 2)]
    assert len({plan.num_bins for plan in plans}) == 1
    assert len({plan.documents.tobytes() for plan in plans}) == 3
    for plan in plans:
        np.testing.assert_array_equal(np.sort(plan.documents), np.arange(500))


OVER = [3, 9, 5, 2, 20]


@pytest.mark.parametrize(
    ("overflow", "packed", "dropped", "split"),
    [
        ("split", 39, [], [[1, 0, 6], [1, 6, 9], [4, 0, 6], [4, 6, 12], [4, 12, 18], [4, 18, 20]]),
        ("truncate", 22, [[1, 6, 9], [4, 6, 20]], []),
        ("drop", 10, [[1, 0, 9], [4, 0, 20]], []),
        ("own_bin", 39, [], []),
    ],
)
def test_pack_plan_drops_splits_or_keeps_what_is_longer_than_the_budget(overflow, packed, dropped, split):
    plan = pack_plan(OVER, 6, overflow=overflow)
    report = plan.report()
    assert (report.num_tokens, report.dropped.tolist(), report.split.tolist()) == (packed, dropped, split)
    assert plan.is_whole == (overflow == "own_bin")
    assert report.distance >= 0
    assert 0 < report.efficiency <= 1


@pytest.mark.parametrize("overflow", ["split", "truncate", "drop", "own_bin"])
@pytest.mark.parametrize("method", METHODS)
def test_documents_without_tokens_lie_in_bins_beside_those_that_are_too_long(overflow, method):
    plan = pack_plan([3, 0, 9, 2, 0], 4, method, overflow=overflow)
    pieces = {"split": 3, "drop": 0}.get(overflow, 1)
    assert np.bincount(plan.documents, minlength=5).tolist() == [1, 1, pieces, 1, 1]


def test_pack_plan_of_documents_longer_than_the_budget_raises_with_options():
    with pytest.raises(LoDError, match=r"lengths: is 9 at document 1 and 1 others are longer; budget is 6: .*'split'"):
        pack_plan(OVER, 6)


def test_pack_plan_that_drops_all_documents_has_no_bins():
    plan = pack_plan([5, 7], 3, overflow="drop")
    assert plan.num_bins == 0
    assert plan.undo(plan.apply([[1] * 5, [2] * 7])).tolist() == [[], []]
    assert plan.report().efficiency == 1.0


def test_more_shards_than_documents():
    plan = pack_plan([3, 2], 6, shards=4)
    assert [plan.shard(rank)[0].tolist() for rank in range(4)] == [[0], [1], [], []]


def test_pack_plan_apply_and_undo_move_documents_of_two_levels_whole():
    x = lodcore.array([[[1, 2], [3]], [], [[4], [], [5, 6, 7]]])
    plan = pack_plan(x, 7, shards=2)
    packed = plan.apply(x)
    assert packed.num_levels == 3
    assert plan.undo(packed).equals(x)
    dropped = pack_plan(x, 3, overflow="drop")
    assert dropped.undo(dropped.apply(x)).tolist() == [[[1, 2], [3]], [], []]
    with pytest.raises(LoDError, match="2 levels"):
        pack_plan(x, 3, overflow="split").apply(x)


def test_a_giant_document_is_cut_without_a_copy_of_it_for_each_piece():
    x = documents_of([20_000, 3])
    plan = pack_plan(x, 8, overflow="split")
    tracemalloc.start()
    packed = plan.apply(x)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 20 * x.values.nbytes
    assert plan.undo(packed).equals(x)


def test_bins_may_be_taken_twice_also_with_pieces_of_documents():
    x = documents_of([3, 0, 9, 2])
    for overflow in ("split", "truncate"):
        plan = pack_plan(x, 4, overflow=overflow).take([0, 1, 0])
        pieces = zip(plan.documents, plan.starts, plan.sizes, strict=True)
        assert plan.apply(x).flatten(0).tolist() == [x[int(d)][start : start + n].tolist() for d, start, n in pieces]


def test_a_program_refuses_documents_that_the_plan_would_cut_elsewhere():
    plan = pack_plan([3, 9], 4, overflow="split")
    with lodcore.Program() as made:
        x = lodcore.data("x", (None,), "int64", num_levels=1)
        packed = plan.apply(x)
    assert lodcore.Executor().run(made, {"x": documents_of([3, 9])}, [packed])[0].lod == plan.lod
    with pytest.raises(LoDError, match=r"PackPlan.apply: x: document 0 has 4 tokens; 3 were planned"):
        lodcore.Executor().run(made, {"x": documents_of([4, 8])}, [packed])


def test_undo_of_one_row_per_document():
    plan = pack_plan([3, 1, 5, 2], 6)
    pooled = lodcore.sequence_pool(plan.apply([[1.0] * 3, [2.0], [3.0] * 5, [4.0] * 2]), "sum")
    assert pooled.num_levels == 1
    np.testing.assert_array_equal(plan.undo(pooled), [3.0, 2.0, 15.0, 8.0])
    for other in (
        plan.take([0]),
        pack_plan([3, 1, 5, 2], 4, overflow="drop"),
        pack_plan([3, 1, 9], 6, overflow="split"),
    ):
        with pytest.raises(LoDError, match="one row per document"):
            other.undo(LoDTensor(np.arange(len(other.documents)), other.bins))


@pytest.mark.parametrize("overflow", ["error", "split", "truncate", "drop"])
def test_gradients_go_through_apply_and_undo(overflow):
    budget = 9 if overflow == "error" else 4
    plan = pack_plan([3, 1, 9, 2, 6], budget, overflow=overflow)
    x = documents_of([3, 1, 9, 2, 6], np.float64, (2,))
    weights = LoDTensor(np.random.default_rng(0).standard_normal((plan.lod.num_rows, 2)), plan.lod)
    packed, pull = lodcore.vjp(plan.apply, x)
    (derivative,) = pull(weights)
    inner = float((packed.values * weights.values).sum())
    assert derivative.lod is x.lod
    np.testing.assert_allclose((derivative.values * x.values).sum(), inner)
    back, pull = lodcore.vjp(plan.undo, packed)
    (derivative,) = pull(np.ones(back.values.shape))
    np.testing.assert_array_equal(derivative.values, np.ones(packed.values.shape))
    lodcore.grad_check(lambda x: lodcore.ops.sum(lodcore.mul(plan.undo(plan.apply(x)), plan.undo(plan.apply(x)))), x)


def by_file(plan):
    with io.BytesIO() as file:
        plan.save(file)
        file.seek(0)
        return PackPlan.load(file)


COPIES = {
    "pickle": lambda plan: pickle.loads(pickle.dumps(plan)),
    "deepcopy": copy.deepcopy,
    "arrays": lambda plan: PackPlan.from_arrays(plan.to_arrays()),
    "file": by_file,
}


def answers(plan):
    """List all attributes of a plan, and its results for documents."""
    x = documents_of(plan.lengths.tolist())
    packed = plan.apply(x)
    arrays = [plan.documents, plan.starts, plan.sizes, plan.lengths]
    if not plan.is_cut:
        arrays.append(plan.places)
    return (
        [array.tolist() for array in arrays],
        (plan.num_documents, plan.num_bins, plan.is_cut, plan.is_whole, plan.budget, plan.max_items, plan.method),
        (plan.multiple_of, plan.shards, plan.is_part, plan.bins.offsets().tolist(), plan.lod.offsets(0).tolist()),
        str(plan.report()),
        packed.tolist(),
        plan.undo(packed).tolist(),
        plan.take(range(plan.num_bins)[::-1]).documents.tolist(),
    )


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("overflow", OVERFLOWS)
@pytest.mark.parametrize("lengths", [OVER, [3, 2, 6, 0, 1], [6, 6], [9], []])
def test_copied_plan_equals_the_plan(lengths, overflow, way):
    budget = max([6, *lengths]) if overflow == "error" else 6
    plan = pack_plan(lengths, budget, overflow=overflow)
    assert answers(COPIES[way](plan)) == answers(plan)


WRONG = [
    (([1, -2], 3), {}, LoDError, r"pack_plan: lengths: is -2 at position 1; a length is not negative"),
    (([2**61, 2**61], 2**62), {}, LoDError, "their sum must be below"),
    (([1, 2**61, 2**61 + 1], 2**62), {}, LoDError, f"is {2**61 + 1} at position 2; their sum must be below"),
    (([1.5], 3), {}, DTypeError, "pack_plan: lengths"),
    (([[1, 2], [3]], 3), {}, DTypeError, "holds sequences"),
    (([1], 0), {}, ValueError, "budget: is 0; 1"),
    (([1], 2.0), {}, DTypeError, "budget: is 2.0"),
    (([1], 3), {"method": "ffd"}, ValueError, "method: is 'ffd'; 'next_fit', "),
    (([1], 3), {"overflow": "cut"}, ValueError, "overflow: is 'cut'; 'error', "),
    (([1], 3), {"max_items": 0}, ValueError, "max_items: is 0"),
    (([1], 3), {"shards": 0}, ValueError, "shards: is 0"),
    (([1], 3), {"multiple_of": -1}, ValueError, "multiple_of: is -1"),
    (([1], 3), {"multiple_of": 2**40}, ValueError, "need a multiple of"),
    (([1], 3), {"seed": -1}, ValueError, "seed: is -1"),
]


@pytest.mark.parametrize(("given_", "named", "error", "says"), WRONG)
def test_wrong_calls_of_pack_plan_name_argument_and_value(given_, named, error, says):
    with pytest.raises(error, match=says):
        pack_plan(*given_, **named)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda plan: plan.apply([[1], [2, 3]]), LoDError, "has 2 documents; the plan has 3"),
        (lambda plan: plan.apply([[1], [2, 3], [4]]), LoDError, "document 0 has 1 token; 2 were planned"),
        (lambda plan: plan.apply(np.arange(5)), DTypeError, "PackPlan.apply: x"),
        (lambda plan: plan.undo([[[1], [2]]]), LoDError, "has 1 bin; the plan has 2"),
        (lambda plan: plan.undo([[[1]], [[2], [3]]]), LoDError, "bin 0 has 1 document; the plan has 2 there"),
        (lambda plan: plan.undo(np.arange(3)), LoDError, "has 3 rows; the plan packs 6 tokens"),
        (lambda plan: plan.shard(1), IndexError, "rank: is 1; shards is 1"),
        (lambda plan: plan.shard(-1), IndexError, "rank: is -1; shards is 1"),
        (lambda plan: plan[2], IndexError, "bin: is 2; there are 2 bins"),
        (lambda plan: plan["a"], DTypeError, "bin: is 'a'"),
        (lambda plan: plan.take([5]), IndexError, "5"),
        (lambda plan: PackPlan(), TypeError, "use pack_plan"),
    ],
)
def test_wrong_calls_of_a_plan(call, error, says):
    plan = pack_plan([2, 3, 1], 3, "best_fit")
    assert [one.tolist() for one in plan] == [[0, 2], [1]]
    with pytest.raises(error, match=says):
        call(plan)


@pytest.mark.parametrize("planned", [[2, 3], [0, 2], [1, 1, 4], [3, 0, 2, 1], [2, 2, 2]])
def test_documents_of_other_lengths_are_refused_though_they_have_as_many_tokens(planned):
    """All lengths of the same sum; at each level that a document may have; the first that differs is named."""
    plans = [pack_plan(planned, 6), chunk_plan(planned, 2)]
    for lengths in itertools.product(range(sum(planned) + 1), repeat=len(planned)):
        if sum(lengths) != sum(planned):
            continue
        x = documents_of(lengths)
        bad = next((k for k, pair in enumerate(zip(lengths, planned, strict=True)) if pair[0] != pair[1]), None)
        if bad is None:
            for plan in plans:
                assert plan.undo(plan.apply(x)).tolist() == x.tolist()
            continue
        says = f"document {bad} has {with_number(lengths[bad], 'token')}; {planned[bad]} were planned"
        deeper = [LoDTensor.from_lengths(x.values[:, None], lengths, *[[1] * sum(lengths)] * k) for k in (1, 2, 3)]
        for form in (x, x.tolist(), *deeper):
            with pytest.raises(LoDError, match=f"PackPlan.apply: x: {says}"):
                plans[0].apply(form)
        with pytest.raises(LoDError, match=says):
            plans[1].apply(x)


@pytest.mark.parametrize("overflow", ["drop", "split", "truncate"])
def test_bins_with_other_numbers_of_pieces_are_refused(overflow):
    """All divisions of as many pieces among as many bins."""
    plan = pack_plan([2, 1, 1, 9, 3, 2], 4, "in_order", overflow=overflow)
    packed = plan.apply(documents_of([2, 1, 1, 9, 3, 2]))
    planned = packed.lod.lengths(0)
    for sizes in itertools.product(range(len(packed.lod.lengths(1)) + 1), repeat=len(planned)):
        if sum(sizes) == sum(planned) and list(sizes) != planned.tolist():
            bad = int(np.argmax(np.cumsum(sizes) != np.cumsum(planned)))
            says = f"bin {bad} has {with_number(sizes[bad], 'document')}; the plan has {planned[bad]} there"
            with pytest.raises(LoDError, match=f"PackPlan.undo: y: {says}"):
                plan.undo(LoDTensor.from_lengths(packed.values, sizes, packed.lod.lengths(1)))


def test_inputs_stay_and_plans_are_sealed():
    lengths = np.array([3, 1, 2])
    plan = pack_plan(lengths, 3)
    lengths[:] = 9
    assert plan.lengths.tolist() == [3, 1, 2]
    for array in (plan.lengths, plan.documents, plan.starts, plan.sizes, plan[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0


@pytest.mark.parametrize("given_", [np.array([3, 1], np.uint8), [3, 1], LoD.from_lengths([2, 0], [1, 2])])
def test_lengths_in_many_forms(given_):
    assert pack_plan(given_, 4).lengths.tolist() in ([3, 1], [3, 0])


@pytest.mark.not_on_reference
def test_pack_plan_of_50000_documents_fills_large_budgets():
    random = np.random.default_rng(2)
    lengths = random.lognormal(np.log(300), 1.0, 50_000).astype(np.int64).clip(1, 2048)
    for method in ("histogram", "best_fit_decreasing", "first_fit_decreasing"):
        assert pack_plan(lengths, 2048, method).report().efficiency > 0.997
    wide = random.integers(0, 2**40, 2000)
    for method in METHODS:
        plan = pack_plan(wide, 2**41, method)
        np.testing.assert_array_equal(np.sort(plan.documents), np.arange(2000))
        assert plan.report().distance >= 0


@pytest.mark.parametrize("overflow", ["own_bin", "split", "drop", "truncate"])
def test_pack_plan_apply_and_undo_are_recorded_in_a_program(overflow):
    plan = pack_plan(OVER, 6, overflow=overflow)
    x = documents_of(OVER, np.float64)
    with lodcore.Program() as program:
        given_ = lodcore.data("x", lodcore.Spec((None,), np.dtype(np.float64), 1, LoDTensor))
        packed = plan.apply(given_)
        back = plan.undo(packed * 2.0)
    found = lodcore.Executor().run(program, feed={"x": x}, fetch=[packed, back])
    assert found[0].equals(plan.apply(x))
    assert found[1].equals(plan.undo(plan.apply(x * 2.0)))


def test_a_program_refuses_other_documents_and_bins_than_planned():
    plan = pack_plan([3, 1, 2], budget=4)
    x = documents_of([3, 1, 2], np.float64)
    deep = LoDTensor(x.values, LoD.from_lengths([2, 1, 1], [1, 2, 1, 2]))

    def run(function, fed):
        with lodcore.Program() as program:
            found = function(lodcore.data("x", (None,), fed.dtype, num_levels=fed.num_levels))
        return lodcore.Executor().run(program, {"x": fed}, [found])[0]

    for good in (x, deep):
        assert run(plan.apply, good).equals(plan.apply(good))
    with pytest.raises(LoDError, match=r"PackPlan.apply: x: document 0 has 2 tokens; 3 were planned"):
        run(plan.apply, documents_of([2, 2, 2]))
    packed = LoDTensor(x.values, LoD.from_lengths([1, 2], [2, 2, 2]))
    with pytest.raises(LoDError, match=r"PackPlan.undo: y: bin 0 has 1 document; the plan has 2 there"):
        run(plan.undo, packed)
    with pytest.raises(LoDError, match=r"PackPlan.undo: y: bin 0 has 1 document; the plan has 2 there"):
        run(plan.undo, documents_of([1, 2]))


# -- the report --------------------------------------------------------------------------------------------------------


def least_bins(sizes, budget, max_items):
    """Compute the lower bound of Martello and Toth for the number of bins: the greatest over all lengths k."""
    bound = max(-(-sum(sizes) // budget), bool(sizes), -(-len(sizes) // max_items) if max_items else 0)
    for k in {*range(budget // 2 + 1)}:
        alone = [n for n in sizes if n > budget - k]
        large = [n for n in sizes if budget // 2 < n <= budget - k]
        small = [n for n in sizes if k <= n <= budget // 2]
        over = sum(small) - (len(large) * budget - sum(large))
        bound = max(bound, len(alone) + len(large) + max(0, -(-over // budget)))
    return bound


def pieces_of(plan):
    """List the pieces of each bin: document, first token, and the token after the last."""
    pieces = [
        (d, s, s + n) for d, s, n in zip(*(x.tolist() for x in (plan.documents, plan.starts, plan.sizes)), strict=True)
    ]
    return [pieces[start:stop] for start, stop in zip(*bounds(plan.bins), strict=True)]


@given(calls())
def test_every_number_of_a_report(call):
    lengths, arguments = call
    plan = pack_plan(lengths, **arguments)
    whole = arguments["multiple_of"] * arguments["shards"]
    shards = [plan.shard(rank) for rank in range(arguments["shards"])] if arguments["shards"] > 1 else []
    for one, multiple in [(plan, whole), *((shard, arguments["multiple_of"]) for shard in shards)]:
        report, bins = one.report(), pieces_of(one)
        used = [sum(stop - start for _, start, stop in bin) for bin in bins]
        sizes = [stop - start for bin in bins for _, start, stop in bin]
        budget = arguments["budget"]
        assert (report.num_documents, report.num_bins, report.budget) == (len(one.lengths), len(bins), budget)
        assert report.num_tokens == sum(used)
        padding = sum(max(budget - tokens, 0) for tokens in used)
        assert report.padding == padding
        assert report.efficiency == (sum(used) / (sum(used) + padding) if sum(used) + padding else 1.0)

        long = [n for n in sizes if n > budget]  # these have bins of their own
        least = least_bins([n for n in sizes if n <= budget], budget, arguments["max_items"]) + len(long)
        assert report.lower_bound == -(-least // multiple) * multiple
        assert report.distance == len(bins) - report.lower_bound
        assert report.distance >= 0 or one is not plan

        by_document = {d: sorted(p for bin in bins for p in bin if p[0] == d) for d in range(len(one.lengths))}
        split = [list(piece) for d in by_document for piece in by_document[d] if len(by_document[d]) > 1]
        assert report.split.tolist() == split
        ends = {d: max((stop for _, _, stop in by_document[d]), default=0) for d in by_document}
        lost = [[d, ends[d], n] for d, n in enumerate(one.lengths.tolist()) if ends[d] < n or not by_document[d]]
        assert report.dropped.tolist() == ([] if one is not plan else lost)
        check_text(str(report), report)


@pytest.mark.parametrize("max_items", [1, 2, 3, 4])
@pytest.mark.parametrize("lengths", [[1] * 10, [2, 1] * 7, [0] * 9, [1] * 12 + [30]])
def test_few_items_in_a_bin_bound_the_report(lengths, max_items):
    plan = pack_plan(lengths, budget=10, max_items=max_items, overflow="truncate")
    report = plan.report()
    sizes = [min(n, 10) for n in lengths]
    assert report.lower_bound == max(-(-len(sizes) // max_items), least_bins(sizes, 10, max_items))
    assert report.lower_bound >= -(-len(lengths) // max_items)
    assert report.distance == plan.num_bins - report.lower_bound


def check_text(text, report):
    """Check that the text contains the numbers of the report."""
    numbers = [
        int(number.replace(",", "")) for number in re.findall(r"(?<![.\d])[\d,]*\d(?![.\d])", text.split("\n")[0])
    ]
    assert numbers == [report.num_documents, report.num_tokens, report.num_bins, report.budget, report.padding]
    assert f": {100 * report.efficiency:.1f} % full" in text
    assert f"at least {report.lower_bound} are needed, {report.distance} more than that" in text
    tokens = sum(stop - start for _, start, stop in report.dropped.tolist())
    lost = len({d for d, _, _ in report.dropped.tolist()})
    assert (f"dropped: {tokens} token{'s' * (tokens != 1)} of {lost} document{'s' * (lost != 1)}: " in text) == bool(
        lost
    )
    cut = len({d for d, _, _ in report.split.tolist()})
    assert (f"split: {cut} document{'s' * (cut != 1)}: " in text) == bool(cut)
    for name, ranges in (("dropped", report.dropped), ("split", report.split)):
        line = next((line for line in text.split("\n") if line.startswith(name)), "")
        named = [tuple(map(int, found)) for found in re.findall(r"document (\d+) tokens (\d+) .. (-?\d+)", line)]
        assert named == [(d, start, stop - 1) for d, start, stop in ranges.tolist()][:8]
        assert (f"and {len(ranges) - 8} more" in line) == (len(ranges) > 8)


def test_lower_bound_of_a_report_is_that_of_martello_and_toth():
    random, better = np.random.default_rng(0), 0
    for _ in range(500):
        budget = int(random.integers(1, 40))
        lengths = random.integers(budget // 5, budget + 1, random.integers(0, 12)).tolist()
        plain = [-(-sum(lengths) // budget), int(len(lengths) > 0), sum(2 * one > budget for one in lengths)]
        found = [0]
        for k in {one for one in lengths if 2 * one <= budget}:
            alone = [one for one in lengths if one > budget - k]
            above = [one for one in lengths if budget - k >= one and 2 * one > budget]
            below = [one for one in lengths if k <= one and 2 * one <= budget]
            over = max(0, sum(below) - (len(above) * budget - sum(above)))
            found.append(len(alone) + len(above) + -(-over // budget))
        better += max(found) > max(plain)
        assert bins_at_least(np.array(lengths, np.int64), budget) == max(*plain, *found)
    assert better > 20


def test_negative_numbers_of_bins_count_from_the_end():
    plan = pack_plan([3, 4, 5, 1, 2, 6], 6)
    assert len(plan) > 2
    for k in range(-len(plan), len(plan)):
        assert plan[k].tolist() == [bin.tolist() for bin in plan][k]


# -- tables: every combination, not only those that are drawn

MIXED = [3, 9, 0, 5, 2, 20, 5, 1, 0, 7, 5, 13, 2]
SETTINGS = [(1, 1, None, None), (2, 3, 2, 5), (1, 2, 3, 0)]  # multiple_of, shards, max_items, seed


@for_each(
    ("method", "overflow", "settings"),
    [(*pair, SETTINGS[k % 3]) for k, pair in enumerate(itertools.product(METHODS, OVERFLOWS))],
)
def test_pack_plan_with_every_method_and_overflow_packs_every_token_or_names_it(method, overflow, settings):
    multiple_of, shards, most, seed = settings
    seed, budget = None if method == "in_order" else seed, 20 if overflow == "error" else 6
    call = MIXED, {"budget": budget, "method": method, "max_items": most, "overflow": overflow, "seed": seed,
                   "multiple_of": multiple_of, "shards": shards, "window": 1}  # fmt: skip
    test_pack_plan_places_every_token_once_or_reports_it_as_dropped.hypothesis.inner_test(call)
    test_bins_keep_budget_limit_and_number.hypothesis.inner_test(call)
    test_every_number_of_a_report.hypothesis.inner_test(call)
    plan, x = pack_plan(*call[:1], **call[1]), documents_of(MIXED)
    assert (plan.budget, plan.method, plan.max_items, plan.multiple_of, plan.shards) == (
        budget, method, most, multiple_of, shards,
    )  # fmt: skip
    parts = [plan.take([k for k in range(len(plan)) if k % 2 == odd][::-1]) for odd in (0, 1)]
    for one in (plan, *parts, *(plan.shard(rank) for rank in range(shards))):
        packed = one.apply(x)
        tokens = packed.values.tolist()
        assert tokens == [t for d, s, n in zip(one.documents, one.starts, one.sizes, strict=True)
                          for t in x[d][s : s + n].tolist()]  # fmt: skip
        assert one.undo(packed).tolist() == [[t for t in x[d].tolist() if t in tokens] for d in range(len(MIXED))]
        copied = COPIES["pickle"](one)
        assert copied.is_part == one.is_part == (one is not plan)
        assert {k: v.tolist() for k, v in copied.to_arrays().items()} == {
            k: v.tolist() for k, v in one.to_arrays().items()
        }


@pytest.mark.not_on_reference
def test_a_seed_shuffles_documents_and_bins():
    """The longest documents come first, but their bins come anywhere; equal ones are interchanged."""
    for method in METHODS[:4] + METHODS[5:]:
        plans = [pack_plan([9, 8, 7, 6, 5, 5, 5, 5], 10, method, seed=seed) for seed in range(12)]
        assert len({plan.documents[0] for plan in plans}) > 3
        assert len({frozenset(frozenset(bin.tolist()) for bin in plan) for plan in plans}) > 1


@for_each(
    ("offsets", "multiple", "wanted"),
    [
        ([0, 2, 6, 9], 2, [0, 2, 4, 6, 9]),  # the one with the most items
        ([0, 5, 7], 3, [0, 3, 5, 7]),  # the first half is the larger one
        ([0, 3, 6, 9], 4, [0, 2, 3, 6, 9]),  # the first of equal ones
        ([0, 1, 3, 4], 4, [0, 1, 2, 3, 4]),
        ([0, 4], 8, [0, 1, 2, 3, 4, 4, 4, 4, 4]),  # nothing is left to halve
        ([0, 7], 5, [0, 1, 2, 4, 6, 7]),  # 4 and 3, then 2, 2, 2 and 1
        ([0], 3, [0]),
        ([0, 0], 2, [0, 0, 0]),
    ],
)
@pytest.mark.not_on_reference
def test_bins_with_the_most_items_are_halved(offsets, multiple, wanted):
    assert equal_shards("", np.array(offsets), multiple).tolist() == wanted


@pytest.mark.not_on_reference
def test_documents_of_any_depth_move_whole():
    deep = [[[[1, 2], [3]], []], [], [[[4]], [[], [5, 6, 7]]], [[[8], [9]]]]
    flat = [[1, 2, 3], [], [4, 5, 6, 7], [8, 9]]
    for levels in (1, 2, 3, 4):
        x = lodcore.array(deep if levels == 3 else flat)
        for _ in range(levels - 1 if levels != 3 else 0):  # each token in sequences of its own
            x = lodcore.lod_append(x, lengths=np.ones(x.num_rows, np.int64))
        assert x.num_levels == levels
        plan = pack_plan(x, 6)
        packed = plan.apply(x)
        assert packed.tolist() == [[x.tolist()[d] for d in bin] for bin in plan]
        assert plan.undo(packed).equals(x)
        if levels > 1:
            with pytest.raises(LoDError, match=f"x: has {levels} levels; the plan cuts documents"):
                pack_plan(x, 3, overflow="truncate").apply(x)


@pytest.mark.not_on_reference
def test_undo_refuses_other_numbers_of_rows_and_bins():
    plan = pack_plan([2, 3, 1], 3, "best_fit")
    for count in (0, 5, 7, 12):
        with pytest.raises(LoDError, match=f"y: has {count} rows; the plan packs 6 tokens"):
            plan.undo(np.arange(count))
    for bins in ([[[1], [2]]], [[[1], [2]], [[3]], []], [[[1], [2]], [[3]], [[4]]]):
        with pytest.raises(LoDError, match=f"y: has {with_number(len(bins), 'bin')}; the plan has 2"):
            plan.undo(bins)
    for k in (-3, 2, 2**40):
        with pytest.raises(IndexError, match=f"bin: is {k}; there are 2 bins"):
            plan[k]
    for lengths, bad in (([2, 2, 1], 1), ([2, 4, 1], 1), ([2, 3, 0], 2), ([1, 9, 9], 0), ([2, 9, 9], 1)):
        with pytest.raises(
            LoDError, match=f"x: document {bad} has {with_number(lengths[bad], 'token')}; {[2, 3, 1][bad]} were"
        ):
            plan.apply(documents_of(lengths))


@for_each(
    ("call", "says"),
    [
        *((lambda n, name=name: pack_plan([1], **{"budget": 3, name: n}), f"pack_plan: {name}")
          for name in ("budget", "max_items", "multiple_of", "shards", "window", "seed")),
        *((lambda n, name=name: batches([1], **{"max_tokens": 3, name: n}), f"batches: {name}")
          for name in ("max_tokens", "max_items", "buckets", "world_size", "seed")),
        (lambda n: chunk_plan([1], n), "chunk_plan: size"),
        (lambda n: concat_and_cut([[1]], n), "concat_and_cut: size"),
        (lambda n: pack_stream([], n), "pack_stream: budget"),
        (lambda n: batch_stream([], n), "batch_stream: max_tokens"),
        (lambda n: batch_stream([], 3, max_items=n), "batch_stream: max_items"),
        (lambda n: sample_by_temperature([1], num_samples=n), "sample_by_temperature: num_samples"),
        (lambda n: attention_inputs([[[1]]], num_segments=n), "attention_inputs: num_segments"),
    ],
)  # fmt: skip
@pytest.mark.not_on_reference
def test_pack_plan_refuses_budgets_and_counts_beyond_their_limits(call, says):
    for number in (-1, 2**62 + 1, 2**63, 2**80):
        with pytest.raises(ValueError, match=f"^{says}: is {number}; [01] .. 2"):
            call(number)
    with pytest.raises(DTypeError, match=f"^{says}: is 1.5"):
        call(1.5)


@pytest.mark.not_on_reference
def test_windows_belong_to_in_order_and_seeds_do_not():
    for method in METHODS:
        if method == "in_order":
            for seed in (0, 1, np.int64(0)):
                with pytest.raises(ValueError, match="with method 'in_order', which keeps the order"):
                    pack_plan([1], 3, method, seed=seed)
        else:
            with pytest.raises(ValueError, match=f"window: is 2 with method '{method}'"):
                pack_plan([1], 3, method, window=2)


@pytest.mark.not_on_reference
def test_arrays_of_plans_and_reports_are_read_only():
    for overflow in ("error", "split", "own_bin", "drop", "truncate"):
        plan = pack_plan(MIXED, 20 if overflow == "error" else 6, overflow=overflow, seed=1)
        report = plan.report()
        for one in (plan, plan.shard(0), COPIES["pickle"](plan)):
            for array in (one.lengths, one.documents, one.starts, one.sizes, one.places, one[0], report.dropped,
                          report.split, one.bins.offsets(), one.lod.offsets(1)):  # fmt: skip
                assert not array.flags.writeable


@for_each(("count", "overflow"), itertools.product((1, 7, 8, 9, 10), ("drop", "truncate", "split")))
@pytest.mark.not_on_reference
def test_reports_name_the_first_eight(count, overflow):
    report = pack_plan([3] * (count // 2 if overflow == "split" else count), 2, overflow=overflow).report()
    check_text(str(report), report)
    assert len(report.split if overflow == "split" else report.dropped) == (
        count // 2 * 2 if overflow == "split" else count
    )


@pytest.mark.not_on_reference
def test_report_of_the_largest_budgets_counts_without_overflow():
    for budget in (2**61, 2**62 - 1, 2**62):
        report = pack_plan([2**59, 1, 5, 2**59], budget).report()
        assert (report.num_bins, report.lower_bound, report.padding) == (1, 1, budget - 2**60 - 6)
        report = pack_plan([1, 5, 3], budget, max_items=2).report()
        assert (report.num_bins, report.lower_bound, report.padding) == (2, 2, 2 * budget - 9)


@for_each(
    ("change", "says"),
    [
        *(({"numbers": [4 - (k == 0) * 4, -(k == 1), k != 2, k != 3, 0]}, "numbers: (are|is)") for k in range(4)),
        ({"numbers": [4, 0, 1, 1]}, "numbers: are"),
        ({"numbers": [0, 0, 1, 1, 0]}, "numbers: are"),
        ({"starts": [0]}, "have 2, 1 and 2 entries"),
        ({"sizes": [2]}, "have 2, 2 and 1 entries"),
        ({"documents": [9, 1]}, "is 9 at piece 0; there are 3 documents"),
        ({"starts": [3, 0]}, "are 3, 2 at piece 0; document 0 has 2 tokens"),
        ({"sizes": [3, 3]}, "document 0 has 2 tokens"),
        ({"documents": [1, 1], "starts": [0, 1], "sizes": [2, 2]}, "piece 1 overlaps another one of document 1"),
        ({"bins": [0, 1]}, r"bins: offsets\[0\]"),
        ({"bins": [0.0, 2.0]}, r"bins: offsets\[0\]: has dtype float64"),
        ({"sizes": [2, 3, 0]}, "have 2, 2 and 3 entries"),
        ({"documents": [0, 1, 1], "bins": [0, 1, 3]}, "have 3, 2 and 2 entries"),
        ({"documents": [2, 2], "starts": [0, 0], "sizes": [0, 0]}, "piece 1 overlaps another one of document 2"),
        ({"documents": [1, 1], "starts": [0, 3], "sizes": [3, 0]}, "piece 1 overlaps another one of document 1"),
        ({"documents": [1, 1], "starts": [2, 0], "sizes": [1, 3]}, "piece 0 overlaps another one of document 1"),
        ({"documents": [1, 1], "starts": [0, 0], "sizes": [1, 1]}, "piece 1 overlaps another one of document 1"),
        ({"starts": [0, 4], "sizes": [2, 0]}, "are 4, 0 at piece 1; document 1 has 3 tokens"),
        ({"bins": [0, 0, 2], "numbers": [9, 1, 1, 1, 0]}, "bins: bin 1 has 2 pieces; max_items is 1"),
        ({"numbers": [4, 0, 3, 1, 0]}, "bins: there are 2; multiple_of and shards need a multiple of 3"),
        ({"bins": [0, 1, 1, 2], "numbers": [4, 0, 2, 2, 0]}, "bins: there are 3; .* need a multiple of 4"),
        ({"bins": [0, 2], "numbers": [4, 0, 1, 1, 0]}, "bin 0 has more tokens than the budget of 4"),
    ],
)
@pytest.mark.not_on_reference
def test_every_array_from_outside_is_checked(change, says):
    arrays = {"lengths": [2, 3, 0], "documents": [0, 1], "starts": [0, 0], "sizes": [2, 3], "bins": [0, 1, 2]}
    arrays |= {"numbers": [4, 0, 1, 1, 0], "method": "next_fit"}
    with pytest.raises((LoDError, ValueError, TypeError), match=f"^PackPlan.from_arrays: .*{says}"):
        PackPlan.from_arrays(arrays | change)
    file = io.BytesIO()
    np.savez(file, **arrays | change)
    with pytest.raises((LoDError, ValueError, TypeError), match=f"^PackPlan.load: file: .*{says}"):
        PackPlan.load(file)
    with pytest.raises(ValueError, match="sizes missing"):
        PackPlan.from_arrays({name: array for name, array in arrays.items() if name != "sizes"})
    fits = PackPlan.from_arrays(arrays | {"bins": [0, 2], "numbers": [5, 2, 3, 4, 1]})
    assert (fits.budget, fits.max_items, fits.multiple_of, fits.shards, fits.is_part) == (5, 2, 3, 4, True)
    cut = PackPlan.from_arrays(arrays | {"sizes": [2, 2]})  # it begins where its document does, but ends before
    assert cut.undo(cut.apply([[1, 2], [3, 4, 5], []])).tolist() == [[1, 2], [3, 4], []]
    assert cut.report().dropped.tolist() == [[1, 2, 3], [2, 0, 0]]  # also what has no tokens and is in no bin
    apart = PackPlan.from_arrays(arrays | {"documents": [1, 1], "starts": [2, 0], "sizes": [1, 2]})
    assert apart.undo(apart.apply([[1, 2], [3, 4, 5], []])).tolist() == [[], [3, 4, 5], []]


OTHERS = {
    "taken twice": (pack_plan([3, 2], 3).take([1, 1]), [[], [4.0, 5.0]]),
    "taken twice, as many as all": (pack_plan([3, 2], 3).take([0, 0, 1]), [[1.0, 2.0, 3.0], [4.0, 5.0]]),
    "taken": (pack_plan([3, 2], 3).take([1]), [[], [4.0, 5.0]]),
    "cut": (pack_plan([3, 2], 2, overflow="split"), [[1.0, 2.0, 3.0], [4.0, 5.0]]),
}


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", OTHERS)
def test_undo_returns_each_document_once_at_once_and_in_a_program(name):
    plan, wanted = OTHERS[name]
    x = lodcore.array([[1.0, 2.0, 3.0], [4.0, 5.0]])
    assert plan.undo(plan.apply(x)).tolist() == wanted
    with Program() as program:
        y = plan.undo(plan.apply(data("x", (None,), "f8", num_levels=1)))
    assert Executor().run(program, {"x": x}, [y])[0].tolist() == wanted


@pytest.mark.not_on_reference
def test_undo_in_a_program_keeps_other_numbers_of_rows_and_further_levels():
    plan = pack_plan([4, 1], 3, overflow="split")
    pieces = LoDTensor.from_lengths(np.arange(1.0, 6), plan.lod.lengths(0), [3, 0, 2])
    deep = lodcore.array([[[1.0, 2.0], [3.0]], [[4.0]]])
    part = pack_plan([3, 1], 3).take([0])
    with Program() as program:
        one = plan.undo(data("y", (None,), "f8", num_levels=2))
        other = part.undo(part.apply(data("x", (None,), "f8", num_levels=2)))
    found = Executor().run(program, {"y": pieces, "x": deep}, [one, other])
    assert found[0].tolist() == plan.undo(pieces).tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0]]
    assert found[1].tolist() == part.undo(part.apply(deep)).tolist() == [[[1.0, 2.0], [3.0]], []]


@pytest.mark.not_on_reference
def test_documents_of_several_levels_other_than_planned_are_refused_by_the_run():
    plan = pack_plan([3, 1], 4)
    with Program() as program:
        y = plan.apply(data("x", (None,), "f8", num_levels=2))
    for other, says in (([[[1.0, 2.0]], [[4.0]], [[5.0]]], "3 documents"), ([[[1.0]], [[4.0]]], "document 0 has 1")):
        with pytest.raises(LoDError, match=rf"PackPlan.apply: x: (has )?{says}"):
            Executor().run(program, {"x": lodcore.array(other)}, [y])


@pytest.mark.not_on_reference
def test_plans_are_made_of_the_lengths_of_variables_with_a_value():
    x = lodcore.array([[1.0, 2.0, 3.0], [4.0]])
    packed, pullback = lodcore.vjp(lambda x: pack_plan(x, 4).apply(x), x)
    assert packed.tolist() == [[[1.0, 2.0, 3.0], [4.0]]]
    assert pullback(packed)[0].tolist() == x.tolist()
    with Program(), pytest.raises(lodcore.GraphError, match="pack_plan: lengths: is a Variable without a value"):
        pack_plan(data("x", (None,), "f8", num_levels=1), 4)
