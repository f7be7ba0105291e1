"""Cases of the leak tests: CASES by name, each a function that makes the call."""

import functools
from contextlib import suppress

import numpy as np

import lodcore
from lodcore import LoDTensor, TensorArray, ops, tree_map, value_and_grad, vjp
from lodcore.graph import Executor, Program, Scope, VarArray, append_backward, cond, data, map_fn, parameter, while_loop
from lodcore.graph.gradients.cotangents import differentiable, values_of
from lodcore.operators.registry import OPS
from lodcore.testing.samples import tensors_of, with_tensors
from lodcore.testing.ways import AT_ONCE, IN_PROGRAMS
from tests.samples import SAMPLES

__all__ = ["CASES"]

W = np.array([[0.5, -0.25], [0.125, 0.75]])
ROWS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])
X = LoDTensor.from_lengths(np.arange(12.0).reshape(6, 2) / 8, [2, 0, 3, 1])


# -- operators, in every way of running --------------------------------------------------------------------------------


def sample(name):
    return SAMPLES[name].small()


def in_one_way(way, name):
    return lambda: way(OPS[name], sample(name))  # some calls write to their arguments


def cotangent(y):
    """Make a cotangent of a result of any kind."""
    if not differentiable(y):
        return None
    if isinstance(y, TensorArray):
        return [np.ones(values_of(element).shape) for element in y]
    return np.ones(values_of(y).shape)


def forward_and_backward(name):
    """Differentiate an operator with respect to all its tensors."""
    op, given = OPS[name], sample(name)
    tensors = tensors_of(given)

    def run(*variables):
        rest = iter(variables)
        made = with_tensors(given, lambda x: next(rest))
        return op(*made.args, **made.kwargs)

    def call():
        results, pullback = vjp(run, *tensors)
        results = results if isinstance(results, tuple) else (results,)
        pullback(*map(cotangent, results))

    return call


def of_operators():
    for name in sorted(SAMPLES):
        for way, run in {**AT_ONCE, **IN_PROGRAMS}.items():
            yield f"{name}, {way}", functools.partial(in_one_way, run, name)
        if OPS[name].gradient and tensors_of(sample(name)):
            yield f"{name}, forward and backward", functools.partial(forward_and_backward, name)


# -- loops and programs ----------------------------------------------------------------------------------------------


def rnn(make_loop, x, w):
    """Run a recurrent network over sequences, with a shrinking state."""
    steps, outputs, first = VarArray().segment(x), TensorArray(), lodcore.sequence_pool(x, "last")
    loop = make_loop()
    with loop.loop():
        t = loop.loop_var(0)
        loop.break_if(t >= steps.size())
        state = loop.loop_var(first)
        before = lodcore.shrink_memory(state, t, steps.rank)
        new = lodcore.tanh(steps.get(t) @ w + before @ w)
        outputs.write(t, new)
        state.update(new)
    return outputs.pack(0, steps.rank)


def loss(make_loop, x, w):
    return ops.sum(rnn(make_loop, x, w))


def loop_at_once():
    return lambda: rnn(while_loop, X, W)


def loop_under_vjp(**options):
    return lambda: vjp(functools.partial(loss, functools.partial(while_loop, **options)), X, W)[1](1.0)


def loop_that_runs_again():
    array = TensorArray.unstack(ROWS)
    loop = while_loop()
    with loop.loop(exec_immediately=False):
        t, s = loop.loop_var(0), loop.loop_var(ROWS[0])
        loop.break_if(t >= 3)
        array.write(t, array.read(t) * s)
        s.update(s + array.read(t))
    return loop


def loop_that_runs_in_another():
    loop = loop_that_runs_again()

    def call():
        around = while_loop()
        with around.loop():
            around.break_if(around.step() >= 2)
            loop()

    return call


def branches_under_vjp():
    def f(x):
        array = TensorArray()
        y = cond(X.lengths > 1, lambda x: x * 2.0, lambda x: -x, x)
        return cond(ops.sum(y) > 0, lambda: [array.write(0, y), y][1], lambda: y * y)

    return lambda: vjp(f, X)[1](X)


