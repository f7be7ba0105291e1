"""The sample programs of "Design of Dynamic RNN with Beamsearch", as close to their text as Python allows."""

import numpy as np
import pytest

import lodcore as pd
from lodcore import LoDTensor, TensorArray, grad_check, vjp
from lodcore.graph import Executor, Program, VarArray, append_backward, data, parameter, while_loop
from tests.helpers.network import (
    BOOT,
    BOOT_DENSE,
    DENSE,
    HIDDEN,
    SENTENCES,
    WIDTH,
    U,
    W,
    check_dense,
    check_program,
    check_sentences,
    expected,
    states_of,
)

pytestmark = pytest.mark.not_on_reference  # the kernels have tests of their own


def static_rnn(dataset, state, w, u):
    """Follow `for step_input in dataset: output, state = lstm(step_input, state)`: a wide graph."""

    def cell(step_input, state):
        output = pd.sigmoid(step_input @ w + state @ u)
        return output, output

    outputs = TensorArray()
    for step_input in dataset:
        output, state = cell(step_input, state)
        outputs.write(outputs.size(), output)
    return outputs.stack()


def test_the_static_rnn():
    check_dense(static_rnn, axis=0)
    check_program(static_rnn, axis=0, steps=(5,), known=5)


def dynamic_rnn(input, boot_state, W, U, exec_immediately=True):
    # if dynamic, vararray will extend dynamically if more entries needed
    states = pd.VarArray(dynamic=True)
    step_inputs = pd.VarArray().segment(input)  # segment is an operator

    # a scalar
    time = pd.Variable(shape=[0], dtype=pd.int32)
    # segmented steps, size() is an operator which takes a VarArray as input and outputs a scalar tensor
    num_steps = step_inputs.size()

    whl = pd.while_loop()

    # by default, exec_immediately is True: on leaving the with-statement of whl.loop(), whl() will be called
    with whl.loop(exec_immediately=exec_immediately):
        time_ = whl.loop_var(time)
        to_stop = pd.greater_equal_than(time_, num_steps)
        whl.break_if(to_stop)

        input = step_inputs.get(time_)
        # if time - 1 is less than 0, boot_state is given instead
        prestate = states.get(pd.minus(time_, 1), boot_state)
        state = states.get(time_)

        tmp = pd.add(pd.matmul(input, W), pd.matmul(prestate, U))
        act = pd.sigmoid(tmp)
        state.update(act)

    if not exec_immediately:
        whl()

    # concatenate all states in all time steps to a large tensor
    return states.concat(axis=1)


def test_the_dynamic_rnn_of_one_sequence():
    """Literally: `matmul(W, input)` of vectors, `add`, `minus` and `sigmoid` under their plain names."""
    add, matmul, minus, sigmoid = pd.add, pd.matmul, pd.minus, pd.sigmoid

    def program(x, boot_state, W, U):
        states = pd.VarArray(dynamic=True)
        step_inputs = pd.VarArray().segment(x)

        time = pd.Variable(shape=[0], dtype=pd.int32)
        num_steps = step_inputs.size()

        whl = pd.while_loop()

        with whl.loop(exec_immediately=True):
            time_ = whl.loop_var(time)
            to_stop = pd.greater_equal_than(time_, num_steps)
            whl.break_if(to_stop)

            input = step_inputs.get(time_)
            prestate = states.get(minus(time_, 1), boot_state)
            state = states.get(time_)

            tmp = add(matmul(W, input), matmul(U, prestate))
            act = sigmoid(tmp)
            state.update(act)

        return states.concat(axis=0)

    inputs = (DENSE[:, 0], BOOT_DENSE[0], W.T.copy(), U.T.copy())
    wanted = np.concatenate(states_of(DENSE[:, 0], BOOT_DENSE[0], W, U))
    np.testing.assert_allclose(program(*inputs), wanted, rtol=1e-12)
    np.testing.assert_allclose(vjp(program, *inputs)[0], wanted, rtol=1e-12)
    grad_check(program, *inputs)


@pytest.mark.parametrize("at_once", [True, False])
def test_the_dynamic_rnn(at_once):
    check_dense(lambda *inputs: dynamic_rnn(*inputs, at_once), axis=1)


