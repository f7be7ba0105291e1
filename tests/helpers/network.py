"""The network of the design documents as a plain loop over each sequence, with which programs are compared."""

import numpy as np

import lodcore as pd
from lodcore import LoDTensor, grad_check, vjp
from lodcore.graph import Executor, Program, append_backward, data, parameter

LENGTHS = [2, 0, 4, 1, 4, 0, 3]
WIDTH, HIDDEN = 3, 2
RANDOM = np.random.default_rng(7)
SENTENCES = LoDTensor.from_lengths(RANDOM.standard_normal((sum(LENGTHS), WIDTH)), LENGTHS)
DENSE = RANDOM.standard_normal((5, 4, WIDTH))  # 5 steps of 4 sequences
W, U = RANDOM.standard_normal((WIDTH, HIDDEN)), RANDOM.standard_normal((HIDDEN, HIDDEN))
BOOT = RANDOM.standard_normal((len(LENGTHS), HIDDEN))
BOOT_DENSE = RANDOM.standard_normal((4, HIDDEN))


# -- the definition: a plain loop over each sequence
# --------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def states_of(sequence, state, w, u):
    """Run the network over one sequence."""
    states = []
    for row in sequence:
        state = sigmoid(row @ w + state @ u)
        states.append(state)
    return states


def gradients_of(sequence, boot, w, u, d_states):
    """Run the backward pass over one sequence: gradients of the rows, of the boot state, of the weights."""
    states = [boot, *states_of(sequence, boot, w, u)]
    d_rows, d_w, d_u, d_state = [], np.zeros_like(w), np.zeros_like(u), np.zeros_like(boot)
    for t in reversed(range(len(sequence))):
        d_sum = (d_state + d_states[t]) * states[t + 1] * (1 - states[t + 1])
        d_rows.insert(0, d_sum @ w.T)
        d_w += np.outer(sequence[t], d_sum)
        d_u += np.outer(states[t], d_sum)
        d_state = d_sum @ u.T
    return d_rows, d_state, d_w, d_u


def expected(sequences, boots, d):
    """Run over all sequences: return states, and gradients for cotangents `d`, one list per sequence."""
    states, d_x, d_boot, d_w, d_u = [], [], [], 0, 0
    for sequence, boot, d_states in zip(sequences, boots, d, strict=True):
        states.append(states_of(sequence, boot, W, U))
        d_rows, d_state, d_w_here, d_u_here = gradients_of(sequence, boot, W, U, d_states)
        d_x.append(d_rows)
        d_boot.append(d_state)
        d_w, d_u = d_w + d_w_here, d_u + d_u_here
    return states, d_x, d_boot, d_w, d_u


def check_sentences(program):
    """Compare a program over sentences with the plain loop."""
    found, pullback = vjp(program, SENTENCES, BOOT, W, U)
    d = LoDTensor(np.random.default_rng(3).standard_normal((len(SENTENCES.values), HIDDEN)), SENTENCES.lod)
    states, d_x, d_boot, d_w, d_u = expected(SENTENCES.to_arrays(), BOOT, d.to_arrays())
    assert found.lod == SENTENCES.lod
    gradients = pullback(d)
    assert gradients[0].lod is SENTENCES.lod
    for one, other in [
        (found.values, np.concatenate([np.reshape(rows, (-1, HIDDEN)) for rows in states])),
        (gradients[0].values, np.concatenate([np.reshape(rows, (-1, WIDTH)) for rows in d_x])),
        (gradients[1], d_boot),
        (gradients[2], d_w),
        (gradients[3], d_u),
    ]:
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
    grad_check(program, SENTENCES, BOOT, W, U)


def check_dense(program, axis):
    """Compare a program over dense steps with the plain loop; `axis` is that of the steps in its result."""
    found, pullback = vjp(program, DENSE, BOOT_DENSE, W, U)
    d = np.random.default_rng(3).standard_normal((5, 4, HIDDEN))
    states, d_x, d_boot, d_w, d_u = expected(np.moveaxis(DENSE, 1, 0), BOOT_DENSE, np.moveaxis(d, 1, 0))
    if axis == 1:  # the states of all steps, consecutively
        found, d = found.reshape(4, 5, HIDDEN).swapaxes(0, 1), d.swapaxes(0, 1).reshape(4, 5 * HIDDEN)
    gradients = pullback(d)
    for one, other in [
        (found, np.moveaxis(states, 0, 1)),
        (gradients[0], np.moveaxis(d_x, 0, 1)),
        (gradients[1], d_boot),
        (gradients[2], d_w),
        (gradients[3], d_u),
    ]:
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
    grad_check(program, DENSE, BOOT_DENSE, W, U)


def check_program(rnn, axis, steps=(5, 1, 3), known=None):
    """Compare a program over dense steps, recorded once and fed several times, with the plain loop; return its text."""
    with Program() as program:
        input = data("input", (known, 4, WIDTH), "float64")
        boot_state = data("boot_state", (4, HIDDEN), "float64")
        allstates = rnn(input, boot_state, parameter(W, "W"), parameter(U, "U"))
        append_backward(pd.ops.sum(allstates * allstates))
    for count in steps:
        feed = {"input": DENSE[:count], "boot_state": BOOT_DENSE}
        names = ["input@GRAD", "boot_state@GRAD", "W@GRAD", "U@GRAD"]
        found, *gradients = Executor().run(program, feed, [allstates, *names])
        found = found.reshape(4, count, HIDDEN) if axis == 1 else np.moveaxis(found, 0, 1)
        states, d_x, d_boot, d_w, d_u = expected(np.moveaxis(DENSE[:count], 1, 0), BOOT_DENSE, 2 * found)
        np.testing.assert_allclose(found, states, rtol=1e-12)
        for one, other in zip(gradients, [np.moveaxis(d_x, 0, 1), d_boot, d_w, d_u], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
    return str(program)
