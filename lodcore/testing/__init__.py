"""Assertions for tests: equality of batches, and the properties of all operators in every way of running."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from lodcore.operators.registry import Op
from lodcore.operators.roles import Index
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.testing.assertions import assert_allclose, assert_equal
from lodcore.testing.rules import (
    check_derivatives,
    check_dropped,
    check_each_alone,
    check_gradient_ways,
    check_infer,
    check_lod,
    widened,
)
from lodcore.testing.samples import Sample, sample_of, tensors_of, with_tensors
from lodcore.testing.ways import at_once, check_inputs, check_ways, check_zeros, outcome, refuse

__all__ = [
    "assert_allclose",
    "assert_equal",
    "check_empty",
    "check_gradients",
    "check_inputs",
    "check_operator",
    "check_rules",
    "check_ways",
    "sample_of",
]


def check_operator(op: Op, samples: Iterable[Any], refuses_empty: bool = False) -> None:
    """Check that a user-defined operator has the properties of all operators.

    - A call returns the same bits, or raises the same error with the same text, computed at once, of nested lists, as
      a method, under `vjp`, in a Program, in the body of a loop, and written to `out`.
    - Arguments are not changed.
    - The shape rule describes the result, and the LoD rule its structure.
    - Gradients agree with numerical derivatives in float64, those of float32 are close, and unused inputs have zeros.
      They are the same in a Program and in a loop, and with one result or of one input at a time, and depend only on
      values that the vjp rule names.
    - The same holds for batches without sequences, and with empty sequences only.

    Parameters
    ----------
    op : Op
        Made by `lodcore.ops.operator`, or of another kind, as by `elementwise_operator`.
    samples : list
        Calls, each a tuple of arguments, an object with `args` and `kwargs`, or a function that returns either. Real
        numbers should be away from kinks and ties, where the operator is not smooth. A call that raises is a sample,
        too.
    refuses_empty : bool
        Whether the operator may raise an error for no elements, as the maximum does.

    Raises
    ------
    AssertionError
        If a property does not hold; the message names the operator, the way in which it was run, and the sample.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.ops import check_operator
    >>> check_operator(lodcore.tanh, [(lodcore.array([[0.5, -1.0], [], [2.0]]),)])
    """
    if not isinstance(op, Op):
        raise TypeError(f"check_operator: op: is {op!r}; an operator is needed")
    made = [sample_of(given) for given in samples]
    if not made:
        raise ValueError("check_operator: samples: there are none; at least one call is needed")
    raised = [_check_sample(op, sample, refuses_empty) for sample in made]
    if all(raised):
        raise refuse(op, "computed at once", made[0], f"{_raised(op, made[0])}; at least one sample must compute")


def _check_sample(op: Op, sample: Sample, refuses_empty: bool) -> bool:
    """Check one sample; return whether it raises."""
    check_inputs(op, sample)
    raises = bool(outcome(at_once, op, sample)[0] == "raised")
    if not raises:
        check_rules(op, sample)
    check_ways(op, sample)
    if not raises:
        if op.gradient:
            check_gradients(op, sample)
        check_empty(op, sample, refuses_empty)
    return raises


def check_rules(op: Op, sample: Sample) -> None:
    """Check the shape rule and the LoD rule for a call."""
    check_infer(op, sample)
    check_lod(op, sample)


def check_gradients(op: Op, sample: Sample) -> None:
    """Check the vjp rule for a call."""
    if not op.differentiable:
        raise refuse(op, "vjp rule", sample, "there is none; define it, or say differentiable=False")
    check_zeros(op, sample)
    wide = widened(sample)
    if wide is not None:
        check_derivatives(op, wide)
        check_dropped(op, wide)
        check_each_alone(op, wide)
        check_gradient_ways(op, wide)


def check_empty(op: Op, sample: Sample, refuses: bool = False) -> None:
    """Check a call on batches without sequences, and on batches of empty sequences.

    Parameters
    ----------
    op : Op
    sample : Sample
    refuses : bool
        Whether the operator may raise an error then, which must be the same in every way.
    """
    if not any(isinstance(x, LoDTensor) for x in tensors_of(sample)):
        return
    must_compute = not refuses and _has_one_structure(op, sample)
    for empty in (_without_sequences, _of_empty_sequences):
        changed = with_tensors(sample, empty)
        raises = check_ways(op, changed)
        if not raises:
            check_rules(op, changed)
            if op.gradient:
                check_zeros(op, changed)
        elif must_compute:
            raise refuse(op, "computed at once", changed, _raised(op, changed))


def _raised(op: Op, sample: Sample) -> str:
    """Return a description of the error that a call raises."""
    _, kind, text = outcome(at_once, op, sample)
    return f"raised {kind}: {text}"


def _has_one_structure(op: Op, sample: Sample) -> bool:
    """Return whether the arguments of a call are tensors with one structure, and numbers that select no sequences."""
    lods = set()
    for name, given in op.bind(sample.args, sample.kwargs).items():
        if isinstance(given, LoDTensor):
            lods.add(given.lod)
        elif op.roles.get(name) is Index or not isinstance(given, (int, float, str, type(None), np.dtype, np.ufunc)):
            return False
    return len(lods) == 1


def _without_sequences(x: Any) -> Any:
    """Return a batch of the same kind without sequences; return anything else unchanged."""
    return x[:0] if isinstance(x, LoDTensor) else x


def _of_empty_sequences(x: Any) -> Any:
    """Return a batch of the same kind with as many, empty sequences; return anything else unchanged."""
    if not isinstance(x, LoDTensor):
        return x
    counts = [np.zeros(len(x), np.int64), *[np.zeros(0, np.int64)] * (x.num_levels - 1)]
    return LoDTensor.from_lengths(x.values[:0], *counts)


def __dir__() -> list[str]:
    return __all__
