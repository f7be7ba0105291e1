"""Each check of an operator finds what it is for: rules of several results, gradients in every way, samples, bits."""

from types import SimpleNamespace

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, SparseTensor, Spec, TensorArray
from lodcore.graph import Program
from lodcore.ops import Dense, Nested, check_operator, operator
from lodcore.testing import check_gradients, check_rules, check_ways, rules, ways
from lodcore.testing.samples import Sample, bits, fresh, sample_of, tensors_of, with_tensors
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X, Y = lodcore.array([[1.0, 2.0], [], [3.0]]), lodcore.array([[1], [2, 3]])
F8 = np.dtype(float)


# -- every check is made ---------------------------------------------------------------------------------------------


def test_every_check_is_made_of_each_sample_and_of_empty_ones(monkeypatch):
    made = []
    module = lodcore.testing
    names = ["check_inputs", "check_ways", "check_infer", "check_lod", "check_zeros", "check_derivatives"]
    names += ["check_dropped", "check_each_alone", "check_gradient_ways"]
    for name in names:
        before = getattr(module, name)

        def noted(op, sample, *rest, name=name, before=before):
            made.append((name, sample.args[0].tolist()))
            return before(op, sample, *rest)

        monkeypatch.setattr(module, name, noted)
    check_operator(lodcore.tanh, [(X,), (lodcore.array([[4.0]]),)])
    for batch, zeros in ((X.tolist(), [[], [], []]), ([[4.0]], [[]])):
        for given in (batch, [], zeros):
            of_one = {name for name, x in made if x == given}
            assert of_one == ({*names} if given == batch else {"check_ways", "check_infer", "check_lod", "check_zeros"})


# -- rules -----------------------------------------------------------------------------------------------------------

SPEC = Spec((None, 2), F8, 1, LoDTensor)


@for_each(
    ("changed", "right"),
    [
        ({}, True),
        ({"shape": (5, 2)}, True),
        ({"shape": (None, None)}, True),
        ({"shape": (None, 3)}, False),
        ({"shape": (4, 2)}, False),
        ({"shape": (5,)}, False),
        ({"shape": (None, 2, 1)}, False),
        ({"dtype": np.dtype("f4")}, False),
        ({"dtype": np.dtype("i8")}, False),
        ({"num_levels": 2}, False),
        ({"num_levels": 0}, False),
        ({"kind": np.ndarray}, False),
        ({"kind": object, "num_levels": 3, "shape": ()}, True),
    ],
)
def test_fits_compares_a_spec_with_a_result(changed, right):
    assert rules.fits(SPEC._replace(**changed), Spec((5, 2), F8, 1, LoDTensor)) == right
    assert rules.fits(Spec((5, 2), F8, 1, LoDTensor), SPEC) == rules.fits(SPEC, SPEC) == True  # noqa: E712


def two_results(second, infer=None, **options):
    """Make an operator that doubles its rows, with a second result."""

    def doubled(x):
        return x.values * 2, second(x)

    op = operator(x=Nested, results=2, differentiable=False, **options)(doubled)
    op.define_infer(infer or (lambda x: (x, x)))
    return op


def regrouped(x):
    return LoDTensor(x.values * 3, LoD.from_lengths([x.num_rows]))


def test_rules_hold_for_the_second_result():
    check_operator(two_results(lambda x: x.values * 3), [(X,)])
    with pytest.raises(AssertionError, match=r"doubled: infer: .*says"):
        check_rules(two_results(lambda x: x.values.astype("f4")), sample_of((X,)))
    with pytest.raises(AssertionError, match=r"doubled: LoD rule: .*a different LoD"):
        check_rules(two_results(regrouped), sample_of((X,)))
    deeper = "none, and one level"
    op = two_results(lambda x: LoDTensor(x.values, x.lod.append(lengths=[1] * x.num_rows)), lod_rule=deeper)
    op.define_infer(lambda x: (Spec(x.shape, x.dtype), x))
    with pytest.raises(AssertionError, match=r"doubled: LoD rule: .*that is 1 level; the result has 2"):
        rules.check_lod(op, sample_of((X,)))


# -- gradients -------------------------------------------------------------------------------------------------------


