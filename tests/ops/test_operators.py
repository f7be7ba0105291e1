"""What holds for every operator: eager is what the oracle says, recorded is eager, rules tell the truth."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asv_benchmarks.benchmarks.operators import ARGUMENTS, KEYWORDS
from lodcore import IndicesMap, LoDTensor, RankTable, TensorArray, testing
from lodcore.ops.lod_rules import LoDRule
from lodcore.ops.registry import OPS
from lodcore.testing import rules, ways
from lodcore.testing.samples import elements_of
from tests.helpers.wrong_calls import things
from tests.samples import SAMPLES
from tests.test_errors import assert_refused

NAMES = sorted(SAMPLES)
SMOOTH = sorted(name for name, samples in SAMPLES.items() if samples.smooth is not None)
ERRORS = [(name, *row) for name in NAMES for row in SAMPLES[name].errors]
#: Operators that may raise where there are no rows.
REFUSES_EMPTY = {"refuse_empty"}


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
def test_every_way_gives_what_the_call_gives(name, data):
    call = data.draw(SAMPLES[name].calls)
    assert not ways.check_ways(OPS[name], call, ways.AT_ONCE)
    ways.check_inputs(OPS[name], call)
    ways.check_zeros(OPS[name], call)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_infer_tells_the_truth(name, data):
    rules.check_infer(OPS[name], data.draw(SAMPLES[name].calls))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_lod_rules_tell_the_truth(name, data):
    rules.check_lod(OPS[name], data.draw(SAMPLES[name].calls))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10)
@given(data=st.data())
def test_batches_may_be_empty(name, data):
    testing.check_empty(OPS[name], data.draw(SAMPLES[name].calls), name in REFUSES_EMPTY)


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=25)
@given(data=st.data())
def test_gradients_are_slopes(name, data):
    call = data.draw(SAMPLES[name].smooth.map(rules.widened).filter(bool))
    rules.check_slopes(OPS[name], call)
    rules.check_dropped(OPS[name], call)


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
