"""Inputs that isolate packed documents in attention: ids, labels, positions, cu_seqlens, segment ids, masks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.keywords import hinting
from lodcore.base.libraries import library
from lodcore.base.memory import check_size, flag, integer, narrow, unharmed
from lodcore.base.recycling import Recycled
from lodcore.batching.limits import Int64, as_choice, as_count
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["AttentionInputs", "attention_inputs", "cu_seqlens"]

Int32 = npt.NDArray[np.int32]

#: The label that losses ignore.
IGNORED = -100


class AttentionInputs(NamedTuple):
    """The inputs of a transformer for packed documents; `attention_inputs` makes them.

    There are n bins with rows of `length` tokens. Without a length, all bins are in one row, and n is 1.

    Parameters
    ----------
    input_ids : int64, shape (n, length)
    labels : int64, shape (n, length)
        The ignored label at the first token of each document (at the last one if shifted), and in the padding.
    position_ids : int64, shape (n, length)
        Positions, which restart in each document and in the padding.
    segment_ids : int32, shape (n, length)
        The number of the document in its row, from 1; 0 in the padding (the convention of JAX).
    seq_idx : int32, shape (n, length)
        The same from 0; in the padding the next number if it is a separate segment, else -1 (the convention of Mamba).
    cu_seqlens : int32, shape (number of segments + 1,)
        The start of each segment in the concatenated rows, and the end of the last one.
    max_seqlen : int
        The length of the longest segment.
    loss_weights : float32 or float64, shape (n, length), or None
        The weight of each label in the loss, 0 where the label is ignored; None if no weights were given.
    """

    input_ids: Any
    labels: Any
    position_ids: Any
    segment_ids: Any
    seq_idx: Any
    cu_seqlens: Any
    max_seqlen: int
    loss_weights: Any = None

    def mask(self, causal: bool = True) -> Any:
        """Return the dense block-diagonal mask: which token (line) may attend to which (column).

        Parameters
        ----------
        causal : bool
            Whether a token attends only to earlier tokens and itself.

        Returns
        -------
        bool, shape (n, length, length)
            A segment of padding attends to itself. Padding that is not a segment attends to nothing, and nothing to it.

        Raises
        ------
        MemoryError
            If the mask does not fit in memory.

        Examples
        --------
        >>> from lodcore.batching import attention_inputs
        >>> attention_inputs([[[5, 6], [7]]]).mask().astype(int)
        array([[[1, 0, 0],
                [1, 1, 0],
                [0, 0, 1]]])
        """
        rows, length = self.seq_idx.shape
        check_size("AttentionInputs.mask", rows, length, length)
        one, other = self.seq_idx[:, :, None], self.seq_idx[:, None, :]
        mask = (one == other) & (one >= 0)
        if flag("AttentionInputs.mask: causal", causal):
            places = np.arange(length)
            after = places[None, :] > places[:, None]
            if not isinstance(mask, np.ndarray):
                after = library("torch", "torch", "AttentionInputs.mask").from_numpy(after).to(mask.device)
            mask &= ~after
        return mask

    def to_torch(self, device: Any = None) -> AttentionInputs:
        """Return the same with torch tensors, which share the memory of the arrays on the CPU.

        Parameters
        ----------
        device : torch.device or str, optional
        """
        torch = library("torch", "torch", "AttentionInputs.to_torch")
        held = (one if one is None or isinstance(one, int) else torch.from_numpy(one).to(device) for one in self)
        return AttentionInputs._make(held)


AttentionInputs.__module__ = "lodcore.batching"


@hinting
def attention_inputs(
    packed: Any,
    length: int | None = None,
    *,
    labels: Any = None,
    loss_mask: Any = None,
    loss_weights: Any = None,
    shift_labels: bool = False,
    ignore_index: int = IGNORED,
    pad_id: int = 0,
    position_start: int = 0,
    tail: str = "segment",
    num_segments: int | None = None,
    library: str = "numpy",
) -> AttentionInputs:
    """Return the inputs of a transformer for packed documents, with which no document attends to another.

    Parameters
    ----------
    packed : LoDTensor of integers, or nested lists
        Bins of documents of token ids, as `PackPlan.apply` returns them.
    length : int, optional
        The length of rows: each bin becomes a row padded with `pad_id`. By default, all bins become one row without
        padding.
    labels : LoDTensor of integers, or nested lists, optional
        Must have the structure of `packed`; by default, the token ids are the labels.
    loss_mask : LoDTensor of bool, or nested lists, optional
        Must have the structure of `packed`: whether a token counts in the loss, as the tokens of answers do; the labels
        of all others, such as those of prompts, are ignored.
    loss_weights : LoDTensor of floats, or nested lists, optional
        Must have the structure of `packed`: the weight of each token in the loss. They are returned for the labels, at
        the same places.
    shift_labels : bool
        Whether the label of a token is that of the next token, so that the last label of a document is ignored. If not,
        the model shifts the labels itself, and the first label of a document is ignored.
    ignore_index : int
        The label that the loss ignores.
    pad_id : int
        The token id of the padding.
    position_start : int
        The position of the first token of each document: 0, or 2 for models of the RoBERTa family.
    tail : {"segment", "none"}
        Whether the padding of a row is a separate segment. If not, `cu_seqlens` ends before it, so that only the last
        row may have padding.
    num_segments : int, optional
        The number of segments: empty ones are added at the end of `cu_seqlens`, so that its length is `num_segments` +
        1.
    library : {"numpy", "torch"}
        The library of the arrays.

    Returns
    -------
    AttentionInputs

    Raises
    ------
    LoDError
        If a bin has more tokens than `length`, labels, mask or weights have another structure, or there are more
        segments than `num_segments`.
    ValueError
        If `tail` is "none" and a row other than the last is padded.
    OverflowError
        If int32 cannot count the tokens.
    DTypeError, ShapeError
        If the ids are not integers, or there is not one per row.

    Examples
    --------
    >>> from lodcore.batching import attention_inputs
    >>> inputs = attention_inputs([[[5, 6, 7], [8, 9]], [[3]]], length=6)
    >>> inputs.input_ids
    array([[5, 6, 7, 8, 9, 0],
           [3, 0, 0, 0, 0, 0]])
    >>> inputs.labels
    array([[-100,    6,    7, -100,    9, -100],
           [-100, -100, -100, -100, -100, -100]])
    >>> inputs.position_ids
    array([[0, 1, 2, 0, 1, 0],
           [0, 0, 1, 2, 3, 4]])
    >>> inputs.cu_seqlens, inputs.max_seqlen
    (array([ 0,  3,  5,  6,  7, 12], dtype=int32), 5)

    A prompt of two tokens, 5 and 6, and its answer:

    >>> attention_inputs([[[5, 6, 7, 8]]], loss_mask=[[[False, False, True, True]]]).labels
    array([[-100, -100,    7,    8]])
    """
    where = "attention_inputs"
    as_choice(f"{where}: tail", tail, ("segment", "none"))
    as_choice(f"{where}: library", library, ("numpy", "torch"))
    x = _as_ids(where, "packed", packed)
    targets = x if labels is None else _as_ids(where, "labels", labels)
    if targets.lod != x.lod:
        raise LoDError(f"{where}: labels: have a different structure from packed; each token has a label")
    weights = None if loss_weights is None else _per_token(where, "loss_weights", loss_weights, x.lod, "f")
    counted = None if loss_mask is None else _per_token(where, "loss_mask", loss_mask, x.lod, "b")
    documents, bins = x.lod.offsets(1), x.lod.offsets(0)
    if length is None:
        length, bins = x.num_rows, np.array([0, len(documents) - 1])
    else:
        length = as_count(f"{where}: length", length, 0)
    shape = len(bins) - 1, length
    ends, longest = _segments(where, documents, bins, length, tail, num_segments)
    check_size(where, *shape, 32)
    with Recycled():
        ids, targets_of, positions = (np.empty(shape, np.int64) for _ in range(3))
        segment_ids, seq_idx = (np.empty(shape, np.int32) for _ in range(2))
    numbers = {"pad_id": pad_id, "ignore_index": ignore_index, "position_start": position_start}
    settings = [_int64(f"{where}: {name}", number) for name, number in numbers.items()]
    settings += [int(flag(f"{where}: shift_labels", shift_labels)), int(tail == "segment")]
    rows = ids, targets_of, positions, segment_ids, seq_idx

    def fill(of_labels: Int64) -> None:
        unharmed(kernels.packing.attention_rows(x.values, of_labels, documents, bins, np.array(settings), *rows))

    weighted = None
    if weights is not None:  # first the number of the token that each label is, which may have any weight
        settings[1], ignored = -1, settings[1]
        fill(np.arange(x.num_rows) if counted is None else np.where(counted, np.arange(x.num_rows), -1))
        weighted = np.append(weights, weights.dtype.type(0))[targets_of]
        settings[1] = ignored
    fill(targets.values if counted is None else np.where(counted, targets.values, settings[1]))
    made = AttentionInputs(*rows, ends, longest, weighted)
    return made.to_torch() if library == "torch" else made


def cu_seqlens(packed: Any) -> tuple[Int32, int]:
    """Return the offsets of all documents in tokens, as variable-length attention needs them, and the longest length.

    Parameters
    ----------
    packed : LoDTensor or LoD, or nested lists
        The sequences of its last level are the documents, without padding between them.

    Returns
    -------
    cu_seqlens : int32, shape (number of documents + 1,)
    max_seqlen : int

    Raises
    ------
    OverflowError
        If int32 cannot count the tokens.

    Examples
    --------
    >>> from lodcore.batching import cu_seqlens
    >>> cu_seqlens([[[5, 6, 7], [8, 9]], [[3]]])
    (array([0, 3, 5, 6], dtype=int32), 3)
    """
    lod = packed.lod if type(packed) is LoDTensor else packed
    if not isinstance(lod, LoD):
        lod = as_nested("cu_seqlens: packed", packed).lod
    if not lod.num_levels:
        raise LoDError("cu_seqlens: packed: has no levels; documents are needed")
    offsets = lod.offsets(-1)
    return narrow("cu_seqlens: packed", offsets), kernels.lod.max_length(offsets)


def _as_ids(where: str, name: str, given: Any) -> LoDTensor:
    """Return bins of documents of integers as int64, checked."""
    x = as_nested(f"{where}: {name}", given)
    if x.num_levels != 2:
        raise LoDError(f"{where}: {name}: has {with_number(x.num_levels, 'level')}; bins of documents of tokens have 2")
    if x.dtype.kind not in "iu" and x.num_rows:
        raise DTypeError(f"{where}: {name}: has dtype {x.dtype}; token ids are integers")
    if x.values.ndim != 1:
        raise ShapeError(f"{where}: {name}: has rows of shape {x.values.shape[1:]}; a token has one id")
    ids = buffers.as_int64(x.values, f"{where}: {name}") if x.num_rows else np.empty(0, np.int64)
    return x if ids is x.values else x.with_values(ids)


def _per_token(where: str, name: str, given: Any, lod: LoD, kind: str) -> npt.NDArray[Any]:
    """Return one bool, or one float, per token."""
    x = as_nested(f"{where}: {name}", given)
    if x.lod != lod:
        raise LoDError(f"{where}: {name}: has a different structure from packed; each token has one entry")
    if x.values.ndim != 1:
        raise ShapeError(f"{where}: {name}: has rows of shape {x.values.shape[1:]}; a token has one entry")
    if kind == "b":
        if x.dtype.kind != "b" and x.num_rows:
            raise DTypeError(f"{where}: {name}: has dtype {x.dtype}; bool is needed")
        return x.values.astype(bool)
    if x.dtype.kind not in "biuf" or x.dtype.itemsize > 8:
        raise DTypeError(f"{where}: {name}: has dtype {x.dtype}; real numbers of at most float64 are needed")
    return x.values.astype(np.float64 if x.dtype == np.float64 else np.float32)


def _int64(where: str, number: Any) -> int:
    """Return an integer that int64 can hold."""
    found = integer(where, number)
    if not -(2**62) <= found <= 2**62:
        raise ValueError(f"{where}: is {found}; -2**62 .. 2**62 is valid")
    return found


def _segments(
    where: str, documents: Int64, bins: Int64, length: int, tail: str, num_segments: int | None
) -> tuple[Int32, int]:
    """Return the offsets of segments in rows, and the longest length."""
    out = np.empty(len(documents) + len(bins) + 1, np.int32)
    bad = kernels.packing.segment_ends(documents, bins, length, tail == "segment", out)
    tokens = documents[bins]
    if bad >= 0:
        held = int(tokens[bad + 1] - tokens[bad])
        if held > length:
            raise LoDError(f"{where}: length: is {length}; bin {bad} has {with_number(held, 'token')}")
        raise OverflowError(f"{where}: length: is {length} in {len(bins) - 1} rows; int32 counts to {2**31 - 1}")
    if tail == "none":
        short = np.flatnonzero(np.diff(tokens) < length)
        if len(short) and short[0] < len(bins) - 2:
            raise ValueError(
                f"{where}: tail: is 'none'; bin {short[0]} is not full, which only the last bin may be; "
                "make the padding a segment, or leave out length"
            )
    count = int(out[-2])
    ends = out[: count + 1].copy()
    if num_segments is not None:
        wanted = as_count(f"{where}: num_segments", num_segments, 0)
        if count > wanted:
            raise LoDError(f"{where}: num_segments: is {wanted}; there are {count} segments")
        check_size(where, wanted + 1, 4)
        ends = np.concatenate([ends, np.full(wanted - count, ends[-1], np.int32)])
    return ends, int(out[-1])
