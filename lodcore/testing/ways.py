"""The ways in which an operator is run, all of which return the same result, or raise the same error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lodcore.base import buffers
from lodcore.graph import Executor, Program, data, vjp, while_loop
from lodcore.graph.gradients.cotangents import differentiable, values_of
from lodcore.operators.registry import OPS, Op
from lodcore.operators.roles import spec_of
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor_array import TensorArray
from lodcore.testing.samples import (
    Sample,
    bits,
    elements_of,
    fresh,
    is_tensor,
    several,
    tensors_of,
    text_of,
    with_tensors,
)

__all__ = ["AT_ONCE", "IN_PROGRAMS", "at_once", "check_inputs", "check_ways", "check_zeros", "fed", "outcome", "refuse"]

#: The result of a way that does not apply to a call.
ABSENT = object()


def refuse(op: Op, way: str, sample: Sample, wrong: str) -> AssertionError:
    """Return the error that names operator, way and sample."""
    return AssertionError(f"{op.__name__}: {way}: {text_of(op, sample)}: {wrong}")


# -- ways --------------------------------------------------------------------------------------------------------------


def at_once(op: Op, sample: Sample) -> Any:
    """Call the operator on tensors."""
    return op(*sample.args, **sample.kwargs)


def of_lists(op: Op, sample: Sample) -> Any:
    """Call the operator on nested lists instead of tensors that they represent bit for bit."""
    listed = 0

    def of_tensor(name: str, x: Any) -> Any:
        nonlocal listed
        if name not in op.roles or not isinstance(x, (LoDTensor, np.ndarray)) or not is_tensor(x) or x.ndim == 0:
            return x
        lists = x.tolist()
        try:
            made = op.constant(name, lists)
        except (TypeError, ValueError):
            return x
        if bits(made) != bits(x):
            return x
        listed += 1
        return lists

    args = [of_tensor(name, x) for name, x in zip(op.parameters, sample.args, strict=False)]
    args += sample.args[len(args) :]
    kwargs = {name: of_tensor(name, x) for name, x in sample.kwargs.items()}
    return op(*args, **kwargs) if listed else ABSENT


def as_a_method(op: Op, sample: Sample) -> Any:
    """Call the operator as a method of its first argument, which holds the result if it is written to."""
    if not sample.args or not is_tensor(sample.args[0]) or op.parameters[0] not in op.roles:
        return ABSENT
    holder = type("Holder", (), {"method": op})
    bound = vars(holder)["method"].__get__(sample.args[0], type(sample.args[0]))
    result = bound(*sample.args[1:], **sample.kwargs)
    return sample.args[0] if op.writes is not None else result


def _of_tensors(op: Op, sample: Sample) -> Callable[..., Any]:
    """Return the call as a function of its tensors."""

    def run(*variables: Any) -> Any:
        rest = iter(variables)
        given = with_tensors(sample, lambda x: next(rest))
        return op(*given.args, **given.kwargs)

    return run


def under_vjp(op: Op, sample: Sample) -> Any:
    """Call it on Variables that have values, in a function that is differentiated."""
    tensors = tensors_of(sample)
    return vjp(_of_tensors(op, sample), *tensors)[0] if tensors else ABSENT


def in_a_program(op: Op, sample: Sample) -> Any:
    """Record the operator on Variables with Specs only, and run it on fed values."""
    feed: dict[str, Any] = {}
    with Program() as program:
        given = fed(sample, feed)
        outputs = op(*given.args, **given.kwargs)
    if not feed:
        return ABSENT
    if op.__name__ not in str(program):
        raise AssertionError(f"the text of the Program does not name {op.__name__}")
    found = Executor().run(program, feed, several(outputs))
    return tuple(found) if isinstance(outputs, tuple) else found[0]


def in_a_body(op: Op, sample: Sample) -> Any:
    """Record the operator on constants in the body of a loop, and run two steps."""
    first = _firsts(op, sample)
    outputs, kept = _looped(op, sample, first)
    found = tuple(x if isinstance(x, TensorArray) else x.get() for x in kept)
    return found if isinstance(outputs, tuple) else found[0]


def _looped(op: Op, sample: Sample, first: Any) -> tuple[Any, list[Any]]:
    """Call the operator in a loop of two steps (one if it makes arrays); return the Variables of its results."""
    arrays = [TensorArray() if isinstance(x, TensorArray) else None for x in first]
    loop = while_loop()
    with loop.loop():
        loop.break_if(loop.step() >= (2 if all(array is None for array in arrays) else 1))
        outputs = op(*sample.args, **sample.kwargs)
        kept = [loop.loop_var(x) if array is None else array for x, array in zip(first, arrays, strict=True)]
        for v, out in zip(kept, several(outputs), strict=False):
            if isinstance(v, TensorArray):
                OPS["tensor_array_fill"](v, out)
            else:
                v.update(out)
    return outputs, kept


def in_a_body_of_a_program(op: Op, sample: Sample) -> Any:
    """Record the operator in the body of a loop in a Program, on Variables with Specs only."""
    first = _firsts(op, sample)
    feed: dict[str, Any] = {}
    with Program() as program:
        given = fed(sample, feed)
        outputs, kept = _looped(op, given, fed(Sample(tuple(first), {}), feed).args)
    if not feed:
        return ABSENT
    found = Executor().run(program, feed, kept)
    return tuple(found) if isinstance(outputs, tuple) else found[0]


def into_out(op: Op, sample: Sample) -> Any:
    """Call the operator with an array for the result."""
    if not op.takes_out:
        return ABSENT
    out = np.empty_like(_buffer(op(*sample.args, **sample.kwargs)))
    out.reshape(-1).view(np.uint8)[:] = 0xA5
    result = op(*sample.args, **sample.kwargs, out=out)
    found = _buffer(result)
    if found.shape != out.shape or buffers.bytes_between(found, out):
        raise AssertionError("the values of the result are not `out`")
    return result


def _buffer(result: Any) -> Any:
    """Return an array for a result, or the first of several."""
    first = several(result)[0]
    return first.untouched_source.values if isinstance(first, TensorArray) else values_of(first)


#: The ways by the names in error messages.
AT_ONCE: dict[str, Callable[[Op, Sample], Any]] = {
    "computed at once": at_once,
    "computed at once, of lists": of_lists,
    "as a method": as_a_method,
    "into out": into_out,
    "under vjp": under_vjp,
}
IN_PROGRAMS: dict[str, Callable[[Op, Sample], Any]] = {
    "in a Program": in_a_program,
    "in the body of a loop": in_a_body,
    "in the body of a loop in a Program": in_a_body_of_a_program,
}


def fed(sample: Sample, feed: dict[str, Any]) -> Sample:
    """Return the same call on Variables of the open Program; add their values to `feed`."""

    def declare(x: Any) -> Any:
        if isinstance(x, TensorArray):
            return x
        name, spec = f"x{len(feed)}", spec_of(x)
        feed[name] = x
        return data(name, spec._replace(shape=(None,) * (len(spec.shape) > 0) + spec.shape[1:]))

    return with_tensors(sample, declare)


def _firsts(op: Op, sample: Sample) -> list[Any]:
    """Return the first values of a loop: zeros of the kinds of the results; nothing for a wrong call."""
    try:
        results = several(op(*fresh(sample).args, **sample.kwargs))
    except MemoryError:
        raise
    except Exception:
        return []

    def zeros(x: Any) -> Any:
        if isinstance(x, LoDTensor):
            return lod_tensor_body.new_tensor(np.zeros_like(x.values), x.lod)  # in the same byte order
        return np.zeros_like(x) if isinstance(x, (np.ndarray, np.generic)) else x

    return [zeros(x) for x in results]


# -- checks ------------------------------------------------------------------------------------------------------------


def outcome(way: Callable[[Op, Sample], Any], op: Op, sample: Sample) -> Any:
    """Run a call in one way; return its result, its error, or ABSENT."""
    try:
        found = way(op, fresh(sample))
    except AssertionError:
        raise
    except Exception as error:  # a loop adds the step in front
        return "raised", type(error).__name__, re.sub(r"^while_loop: step \d+: ", "", str(error))
    return ABSENT if found is ABSENT else ("returned", bits(found))


def check_ways(op: Op, sample: Sample, ways: Mapping[str, Callable[[Op, Sample], Any]] | None = None) -> bool:
    """Check that a call returns the same bits, or raises the same error, in every way; return whether it raises."""
    wanted = outcome(at_once, op, sample)
    if op.takes_out and sample.kwargs.get("out") is not None:  # a recorded call has no `out`
        ways = {}
    for way, run in ({**AT_ONCE, **IN_PROGRAMS} if ways is None else ways).items():
        try:
            found = outcome(run, op, sample)
        except AssertionError as error:
            raise refuse(op, way, sample, str(error)) from None
        if found is ABSENT or found == wanted:
            continue
        if found[0] == wanted[0] == "raised" and found[1:] == (wanted[1], f"{op.__name__}: {wanted[2]}"):
            continue  # a loop adds the name of the operator if the error lacks it
        raise refuse(op, way, sample, f"{_described(found)}; computed at once it {_described(wanted)}")
    return bool(wanted[0] == "raised")


def _described(found: Any) -> str:
    if found[0] == "raised":
        return f"raised {found[1]}: {found[2]}"
    text = repr(found[1])
    return f"returned {text if len(text) <= 300 else text[:300] + '...'}"


def check_inputs(op: Op, sample: Sample) -> None:
    """Check that a call does not change its arguments."""
    given = fresh(sample)
    before = bits([given.args, tuple(given.kwargs.values())])
    try:
        op(*given.args, **given.kwargs)
    except Exception:  # other checks compare the error in all ways
        written = False
    else:
        written = op.writes is not None
    if not written and bits([given.args, tuple(given.kwargs.values())]) != before:
        raise refuse(op, "computed at once", sample, "changed its arguments")


def check_zeros(op: Op, sample: Sample) -> None:
    """Check that gradients of unused inputs are zeros with the types of the inputs."""
    tensors = tensors_of(fresh(sample))
    if not tensors:
        return
    outputs, pullback = vjp(_of_tensors(op, sample), *tensors)
    found = pullback(*([None] * len(outputs) if isinstance(outputs, tuple) else [None]))
    for x, gradient in zip(tensors, found, strict=True):
        if not _is_zero(gradient, x):
            raise refuse(op, "under vjp", sample, f"the gradient is {gradient!r} where nothing flows")


def _is_zero(gradient: Any, x: Any) -> bool:
    """Return whether a gradient is zero and has the type of x; None if x has no gradient."""
    if x is None or not differentiable(x):
        return gradient is None
    if type(gradient) is not type(x):
        return False
    if isinstance(x, TensorArray):
        pairs = zip(elements_of(gradient), elements_of(x), strict=True)
        return len(gradient) == len(x) and all(_is_zero(one, element) for one, element in pairs)
    return bool(bits(gradient)[:-1] == bits(x)[:-1]) and not values_of(gradient).any()
