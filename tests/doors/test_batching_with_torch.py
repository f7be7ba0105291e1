"""Batching with torch: its attention, its losses, its DataLoader, with forked and spawned workers."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.utils.data import DataLoader, Dataset

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor
from lodcore.batching import assert_isolated, attention_inputs, batches, cu_seqlens, pack_plan
from tests.helpers.libraries import MARKS
from tests.helpers.plans import documents_of

pytestmark = MARKS

LENGTHS = [4, 1, 6, 3, 0, 5, 4, 7, 2]
TOLERANCE = {"rtol": 1e-5, "atol": 1e-6}


@pytest.fixture
def tokens():
    random = np.random.default_rng(0)
    x = documents_of(LENGTHS)
    return LoDTensor(random.integers(0, 50, x.num_rows), x.lod)


def heads(length, seed=1):
    return torch.randn(1, 2, length, 8, generator=torch.Generator().manual_seed(seed))


def test_arrays_of_torch_are_those_of_numpy(tokens):
    packed = pack_plan(tokens, 10).apply(tokens)
    weighted = {"loss_weights": packed.with_values(np.arange(packed.num_rows) / 8)}
    for arguments in ({}, {"length": 10}, {"length": 12, "shift_labels": True}, weighted):
        ours, theirs = (attention_inputs(packed, **arguments, library=library) for library in ("numpy", "torch"))
        assert [type(one) for one in ours] == [np.ndarray] * 6 + [int, type(ours.loss_weights)]
        for one, other in zip(ours, theirs, strict=True):
            if isinstance(one, np.ndarray):
                assert isinstance(other, torch.Tensor)
                assert other.dtype == getattr(torch, one.dtype.name)
                np.testing.assert_array_equal(one, other.numpy())
            else:
                assert other == one
        np.testing.assert_array_equal(ours.mask(), theirs.mask().numpy())
    assert np.shares_memory(ours.to_torch().input_ids.numpy(), ours.input_ids)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("length", [None, 10, 13])
def test_packed_attention_equals_one_document_at_a_time(tokens, causal, length):
    plan = pack_plan(tokens, 10)
    packed = plan.apply(tokens)
    inputs = attention_inputs(packed, length, library="torch")
    table = torch.randn(50, 3, 8, generator=torch.Generator().manual_seed(0))
    query, key, value = table[inputs.input_ids].unbind(2)
    out = scaled_dot_product_attention(query, key, value, attn_mask=inputs.mask(causal))
    assert torch.isfinite(out).all()
    rows = out[inputs.segment_ids > 0]
    back = plan.undo(LoDTensor(rows.numpy(), packed.lod))
    for document, ids in zip(back, tokens, strict=True):
        if len(ids):
            query, key, value = table[torch.from_numpy(ids.copy())][None].unbind(2)
            want = scaled_dot_product_attention(query, key, value, is_causal=causal)[0]
            np.testing.assert_allclose(document, want.numpy(), **TOLERANCE)


def test_cu_seqlens_cut_as_torch_wants_them(tokens):
    """Compute variable-length attention, as a GPU does, from the offsets alone: each segment separately."""
    packed = pack_plan(tokens, 10).apply(tokens)
    inputs = attention_inputs(packed, library="torch")
    ends, longest = cu_seqlens(packed)
    assert longest == inputs.max_seqlen == int(inputs.cu_seqlens.diff().max())
    query = heads(packed.num_rows)
    nested = [query[:, :, start:stop] for start, stop in pairwise(ends)]
    by_segment = torch.cat([scaled_dot_product_attention(one, one, one) for one in nested], dim=2)
    by_mask = scaled_dot_product_attention(query, query, query, attn_mask=inputs.mask(False))
    torch.testing.assert_close(by_segment, by_mask, **TOLERANCE)


def test_jagged_tensors_take_the_offsets(tokens):
    packed = pack_plan(tokens, 10).apply(tokens)
    inputs = attention_inputs(packed, library="torch")
    jagged = torch.nested.nested_tensor_from_jagged(torch.arange(packed.num_rows), inputs.cu_seqlens.long())
    documents = [document.numpy().tolist() for document in jagged.unbind()]
    flat = LoDTensor(np.arange(packed.num_rows), packed.lod.drop(0))
    assert documents == flat.tolist()


@pytest.mark.parametrize("shift", [True, False])
def test_losses_are_those_of_documents_by_themselves(tokens, shift):
    plan = pack_plan(tokens, 10)
    table = torch.randn(50, 50, generator=torch.Generator().manual_seed(0))
    inputs = attention_inputs(plan.apply(tokens), 12, shift_labels=shift, library="torch")
    logits, labels = table[inputs.input_ids], inputs.labels
    if not shift:  # as a model does that shifts labels itself
        logits, labels = logits[:, :-1], labels[:, 1:]
    loss = cross_entropy(logits.reshape(-1, 50), labels.reshape(-1), reduction="sum")
    each = [
        cross_entropy(table[ids[:-1].copy()], torch.from_numpy(ids[1:].copy()), reduction="sum")
        for ids in tokens
        if len(ids) > 1
    ]
    torch.testing.assert_close(loss, sum(each))


def test_a_transformer_is_isolated_by_the_mask_and_not_without(tokens):
    packed = pack_plan(tokens, 10).apply(tokens)
    inputs = attention_inputs(packed, library="torch")
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).eval()
    embedding, positions = torch.nn.Embedding(50, 8), torch.nn.Embedding(10, 8)
    blocked = ~inputs.mask()[0]

    def run(mask):
        def f(x):
            ids = torch.from_numpy(x.values.copy())[None]
            return layer(embedding(ids) + positions(inputs.position_ids), src_mask=mask)[0]

        return f

    assert_isolated(run(blocked), packed)
    causal = torch.nn.Transformer.generate_square_subsequent_mask(packed.num_rows)
    with pytest.raises(AssertionError, match="changes document"):
        assert_isolated(run(causal), packed)


class Texts(Dataset):
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return index, torch.from_numpy(self.x[index].copy())


def collate(pairs):
    return [index for index, _ in pairs], [len(one) for _, one in pairs]


@pytest.mark.parametrize(("count", "workers"), [(0, None), (2, "fork"), (1, "spawn")])
def test_a_plan_is_a_batch_sampler(tokens, count, workers):
    """With new workers in each epoch if they are forked; one that is spawned imports torch, and takes seconds."""
    plan = batches(tokens, 12, seed=3)
    named = {"num_workers": count, "multiprocessing_context": workers, "persistent_workers": workers == "spawn"}
    loader = DataLoader(Texts(tokens), batch_sampler=plan, collate_fn=collate, **named)
    again = batches(tokens, 12, seed=3)
    for _ in range(2):
        assert len(loader) == len(again)
        found = list(loader)
        assert [ids for ids, _ in found] == [batch.tolist() for batch in again]
        assert sorted(one for ids, _ in found for one in ids) == list(range(len(LENGTHS)))


def test_pack_plan_serves_as_batch_sampler_of_a_data_loader(tokens):
    plan = pack_plan(tokens, 12, seed=1)
    loader = DataLoader(Texts(tokens), batch_sampler=plan, collate_fn=collate)
    found = list(loader)
    assert [ids for ids, _ in found] == [bin.tolist() for bin in plan]
    assert all(sum(sizes) <= 12 for _, sizes in found)


def test_a_rank_with_nothing_left_still_steps(tokens):
    plan = batches([2, 2], 4, world_size=4, rank=3)
    loader = DataLoader(Texts(tokens), batch_sampler=plan, collate_fn=collate)
    assert list(loader) == [([], [])]


def test_collate_refuses_no_samples_no_list_and_lists_of_different_lengths():
    with pytest.raises(LoDError, match="collate: samples: there are none"):
        lodcore.collate([])
    for given in ({"a": None}, "text", {1}, None):
        with pytest.raises(DTypeError, match=f"collate: samples: is {type(given).__name__}; a list of samples is"):
            lodcore.collate(given)
    with pytest.raises(LoDError, match=r"collate: samples\[1\]: has 1 entries; samples\[0\] has 2"):
        lodcore.collate([[1, 2], [3]])
    with pytest.raises(LoDError, match=r"collate: samples\[2\]: is int; samples\[0\] has 2"):
        lodcore.collate([(1, 2), (3, 4), 5])


class Pair(NamedTuple):
    x: object
    y: object


def test_collate_names_the_sample_that_does_not_fit():
    for samples, error, text in (
        ([{"a": 1}, {"a": 1, "b": 2}], LoDError, r"samples\[1\]: has 'a', 'b'; samples\[0\] has 'a'"),
        ([{"a": 1, "b": 2}, {"a": 1}], LoDError, r"samples\[1\]: has 'a'; samples\[0\] has 'a', 'b'"),
        ([{}, {"a": 1}], LoDError, r"samples\[1\]: has 'a'; samples\[0\] has no key"),
        ([{"a": 1}, 3], LoDError, r"samples\[1\]: is int; samples\[0\] has 'a'"),
        ([{"a": {"x": 1}}, {"a": {"y": 1}}], LoDError, r"samples\[1\]\['a'\]: has 'y'; samples\[0\]\['a'\] has 'x'"),
        ([(1, (2,)), (1, 2)], LoDError, r"samples\[1\]\[1\]: is int; samples\[0\]\[1\] has 1"),
        ([None, None], DTypeError, r"samples\[0\]: is None; numbers, arrays"),
        ([{"a": 1}, {"a": None}], DTypeError, r"samples\[1\]\['a'\]: is None; numbers, arrays"),
        ([1, "b"], DTypeError, r"samples\[1\]: is 'b'; numbers, arrays"),
        ([1, np.zeros(2)], DTypeError, r"samples\[1\]: is array\(\[0., 0.\]\); numbers, arrays"),
        ([np.datetime64("2020")] * 2, DTypeError, r"samples\[0\]: has dtype datetime64\[Y\], which torch does not"),
    ):
        with pytest.raises(error, match=f"^lodcore.interop.collate: {text}"):
            lodcore.collate(samples)
    assert lodcore.collate([{"b": 1, "a": 2}, {"a": 3, "b": 4}])["a"].tolist() == [2, 3]
    assert lodcore.collate([torch.tensor(1.5), 2, True]).tolist() == [1.5, 2.0, 1.0]
    pairs = lodcore.collate([Pair(1, np.zeros(2)), Pair(2, np.zeros(1))])
    assert (type(pairs), pairs.x.tolist(), len(pairs.y)) == (Pair, [1, 2], 2)
