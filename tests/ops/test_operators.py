"""Properties of every operator: eager results are those of the oracle, recorded ones are equal, rules are correct."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError, SparseTensor, testing
from lodcore.ops.lod_rules import LoDRule
from lodcore.ops.registry import OPS
from lodcore.ops.roles import spec_of
from lodcore.tensors.tensor import Spec
from lodcore.testing import rules, ways
from lodcore.testing.samples import bits, several
from tests.helpers.agree import assert_close, numbers, tolerance_of
from tests.helpers.wrong_calls import assert_all_refused
from tests.samples import SAMPLES

NAMES = sorted(SAMPLES)
SMOOTH = sorted(name for name, samples in SAMPLES.items() if samples.smooth is not None)
#: Operators that may raise if there are no rows.
REFUSES_EMPTY = {"refuse_empty"}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_eager_is_what_the_oracle_says(name, data):
    samples = SAMPLES[name]
    call = data.draw(samples.calls)
    wanted = samples.expected(OPS[name].bind(call.args, call.kwargs))
    result = OPS[name](*call.args, **call.kwargs)
    assert_close(numbers(result), wanted, samples.exact, tolerance_of(result))


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_rules_and_ways_tell_the_truth(name, data):
    op, call = OPS[name], data.draw(SAMPLES[name].calls)
    rules.check_infer(op, call)
    rules.check_lod(op, call)
    assert not ways.check_ways(op, call, ways.AT_ONCE)
    ways.check_inputs(op, call)
    ways.check_zeros(op, call)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=6)
@given(data=st.data())
def test_sizes_may_be_unknown_when_recorded(name, data):
    """A Spec without the number of rows, the sizes of a row, or both is accepted, and that of the result fits.

    Sizes of 1 are kept: what is then a column of numbers would be rows of several.
    """
    op, call = OPS[name], data.draw(SAMPLES[name].calls)
    results = several(op(*call.args, **call.kwargs))
    for unknown in (slice(None), slice(1), slice(1, None)):
        described = rules.described(op, call)[0]
        blurred = {parameter: without_sizes(given, unknown) for parameter, given in described.items()}
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


def without_sizes(given, unknown):
    """Replace sizes in a Spec, or in a list of them, by None."""
    if isinstance(given, list):
        return [without_sizes(one, unknown) for one in given]
    if not isinstance(given, Spec):
        return given
    shape = list(given.shape)
    shape[unknown] = [1 if size == 1 else None for size in shape[unknown]]
    return given._replace(shape=tuple(shape))


@pytest.mark.twins
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8)
@given(data=st.data())
def test_batches_may_be_empty(name, data):
    testing.check_empty(OPS[name], data.draw(SAMPLES[name].calls), name in REFUSES_EMPTY)


@pytest.mark.twins
@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=20)
@given(data=st.data())
def test_gradients_are_derivatives(name, data):
    call = data.draw(SAMPLES[name].smooth.map(rules.widened).filter(bool))
    rules.check_derivatives(OPS[name], call)
    rules.check_dropped(OPS[name], call)
    rules.check_each_alone(OPS[name], call)


@pytest.mark.twins
@pytest.mark.parametrize("name", NAMES)
def test_wrong_calls(name):
    assert_all_refused(SAMPLES[name].errors)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", NAMES)
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
            with pytest.raises(DTypeError, match=rf"{name}: .*SparseTensor; .*to_dense\(\)"):
                OPS[name](**{**arguments, parameter: sparse})
            with pytest.raises(DTypeError, match=rf"{name}: .*SparseTensor; .*to_dense\(\)"):
                OPS[name].infer_arguments({**specs, parameter: spec_of(sparse)})


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", sorted(set(NAMES) - {"dropout", "tensor_array_write"}))
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
def test_nothing_is_sampled_that_is_no_operator():
    assert SAMPLES.keys() <= OPS.keys()


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", sorted(OPS))
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
def test_what_is_missing_is_found(part, monkeypatch):
    name = "sequence_pool"
    op = OPS[name]
    changed = {"smooth": None, "errors": [], "small": None}
    if part in ("infer", "vjp"):
        monkeypatch.setattr(op, f"_{part}", None)
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
@pytest.mark.parametrize("name", NAMES)
def test_what_is_timed_runs(name):
    small = SAMPLES[name].small()
    OPS[name](*small.args, **small.kwargs)
