"""Loops: a body is a list of instructions on names.

["set", name, operator, names of its arguments]; ["update", loop variable, name]; ["break_if", name].
"""

from reference.case import cases
from reference.cases.math import BINARY, described
from reference.draw import FLOATS, levels
from reference.draw_tensors import rows_for
from reference.dtypes import promoted
from reference.graph import while_loop as meaning
from reference.ops.math import UNARY, elementwise
from reference.tensors import Dense

FUNCTIONS = {name: BINARY[name] for name in ("add", "minus", "mul")}
FUNCTIONS |= {name: UNARY[name] for name in ("tanh", "sigmoid")}
PLACES = {"break_if first", "break_if between", "break_if last"}


def corners(arguments):
    """Return the corner cases of the number of steps and of the position of the break."""
    body, trips = arguments["body"], arguments["outer"][-1].nested
    place = [instruction[0] for instruction in body].index("break_if")
    before, after = (any(one[0] == "update" for one in part) for part in (body[:place], body[place:]))
    where = "between" if before and after else "last" if before else "first"
    swaps = {("a", "b"), ("b", "a")} <= {tuple(one[1:]) for one in body if one[0] == "update"}
    return {f"trips {trips}", f"break_if {where}"} | ({"swap"} if swaps else set())


@cases(
    {*FLOATS, "no levels", "depth 1", "trips 0", "trips 1", "trips 3", "swap", "no rows", *PLACES},
    exact=False,
    walked="init",
    also=corners,
)
def while_loop(source):
    offsets = levels(source, 1, 1, 3) if source.integer(0, 1) else []
    dtype, row_shape, count = source.choice(FLOATS), source.choice([(), (2,)]), source.integer(0, 3)
    a, b, w, x = (rows_for(source, offsets, [dtype], [row_shape], ["quarters", "any"], count) for _ in range(4))
    trips = Dense(source.integer(0, 3), (), "int64")
    return {
        "body": body_of(source),
        "variables": ["a", "b", "time"],
        "init": [a, b, Dense(0, (), "int64")],
        "outer_names": ["w", "x", "trips"],
        "outer": [w, x, trips],
    }


def body_of(source):
    """Draw the instructions of a body: computations, updates, and one break."""
    known = ["a", "b", "w", "x"]
    body = []
    for number in range(source.integer(0, 3)):
        name, function = f"t{number}", source.choice(["add", "minus", "mul", "tanh", "sigmoid"])
        if function in UNARY:
            body.append(["set", name, function, source.choice(known)])
        else:
            body.append(["set", f"u{number}", function, source.choice(known), source.choice(known)])
            body.append(["set", name, "tanh", f"u{number}"])  # so that numbers stay small
        known.append(name)
    if source.integer(0, 2) == 0:
        updates = [["update", "a", "b"], ["update", "b", "a"]]
    else:
        updates = [["update", source.choice(["a", "b"]), source.choice(known)] for _ in range(source.integer(1, 3))]
    place = source.integer(0, len(updates))
    ends = [["set", "stop", "greater_equal_than", "time", "trips"], ["break_if", "stop"]]
    return [*body, *updates[:place], *ends, *updates[place:]]


@while_loop.expected
def _(body, variables, init, outer_names, outer):
    return tuple(interpreted(body, dict(zip(variables, init, strict=True)), dict(zip(outer_names, outer, strict=True))))


def interpreted(body, init, outer):
    """Run a body; list the values of its loop variables. An integer that is never updated counts steps."""
    counters = {name: 1 for name, x in init.items() if x.dtype == "int64" and name not in updated(body)}

    def instruction(kind, name, *rest):
        if kind == "break_if":
            return meaning.break_if(name)
        return (
            meaning.update(name, *rest) if kind == "update" else meaning.compute(name, computed(*rest[:1]), *rest[1:])
        )

    start = {name: x.nested if name in counters else x for name, x in init.items()}
    end = meaning.while_loop({**outer, **start}, [instruction(*one) for one in body], counters)
    return [Dense(end[name], (), "int64") if name in counters else end[name] for name in init]


def updated(body):
    return {instruction[1] for instruction in body if instruction[0] == "update"}


def computed(name):
    """Return a function of tensors, computed elementwise; the result of a comparison is a number."""

    def function(*given):
        if name == "greater_equal_than":
            return given[0] >= given[1].nested
        nested = elementwise(FUNCTIONS[name], *map(described, given))
        return given[0].made(nested, dtype=promoted(*[x.dtype for x in given]))

    return function
