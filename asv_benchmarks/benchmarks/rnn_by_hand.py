"""A recurrent network with tanh in plain NumPy, forward and backward by hand, with which loops are compared."""

import numpy as np


def shrinking(values, offsets, of_input, of_state, bias):
    """Run over sequences, the longest first, with shrinking batches; return the sum of all states and the gradients."""
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    starts, sizes = offsets[:-1][order], np.searchsorted(-lengths[order], -np.arange(lengths.max()))
    state = np.zeros((len(order), of_state.shape[1]), values.dtype)
    states = np.empty((len(values), of_state.shape[1]), values.dtype)
    trace = []
    for t, size in enumerate(sizes.tolist()):
        rows = starts[:size] + t
        x, left = values[rows], state[:size]
        state = np.tanh(x @ of_input + left @ of_state + bias)
        states[rows] = state
        trace.append((rows, x, left, state))
    d_values, d_states = np.empty_like(values), np.ones_like(states)
    d_input, d_of_state, d_bias = np.zeros_like(of_input), np.zeros_like(of_state), np.zeros_like(bias)
    d_state = np.zeros((0, of_state.shape[1]), values.dtype)
    for rows, x, left, state in reversed(trace):
        d = d_states[rows]
        d[: len(d_state)] += d_state
        d *= 1 - state * state
        d_bias += d.sum(0)
        d_input += x.T @ d
        d_of_state += left.T @ d
        d_values[rows] = d @ of_input.T
        d_state = d @ of_state.T
    return states.sum(), d_values, d_input, d_of_state, d_bias


def padded(values, offsets, of_input, of_state, bias):
    """Run over sequences padded to the longest; the results are the same."""
    lengths = np.diff(offsets)
    there = np.arange(lengths.max()) < lengths[:, None]
    x = np.zeros((*there.shape, values.shape[1]), values.dtype)
    x[there] = values
    mask = there[:, :, None].astype(values.dtype)
    state = np.zeros((len(lengths), of_state.shape[1]), values.dtype)
    states = [state]
    for t in range(there.shape[1]):
        state = np.tanh(x[:, t] @ of_input + state @ of_state + bias) * mask[:, t]
        states.append(state)
    total = np.stack(states[1:], 1)[there].sum()
    d_x = np.empty_like(x)
    d_input, d_of_state, d_bias = np.zeros_like(of_input), np.zeros_like(of_state), np.zeros_like(bias)
    d_state = np.zeros_like(state)
    for t in reversed(range(there.shape[1])):
        d = (1 + d_state) * (1 - states[t + 1] * states[t + 1]) * mask[:, t]
        d_bias += d.sum(0)
        d_input += x[:, t].T @ d
        d_of_state += states[t].T @ d
        d_x[:, t] = d @ of_input.T
        d_state = d @ of_state.T
    return total, d_x[there], d_input, d_of_state, d_bias
