"""Random whole programs: at once, under vjp, with recompute and in a Program, they compute their meaning.

`python -m tests.helpers.random_programs --count 20000` draws more of them, and shrinks those that fail.
"""

import functools

import pytest

from reference.graph.statements import Loop, MapFn, Run
from tests.helpers.drawing.programs import draw_program
from tests.helpers.programs_as_python import as_python
from tests.helpers.programs_in_every_way import Disagreement, check_program, feeds_as_python

pytestmark = pytest.mark.not_on_reference  # the kernels have tests of their own

CHUNKS, EACH = 20, 20
draw = functools.cache(draw_program)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_programs_equal_the_reference_in_every_way(chunk):
    for seed in range(chunk * EACH, (chunk + 1) * EACH):
        program, feeds, fixed, meanings = draw(seed)
        try:
            check_program(program, feeds, fixed, meanings)
        except Disagreement as error:
            pytest.fail(f"seed {seed}: {error}\n{as_python(program)}\n{feeds_as_python(feeds)}\nparameters: {fixed}")


def test_random_programs_have_every_statement_function_and_notation():
    """Every statement, function and notation is drawn, and most programs have a meaning."""
    text, errors, bodies = "", [], []
    for seed in range(CHUNKS * EACH):
        program, _, _, meanings = draw(seed)
        text += as_python(program)
        bodies += [s.body for s in program.body if isinstance(s, (Loop, MapFn))]
        errors += [found.error for found in meanings]
    for words in COVERED.split():
        assert words in text, words
    assert any(isinstance(s, Run) and s.loop not in names_of_loops(body) for body in bodies for s in body)
    assert errors.count(None) > 0.7 * len(errors)
    assert {"IndexError", "GraphError"} <= set(errors)


def names_of_loops(body):
    return [s.name for s in body if isinstance(s, Loop)]


COVERED = """
TensorArray() VarArray() TensorArray(size=n dynamic=False .unstack( unstack_from= .segment( .unpack( .pack( .rank .boot(
.read( default= .write( data_shared=False .get( .update( .size() .sizes() .stack() .stack(1) .concat() .concat(1)
lodcore.cond( lodcore.IfElse( level=1)
.step() loop_vars=[ max_steps= exec_immediately=False advance=2 advance=False .frame() map_fn( @
tensor_array_write tensor_array_read tensor_array_unstack tensor_array_unpack logical_or logical_and
lod_rank_table reorder_by_rank shrink_memory sequence_pool sequence_reverse concat_batches lod_lengths .lengths
"""
