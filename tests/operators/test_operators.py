"""Properties of every operator: eager results are those of the oracle, recorded ones are equal, rules are correct."""

import contextlib
import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_benchmarks.benchmarks.operators import call_in_example
from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, Program, ShapeError, SparseTensor, testing, vjp
from lodcore.operators.lod_rules import LoDRule
from lodcore.operators.registry import OPS
from lodcore.operators.roles import LISTS, Element, spec_of
from lodcore.tensors.tensor import Spec
from lodcore.testing import rules, ways
from lodcore.testing.samples import bits, several
from tests.helpers.agree import assert_close, numbers, tolerance_of
from tests.helpers.draw import at_most
from tests.helpers.specs import without_sizes
from tests.helpers.tables import for_each
from tests.helpers.wrong_calls import assert_all_refused
from tests.samples import SAMPLES

NAMES = sorted(SAMPLES)
SMOOTH = sorted(name for name, samples in SAMPLES.items() if samples.smooth is not None)


def may_refuse_empty(name, call):
    """Return whether a call may raise an error for empty sequences, or none."""
    if name == "sequence_scatter":
        return isinstance(call.args[0], LoDTensor)  # its lines are dropped, and their sequences of ids are not
    return name == "refuse_empty" or (name == "reduce_values" and call.args[1] in {"max", "min", "argmax", "argmin"})


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_results_equal_the_oracle(name, data):
    samples = SAMPLES[name]
    call = data.draw(samples.calls)
    wanted = samples.expected(OPS[name].bind(call.args, call.kwargs))
    result = OPS[name](*call.args, **call.kwargs)
    assert_close(numbers(result), wanted, samples.exact, tolerance_of(result))


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_spec_and_lod_rules_hold_and_all_ways_agree(name, data):
    op, call = OPS[name], data.draw(SAMPLES[name].calls)
    rules.check_infer(op, call)
    rules.check_lod(op, call)
    assert not ways.check_ways(op, call, ways.AT_ONCE)
    ways.check_inputs(op, call)
    ways.check_zeros(op, call)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", NAMES)
@at_most(2)
@given(data=st.data())
def test_arguments_given_twice_or_by_an_unknown_name_raise(name, data):
    """Neither by position and name, nor by two names, at once as in a Program."""
    op, call = OPS[name], data.draw(SAMPLES[name].calls)
    given_ = dict(zip(op.parameters, call.args, strict=False))
    wrong = [(call.args, {**call.kwargs, one: x}) for one, x in given_.items()]
    wrong += [(call.args, {**call.kwargs, "no_such_name": 1})]
    for other, one in (op.other_names or {}).items():
        if one in given_:
            count = [*given_].index(one)
            named = {key: given_[key] for key in [*given_][count:]}
            wrong += [(call.args, {other: given_[one]}), (call.args[:count], {**named, other: given_[one]})]
            wrong += [(call.args[:count], {other: given_[one], **named})]
    for args, kwargs in wrong:
        for place in (contextlib.nullcontext(), Program()):
            with pytest.raises(TypeError, match=r"multiple values for argument|unexpected keyword argument"), place:
                op(*args, **kwargs)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", NAMES)
@at_most(6)
@given(data=st.data())
def test_sizes_may_be_unknown_when_recorded(name, data):
    """A Spec without the number of rows, the sizes of a row, or both is accepted, and that of the result fits.

    Sizes of 1 are kept: a column of numbers must not become rows of several.
    """
    op, call = OPS[name], data.draw(SAMPLES[name].calls)
    results = several(op(*call.args, **call.kwargs))
    for axes in (range(9), range(1), range(1, 9)):
        described = rules.described(op, call)[0]
        blurred = without_sizes(described, lambda _, axis, size, axes=axes: axis in axes and size != 1)
        for spec, result in zip(several(op.infer_arguments(blurred)), results, strict=True):
            assert rules.fits(spec, spec_of(result)), (blurred, spec, result)
    known = {parameter: with_rows(given, operand) for (parameter, given), operand in zip(*both(op, call), strict=True)}
    for spec, result in zip(several(op.infer_arguments(known)), results, strict=True):
        assert rules.fits(spec, with_rows(spec_of(result), result)), (known, spec, result)


def both(op, call):
    """Return the described and the given arguments of a call."""
    return rules.described(op, call)[0].items(), op.bind(call.args, call.kwargs).values()


def with_rows(given, operand):
    """Replace the number of rows of a LoDTensor, which a Spec may state, in a Spec or in a list of them."""
    if isinstance(given, list):
        return [with_rows(*pair) for pair in zip(given, operand, strict=True)]
    nested = isinstance(given, Spec) and isinstance(operand, LoDTensor)
    return given._replace(shape=operand.values.shape) if nested else given


@pytest.mark.twins
@pytest.mark.parametrize("name", NAMES)
@at_most(8)
@given(data=st.data())
def test_batches_may_be_empty(name, data):
    call = data.draw(SAMPLES[name].calls)
    testing.check_empty(OPS[name], call, may_refuse_empty(name, call))


