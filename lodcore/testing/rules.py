"""Checks of rules: of Specs, of structures, and of gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.graph import Executor, Program, append_backward, grad_check, vjp, while_loop
from lodcore.graph.gradients.cotangents import Gradients, differentiable, values_of
from lodcore.graph.tape import Tape
from lodcore.graph.variable import Variable
from lodcore.operators.registry import Op
from lodcore.operators.roles import LISTS, spec_of
from lodcore.ops import add, mul, sum, tensor_array_read
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.rank_table import IndicesMap, RankTable
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray
from lodcore.testing.samples import (
    Sample,
    bits,
    elements_of,
    floats_of,
    fresh,
    is_tensor,
    of_elements,
    several,
    with_tensors,
)
from lodcore.testing.ways import fed, refuse

__all__ = [
    "check_derivatives",
    "check_dropped",
    "check_each_alone",
    "check_gradient_ways",
    "check_infer",
    "check_lod",
    "fits",
    "widened",
]


# -- Specs and structures ----------------------------------------------------------------------------------------------


def described(op: Op, sample: Sample) -> tuple[dict[str, Any], dict[int, Any]]:
    """Return the arguments of a call with Specs for tensors, and the tensors by the identity of their Specs."""
    arguments = op.bind(sample.args, sample.kwargs)
    tensors: dict[int, Any] = {}

    def spec(x: Any) -> Any:
        if not is_tensor(x) and not isinstance(x, (np.ndarray, IndicesMap, RankTable, LoD)):
            return x
        made = spec_of(x)
        tensors[id(made)] = x
        return made

    for name, role in op.roles.items():
        given = op.constant(name, arguments[name])
        arguments[name] = [spec(x) for x in given] if role in LISTS else spec(given)
    return arguments, tensors


def fits(spec: Spec, truth: Spec) -> bool:
    """Return whether a Spec describes a result: None matches any size, `object` any kind."""
    return spec.kind is object or (
        spec.num_levels == truth.num_levels
        and spec.dtype == truth.dtype
        and spec.kind is truth.kind
        and len(spec.shape) == len(truth.shape)
        and all(a is None or b is None or a == b for a, b in zip(spec.shape, truth.shape, strict=True))
    )


def check_infer(op: Op, sample: Sample) -> None:
    """Check that the shape rule describes the result."""
    inferred = op.infer_arguments(described(op, sample)[0])
    given = fresh(sample)
    result = op(*given.args, **given.kwargs)
    if isinstance(result, tuple) != (not isinstance(inferred, Spec)) or len(several(result)) != len(several(inferred)):
        raise refuse(op, "infer", sample, f"says {inferred}; the result is {result!r}")
    for spec, one in zip(several(inferred), several(result), strict=True):
        if not fits(spec, spec_of(one)):
            raise refuse(op, "infer", sample, f"says {spec}; the result is {spec_of(one)}")


def check_lod(op: Op, sample: Sample) -> None:
    """Check that results have the structure given by the LoD rule."""
    specs, tensors = described(op, sample)
    said = op.structure(specs)
    given = fresh(sample)
    results = several(op(*given.args, **given.kwargs))
    each = said if type(said) is tuple else (said,) * len(results)
    for result, said in zip(results, each, strict=True):
        if said is None or not isinstance(result, (LoDTensor, np.ndarray, np.generic)):
            continue
        wrong = _wrong_structure(said, getattr(result, "lod", None), tensors)
        if wrong:
            raise refuse(op, "LoD rule", sample, f'says "{op.lod_rule.text}"; {wrong}')


def _wrong_structure(said: Any, lod: Any, tensors: dict[int, Any]) -> str:
    """Describe the error in the LoD of a result, None if it has none; "" if there is no error."""
    count = 0 if lod is None else lod.num_levels
    if isinstance(said, Spec):
        wanted = _lod_of(tensors[id(said)]) if said.num_levels else None
        if lod is wanted:
            return ""
        return "the result has a different LoD" if lod != wanted else "the LoD of the result is equal, and not the same"
    if count != len(said):
        return f"that is {with_number(len(said), 'level')}; the result has {count}"
    for level, source in enumerate(said):
        if source is None:
            continue
        x, of_source = source
        if not np.array_equal(lod.offsets(level), _lod_of(tensors[id(x)]).offsets(of_source)):
            return f"level {level} of the result is not level {of_source} of the argument"
    return ""


def _lod_of(x: Any) -> LoD:
    return x if isinstance(x, LoD) else x.lod


# -- gradients ---------------------------------------------------------------------------------------------------------


def widened(sample: Sample) -> Sample | None:
    """Return the same call with float64 for all real numbers; None if there are none, or complex ones."""
    every = floats_of(sample)
    if not every or any(x.dtype.kind == "c" for x in every):
        return None
    return of_dtype(sample, np.float64)


def of_dtype(sample: Sample, dtype: Any) -> Sample:
    """Return the same call with another dtype for all real numbers."""
    return with_floats(sample, iter([cast_to(x, dtype) for x in floats_of(sample)]))


def cast_to(x: Any, dtype: Any) -> Any:
    return LoDTensor(x.values.astype(dtype), x.lod) if isinstance(x, LoDTensor) else x.astype(dtype)


def with_floats(sample: Sample, following: Any) -> Sample:
    """Return the same call with other tensors instead of those that have gradients."""

    def replace(x: Any) -> Any:
        if isinstance(x, TensorArray):
            return of_elements([None if one is None else replace(one) for one in elements_of(x)])
        return next(following) if differentiable(x) else x

    return with_tensors(sample, replace)


def function_of(op: Op, sample: Sample) -> Any:
    """Return the call as a function of the tensors with gradients; it returns elements instead of arrays of steps."""

    def run(*variables: Any) -> Any:
        given = with_floats(sample, iter(variables))
        return _apart(op(*given.args, **given.kwargs))

    return run


def _apart(result: Any) -> Any:
    """Replace arrays by their elements in a result, or in several."""
    arrays = [x for x in several(result) if isinstance(x, TensorArray) or _kind(x) is TensorArray]
    if not arrays:
        return result
    known = [elements_of(x if isinstance(x, TensorArray) else x.get()) for x in arrays]
    return tuple(
        tensor_array_read(x, at)
        for x, elements in zip(arrays, known, strict=True)
        for at, element in enumerate(elements)
        if element is not None
    )


def _kind(x: Any) -> Any:
    return (x.spec if isinstance(x, Variable) else spec_of(x)).kind


def dense(gradient: Any) -> Any:
    """Return a gradient as an array, also if it is sparse."""
    return values_of(gradient.to_dense() if hasattr(gradient, "to_dense") else gradient)


def cotangents_of(outputs: Any) -> list[Any]:
    """Return cotangents that differ from entry to entry."""
    made: list[Any] = []
    for y in several(outputs):
        shape = values_of(y).shape if differentiable(y) else ()
        wave = 1 + np.sin(np.arange(int(np.prod(shape)))).reshape(shape)
        made.append(wave.astype(values_of(y).dtype) if differentiable(y) else None)
    return made


def check_derivatives(op: Op, sample: Sample) -> None:
    """Check the vjp rule: gradients equal numerical derivatives in float64, and those of float32 are close."""
    run, floats = function_of(op, sample), floats_of(sample)
    try:
        grad_check(run, *floats)
    except AssertionError as error:
        raise refuse(op, "vjp rule", sample, str(error)) from None
    except Exception as error:
        raise refuse(op, "vjp rule", sample, f"raised {type(error).__name__}: {error}") from error
    outputs, pullback = vjp(run, *floats)
    narrow = [cast_to(x, np.float32) for x in floats]
    of_narrow, narrow_pullback = vjp(run, *narrow)
    found = zip(pullback(*cotangents_of(outputs)), narrow_pullback(*cotangents_of(of_narrow)), narrow, strict=True)
    for wide, slim, x in found:
        if dense(slim).dtype != np.float32 or isinstance(x, LoDTensor) != isinstance(slim, LoDTensor):
            raise refuse(op, "vjp rule", sample, f"of float32 the gradient is {slim!r}")
        if isinstance(x, LoDTensor) and slim.lod is not x.lod:
            raise refuse(op, "vjp rule", sample, "the gradient has a different LoD from what it belongs to")
        if not np.allclose(dense(wide), dense(slim), rtol=5e-4, atol=5e-4):
            raise refuse(op, "vjp rule", sample, f"of float32 the gradient is {dense(slim)}; of float64 {dense(wide)}")


def check_each_alone(op: Op, sample: Sample) -> None:
    """Check gradients with one result, and of one input, at a time: they do not depend on what else is wanted."""
    for total, together in sums_over_results(op, sample):
        _refuse_others(op, sample, "the sum of the gradients through one result each", total, together)
    if len(floats_of(sample)) > 1:
        for alone, together in gradients_alone(op, sample):
            _refuse_others(op, sample, "the gradient that alone is needed", alone, together)


def sums_over_results(op: Op, sample: Sample) -> Iterator[tuple[Any, Any]]:
    """Yield each gradient as the sum of those through one result at a time, and as it is through all; none for one."""
    floats = floats_of(sample)
    outputs, pullback = vjp(function_of(op, sample), *floats)
    cotangents = cotangents_of(outputs)
    with_gradients = [at for at, d in enumerate(cotangents) if d is not None]
    if len(with_gradients) > 1:
        total: list[Any] = [0.0] * len(floats)
        for at in with_gradients:
            only = [d if j == at else None for j, d in enumerate(cotangents)]
            total = [known + dense(one) for known, one in zip(total, pullback(*only), strict=True)]
        yield from zip(total, map(dense, pullback(*cotangents)), strict=True)


def gradients_alone(op: Op, sample: Sample) -> Iterator[tuple[Any, Any]]:
    """Yield each gradient as it is if it alone is needed, and as it is among all."""
    run, floats = function_of(op, sample), floats_of(sample)
    outputs, pullback = vjp(run, *floats)
    cotangents = cotangents_of(outputs)
    for at, together in enumerate(pullback(*cotangents)):

        def of_one(x: Any, at: int = at) -> Any:
            return run(*floats[:at], x, *floats[at + 1 :])

        (alone,) = vjp(of_one, floats[at])[1](*cotangents)
        yield dense(alone), dense(together)


def _refuse_others(op: Op, sample: Sample, what: str, found: Any, together: Any) -> None:
    """Raise if a gradient is not the one that was computed together with others."""
    if not np.allclose(found, together, rtol=1e-9, atol=1e-9, equal_nan=True):
        raise refuse(op, "vjp rule", sample, f"{what}: is {found}; all together it is {together}")


def check_gradient_ways(op: Op, sample: Sample) -> None:
    """Check that gradients are the same in a Program and through the body of a loop."""
    floats = [x for x in floats_of(sample) if not any(isinstance(y, TensorArray) for y in sample.args)]
    result = fresh(sample)
    outputs = op(*result.args, **result.kwargs)
    if not floats or any(not isinstance(y, (np.ndarray, np.generic, LoDTensor)) for y in several(outputs)):
        return

    def run(*variables: Any) -> Any:
        given = with_floats(sample, iter(variables))
        return _squared(op(*given.args, **given.kwargs))

    wanted = [dense(one) for one in vjp(run, *floats)[1](1.0)]

    def looped(*variables: Any) -> Any:
        given = with_floats(sample, iter(variables))
        loop = while_loop()
        with loop.loop():
            total = loop.loop_var(0.0)
            loop.break_if(loop.step() >= 1)
            total.update(add(total, _squared(op(*given.args, **given.kwargs))))
        return total

    feed: dict[str, Any] = {}
    with Program() as program:
        given = fed(sample, feed)
        names = [name for name, x in feed.items() if differentiable(x)]
        append_backward(_squared(op(*given.args, **given.kwargs)))
    in_program = Executor().run(program, feed, [f"{name}@GRAD" for name in names])
    in_body = vjp(looped, *floats)[1](1.0)
    for way, found, exact in (("in a Program", in_program, True), ("in the body of a loop", in_body, False)):
        for one, other in zip(found, wanted, strict=True):
            near = np.allclose(dense(one), other, rtol=1e-9, atol=1e-9, equal_nan=True)
            if not (np.array_equal(dense(one), other, equal_nan=True) if exact else near):
                raise refuse(op, way, sample, f"the gradient is {dense(one)}; under vjp it is {other}")


def _squared(outputs: Any) -> Any:
    """Return the sum of the squares of all real numbers of results."""
    total: Any = 0.0
    for out in several(outputs):
        if out.dtype.kind == "f":
            total = total + sum(mul(out, out))
    return total


def check_dropped(op: Op, sample: Sample) -> None:
    """Check that gradients depend only on values that the vjp rule names.

    Calls with other values between the forward pass and the backward pass must not change them, and values that are not
    named are overwritten with garbage before the backward pass.
    """
    run, floats = function_of(op, sample), floats_of(sample)
    outputs, pullback = vjp(run, *floats)
    cotangents = cotangents_of(outputs)
    wanted = bits(pullback(*cotangents))
    with np.errstate(all="ignore"):  # the operator may be undefined for half of a value
        vjp(run, *[cast_to(x, x.dtype) * 0.5 if isinstance(x, np.ndarray) else x * 0.5 for x in floats])
    if bits(pullback(*cotangents)) != wanted:
        raise refuse(op, "vjp rule", sample, "the gradient is another one after a second call; name what it needs")
    whole = _gradients(op, sample, False)
    if whole is not None and bits(_gradients(op, sample, True)) != bits(whole):
        raise refuse(op, "vjp rule", sample, "reads what it does not name, which may be gone")


def _gradients(op: Op, sample: Sample, drop: bool) -> list[Any] | None:
    """Run the backward pass of one call; with `drop`, of one that stored only the values that the vjp rule names."""
    rule = op.rule_of(list(op.bind(sample.args, sample.kwargs).values()))
    if rule is None or any(isinstance(x, TensorArray) for x in [*sample.args, *sample.kwargs.values()]):
        return None
    tape = Tape()
    variables = [tape.begin("check_operator", x) for x in floats_of(sample)]
    given = with_floats(sample, iter(variables))
    op(*given.args, **given.kwargs)
    if len(tape.ops) != 1:
        return None
    (taped,) = tape.ops
    if any(isinstance(out.get(), TensorArray) or not differentiable(out.get()) for out in taped.outputs):
        return None
    frame = list(taped.frame)
    for name, slot in op.slots.items() if drop else ():
        listed = rule.operands is not op.tensors and name in op.tensors
        if name not in rule.names and not listed and slot < len(frame):
            frame[slot] = _garbage(frame[slot])
    gradients = Gradients(tape.needed)
    for out, d in zip(taped.outputs, cotangents_of(tuple(out.get() for out in taped.outputs)), strict=True):
        gradients.add(out, d)
    try:
        gradients.back([taped], frame)
    except Exception as error:
        if not drop:
            raise
        raise refuse(op, "vjp rule", sample, f"reads what it does not name, which may be gone: {error!r}") from error
    return [gradients.found.get(x) for x in variables]


def _garbage(x: Any) -> Any:
    """Return an object with the same shape and structure, but other values."""
    if isinstance(x, LoDTensor):
        return LoDTensor(_garbage(x.values), x.lod)
    if isinstance(x, np.ndarray):
        return np.full_like(x, np.nan) if x.dtype.kind in "fc" else np.zeros_like(x)
    return [_garbage(one) for one in x] if isinstance(x, list) else object()