def scaled(vjp, results=1):
    """Make an operator of rows and a number with another vjp rule."""

    def scaled(x, scale):
        return x.values * scale if results == 1 else (x.values * scale, x.values + scale)

    op = operator(x=Nested, scale=Dense, results=results)(scaled)
    op.define_infer(lambda x, scale: x if results == 1 else (x, x))
    return op.define_vjp(vjp) and op


def total(d):
    return np.float64(0.0) if d is None else d.sum()


def of_both(d, e, x, scale):
    rows = np.zeros_like(x.values)
    return rows + (0 if d is None else d * scale) + (0 if e is None else e), total(
        None if d is None else d * x.values
    ) + total(e)


def only_together(d, e, x, scale):
    return of_both(d, e, x, scale) if d is not None and e is not None else of_both(d, e, x, 2 * scale)


def only_when_both_are_needed(d, x, scale, needs):
    return d * scale * (1 if all(needs) else 2), (d * x.values).sum()


SAMPLE = sample_of((X, np.array(2.0)))


def test_gradients_with_one_result_and_of_one_input_at_a_time():
    check_gradients(scaled(of_both, 2), SAMPLE)
    check_gradients(scaled(lambda d, x, scale: (d * scale, (d * x.values).sum())), SAMPLE)
    with pytest.raises(AssertionError, match=r"vjp rule: .*the gradient that alone is needed: is"):
        rules.check_each_alone(scaled(only_when_both_are_needed), SAMPLE)
    with pytest.raises(AssertionError, match=r"vjp rule: .*the sum of the gradients through one result each: is"):
        rules.check_each_alone(scaled(lambda d, e, x, scale: only_together(d, e, x, scale), 2), SAMPLE)


@for_each(
    ("at", "factor", "says"),
    [
        (2, 1e-14, "in a Program: "),
        (2, 0.1, "in a Program: "),
        (3, 0.1, "in the body of a loop: "),
        (3, 1e-14, None),
        (2, 0.0, None),
    ],
)
def test_gradients_in_a_program_are_exact_and_in_a_loop_close(at, factor, says):
    for results in (1, 2):
        calls = []

        def changing(d, *rest, calls=calls, results=results):
            calls.append(d)
            x, scale = rest[-2:]
            wrong = 1 + factor * (len(calls) == at)
            if results == 1:
                return d * scale * wrong, (d * x.values).sum()
            return d * scale + rest[0] * wrong, (d * x.values).sum() + rest[0].sum()

        rule = (
            (lambda d, x, scale: changing(d, x, scale))
            if results == 1
            else (lambda d, e, x, scale: changing(d, e, x, scale))
        )
        op = scaled(rule, results)
        if says is None:
            rules.check_gradient_ways(op, SAMPLE)
        else:
            with pytest.raises(AssertionError, match=f"^scaled: {says}"):
                rules.check_gradient_ways(op, SAMPLE)
        assert len(calls) == 3


def test_gradients_that_are_nan_in_every_way_agree():
    op = scaled(lambda d, x, scale: (d * scale * np.nan, (d * x.values).sum()), 1)
    rules.check_gradient_ways(op, SAMPLE)


@for_each("name", ["x", "scale", "out"])
def test_values_that_a_rule_reads_but_does_not_name(name):
    reads = {
        "x": lambda d, scale, context: (d * scale, (d * context.x.values).sum()),
        "scale": lambda d, x, context: (d * context.scale, (d * x.values).sum()),
        "out": lambda d, scale, context: (d * scale, (d * context.out.values / scale).sum()),
    }
    with pytest.raises(AssertionError, match=r"vjp rule: .*does not name"):
        rules.check_dropped(scaled(reads[name]), SAMPLE)


