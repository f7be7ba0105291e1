"""Names that statements use and make, and the errors of programs that are invalid for any input."""

from __future__ import annotations

from reference.graph.statements import (
    Ask,
    Break,
    Compute,
    Cond,
    Declare,
    Get,
    Loop,
    Make,
    MapFn,
    Put,
    Read,
    Repeat,
    Run,
    Unpack,
    Unstack,
    Update,
    Write,
    WrongUpdate,
)
from reference.graph.values import GraphError, Refused

__all__ = ["MAKES", "check", "check_all", "declarations", "within"]

USES = {
    Compute: lambda s: s.arguments,
    Make: lambda s: (s.size,),
    Unstack: lambda s: (s.x,),
    Unpack: lambda s: (s.x,),
    Write: lambda s: (s.array, s.index, s.value),
    Read: lambda s: (s.array, s.index, s.default),
    Get: lambda s: (s.array, s.index, s.boot),
    Put: lambda s: (s.slot, s.value),
    Ask: lambda s: (s.array, *s.arguments),
    Declare: lambda s: (),
    **{kind: lambda s: (s.variable, s.value) for kind in (Update, WrongUpdate)},
    Break: lambda s: (s.condition,),
    Loop: lambda s: [declared.init for declared in declarations(s)],
    MapFn: lambda s: (s.x,),
    Cond: lambda s: (s.condition, s.x),
    Repeat: lambda s: (),
    Run: lambda s: (s.loop,),
}
MAKES = {
    **{kind: lambda s: (s.target,) for kind in (Compute, Make, Unstack, Read, Get, Ask)},
    **{kind: lambda s: () for kind in (Write, Put, Declare, Update, WrongUpdate, Break, Repeat)},
    Unpack: lambda s: (s.target, s.rank),
    Loop: lambda s: [s.name] + [declared.target for declared in declarations(s) if s.runs != 0],
    Run: lambda s: s.targets,
    MapFn: lambda s: s.targets,
    Cond: lambda s: s.targets,
}


def check(program):
    """Raise GraphError (or Refused) with the name if a program is invalid for any input."""
    arrays = {name for name, _ in program.outside}
    known = {*program.inputs, *arrays}
    check_all(program.body, known, arrays, ())
    known_or_raise(program.results, known)


def check_all(statements, known, arrays, variables):
    """Check statements in order, and add the names that they make to the known ones."""
    for s in statements:
        known_or_raise(USES[type(s)](s), known)
        if isinstance(s, WrongUpdate) or (isinstance(s, Update) and s.variable not in variables):
            raise GraphError(s.variable)
        if isinstance(s, (Make, Unstack, Unpack)):
            arrays.add(s.target)
        elif isinstance(s, Repeat):
            known.add(s.counter)
            check_all(s.body, known, arrays, variables)
        elif isinstance(s, Loop):
            for declared in declarations(s):
                if isinstance(declared.init, str) and declared.init in arrays:
                    raise Refused(declared.init)
            names = [declared.target for declared in declarations(s)]
            check_all(s.body, {*known, *names}, arrays, names)
            if not any(isinstance(inside, Break) for inside in within(s.body)):
                raise GraphError(s.name)
        for side in sides(s):
            inside = {*known, side.parameter}
            check_all(side.body, inside, arrays, ())
            known_or_raise(side.results, inside)
        known.update(MAKES[type(s)](s))


def sides(statement):
    """List what is called like a function: the sides of a condition, or the body of a map."""
    return statement.body if isinstance(statement, Cond) else [statement] if isinstance(statement, MapFn) else []


def known_or_raise(arguments, known):
    """Raise GraphError for an unknown name."""
    for argument in arguments:
        if isinstance(argument, str) and argument not in known:
            raise GraphError(argument)


def declarations(loop):
    """List the declarations of the variables of a loop."""
    return [*loop.given, *(s for s in loop.body if isinstance(s, Declare))]


def within(body):
    """List the statements of a body, including those of repeated bodies."""
    for statement in body:
        yield from within(statement.body) if isinstance(statement, Repeat) else [statement]
