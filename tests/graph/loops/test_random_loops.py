"""Random bodies of loops: results are those of the reference, gradients those of the unrolled body."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import lodcore
from lodcore import TensorArray, vjp
from tests.helpers import bodies
from tests.helpers.bodies import OPERATORS, contents, in_reference, loops, new_arrays, record
from tests.helpers.draw import at_most

pytestmark = pytest.mark.not_on_reference  # no kernels


def inputs(seed):
    values = np.random.default_rng(seed).uniform(-0.9, 0.9, (3, 2))
    values.flags.writeable = False
    return dict(zip(["x", "y", "w"], values, strict=True))


def expected(loop, names, **options):
    """Run the reference: return variables and arrays, or None if it reads a missing element."""
    try:
        found = in_reference(loop, {**names, "p": {}, "q": {}}, **options)
    except IndexError:
        return None
    return {v: found[v] for v in (*loop["vars"], *loop["counters"])}, {name: found[name] for name in ("p", "q")}


@given(loop=loops(), seed=st.integers(0, 9))
def test_random_loops_equal_the_reference(loop, seed):
    names = inputs(seed)
    arrays = new_arrays()
    wanted = expected(loop, names)
    if wanted is None:
        with pytest.raises(IndexError, match="while_loop: step"):
            record(loop, {**names, **arrays})
        assert [array.size() for array in arrays.values()] == [0, 0], "nothing is half-written"
        return
    ended = record(loop, {**names, **arrays})
    for v, value in wanted[0].items():
        np.testing.assert_array_equal(ended[v].get(), value, strict=isinstance(value, np.ndarray))
    for name, array in arrays.items():
        held = contents(array)
        assert held.keys() == wanted[1][name].keys()
        assert array.size() == max(held, default=-1) + 1
        for at, value in held.items():
            np.testing.assert_array_equal(value, wanted[1][name][at], strict=True)


def looped(loop, **options):
    """Make the function that runs a loop, of three inputs."""

    def f(x, y, w):
        arrays = new_arrays()
        ended = record(loop, {"x": x, "y": y, "w": w, **arrays}, **options)
        return [ended[v] for v in loop["vars"]], list(arrays.values())

    return f


def unrolled(loop):
    """Make the function that runs the same body step by step on Variables."""

    def f(x, y, w):
        found = in_reference(loop, {"x": x, "y": y, "w": w, "p": {}, "q": {}}, OPERATORS)
        arrays = []
        for name in ("p", "q"):
            array = TensorArray()
            for at, value in sorted(found[name].items()):
                array.write(at, value)
            arrays.append(array)
        return [found[v] for v in loop["vars"]], arrays

    return f


def cotangents(outputs, seed):
    """Draw cotangents for variables and arrays, None for holes."""
    random = np.random.default_rng(seed)
    of_arrays = []
    for array in outputs[1]:
        held = contents(array)
        of_arrays.append([random.standard_normal(held[at].shape) if at in held else None for at in range(array.size())])
    return [random.standard_normal(y.shape) for y in outputs[0]], of_arrays


@given(loop=loops(), seed=st.integers(0, 9))
def test_gradients_are_those_of_the_unrolled_body(loop, seed):
    names = inputs(seed)
    assume(expected(loop, names) is not None)
    outputs, pullback = vjp(looped(loop), *names.values())
    again, pullback_again = vjp(looped(loop, recompute=True), *names.values())
    wanted, pullback_wanted = vjp(unrolled(loop), *names.values())
    d = cotangents(outputs, seed)
    for y, other, y_wanted in zip(outputs[0], again[0], wanted[0], strict=True):
        np.testing.assert_array_equal(y, y_wanted)
        np.testing.assert_array_equal(y, other)
    found = pullback(*d)
    for gradient, gradient_wanted in zip(found, pullback_wanted(*d), strict=True):
        np.testing.assert_allclose(gradient, gradient_wanted, rtol=1e-12, atol=1e-13)
    for gradient, other in zip(found, pullback_again(*d), strict=True):
        np.testing.assert_array_equal(gradient, other, "recompute=True gives the same bits")
    for gradient, other in zip(found, pullback(*d), strict=True):
        np.testing.assert_array_equal(gradient, other, "a pullback may be called again")


@at_most(50)
@given(loop=loops(), seed=st.integers(0, 9))
def test_gradients_of_drawn_loops_are_derivatives(loop, seed):
    names = inputs(seed)
    assume(expected(loop, names) is not None)
    limits = [limit for kind, *_, limit in bodies.flat(loop) if kind == "break above"]
    assume(not limits)  # a break that depends on values is a discontinuity

    def f(x, y, w):
        variables, arrays = looped(loop)(x, y, w)
        written = []
        for array in arrays:
            size = int(array.size())
            written += [array.read(at) for at in range(size) if holds(array, at)]
        return [*variables, *written]

    lodcore.grad_check(f, *names.values(), rtol=1e-7, step=1e-5)


def holds(array, at):
    try:
        array.read(at)
    except IndexError:
        return False
    return True