@pytest.mark.twins
@pytest.mark.parametrize("name", SMOOTH)
@at_most(20)
@given(data=st.data())
def test_gradients_are_derivatives(name, data):
    call = data.draw(SAMPLES[name].smooth.map(rules.widened).filter(bool))
    rules.check_derivatives(OPS[name], call)
    rules.check_dropped(OPS[name], call)
    rules.check_each_alone(OPS[name], call)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", sorted({*SMOOTH} - {"dropout"}))  # the small call of dropout draws other numbers
def test_small_calls_in_other_dtypes(name):
    """Results and gradients are close to those of the same numbers in float64, where the operator has the dtype."""
    sample = rules.widened(SAMPLES[name].small())
    if sample is not None:
        check_other_dtypes(OPS[name], sample)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", SMOOTH)
@at_most(8)
@given(data=st.data())
def test_results_and_gradients_in_other_dtypes(name, data):
    check_other_dtypes(OPS[name], data.draw(SAMPLES[name].smooth.map(rules.widened).filter(bool)))


def check_other_dtypes(op, sample):
    half = rules.of_dtype(sample, np.float16)
    wanted = results_and_gradients(op, rules.of_dtype(half, np.float64))
    for dtype, tolerance in ((np.float16, 0.01), (np.complex64, 1e-3), (np.complex128, 1e-7)):
        try:
            found = results_and_gradients(op, rules.of_dtype(half, dtype))
        except (DTypeError, Warning):  # imaginary parts are not dropped
            continue
        for one, other in zip(found, wanted, strict=True):
            greatest = abs(other[np.isfinite(other)]).max(initial=0.0)
            if dtype is np.float16 and greatest > 1e3:  # float16 may not hold numbers of the computation
                continue
            near = tolerance * max(1.0, greatest)
            assert np.allclose(one, other, tolerance, near, equal_nan=True), (op, half, dtype, one, other)


#: Operators that copy numbers, or need equal dtypes.
COPYING = {
    *(
        "cartesian",
        "checked",
        "concat_batches",
        "last_of_steps",
        "merge_by_mask",
        "sequence_concat",
        "spread",
    ),
    *("sequence_expand", "sequence_expand_as", "sequence_pad", "sequence_pool", "tensor_array_fill", "with_values"),
    *("tensor_array_read", "tensor_array_write", "beam_search"),
}
COMPUTING = [
    name
    for name in SMOOTH
    if name not in COPYING and (len(OPS[name].roles) > 1 or any(role in LISTS for role in OPS[name].roles.values()))
]


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", COMPUTING)
@at_most(5)
@given(data=st.data())
def test_one_wide_operand_makes_a_wide_result(name, data):
    """If one operand is float64, so is the result, with all digits; each gradient has the dtype of its operand."""
    op = OPS[name]
    narrow = rules.of_dtype(data.draw(SAMPLES[name].smooth.map(rules.widened).filter(bool)), np.float32)
    floats = rules.floats_of(narrow)
    wanted = results_of(op, rules.of_dtype(narrow, np.float64))
    for at in range(len(floats)):
        xs = [rules.cast_to(x, np.float64 if at == j else np.float32) for j, x in enumerate(floats)]
        mixed = rules.with_floats(narrow, iter(xs))
        for one, other in zip(results_of(op, mixed), wanted, strict=True):
            assert one.dtype == other.dtype, (op, mixed)
            assert np.allclose(one, other, 1e-9, 1e-9, equal_nan=True), (op, mixed)
        for one, x in zip(gradients_of(op, mixed), xs, strict=True):
            assert one.dtype == x.dtype, (op, mixed)


SEVERAL = [
    name
    for name in SMOOTH
    if len(OPS[name].roles) > 1 or OPS[name].results != 1 or any(role in LISTS for role in OPS[name].roles.values())
]


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", SEVERAL)
@at_most(5)
@given(data=st.data())
def test_gradients_asked_for_alone_equal_those_asked_for_together(name, data):
    """If it is the only one, the same bits; and those for single cotangents add up to that for all."""
    sample = data.draw(SAMPLES[name].smooth.map(rules.widened).filter(bool))
    for alone, together in rules.gradients_alone(OPS[name], sample):
        np.testing.assert_array_equal(alone, together)
    for total, together in rules.sums_over_results(OPS[name], sample):
        np.testing.assert_allclose(total, together, rtol=1e-9, atol=1e-9)


def results_of(op, sample):
    """Return the numbers of the results of a call, as arrays."""
    found = rules.function_of(op, sample)(*rules.floats_of(sample))
    return [rules.values_of(one) for one in several(found)]


def results_and_gradients(op, sample):
    gradients, (dtype, *_) = gradients_of(op, sample), [x.dtype for x in rules.floats_of(sample)]
    assert all(one.dtype == dtype for one in gradients), (op, sample)
    return [*results_of(op, sample), *gradients]


