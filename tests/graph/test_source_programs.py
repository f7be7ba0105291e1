"""The sample programs of the design documents, as close to their text as Python allows.

"Design for TensorArray" (two texts) and "Design of Dynamic RNN with Beamsearch". All of them are one network, whose
result and gradients a plain loop over each sequence gives.
"""

import numpy as np
import pytest

import lodcore as pd
from lodcore import LoDTensor, TensorArray, grad_check, vjp
from lodcore.graph import Executor, Program, VarArray, append_backward, data, parameter, while_loop

pytestmark = pytest.mark.not_on_reference  # the kernels run in tests of their own

LENGTHS = [2, 0, 4, 1, 4, 0, 3]
WIDTH, HIDDEN = 3, 2
RANDOM = np.random.default_rng(7)
SENTENCES = LoDTensor.from_lengths(RANDOM.standard_normal((sum(LENGTHS), WIDTH)), LENGTHS)
DENSE = RANDOM.standard_normal((5, 4, WIDTH))  # 5 steps of 4 sequences
W, U = RANDOM.standard_normal((WIDTH, HIDDEN)), RANDOM.standard_normal((HIDDEN, HIDDEN))
BOOT = RANDOM.standard_normal((len(LENGTHS), HIDDEN))
BOOT_DENSE = RANDOM.standard_normal((4, HIDDEN))


# -- what is wanted: a plain loop over each sequence -----------------------------------------------------------------


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
    """Go back over one sequence: gradients of the rows, of the boot state, of the weights."""
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
    """Do so with all sequences: states, and gradients for cotangents `d`, one list a sequence."""
    states, d_x, d_boot, d_w, d_u = [], [], [], 0, 0
    for sequence, boot, d_states in zip(sequences, boots, d, strict=True):
        states.append(states_of(sequence, boot, W, U))
        d_rows, d_state, d_w_here, d_u_here = gradients_of(sequence, boot, W, U, d_states)
        d_x.append(d_rows)
        d_boot.append(d_state)
        d_w, d_u = d_w + d_w_here, d_u + d_u_here
    return states, d_x, d_boot, d_w, d_u


def check_sentences(program):
    """Hold a program over sentences against the plain loop."""
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
    """Hold a program over dense steps against the plain loop; `axis` is that of the steps in its result."""
    found, pullback = vjp(program, DENSE, BOOT_DENSE, W, U)
    d = np.random.default_rng(3).standard_normal((5, 4, HIDDEN))
    states, d_x, d_boot, d_w, d_u = expected(np.moveaxis(DENSE, 1, 0), BOOT_DENSE, np.moveaxis(d, 1, 0))
    if axis == 1:  # the states of all steps behind each other
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


# -- "Design for TensorArray": unpack, step by step, pack ------------------------------------------------------------


@pytest.mark.parametrize("sort_by_length", [True, False])
def test_a_variant_sentence_rnn(sort_by_length):
    """A loop in Python: `for (int step = 0; step < ta.size(); step++)`."""

    def rnn(sentence_input, boot_state, w, u):
        def rnnstep(step_input, state):
            return pd.sigmoid(pd.add(pd.matmul(step_input, w), pd.matmul(state, u)))

        ta, indices_map = TensorArray.unpack(sentence_input, 0, sort_by_length)
        states, step_outputs = TensorArray(), TensorArray()
        boot_state, shrink = in_order_of_the_steps(sentence_input, boot_state, sort_by_length)
        for step in range(len(ta)):
            state = shrink(step, boot_state if step == 0 else states.read(step - 1))
            step_input = ta.read(step)
            step_output = rnnstep(step_input, state)
            states.write(step, step_output)
            step_outputs.write(step, step_output, data_shared=True)
        return step_outputs.pack(0, indices_map)

    check_sentences(rnn)


def in_order_of_the_steps(x, boot, sort_by_length):
    """Bring boot states into the order of step 0, and tell how a state shrinks to the batch of its step."""
    if sort_by_length:
        table = pd.lod_rank_table(x)
        return pd.reorder_by_rank(boot, table), lambda step, state: pd.shrink_memory(state, step, table)
    lengths = x.lod.lengths()

    def shrink(step, state):
        left = lengths if step == 0 else lengths[lengths >= step]
        return state[np.flatnonzero(left > step)]

    return boot, shrink


# -- "Design for TensorArray", as operators: a while loop with a frame ------------------------------------------------


