"""Epochs over the bins of a packing plan: every bin once, resumed where they stopped."""

import pickle

import numpy as np
import pytest

from lodcore import DTypeError, array
from lodcore.batching import attention_inputs, pack_batches, pack_plan
from tests.helpers.tables import for_each

LENGTHS = np.random.default_rng(0).integers(1, 9, 40)
PLAN = pack_plan(LENGTHS, 10)


@for_each(("size", "world", "shuffle"), [(n, world, s) for n in (1, 3, 99) for world in (1, 2, 3) for s in (0, 1)])
def test_every_bin_is_in_one_batch_of_an_epoch(size, world, shuffle):
    plans = [pack_batches(PLAN, size, bool(shuffle), 5, rank=rank, world_size=world) for rank in range(world)]
    for _ in range(2):
        epochs = [list(plan) for plan in plans]
        assert len({len(one) for one in epochs}) == 1
        assert all(len(bins) <= size for one in epochs for bins in one)
        seen = np.concatenate([bins for one in epochs for bins in one])
        assert sorted(seen) == list(range(len(PLAN)))
    if not shuffle and world == 1:
        assert np.concatenate(epochs[0]).tolist() == list(range(len(PLAN)))


def test_epochs_go_on_from_their_state():
    plan = pack_batches(PLAN, 3, seed=1)
    first = [bins.tolist() for bins in plan]
    assert [bins.tolist() for bins in plan] != first
    taken = [next(plan).tolist() for _ in range(2)]
    state = plan.state_dict()
    for again in (pack_batches(PLAN, 3, seed=1), pickle.loads(pickle.dumps(pack_batches(PLAN, 3)))):
        again.load_state_dict(state)
        rest = [bins.tolist() for bins in again]
        assert sorted(sum([*taken, *rest], [])) == list(range(len(PLAN)))  # noqa: RUF017


def test_the_state_of_other_bins_is_refused():
    state = pack_batches(PLAN, 3).state_dict()
    other = pack_plan(LENGTHS, 10, method="in_order", window=5)
    turned = PLAN.take(np.arange(len(PLAN))[::-1])
    for plan, size in ((turned, 3), (other, 3), (PLAN, 4)):
        with pytest.raises(ValueError, match="state: "):
            pack_batches(plan, size).load_state_dict(state)
    with pytest.raises(DTypeError, match="pack_batches: plan: is list; a PackPlan is needed"):
        pack_batches([1, 2], 3)
    with pytest.raises(ValueError, match="pack_batches: num_bins: is 0"):
        pack_batches(PLAN, 0)


@for_each("shift", [False, True])
def test_labels_that_do_not_count_are_ignored(shift):
    random = np.random.default_rng(1)
    documents = array([random.integers(1, 99, n) for n in LENGTHS])
    packed = PLAN.apply(documents)
    mask, weights = packed.with_values(random.random(packed.num_rows) < 0.5), packed.values / 7
    weighted = packed.with_values(weights)
    plain = attention_inputs(packed, 12, shift_labels=shift)
    found = attention_inputs(packed, 12, shift_labels=shift, loss_mask=mask, loss_weights=weighted)
    numbers = attention_inputs(packed, 12, labels=packed.with_values(np.arange(packed.num_rows)), shift_labels=shift)
    for label, one, weight, number in zip(
        plain.labels.flat, found.labels.flat, found.loss_weights.flat, numbers.labels.flat, strict=True
    ):
        counts = number >= 0 and mask.values[number]
        assert (one, weight) == ((label, weights[number]) if counts else (-100, 0))
    assert np.array_equal(found.input_ids, plain.input_ids)
    assert plain.loss_weights is None
    assert (
        attention_inputs(packed, 12, loss_weights=packed.with_values(weights.astype("f4"))).loss_weights.dtype == "f4"
    )
    for name, wrong, error, text in (
        ("loss_mask", packed, DTypeError, "loss_mask: has dtype int64; bool"),
        ("loss_mask", mask[:2], ValueError, "loss_mask: has a different structure"),
        ("loss_weights", packed.with_values(np.array(["a"] * packed.num_rows)), DTypeError, "loss_weights: has dtype"),
    ):
        with pytest.raises(error, match=f"attention_inputs: {text}"):
            attention_inputs(packed, 12, **{name: wrong})
