"""Every operator where nothing has a value while it is recorded: in a Program, and in the body of a loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodcore import LoDTensor, ops, vjp
from lodcore.graph import Executor, Program, append_backward, data, while_loop
from lodcore.graph.gradients import differentiable
from lodcore.registry import OPS, spec_of
from tests.samples import SAMPLES
from tests.test_operators import bits, dense

NAMES = sorted(SAMPLES)
#: What gives tensors: those that give arrays of steps have gradients only through what is read of them.
SMOOTH = sorted(
    name
    for name, samples in SAMPLES.items()
    if samples.smooth is not None and name not in ("tensor_array_unpack", "tensor_array_unstack", "tensor_array_write")
)


class Recorded:
    """A call whose tensors are fed: their Variables stand in their places."""

    def __init__(self, call, feeds):
        self.feed = {}
        self.feeds = feeds
        self.args = [self.change(x) for x in call.args]
        self.kwargs = {name: self.change(x) for name, x in call.kwargs.items()}

    def change(self, x):
        if isinstance(x, list) and any(isinstance(one, (LoDTensor, np.ndarray)) for one in x):
            return [self.change(one) for one in x]
        if not isinstance(x, (LoDTensor, np.ndarray)) or not self.feeds(x):
            return x
        name, spec = f"x{len(self.feed)}", spec_of(x)
        self.feed[name] = x
        return data(name, spec._replace(shape=(None,) * (len(spec.shape) > 0) + spec.shape[1:]))


def several(outputs):
    return outputs if isinstance(outputs, tuple) else (outputs,)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(drawn=st.data())
def test_a_program_gives_what_the_call_gives(name, drawn):
    call = drawn.draw(SAMPLES[name].calls)
    eager = OPS[name](*call.args, **call.kwargs)
    with Program() as program:
        recorded = Recorded(call, lambda x: True)
        outputs = OPS[name](*recorded.args, **recorded.kwargs)
    if not recorded.feed:
        return
    found = Executor().run(program, recorded.feed, several(outputs))
    assert tuple(map(bits, found)) == tuple(map(bits, several(eager)))
    assert name in str(program)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(drawn=st.data())
def test_the_body_of_a_loop_gives_what_the_call_gives(name, drawn):
    call = drawn.draw(SAMPLES[name].calls)
    eager = OPS[name](*call.args, **call.kwargs)
    outputs = []
    loop = while_loop()
    with loop.loop():
        loop.break_if(loop.step() >= 2)
        outputs = several(OPS[name](*call.args, **call.kwargs))
        kept = [loop.loop_var(x) for x in several(eager)]
        for v, out in zip(kept, outputs, strict=True):
            v.update(out)
    assert tuple(bits(v.get()) for v in kept) == tuple(map(bits, several(eager)))


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=15)
@given(drawn=st.data())
def test_a_program_has_the_gradients_of_the_call(name, drawn):
    call = drawn.draw(SAMPLES[name].smooth)
    with Program() as program:
        recorded = Recorded(call, differentiable)
        outputs = OPS[name](*recorded.args, **recorded.kwargs)
        smooth = [out for out in several(outputs) if out.dtype.kind == "f"]
        loss = 0.0
        for out in smooth:
            loss = loss + ops.sum(ops.mul(out, out))
        if not recorded.feed:
            return
        append_backward(loss)
    found = Executor().run(program, recorded.feed, [f"{x}@GRAD" for x in recorded.feed])

    def run(*given_tensors):
        rest = iter(given_tensors)
        args = [replaced(x, rest) for x in call.args]
        kwargs = {key: replaced(x, rest) for key, x in call.kwargs.items()}
        total = 0.0
        for out in several(OPS[name](*args, **kwargs)):
            if out.dtype.kind == "f":
                total = total + ops.sum(ops.mul(out, out))
        return total

    _, pullback = vjp(run, *recorded.feed.values())
    for one, other in zip(found, pullback(1.0), strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_equal(dense(one), dense(other))


def replaced(x, rest):
    """Put the next of some Variables in the place of each tensor that has a gradient."""
    if isinstance(x, list) and any(isinstance(one, (LoDTensor, np.ndarray)) for one in x):
        return [replaced(one, rest) for one in x]
    return next(rest) if isinstance(x, (LoDTensor, np.ndarray)) and differentiable(x) else x
