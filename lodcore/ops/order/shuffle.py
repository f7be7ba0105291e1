"""Random orders: sequences, or their elements, shuffled or sampled without replacement."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import as_size, unharmed
from lodcore.base.naming import named
from lodcore.errors import DTypeError
from lodcore.operators.arguments import each_of, level_of, structure_of
from lodcore.operators.copies import lod_of, nested_operand
from lodcore.operators.lod_rules import first_levels
from lodcore.operators.registry import operator
from lodcore.operators.roles import Index, Structure
from lodcore.ops.elementwise.convert import rows
from lodcore.ops.index.index import take_nested
from lodcore.ops.move.gather import gather_sequences
from lodcore.ops.move.lod_data import lod_num
from lodcore.ops.move.position import insert_level
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["sample_places", "sequence_sample", "sequence_shuffle", "shuffle_sequences"]


@operator(
    x=Structure,
    size=Index,
    lod_rule="as `x` before `level`; as many elements as are drawn",
    differentiable=False,
)
def sample_places(x: Any, rng: Any, size: Any = None, level: int = -1) -> LoDTensor:
    """Draw positions of elements of each sequence without replacement, in random order.

    Parameters
    ----------
    x : LoDTensor, LoD or nested lists
        Only its structure is used.
    rng : numpy.random.Generator, or int
        The generator, or a seed. A Program with a Generator draws anew in each run.
    size : int, or array_like of integers, shape (n,), optional
        The number of elements from each of the n sequences, 0 or more; all elements of a shorter one. By default all.
    level : int

    Returns
    -------
    LoDTensor
        int64. Has the levels of x up to `level`.

    Raises
    ------
    DTypeError, ValueError, LevelError
        If rng is neither a generator nor a seed, a size is negative, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.sample_places([["a", "b"], [], ["c"]], 0, size=1).lengths
    array([1, 0, 1])
    """
    where = "sample_places"
    lod = lod_of(f"{where}: x", x)
    k = level_of(where, lod, level)
    generator = _generator(rng)
    offsets = lod.offsets(k)
    drawn = offsets if size is None else _drawn(lod.lengths(k), size)
    count = drawn.item(len(drawn) - 1)
    places = buffers.new_int64(count)
    work = buffers.new_int64(0 if size is None else kernels.lod.max_length(lod_body.offsets_view(lod, k)))
    chances = np.array(generator.random(count), np.float64).reshape(-1)  # a subclass may return any object
    if len(chances) != count:
        raise DTypeError(f"{where}: rng: drew {len(chances)} numbers; {count} are needed")
    kernels.shuffle.shuffle_places(lod_body.offsets_view(lod, k), drawn, chances, work, places)
    return lod_tensor_body.new_tensor(places, lod_body.make_lod([*(lod.offsets(j) for j in range(k)), drawn], count))


def _drawn(lengths: Any, size: Any) -> Any:
    """Return the offsets of the drawn elements."""
    sizes = each_of("sample_places: size", size, len(lengths))
    if len(sizes) and sizes.min() < 0:
        bad = int(np.argmax(sizes < 0))
        raise ValueError(f"sample_places: size: is {sizes[bad]} for sequence {bad}; 0 or more is needed")
    drawn = buffers.new_offsets(len(lengths) + 1)
    unharmed(kernels.lod.offsets_from_lengths(np.minimum(sizes, lengths), drawn))
    return drawn


def _generator(rng: Any) -> np.random.Generator:
    """Return a generator, made from a seed if necessary."""
    if isinstance(rng, np.random.Generator):
        return rng
    seed = as_size(rng)
    if seed is None or isinstance(rng, bool):
        raise DTypeError(f"sample_places: rng: is {rng!r}; a numpy.random.Generator, or a seed of 0 or more, is needed")
    return np.random.default_rng(seed)


@sample_places.define_infer
def _(x: Spec | LoD, rng: Any, size: Any, level: int) -> Spec:
    k = level_of("sample_places", structure_of("sample_places: x", x), level)
    _generator(rng)
    if size is not None:
        each_of("sample_places: size", size, None)
    return Spec((None,), np.dtype(np.int64), first_levels(x, k, 1))


@named
def sequence_shuffle(x: Any, rng: Any, level: int = -1) -> Any:
    """Shuffle the elements of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    rng : numpy.random.Generator, or int
        The generator, or a seed.
    level : int
        The level of the sequences whose elements are shuffled; the contents of an element keep their order.

    Returns
    -------
    LoDTensor
        Gradients are passed to x.

    Raises
    ------
    DTypeError, LevelError
        If rng is neither a generator nor a seed, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_shuffle([[1, 1], [], [2]], 0)
    LoDTensor(3 sequences of lengths 0..2, int64: [[1, 1], [], [2]])
    """
    x = nested_operand("sequence_shuffle: x", x)
    return take_nested(x, sample_places(x, rng, None, level))


@named
def sequence_sample(x: Any, size: Any, rng: Any, level: int = -1) -> Any:
    """Draw elements of each sequence without replacement, in random order.

    Parameters
    ----------
    x : LoDTensor or nested lists
    size : int, or array_like of integers, shape (n,)
        The number of elements from each of the n sequences of `level`; all elements of a shorter one.
    rng : numpy.random.Generator, or int
        The generator, or a seed.
    level : int

    Returns
    -------
    LoDTensor
        Gradients are passed to x.

    Raises
    ------
    DTypeError, ValueError, LevelError
        If rng is neither a generator nor a seed, a size is negative, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_sample([[1, 1, 1], [], [2]], 2, 0)
    LoDTensor(3 sequences of lengths 0..2, int64: [[1, 1], [], [2]])
    """
    x = nested_operand("sequence_sample: x", x)
    return take_nested(x, sample_places(x, rng, size, level))


@named
def shuffle_sequences(x: Any, rng: Any) -> Any:
    """Shuffle the sequences of a batch.

    Parameters
    ----------
    x : LoDTensor or nested lists
    rng : numpy.random.Generator, or int
        The generator, or a seed.

    Returns
    -------
    LoDTensor
        Gradients are passed to x.

    Raises
    ------
    DTypeError
        If rng is neither a generator nor a seed.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.shuffle_sequences([[1, 2], [1, 2]], 0)
    LoDTensor(2 sequences of length 2, int64: [[1, 2], [1, 2]])
    """
    x = nested_operand("shuffle_sequences: x", x)
    order = sample_places(insert_level(lod_num(x, 0), 0, whole=True), rng)
    return gather_sequences(x, rows(order))
