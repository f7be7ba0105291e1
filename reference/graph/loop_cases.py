"""Loops: a body is a list of instructions on names.

["set", name, operator, names of its arguments]; ["update", loop variable, name]; ["break_if", name];
["read", name, array, counter, offset, name of the default]; ["write", array, counter, offset, name];
["loop", name of the result, its loop variable, name of the initial value, its counter, body].
"""

from reference.case import cases
from reference.draw import FLOATS, levels
from reference.draw_tensors import rows_for
from reference.dtypes import promoted
from reference.graph import while_loop as meaning
from reference.ops.math import BINARY, UNARY, described, elementwise
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
    found = {kind for kind in ("read", "loop") if any(one[0] == kind for one in body)}
    return {f"trips {trips}", f"break_if {where}"} | ({"swap"} if swaps else set()) | found


@cases(
    {*FLOATS, "no levels", "depth 1", "trips 0", "trips 1", "trips 3", "swap", "no rows", "read", "loop", *PLACES},
    exact=False,
    walked="init",
    also=corners,
)
def while_loop(source):
    offsets = levels(source, 1, 1, 3) if source.integer(0, 1) else []
    dtype, row_shape, count = source.choice(FLOATS), source.choice([(), (2,)]), source.integer(0, 3)
    a, b, w, x = (rows_for(source, offsets, [dtype], [row_shape], ["quarters", "any"], count) for _ in range(4))
    inner, trips = (Dense(source.integer(0, 3), (), "int64") for _ in range(2))
    arrays = ["states"] if source.integer(0, 1) else []
    return {
        "body": body_of(source, arrays),
        "variables": ["a", "b", "time"],
        "init": [a, b, Dense(0, (), "int64")],
        "outer_names": ["w", "x", "inner_trips", "trips"],
        "outer": [w, x, inner, trips],
        "arrays": arrays,
    }


def computations(source, known, stem, most):
    """Draw instructions that compute, and add their names to those that are known."""
    body = []
    for number in range(source.integer(0, most)):
        name, function = f"{stem}{number}", source.choice(["add", "minus", "mul", "tanh", "sigmoid"])
        if function in UNARY:
            body.append(["set", name, function, source.choice(known)])
        else:
            body.append(["set", f"{name}u", function, source.choice(known), source.choice(known)])
            body.append(["set", name, "tanh", f"{name}u"])  # so that numbers stay small
        known.append(name)
    return body


def inner_loop(source, known):
    """Draw a loop in a body: it starts from a known value, and its result is known after it."""
    inside = [*known, "c"]
    body = [["set", "last", "greater_equal_than", "k", "inner_trips"], ["break_if", "last"]]
    body += computations(source, inside, "i", 2)
    instruction = ["loop", "n", "c", source.choice(known), "k", [*body, ["update", "c", source.choice(inside)]]]
    known.append("n")
    return instruction


def body_of(source, arrays):
    """Draw the instructions of a body: computations, reads and writes of arrays, a loop, updates, and one break."""
    known = ["a", "b", "w", "x"]
    body = []
    for array in arrays:
        body.append(["read", f"{array}_before", array, "time", -1, source.choice(known)])
        known.append(f"{array}_before")
    body += computations(source, known, "t", 3)
    if source.integer(0, 2) == 0:
        body.append(inner_loop(source, known))
    body += [["write", array, "time", 0, source.choice(known)] for array in arrays]
    if source.integer(0, 2) == 0:
        updates = [["update", "a", "b"], ["update", "b", "a"]]
    else:
        updates = [["update", source.choice(["a", "b"]), source.choice(known)] for _ in range(source.integer(1, 3))]
    place = source.integer(0, len(updates))
    ends = [["set", "stop", "greater_equal_than", "time", "trips"], ["break_if", "stop"]]
    return [*body, *updates[:place], *ends, *updates[place:]]


@while_loop.expected
def _(body, variables, init, outer_names, outer, arrays):
    known = dict(zip(outer_names, outer, strict=True)) | {array: {} for array in arrays}
    return tuple(interpreted(body, dict(zip(variables, init, strict=True)), known))


def interpreted(body, init, outer):
    """Run a body; list the values of its loop variables. An integer that is never updated counts steps."""
    counters = {name: 1 for name, x in init.items() if x.dtype == "int64" and name not in updated(body)}
    start = {name: x.nested if name in counters else x for name, x in init.items()}
    end = meaning.while_loop({**outer, **start}, instructions(body), counters)
    return [Dense(end[name], (), "int64") if name in counters else end[name] for name in init]


def instructions(body):
    """Return the instructions of a body as functions, see `reference.graph.while_loop`."""
    return [made for kind, *rest in body for made in INSTRUCTIONS[kind](*rest)]


def moved(counter, offset):
    """Return the instruction that computes a place of an array."""
    return meaning.compute("place", lambda at: at + offset, counter)


def inner(name, variable, init, counter, body):
    """Return the instructions of a loop in a body."""
    yield meaning.compute(variable, lambda x: x, init)
    yield meaning.compute(counter, lambda: 0)
    yield meaning.nested({name: variable}, instructions(body), {counter: 1})


#: The instructions of `reference.graph.while_loop` for each kind.
INSTRUCTIONS = {
    "set": lambda name, function, *names: [meaning.compute(name, computed(function), *names)],
    "update": lambda name, value: [meaning.update(name, value)],
    "break_if": lambda name: [meaning.break_if(name)],
    "read": lambda name, array, counter, by, boot: [moved(counter, by), meaning.read(name, array, "place", boot)],
    "write": lambda array, counter, by, name: [moved(counter, by), meaning.write(array, "place", name)],
    "loop": inner,
}


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
