"""Programs for files: with the feed and the names of what is fetched."""

import numpy as np

import lodcore
from lodcore import nn
from lodcore.graph import Executor, Program, append_backward, data, map_fn, parameter, while_loop

ROWS = lodcore.LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [1, 2])


def training(rate=0.1, optimizer=nn.Adam):
    """A training with dropout, clipped gradients and an optimizer."""
    with Program() as program:
        x = data("x", (None, 2), "float64", num_levels=1)
        parameters = {"w": parameter(np.ones((2, 3)), "w"), "b": parameter(np.zeros(3), "b")}
        hidden = lodcore.tanh(x @ parameters["w"] + parameters["b"])
        dropped = nn.dropout(hidden, 0.5, np.random.default_rng(0))
        loss = lodcore.mul(lodcore.ops.sum(dropped * dropped), 1.0, name="loss")
        gradients, _ = nn.clip_by_global_norm(append_backward(loss, parameters=parameters), 1.0)
        optimizer(rate).step(parameters, gradients)
    return program, {"x": ROWS}, ["loss"]


def scheduled():
    """The same with a learning rate that falls."""
    return training(nn.cosine_schedule(0.1, 10, 2), lambda rate: nn.SGD(rate, momentum=0.5))


def loops():
    """A loop with a condition in it, and one over the sequences."""
    with Program() as program:
        n, x = data("n", (), "int64"), data("x", (None,), "float64", num_levels=1, cast=True)
        loop = while_loop(max_steps=50)
        with loop.loop():
            step, total = loop.loop_var(0), loop.loop_var(1.0)
            loop.break_if(lodcore.greater_equal_than(step, n))
            more = lodcore.greater_than(total, 10.0)
            total.update(lodcore.cond(more, lambda v: v + 1, lambda v: v * 3, total))
        last = lodcore.mul(total, 1.0, name="last")
        map_fn(lambda row: row * 2 + last, x)
    return program, {"n": 7, "x": lodcore.array([[1.0], [2.0, 3.0]])}, ["last"]


def arrays():
    """A TensorArray from outside, steps of sequences in the order of their lengths, and a recurrent network."""
    outside = lodcore.TensorArray(unstack_from=np.arange(6.0).reshape(3, 2))
    layer = nn.GRU(1, 2)
    weights = layer.init(np.random.default_rng(1), dtype=np.float64)
    with Program() as program:
        x = data("x", (None, 1), "float64", num_levels=1)
        steps, places = lodcore.TensorArray.unpack(x, 0)
        lodcore.mul(steps.pack(0, places), 2.0, name="packed")
        lodcore.mul(outside.read(0), 3.0, name="element")
        states, _ = nn.dynamic_rnn(layer.cell, lodcore.tree_map(parameter, weights), x, np.zeros((2, 2)))
        lodcore.mul(states, 1.0, name="states")
        lodcore.mul(x[::-1], 1.0, name="turned")
        lodcore.mul(np.linalg.inv(parameter(np.eye(2) * 2.0, "m")), 1.0, name="inverse")
    feed = {"x": lodcore.LoDTensor.from_lengths(np.arange(3.0).reshape(3, 1), [1, 2])}
    return program, feed, ["packed", "element", "states", "turned", "inverse"]


MAKERS = [training, scheduled, loops, arrays]


def results(program, feed, fetch, runs=2):
    """Return the results of some runs, and the values of the Scope at the end, as bytes."""
    executor = Executor()
    found = [executor.run(program, feed, fetch) for _ in range(runs)]
    found.append([executor.scope.get(v) for v in program.parameters])
    return [as_bytes(one) for each in found for one in each]


def as_bytes(x):
    """Return the structure and the bits of a tensor."""
    if isinstance(x, lodcore.LoDTensor):
        return [x.tolist().__repr__(), x.dtype.str, np.ascontiguousarray(x.values).tobytes()]
    return [np.shape(x), np.asarray(x).dtype.str, np.ascontiguousarray(x).tobytes()]