@for_each(
    ("changed", "says"),
    [
        (lambda d: d, None),
        (lambda d: d.astype(float), "of float32 the gradient is LoDTensor"),
        (lambda d: d.astype("f2"), "of float32 the gradient is LoDTensor"),
        (lambda d: d.values, "of float32 the gradient is array"),
        (lambda d: LoDTensor(d.values, LoD.from_lengths([1, 2])), "the gradient has a different LoD"),
        (lambda d: d * np.float32(1.01), "of float32 the gradient is .*; of float64 "),
    ],
)
def test_check_derivatives_refuses_gradients_of_float32_that_are_unlike_their_input_or_float64(
    changed, says, monkeypatch
):
    def with_another(function, *inputs):
        outputs, pullback = lodcore.vjp(function, *inputs)

        def back(*cotangents):
            d, *rest = pullback(*cotangents)
            return changed(d) if d.dtype == np.float32 else d, *rest

        return outputs, back

    monkeypatch.setattr(rules, "vjp", with_another)
    op = scaled(lambda d, x, scale: (d * scale, (d * x.values).sum()))
    if says is None:
        rules.check_derivatives(op, SAMPLE)
    else:
        with pytest.raises(AssertionError, match=f"scaled: vjp rule: .*{says}"):
            rules.check_derivatives(op, SAMPLE)


def test_rules_widened_makes_float64_of_real_numbers_only():
    narrow = sample_of((lodcore.array([[1.5]], "f4"), np.array(2.0, "f4")))
    assert [x.dtype for x in tensors_of(rules.widened(narrow))] == [F8, F8]
    for args in ((X, np.array(1j)), (X.astype(complex), np.array(1.0)), (lodcore.array([[1]]), 2.0)):
        assert rules.widened(sample_of(args)) is None


@for_each(
    ("gradient", "right"),
    [
        (LoDTensor(np.zeros(3), X.lod), True),
        (None, False),
        (np.zeros(3), False),
        (LoDTensor(np.array([0.0, 0.0, 1e-300]), X.lod), False),
        (LoDTensor(np.zeros(3, "f4"), X.lod), False),
        (LoDTensor(np.zeros(3), LoD.from_lengths([1, 2])), False),
    ],
)
def test_check_zeros_refuses_gradients_other_than_zeros_of_the_right_structure(gradient, right, monkeypatch):
    monkeypatch.setattr(ways, "vjp", lambda function, *inputs: (X, lambda d: (gradient,)))
    if right:
        ways.check_zeros(lodcore.tanh, sample_of((X,)))
    else:
        with pytest.raises(AssertionError, match=r"tanh: under vjp: .*where nothing flows"):
            ways.check_zeros(lodcore.tanh, sample_of((X,)))
    monkeypatch.setattr(ways, "vjp", lambda function, *inputs: (X, lambda d: (gradient,)))
    whole = lodcore.array([[1, 2], [], [3]])
    if gradient is not None:
        with pytest.raises(AssertionError, match="where nothing flows"):
            ways.check_zeros(lodcore.tanh, sample_of((whole,)))


# -- samples and ways ------------------------------------------------------------------------------------------------


def array_of(*elements):
    array = TensorArray()
    for at, element in enumerate(elements):
        array[at] = element
    return array


@for_each(
    ("one", "other"),
    [
        (X, LoDTensor(X.values, LoD.from_lengths([1, 2]))),
        (X, LoDTensor(X.values, LoD.from_lengths([2, 1]))),
        (X, X * 2),
        (np.zeros(2, "f4"), np.zeros(2, "i4")),
        (np.zeros(2, "i8"), np.zeros(2, "u8")),
        (np.zeros(2, "f8"), np.zeros(4, "f4")),
        (np.zeros((2, 1)), np.zeros((1, 2))),
        (np.array(0.0), np.array(-0.0)),
        (array_of(1.0, 2.0), array_of(1.0, 3.0)),
        (array_of(1.0), array_of(1.0, 3.0)),
        (lodcore.RankTable([0, 1], [2, 1]), lodcore.RankTable([0, 1], [2, 0])),
        (lodcore.RankTable([0, 1], [1, 1]), lodcore.RankTable([1, 0], [1, 1])),
        (lodcore.RankTable([0, 1], [2, 1]).indices_map, lodcore.RankTable([1, 0], [2, 1]).indices_map),
        (TensorArray.unpack(Y, 0)[1], TensorArray.unpack(Y, 0, sort_by_length=False)[1]),
        (SparseTensor([0], [1.0], 2), SparseTensor([0], [1.0], 3)),
        (SparseTensor([0], [1.0], 2), SparseTensor([1], [1.0], 2)),
        ((1, 2), (1, 3)),
    ],
)
def test_bits_differ_where_values_do(one, other):
    assert bits(one) != bits(other)
    assert bits([one, X]) != bits([other, X])
    assert bits(one) == bits(one)
    assert bits((X, one)) == bits((X.copy(), one))


