"""The three recurrent networks of "Design for TensorArray", on one container."""

import numpy as np
import pytest

from lodcore import (
    Executor,
    LoDTensor,
    Program,
    ShapeError,
    append_backward,
    array,
    data,
    grad_check,
    nn,
    ops,
    sigmoid,
    vjp,
)
from tests.nn.networks import STRUCTURES, assert_same, batch

RANDOM = np.random.default_rng(0)
W, U = RANDOM.standard_normal((3, 2)), RANDOM.standard_normal((2, 2))


def rnnstep(parameters, step_input, state):
    """Follow the document: `state = pd.sigmoid(pd.matmul(U, pre_state) + pd.matmul(W, step_input))`."""
    state = sigmoid(state @ parameters["U"] + step_input @ parameters["W"])
    return state, state


PARAMETERS = {"W": W, "U": U}


def test_recurrent_op_takes_tensors():
    x, boot = RANDOM.standard_normal((5, 4, 3)), RANDOM.standard_normal((4, 2))
    outputs, last = nn.recurrent_op(rnnstep, PARAMETERS, x, boot)
    state = boot
    for t in range(5):
        state = 1 / (1 + np.exp(-(state @ U + x[t] @ W)))
        np.testing.assert_allclose(outputs[t], state, rtol=1e-12)
    np.testing.assert_array_equal(last, outputs[-1])
    grad_check(lambda p, x, s: nn.recurrent_op(rnnstep, p, x, s), PARAMETERS, x, boot)


def test_recurrent_op_without_a_state_takes_the_initial_state_of_the_cell():
    layer = nn.GRU(3, 2)
    parameters = layer.init(np.random.default_rng(0), np.float64)
    x = RANDOM.standard_normal((5, 4, 3))
    found = nn.recurrent_op(layer.cell, parameters, x)
    assert_same(found, nn.recurrent_op(layer.cell, parameters, x, np.zeros((4, 2))), 0)
    with pytest.raises(ShapeError, match=r"recurrent_op: x: has shape \(5,\); \(n_steps, n, ...\) is needed"):
        nn.recurrent_op(layer.cell, parameters, np.zeros(5))
    with pytest.raises(ValueError, match="recurrent_op: initial_state: is missing"):
        nn.recurrent_op(rnnstep, PARAMETERS, x)


def test_recurrent_op_of_no_steps():
    boot = RANDOM.standard_normal((4, 2))
    outputs, last = nn.recurrent_op(rnnstep, PARAMETERS, np.zeros((0, 4, 3)), boot)
    assert outputs.shape[0] == 0
    np.testing.assert_array_equal(last, boot)


def test_recurrent_op_in_a_program():
    with Program() as program:
        x, boot = data("x", (None, 4, 3), "float64"), data("boot", (4, 2), "float64")
        outputs, last = nn.recurrent_op(rnnstep, PARAMETERS, x, boot)
        append_backward(ops.sum(outputs) + ops.sum(last * last))
    for count in (5, 1):
        given = {"x": RANDOM.standard_normal((count, 4, 3)), "boot": RANDOM.standard_normal((4, 2))}
        wanted, pullback = vjp(lambda x, s: nn.recurrent_op(rnnstep, PARAMETERS, x, s), given["x"], given["boot"])
        d = pullback(np.ones_like(wanted[0]), 2 * wanted[1])
        found = Executor().run(program, given, [outputs, last, "x@GRAD", "boot@GRAD"])
        assert_same(found, [*wanted, *d])


@pytest.mark.parametrize("structure", ["some", "empty within", "only empty", "no sequences"])
def test_dynamic_recurrent_op_and_machine_equal_dynamic_rnn(structure):
    x = batch(STRUCTURES[structure])
    boot = RANDOM.standard_normal((len(x), 2))
    wanted = nn.dynamic_rnn(rnnstep, PARAMETERS, x, boot)
    assert_same(nn.dynamic_recurrent_op(rnnstep, PARAMETERS, x, boot), wanted, 0)
    machine = nn.RecurrentGradientMachine(rnnstep)
    assert_same(machine.forward(PARAMETERS, x, boot), wanted, 0)
    d_outputs, d_last = np.cos(wanted[0].values), np.sin(wanted[1])
    found = machine.backward(d_outputs, d_last)
    assert_same(
        found, vjp(lambda p, x, s: nn.dynamic_rnn(rnnstep, p, x, s), PARAMETERS, x, boot)[1](d_outputs, d_last), 0
    )
    for steps in {len(rows) for rows in x}:  # sequences of one length form a tensor
        chosen = [s for s, rows in enumerate(x) if len(rows) == steps]
        dense = np.stack([x[s] for s in chosen], 1)
        outputs, last = nn.recurrent_op(rnnstep, PARAMETERS, dense, boot[chosen])
        np.testing.assert_allclose(last, wanted[1][chosen], rtol=1e-12)
        for place, s in enumerate(chosen):
            np.testing.assert_allclose(outputs.reshape(steps, len(chosen), 2)[:, place], wanted[0][s], rtol=1e-12)


def test_a_machine_runs_over_sequences_of_sequences():
    x = array([[[1.0], [2.0, 3.0]], [[4.0]]])
    layer = nn.SimpleRNN(1, 2)
    parameters = layer.init(np.random.default_rng(0), np.float64)
    rows = LoDTensor(x.values[:, None], x.lod)
    for level, count in ((0, 2), (1, 3), (-1, 3)):
        machine, wanted = nn.RecurrentGradientMachine(layer.cell, level), layer(parameters, rows, level=level)
        assert_same(machine.forward(parameters, rows), wanted)
        assert_same(nn.dynamic_recurrent_op(layer.cell, parameters, rows, level=level), wanted)
        d_parameters, d_x, d_state = machine.backward(None, np.ones((count, 2)))
        assert d_parameters.keys() == parameters.keys()
        assert d_x.lod is rows.lod
        assert d_state is None


def test_backward_of_a_machine_before_forward_raises():
    with pytest.raises(ValueError, match=r"RecurrentGradientMachine: backward: .* call forward first"):
        nn.RecurrentGradientMachine(rnnstep).backward(None)
    with pytest.raises(ValueError, match="dynamic_recurrent_op: initial_state: is missing"):
        nn.dynamic_recurrent_op(rnnstep, PARAMETERS, batch([[1]]))


def test_inputs_of_different_numbers_of_steps_are_refused():
    def add(parameters, x, state):
        return x[0] + x[1], state + x[0] + x[1]

    for lengths in ((2, 3), (3, 2)):
        with pytest.raises(ShapeError, match=rf"recurrent_op: x\[1\]: has {lengths[1]} steps; x\[0\] has"):
            nn.recurrent_op(add, None, tuple(np.ones((n, 1)) for n in lengths), np.zeros(1))
