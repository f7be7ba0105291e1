"""Whole programs with loops and arrays, as data, and their meaning.

    old = new = init
    while True:
        for op in body:                  # reads of loop variables see old; update writes new; arrays in program order
            if op.run(old, new) is BREAK:
                return new               # what ran before counts, what follows does not
        old = new = advance(new)         # counters: + 1

A statement runs with `old`, the values by name, and `new`, the values for the next step. Values are those of
`reference.graph.values`; arguments are names, or numbers.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reference.graph import functions, values
from reference.graph.names import MAKES, check, check_all, declarations, within
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
from reference.graph.values import Array, GraphError, Nested, Refused

__all__ = ["ERRORS", "Endless", "all_errors", "run", "run_until_error"]

BREAK = "break"
MISSING = object()  # the value of a statement that failed, when all errors are collected
ERRORS = (IndexError, GraphError, Refused, values.LoDError, values.ShapeError)
MANY = 100  # steps of a loop: one that runs longer is considered infinite


class Endless(Exception):
    """Error for a loop that does not end."""


@dataclass
class Slot:
    """A slot of an array."""

    array: Array
    index: int
    boot: Any = None

    def read(self):
        """Read the slot; the default for negative indices may itself be a slot, which is then read."""
        boot = self.boot.read() if isinstance(self.boot, Slot) else self.boot
        return boot if boot is not None and self.index < 0 else self.array.read(self.index)


# -- running ---------------------------------------------------------------------------------------------------------


def run(program, feed):
    """Run a program on its inputs.

    Returns
    -------
    (list, dict)
        The results, and the arrays from outside with the elements that were written.

    Raises
    ------
    GraphError, Refused, IndexError, ShapeError, LoDError
        If the program has no meaning, or none for these inputs.
    """
    check(program)
    names = {**feed, **{name: deepcopy(array) for name, array in program.outside}}
    arrays = {name: names[name] for name, _ in program.outside}
    run_all(program.body, names, None)
    return [value_of(names, name) for name in program.results], arrays


def run_until_error(program, feed):
    """Return the content of the arrays from outside before the statement at which a program fails."""
    names = {**feed, **{name: deepcopy(array) for name, array in program.outside}}
    before = {}
    for statement in one_after_another(program.body, names):
        before = {name: deepcopy(names[name]) for name, _ in program.outside}
        try:
            check_all([statement], set(names), {name for name in names if isinstance(names[name], Array)}, ())
            run_all([statement], names, None)
        except ERRORS:
            return before
    return {name: names[name] for name, _ in program.outside}


def all_errors(program, feed):
    """List the names of all errors of a program, as if the statements that fail were missing."""
    found = set()
    try:
        check(program)
    except (GraphError, Refused) as error:
        found.add(type(error).__name__)
    names = {**feed, **{name: deepcopy(array) for name, array in program.outside}}
    for statement in one_after_another(program.body, names):
        try:
            check_all([statement], set(names), set(), ())
        except (GraphError, Refused):
            continue  # invalid itself, or depends on a statement that failed
        try:
            run_all([statement], names, None)
        except ERRORS as error:
            found.add(type(error).__name__)
            names |= dict.fromkeys(MAKES[type(statement)](statement), MISSING)  # not every path reads it
        except (TypeError, ValueError, AttributeError, ArithmeticError, Endless):
            continue  # depends on missing values
    return found


def one_after_another(statements, names):
    """List statements in the order in which Python executes them."""
    for statement in statements:
        if isinstance(statement, Repeat):
            for time in range(statement.times):
                names[statement.counter] = time
                yield from one_after_another(statement.body, names)
        else:
            yield statement


def run_all(statements, old, new):
    """Run statements; return BREAK if one of them ends the loop."""
    for statement in statements:
        try:
            if MEANINGS[type(statement)](statement, old, new) is BREAK:
                return BREAK
        except ERRORS as error:
            error.statement = getattr(error, "statement", statement)  # the innermost statement
            raise
    return None


def value_of(old, argument):
    """Evaluate an argument, a number or a name; a slot is read."""
    found = old[argument] if isinstance(argument, str) else argument
    return found.read() if isinstance(found, Slot) else found


def index_of(old, argument):
    """Evaluate an index, an integer or an array of one integer."""
    return int(np.reshape(value_of(old, argument), ()))


def compute(s, old, new):
    old[s.target] = functions.FUNCTIONS[s.function](*[value_of(old, argument) for argument in s.arguments])


def make(s, old, new):
    size = 0 if s.size is None else index_of(old, s.size)
    old[s.target] = Array([values.HOLE] * size, s.dynamic, s.element)


def unstack(s, old, new):
    old[s.target] = values.unstack(value_of(old, s.x))


def unpack(s, old, new):
    old[s.target], old[s.rank] = values.unpack(value_of(old, s.x), s.level, s.sort)


def write(s, old, new):
    old[s.array].write(index_of(old, s.index), value_of(old, s.value))


def read(s, old, new):
    at = index_of(old, s.index)
    default = None if s.default is None else value_of(old, s.default)
    old[s.target] = default if default is not None and at < 0 else old[s.array].read(at)


def get(s, old, new):
    boot = old[s.boot] if isinstance(s.boot, str) else s.boot
    old[s.target] = Slot(old[s.array], index_of(old, s.index), boot)


def put(s, old, new):
    slot = old[s.slot]
    slot.array.write(slot.index, value_of(old, s.value))


def ask(s, old, new):
    arguments = [value_of(old, argument) for argument in s.arguments]
    old[s.target] = QUESTIONS[s.question](old[s.array], *arguments)


QUESTIONS = {
    "size": lambda array: len(array.slots),
    "sizes": Array.sizes,
    "stack": Array.stack,
    "concat": Array.concat,
    "pack": values.pack,
}


def update(s, old, new):
    value = value_of(old, s.value)
    new[s.variable] = np.asarray(value, new[s.variable].dtype) if isinstance(value, (int, float)) else value


def break_if(s, old, new):
    return BREAK if np.reshape(value_of(old, s.condition), ()) else None


def repeat(s, old, new):
    for time in range(s.times):
        old[s.counter] = time
        if run_all(s.body, old, new) is BREAK:
            return BREAK
    return None


def loop(s, old, new):
    declared = declarations(s)
    inits = {d.target: 0 if d.init is None else value_of(old, d.init) for d in declared}
    inits = {name: init if isinstance(init, Nested) else np.asarray(init) for name, init in inits.items()}
    updated = {inside.variable for inside in within(s.body) if isinstance(inside, Update)}
    by = {d.target: advance_of(d, inits[d.target], d.target in updated) for d in declared}
    advance = {name: number for name, number in by.items() if number}
    old[s.name] = Met(s, dict(old), inits, advance)
    for _ in range(1 if s.runs is None else s.runs):
        run_met(Run(s.name, tuple(inits)), old, new)


@dataclass
class Met:
    """What each run of a loop begins with: the values where it was recorded; arrays are as they are when it runs."""

    loop: Loop
    names: dict[str, Any]
    inits: dict[str, Any]
    advance: dict[str, int]


def run_met(s, old, new):
    met = old[s.loop]
    arrays = {name: old[name] for name, value in met.names.items() if isinstance(value, Array)}
    copies = {name: replace(array, slots=list(array.slots)) for name, array in arrays.items()}
    last = run_loop(met.loop, {**met.names, **copies}, met.inits, met.advance)
    for name, array in arrays.items():
        array.slots[:] = copies[name].slots
    old.update({name: last[name] for name in s.targets})


def run_loop(s, outside, inits, advance):
    """Run a loop from its initial values, and return the final ones."""
    new, steps = dict(inits), 0
    while True:
        own_names = {d.init: new[d.target] for d in s.given if isinstance(d.init, str)}
        old = {**outside, **new, **own_names}
        if run_all(s.body, old, new) is BREAK:
            return new
        if steps == s.max_steps:
            raise GraphError("max_steps")
        if steps == MANY:
            raise Endless(s.name)
        new.update({name: new[name] + by for name, by in advance.items()})
        steps += 1


def advance_of(declared, init, updated):
    """Return the increment of a loop variable: 1 if it is a single integer that the body never updates."""
    if declared.advance is not None:
        return int(declared.advance) if declared.advance is not False else 0
    return int(not isinstance(init, Nested) and init.dtype.kind == "i" and init.size == 1 and not updated)


def map_fn(s, old, new):
    found = []
    for entry in values.elements(value_of(old, s.x)):
        inside = {**old, s.parameter: entry}
        run_all(s.body, inside, None)
        found.append([value_of(inside, result) for result in s.results])
    for number, target in enumerate(s.targets):
        array = Array([results[number] for results in found], True, s.elements[number])
        if s.stacked[number]:
            old[target] = array.stack()
        else:
            e = s.elements[number]
            old[target] = values.batch(array.slots, e.num_levels + 1, e.shape[1:], e.dtype)


def cond(s, old, new):
    condition, x = value_of(old, s.condition), value_of(old, s.x)
    if np.ndim(condition):
        mask = np.reshape(condition, -1)
        parts = values.divided(x, mask, s.level if isinstance(x, Nested) else 0)
        found = [side_of(s.body[j], part, old) for j, part in enumerate(parts)]
        results = [
            values.merged(*pair, mask, s.level if isinstance(pair[0], Nested) else 0)
            for pair in zip(*found, strict=True)
        ]
    else:
        results = side_of(s.body[0 if condition else 1], x, old)
    old.update(zip(s.targets, results, strict=True))


def side_of(side, part, old):
    """Run a side of a condition on its part; names that it makes are its own, and what it writes to arrays stays."""
    inside = {**old, side.parameter: part}
    run_all(side.body, inside, None)
    return [value_of(inside, result) for result in side.results]


MEANINGS = {
    Compute: compute,
    Make: make,
    Unstack: unstack,
    Unpack: unpack,
    Write: write,
    Read: read,
    Get: get,
    Put: put,
    Ask: ask,
    Update: update,
    WrongUpdate: update,
    Break: break_if,
    Declare: lambda s, old, new: None,
    Loop: loop,
    MapFn: map_fn,
    Cond: cond,
    Repeat: repeat,
    Run: run_met,
}