def test_tensors_are_found_at_every_place_of_a_call():
    y, z = X * 2, np.array([1.0])
    sample = sample_of(SimpleNamespace(args=(X, [y, 3], [4]), kwargs={"z": z, "w": [X], "v": "a"}))
    assert [id(x) for x in tensors_of(sample)] == [id(X), id(y), id(z), id(X)]
    changed = with_tensors(sample, lambda x: 0)
    assert changed == Sample((0, [0, 3], [4]), {"z": 0, "w": [0], "v": "a"})
    array = array_of(1.0)
    assert fresh(Sample((array, X), {})).args[0] is not array
    assert fresh(Sample((array, X), {})).args[1] is X
    assert sample_of(lambda: SimpleNamespace(args=[X], kwargs={"a": 1})) == Sample((X,), {"a": 1})


def test_an_array_that_is_written_to_is_the_result():
    array = array_of(1.0)

    class Writes:
        parameters, roles, writes = ("ta",), {"ta": Dense}, "ta"

        def __get__(self, instance, owner):
            return lambda: "another result"

    assert ways.as_a_method(Writes(), Sample((array,), {})) is array


def test_the_text_of_a_program_names_the_operator(monkeypatch):
    monkeypatch.setattr(Program, "__str__", lambda self: "program")
    with pytest.raises(AssertionError, match=r"sequence_reverse: in a Program: .*does not name sequence_reverse"):
        check_ways(lodcore.sequence_reverse, sample_of((X,)), {"in a Program": ways.IN_PROGRAMS["in a Program"]})


def test_a_row_that_is_not_written_is_found_though_it_is_zero():
    def zeroed(x, out=None):
        factors = np.array([2.0, 2.0, 0.0])[: x.num_rows]
        if out is None:
            return x.values * factors
        np.multiply(x.values[:2], factors[:2], out=out[:2])
        return out

    op = operator(x=Nested, differentiable=False)(zeroed)
    op.define_infer(lambda x: x)
    with pytest.raises(AssertionError, match=r"zeroed: into out: .*computed at once it returned"):
        check_ways(op, sample_of((X,)))


def test_a_body_runs_twice():
    calls = []

    def counted(x):
        calls.append(x)
        return x.values * 1.0

    op = operator(x=Nested, differentiable=False)(counted)
    op.define_infer(lambda x: x)
    ways.IN_PROGRAMS["in the body of a loop"](op, sample_of((X,)))
    assert len(calls) == 3  # once for the kinds of the results


def test_arguments_that_are_changed_before_an_error():
    def spoiled(x, y):
        y[0] += 1
        raise ValueError("spoiled: never works")

    op = operator(x=Nested, differentiable=False)(spoiled)
    op.define_infer(lambda x, y: x)
    with pytest.raises(AssertionError, match=r"spoiled: computed at once: .*changed its arguments"):
        ways.check_inputs(op, sample_of((X, np.zeros(2))))


def test_batches_of_several_structures_or_with_an_index_may_refuse_the_empty():
    def joined(x, y):
        if not x.num_rows:
            raise ValueError("joined: x: has no rows")
        return x.values * y.values.sum()

    op = operator(x=Nested, y=Nested, differentiable=False)(joined)
    op.define_infer(lambda x, y: x)
    check_operator(op, [(X, lodcore.array([[1.0], [2.0]]))])
    with pytest.raises(AssertionError, match=r"joined: computed at once: .*raised ValueError"):
        check_operator(op, [(X, X)])
    check_operator(lodcore.ops.pick_along, [(lodcore.array([[1.0, 2.0], [3.0]]), 0, 1)])


def test_errors_have_one_text_in_every_way():
    def picky(x, scale):
        raise ValueError("picky: scale: is negative")

    op = operator(x=Nested, differentiable=False)(picky)

    @op.define_infer
    def _(x, scale):
        raise ValueError("picky: scale: is below 0")

    with pytest.raises(AssertionError, match=r"picky: .*is below 0; computed at once it raised .*is negative"):
        check_ways(op, sample_of((X, -1.0)))
    op.define_infer(picky)
    assert check_ways(op, sample_of((X, -1.0)))
