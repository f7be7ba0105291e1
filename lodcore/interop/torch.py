"""Conversions for torch: jagged tensors, packed sequences, flat tokens with offsets, and batches of a DataLoader."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.libraries import library
from lodcore.base.memory import narrow
from lodcore.base.naming import call_named
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.foreign_data import lent, private_lod
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.from_lists import array, as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import guarded_values
from lodcore.tensors.text import shortened

__all__ = ["TorchBatch", "Varlen", "collate", "cu_seqlens", "from_torch", "to_torch"]

Array = np.ndarray[Any, Any]


class Varlen(NamedTuple):
    """The arguments of attention over sequences of different lengths.

    Parameters
    ----------
    values : torch.Tensor, shape (num_rows, ...)
    cu_seqlens : torch.Tensor, int32, shape (num_sequences + 1,)
    max_seqlen : int
    """

    values: Any
    cu_seqlens: Any
    max_seqlen: int

    def to_lodtensor(self) -> LoDTensor:
        """Return the values as a LoDTensor, with checked offsets."""
        where = "Varlen.to_lodtensor"
        lod, first, stop = private_lod(f"{where}: cu_seqlens", _numpy(where, self.cu_seqlens))
        return _over(where, guarded_values(where, _numpy(where, self.values)), lod, first, stop)


Varlen.__module__ = "lodcore.interop"


def cu_seqlens(x: Any, level: int = -1, dtype: Any = np.int32) -> Array:
    """Return the offsets of a level in rows, as attention kernels need them.

    Parameters
    ----------
    x : LoDTensor, LoD, or nested lists
    level : int
    dtype : dtype_like of integers

    Returns
    -------
    ndarray
        shape (num_sequences(level) + 1,), a copy.

    Raises
    ------
    OverflowError
        If the dtype cannot hold the number of rows.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.cu_seqlens([[1, 2], [], [3]])
    array([0, 2, 2, 3], dtype=int32)
    """
    lod: Any = x if isinstance(x, LoD) else as_nested("lodcore.cu_seqlens: x", x).lod
    return narrow("lodcore.cu_seqlens", call_named("cu_seqlens", lod.row_offsets, level), dtype)


# -- to torch ----------------------------------------------------------------------------------------------------------


def to_torch(x: Any, layout: str = "jagged", copy: bool | None = None) -> Any:
    """Convert a LoDTensor to torch.

    Parameters
    ----------
    x : LoDTensor, or nested lists
    layout : {"jagged", "packed", "varlen"}
        A nested tensor with jagged layout; a PackedSequence, longest sequence first; or a `Varlen`, whose sequences are
        those of the last level.
    copy : bool, optional
        By default, the tensor shares the memory of the values, unless that may not be written to, like the memory of a
        file, of Arrow or of a read-only array; then it is a copy. With True it is always a copy, and with False memory
        that may not be written to is an error. Values of a PackedSequence, and offsets, are always copied.

    Returns
    -------
    torch.Tensor, torch.nn.utils.rnn.PackedSequence, or Varlen

    Raises
    ------
    LoDError
        If there is not exactly one level, unless the layout is "varlen", which drops all levels but the last one; or if
        a sequence is empty, which a PackedSequence cannot hold.
    DTypeError
        If torch does not support the dtype.
    OverflowError
        If int32 cannot hold the offsets of a Varlen.

    Notes
    -----
    torch has no read-only tensors. What is written to a tensor that shares memory, as by ``tensor.add_(1)``, is seen in
    x, in all tensors and views that share its values, and in the array that x was made of; and what is written to that
    array is seen in the tensor. That ``x.values`` is read-only keeps NumPy from writing, not torch: pass ``copy=True``
    if x must not change.
    """
    where = "lodcore.to_torch"
    torch = library("torch", "torch", where)
    x = as_nested(f"{where}: x", x)
    if layout not in ("jagged", "packed", "varlen"):
        raise ValueError(f'{where}: layout: is {layout!r}; "jagged", "packed" or "varlen" is needed')
    if layout == "varlen":
        if not x.num_levels:
            raise LoDError(f"{where}: x: has no level")
        offsets = cu_seqlens(x)
        longest = kernels.lod.max_length(lod_body.offsets_view(x.lod, x.num_levels - 1))
        return Varlen(torch_tensor(where, x.values, copy), torch.from_numpy(offsets), longest)
    if x.num_levels != 1:
        raise LoDError(
            f"{where}: x: has {with_number(x.num_levels, 'level')}; torch has tensors of one: x.flatten(0), or "
            'layout="varlen"'
        )
    if layout == "packed":
        return _packed(torch, where, x)
    known = _structure(torch, x.lod)
    values = torch_tensor(where, x.values, copy)
    return torch.nested.nested_tensor_from_jagged(
        values, known.offsets, min_seqlen=known.shortest, max_seqlen=known.longest
    )


class _TorchStructure(NamedTuple):
    """A LoD for torch: its offsets, and the extreme lengths."""

    lod: LoD
    offsets: Any
    shortest: int | None
    longest: int | None


#: torch compares structures by the identity of the tensor of offsets, so the tensor of recently used LoDs is cached.
_KNOWN: dict[int, _TorchStructure] = {}
_MOST_KNOWN = 16


def _structure(torch: Any, lod: Any) -> _TorchStructure:
    """Return the cached tensor of offsets of a LoD, unless it has been written to, or make one."""
    found = _KNOWN.get(id(lod))
    if found is not None and found.lod is lod and not found.offsets._version:
        return found
    lengths = lod.lengths(0)
    low, high = (int(lengths.min()), int(lengths.max())) if len(lengths) else (None, None)
    made = _TorchStructure(lod, torch.from_numpy(lod.offsets(0).copy()), low, high)
    if torch.is_inference_mode_enabled():  # inference tensors cannot be used outside
        return made
    while len(_KNOWN) >= _MOST_KNOWN:
        with contextlib.suppress(KeyError, StopIteration, RuntimeError):  # another thread may evict at the same time
            _KNOWN.pop(next(iter(_KNOWN)))
    _KNOWN[id(lod)] = made
    return made


def torch_tensor(where: str, values: Array, copy: bool | None = None) -> Any:
    """Convert values to a torch tensor."""
    torch = library("torch", "torch", where)
    given = None if copy else lent(values)
    if given is None and copy is False:
        raise ValueError(f"{where}: copy: is False; the values are read-only, and torch has writable tensors only")
    values = values.copy() if given is None else given
    try:
        return torch.from_numpy(values)
    except TypeError as error:
        raise DTypeError(f"{where}: values: have dtype {values.dtype}, which torch does not have: {error}") from None


def _packed(torch: Any, where: str, x: LoDTensor) -> Any:
    """Return a PackedSequence: the rows of all first steps, then of all second steps, and so on."""
    from lodcore.ops.move.steps import in_step_order  # loads the operators, which no other conversion needs

    lengths = x.lengths
    if not len(lengths):
        raise LoDError(f"{where}: x: has no sequence; a PackedSequence has at least one")
    if not lengths.all():
        raise LoDError(
            f"{where}: x: sequence {int(np.argmin(lengths))} is empty, which a PackedSequence cannot hold; "
            "x[x.lengths > 0] leaves out empty ones"
        )
    steps, indices_map = in_step_order(where, x, 0, True, None)
    order = np.asarray(indices_map.order)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    data, sizes = torch_tensor(where, np.require(steps.values, requirements="W")), torch.from_numpy(steps.lengths)
    return torch.nn.utils.rnn.PackedSequence(data, sizes, torch.from_numpy(order.copy()), torch.from_numpy(back))


# -- from torch --------------------------------------------------------------------------------------------------------


def from_torch(x: Any) -> LoDTensor:
    """Convert a nested tensor of torch, or a PackedSequence, to a LoDTensor.

    Parameters
    ----------
    x : torch.Tensor (nested), torch.nn.utils.rnn.PackedSequence, Varlen, or TorchBatch
        A tensor on the CPU that does not require gradients; detach it first.

    Returns
    -------
    LoDTensor
        For a jagged tensor without gaps, it shares the values, read-only; otherwise it has a copy. The sequences of a
        PackedSequence are in the order before packing.

    Raises
    ------
    DTypeError
        If x is not one of these, has a dtype that NumPy lacks, or requires gradients.
    LoDError
        If its offsets, batch sizes or permutations are wrong.
    """
    where = "lodcore.from_torch"
    torch = library("torch", "torch", where)
    if isinstance(x, (TorchBatch, Varlen)):
        return x.to_lodtensor()
    if isinstance(x, torch.nn.utils.rnn.PackedSequence):
        return _unpacked(where, x)
    if not hasattr(x, "_ragged_idx"):  # only tensors with jagged layout have it; testing the layout takes longer
        return _strided(torch, where, x)
    if x._ragged_idx != 1:
        raise LoDError(f"{where}: x: is ragged on axis {x._ragged_idx}; on axis 1 it must be: x.transpose(1, ...)")
    values = guarded_values(where, _numpy(where, x.values()))
    lengths = x.lengths()
    if lengths is not None:
        starts = _numpy(where, x.offsets())[: len(lengths)].astype(np.int64)
        return LoDTensor.from_starts_stops(values, starts, starts + _numpy(where, lengths))
    lod, first, stop = private_lod(f"{where}: x.offsets()", _numpy(where, x.offsets()))
    return _over(where, values, lod, first, stop)


def _strided(torch: Any, where: str, x: Any) -> LoDTensor:
    """Copy the parts of a nested tensor with strided layout."""
    if not isinstance(x, torch.Tensor) or not x.is_nested:
        kind = "a tensor that is not nested" if isinstance(x, torch.Tensor) else type(x).__name__
        way = "; lodcore.array(x) takes a list of tensors" if isinstance(x, (list, tuple)) else ""
        raise DTypeError(f"{where}: x: is {kind}; a nested tensor, a PackedSequence or a Varlen is needed{way}")
    return LoDTensor.from_arrays([_numpy(where, part) for part in x.unbind()])


def _over(where: str, values: Array, lod: LoD, first: int, stop: int) -> LoDTensor:
    """Return the rows from `first` to `stop` with a structure."""
    if stop > len(values):
        raise LoDError(f"{where}: x: offsets end at {stop}; there are {len(values)} rows")
    return lod_tensor_body.new_tensor(buffers.view_rows(values, first, stop), lod)


def _numpy(where: str, tensor: Any) -> Array:
    """Return an ndarray that shares the memory of a tensor."""
    try:
        made: Array = tensor.numpy()
    except (RuntimeError, TypeError) as error:  # on another device, with gradients, or with a dtype that NumPy lacks
        hint = "; x.detach() has none" if getattr(tensor, "requires_grad", False) else ""
        raise DTypeError(f"{where}: x: has no view for NumPy: {error}{hint}") from None
    return made


def _unpacked(where: str, x: Any) -> LoDTensor:
    """Convert a checked PackedSequence to sequences."""
    data = guarded_values(where, _numpy(where, x.data))
    sizes = _numpy(where, x.batch_sizes).astype(np.int64)
    count = int(sizes[0]) if len(sizes) else 0
    if len(sizes) and (sizes[-1] < 1 or (np.diff(sizes) > 0).any()):
        at = int(np.argmax(np.diff(sizes) > 0)) + 1 if sizes[-1] >= 1 else len(sizes) - 1
        raise LoDError(f"{where}: x.batch_sizes: is {sizes[at]} at step {at}; sizes are positive and never rise")
    steps = LoD.from_lengths(sizes)
    if steps.num_rows != len(data):
        raise LoDError(f"{where}: x.batch_sizes: add up to {steps.num_rows}; x.data has {len(data)} rows")
    order = np.arange(count)
    if x.sorted_indices is not None:
        order = _permutation(where, "sorted_indices", _numpy(where, x.sorted_indices), count)
    if x.unsorted_indices is not None:
        back = _permutation(where, "unsorted_indices", _numpy(where, x.unsorted_indices), count)
        if (back[order] != np.arange(count)).any():
            at = int(np.argmax(back[order] != np.arange(count)))
            raise LoDError(f"{where}: x.unsorted_indices: does not undo sorted_indices at {at}")
    lengths = np.empty(count, np.int64)
    lengths[order] = np.searchsorted(-sizes, -np.arange(count), side="left")  # steps with more sequences
    lod = LoD.from_lengths(lengths)
    rows = buffers.new_rows(where, data, lod.num_rows)
    kernels.rank_table.pack_rows(
        buffers.as_bytes(data),
        lod_body.offsets_view(lod, 0),
        order,
        lod_body.offsets_view(steps, 0),
        buffers.as_bytes(rows),
    )
    return lod_tensor_body.new_tensor(rows, lod)


def _permutation(where: str, name: str, given: Array, count: int) -> Array:
    """Return a checked copy of a permutation of `count` numbers."""
    numbers = given.astype(np.int64)
    seen = np.zeros(count, bool)
    inside = (numbers >= 0) & (numbers < count)
    if numbers.shape == (count,) and inside.all():
        seen[numbers] = True
    if not seen.all():
        raise LoDError(f"{where}: x.{name}: is not a permutation of 0 .. {count - 1}")
    return numbers


# -- batches of a DataLoader -------------------------------------------------------------------------------------------


class TorchBatch:
    """A LoDTensor whose parts are torch tensors, so that torch can pin, share and move them.

    Parameters
    ----------
    values : torch.Tensor, shape (num_rows, ...)
    offsets : tuple of torch.Tensor
        One per level, coarse first, int64.
    """

    __module__ = "lodcore.interop"

    __slots__ = ("offsets", "values")

    def __init__(self, values: Any, offsets: tuple[Any, ...]) -> None:
        self.values, self.offsets = values, tuple(offsets)

    def __len__(self) -> int:
        return len(self.offsets[0]) - 1

    def __repr__(self) -> str:
        count = f"{len(self)} sequence{'' if len(self) == 1 else 's'}"
        return f"TorchBatch({count}, values of shape {tuple(self.values.shape)}, {self.values.dtype})"

    def _each(self, change: Any) -> TorchBatch:
        return TorchBatch(change(self.values), tuple(change(level) for level in self.offsets))

    def pin_memory(self, *device: Any) -> TorchBatch:
        """Copy to pinned memory, for a DataLoader with ``pin_memory=True``."""
        return self._each(lambda tensor: tensor.pin_memory(*device))

    def share_memory_(self) -> TorchBatch:
        """Move to shared memory."""
        return self._each(lambda tensor: tensor.share_memory_())

    def to(self, *args: Any, **kwargs: Any) -> TorchBatch:
        """Move to a device; offsets keep their dtype."""
        moved = self.values.to(*args, **kwargs)
        return TorchBatch(moved, tuple(level.to(moved.device) for level in self.offsets))

    def to_lodtensor(self) -> LoDTensor:
        """Return the values as a LoDTensor, with checked offsets."""
        where = "TorchBatch.to_lodtensor"
        values = guarded_values(where, _numpy(where, self.values))
        return LoDTensor.from_offsets(values, *(_numpy(where, level) for level in self.offsets))

    def jagged(self) -> Any:
        """Return a batch of one level as a nested tensor with jagged layout."""
        torch = library("torch", "torch", "TorchBatch.jagged")
        return torch.nested.nested_tensor_from_jagged(self.values, self.offsets[-1])


def collate(samples: list[Any]) -> Any:
    """Return one batch of samples: the ``collate_fn`` of a DataLoader.

    Parameters
    ----------
    samples : list
        Arrays, tensors or LoDTensors of any lengths become sequences of a `TorchBatch`; numbers become a tensor; text
        stays as it is, in a list; dicts, tuples and lists are converted entry by entry, all of one length.

    Returns
    -------
    TorchBatch, torch.Tensor, list of str, or dict, tuple or list of these

    Raises
    ------
    LoDError, DTypeError
        If there is no list of samples or none in it, dicts have different keys, tuples or lists different lengths, or
        torch has no dtype for a value.
    """
    where = "lodcore.interop.collate"
    torch = library("torch", "torch", where)
    if isinstance(samples, (Mapping, str)) or not hasattr(type(samples), "__getitem__"):
        raise DTypeError(f"{where}: samples: is {type(samples).__name__}; a list of samples is needed")
    if not len(samples):
        raise LoDError(
            f"{where}: samples: there are none; one or more are needed (a rank that is left without "
            "sequences has an empty batch; drop_last=True makes none)"
        )
    return _batch(torch, where, samples, "")


def _batch(torch: Any, where: str, samples: list[Any], path: str) -> Any:
    """Return one batch of what is at the same place of all samples."""
    first = samples[0]
    if isinstance(first, dict):
        for j, sample in enumerate(samples):
            if not isinstance(sample, dict) or sample.keys() != first.keys():
                has = f"has {_keys(sample)}" if isinstance(sample, dict) else f"is {type(sample).__name__}"
                raise LoDError(f"{where}: samples[{j}]{path}: {has}; samples[0]{path} has {_keys(first)}")
        return {key: _batch(torch, where, [sample[key] for sample in samples], f"{path}[{key!r}]") for key in first}
    if isinstance(first, (tuple, list)):
        for j, sample in enumerate(samples):
            several = isinstance(sample, (tuple, list))
            if not several or len(sample) != len(first):
                has = f"has {len(sample)} entries" if several else f"is {type(sample).__name__}"
                raise LoDError(
                    f"{where}: samples[{j}]{path}: {has}; samples[0]{path} has {len(first)}, each for a batch of its "
                    "own (sequences are arrays)"
                )
        parts = [
            _batch(torch, where, list(entries), f"{path}[{at}]")
            for at, entries in enumerate(zip(*samples, strict=True))
        ]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if isinstance(first, str):
        return samples
    if np.ndim(first) == 0:
        return _numbers(torch, where, samples, path)
    arrays = [_numpy(where, sample) if isinstance(sample, torch.Tensor) else sample for sample in samples]
    x = array(arrays) if isinstance(first, LoDTensor) else LoDTensor.from_arrays(arrays)
    offsets = tuple(torch.from_numpy(x.lod.offsets(k).copy()) for k in range(x.num_levels))
    return TorchBatch(torch_tensor(where, x.values), offsets)


def _keys(sample: dict[Any, Any]) -> str:
    return ", ".join(map(repr, sample)) or "no key"


def _numbers(torch: Any, where: str, samples: list[Any], path: str) -> Any:
    """Return numbers as a tensor."""
    samples = [_numpy(where, sample) if isinstance(sample, torch.Tensor) else sample for sample in samples]
    for j, sample in enumerate(samples):
        kind = np.asarray(sample).dtype
        if np.ndim(sample) or kind.kind not in "biufc":
            has = f"has dtype {kind}, which torch does not have" if kind.kind in "mM" else f"is {shortened(sample)}"
            raise DTypeError(
                f"{where}: samples[{j}]{path}: {has}; numbers, arrays, tensors, text, or dicts or tuples of these "
                "are needed, all of one kind"
            )
    return torch.as_tensor(np.asarray(samples))
