"""The ways of running a text: at once, under vjp, with recompute, in a Program, in the body of a loop.

A text is a function `text(while_loop, *inputs)` that makes its loops with the given `while_loop`; it returns a tensor,
or a tuple of tensors. Its meaning is a function of plain Python, `meaning(*inputs)`, of arrays and LoDTensors.
"""

import functools
import math

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray, ops, vjp
from lodcore.base.dispatch import Symbol
from lodcore.graph import Executor, Program, append_backward, data, while_loop
from lodcore.operators.roles import spec_of


def listed(result):
    """List the results of a text."""
    return list(result) if isinstance(result, (list, tuple)) else [result]


def value_of(x):
    """Return the content of a result: a LoDTensor, or an ndarray."""
    held = x.get() if isinstance(x, Symbol) else x
    return held if isinstance(held, LoDTensor) else np.asarray(held)


def rows_of(x):
    """Return the values of a tensor, without its structure."""
    return x.values if isinstance(x, LoDTensor) else np.asarray(x)


def is_real(x):
    """Return whether a tensor has a gradient."""
    return rows_of(x).dtype.kind == "f"


# -- each returns the results, and the gradients of `loss` (None at once, and for integers) --------------------------


def loss(results):
    """Compute the number whose gradients are compared, with derivative 2 y + 1 for each entry y of the results."""
    return sum(float(np.sum(rows_of(y) ** 2 + rows_of(y))) for y in results if is_real(y))


def at_once(text, *inputs):
    return [value_of(y) for y in listed(text(while_loop, *inputs))], None


def under_vjp(text, *inputs, make_loop=while_loop):
    def results_of(*variables):
        return listed(text(make_loop, *variables))

    results, pullback = vjp(results_of, *inputs)
    results = [value_of(y) for y in results]
    cotangents = [2 * rows_of(y) + 1 if is_real(y) else None for y in results]
    return results, pullback(*cotangents)


def with_recompute(text, *inputs):
    return under_vjp(text, *inputs, make_loop=functools.partial(while_loop, recompute=True))


def declared(name, x):
    """Declare an input of a Program, with an unknown number of rows."""
    spec = spec_of(x)
    return data(name, spec._replace(shape=(None, *spec.shape[1:])) if spec.shape else spec)


def in_a_program(text, *inputs):
    """Run twice, so that anything left behind by the first run would show in the second."""
    with Program() as program:
        results = listed(text(while_loop, *[declared(f"input{j}", x) for j, x in enumerate(inputs)]))
        real = [y for y in results if y.dtype.kind == "f"]
        append_backward(functools.reduce(lodcore.add, [ops.sum(y * y) + ops.sum(y) for y in real]))
    names = [f"input{j}@GRAD" for j, x in enumerate(inputs) if is_real(x)]
    for _ in range(2):
        feed = {f"input{j}": x for j, x in enumerate(inputs)}
        found = Executor().run(program, feed, [*results, *names])
    rest = iter(found[len(results) :])
    return [value_of(y) for y in found[: len(results)]], [next(rest) if is_real(x) else None for x in inputs]


def in_a_body(text, *inputs):
    """Run in each of two steps of an outer loop; the results are those of the second step."""

    def twice(make_loop, *variables):
        kept = []
        around = make_loop()
        with around.loop():
            step = around.loop_var(0)
            around.break_if(step >= 2)
            for place, y in enumerate(listed(text(make_loop, *variables))):
                if place == len(kept):
                    kept.append(arrays[place])
                kept[place].write(step, y)
        return [array.read(1) for array in kept]

    arrays = [TensorArray() for _ in range(9)]
    return under_vjp(twice, *inputs)


WAYS = {
    "at once": at_once,
    "vjp": under_vjp,
    "recompute": with_recompute,
    "Program": in_a_program,
    "in a body": in_a_body,
}
RECORDED = [way for way in WAYS if way != "at once"]

every_way = pytest.mark.parametrize("way", list(WAYS))


# -- checks ----------------------------------------------------------------------------------------------------------


def derivatives(meaning, inputs, at, step=1e-5):
    """Measure the gradient of the loss with respect to one input, by central differences in plain Python."""
    values = np.array(rows_of(inputs[at]), np.float64)
    found = np.empty(values.shape)
    for place in np.ndindex(values.shape):
        moved = []
        for by in (step, -step):
            near = values.copy()
            near[place] += by
            given = list(inputs)
            given[at] = LoDTensor(near, inputs[at].lod) if isinstance(inputs[at], LoDTensor) else near
            moved.append(loss([value_of(y) for y in listed(meaning(*given))]))
        found[place] = (moved[0] - moved[1]) / (2 * step)
    return found


def assert_same(found, wanted, what, **tolerance):
    """Compare two tensors: kind, structure, shape and numbers."""
    assert isinstance(found, LoDTensor) == isinstance(wanted, LoDTensor), what
    if isinstance(wanted, LoDTensor):
        assert found.lod == wanted.lod, what
    assert rows_of(found).shape == rows_of(wanted).shape, what
    np.testing.assert_allclose(rows_of(found), rows_of(wanted), err_msg=what, **tolerance)


def check(way, text, meaning, *inputs):
    """Run a text in one way, and compare results and gradients with its meaning in plain Python."""
    results, gradients = WAYS[way](text, *inputs)
    wanted = [value_of(y) for y in listed(meaning(*inputs))]
    assert len(results) == len(wanted)
    for number, (one, other) in enumerate(zip(results, wanted, strict=True)):
        assert_same(one, other, f"result {number}", rtol=1e-11, atol=1e-12)
    for number, (x, gradient) in enumerate(zip(inputs, gradients or (), strict=False)):
        if is_real(x):
            measured = derivatives(meaning, inputs, number)
            dense = gradient.to_dense() if hasattr(gradient, "to_dense") else gradient
            scale = max(1.0, float(np.max(np.abs(measured), initial=0.0)))
            assert math.isfinite(scale)
            np.testing.assert_allclose(
                rows_of(dense), measured, rtol=0, atol=1e-6 * scale, err_msg=f"gradient of input {number}"
            )


def in_open_program(call):
    with Program():
        return call()


#: Call a function without arguments while nothing is recorded, or during a recording.
WHILE_RECORDING = {
    "at once": lambda call: call(),
    "vjp": lambda call: vjp(lambda x: [x, call()][0], np.array(0.5)),
    "Program": in_open_program,
    "in a body": lambda call: run_body(lambda step: call()),
}


def run_body(body, steps=2):
    """Run a loop whose body calls a function with the number of the step."""
    loop = while_loop()
    with loop.loop():
        step = loop.loop_var(0)
        loop.break_if(step >= steps)
        body(step)
    return loop
