"""Contexts are closed however they are left: at once, by an error, in another context, twice, or by nobody."""

import contextvars
import threading

import numpy as np
import pytest

import lodcore
from lodcore import IfElse, Program, TensorArray, Variable, add, vjp
from lodcore.base.dispatch import OPENED, open_block, recording
from lodcore.base.journal import Journal
from lodcore.graph import while_loop
from lodcore.graph.block import Block

pytestmark = pytest.mark.not_on_reference
ONE = np.ones(1)


def is_clean():
    return open_block() is None and OPENED == [0] and type(add(ONE, 1.0)) is np.ndarray


def generator_of(context):
    with context:
        yield


@pytest.mark.parametrize(
    "make",
    [Program, lambda: while_loop().loop(), lambda: IfElse(True).true_block(), lambda: recording(Block()), Journal],
    ids=["Program", "loop", "branch", "recording", "Journal"],
)
def test_a_generator_with_an_open_block_may_be_closed_in_another_context_or_thread(make):
    generator = generator_of(make())
    contextvars.copy_context().run(next, generator)
    generator.close()
    assert is_clean()
    generator = generator_of(make())
    next(generator)
    thread = threading.Thread(target=generator.close)
    thread.start()
    thread.join()
    assert is_clean()


def test_contexts_that_were_closed_elsewhere_do_not_pile_up():
    for _ in range(3):
        generator = generator_of(recording(Block()))
        next(generator)
        contextvars.copy_context().run(generator.close)
    within = recording(None)
    within.__enter__()
    assert open_block() is None
    within.__exit__()
    assert is_clean()


def test_a_context_that_is_never_exited_closes_when_it_is_deleted():
    within = recording(Block())
    within.__enter__()
    assert open_block() is not None
    del within
    assert is_clean()
    frame = while_loop().loop()
    frame.__enter__()
    del frame
    assert is_clean()


def test_exit_of_an_outer_context_leaves_the_inner_one_open():
    outer, inner = recording(Block()), recording(Block())
    outer.__enter__()
    block = inner.__enter__()
    outer.__exit__()
    assert open_block() is block
    inner.__exit__()
    assert is_clean()


def test_a_program_may_be_left_twice():
    program = Program()
    program.__enter__()
    program.__exit__(None, None, None)
    program.__exit__(None, None, None)
    program.__exit__(ValueError, None, None)
    assert is_clean()
    assert not program.closed


def test_a_frame_of_while_loop_may_be_left_twice():
    loop = while_loop()
    frame = loop.loop(exec_immediately=False)
    with frame:
        step = loop.step()
        loop.break_if(lodcore.greater_equal_than(step, 3))
    frame.__exit__(None, None, None)
    loop()
    assert int(step) == 3


def test_a_journal_that_nobody_leaves_restores_the_arrays():
    array = TensorArray()
    array.write(0, ONE)
    journal = Journal()
    journal.__enter__()
    array.write(1, ONE)
    del journal
    assert len(array) == 1
    array.write(1, ONE)
    assert len(array) == 2


def test_a_function_that_raises_leaves_the_variables_of_its_loops_as_they_were():
    v, array = Variable(np.zeros(2)), TensorArray()

    def f(x):
        for _ in range(2):
            loop = while_loop(loop_vars=[v])
            with loop.loop():
                at = loop.step()
                loop.break_if(lodcore.greater_equal_than(at, 2))
                v.update(add(v, x))
                array.write(at, x)
        raise KeyError

    with pytest.raises(KeyError):
        vjp(f, np.ones(2))
    assert v.get().tolist() == [0.0, 0.0]
    assert v.block is None
    assert len(array) == 0
    assert array.block is None
    array.write(0, ONE)