def test_the_while_loop_with_a_frame():
    def rnn(input, default_state, W, U):
        states = VarArray()
        step_inputs = TensorArray(unstack_from=input) if isinstance(input, np.ndarray) else TensorArray.unstack(input)
        step_outputs = TensorArray()
        num_steps = step_inputs.size()
        step = np.array(0)

        wloop = while_loop(loop_vars=[step])
        with wloop.frame():
            wloop.break_if(pd.equal(step, num_steps))
            pre_state = states.get(pd.minus(step, 1), default_state)
            step_input = step_inputs.read(step)
            state = pd.sigmoid(pd.add(pd.matmul(pre_state, U), pd.matmul(step_input, W)))
            states.get(step).update(state)
            step_outputs.write(step, state)  # output state

        return step_outputs.stack()

    check_dense(rnn, axis=0)


def test_arrays_of_a_fixed_size():
    """`TensorArray states(size=num_steps)`: the state before the first is written at 0, the others one later."""

    def rnn(input, default_state, W, U):
        num_steps = len(input)
        states = TensorArray(size=num_steps + 1, dynamic=False)
        step_outputs = TensorArray(size=num_steps, dynamic=False)
        step_inputs = TensorArray.unstack(input)
        states.write(0, default_state)
        wloop = while_loop()
        with wloop.frame():
            step = wloop.loop_var(0)
            wloop.break_if(pd.greater_equal_than(step, num_steps))
            state = pd.sigmoid(pd.matmul(states.read(step), U) + pd.matmul(step_inputs.read(step), W))
            states.write(step + 1, state)
            step_outputs.write(step, state)
        return step_outputs.stack()

    check_dense(rnn, axis=0)


@pytest.mark.parametrize("recompute", [False, True])
def test_the_while_loop_over_sentences(recompute):
    """The state shrinks to the batch of its step; the boot state is brought into the order of the map."""

    def rnn(input, boot_state, W, U):
        step_inputs, indices_map = TensorArray.unpack(input, level=0, sort_by_length=True)
        table = pd.lod_rank_table(input)
        default_state = pd.reorder_by_rank(boot_state, table)
        states, step_outputs = VarArray(), TensorArray()

        wloop = while_loop(recompute=recompute)
        with wloop.frame():
            step = wloop.loop_var(0)
            wloop.break_if(pd.greater_equal_than(step, step_inputs.size()))
            pre_state = pd.shrink_memory(states.get(step - 1, default_state), step, table)
            state = pd.sigmoid(pre_state @ U + step_inputs.read(step) @ W)
            states.get(step).update(state)
            step_outputs.write(step, state)

        return step_outputs.pack(0, indices_map)

    check_sentences(rnn)


def test_the_state_as_a_loop_variable():
    def rnn(input, boot_state, W, U):
        step_inputs, _ = TensorArray.unpack(input, 0)
        table = pd.lod_rank_table(input)
        step_outputs = TensorArray()
        first = pd.reorder_by_rank(boot_state, table)
        loop = while_loop()
        with loop.loop():
            time, state = loop.loop_var(0), loop.loop_var(first)
            loop.break_if(time >= step_inputs.size())
            state.update(pd.sigmoid(pd.shrink_memory(state, time, table) @ U + step_inputs.read(time) @ W))
            step_outputs.write(time, state)
        return step_outputs

    shifted, _ = vjp(rnn, SENTENCES, BOOT, W, U)
    assert [len(step) for step in shifted] == [7, 5, 4, 3], "reads of a loop variable see what it was"


# -- "Design of Dynamic RNN with Beamsearch" -------------------------------------------------------------------------


def test_the_static_rnn():
    """`for step_input in dataset: output, state = lstm(step_input, state)`: a wide graph."""

    def rnn(dataset, state, w, u):
        def cell(step_input, state):
            output = pd.sigmoid(step_input @ w + state @ u)
            return output, output

        outputs = TensorArray()
        for number, step_input in enumerate(dataset):
            output, state = cell(step_input, state)
            outputs.write(number, output)
        return outputs.stack()

    check_dense(rnn, axis=0)


def dynamic_rnn(input, boot_state, W, U, time_steps_at_once=True):
    # if dynamic, vararray will extend dynamically if more entries needed
    states = VarArray(dynamic=True)
    step_inputs = VarArray().segment(input)  # segment is an operator

    # a scalar
    time = pd.Variable("time", np.array(0, np.int32))
    # segmented steps, size() is an operator which takes a VarArray as input and outputs a scalar tensor
    num_steps = step_inputs.size()

    whl = pd.while_loop()

    # by default, exec_immediately is True: on leaving the with-statement of whl.loop(), whl() will be called
    with whl.loop(exec_immediately=time_steps_at_once):
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

    if not time_steps_at_once:
        whl()

    # concatenate all states in all time steps to a large tensor
    return states.concat(axis=1)


