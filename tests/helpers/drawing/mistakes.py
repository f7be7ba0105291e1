"""Inserting a mistake into a program, such that it is invalid for any input."""

from __future__ import annotations

from dataclasses import replace

from reference.graph import statements as p
from tests.helpers.drawing.names import is_recorded


def with_a_mistake(draw, program):
    """Insert a mistake into one of the loops of a program, if there is one."""
    loops = [s for s in program.body if isinstance(s, p.Loop)]
    if not loops:
        return program
    loop = draw.one(loops)
    at = program.body.index(loop)
    mistakes = [mistake for make in MISTAKES for mistake in make(draw, program, loop, at)]
    return replace(program, body=(*program.body[:at], *draw.one(mistakes), *program.body[at + 1 :]))


#: Functions that return no tensor, so that another function may raise first.
ORDERS = ("lod_rank_table", "rank of steps")


def made_in(loop):
    """List the values that the body of a loop computes with operators."""
    return [s.target for s in loop.body if isinstance(s, p.Read) or (is_recorded(s) and s.function not in ORDERS)]


def no_break(draw, program, loop, at):
    yield [replace(loop, body=tuple(s for s in loop.body if not isinstance(s, p.Break)))]


def value_of_the_body(draw, program, loop, at):
    """Use outside of a body, or as an initial value, what the body computed."""
    if made_in(loop):
        value = draw.one(made_in(loop))
        yield [loop, p.Compute(draw.name("wrong"), draw.one(["tanh", "float", "sum"]), (value,))]
        yield [replace(loop, body=(*loop.body, p.Declare(draw.name("wrong"), value)))]


def array_of_the_body(draw, program, loop, at):
    """Use an array outside of the body that makes it in each step."""
    arrays = [s.target for s in loop.body if isinstance(s, (p.Make, p.Unstack))]
    if arrays:
        yield [loop, p.Ask(draw.name("wrong"), draw.one(["stack", "size", "concat"]), draw.one(arrays))]
        yield [loop, p.Write(draw.one(arrays), 0, "v")]


def variable_of_another_loop(draw, program, loop, at):
    variables = [s.target for s in loop.body if isinstance(s, p.Declare)]
    inner = [s for s in loop.body if isinstance(s, p.Loop)]
    if variables and inner:
        chosen, variable = draw.one(inner), draw.one(variables)
        changed = replace(chosen, body=(*chosen.body, p.Update(variable, variable)))
        yield [replace(loop, body=tuple(changed if s is chosen else s for s in loop.body))]


def update_of_another_kind(draw, program, loop, at):
    numbers = [s.target for s in loop.body if isinstance(s, p.Declare) and isinstance(s.init, float)]
    if numbers:
        wrong = draw.one([name for name in ("W", "v", "n", "x", "q") if name in program.inputs])
        yield [replace(loop, body=(*loop.body, p.WrongUpdate(draw.one(numbers), wrong)))]


def array_as_a_variable(draw, program, loop, at):
    arrays = [name for name, _ in program.outside] + [s.target for s in program.body[:at] if isinstance(s, p.Make)]
    if arrays:
        yield [replace(loop, body=(p.Declare(draw.name("wrong"), draw.one(arrays)), *loop.body))]


MISTAKES = [
    no_break,
    value_of_the_body,
    array_of_the_body,
    variable_of_another_loop,
    update_of_another_kind,
    array_as_a_variable,
]
