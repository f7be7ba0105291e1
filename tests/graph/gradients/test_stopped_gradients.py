"""Where no gradient passes: integers, comparisons and stop_gradient in silence, derivatives of 0, and else an error."""

import re

import numpy as np
import pytest

import lodcore
from lodcore import GraphError, LoDTensor, nn, ops, value_and_grad, vjp
from lodcore.graph import Executor, Program, Scope, append_backward, data, parameter, while_loop
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference

X = LoDTensor.from_lengths(np.array([3.0, 1.0, 3.0, 5.5, 5.5]), [3, 2])


def in_program(f, loss_of=ops.sum):
    """Return the gradient of the sum of f in a Program."""
    with Program() as program:
        x = data("x", (None,), "float64", num_levels=1)
        append_backward(loss_of(f(x)))
    return Executor().run(program, {"x": X}, ["x@GRAD"])[0]


def in_body(f):
    """Call a function in the body of a loop."""

    def called(x):
        first, loop = lodcore.mul(ops.sum(x), 0.0), while_loop()
        with loop.loop():
            s = loop.loop_var(first)
            loop.break_if(loop.step() >= 2)
            s.update(s + ops.sum(f(x)))
        return s * 0.5

    return called


@for_each(
    ("f", "gradient"),
    [
        (lambda x: x * lodcore.stop_gradient(x), [3, 1, 3, 5.5, 5.5]),
        (lambda x: lodcore.stop_gradient(x) + x * 2.0, [2] * 5),
        (lambda x: np.floor(x) + x, [1] * 5),
        (lambda x: np.ceil(x) + np.rint(x) + np.trunc(x) + np.sign(x) + x // 2.0 + x, [1] * 5),
        (lambda x: ops.cast(x > 2.0, "float64") * x, [1, 0, 1, 1, 1]),
        (lambda x: ops.cast(ops.cast(x, "int64"), "float64") * x, [3, 1, 3, 5, 5]),
        (lambda x: np.zeros_like(x) + x, [1] * 5),
        (lambda x: lodcore.sequence_unique(x) * 2.0, [2, 2, 0, 2, 0]),
        (lambda x: lodcore.sequence_unique_all(x)[0] * 3.0, [3, 3, 0, 3, 0]),
        (lodcore.sequence_mode, [1, 0, 0, 1, 0]),
    ],
)
def test_integers_comparisons_and_stop_gradient_cut_the_gradient(f, gradient):
    (found,) = vjp(lambda x: ops.sum(f(x)), X)[1](1.0)
    assert found.tolist() == in_program(f).tolist() == X.with_values(np.array(gradient, float)).tolist()
    assert vjp(in_body(f), X)[1](1.0)[0].tolist() == found.tolist()
    assert in_program(in_body(f)).tolist() == found.tolist()


def ranked(x):
    return lodcore.sequence_rank(x)


@for_each("f", [ranked, lambda x: lodcore.sequence_rank(x) + x, lambda x: lodcore.sequence_rank(x * 2.0) * 0.5])
def test_gradient_through_an_operator_without_vjp_rule_is_refused(f):
    says = "sequence_rank: has no vjp rule, and a gradient is asked for; lodcore.stop_gradient(x) of its argument says"
    for call in (
        lambda: value_and_grad(lambda x: ops.sum(f(x)))(X),
        lambda: in_program(f),
        lambda: vjp(in_body(f), X)[1](1.0),
        lambda: in_program(in_body(f)),
    ):
        with pytest.raises(GraphError, match=re.escape(says)):
            call()
    value, pullback = vjp(lambda x: (ops.sum(x), f(x)), X)
    assert pullback(1.0, None)[0].tolist() == [[1, 1, 1], [1, 1]], "no gradient is asked for there"
    assert value[1].tolist() == f(X).tolist()
    stopped = value_and_grad(lambda x: ops.sum(x * f(lodcore.stop_gradient(x))))(X)[1]
    assert stopped.tolist() == f(X).tolist()


def test_operator_without_vjp_rule_is_allowed_if_no_loss_reads_it():
    def loss_of(x):
        lodcore.sequence_rank(x)
        places = lodcore.sequence_argsort(x)
        return ops.sum(x * ops.cast(places, "float64"))

    _, found = value_and_grad(loss_of)(X)
    assert found.tolist() == in_program(lambda x: x, loss_of).tolist()


@for_each("accumulated", [True, False])
@for_each("ids", [None, np.array([[4, 4, 5], [6, 7, 8], [9, 9, 9]])])
def test_gradients_of_selected_scores_go_to_the_candidates(accumulated, ids):
    scores = LoDTensor.from_lengths(np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.9, 0.2, 0.1]]), [2, 1])
    before = np.array([0.1, 0.7, 0.3])

    def f(before, scores):
        return lodcore.beam_search([1, 0, 3], before, ids, scores, 2, 0, is_accumulated=accumulated)[1]

    selected, pullback = vjp(f, before, scores)
    of_before, of_scores = pullback(selected.with_values(np.array([1.0, 2.0, 3.0, 4.0])))
    assert of_before.tolist() == ([0, 2, 0] if accumulated else [1, 2, 7])
    chosen = np.array([[1.0, 0, 0], [0, 0, 0], [3.0, 4.0, 0]])
    np.testing.assert_allclose(of_scores.values, chosen if accumulated else chosen / scores.values)