def test_the_dynamic_rnn_computed_at_once():
    found = dynamic_rnn(DENSE, BOOT_DENSE, W, U).reshape(4, 5, HIDDEN)
    wanted = [states_of(DENSE[:, n], BOOT_DENSE[n], W, U) for n in range(4)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_the_dynamic_rnn_with_parameters_of_a_shape():
    W, U = pd.parameter(shape=(WIDTH, HIDDEN)), pd.parameter(shape=(HIDDEN, HIDDEN))
    found = np.asarray(dynamic_rnn(DENSE.astype("f4"), BOOT_DENSE.astype("f4"), W, U)).reshape(4, 5, HIDDEN)
    wanted = [states_of(DENSE[:, n], BOOT_DENSE[n], W.get(), U.get()) for n in range(4)]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


@pytest.mark.parametrize("sort_by_length", [True, False])
def test_the_dynamic_rnn_over_sentences(sort_by_length):
    def rnn(input, boot_state, W, U):
        states, step_inputs = pd.VarArray(), pd.VarArray().segment(input, sort_by_length=sort_by_length)
        boot, first = step_inputs.boot(boot_state), pd.Variable(shape=[0], dtype=pd.int32)
        whl = pd.while_loop()
        with whl.loop():
            time = whl.loop_var(first)
            whl.break_if(time >= step_inputs.size())
            prestate = pd.shrink_memory(states.get(time - 1, boot), time, step_inputs.rank)
            states.get(time).update(pd.sigmoid(step_inputs.get(time) @ W + prestate @ U))
        return states.pack(0, step_inputs.rank)

    check_sentences(rnn)


@pytest.mark.parametrize("at_once", [True, False])
def test_the_dynamic_rnn_as_a_program(at_once):
    """Recorded once, fed with inputs of any number of steps."""
    assert "while_loop" in check_program(lambda *inputs: dynamic_rnn(*inputs, at_once), axis=1)


@pytest.mark.parametrize("sort_by_length", [True, False])
def test_the_dynamic_rnn_over_sentences_as_a_program(sort_by_length):
    """Recorded once, fed with sentences of any lengths: their ranks are recorded, too."""
    with Program() as program:
        input = data("input", (None, WIDTH), "float64", num_levels=1)
        boot_state = data("boot_state", (None, HIDDEN), "float64")
        W_, U_ = parameter(W, "W"), parameter(U, "U")
        step_inputs, step_outputs = TensorArray(), TensorArray()
        _, indices_map = step_inputs.unpack(input, 0, sort_by_length)
        default = step_inputs.boot(boot_state)
        whl = pd.while_loop()
        with whl.loop():
            time, before = whl.loop_var(0), whl.loop_var(default)
            whl.break_if(time >= step_inputs.size())
            state = pd.sigmoid(step_inputs.read(time) @ W_ + pd.shrink_memory(before, time, indices_map) @ U_)
            step_outputs.write(time, state)
            before.update(state)
        allstates = step_outputs.pack(0, indices_map)
        append_backward(pd.ops.sum(allstates * allstates))
    for chosen in ([0, 1, 2, 3, 4, 5, 6], [1, 5], [], [3, 3, 2]):
        feed = {"input": pd.gather_sequences(SENTENCES, chosen), "boot_state": BOOT[chosen]}
        names = ["input@GRAD", "boot_state@GRAD", "W@GRAD", "U@GRAD", indices_map.lengths]
        found, d_input, d_boot_state, *d_weights, lengths = Executor().run(program, feed, [allstates, *names])
        assert found.lod == feed["input"].lod is d_input.lod
        assert lengths.tolist() == (sorted(found.lengths, reverse=True) if sort_by_length else found.lengths.tolist())
        d = LoDTensor(2 * found.values, found.lod).to_arrays()
        states, d_x, d_boot, *wanted = expected(feed["input"].to_arrays(), feed["boot_state"], d)
        for one, other in [
            (found.values, [row for rows in states for row in rows]),
            (d_input.values, [row for rows in d_x for row in rows]),
            (d_boot_state, d_boot),
            *zip(d_weights, wanted, strict=True),
        ]:
            wanted_here = (
                np.reshape(other, one.shape) if np.size(other) == one.size else 0
            )  # no sentences: no derivative
            np.testing.assert_allclose(one, wanted_here, rtol=1e-11, atol=1e-13)


def test_dynamic_rnn_of_empty_sentences_only():
    """Paddle crashes on them."""
    empty = LoDTensor.from_lengths(np.empty((0, WIDTH)), [0, 0])
    for count in (2, 0):
        x = empty[:count]
        steps, indices_map = TensorArray.unpack(x, 0)
        outputs = VarArray()
        loop = while_loop()
        with loop.loop():
            time = loop.loop_var(0)
            loop.break_if(time >= steps.size())
            outputs.get(time).update(steps.read(time) @ W)
        assert int(time.get()) == 0
        assert outputs.size() == 0
        assert steps.pack(0, indices_map).lod == x.lod
