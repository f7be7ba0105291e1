"""Programs and loops: the cost of a recorded call and of a step next to plain functions, and a recurrent network."""

import functools
from abc import ABC, abstractmethod

import numpy as np

import lodcore
from lodcore import LoDTensor, TensorArray, ops
from lodcore.graph import Executor, Program, append_backward, data, map_fn, parameter, while_loop

from . import rnn_by_hand

ROW = np.ones(8)
CALLS = 100  # in a Program, so that the fixed cost of a run does not count
STEPS = 200


class Timed(ABC):
    """Seconds of a call that `prepared` makes from the parameters, after a first one that makes the plan."""

    repeat = (5, 30, 1.0)
    rounds = 1
    warmup_time = 0.05

    @abstractmethod
    def prepared(self, *parameters): ...

    def setup(self, *parameters):
        self.call = self.prepared(*parameters)
        self.call()

    def time_call(self, *parameters):
        self.call()


class Recorded(Timed):
    """100 calls of one operator in sequence: its function in a Python loop, recorded in a Program."""

    params = [["function", "recorded"], ["tanh", "relu"]]
    param_names = ["way", "operator"]

    def prepared(self, way, name):
        operator = getattr(ops, name)
        return functions(operator.__wrapped__) if way == "function" else recorded(operator)


class MapFn(Timed):
    """A function of a row, over all rows: called on the whole array, and mapped; one that only runs row by row."""

    params = [["called", "mapped", "row by row"], ["value", "gradient"]]
    param_names = ["way", "result"]

    def prepared(self, way, result):
        rng = np.random.default_rng(0)
        rows, weight = rng.standard_normal((2000, 64)), rng.standard_normal((64, 64)) / 8

        def function(row, weight):
            return ops.tanh(row @ weight if way != "row by row" else ops.sum(row * weight, axis=1))

        def loss(rows, weight):
            whole = way == "called"
            return ops.sum(function(rows, weight) if whole else map_fn(lambda row: function(row, weight), rows))

        run = loss if result == "value" else lodcore.value_and_grad(loss, (0, 1))
        return lambda: run(rows, weight)


def functions(function):
    def call():
        x = ROW
        for _ in range(CALLS):
            x = function(x)
        return x

    return call


def recorded(operator):
    with Program() as program:
        x = data("x", (8,), "float64")
        for _ in range(CALLS):
            x = operator(x)
    executor, fetch = Executor(), [x]
    return lambda: executor.run(program, {"x": ROW}, fetch)


class Step(Timed):
    """200 steps of a loop over 1 to 6 cheap operators: their functions in a Python loop, a while_loop."""

    params = [["functions", "while_loop"], [1, 2, 3, 4, 5, 6]]
    param_names = ["way", "operators"]

    def prepared(self, way, count):
        return steps_of_functions(count) if way == "functions" else steps_of_a_loop(count)


def steps_of_functions(count):
    tanh, stops = lodcore.tanh.__wrapped__, lodcore.greater_equal_than.__wrapped__

    def call():
        x, step = ROW, np.int64(0)
        while not stops(step, STEPS):
            for _ in range(count):
                x = tanh(x)
            step = step + 1
        return x

    return call


def steps_of_a_loop(count):
    loop = while_loop()
    with loop.loop(exec_immediately=False):
        x = loop.loop_var(ROW)
        loop.break_if(lodcore.greater_equal_than(loop.step(), STEPS))
        y = x
        for _ in range(count):
            y = lodcore.tanh(y)
        x.update(y)
    return loop


class Network(Timed):
    """A recurrent network of tanh over sequences of 1 to 50 rows, and the gradients of its input and its weights.

    - program: a while_loop over shrinking batches, recorded once in a Program
    - vjp: the same, recorded again by each call
    - shrinking: by hand, in NumPy, over the same batches
    - padded: by hand, in NumPy, padded to the longest sequence
    """

    params = [["program", "vjp", "shrinking", "padded"], ["32 x 64", "128 x 256"]]
    param_names = ["way", "sequences x width"]

    def prepared(self, way, size):
        count, width = map(int, size.split(" x "))
        return getattr(self, way)(*weights_and_rows(count, width))

    def program(self, x, *weights):
        state = np.zeros((len(x), x.shape[-1]), np.float32)
        with Program() as program:
            rows = data("x", (None, x.shape[-1]), "float32", num_levels=1)
            loss = network(rows, *[parameter(w, f"w{j}") for j, w in enumerate(weights)], state)
            gradients = append_backward(loss)
        executor, fetch = Executor(), [loss, "x@GRAD", *[d for _, d in gradients]]
        return lambda: executor.run(program, {"x": x}, fetch)

    def vjp(self, x, *weights):
        state = np.zeros((len(x), x.shape[-1]), np.float32)

        def call():
            loss, pullback = lodcore.vjp(lambda *given: network(*given, state), x, *weights)
            return [loss, *pullback(1.0)]

        return call

    def shrinking(self, x, *weights):
        return lambda: rnn_by_hand.shrinking(x.values, x.offsets, *weights)

    def padded(self, x, *weights):
        return lambda: rnn_by_hand.padded(x.values, x.offsets, *weights)


@functools.cache
def weights_and_rows(count, width):
    rng = np.random.default_rng(7)
    lengths = rng.integers(1, 51, count)
    lengths[0] = 50
    rows = rng.standard_normal((lengths.sum(), width), np.float32)
    of_input, of_state = (rng.standard_normal((width, width), np.float32) / np.float32(2 * width**0.5) for _ in "ws")
    return LoDTensor.from_lengths(rows, lengths), of_input, of_state, rng.standard_normal(width, np.float32)


def network(x, of_input, of_state, bias, first):
    """Return the sum of all states: tanh(x @ of_input + state @ of_state + bias), step by step."""
    steps, indices_map = lodcore.tensor_array_unpack(x, 0)
    table = lodcore.lod_rank_table(x)
    states = TensorArray()
    loop = while_loop()
    with loop.loop():
        step, state = loop.step(), loop.loop_var(first)
        loop.break_if(lodcore.greater_equal_than(step, steps.size()))
        left = lodcore.shrink_memory(state, step, table)
        total = lodcore.matmul(steps.read(step), of_input) + lodcore.matmul(left, of_state) + bias
        new = lodcore.tanh(total)
        states.write(step, new)
        state.update(new)
    return ops.sum(states.pack(0, indices_map))