@pytest.mark.parametrize("at_once", [True, False])
def test_the_dynamic_rnn(at_once):
    check_dense(lambda *inputs: dynamic_rnn(*inputs, at_once), axis=1)


def test_the_dynamic_rnn_over_sentences():
    def rnn(input, boot_state, W, U):
        states, step_inputs = VarArray(), VarArray().segment(input)
        table = pd.lod_rank_table(input)
        boot = pd.reorder_by_rank(boot_state, table)
        whl = pd.while_loop()
        with whl.loop():
            time = whl.loop_var(0)
            whl.break_if(time >= step_inputs.size())
            prestate = pd.shrink_memory(states.get(time - 1, boot), time, table)
            states.get(time).update(pd.sigmoid(step_inputs.get(time) @ W + prestate @ U))
        return states.pack(step_inputs)

    check_sentences(rnn)


def test_the_dynamic_rnn_as_a_program():
    """Recorded once, fed with inputs of any number of steps."""
    with Program() as program:
        input = data("input", (None, 4, WIDTH), "float64")
        boot_state = data("boot_state", (4, HIDDEN), "float64")
        W_, U_ = parameter(W, "W"), parameter(U, "U")
        allstates = dynamic_rnn(input, boot_state, W_, U_)
        loss = pd.ops.sum(allstates * allstates)
        append_backward(loss)
    assert "while_loop" in str(program)
    for steps in (5, 1, 3):
        feed = {"input": DENSE[:steps], "boot_state": BOOT_DENSE}
        names = ["input@GRAD", "boot_state@GRAD", "W@GRAD", "U@GRAD"]
        found, *gradients = Executor().run(program, feed, [allstates, *names])
        d = 2 * found.reshape(4, steps, HIDDEN)
        states, d_x, d_boot, d_w, d_u = expected(np.moveaxis(DENSE[:steps], 1, 0), BOOT_DENSE, d)
        np.testing.assert_allclose(found.reshape(4, steps, HIDDEN), states, rtol=1e-12)
        for one, other in zip(gradients, [np.moveaxis(d_x, 0, 1), d_boot, d_w, d_u], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)


def test_the_dynamic_rnn_over_sentences_as_a_program():
    """Recorded once, fed with sentences of any lengths: their ranks are recorded, too."""
    with Program() as program:
        input = data("input", (None, WIDTH), "float64", num_levels=1)
        boot_state = data("boot_state", (None, HIDDEN), "float64")
        W_, U_ = parameter(W, "W"), parameter(U, "U")
        table = pd.lod_rank_table(input)
        step_inputs, indices_map = TensorArray.unpack(input, 0)
        first, step_outputs = pd.reorder_by_rank(boot_state, table), TensorArray()
        whl = pd.while_loop()
        with whl.loop():
            time, before = whl.loop_var(0), whl.loop_var(first)
            whl.break_if(time >= step_inputs.size())
            state = pd.sigmoid(step_inputs.read(time) @ W_ + pd.shrink_memory(before, time, table) @ U_)
            step_outputs.write(time, state)
            before.update(state)
        allstates = step_outputs.pack(0, indices_map)
        append_backward(pd.ops.sum(allstates * allstates))
    for chosen in ([0, 1, 2, 3, 4, 5, 6], [1, 5], [], [3, 3, 2]):
        feed = {"input": pd.gather_sequences(SENTENCES, chosen), "boot_state": BOOT[chosen]}
        names = ["input@GRAD", "boot_state@GRAD", "W@GRAD", "U@GRAD", table]
        found, d_input, d_boot_state, *d_weights, ranks = Executor().run(program, feed, [allstates, *names])
        assert found.lod == feed["input"].lod is d_input.lod
        assert ranks.lengths.tolist() == sorted(found.lengths.tolist(), reverse=True)
        d = LoDTensor(2 * found.values, found.lod).to_arrays()
        states, d_x, d_boot, *wanted = expected(feed["input"].to_arrays(), feed["boot_state"], d)
        for one, other in [
            (found.values, [row for rows in states for row in rows]),
            (d_input.values, [row for rows in d_x for row in rows]),
            (d_boot_state, d_boot),
            *zip(d_weights, wanted, strict=True),
        ]:
            wanted_here = np.reshape(other, one.shape) if np.size(other) == one.size else 0  # no sentences: no slope
            np.testing.assert_allclose(one, wanted_here, rtol=1e-11, atol=1e-13)


def test_nothing_but_empty_sentences():
    """The ancestor dies of them."""
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