def gradients_of(op, sample):
    """Return the gradients of the tensors of a call, as arrays."""
    outputs, pullback = vjp(rules.function_of(op, sample), *rules.floats_of(sample))
    return [rules.dense(one) for one in pullback(*rules.cotangents_of(outputs))]


@pytest.mark.twins
@for_each("name", NAMES)
def test_wrong_calls(name):
    assert_all_refused(SAMPLES[name].errors)


@pytest.mark.not_on_reference
@for_each("name", NAMES)
def test_objects_and_masked_arrays_are_refused(name):
    """No operand may be an array of Python objects, hide entries, or be sparse."""
    small, sparse = SAMPLES[name].small(), SparseTensor([0], [[1.0]], 3)
    arguments, specs = OPS[name].bind(small.args, small.kwargs), rules.described(OPS[name], small)[0]
    for parameter, operand in arguments.items():
        if isinstance(operand, (np.ndarray, LoDTensor)):
            values = np.asarray(getattr(operand, "values", operand))
            for wrong in (values.astype(object), np.ma.array(values)):
                with pytest.raises((DTypeError, LoDError, ShapeError), match=name):
                    OPS[name](**{**arguments, parameter: wrong})
            if OPS[name].roles[parameter] is Element:  # it may be sparse
                continue
            with pytest.raises(DTypeError, match=rf"{name}: .*SparseTensor; .*to_dense\(\)"):
                OPS[name](**{**arguments, parameter: sparse})
            with pytest.raises(DTypeError, match=rf"{name}: .*SparseTensor; .*to_dense\(\)"):
                OPS[name].infer_arguments({**specs, parameter: spec_of(sparse)})


@pytest.mark.not_on_reference
@for_each("name", sorted(set(NAMES) - {"dropout", "tensor_array_write"}))
def test_a_tensor_without_levels_counts_as_an_array(name):
    """Except for a dropout, which draws other numbers, and a write, which keeps the tensor itself."""
    op, small = OPS[name], SAMPLES[name].small()
    arguments = {
        parameter: np.array(operand.values) if isinstance(operand, LoDTensor) else operand
        for parameter, operand in op.bind(small.args, small.kwargs).items()
    }
    try:
        wanted = bits(op(**arguments))
    except (DTypeError, LevelError, LoDError, ShapeError):  # needs levels
        return
    for parameter, values in arguments.items():
        if isinstance(values, np.ndarray) and values.ndim and parameter not in ("table", "mask"):  # no LoDTensor at all
            flat = LoDTensor(values, LoD.from_offsets(num_rows=len(values)))
            assert bits(op(**{**arguments, parameter: flat})) == wanted, parameter


# -- every operator has all of its parts ---------------------------------------------------------------------------


@pytest.mark.not_on_reference
def test_samples_name_operators_only():
    assert SAMPLES.keys() <= OPS.keys()


@pytest.mark.not_on_reference
@for_each("name", sorted(OPS))
def test_every_operator_is_complete(name):
    assert missing(OPS[name]) == []


def missing(op):
    """List the missing parts of an operator."""
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
        "samples at which its derivative is measured, if it has a gradient": smooth == op.gradient,
        "wrong calls": samples is not None and bool(samples.errors),
        "a small call that is timed": samples is not None and samples.small is not None,
    }
    return [part for part, there in parts.items() if not there]


@pytest.mark.not_on_reference
@pytest.mark.parametrize("part", ["infer", "vjp", "lod", "example", "samples", "smooth", "errors", "small"])
def test_operator_without_a_part_is_found_incomplete(part, monkeypatch):
    name = "sequence_pool"
    op = OPS[name]
    changed = {"smooth": None, "errors": [], "small": None}
    if part in ("infer", "vjp"):
        monkeypatch.setattr(op, {"infer": "_infer", "vjp": "only_rule"}[part], None)
    elif part == "lod":
        monkeypatch.setattr(op, "lod_rule", None)
    elif part == "example":
        monkeypatch.setattr(op.__wrapped__, "__doc__", "Pool.")
    elif part == "samples":
        monkeypatch.delitem(SAMPLES, name)
    else:
        monkeypatch.setitem(SAMPLES, name, SAMPLES[name]._replace(**{part: changed[part]}))
    assert missing(op)
    monkeypatch.undo()
    assert missing(op) == []


@pytest.mark.not_on_reference
@for_each("name", sorted(set(NAMES) - {"stop_gradient"}))  # which stands in a function in its example
def test_the_call_in_the_example_of_an_operator_can_be_timed(name):
    args, kwargs = call_in_example(OPS[name])
    OPS[name](*args, **kwargs)


@pytest.mark.not_on_reference
@for_each("name", NAMES)
def test_small_calls_of_benchmarks_run(name):
    small = SAMPLES[name].small()
    OPS[name](*small.args, **small.kwargs)
