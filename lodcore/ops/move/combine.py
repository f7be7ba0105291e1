"""Combinations of the elements of one sequence, pairs of the elements of two, and interleaved sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.memory import flag
from lodcore.base.naming import named
from lodcore.errors import LoDError
from lodcore.operators.arguments import integer_of, level_of, list_of
from lodcore.operators.copies import add_back, nested_operand, row_ranges, sequence_numbers, spec_rows, sum_copies
from lodcore.operators.lod_rules import first_levels
from lodcore.operators.operands import Array, check_equal
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Batches, Nested
from lodcore.ops.index.index import take_nested
from lodcore.ops.move.gather import gather_nested, sequence_concat
from lodcore.ops.move.position import drop_level
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.joining import check_coarser
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = [
    "argcartesian",
    "argcombinations",
    "cartesian",
    "combination_places",
    "combinations",
    "interleave_places",
    "sequence_interleave",
    "sequence_pairs",
]

# -- pairs -------------------------------------------------------------------------------------------------------------


class Partners:
    """The partners of each element of a level: the elements with which it is paired.

    Attributes
    ----------
    repeats : int64, shape (number of elements + 1,)
        The offsets of the partners of each element.
    ranges : int64, shape (number of elements, 2)
        The ranges of the partners: in elements first, in rows once they have been gathered.
    offsets : int64, shape (number of sequences + 1,)
        The offsets of each sequence in pairs.
    """

    __slots__ = ("offsets", "ranges", "repeats")

    def __init__(self, where: str, kernel: Any, offsets: Any, given: Any) -> None:
        count = offsets[len(offsets) - 1]
        self.repeats = buffers.new_offsets(count + 1)
        self.ranges = buffers.new_int64(count, 2)
        self.offsets = buffers.new_offsets(len(offsets))
        bad = kernel(offsets, given, self.repeats, self.ranges, self.offsets)
        if bad >= 0:
            raise LoDError(f"{where}: x: sequence {bad} has more pairs than int64 can count")


def _repeated(where: str, x: LoDTensor, k: int, partners: Partners) -> LoDTensor:
    """Repeat each element of level k once per partner."""
    upper = [*(x.lod.offsets(j) for j in range(k)), partners.offsets]
    total = partners.offsets.item(len(partners.offsets) - 1)
    if k + 1 < x.lod.num_levels:
        return lod_tensor_body.gather(x, where, k + 1, sequence_numbers(partners.repeats), None, upper)
    rows = buffers.new_rows(where, x.values, total)
    kernels.expand.repeat_rows(lod_tensor_body.rows_as_bytes(x), partners.repeats, buffers.as_bytes(rows))
    return lod_tensor_body.new_tensor(rows, lod_body.make_lod(upper, total))


def _partners(where: str, x: LoDTensor, k: int, partners: Partners, lod: LoD | None) -> LoDTensor:
    """Gather the partners of all elements; `lod` is that of the result if elements are rows."""
    total = partners.offsets.item(len(partners.offsets) - 1)
    if k + 1 == x.lod.num_levels and lod is not None:
        rows = buffers.new_rows(where, x.values, total)
        kernels.gather.copy_ranges(lod_tensor_body.rows_as_bytes(x), partners.ranges, buffers.as_bytes(rows))
        return lod_tensor_body.new_tensor(rows, lod)
    upper = [*(x.lod.offsets(j) for j in range(k)), partners.offsets]
    return lod_tensor_body.take_ranges(x, where, k + 1, partners.ranges, total, None, upper)


def _d_repeated(d: Array, lod: LoD, k: int, partners: Partners, place: Array) -> Array:
    """Sum the cotangents of the copies of each element."""
    if k + 1 == lod.num_levels:
        return sum_copies(d, partners.repeats, place)
    return add_back(d, row_ranges(lod, k + 1, sequence_numbers(partners.repeats)), place)


@operator(x=Nested, lod_rule="as `x` before `level`; pairs are computed", results=2)
def sequence_pairs(x: Any, replacement: bool = False, level: int = -1, *, saved: Saved = None) -> tuple[Any, Any]:
    """Pair each element of a sequence with all following elements.

    Parameters
    ----------
    x : LoDTensor or nested lists
    replacement : bool
        Whether to pair each element with itself, too.
    level : int
        The level of the sequences; their elements are kept whole.

    Returns
    -------
    first, second : LoDTensor
        Have as many levels as x; n elements make n * (n - 1) / 2 pairs, in lexicographic order.

    Raises
    ------
    LevelError
        If the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> first, second = lodcore.sequence_pairs([[1, 2, 3], [], [4]])
    >>> first.tolist(), second.tolist()
    ([[1, 1, 2], [], []], [[2, 3, 3], [], []])
    """
    where = "sequence_pairs"
    k = level_of(where, x.lod, level)
    partners = Partners(where, kernels.combine.pair_ranges, lod_body.offsets_view(x.lod, k), 0 if replacement else 1)
    first = _repeated(where, x, k, partners)
    if saved is not None:
        saved["partners"] = partners
    return first, _partners(where, x, k, partners, first.lod)


@sequence_pairs.define_infer
def _(x: Spec, replacement: bool, level: int) -> tuple[Spec, Spec]:
    k = level_of("sequence_pairs", x, level)
    side = Spec(spec_rows(x), x.dtype, first_levels(x, k, x.num_levels - k))
    return side, side


@sequence_pairs.define_vjp
def _(
    d_first: Array | None, d_second: Array | None, x: LoDTensor, level: int, partners: Partners, context: Any
) -> Array:
    place: Array = context.new("x")
    if d_first is None:
        return add_back(np.asarray(d_second), partners.ranges, place)
    _d_repeated(d_first, x.lod, lod_body.normalize_level(x.lod, level), partners, place)
    if d_second is not None:
        place += add_back(d_second, partners.ranges, np.empty_like(place))
    return place


@operator(
    x=Nested,
    y=Nested,
    lod_rule="as `x` and as `y`; pairs are computed",
    results=2,
)
def cartesian(x: Any, y: Any, level: int = -1, *, saved: Saved = None) -> tuple[Any, Any]:
    """Pair each element of a sequence of x with all elements of the corresponding sequence of y.

    Parameters
    ----------
    x, y : LoDTensor or nested lists
        Must have equally many levels, equal levels before `level`, and equally many sequences at `level`.
    level : int
        The level of the sequences; their elements are kept whole.

    Returns
    -------
    first, second : LoDTensor
        Elements of x and of y, with as many levels. The element of y changes fastest.

    Raises
    ------
    LoDError, LevelError
        If the structures before the level differ (the message names the first such sequence), or the level does not
        exist.

    Examples
    --------
    >>> import lodcore
    >>> first, second = lodcore.cartesian([[1, 2], [3]], [[10, 20], []])
    >>> first.tolist(), second.tolist()
    ([[1, 1, 2, 2], []], [[10, 20, 10, 20], []])
    """
    where = "cartesian"
    k = _common_level(x, y, level)
    if k:
        check_equal(where, lod_body.slice_levels(x.lod, 0, k), lod_body.slice_levels(y.lod, 0, k), "y")
    offsets, others = lod_body.offsets_view(x.lod, k), lod_body.offsets_view(y.lod, k)
    if len(offsets) != len(others):
        raise LoDError(f"{where}: y: has {len(others) - 1} sequences of level {k}; x has {len(offsets) - 1}")
    partners = Partners(where, kernels.combine.product_ranges, offsets, others)
    first = _repeated(where, x, k, partners)
    if saved is not None:
        saved["partners"] = partners
    return first, _partners(where, y, k, partners, first.lod)


def _common_level(x: Any, y: Any, level: Any) -> int:
    """Return a level of two tensors, or Specs, which must have equally many levels."""
    if x.num_levels != y.num_levels:
        raise LoDError(f"cartesian: y: has {with_number(y.num_levels, 'level')}; x has {x.num_levels}")
    return level_of("cartesian", x, level)


@cartesian.define_infer
def _(x: Spec, y: Spec, level: int) -> tuple[Spec, Spec]:
    _common_level(x, y, level)
    return Spec(spec_rows(x), x.dtype, x.num_levels), Spec(spec_rows(y), y.dtype, y.num_levels)


@cartesian.define_vjp
def _(
    d_first: Array | None,
    d_second: Array | None,
    x: LoDTensor,
    level: int,
    partners: Partners,
    needs: Any,
    context: Any,
) -> tuple[Array | None, Array | None]:
    found: list[Array | None] = [None, None]
    if d_first is not None and needs.x:
        found[0] = _d_repeated(d_first, x.lod, lod_body.normalize_level(x.lod, level), partners, context.new("x"))
    if d_second is not None and needs.y:
        found[1] = add_back(d_second, partners.ranges, context.new("y"))
    return found[0], found[1]


# -- combinations of any size ------------------------------------------------------------------------------------------


@operator(
    x=Nested,
    lod_rule="as `x` before `level`; combinations are computed",
    differentiable=False,
)
def combination_places(
    x: Any, n: int, column: int, replacement: bool = False, level: int = -1, of_batch: bool = False
) -> LoDTensor:
    """Return the position of one element of each combination of n elements of a sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    n : int
        1 .. 64.
    column : int
        The number of the element in the combination: 0 .. n - 1.
    replacement : bool
        Whether an element may occur several times.
    level : int
    of_batch : bool
        Whether to number elements in the whole batch rather than in their sequence.

    Returns
    -------
    LoDTensor
        int64, in lexicographic order of the combinations. Its levels are those of x up to `level`, whose sequences
        have one element per combination.

    Raises
    ------
    ValueError, DTypeError, LevelError
        If n or column are out of range, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.combination_places([["a", "b", "c"], ["d"]], 2, 1).tolist()
    [[1, 2, 2], []]
    """
    where = "combination_places"
    k, lod = level_of(where, x.lod, level), x.lod
    size, chosen = _size_and_column(where, n, column)
    offsets = lod_body.offsets_view(lod, k)
    bounds = buffers.new_offsets(len(offsets))
    again = 1 if replacement else 0
    bad = kernels.combine.combination_offsets(offsets, size, again, bounds)
    if bad >= 0:
        raise LoDError(f"{where}: x: sequence {bad} has more combinations of {size} than int64 can count")
    places = buffers.new_int64(bounds.item(len(bounds) - 1))
    work = buffers.new_int64(size)
    kernels.combine.list_combinations(offsets, size, again, chosen, bool(of_batch), work, places)
    return lod_tensor_body.new_tensor(
        places, lod_body.make_lod([*(lod.offsets(j) for j in range(k)), bounds], len(places))
    )


def _size_and_column(where: str, n: Any, column: Any) -> tuple[int, int]:
    """Return the checked size of a combination, and the checked number of one of its elements."""
    size = _size(where, n)
    return size, integer_of(f"{where}: column", column, 0, size - 1)


def _size(where: str, n: Any) -> int:
    """Return the checked size of a combination."""
    return integer_of(f"{where}: n", n, 1, 64)


@combination_places.define_infer
def _(x: Spec, n: int, column: int, replacement: bool, level: int, of_batch: bool) -> Spec:
    k = level_of("combination_places", x, level)
    _size_and_column("combination_places", n, column)
    return Spec((None,), np.dtype(np.int64), first_levels(x, k, 1))


@named
def combinations(x: Any, n: int = 2, replacement: bool = False, level: int = -1) -> tuple[Any, ...]:
    """Return all combinations of n elements of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    n : int
        1 .. 64.
    replacement : bool
        Whether an element may occur several times.
    level : int
        The level of the sequences; their elements are kept whole.

    Returns
    -------
    tuple of n LoDTensors
        The first element of each combination, the second, and so on, in lexicographic order. Gradients are passed to x.

    Raises
    ------
    ValueError, DTypeError, LevelError
        If n is out of range, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> first, second = lodcore.combinations([[1, 2, 3], [], [4]], 2)
    >>> (first + second).tolist()
    [[3, 4, 5], [], []]
    """
    x = nested_operand("combinations: x", x)
    size, replacement = _size("combinations", n), flag("combinations: replacement", replacement)
    if size == 2:
        pairs: tuple[Any, ...] = sequence_pairs(x, replacement, level)
        return pairs
    k = level_of("combinations", x.num_levels, level)
    elements = x
    for _ in range(k + 1):
        elements = drop_level(elements, 0)
    places = [combination_places(x, size, j, replacement, k, of_batch=True) for j in range(size)]
    return tuple(gather_nested(elements, place) for place in places)


@named
def argcombinations(x: Any, n: int = 2, replacement: bool = False, level: int = -1) -> tuple[Any, ...]:
    """Return the positions of all combinations of n elements of each sequence; `combinations` returns the elements.

    Parameters
    ----------
    x : LoDTensor or nested lists
    n, replacement, level
        As in `combinations`.

    Returns
    -------
    tuple of n LoDTensors
        int64; `x[place]` returns the elements.

    Examples
    --------
    >>> import lodcore
    >>> first, second = lodcore.argcombinations([["a", "b", "c"], [], ["d"]])
    >>> first.tolist(), second.tolist()
    ([[0, 0, 1], [], []], [[1, 2, 2], [], []])
    """
    x = nested_operand("argcombinations: x", x)
    size, replacement = _size("argcombinations", n), flag("argcombinations: replacement", replacement)
    return tuple(combination_places(x, size, j, replacement, level) for j in range(size))


@named
def argcartesian(x: Any, y: Any, level: int = -1) -> tuple[Any, Any]:
    """Return the pairs of elements of corresponding sequences of x and y as positions.

    Parameters
    ----------
    x, y : LoDTensor or nested lists
        As in `cartesian`.
    level : int
        The level of the sequences; positions are those of their elements.

    Returns
    -------
    first, second : LoDTensor
        int64, with the levels up to `level`; `x[first]` and `y[second]` are the results of `cartesian`.

    Raises
    ------
    LoDError, LevelError
        As for `cartesian`.

    Examples
    --------
    >>> import lodcore
    >>> first, second = lodcore.argcartesian([["a", "b"], ["c"]], [[10, 20], []])
    >>> first.tolist(), second.tolist()
    ([[0, 0, 1, 1], []], [[0, 1, 0, 1], []])
    >>> first, second = lodcore.argcartesian([[["a"], []]], [[[1], [2, 3], []]], level=0)
    >>> first.tolist(), second.tolist()
    ([[0, 0, 0, 1, 1, 1]], [[0, 1, 2, 0, 1, 2]])
    """
    x, y = nested_operand("argcartesian: x", x), nested_operand("argcartesian: y", y)
    k = _common_level(x, y, level)
    pairs: tuple[Any, Any] = cartesian(*[combination_places(one, 1, 0, level=k) for one in (x, y)])
    return pairs


# -- interleaving ------------------------------------------------------------------------------------------------------


@operator(
    xs=Batches,
    lod_rule="as `xs` before `level`; their lengths add up",
    differentiable=False,
)
def interleave_places(xs: Any, level: int = -1) -> LoDTensor:
    """Return the positions, in the sequences that `sequence_concat` joins, of interleaved elements.

    Parameters
    ----------
    xs : list of LoDTensor or nested lists
        As in `sequence_concat`.
    level : int

    Returns
    -------
    LoDTensor
        int64.

    Raises
    ------
    LoDError, LevelError
        If a batch does not fit; the message names it.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.interleave_places([[["a", "b"], []], [["c"], ["d"]]]).tolist()
    [[0, 2, 1], [0]]
    """
    where = "interleave_places"
    batches = [as_nested(f"{where}: xs[{j}]", x) for j, x in enumerate(list_of(f"{where}: xs", xs))]
    if not batches:
        raise LoDError(f"{where}: xs: is empty; at least one batch is needed")
    lods = [x.lod for x in batches]
    k = level_of(where, lods[0], level)
    check_coarser(where, lods, "xs[{}]".format, k)
    levels = [lod_body.offsets_view(lod, k) for lod in lods]
    offsets = np.sum([lod.offsets(k) for lod in lods], axis=0)
    places = buffers.new_int64(offsets.item(len(offsets) - 1))
    kernels.combine.take_turns(levels, places)
    upper = [lods[0].offsets(j) for j in range(k)]
    return lod_tensor_body.new_tensor(places, lod_body.make_lod([*upper, offsets], len(places)))


@interleave_places.define_infer
def _(xs: list[Spec], level: int) -> Spec:
    k = level_of("interleave_places", xs[0], level)
    return Spec((None,), np.dtype(np.int64), first_levels(xs[0], k, 1))


@named
def sequence_interleave(xs: Any, level: int = -1) -> Any:
    """Interleave the elements of the sequences number s of all batches to one sequence number s.

    Parameters
    ----------
    xs : list of LoDTensor or nested lists
        As in `sequence_concat`. A sequence that has ended is skipped.
    level : int

    Returns
    -------
    LoDTensor
        Gradients are passed to all batches.

    Raises
    ------
    LoDError, DTypeError, ShapeError, LevelError
        If a batch does not fit; the message names it.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_interleave([[[1, 2, 3], []], [[10], [20]]]).tolist()
    [[1, 10, 2, 3], [20]]
    """
    return take_nested(sequence_concat(xs, level), interleave_places(xs, level))
