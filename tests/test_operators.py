"""What holds for every operator: eager is what the oracle says, recorded is eager, rules tell the truth."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asv_benchmarks.benchmarks.operators import ARGUMENTS, KEYWORDS
from lodcore import IndicesMap, LoD, LoDTensor, RankTable, TensorArray, Variable, grad_check, ops, vjp
from lodcore.graph.gradients import differentiable, values_of
from lodcore.lod_rules import LoDRule
from lodcore.registry import OPS, Spec, spec_of
from tests.agree import elements_of, of_elements
from tests.samples import SAMPLES
from tests.test_errors import assert_refused
from tests.wrong_calls import things

NAMES = sorted(SAMPLES)
SMOOTH = sorted(name for name, samples in SAMPLES.items() if samples.smooth is not None)
WITH_OUT = sorted(name for name in NAMES if OPS[name].takes_out)
ERRORS = [(name, *row) for name in NAMES for row in SAMPLES[name].errors]
TENSORS = (LoDTensor, np.ndarray, TensorArray)


def bits(x):
    """Give all there is to see of a result."""
    if isinstance(x, tuple) and not isinstance(x, Spec):
        return tuple(map(bits, x))
    if isinstance(x, LoDTensor):
        return ("LoDTensor", x.lod, *bits(x.values))
    if isinstance(x, (np.ndarray, np.generic)):
        x = np.asarray(x)
        return (x.dtype, x.shape, x.tobytes())
    if isinstance(x, TensorArray):
        return ("TensorArray", *map(bits, elements_of(x)))
    if isinstance(x, IndicesMap):
        return ("IndicesMap", x.lod, x.level, *bits(x.values))
    if isinstance(x, RankTable):
        return ("RankTable", *bits(x.indices), *bits(x.lengths))
    return repr(x)


def numbers(x):
    """Give a result as nested lists."""
    if isinstance(x, tuple):
        return tuple(map(numbers, x))
    if isinstance(x, TensorArray):
        return list(map(numbers, elements_of(x)))
    if isinstance(x, RankTable):
        return x.indices.tolist(), x.lengths.tolist()
    return x.tolist() if isinstance(x, (LoDTensor, np.ndarray, np.generic, IndicesMap)) else x


def assert_close(got, want, exact, tolerance):
    """Compare nested lists of numbers: to the last bit, or about; nan equals nan."""
    assert type(got) is type(want) or not isinstance(got, (list, tuple)), (got, want)
    if isinstance(got, (list, tuple)):
        assert len(got) == len(want), (got, want)
        for one, other in zip(got, want, strict=True):
            assert_close(one, other, exact, tolerance)
    elif exact or isinstance(got, (bool, bytes, str)):
        assert got == want or (got != got and want != want), (got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def tolerance_of(result):
    """Tell how far a result may be from what is computed in Python's floats."""
    found = result if isinstance(result, tuple) else (result,)
    sizes = [x.dtype.itemsize for x in found if hasattr(x, "dtype") and np.dtype(x.dtype).kind == "f"]
    return {2: 2e-2, 4: 2e-5}.get(min(sizes, default=8), 1e-11)


def with_variables(call, replace):
    """Give the arguments of a call with something in place of each tensor."""

    def change(x):
        if isinstance(x, TENSORS):
            return replace(x)
        return [change(one) for one in x] if isinstance(x, list) and any(isinstance(o, TENSORS) for o in x) else x

    return [change(x) for x in call.args], {name: change(x) for name, x in call.kwargs.items()}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_eager_is_what_the_oracle_says(name, data):
    samples = SAMPLES[name]
    call = data.draw(samples.calls)
    wanted = samples.expected(OPS[name].bind(call.args, call.kwargs))
    result = OPS[name](*call.args, **call.kwargs)
    assert_close(numbers(result), wanted, samples.exact, tolerance_of(result))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_recorded_is_eager(name, data):
    call = data.draw(SAMPLES[name].calls)
    own, named = with_variables(call, lambda x: x.clone() if isinstance(x, TensorArray) else x)
    eager = OPS[name](*own, **named)
    tensors = []

    def collect(x):
        tensors.append(x)
        return len(tensors) - 1

    with_variables(call, collect)

    def run(*variables):
        rest = iter(variables)
        args, kwargs = with_variables(call, lambda x: next(rest))
        return OPS[name](*args, **kwargs)

    recorded, pullback = vjp(run, *tensors)
    assert bits(recorded) == bits(eager)
    if not tensors:
        return
    zeros = pullback(*([None] * len(eager) if isinstance(eager, tuple) else [None]))
    for x, gradient in zip(tensors, zeros, strict=True):
        assert_zeros(gradient, x)


