"""The page on writing an operator runs as it is, outside of the package; and incorrect operators are found."""

import copy
import importlib.util
import inspect
from types import SimpleNamespace

import numpy as np
import pytest

import lodcore
from lodcore.operators.registry import OPS
from lodcore.ops import (
    Dense,
    Nested,
    Spec,
    before,
    check_operator,
    elementwise_operator,
    first_levels,
    no_lod,
    operator,
    outer,
    same_as,
)
from lodcore.testing.samples import Sample
from lodcore.testing.ways import ABSENT, AT_ONCE, IN_PROGRAMS, as_a_method, into_out, of_lists, under_vjp
from tests.helpers.pages import code_of
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

CODE = code_of("docs/write-an-operator.md")
X = lodcore.array([[1.0, 2.0], [], [3.0]])


@pytest.fixture(params=["", "from __future__ import annotations\n"], ids=["annotations", "postponed annotations"])
def page(request, tmp_path):
    """Load all code of the page as a module outside of the package."""
    path = tmp_path / "of_ones_own.py"
    path.write_text(request.param + "\n\n".join(CODE), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("of_ones_own", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_runs_and_all_of_its_operators_are_right(page):
    x = lodcore.array([[0.5, 2.0], [], [3.0]])
    check_operator(page.scaled, [(x, np.array(2.0)), (x, 3.0), (lodcore.array([[], []]), np.array(0.5))])
    check_operator(page.clipped, [(x, 2.5)])
    check_operator(page.smooth_maximum, [(x, 1.0), (x, x), (np.array([1.0, 2.0]), np.array([[0.5], [3.0]]))])


def test_values_on_the_page_are_true(page):
    assert page.scaled(X, 2.0).tolist() == [[2.0, 4.0], [], [6.0]]
    assert page.scaled(X, 2.0).lod is X.lod
    assert page.scaled([[1.0, 2.0], [], [3.0]], 2.0).tolist() == [[2.0, 4.0], [], [6.0]]
    assert page.value == 12.0
    gradient, of_scale = page.pullback(1.0)
    assert gradient.tolist() == [[2.0, 2.0], [], [2.0]]
    assert of_scale == 6.0
    assert page.scaled.infer(Spec((None,), np.dtype(float), 1), 2.0).num_levels == 1
    assert "scaled" not in OPS


def test_annotations_are_types(tmp_path):
    path = tmp_path / "annotated.py"
    path.write_text(
        "import numpy as np\n"
        "from lodcore import LoDTensor\n"
        "from lodcore.ops import Nested, operator\n\n\n"
        "@operator(x=Nested)\n"
        "def halved(x: LoDTensor, times: int = 1) -> np.ndarray:\n"
        "    return x.values * 0.5**times\n\n\n"
        "@halved.define_infer\n"
        "def _(x, times):\n"
        "    return x\n\n\n"
        "@halved.define_vjp\n"
        "def _(d, times):\n"
        "    return d * 0.5**times\n",
        encoding="utf-8",
    )
    spec = importlib.util.spec_from_file_location("annotated", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check_operator(module.halved, [(X,), (X, 2)])


# -- samples -----------------------------------------------------------------------------------------------------------


class Call:
    """An object with `args` and `kwargs`."""

    args, kwargs = (X,), {}


@pytest.mark.parametrize("sample", [(X,), Call(), lambda: (X,), lambda: Call()])
def test_check_operator_takes_samples_in_every_form(sample):
    check_operator(lodcore.tanh, [sample])


def test_wrong_calls_are_samples():
    check_operator(lodcore.sequence_pool, [(X, "sum"), (X, "sum", 0.0, 3), (X, "middle"), (np.ones(3), "sum")])


def test_calls_of_check_operator_that_are_wrong():
    with pytest.raises(TypeError, match="op: is <function"):
        check_operator(lambda x: x, [(X,)])
    with pytest.raises(ValueError, match="samples: there are none"):
        check_operator(lodcore.tanh, [])
    with pytest.raises(TypeError, match="samples: has a LoDTensor"):
        check_operator(lodcore.tanh, [X])
    with pytest.raises(TypeError, match="samples: has a SimpleNamespace"):
        check_operator(lodcore.tanh, [SimpleNamespace(args=(X,))])
    check_operator(lodcore.tanh, [SimpleNamespace(args=(X,), kwargs={})])
    with pytest.raises(AssertionError, match="at least one sample must compute"):
        check_operator(lodcore.tanh, [("a",)])


# -- incorrect operators
# ------------------------------------------------------------------------------------------------


def honest(compute=lambda x, scale, saved: x.values * scale):
    """Make a correct operator; each test changes one part."""

    @operator(x=Nested, scale=Dense)
    def tripled(x, scale, *, saved=None):
        return compute(x, scale, saved)

    @tripled.define_infer
    def _(x, scale):
        return Spec(x.shape, np.result_type(x.dtype, scale.dtype))

    @tripled.define_vjp
    def _(d, x, scale, needs):
        return d * scale, (d * x.values).sum() if needs.scale else None

    return tripled


def other_dtype():
    op = honest()
    op.define_infer(lambda x, scale: Spec(x.shape, np.dtype(np.float32)))
    return op


def other_rows():
    op = honest()
    op.define_infer(lambda x, scale: Spec((None, 2), x.dtype))
    return op


def other_derivative():
    op = honest()
    op.define_vjp(lambda d, x, scale: (d * scale * 1.001, (d * x.values).sum()))
    return op


def derivative_of_nothing():
    op = honest()
    op.define_vjp(lambda d, scale: (d * scale, None))
    return op


def other_derivative_in_float32():
    op = honest()
    op.define_vjp(
        lambda d, x, scale: (d * scale * (1.01 if d.dtype == np.float32 else 1.0), (d * x.values).sum().astype(d.dtype))
    )
    return op


def no_derivative():
    @operator(x=Nested)
    def shifted(x, scale):
        return x.values + scale

    shifted.define_infer(lambda x, scale: x)
    return shifted


def saved_without_a_name():
    kept = []

    def compute(x, scale, saved):
        if saved is not None:
            kept[:] = [x.values, scale]
        return x.values * scale

    op = honest(compute)
    op.define_vjp(lambda d, unused: (d * kept[1], (d * kept[0]).sum()))
    return op


def argument_without_a_name():
    op = honest()
    op.define_vjp(lambda d, context: (d * context.scale, (d * context.x.values).sum()))
    return op


def changed_argument():
    @operator(x=Nested, differentiable=False)
    def doubled(x, scale):
        x.values[...] *= 2
        return x.values * 1

    doubled.define_infer(lambda x, scale: x)
    return doubled


def another_result_when_recorded():
    op = honest(lambda x, scale, saved: x.values * scale + (saved is not None))
    op.define_vjp(lambda d, x, scale, unused: (d * scale, (d * x.values).sum()))
    return op


def equal_lod():
    @operator(x=Nested, differentiable=False)
    def copied(x, scale):
        return lodcore.LoDTensor(x.values * scale, lodcore.LoD.from_lengths([2, 0, 1]))

    copied.define_infer(lambda x, scale: x)
    return copied


def other_levels():
    @operator(x=Nested, differentiable=False, lod_rule="one level")
    def flattened(x, scale):
        return lodcore.LoDTensor(x.values * scale, x.lod.append(lengths=[1] * x.num_rows))

    flattened.define_infer(lambda x, scale: x)
    return flattened


def lod_of_another():
    @operator(x=Nested, y=Nested, differentiable=False, lod_rule=same_as("x"))
    def chosen(x, y):
        return lodcore.LoDTensor(x.values, y.lod)

    chosen.define_infer(lambda x, y: x)
    return chosen


def level_of_another():
    @operator(x=Nested, differentiable=False, lod_rule="the last level of `x`")
    def reversed_lengths(x, scale):
        return lodcore.LoDTensor.from_lengths(x.values * scale, x.lengths[::-1])

    reversed_lengths.define_infer(lambda x, scale: x._replace(num_levels=[(x, x.num_levels - 1)]))
    return reversed_lengths


def nothing_for_the_empty():
    @operator(x=Nested, differentiable=False)
    def scaled_to_one(x, scale):
        return x.values / x.values.max()

    scaled_to_one.define_infer(lambda x, scale: x)
    return scaled_to_one


def a_tuple_of_one():
    @operator(x=Nested, differentiable=False)
    def single(x, scale):
        return (x.values * scale,)

    single.define_infer(lambda x, scale: x)
    return single


Y = lodcore.array([[1.0], [2.0, 3.0], []])
LIES = [
    (a_tuple_of_one, "infer: .*says", (X, 2.0)),
    (honest, None, None),
    (other_dtype, "infer", (X, 2.0)),
    (other_rows, "infer", (X, 2.0)),
    (other_derivative, "vjp rule: .*derivative", (X, np.array(2.0))),
    (derivative_of_nothing, "vjp rule: .*derivative", (X, np.array(2.0))),
    (other_derivative_in_float32, "vjp rule: .*float32", (X, np.array(2.0))),
    (no_derivative, "vjp rule: .*there is none", (X, 2.0)),
    (saved_without_a_name, "vjp rule: .*name what it needs", (X, np.array(2.0))),
    (argument_without_a_name, "vjp rule: .*does not name", (X, np.array(2.0))),
    (changed_argument, "computed at once: .*changed its arguments", (X, 2.0)),
    (another_result_when_recorded, "under vjp", (X, 2.0)),
    (equal_lod, "LoD rule: .*equal, and not the same", (X, 2.0)),
    (other_levels, "infer: .*num_levels=1.*num_levels=2", (X, 2.0)),
    (lod_of_another, "LoD rule: .*a different LoD", (X, Y)),
    (level_of_another, "LoD rule: .*level 0", (X, 2.0)),
    (nothing_for_the_empty, r"computed at once: .*raised ValueError", (X, 2.0)),
]


@pytest.mark.parametrize(("lie", "says", "sample"), LIES, ids=[lie.__name__ for lie, _, _ in LIES])
def test_check_operator_finds_operators_with_wrong_rules(lie, says, sample):
    if says is None:
        check_operator(lie(), [(X, np.array(2.0)), (X, 2.0)])
        return
    fresh = tuple(x.copy() if isinstance(x, lodcore.LoDTensor) else x for x in sample)  # one of them changes it
    with pytest.raises(AssertionError, match=says) as caught:
        check_operator(lie(), [fresh])
    assert str(caught.value).startswith(lie().__name__)
    assert lie().__name__ + "(" in str(caught.value)


def ignores_out(x, out=None):
    return x.values * 2


def copies_to_out(x, out=None):
    return ignores_out(x) if out is None else np.multiply(x.values, 2, out=out).copy()


def fills_out_in_part(x, out=None):
    rows = np.multiply(x.values, 2, out=out)
    return rows if out is None else np.add(rows, [0, 0, 1], out=out)


def right_with_out(x, out=None):
    return np.multiply(x.values, 2, out=out)


def changes_an_array(x, y):
    y[0] += 1
    return x.values * 2


def changes_a_list(x, y):
    y.append(1)
    return x.values * 2


def changes_an_array_in_a_list(x, y):
    y[0][...] = 7
    return x.values * 2


def changes_rows(x, y):
    np.add(y.values, 1, out=y.values)
    return x.values * 2


def refuses_no_sequences(x):
    if not len(x):
        raise ValueError("x: has no sequences")
    return x.values * 2


def refuses_empty_sequences(x):
    if len(x) and not x.num_rows:
        raise ValueError("x: has no rows")
    return x.values * 2


def other_dtype_without_sequences(x):
    return x.values * (2 if len(x) else np.complex64(2))


def other_dtype_of_empty_sequences(x):
    return x.values * (2 if x.num_rows or not len(x) else np.complex64(2))


CALLS = []


def counts_its_calls(x):
    CALLS.append(x)
    return x.values * len(CALLS)


KEPT_OUT, CHANGED = "into out: .*not `out`", "computed at once: .*changed its arguments"
LIES_OF_FUNCTIONS = [
    (right_with_out, (), None),
    (ignores_out, (), KEPT_OUT),
    (copies_to_out, (), KEPT_OUT),
    (fills_out_in_part, (), "into out: .*computed at once it returned"),
    (changes_an_array, (np.zeros(2),), CHANGED),
    (changes_a_list, ([1],), CHANGED),
    (changes_an_array_in_a_list, ([np.zeros(2)],), CHANGED),
    (changes_rows, (X,), CHANGED),
    (refuses_no_sequences, (), r"computed at once: .*\(0 sequences.*raised ValueError"),
    (refuses_empty_sequences, (), r"computed at once: .*3 sequences of length 0.*raised ValueError"),
    (other_dtype_without_sequences, (), r"\(0 sequences"),
    (other_dtype_of_empty_sequences, (), "3 sequences of length 0"),
    (counts_its_calls, (), "computed at once it returned"),
]


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize(
    ("lie", "others", "says"), LIES_OF_FUNCTIONS, ids=[lie.__name__ for lie, *_ in LIES_OF_FUNCTIONS]
)
def test_check_operator_finds_functions_with_wrong_rules(lie, others, says, by_name):
    """Whether arguments are given by position or by name."""
    op = operator(x=Nested, differentiable=False)(lie)
    op.define_infer((lambda x, y: x) if others else lambda x: x)
    call = copy.deepcopy((X, *others))  # some change it
    sample = (
        SimpleNamespace(args=call[:1], kwargs=dict(zip("y", call[1:], strict=True))) if by_name and others else call
    )
    if says is None:
        check_operator(op, [sample])
        return
    with pytest.raises(AssertionError, match=f"^{lie.__name__}: .*{says}"):
        check_operator(op, [sample])


def test_check_operator_with_refuses_empty_allows_errors_for_empty_batches():
    check_operator(nothing_for_the_empty(), [(X, 2.0)], refuses_empty=True)


@pytest.mark.parametrize("text", ["no_lod", "same", "before('level')"])
def test_the_text_of_a_rule_is_not_taken_for_its_description(text):
    with pytest.raises(TypeError, match=r"operator: lod_rule: is the text .*; the rule itself is needed"):
        operator(x=Nested, lod_rule=text)


@for_each(
    ("rule", "name"),
    [(before("level"), "level"), (outer("level"), "level"), (before("axis", of="z"), "z"), (same_as("z"), "z")],
)
def test_a_rule_that_names_no_parameter_is_refused_where_the_operator_is_declared(rule, name):
    with pytest.raises(
        TypeError, match=rf"^operator: f: lod_rule: names '{name}', which is no parameter of the function"
    ):
        operator(x=Nested, lod_rule=rule)(lambda_named("f", lambda x, axis: x))


def test_declarations_that_are_wrong():
    with pytest.raises(TypeError, match="operator: f: has no parameter y"):
        operator(x=Nested, y=Dense)(lambda_named("f", lambda x: x))
    with pytest.raises(TypeError, match="operator: f: no parameter has a role; at least one is a tensor"):
        operator()(lambda_named("f", lambda x: x))
    for declared, count in ((lambda: 1, 0), (lambda a, b, c, d: a, 4)):
        with pytest.raises(TypeError, match=f"elementwise_operator: f: has {count} parameters; 1 to 3 operands"):
            elementwise_operator(lambda_named("f", declared))

    with pytest.raises(TypeError, match=r"^operator: has no roles; write @operator\(x=Nested\)"):
        operator(lambda x: x)
    with pytest.raises(TypeError, match=r"^operator: is used on <built-in function len>; a function that Python"):
        operator(x=Nested)(len)
    with pytest.raises(TypeError, match=r"^elementwise_operator: is used on <built-in function len>; a function"):
        elementwise_operator(len)
    with pytest.raises(TypeError, match="operator: x: is 5; a Role is needed, such as Nested"):
        operator(x=5)(lambda_named("f", lambda x: x))
    made = operator(x=Nested)(lambda_named("f", lambda x: x.values[:1]))
    for rule in (lambda d, z: d, lambda d, x, out, z: d, lambda d, x, z, y: d):
        with pytest.raises(
            TypeError, match="define_vjp: f: z: is not a parameter, out, needs or context, and the function has no"
        ):
            made.define_vjp(rule)
    for count, rows in ((1, lambda v: v[:1]), (4, lambda v: np.append(v, v[:1])), (0, lambda v: v[:0])):
        made = operator(x=Nested)(lambda_named("f", lambda x, rows=rows: rows(x.values)))
        both = operator(x=Nested, results=2)(lambda_named("f", lambda x, rows=rows: (x.values, rows(x.values))))
        for call in (lambda f=made: f(X), lambda f=made: lodcore.vjp(f, X), lambda f=both: f(X)):
            with pytest.raises(
                lodcore.ShapeError, match=rf"f: the result has shape \({count},.*; there are 3 rows, and"
            ):
                call()


@pytest.mark.parametrize("rule", [same_as("x"), no_lod])
def test_an_operator_that_returns_nothing_is_told_by_name(rule):
    @operator(x=Nested, lod_rule=rule)
    def f(x):
        """Forget to return."""

    @operator(x=Nested, lod_rule=rule, results=2)
    def g(x):
        return x.values, None

    for call in (lambda: f(lodcore.array([[1.0], []])), lambda: g([[1.0], []])):
        with pytest.raises(lodcore.DTypeError, match=r"^[fg]: the result is None; an array, or a tensor, is needed$"):
            call()


@pytest.mark.parametrize(("result", "says"), [([1.0], "a list"), ("abc", "a str"), ({}, "a dict")])
def test_an_operator_that_returns_no_tensor_is_told_by_name(result, says):
    f = operator(x=Nested)(lambda_named("f", lambda x: result))
    g = operator(x=Nested, results=2)(lambda_named("g", lambda x: (x.values, result)))
    f.define_infer(lambda x: x)
    with lodcore.Program() as program:
        y = f(lodcore.data("x", (None,), "float64", num_levels=1))
    for call in (
        lambda: f(X),
        lambda: f(x=X),
        lambda: g(X),
        lambda: lodcore.vjp(f, X),
        lambda: lodcore.Executor().run(program, {"x": X}, [y]),
    ):
        with pytest.raises(lodcore.DTypeError, match=rf"[fg]: the result is {says}; an array, or a tensor, is needed"):
            call()


def test_check_operator_names_the_operator_and_the_sample_where_a_rule_fails():
    @operator(x=Nested, lod_rule="rows above 2")
    def above(x):
        kept = x.values > 2
        return lodcore.LoDTensor.from_offsets(x.values[kept], np.append(0, np.cumsum(kept))[x.offsets])

    above.define_infer(lambda x: Spec((None,), x.dtype, first_levels(x, 0, 1)))

    @above.define_vjp
    def _(d, x):
        made = np.zeros_like(x.values)
        made[x.values > 2] = d
        return made

    with pytest.raises(
        AssertionError, match=r"above: vjp rule: .*\(1,\): a step of 1e-06 changes the shape .* \(2,\) to \(3,\)"
    ):
        check_operator(above, [(lodcore.array([[3.0, 2.0, 4.0], []]),)])

    doubled = operator(x=Nested)(lambda_named("doubled", lambda x: x.values * 2))
    doubled.define_infer(lambda x: x)
    doubled.define_vjp(lambda d, x: d[:1])
    with pytest.raises(AssertionError, match=r"doubled: vjp rule: .*: raised ShapeError: .* gradient of shape \(1,\)"):
        check_operator(doubled, [(X,)])


def test_every_result_that_is_rows_has_the_structure():
    three = operator(x=Nested, results=3)(lambda_named("f", lambda x: (x.values, x.values * 2, -x.values[:, None])))
    found = three(X)
    assert all(one.lod is X.lod for one in found)
    assert [one.tolist() for one in found[1:]] == [[[2.0, 4.0], [], [6.0]], [[[-1.0], [-2.0]], [], [[-3.0]]]]


def test_spec_rules_of_unknown_inputs_give_unknown_results():
    unknown = Spec((), np.dtype(np.void), 0, object)
    for op in OPS.values():
        arguments = {name: unknown if name in op.roles else 1 for name in op.parameters}
        if not any(role.entries for role in op.roles.values()):
            found = op.infer_arguments(arguments)
            assert found == (unknown if op.results in (1, None) else (unknown,) * op.results), op


def test_saved_is_passed_only_to_calls_under_vjp():
    given = []

    @operator(x=Nested)
    def halved(x, times=1, *, saved=None):
        given.append(saved)
        if saved is not None:
            saved.update(factor=0.5**times, not_named=1)
        return x.values * 0.5**times

    halved.define_infer(lambda x, times: x)
    halved.define_vjp(lambda d, factor, absent: d * factor if absent is None else None)
    check_operator(halved, [(X,), (X, 2)])
    assert halved.saves == ("factor", "absent")
    given.clear()
    halved(X)
    lodcore.vjp(halved, X)
    assert given == [None, {"factor": 0.5, "not_named": 1}]
    assert str(inspect.signature(halved)) == "(x, times=1)"
    assert str(inspect.signature(halved.__get__(X))) == "(times=1)"
    for call in (halved, lambda *args, **kwargs: lodcore.vjp(lambda x: halved(x, **kwargs), *args)):
        with pytest.raises(
            TypeError, match="halved: got an unexpected keyword argument 'saved'; its arguments are x, times"
        ):
            call(X, saved={})
    with pytest.raises(TypeError, match="operator: f: saved: must be a keyword"):
        operator(x=Nested)(lambda_named("f", lambda x, saved=None: x))


def test_needs_have_the_names_of_the_tensors():
    found = []

    @operator(x=Nested, index=Dense, y=Dense)
    def added(x, index, y):
        return x.values + index + y

    @added.define_vjp
    def _(d, needs):
        found.append((needs, needs.x, needs.index, needs.y))
        with pytest.raises(AttributeError, match="needs: there is no z; its names are x, index, y"):
            needs.z  # noqa: B018
        return d, d.sum(), None

    lodcore.vjp(lambda x, index: added(x, index, 1.0), X, 2.0)[1](X)
    assert found == [((True, True, False), True, True, False)]


def test_a_list_is_needed_where_there_are_several_tensors():
    for op in OPS.values():
        for name in [name for name, role in op.roles.items() if role.entries]:
            arguments = {other: op.defaults.get(other, X) for other in op.parameters}
            for wrong in (None, 1.5):
                with pytest.raises(lodcore.DTypeError, match=f"{op.__name__}: {name}: is .*; a list"):
                    op.infer_arguments({**arguments, name: wrong})


def test_a_gradient_without_a_rule_is_refused():
    for ufunc in (np.subtract, np.hypot, np.arctan2):
        _, pullback = lodcore.vjp(lambda x, ufunc=ufunc: lodcore.sequence_accumulate(x, ufunc), X)
        with pytest.raises(lodcore.DTypeError, match=f"sequence_accumulate: {ufunc.__name__}: has no vjp rule"):
            pullback(X * 0.0)


def lambda_named(name, function):
    function.__name__ = name
    return function


def test_a_docstring_says_that_no_sparse_tensor_is_taken():
    """Before the section that follows; a line of text that ends with the word is no section."""
    doc = """Triple the rows, as said in the Notes
    and written twice in References
    of others.

    Notes
    -----
    Nothing.
    """
    made = operator(x=Nested)(documented(doc))
    header, entry = (
        "    Raises\n    ------\n",
        "    DTypeError\n        If a tensor is a SparseTensor; its `to_dense()` makes ",
    )
    entry += "an array.\n"
    notes = "    Notes\n    -----\n"
    assert made.__doc__ == doc.replace(notes, f"{header}{entry}\n{notes}")
    never = "    ValueError\n        Never.\n    "
    raising = operator(x=Nested)(documented(f"Triple.\n\n{header}{never}"))
    assert raising.__doc__ == f"Triple.\n\n{header}{never.rstrip(' ')}{entry}    ", "the rarest error comes last"
    for plain in ("Triple.", None):
        assert operator(x=Nested)(documented(plain)).__doc__ == plain


def documented(doc):
    def tripled(x):
        return x.values * 3

    tripled.__doc__ = doc
    return tripled


def test_elementwise_derivatives_are_found():
    @elementwise_operator
    def cubed(x):
        return x * x * x

    cubed.define_vjp(lambda d, x: d * x * x)
    with pytest.raises(AssertionError, match="cubed: vjp rule"):
        check_operator(cubed, [(X,)])


def test_every_way_of_running_runs_the_samples_it_can():
    whole, numbers = Sample((X,), {}), Sample((2.0,), {})
    ways = {**AT_ONCE, **IN_PROGRAMS}
    found = {way: run(lodcore.sequence_reverse, whole) for way, run in ways.items()}
    assert {way for way, one in found.items() if one is ABSENT} <= {"into out"}
    for way, one in found.items():
        assert one is ABSENT or one.equals(lodcore.sequence_reverse(X)), way
    assert as_a_method(lodcore.sequence_reverse, Sample((X.tolist(),), {})) is ABSENT
    assert under_vjp(lodcore.tanh, numbers) is ABSENT
    assert of_lists(lodcore.tanh, numbers) is ABSENT
    assert into_out(lodcore.sequence_softmax, whole).equals(lodcore.sequence_softmax(X))


def test_check_operator_finds_errors_of_another_type():
    @operator(x=Nested, differentiable=False)
    def picky(x, scale):
        if scale < 0:
            raise ValueError("picky: scale: is negative")
        return x.values * scale

    @picky.define_infer
    def _(x, scale):
        if scale < 0:
            raise TypeError("picky: scale: is negative")
        return x

    with pytest.raises(AssertionError, match=r"picky: .*raised TypeError.*computed at once it raised ValueError"):
        check_operator(picky, [(X, 2.0), (X, -2.0)])
