"""Detection of swaps by shuffles of other libraries: `x[i], x[j] = x[j], x[i]` with views loses a sequence.

Nothing but the caller tells a swap from `x[i] = x[j]`, which is valid, as with arrays: the value is a view in both.
A copy at the assignment would come too late, since the first half of a swap overwrites what the second half assigns;
reading `x[i]` as a copy would end writing through views; refusing all views of x would refuse valid programs. So the
code that assigns is looked at, and only if the value is such a view.
"""

from __future__ import annotations

import opcode
import random
import sys
from types import FrameType
from typing import Any

import numpy as np

from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor_body import LoDTensorBody

__all__ = ["refuse_exchange"]

STORE = opcode.opmap["STORE_SUBSCR"]
SHUFFLE = random.Random.shuffle.__code__


def refuse_exchange(x: Any, value: Any) -> None:
    """Raise if a shuffle of `random` or `numpy.random` assigns a sequence of a tensor to another one of its sequences.

    Sequences are views, so the first assignment of a swap overwrites the value of the second. `x[i] = x[j]` in a
    program is valid, as with arrays; a shuffle must keep all sequences.

    Parameters
    ----------
    x : LoDTensor
    value : object
        The value that is assigned to one sequence.

    Raises
    ------
    TypeError
        Before anything is written.
    """
    levels = value.num_levels if isinstance(value, LoDTensorBody) else 0
    given = lod_tensor_body.writable_values(value) if levels else value
    if levels != x.num_levels - 1 or type(given) is not np.ndarray or given.base is None:
        return
    own = lod_tensor_body.writable_values(x)
    if not (np.may_share_memory(own, given) if given.size else _root(own) is _root(given)):
        return
    frame = _assigning()
    if frame is not None and (frame.f_code is SHUFFLE or frame.f_code.co_code[frame.f_lasti] != STORE):
        raise TypeError(
            "assignment: value: is a view of a sequence of x itself, and an exchange of views, as those of "
            "random.shuffle and numpy.random.shuffle, loses sequences; use lodcore.shuffle_sequences(x, rng), or "
            "assign a copy"
        )


def _root(x: Any) -> Any:
    """Return the object that owns the memory of an array; views without values share nothing else."""
    while isinstance(x, np.ndarray) and x.base is not None:
        x = x.base
    return x


def _assigning() -> FrameType | None:
    """Return the frame that assigns; a compiled shuffle has no frame, but the frame of its caller is at a call."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (
        frame.f_globals.get("__name__", "").partition(".")[0] == "lodcore" or frame.f_code.co_name == "__setitem__"
    ):
        frame = frame.f_back
    return frame