def test_beam_search_gradient_of_equal_candidates_takes_each_once():
    scores = LoDTensor.from_lengths(np.array([[0.5, 0.5, 0.5]]), [1])
    _, pullback = vjp(lambda s: lodcore.beam_search([1], [0.0], [[7, 7, 7]], s, 3, 0)[1], scores)
    cotangent = LoDTensor.from_lengths(np.ones(3), [1], [3])
    assert pullback(cotangent)[0].values.tolist() == [[1, 1, 1]]


@for_each(
    "f",
    [
        lambda w, u: ops.sum(w * lodcore.stop_gradient(u)),
        lambda w, u: ops.sum(w * ((u * 1.0) > 0.5)),
        lambda w, u: ops.sum(lodcore.cond(ops.sum(u) > 0.5, lambda w: w * 2.0, lambda w: w, w)),
        lambda w, u: ops.sum(w * 1.0),
    ],
)
def test_parameters_cut_from_the_loss_have_gradients_of_zeros(f):
    values = {"w": np.array([1.0, 2.0]), "u": np.array([3.0, 0.25])}
    optimizer = nn.SGD(0.5, weight_decay=0.5)
    with Program() as program:
        tree = {name: parameter(value) for name, value in values.items()}
        gradients = append_backward(f(tree["w"], tree["u"]), parameters=tree)
        state = optimizer.init(tree)
        optimizer.step(tree, gradients, state)
    _, expected = value_and_grad(lambda tree: f(tree["w"], tree["u"]))(values)
    after, _ = optimizer.step(values, expected, optimizer.init(values))
    executor = Executor()
    (only,) = executor.run(program, fetch=[gradients["u"]], scope=Scope())  # no other gradient is fetched
    found = executor.run(program, fetch=[gradients["w"], gradients["u"]])
    learned = executor.run(program, fetch=[tree["w"], tree["u"]])
    np.testing.assert_array_equal([only, *found], [np.zeros(2), expected["w"], expected["u"]])
    np.testing.assert_array_equal(learned, [after["w"], after["u"]])


def test_gradient_of_a_condition_alone_is_fetched_as_zero():
    with Program() as program:
        w, x = parameter(np.float64(0.9)), data("x", (None,), "float64")
        (_, gradient), *_ = append_backward(ops.sum(lodcore.cond(w * 1.0 > 0.5, lambda: x, lambda: x)))
    assert float(Executor().run(program, {"x": np.ones(2)}, [gradient])[0]) == 0.0