def assert_zeros(gradient, x):
    """Make sure that a gradient is one of x, and zero."""
    if x is None or not differentiable(x):
        assert gradient is None
        return
    assert type(gradient) is type(x)
    if isinstance(x, TensorArray):
        assert gradient.size() == x.size()
        for one, element in zip(elements_of(gradient), elements_of(x), strict=True):
            assert_zeros(one, element)
    else:
        assert bits(gradient)[:-1] == bits(x)[:-1]
        assert not values_of(gradient).any()


def fits(spec, truth):
    """Tell whether a Spec that was inferred describes a result: None stands for any size, `object` for any kind."""
    return spec.kind is object or (
        spec.num_levels == truth.num_levels
        and spec.dtype == truth.dtype
        and spec.kind is truth.kind
        and len(spec.shape) == len(truth.shape)
        and all(a is None or b is None or a == b for a, b in zip(spec.shape, truth.shape, strict=True))
    )


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_infer_tells_the_truth(name, data):
    call = data.draw(SAMPLES[name].calls)
    arguments = OPS[name].bind(call.args, call.kwargs)
    for role in OPS[name].roles:
        given_tensor = OPS[name].constant(role, arguments[role])
        several = isinstance(given_tensor, list)
        every = given_tensor if several else [given_tensor]
        made = [spec_of(x) if isinstance(x, (*TENSORS, IndicesMap, RankTable, LoD)) else x for x in every]
        arguments[role] = made if several else made[0]
    inferred = OPS[name].infer_arguments(arguments)
    result = OPS[name](*call.args, **call.kwargs)
    several = isinstance(result, tuple)
    assert several == (not isinstance(inferred, Spec))
    for spec, one in zip(inferred if several else [inferred], result if several else [result], strict=True):
        assert fits(spec, spec_of(one)), f"{spec} for {spec_of(one)}"


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=25)
@given(data=st.data())
def test_gradients_are_slopes(name, data):
    call = data.draw(SAMPLES[name].smooth)
    floats = []

    def collect(x):
        for one in elements_of(x) if isinstance(x, TensorArray) else [x]:
            if one is not None and differentiable(one):
                floats.append(one)

    with_variables(call, collect)
    if not floats:
        return

    def run(*variables):
        rest = iter(variables)

        def replace(x):
            if isinstance(x, TensorArray):
                return of_elements([None if one is None else replace(one) for one in elements_of(x)])
            return next(rest) if differentiable(x) else x

        args, kwargs = with_variables(call, replace)
        return apart(OPS[name](*args, **kwargs))

    grad_check(run, *floats)
    outputs, pullback = vjp(run, *floats)
    ones = [np.ones_like(values_of(y)) if differentiable(y) else None for y in np_tuple(outputs)]
    narrow = [of_dtype(x, np.float32) for x in floats]
    _, narrow_pullback = vjp(run, *narrow)
    for wide, slim, x in zip(pullback(*ones), narrow_pullback(*ones), narrow, strict=True):
        assert dense(slim).dtype == np.float32
        np.testing.assert_allclose(dense(wide), dense(slim), rtol=2e-4, atol=2e-4)
        assert isinstance(x, LoDTensor) == isinstance(slim, LoDTensor)
        assert not isinstance(x, LoDTensor) or slim.lod is x.lod


def apart(result):
    """Give the elements in place of an array, of a result or of several: those that there are."""
    results = result if isinstance(result, tuple) else (result,)
    arrays = [x for x in results if isinstance(x, TensorArray) or spec_of_result(x).kind is TensorArray]
    if not arrays:
        return result
    known = [elements_of(x if isinstance(x, TensorArray) else x.get()) for x in arrays]
    return tuple(
        ops.tensor_array_read(x, at)
        for x, elements in zip(arrays, known, strict=True)
        for at, element in enumerate(elements)
        if element is not None
    )


