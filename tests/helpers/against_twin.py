"""Comparison of a kernel and its twin on the same arguments."""

import ctypes
import functools
import importlib
import inspect
import mmap
import re
from collections import Counter

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


@functools.cache
def fence(number, size):
    """Return memory behind which a page cannot be read, as an array of bytes."""
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    array = np.frombuffer(memory, np.uint8)
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(array.ctypes.data + size), mmap.PAGESIZE, 0) == 0
    return array[:size]


def at_fence(number, array):
    """Copy an array to the end of memory, so that to read beyond it is a crash; `number` of those in use at once."""
    size = 1 << max(array.nbytes - 1, mmap.PAGESIZE - 1).bit_length()
    if not array.flags.c_contiguous or array.ndim == 0 or size > 2**24:
        return array
    copy = fence(number, size)[size - array.nbytes :].view(array.dtype).reshape(array.shape)
    copy[...] = array
    copy.flags.writeable = False
    return copy


def unwritten(*shape, dtype=np.int64):
    """Make an array of garbage for a kernel to write."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.full(count, GARBAGE, np.uint8).view(dtype).reshape(shape)


def call(package, name, arguments, seen=None, in_place=False):
    """Call a kernel on copies of its arguments: return its result, and the written bytes.

    If a part of the output is undefined, `seen` takes the arguments after the call and returns the defined arrays.
    With `in_place`, what is only read is not copied, since its address matters.
    """
    module, function = name.split(".")
    buffers, given = [], []
    for number, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray) and argument.flags.writeable:
            buffer, argument = guarded(argument)
            buffers.append(buffer)
        elif isinstance(argument, np.ndarray) and not in_place:
            argument = at_fence(number, argument)
        given.append(argument)
    returned = getattr(getattr(package, module), function)(*given)
    margins = [buffer[edge] for buffer in buffers for edge in (slice(MARGIN), slice(len(buffer) - MARGIN, None))]
    assert all((margin == GARBAGE).all() for margin in margins), f"{name} writes beside its output"
    written = buffers if seen is None else seen(*given)
    return returned, [array.tobytes() for array in written]


def counts(kernel):
    """Return whether the number that a kernel returns is a count, and not the first invalid position."""
    return re.search(r"Returns\n *-+\n *int\n *(How many|The number)", kernel.__doc__ or "") is not None


def agree(name, *arguments, seen=None, in_place=False):
    """Compare a kernel with its twin: equal results, and equal bytes in all writable arguments.

    If the kernel reports invalid input, the content of its output is undefined.
    """
    got, got_bytes = call(kernels, name, arguments, seen, in_place)
    module, function = name.split(".")
    twins = type("Twins", (), {module: importlib.import_module(f"reference.kernels.{module}")})
    want, want_bytes = call(twins, name, arguments, seen, in_place)
    assert type(got) is type(want)
    assert got == want, f"{name}: returned {got}, its twin {want}"
    if type(got) is not int or got == -1 or counts(getattr(getattr(kernels, module), function)):
        assert got_bytes == want_bytes, f"{name}: its twin writes other bytes"
    if getattr(kernels, module).__name__.startswith("lodcore."):  # the rules do not ask it of other kernels
        refuses_other_sizes(name, arguments)
    return got


# -- arrays of other sizes ---------------------------------------------------------------------------------------------

BESIDE = 2**13  # bytes before and after an array of another size
DIMENSION = re.compile(r"([a-z]\w*)(?: \+ 1)?")
LONGER = {"beam.select_best"}  # the results may have room for more


@functools.cache
def shared_dimensions(name):
    """Return the axes of arguments of a kernel whose length is, by its docstring, that of an axis of another argument.

    Returns
    -------
    list of (argument number, axis)
    """
    module, function = name.split(".")
    twin = getattr(importlib.import_module(f"reference.kernels.{module}"), function)
    numbers = {parameter: j for j, parameter in enumerate(inspect.signature(twin).parameters)}
    text = f"{twin.__doc__}\n{getattr(getattr(kernels, module), function).__doc__}"
    said = re.findall(r"^ *(\w+(?:, \w+)*) : [^\n]*shape \(([^()]*)\)(?!,? or)", text, re.MULTILINE)
    axes = set()
    for names, shape in said:
        lengths = [DIMENSION.fullmatch(one.strip()) for one in shape.split(",")]
        for one in names.split(", "):
            if one in numbers:
                axes |= {(numbers[one], axis, length[1]) for axis, length in enumerate(lengths) if length}
    uses = Counter(length for _, length in {(j, length) for j, _, length in axes})
    return sorted((j, axis) for j, axis, length in axes if uses[length] > 1)


def of_other_length(array, axis, more):
    """Copy an array, with one entry less or with the last one twice along an axis, into the middle of other memory."""
    last = array.shape[axis] - 1
    made = array.take([*range(last), last, last][: last + 2 * more], axis)
    memory = np.zeros(made.nbytes + 2 * BESIDE, np.uint8)
    copy = memory[BESIDE : BESIDE + made.nbytes].view(array.dtype).reshape(made.shape)
    copy[...] = made
    return copy


def refuses_other_sizes(name, arguments):
    """Check that a kernel refuses arrays of other lengths than its docstring says, before it touches their memory."""
    module, function = name.split(".")
    arrays = [one for one in arguments if isinstance(one, np.ndarray)]
    if not all(one.size for one in arrays):
        return
    for j, axis in shared_dimensions(name):
        if j >= len(arguments) or not isinstance(arguments[j], np.ndarray) or arguments[j].ndim <= axis:
            continue
        for more in (False,) if name in LONGER else (False, True):
            given = [of_other_length(one, 0, True)[:-1] if isinstance(one, np.ndarray) else one for one in arguments]
            given[j] = of_other_length(arguments[j], axis, more)
            try:
                getattr(getattr(kernels, module), function)(*given)
            except ValueError:
                continue
            raise AssertionError(f"{name}: argument {j} may have shape {given[j].shape}, not only {arguments[j].shape}")
