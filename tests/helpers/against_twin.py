"""Comparison of a kernel and its twin on the same arguments."""

import importlib
import re

import numpy as np

from lodcore import kernels

MARGIN = 64  # bytes before and after the output of a kernel, which it must not change
GARBAGE = 0xA5


def guarded(array):
    """Copy an array into the middle of a buffer of garbage: return the buffer, and the copy."""
    buffer = np.full(array.nbytes + 2 * MARGIN, GARBAGE, np.uint8)
    copy = buffer[MARGIN : MARGIN + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return buffer, copy


def unwritten(*shape, dtype=np.int64):
    """Make an array of garbage for a kernel to write."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.full(count, GARBAGE, np.uint8).view(dtype).reshape(shape)


def call(package, name, arguments, seen=None):
    """Call a kernel on copies of the writable arguments: return its result, and the written bytes.

    If a part of the output is undefined, `seen` takes the arguments after the call and returns the defined arrays.
    """
    module, function = name.split(".")
    buffers, given = [], []
    for argument in arguments:
        if isinstance(argument, np.ndarray) and argument.flags.writeable:
            buffer, argument = guarded(argument)
            buffers.append(buffer)
        given.append(argument)
    returned = getattr(getattr(package, module), function)(*given)
    margins = [buffer[edge] for buffer in buffers for edge in (slice(MARGIN), slice(len(buffer) - MARGIN, None))]
    assert all((margin == GARBAGE).all() for margin in margins), f"{name} writes beside its output"
    written = buffers if seen is None else seen(*given)
    return returned, [array.tobytes() for array in written]


def counts(kernel):
    """Return whether the number that a kernel returns is a count, and not the first invalid position."""
    return re.search(r"Returns\n *-+\n *int\n *(How many|The number)", kernel.__doc__ or "") is not None


def agree(name, *arguments, seen=None):
    """Compare a kernel with its twin: equal results, and equal bytes in all writable arguments.

    If the kernel reports invalid input, the content of its output is undefined.
    """
    got, got_bytes = call(kernels, name, arguments, seen)
    module, function = name.split(".")
    twins = type("Twins", (), {module: importlib.import_module(f"reference.kernels.{module}")})
    want, want_bytes = call(twins, name, arguments, seen)
    assert type(got) is type(want)
    assert got == want, f"{name}: returned {got}, its twin {want}"
    if not isinstance(got, int) or got == -1 or counts(getattr(getattr(kernels, module), function)):
        assert got_bytes == want_bytes, f"{name}: its twin writes other bytes"
    return got