def spec_of_result(x):
    return x.spec if isinstance(x, Variable) else spec_of(x)


def np_tuple(outputs):
    return outputs if isinstance(outputs, tuple) else (outputs,)


def dense(gradient):
    return values_of(gradient.to_dense() if hasattr(gradient, "to_dense") else gradient)


def of_dtype(x, dtype):
    return LoDTensor(x.values.astype(dtype), x.lod) if isinstance(x, LoDTensor) else x.astype(dtype)


@pytest.mark.parametrize("name", WITH_OUT)
@given(data=st.data())
def test_out_takes_the_same_bits(name, data):
    call = data.draw(SAMPLES[name].calls)
    result = OPS[name](*call.args, **call.kwargs)
    out = np.empty_like(rows_of_first(result))
    out.reshape(-1).view(np.uint8)[:] = 0xA5
    again = OPS[name](*call.args, **call.kwargs, out=out)
    assert bits(again) == bits(result)
    found = rows_of_first(again)
    assert found is out or found.base is out


def rows_of_first(result):
    """Return the array that a result, or the first of several, stands in."""
    first = result[0] if isinstance(result, tuple) else result
    return first.untouched_source.values if isinstance(first, TensorArray) else values_of(first)


@pytest.mark.parametrize(("name", "call", "error", "says"), ERRORS, ids=lambda x: x if isinstance(x, str) else "")
def test_wrong_calls(name, call, error, says):
    assert_refused(call, things(), error, says)


# -- every operator has all of its parts ---------------------------------------------------------------------------


@pytest.mark.not_on_reference
def test_nothing_is_sampled_that_is_no_operator():
    assert SAMPLES.keys() <= OPS.keys()
    assert ARGUMENTS.keys() <= OPS.keys()


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", sorted(OPS))
def test_every_operator_is_complete(name):
    assert missing(OPS[name]) == []


def missing(op):
    """List the parts that an operator lacks."""
    name, samples = op.__name__, SAMPLES.get(op.__name__)
    examples = [case for case in doctest.DocTestFinder().find(op.__wrapped__, name) if case.examples]
    smooth = samples is not None and samples.smooth is not None
    parts = {
        "a rule of shapes": op._infer is not None,
        "a gradient, or the word that there is none": op.gradient == op.differentiable,
        "a LoD rule": isinstance(op.lod_rule, LoDRule),
        "a docstring with an example that calls it": any(
            name in one.source for case in examples for one in case.examples
        ),
        "samples": samples is not None,
        "an oracle": samples is not None and callable(samples.expected),
        "samples at which its slope is measured, if it has a gradient": smooth == op.gradient,
        "wrong calls": samples is not None and bool(samples.errors),
        "a benchmark": name in ARGUMENTS,
    }
    return [part for part, there in parts.items() if not there]


@pytest.mark.not_on_reference
@pytest.mark.parametrize("part", ["infer", "vjp", "lod", "example", "samples", "smooth", "errors", "benchmark"])
def test_what_is_missing_is_found(part, monkeypatch):
    name = "sequence_pool"
    op = OPS[name]
    changed = {"smooth": None, "errors": []}
    if part in ("infer", "vjp"):
        monkeypatch.setattr(op, f"_{part}", None)
    elif part == "lod":
        monkeypatch.setattr(op, "lod_rule", None)
    elif part == "example":
        monkeypatch.setattr(op.__wrapped__, "__doc__", "Pool.")
    elif part == "benchmark":
        monkeypatch.delitem(ARGUMENTS, name)
    elif part == "samples":
        monkeypatch.delitem(SAMPLES, name)
    else:
        monkeypatch.setitem(SAMPLES, name, SAMPLES[name]._replace(**{part: changed[part]}))
    assert missing(op)
    monkeypatch.undo()
    assert missing(op) == []


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_what_is_timed_runs(name):
    OPS[name](*ARGUMENTS[name](), **KEYWORDS.get(name, {}))
