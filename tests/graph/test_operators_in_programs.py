"""Every operator where nothing has a value while it is recorded: in a Program, and in the body of a loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodcore import TensorArray, ops, vjp
from lodcore.graph import Executor, Program, append_backward, data, while_loop
from lodcore.graph.gradients import differentiable
from lodcore.registry import OPS, spec_of
from tests.samples import SAMPLES
from tests.test_operators import bits, dense, with_variables

NAMES = sorted(SAMPLES)
#: What gives tensors: those that give arrays of steps have gradients only through what is read of them.
SMOOTH = sorted(
    name
    for name, samples in SAMPLES.items()
    if samples.smooth is not None
    and name
    not in (
        "tensor_array_fill",
        "tensor_array_new",
        "tensor_array_unpack",
        "tensor_array_unstack",
        "tensor_array_write",
    )
)


def fed(call, feed):
    """Give the arguments of a call with Variables for its tensors, which are put into `feed`."""

    def declare(x):
        if isinstance(x, TensorArray):
            return x
        name, spec = f"x{len(feed)}", spec_of(x)
        feed[name] = x
        return data(name, spec._replace(shape=(None,) * (len(spec.shape) > 0) + spec.shape[1:]))

    return with_variables(call, declare)


def squared(outputs):
    """Add up the squares of all real numbers of results."""
    total = 0.0
    for out in several(outputs):
        if out.dtype.kind == "f":
            total = total + ops.sum(ops.mul(out, out))
    return total


def computed(name, call):
    """Call an operator on arrays of their own, which it may write to."""
    args, kwargs = with_variables(call, lambda x: x.clone() if isinstance(x, TensorArray) else x)
    return OPS[name](*args, **kwargs)


def several(outputs):
    return outputs if isinstance(outputs, tuple) else (outputs,)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(drawn=st.data())
def test_a_program_gives_what_the_call_gives(name, drawn):
    call = drawn.draw(SAMPLES[name].calls)
    eager = computed(name, call)
    feed = {}
    with Program() as program:
        args, kwargs = fed(call, feed)
        outputs = OPS[name](*args, **kwargs)
    if not feed:
        return
    found = Executor().run(program, feed, several(outputs))
    assert tuple(map(bits, found)) == tuple(map(bits, several(eager)))
    assert name in str(program)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(drawn=st.data())
def test_the_body_of_a_loop_gives_what_the_call_gives(name, drawn):
    call = drawn.draw(SAMPLES[name].calls)
    eager = several(computed(name, call))
    arrays = [TensorArray() if isinstance(x, TensorArray) else None for x in eager]
    loop = while_loop()
    with loop.loop():
        loop.break_if(loop.step() >= (1 if any(array is not None for array in arrays) else 2))
        outputs = several(OPS[name](*call.args, **call.kwargs))
        kept = [loop.loop_var(x) if array is None else array for x, array in zip(eager, arrays, strict=True)]
        for v, array, out in zip(kept, arrays, outputs, strict=True):
            if array is None:
                v.update(out)
            else:
                OPS["tensor_array_fill"](array, out)
    found = [v.get() if array is None else array for v, array in zip(kept, arrays, strict=True)]
    assert tuple(map(bits, found)) == tuple(map(bits, eager))


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=15)
@given(drawn=st.data())
def test_a_program_has_the_gradients_of_the_call(name, drawn):
    call = drawn.draw(SAMPLES[name].smooth)
    feed = {}
    with Program() as program:
        args, kwargs = fed(call, feed)
        smooth = [key for key, x in feed.items() if differentiable(x)]
        loss = squared(OPS[name](*args, **kwargs))
        if not smooth:
            return
        append_backward(loss)
    found = Executor().run(program, feed, [f"{key}@GRAD" for key in smooth])

    def run(*variables):
        rest = iter(variables)
        args, kwargs = with_variables(
            call, lambda x: next(rest) if differentiable(x) and not isinstance(x, TensorArray) else x
        )
        return squared(OPS[name](*args, **kwargs))

    _, pullback = vjp(run, *[feed[key] for key in smooth])
    for one, other in zip(found, pullback(1.0), strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_equal(dense(one), dense(other))
