"""Zero steps: stack and concat are defined if the Spec of an element is known; otherwise there is one clear error."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray, ops
from lodcore.graph import VarArray
from tests.helpers.texts_in_every_way import WAYS, check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

#: No steps of rows of width 2, in float64, from tensors without entries, or with only empty sequences.
NO_ROWS = np.empty((0, 3, 2))
EMPTY = LoDTensor.from_lengths(np.empty((0, 2)), [0, 0])
NESTED = LoDTensor.from_lengths(np.empty((0, 2)), [0, 0], [])
W = np.array([[0.5, -1.0, 2.0], [1.0, 0.25, 0.0]])


def made_by_a_loop(while_loop, steps, of_element=lambda element: element):
    outputs = TensorArray()
    loop = while_loop()
    with loop.loop():
        t = loop.loop_var(0)
        loop.break_if(t >= steps.size())
        outputs.write(t, of_element(steps.read(t)))
    return outputs


#: Array of zero steps; the input from which it is made; results of stack and concat.
MADE = {
    "unstack": (lambda loop, x, w: TensorArray.unstack(x), NO_ROWS, (0, 3, 2), (0, 2)),
    "unstack_from": (lambda loop, x, w: TensorArray(unstack_from=x), NO_ROWS, (0, 3, 2), (0, 2)),
    "segment": (lambda loop, x, w: VarArray().segment(x), NO_ROWS, (0, 3, 2), (0, 2)),
    "unpack": (lambda loop, x, w: TensorArray.unpack(x, 0)[0], EMPTY, (0, 0, 2), (0, 2)),
    "segment of sequences": (lambda loop, x, w: VarArray().segment(x), EMPTY, (0, 0, 2), (0, 2)),
    "loop over unstack": (lambda loop, x, w: made_by_a_loop(loop, TensorArray.unstack(x)), NO_ROWS, (0, 3, 2), (0, 2)),
    "loop over unpack": (
        lambda loop, x, w: made_by_a_loop(loop, TensorArray.unpack(x, 0)[0]),
        EMPTY,
        (0, 0, 2),
        (0, 2),
    ),
    "another width": (
        lambda loop, x, w: made_by_a_loop(loop, TensorArray.unpack(x, 0)[0], lambda e: lodcore.tanh(e @ w)),
        EMPTY,
        (0, 0, 3),
        (0, 3),
    ),
    "another width of an unstack": (
        lambda loop, x, w: made_by_a_loop(loop, TensorArray.unstack(x), lambda e: e @ w),
        NO_ROWS,
        (0, 3, 3),
        (0, 3),
    ),
}


@every_way
@pytest.mark.parametrize("name", MADE)
def test_concat_of_zero_steps_has_no_rows(way, name):
    """Of the correct width and dtype."""
    make, x, _, shape = MADE[name]
    check(way, lambda loop, x, w: make(loop, x, w).concat() * ops.sum(w), lambda x, w: np.empty(shape), x, W)


@every_way
@pytest.mark.parametrize("name", MADE)
def test_stack_of_zero_steps_has_no_entry(way, name):
    """(0, ...), where an unknown axis of elements is 0; then the width is the right one."""
    make, x, shape, _ = MADE[name]
    results, gradients = WAYS[way](lambda loop, x, w: make(loop, x, w).stack() * ops.sum(w), x, W)
    assert (results[0].shape[0], results[0].shape[2], results[0].ndim) == (0, shape[2], 3)
    assert results[0].dtype == np.float64
    if gradients is not None:
        assert not np.any(gradients[1])


@every_way
def test_stack_of_zero_steps_of_vectors(way):
    def text(while_loop, x, w):
        rows = made_by_a_loop(while_loop, TensorArray.unstack(x), lambda e: e @ w)
        return rows.stack(), TensorArray.unstack(x).stack()

    check(way, text, lambda x, w: (np.empty((0, 3)), np.empty((0, 2))), np.empty((0, 2)), W)


@every_way
def test_zero_steps_of_sequences(way):
    """One more level for stack, a level of no sequences for concat."""

    def text(while_loop, x):
        steps = TensorArray.unpack(x, 0)[0]
        written = made_by_a_loop(while_loop, steps, lambda e: e * 2.0)
        return steps.stack(), written.stack(), steps.concat(), written.concat()

    two = LoDTensor.from_lengths(np.empty((0, 2)), [], [])
    one = LoDTensor.from_lengths(np.empty((0, 2)), [])
    check(way, text, lambda x: (two, two, one, one), NESTED)


@every_way
@pytest.mark.parametrize("lengths", [[0, 0, 0], [], [0]], ids=repr)
def test_rnn_over_empty_sentences_keeps_the_width_of_its_output(way, lengths):
    """The network computes rows of 3 from rows of 2; there are no rows, and yet its result has width 3."""

    def text(while_loop, x, w):
        steps, indices_map = TensorArray.unpack(x, 0)
        outputs = made_by_a_loop(while_loop, steps, lambda e: lodcore.tanh(e @ w))
        return outputs.pack(0, indices_map) * ops.sum(w)

    x = LoDTensor.from_lengths(np.empty((0, 2)), lengths)
    check(way, text, lambda x, w: LoDTensor(np.empty((0, 3)), x.lod), x, W)


@pytest.mark.parametrize("way", ["at once", "vjp"])
def test_pack_of_an_array_never_written_by_a_python_loop_is_refused(way):
    """Nothing is ever written: no width is known, and an invented one might fail later."""

    def text(while_loop, x, w):
        steps, indices_map = TensorArray.unpack(x, 0)
        outputs = TensorArray()
        for t in range(len(steps)):
            outputs.write(t, lodcore.tanh(steps.read(t) @ w))
        return outputs.pack(0, indices_map)

    with pytest.raises(ValueError, match=r"pack: .*element"):
        WAYS[way](text, EMPTY, W)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("join", ["stack", "concat"])
def test_stack_and_concat_of_an_array_without_spec_raise_one_text_in_every_way(way, join):
    """One type and one text, in all ways of running: never a shape that fails later."""

    def text(while_loop, x):
        return getattr(TensorArray(), join)() + x

    with pytest.raises(ValueError, match=f"{join}: .*element"):
        WAYS[way](text, np.zeros(2))