def loop_that_fails():
    def call():
        with suppress(IndexError):
            array, loop = TensorArray(), while_loop()
            with loop.loop():
                t = loop.step()
                loop.break_if(t >= 3)
                array.write(t, ROWS)
                array.read(t + 1)

    return call


def loop_that_cannot_be_recorded():
    def call():
        with suppress(ZeroDivisionError):
            loop = while_loop()
            with loop.loop():
                lodcore.mul(loop.loop_var(1.0), 1 / 0)

    return call


def scopes_of_steps():
    def call():
        loops = []
        _, pullback = vjp(lambda x, w: loss(lambda: loops.append(while_loop()) or loops[0], x, w), X, W)
        [scope.local_var_names() for scope in loops[0].step_scopes]
        pullback(1.0)

    return call


def map_fn_in_map_fn():
    def call():
        def f(x, w):
            total = TensorArray()
            total.write(0, w[0])

            def of_row(row):
                total.write(0, total.read(0) + row)
                return row @ w * total.read(0)

            return ops.sum(map_fn(lambda part: map_fn(of_row, part), x))

        vjp(f, X, W)[1](1.0)

    return call


def arrays_of_python():
    def call():
        def f(x):
            array = TensorArray()
            for k in range(3):
                array.write(k, x[k] * (k + 1.0))
            array.write(0, array.read(1) * array.read(2))
            return ops.sum(array.stack())

        value_and_grad(f)(ROWS)

    return call


def one_pullback():
    pullback = vjp(functools.partial(loss, while_loop), X, W)[1]
    return lambda: pullback(1.0)


def program_of_a_network():
    with Program() as program:
        x = data("x", (None, 2), "float64", num_levels=1)
        w = parameter(W, "w")
        found = loss(while_loop, x, w)
        append_backward(found)
    return program, found


def program_that_runs_again():
    program, found = program_of_a_network()
    executor = Executor()

    def call():
        executor.run(program, {"x": X}, [found, "w@GRAD"])
        executor.scope.local_var_names()

    return call


def program_that_is_made_anew():
    def call():
        program, found = program_of_a_network()
        Executor().run(program, {"x": X}, [found, "x@GRAD"])

    return call


def program_that_is_written_out():
    program = program_of_a_network()[0]
    return lambda: (str(program), program.to_dot())


def program_that_is_fed_wrongly():
    program, found = program_of_a_network()

    def call():
        with suppress(lodcore.LoDError):
            Executor().run(program, {"x": ROWS}, [found])

    return call


def scopes():
    def call():
        scope = Scope()
        for name in "abc":
            scope.new_scope().var(name).set(ROWS)
        scope.drop_kids()

    return call


def training():
    def call():
        parameters = {"w": W, "more": [W[0]]}

        def f(parameters):
            return ops.sum(lodcore.tanh(X @ parameters["w"]) * parameters["more"][0])

        derivatives = value_and_grad(f)(parameters)[1]
        tree_map(lambda x: x * 0.5, derivatives)

    return call


LOOPS = {
    "loop at once": loop_at_once,
    "loop under vjp": loop_under_vjp,
    "loop under vjp, with recompute": functools.partial(loop_under_vjp, recompute=True),
    "loop that runs again": loop_that_runs_again,
    "loop that runs in another": loop_that_runs_in_another,
    "branches under vjp": branches_under_vjp,
    "loop that fails": loop_that_fails,
    "loop that cannot be recorded": loop_that_cannot_be_recorded,
    "Scopes of steps": scopes_of_steps,
    "map_fn in map_fn, forward and backward": map_fn_in_map_fn,
    "arrays of Python, forward and backward": arrays_of_python,
    "one pullback, again and again": one_pullback,
    "Program that runs again": program_that_runs_again,
    "Program that is made anew": program_that_is_made_anew,
    "Program that is written out": program_that_is_written_out,
    "Program that is fed wrongly": program_that_is_fed_wrongly,
    "Scopes": scopes,
    "training of a tree": training,
}

CASES = {**LOOPS, **dict(of_operators())}
