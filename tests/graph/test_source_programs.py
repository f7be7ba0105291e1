"""The sample programs of the two documents "Design for TensorArray", as close to their text as Python allows."""

import functools

import numpy as np
import pytest

import lodcore as pd
from lodcore import TensorArray, vjp
from lodcore.graph import while_loop
from tests.helpers.network import (
    BOOT,
    BOOT_DENSE,
    DENSE,
    SENTENCES,
    WIDTH,
    U,
    W,
    check_dense,
    check_program,
    check_sentences,
    states_of,
)

pytestmark = pytest.mark.not_on_reference  # the kernels have tests of their own


# -- "Design for TensorArray": unpack, step by step, pack ------------------------------------------------------------


def rnn_over_steps(input, boot_state, w, u, sort_by_length):
    """Follow `for (int step = 0; step < ta.size(); step++)`."""

    def rnnstep(step_input, state):
        return pd.sigmoid(pd.add(pd.matmul(step_input, w), pd.matmul(state, u)))

    # input is the variant-length data
    ta = TensorArray()
    _, indice_map = ta.unpack(input, 0, sort_by_length)  # the first level
    boot_state = ta.boot(boot_state)  # to initialize rnn's first state
    step_outputs = TensorArray()
    states = TensorArray()

    for step in range(ta.size()):
        state = pd.shrink_memory(states.read(step - 1, boot_state), step, indice_map)
        # rnnstep is a function which acts like a step of RNN
        step_input = ta.read(step)
        step_output = rnnstep(step_input, state)
        states.write(step, step_output)
        step_outputs.write(step, step_output, data_shared=True)

    # rnn_output is the final output of an rnn
    return step_outputs.pack(0, indice_map)


@pytest.mark.parametrize("sort_by_length", [True, False])
def test_a_variant_sentence_rnn(sort_by_length):
    check_sentences(lambda *inputs: rnn_over_steps(*inputs, sort_by_length))


def test_tensor_array_unpack_may_be_called_on_the_class():
    """`TensorArray::unpack(input, level, sort_by_length, &ta, &indice_map)`."""
    ta, indice_map = TensorArray.unpack(SENTENCES, 0, True)
    assert isinstance(ta, TensorArray)
    assert ta.pack(0, indice_map).equals(SENTENCES)


# -- "Design for TensorArray", as operators: a while loop with a frame ------------------------------------------------


def test_the_program_with_a_stated_number_of_steps_runs_as_written():
    """The program as written, computed at once, with the number of steps that it states."""
    input = np.random.default_rng(5).standard_normal((12, 4, WIDTH))
    num_steps = pd.Var(12)

    states = TensorArray(size=num_steps)
    step_inputs = TensorArray(unstack_from=input)
    step_outputs = TensorArray(size=num_steps)

    default_state = pd.tanh(BOOT_DENSE)

    step = pd.Var(0)

    wloop = pd.create_whileloop(loop_vars=[step])
    with wloop.frame():
        wloop.break_if(pd.equal(step, num_steps))
        pre_state = states.read(step - 1, default_state)
        step_input = step_inputs.read(step)
        state = pd.sigmoid(pd.matmul(pre_state, U) + pd.matmul(step_input, W))
        states.write(step, state)
        step_outputs.write(step, state)  # output state

    output = step_outputs.stack()

    wanted = [states_of(input[:, n], np.tanh(BOOT_DENSE)[n], W, U) for n in range(4)]
    np.testing.assert_allclose(output, np.moveaxis(wanted, 1, 0), rtol=1e-12)
    assert int(step) == 12
    assert len(states) == 12


def test_twelve_steps_of_one_sequence():
    """The same literally: weights are on the left of a state, which is a vector."""
    Tensor = np.asarray
    some_op = functools.partial(pd.tanh, BOOT_DENSE[0])
    input = np.random.default_rng(5).standard_normal((12, WIDTH))
    num_steps = pd.Var(12)

    states = TensorArray(size=num_steps)
    step_inputs = TensorArray(unstack_from=input)
    step_outputs = TensorArray(size=num_steps)

    W_ = Tensor(W.T)
    U_ = Tensor(U.T)
    default_state = some_op()

    step = pd.Var(0)

    wloop = pd.create_whileloop(loop_vars=[step])
    with wloop.frame():
        wloop.break_if(pd.equal(step, num_steps))
        pre_state = states.read(step - 1, default_state)
        step_input = step_inputs.read(step)
        state = pd.sigmoid(pd.matmul(U_, pre_state) + pd.matmul(W_, step_input))
        states.write(step, state)
        step_outputs.write(step, state)  # output state

    output = step_outputs.stack()

    np.testing.assert_allclose(output, states_of(input, np.tanh(BOOT_DENSE[0]), W, U), rtol=1e-12)


def test_the_pseudocode_of_one_sequence():
    """`states[step] = sigmoid(W * states[step-1] + U * input_segments[step])`, with the step that it begins with."""

    def program(x, boot, W, U):
        states, output_segments = TensorArray(), TensorArray()
        input_segments = TensorArray(unstack_from=x)
        states[0] = boot

        step = pd.Var(1)
        seq_len = input_segments.size() + 1
        loop = pd.while_loop(loop_vars=[step])
        with loop.frame():
            loop.break_if(step == seq_len)
            states[step] = pd.sigmoid(W @ states[step - 1] + U @ input_segments[step - 1])
            output_segments[step - 1] = states[step]  # take state as output
        return output_segments.stack()

    inputs = (DENSE[:, 0], BOOT_DENSE[0], U.T.copy(), W.T.copy())
    wanted = states_of(DENSE[:, 0], BOOT_DENSE[0], W, U)
    np.testing.assert_allclose(program(*inputs), wanted, rtol=1e-12)
    np.testing.assert_allclose(vjp(program, *inputs)[0], wanted, rtol=1e-12)
    pd.grad_check(program, *inputs)


