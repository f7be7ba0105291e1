"""map_fn: a function of one entry, applied to all entries of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.dispatch import recording
from lodcore.base.naming import call_named
from lodcore.errors import DTypeError, ShapeError
from lodcore.graph.all_or_none import AllOrNone
from lodcore.graph.loops.lifted import on_all_entries
from lodcore.graph.loops.while_loop import WhileLoop
from lodcore.graph.trees import tree_leaves, tree_map
from lodcore.graph.variable import Variable, as_value, resolved
from lodcore.operators.arguments import function_of
from lodcore.operators.foreign import of_entries
from lodcore.operators.lod_rules import no_lod
from lodcore.operators.operands import rows_of
from lodcore.operators.registry import WITH_KIND, Saved, operator
from lodcore.operators.roles import Steps, spec_of
from lodcore.ops.arrays.joined_arrays import stacked_elements, tensor_array_unstack
from lodcore.ops.arrays.tensor_arrays import check_steps, tensor_array_read, tensor_array_size, tensor_array_write
from lodcore.ops.elementwise.compare import greater_equal_than
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import refuse_conversion
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["map_fn"]


@operator(ta=Steps, lod_rule="as the Spec says")
def map_fn_results(ta: Any, spec: Spec, sequences: bool, *, saved: Saved = None) -> Any:
    """Join the results of a mapped function: each as a sequence, or all along a new axis 0.

    Parameters
    ----------
    ta : TensorArray
    spec : Spec
        The Spec of the result, which defines it if there are no results to join.
    sequences : bool
        Whether the results are sequences of rows, one per entry.

    Returns
    -------
    LoDTensor or ndarray

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore.graph.loops.map_fn import map_fn_results
    >>> ta = lodcore.TensorArray(unstack_from=lodcore.array([[1, 2], [3]]))
    >>> map_fn_results(ta, lodcore.Spec((None,), np.dtype(int), 1), True)
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]])
    """
    check_steps("map_fn_results", ta)
    elements = ta.elements("map_fn")
    rows = [len(rows_of(element)) if np.ndim(rows_of(element)) else 1 for element in elements]
    if not elements:
        if saved is not None:
            saved["rows"] = rows
        return _nothing(_filled(spec, ta.element_spec(), sequences))
    if sequences and not isinstance(elements[0], LoDTensor):
        if saved is not None:
            saved["rows"] = rows
        return LoDTensor.from_arrays(elements)
    if saved is not None:
        saved["rows"] = rows
    return stacked_elements(ta, 0)[0]


def _filled(spec: Spec, element: Spec | None, sequences: bool) -> Spec:
    """Return the Spec of all results with the sizes known from its elements."""
    sizes = () if element is None else (None, *element.shape[sequences:])
    if len(sizes) != len(spec.shape):
        return spec
    pairs = zip(spec.shape, sizes, strict=True)
    return spec._replace(shape=tuple([known if size is None else size for size, known in pairs]))


def _nothing(spec: Spec) -> Any:
    """Return the result for no entries, from its Spec."""
    values = np.empty([0 if size is None else size for size in spec.shape], spec.dtype)
    return LoDTensor.from_lengths(values, *[[]] * spec.num_levels) if spec.num_levels else values


@map_fn_results.define_infer
def _(ta: Spec, spec: Spec, sequences: bool) -> Spec:
    return _filled(spec, ta, sequences)


@map_fn_results.define_vjp
def _(d: Any, out: Any, rows: list[int]) -> dict[int, Any]:
    if not isinstance(out, LoDTensor):
        return dict(enumerate(d))
    ends = np.cumsum(rows)
    return {at: d[end - count : end] for at, (count, end) in enumerate(zip(rows, ends, strict=True))}


@operator(ta=Steps, other=Steps, lod_rule=no_lod, differentiable=False)
def map_fn_size(ta: Any, other: Any, number: int) -> Any:
    """Return the number of entries of two arrays that are mapped over together.

    Parameters
    ----------
    ta, other : TensorArray
    number : int
        The place of the other array among all, for the message.

    Returns
    -------
    int

    Raises
    ------
    ShapeError
        If they have different numbers of entries.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.graph.loops.map_fn import map_fn_size
    >>> map_fn_size(lodcore.TensorArray(unstack_from=[1, 2]), lodcore.TensorArray(unstack_from=[3, 4]), 1)
    2
    """
    check_steps("map_fn_size", ta)
    check_steps("map_fn_size", other, "other")
    if other.num_slots != ta.num_slots:
        raise ShapeError(f"map_fn: x[{number}]: has {other.num_slots} entries; x[0] has {ta.num_slots}")
    return ta.num_slots


@map_fn_size.define_infer
def _(ta: Spec, other: Spec, number: int) -> Spec:
    return Spec((), np.dtype(np.int64))


def map_fn(f: Callable[[Any], Any], x: Any) -> Any:
    """Apply a function to each entry of axis 0, or to each outermost sequence, in a loop.

    Parameters
    ----------
    f : callable
        A function that calls operators, called once to record it. It returns a tensor, or lists, tuples and dicts of
        tensors.
    x : tensor, or tuple of tensors
        A LoDTensor, an array with at least one axis, or a TensorArray. With a tuple, f takes one entry of each.
        A list is one LoDTensor, as for `lodcore.array`.

    Returns
    -------
    tensor, or lists, tuples and dicts of tensors
        For an array, the results along a new axis 0; they must have one shape.

        For a LoDTensor, a LoDTensor whose outermost sequences are the results. But if the shape rules of the operators
        fix the number of rows of a result for any sequence (or say that it has no axis), the result is an array with
        the results along a new axis 0. So the kind of the result depends on f, never on the data.

    Raises
    ------
    DTypeError
        If f is not a function or does not return a tensor, or x is a SparseTensor or no tensor at all.
    ShapeError
        If x has no axis, results have incompatible shapes, or tensors of a tuple different numbers of entries.

    Notes
    -----
    Where all operators of f are elementwise, or products of a row and a matrix from outside, they are called once, on
    all entries; sums in products then run in another order. In a Program it is always a loop.

    References
    ----------
    "Design for TensorArray" of PaddlePaddle, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore.graph import map_fn
    >>> map_fn(lambda row: lodcore.ops.sum(row), np.arange(6.0).reshape(3, 2))
    array([1., 5., 9.])
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0]])
    >>> map_fn(lambda sequence: lodcore.mul(sequence, 2.0), x)
    LoDTensor(3 sequences of lengths 0..2, float64: [[2., 4.], [], [6.]])
    >>> map_fn(lambda sequence: lodcore.ops.sum(sequence), x)
    array([3., 0., 3.])
    >>> map_fn(lambda sequence, scale: sequence * scale, (x, np.array([10.0, 20.0, 30.0])))
    LoDTensor(3 sequences of lengths 0..2, float64: [[10., 20.], [], [90.]])
    """
    function_of("map_fn: f", f)
    with AllOrNone():
        return _mapped(f, x)


def _mapped(f: Callable[[Any], Any], x: Any) -> Any:
    """Record the loop over the entries, and join its results."""
    arrays, nested = _entries(x)
    found: list[tuple[TensorArray, Spec, bool]] = []
    loop = WhileLoop((), None, False, keeps_shapes=True)
    count = tensor_array_size(arrays[0])
    for number, array in enumerate(arrays[1:], 1):
        count = map_fn_size(arrays[0], array, number)
    with loop.loop(exec_immediately=False):
        loop.body.repetition = "map_fn: entry"
        at = loop.step()
        loop.break_if(greater_equal_than(at, count))

        def collect(result: Any) -> int:
            result = resolved(result)
            if isinstance(result, TensorArray) or not isinstance(result, (Variable, Tensor, np.generic, int, float)):
                raise DTypeError(f"map_fn: f: returned {type(result).__name__}; a tensor is needed")
            spec = result.spec if isinstance(result, Variable) else spec_of(result)
            sequences = spec.num_levels > 0 or (nested and bool(spec.shape) and spec.shape[0] is None)
            with recording(loop.body.parent):
                found.append((TensorArray(), spec, sequences))
            tensor_array_write(found[-1][0], at, result)
            return len(found) - 1

        entries = [tensor_array_read(array, at) for array in arrays]
        first = len(loop.body.ops)
        output = f(*entries)
        ops = loop.body.ops[first:]
        form = tree_map(collect, output)
    given = resolved(x)
    inputs = [resolved(one) for one in given] if type(given) is tuple else [given]
    known = {local: one for one, local in loop.body.captures.values()}
    results = [resolved(one) for one in tree_leaves(output)]
    at_once = on_all_entries(ops, dict(zip(entries, inputs, strict=True)), known, results)
    if at_once is None:
        loop()
        n_entries = _count_of(inputs)
        joined = [
            map_fn_results(array, _of_all(spec, sequences, n_entries), sequences) for array, spec, sequences in found
        ]
    else:
        joined = at_once
    joined = [of_entries("map_fn", result, inputs, WITH_KIND) for result in joined]
    return tree_map(joined.__getitem__, form)


def _entries(x: Any) -> tuple[list[Any], bool]:
    """Return the arrays of entries, of each tensor of a tuple, and whether entries have axis 0 of any length."""
    x = resolved(x)
    if type(x) is not tuple:
        entries, nested = _entries_of("map_fn: x", x)
        return [entries], nested
    if not x:
        raise DTypeError("map_fn: x: is an empty tuple; one tensor is needed")
    found = [_entries_of(f"map_fn: x[{number}]", one) for number, one in enumerate(x)]
    return [entries for entries, _ in found], any(nested for _, nested in found)


def _entries_of(where: str, x: Any) -> tuple[Any, bool]:
    """Return the entries of a tensor as an array; raise for a kind of tensor without entries to map over."""
    x = resolved(x)
    if isinstance(x, (list, tuple)):
        x = as_nested(where, x)
    elif not isinstance(x, (Variable, Tensor, TensorArray)):
        x = as_value(where, x)
    spec = x.spec if isinstance(x, Variable) else spec_of(x)
    if spec.kind is TensorArray:
        return x, bool(spec.shape) and spec.shape[0] is None
    refuse_conversion(where, spec.kind if isinstance(x, Variable) else x)
    if not spec.shape and not spec.num_levels and spec.kind is not object:
        raise ShapeError(f"{where}: is one number; an array with at least one axis, or a LoDTensor, is needed")
    return call_named(where.partition(":")[0], tensor_array_unstack, x), spec.num_levels > 0


def _count_of(inputs: list[Any]) -> int | None:
    """Return the number of entries, if the shape of an array has it, as that of a row in a body does."""
    specs = [one.spec for one in inputs if isinstance(one, Variable)]
    specs += [spec_of(one) for one in inputs if type(one) is np.ndarray]
    known = [spec.shape[0] for spec in specs if spec.kind is np.ndarray and spec.shape and not spec.num_levels]
    return next((count for count in known if count is not None), None)


def _of_all(spec: Spec, sequences: bool, count: int | None) -> Spec:
    """Return the Spec of all results from that of one."""
    if sequences:
        return Spec((None, *spec.shape[1:]), spec.dtype, spec.num_levels + 1, LoDTensor)
    return spec._replace(shape=(count, *spec.shape))
