"""The loops of NumPy's ufuncs that the machine may call: those that give the same bits as the ufunc."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.graph.loops.instruction_numbers import BATCH, CODES

__all__ = ["has_loop"]

COUNTS = (1, 67)  # numbers of a row that are tried: alone, and in whole registers with a rest


@functools.lru_cache(256)
def has_loop(ufunc: np.ufunc, dtype: np.dtype[Any]) -> bool:
    """Return whether a ufunc has a loop for one dtype that the machine can call, as a trial shows once."""
    if ufunc.nout != 1 or ufunc.nin > 2 or ufunc.signature is not None:
        return False
    if f"{dtype.char * ufunc.nin}->{dtype.char}" not in ufunc.types:
        return False
    return all(_agrees(ufunc, dtype, count) for count in COUNTS)


def _agrees(ufunc: np.ufunc, dtype: np.dtype[Any], count: int) -> bool:
    """Compare the loop with the ufunc, on ordinary numbers and on those that are not.

    Operands and result touch, as they may in a tile: some loops take that for overlapping, and compute differently.
    """
    numbers = np.linspace(-3, 3, count, dtype=dtype)
    numbers[count // 2 :: 9] = [-0.0, np.inf, np.nan, -np.inf][: len(numbers[count // 2 :: 9])]
    touching = np.zeros((3, 1, count), dtype)
    touching[0], touching[1] = numbers, np.abs(numbers[::-1])
    *given, out = touching
    operands = np.array([(BATCH, k, count, 0) for k in range(3)], np.int64)
    second = 1 if ufunc.nin == 2 else -1
    instructions = np.array([(CODES["ufunc"], count, 2, 0, second, -1, 0, 0)], np.int64)
    where = np.array([0, 1], np.int64), np.array([0], np.int64)
    try:
        kernels.machine.run_steps([*given, out], [], [ufunc], operands, instructions, *where, 1, 1, False)
        with np.errstate(all="ignore"):
            wanted = ufunc(*[x.copy() for x in given[: ufunc.nin]], dtype=dtype)
    except (TypeError, ValueError):
        return False
    return bool(out.tobytes() == wanted.tobytes())