def while_loop_with_a_frame(
    input, default_state, W, U, make=lambda loop_vars: pd.create_whileloop(loop_vars=loop_vars)
):
    step_inputs = TensorArray(unstack_from=input)
    num_steps = step_inputs.size()
    states = TensorArray(size=num_steps)
    step_outputs = TensorArray(size=num_steps)

    step = pd.Var(0)

    wloop = make(loop_vars=[step])
    with wloop.frame():
        wloop.break_if(pd.equal(step, num_steps))
        pre_state = states.read(step - 1, default_state)
        step_input = step_inputs.read(step)
        state = pd.sigmoid(pd.matmul(pre_state, U) + pd.matmul(step_input, W))
        states.write(step, state)
        step_outputs.write(step, state)  # output state

    return step_outputs.stack(name="output")


def test_the_while_loop_with_a_frame():
    check_dense(while_loop_with_a_frame, axis=0)


def test_the_while_loop_with_a_frame_and_recompute():
    def recomputing(*inputs):
        return while_loop_with_a_frame(*inputs, functools.partial(while_loop, recompute=True))

    check_dense(recomputing, axis=0)


def test_the_while_loop_with_a_frame_as_a_program():
    check_program(while_loop_with_a_frame, axis=0)


def pseudocode(input_segments, boot, W, U):
    """Follow the pseudocode: `states[step] = sigmoid(W * states[step-1] + U * input_segments[step])`."""
    states, output_segments = TensorArray(), TensorArray()
    input_segments = TensorArray(unstack_from=input_segments)

    seq_len = input_segments.size()
    loop = pd.while_loop(loop_vars=[0])
    with loop.loop():
        (step,) = loop.loop_vars
        loop.break_if(step == seq_len)
        states[step] = pd.sigmoid(states.read(step - 1, boot) @ U + input_segments[step] @ W)
        output_segments[step] = states[step]  # take state as output
    return output_segments.stack()


def test_the_pseudocode_of_the_sentence_rnn_equals_the_reference_at_once_and_in_a_program():
    check_dense(pseudocode, axis=0)
    check_program(pseudocode, axis=0)


def test_the_pseudocode_as_a_loop_of_python():
    def rnn(input_segments, boot, W, U):
        states, output_segments = TensorArray(), TensorArray()
        step = 0
        seq_len = len(input_segments)
        while True:
            if step == seq_len:
                break
            states[step] = pd.sigmoid((states[step - 1] if step else boot) @ U + input_segments[step] @ W)
            output_segments[step] = states[step]
            step += 1
        return output_segments.stack()

    check_dense(rnn, axis=0)


def test_the_operators_under_their_names():
    """tensor_array_stack, _unstack, _write, _read, _size and the Python interface are the same operators."""

    def rnn(tensor, state, W, U):
        ta, outputs = pd.tensor_array_unstack(tensor), TensorArray(name="outputs")
        for index in range(int(pd.tensor_array_size(ta))):
            state = pd.sigmoid(pd.tensor_array_read(ta, index) @ W + state @ U)
            pd.tensor_array_write(outputs, index, state, data_shared=True)
        return pd.tensor_array_stack(outputs)

    check_dense(rnn, axis=0)


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("sort_by_length", [True, False])
def test_the_while_loop_over_sentences(recompute, sort_by_length):
    """The state shrinks to the batch of its step; the boot state is reordered to the order of the steps."""

    def rnn(input, boot_state, W, U):
        step_inputs, states, step_outputs = TensorArray(), TensorArray(), TensorArray()
        _, indices_map = step_inputs.unpack(input, 0, sort_by_length)
        default_state = step_inputs.boot(boot_state)

        wloop = while_loop(loop_vars=[0], recompute=recompute)
        with wloop.frame():
            (step,) = wloop.loop_vars
            wloop.break_if(step == step_inputs.size())
            pre_state = pd.shrink_memory(states.read(step - 1, default_state), step, indices_map)
            states[step] = pd.sigmoid(pre_state @ U + step_inputs[step] @ W)
            step_outputs.write(step, states[step])

        return step_outputs.pack(0, indices_map)

    check_sentences(rnn)


def test_the_state_as_a_loop_variable():
    def rnn(input, boot_state, W, U):
        step_inputs, indices_map = TensorArray.unpack(input, 0)
        step_outputs, default = TensorArray(), step_inputs.boot(boot_state)
        loop = while_loop()
        with loop.loop():
            time, state = loop.loop_var(0), loop.loop_var(default)
            loop.break_if(time >= step_inputs.size())
            state.update(pd.sigmoid(pd.shrink_memory(state, time, indices_map) @ U + step_inputs.read(time) @ W))
            step_outputs.write(time, pd.shrink_memory(state, time, indices_map))
        return step_outputs

    shifted, _ = vjp(rnn, SENTENCES, BOOT, W, U)
    assert [len(step) for step in shifted] == [5, 4, 3, 2], "reads of a loop variable see what it was"
    np.testing.assert_array_equal(shifted[0], BOOT[[2, 4, 6, 0, 3]])
