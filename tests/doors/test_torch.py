"""torch: jagged tensors, packed sequences, variable-length attention, and a DataLoader."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, from_torch, to_torch
from lodcore.errors import DTypeError, LoDError
from lodcore.interop import TorchBatch, Varlen, collate
from tests.helpers.draw import lod_tensors
from tests.helpers.libraries import MARKS, imported

torch = imported("torch")
rnn = torch.nn.utils.rnn
pytestmark = MARKS

NUMBERS = [np.dtype(name) for name in ("?", "u1", "i2", "i4", "i8", "f2", "f4", "f8", "c8")]
LENGTHS = st.lists(st.integers(1, 6), min_size=1, max_size=9)


def drawn(lengths, seed=0, width=2):
    rows = np.random.default_rng(seed).random((sum(lengths), width))
    return LoDTensor.from_lengths(rows, lengths)


# -- jagged --------------------------------------------------------------------------------------------------------


@given(lod_tensors(1, 1, NUMBERS, [(), (3,)]))
def test_to_torch_and_from_torch_of_jagged_tensors_are_inverse(x):
    if not len(x):
        return
    jagged = to_torch(x)
    assert jagged.layout == torch.jagged
    for part, piece in zip(jagged.unbind(), x, strict=True):
        np.testing.assert_array_equal(part.numpy(), piece)
    assert from_torch(jagged).equals(x)
    assert lodcore.array(jagged).equals(x)


def test_conversion_to_and_from_torch_copies_nothing():
    mine = np.arange(6.0)
    x = LoDTensor(mine, LoD.from_lengths([2, 0, 4]))
    jagged = x.to_torch()
    assert jagged.values().data_ptr() == mine.ctypes.data
    assert from_torch(jagged).values.ctypes.data == mine.ctypes.data
    assert not from_torch(jagged).values.flags.writeable
    assert x.to_torch(copy=True).values().data_ptr() != mine.ctypes.data
    with pytest.raises(ValueError, match=r"WRITEABLE|read-only"):
        x.values[0] = 1


def test_what_is_written_to_a_tensor_is_seen_wherever_its_memory_is_shared():
    mine = np.arange(6.0)
    x = LoDTensor(mine, LoD.from_lengths([2, 0, 4]))
    same, part = x.with_values(x.values), x[2:]
    for layout in ("jagged", "varlen"):
        made = x.to_torch(layout)
        (made.values() if layout == "jagged" else made.values).add_(1)
    x.to_torch(copy=True).values().add_(1)
    x[x.lengths > 0].to_torch("packed").data.add_(1)
    for one in (mine, x.values, same.values):
        assert one.tolist() == [2, 3, 4, 5, 6, 7]
    assert part.tolist() == [[4, 5, 6, 7]]
    mine[0] = 9
    assert x.to_torch().values()[0] == 9


def test_memory_that_cannot_be_written_is_copied(tmp_path):
    """torch writes to any memory; writing to a mapped file would end the process."""
    lodcore.save(tmp_path / "x.lod", drawn([2, 1]))
    x = lodcore.load(tmp_path / "x.lod")
    jagged = to_torch(x)
    jagged.values().add_(1)
    assert x.equals(drawn([2, 1]))
    with pytest.raises(ValueError, match="copy: is False; the values are read-only"):
        to_torch(x, copy=False)


def test_tensors_of_one_structure_compute_with_each_other():
    x = drawn([2, 3])
    y = LoDTensor(x.values * 2, x.lod)
    together = to_torch(x) + to_torch(y)
    assert np.allclose(from_torch(together).values, 3 * x.values)


def test_offsets_overwritten_by_torch_are_made_again():
    x = drawn([2, 3])
    to_torch(x).offsets().zero_()
    assert to_torch(x).offsets().tolist() == [0, 2, 5]
    assert x.offsets.tolist() == [0, 2, 5]


def test_offsets_made_in_inference_mode_are_not_reused_outside():
    x = drawn([2, 3])
    with torch.inference_mode():
        assert from_torch(to_torch(x)).equals(x)
        assert from_torch(to_torch(x)).equals(x)
    outside = to_torch(x)
    assert not outside.offsets().is_inference()
    with torch.inference_mode():
        assert to_torch(x).offsets() is outside.offsets()


def test_other_jagged_tensors():
    narrow = torch.nested.narrow(
        torch.arange(12).reshape(3, 4), 1, torch.tensor([0, 1, 2]), torch.tensor([2, 0, 2]), layout=torch.jagged
    )
    assert from_torch(narrow).tolist() == [[0, 1], [], [10, 11]]
    strided = torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)])
    assert from_torch(strided).shape == (2, None, 3)
    jagged = torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)], layout=torch.jagged)
    assert from_torch(jagged).lengths.tolist() == [2, 1]
    with pytest.raises(LoDError, match="is ragged on axis 2"):
        from_torch(jagged.transpose(1, 2))


def test_offsets_are_checked_and_private():
    values, offsets = torch.arange(5), torch.tensor([0, 2, 5])
    jagged = torch.nested.nested_tensor_from_jagged(values, offsets)
    x = from_torch(jagged)
    offsets[1] = 4
    assert x.tolist() == [[0, 1], [2, 3, 4]]
    offsets[1] = 9
    with pytest.raises(LoDError, match=r"offsets\(\): fall at position 2 \(9 -> 5\)"):
        from_torch(jagged)
    offsets[1:] = 9
    with pytest.raises(LoDError, match="offsets end at 9; there are 5 rows"):
        from_torch(jagged)


def test_from_torch_refuses_tensors_that_require_gradients():
    wanted = torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged, requires_grad=True)
    with pytest.raises(DTypeError, match="detach"):
        from_torch(wanted)
    assert from_torch(wanted.detach()).tolist() == [[1.0, 1.0]]
    packed = rnn.pack_sequence([torch.ones(2, requires_grad=True)])
    with pytest.raises(DTypeError, match="detach"):
        from_torch(packed)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: torch.ones(3), "is a tensor that is not nested"),
        (lambda: [torch.ones(3), torch.ones(2)], "is list; .*; lodcore.array.x. takes a list of tensors"),
        (lambda: 3, "is int; a nested tensor, a PackedSequence"),
        (  # not while tests are collected: torch loads much for it
            lambda: torch.nested.nested_tensor([torch.ones(2)], dtype=torch.bfloat16, layout=torch.jagged),
            "has no view for NumPy",
        ),
    ],
)
def test_from_torch_refuses_other_tensors(made, says):
    with pytest.raises(DTypeError, match=says):
        from_torch(made())


def test_to_torch_of_unsupported_tensors_raises():
    with pytest.raises(LoDError, match="x: has 2 levels; torch has tensors of one"):
        to_torch([[[1]]])
    with pytest.raises(DTypeError, match="values: have dtype"):
        to_torch(LoDTensor(np.array(["a"]), LoD.from_lengths([1])))
    with pytest.raises(ValueError, match="layout: is 'coo'"):
        to_torch([[1]], "coo")


# -- packed --------------------------------------------------------------------------------------------------------


@given(LENGTHS, st.booleans())
def test_packed_as_torch_packs(lengths, ordered):
    lengths = sorted(lengths, reverse=True) if ordered else lengths
    x = drawn(lengths)
    pieces = [torch.from_numpy(piece.copy()) for piece in x]
    theirs, ours = rnn.pack_sequence(pieces, enforce_sorted=False), to_torch(x, "packed")
    assert torch.equal(theirs.data, ours.data)
    assert torch.equal(theirs.batch_sizes, ours.batch_sizes)
    lengths_by_rank = [lengths[k] for k in ours.sorted_indices.tolist()]
    assert lengths_by_rank == sorted(lengths, reverse=True)
    order = torch.arange(len(lengths))
    assert torch.equal(ours.sorted_indices[ours.unsorted_indices], order)
    assert [part.tolist() for part in rnn.unpack_sequence(ours)] == [piece.tolist() for piece in x]
    assert from_torch(ours).equals(x)
    assert from_torch(theirs).equals(x)
    if ordered:
        assert from_torch(rnn.pack_sequence(pieces)).equals(x)  # without permutations


def test_a_network_runs_on_it():
    torch.manual_seed(0)
    x = drawn([3, 1, 4])
    layer = torch.nn.GRU(2, 3, dtype=torch.float64)
    outputs, last = layer(to_torch(x, "packed"))
    for k, piece in enumerate(x):
        want, _ = layer(torch.from_numpy(piece.copy())[:, None])
        assert torch.allclose(want[-1, 0], last[0, k])
        assert np.allclose(
            want[:, 0].detach().numpy(), from_torch(rnn.PackedSequence(outputs.data.detach(), *outputs[1:]))[k]
        )


def test_empty_sequences_are_refused():
    with pytest.raises(LoDError, match="sequence 1 is empty, which a PackedSequence cannot hold"):
        to_torch([[1], [], [2]], "packed")
    with pytest.raises(LoDError, match="has no sequence"):
        to_torch([], "packed")


BAD = {
    "sizes that rise": (lambda p: {"batch_sizes": torch.tensor([1, 2, 3])}, "is 2 at step 1; sizes are positive"),
    "a size of 0": (lambda p: {"batch_sizes": torch.tensor([3, 3, 0])}, "is 0 at step 2"),
    "a negative size": (lambda p: {"batch_sizes": torch.tensor([7, -1])}, "is -1 at step 1"),
    "too few rows": (lambda p: {"batch_sizes": torch.tensor([3, 3])}, "add up to 6; x.data has 7 rows"),
    "no permutation": (lambda p: {"sorted_indices": torch.tensor([0, 0, 1])}, "sorted_indices: is not a permutation"),
    "indices out of range": (lambda p: {"sorted_indices": torch.tensor([0, 1, 3])}, "is not a permutation of 0 .. 2"),
    "too few indices": (lambda p: {"sorted_indices": torch.tensor([0, 1])}, "is not a permutation"),
    "another inverse": (lambda p: {"unsorted_indices": torch.tensor([0, 1, 2])}, "does not undo sorted_indices"),
}


@pytest.mark.parametrize("name", BAD)
def test_packed_sequences_that_are_none(name):
    packed = to_torch(drawn([2, 4, 1]), "packed")
    change, says = BAD[name]
    wrong = tuple.__new__(rnn.PackedSequence, tuple({**packed._asdict(), **change(packed)}.values()))
    with pytest.raises(LoDError, match=says):
        from_torch(wrong)


# -- attention -----------------------------------------------------------------------------------------------------


def test_to_torch_varlen_and_from_torch_are_inverse():
    x = drawn([2, 0, 3])
    given_ = to_torch(x, "varlen")
    assert given_.cu_seqlens.dtype == torch.int32
    assert (given_.cu_seqlens.tolist(), given_.max_seqlen) == ([0, 2, 2, 5], 3)
    assert from_torch(given_).equals(x)
    assert lodcore.array(given_).equals(x)
    nested = to_torch([[[1, 2], []], [[3]]], "varlen")
    assert nested.cu_seqlens.tolist() == [0, 2, 2, 3]
    with pytest.raises(LoDError, match="offsets end at 9; there are 5 rows"):
        from_torch(Varlen(given_.values, torch.tensor([0, 9], dtype=torch.int32), 9))


# -- batches -------------------------------------------------------------------------------------------------------


class Corpus(torch.utils.data.Dataset):
    """Sentences of 1 to 5 words, and their number."""

    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, at):
        return {"words": self.x[at], "id": at, "pair": (self.x[at] * 2, 1.5)}


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gives_batches(workers):
    x = drawn([2, 1, 3, 5, 1])
    loader = torch.utils.data.DataLoader(Corpus(x), batch_size=2, collate_fn=collate, num_workers=workers)
    batches = list(loader)
    words = [batch["words"].to_lodtensor() for batch in batches]
    assert lodcore.concat_batches(words).equals(x)
    assert torch.cat([batch["id"] for batch in batches]).tolist() == [0, 1, 2, 3, 4]
    assert batches[0]["pair"][0].to_lodtensor()[1].tolist() == (2 * x[1]).tolist()
    assert len(batches[0]["words"]) == 2
    if workers:
        assert batches[0]["words"].values.is_shared()


def test_a_loader_over_a_mapped_folder(tmp_path):
    x = drawn([2, 1, 3, 5, 1])
    lodcore.save(tmp_path / "x.lod", x)
    corpus = Corpus(lodcore.load(tmp_path / "x.lod"))
    loader = torch.utils.data.DataLoader(corpus, batch_size=5, collate_fn=collate, num_workers=1)
    (batch,) = list(loader)
    assert batch["words"].to_lodtensor().equals(x)


def test_a_batch_moves():
    x = lodcore.array([[[1, 2], []], [[3]]])
    batch = collate(list(x))
    assert batch.to_lodtensor().equals(x)
    assert repr(batch) == "TorchBatch(2 sequences, values of shape (3,), torch.int64)"
    assert repr(collate([np.zeros((2, 4))])) == "TorchBatch(1 sequence, values of shape (2, 4), torch.float64)"
    assert batch.to(torch.float32).values.dtype == torch.float32
    assert batch.to(torch.float32).offsets[0].dtype == torch.int64
    assert batch.share_memory_().values.is_shared()
    pinned: list[int] = []
    fake = TorchBatch(*(type("T", (), {"pin_memory": lambda self: pinned.append(1) or self})() for _ in range(1)), ())
    fake.pin_memory()
    assert pinned == [1]
    flat = collate([np.arange(3.0), torch.ones(1, dtype=torch.float64)])
    assert from_torch(flat.jagged()).tolist() == [[0, 1, 2], [1]]
    assert from_torch(flat).tolist() == [[0, 1, 2], [1]]
    assert collate(["a", "b"]) == ["a", "b"]
    flat.offsets[0][1] = 9
    with pytest.raises(LoDError):
        flat.to_lodtensor()


@pytest.mark.parametrize("x", [drawn([2, 0, 1]), drawn([2, 2]), lodcore.array([[[1], []], [[2, 3]]])], ids=str)
def test_a_dense_tensor_is_refused_and_the_door_is_named(x):
    """Also if lengths happen to be equal."""
    for make in (torch.tensor, torch.as_tensor, torch.asarray, torch.from_dlpack, torch.FloatTensor):
        with pytest.raises(ValueError, match=r"not a dense array; use x\.to_torch\(\)"):
            make(x)


def test_lod_tensor_without_levels_becomes_a_dense_torch_tensor():
    x = LoDTensor(np.arange(3.0), LoD.from_offsets(num_rows=3), share=True)
    for make in (torch.tensor, torch.as_tensor, torch.from_dlpack):
        assert make(x).tolist() == [0, 1, 2]
