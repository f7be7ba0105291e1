"""Random bodies of loops, as data; how they are recorded, and how they run in the reference.

A loop is a dict: `vars` (loop variables and the names of their initial values), `counters` (name: initial value, step),
`body` (instructions, tuples), and `results` (the names of its variables after it). Values are vectors of float64
between -1 and 1, indices are integers, arrays are written and read at indices.
"""

import contextlib

import numpy as np
from hypothesis import strategies as st

import lodcore
from lodcore import TensorArray, ops
from lodcore.graph import Variable, while_loop
from reference.graph import while_loop as reference

# -- functions: as operators, and of NumPy --------------------------------------------------------------------------


def halved(x, y):
    return lodcore.mul(lodcore.minus(x, y), 0.5)


OPERATORS = {
    "mul": lodcore.mul,
    "tanh of sum": lambda x, y: lodcore.tanh(lodcore.add(x, y)),
    "half difference": halved,
    "by the mean": lambda x, y: lodcore.mul(x, ops.mean(y)),
    "first": lambda x, y: x,
}
FUNCTIONS = {
    "mul": lambda x, y: x * y,
    "tanh of sum": lambda x, y: np.tanh(x + y),
    "half difference": lambda x, y: (x - y) * 0.5,
    "by the mean": lambda x, y: x * np.mean(y),
    "first": lambda x, y: x,
}


# -- drawing -------------------------------------------------------------------------------------------------------


@st.composite
def loops(draw, floats=("x", "y", "w"), arrays=("p", "q"), depth=2, prefix="", written=()):
    """Draw a loop over the values of these names; some arrays have been written before."""
    written = set(written)
    own = [f"{prefix}v{j}" for j in range(draw(st.integers(1, 3)))]
    counters = {f"{prefix}t": (0, 1)}
    if draw(st.booleans()):
        counters[f"{prefix}k"] = (draw(st.integers(-2, 1)), draw(st.sampled_from([2, 1, -1])))
    known = [*floats, *own]
    variables = {v: draw(st.sampled_from(floats)) for v in own}
    indices = list(counters)
    body = []
    count = draw(st.sampled_from([5, 3, 7, 2, 4, 1] if depth > 1 else [2, 1, 3]))
    kinds = ["compute", "compute", "update", "update", "write", "read", "break", "index"]
    kinds += ["nested"] * (depth > 1)
    for number in range(count):
        kind = draw(st.sampled_from(kinds))
        name = f"{prefix}n{number}"
        if kind == "compute":
            which = draw(st.sampled_from(sorted(OPERATORS)))
            body.append(("compute", name, which, draw(st.sampled_from(known)), draw(st.sampled_from(known))))
            known.append(name)
        elif kind == "update":
            body.append(("update", draw(st.sampled_from(own)), draw(st.sampled_from(known))))
        elif kind == "write":
            array = draw(st.sampled_from(arrays))
            written.add(array)
            body.append(("write", array, draw(st.sampled_from(indices)), draw(st.sampled_from(known))))
        elif kind == "read":
            array = draw(st.sampled_from(arrays))
            boot = draw(st.sampled_from([None, *known] if array in written else known))
            body.append(("read", name, array, draw(st.sampled_from(indices)), boot))
            known.append(name)
        elif kind == "index":
            body.append(("index", name, draw(st.sampled_from(indices)), draw(st.integers(-1, 1))))
            indices.append(name)
        elif kind == "break":
            body.append(("break above", draw(st.sampled_from(known)), draw(st.sampled_from([0.6, 0.3, 2.0, -0.5]))))
        else:
            inner = draw(loops(tuple(known), arrays, depth - 1, f"{name}.", tuple(written)))
            body.append(("nested", inner))
            known += inner["results"].values()
    steps = draw(st.sampled_from([3, 2, 4, 1, 0] if depth > 1 else [2, 1, 0]))
    body.insert(draw(st.integers(0, len(body))), ("break at", f"{prefix}t", steps))
    results = {v: f"{v} after" for v in own}
    return {"vars": variables, "counters": counters, "body": body, "results": results}


# -- recording -----------------------------------------------------------------------------------------------------


def record(loop, names, **options):
    """Record a loop with lodcore, and return its variables, which hold the final values."""
    made = while_loop(**options)
    with made.loop():
        local = dict(names)
        for v, init in loop["vars"].items():
            local[v] = made.loop_var(names[init])
        for v, (first, by) in loop["counters"].items():
            local[v] = made.loop_var(first, advance=None if by == 1 else by)
        for instruction in loop["body"]:
            INSTRUCTIONS[instruction[0]](made, local, options, *instruction[1:])
    return {v: local[v] for v in (*loop["vars"], *loop["counters"])}


def compute(made, local, options, target, which, x, y):
    local[target] = OPERATORS[which](local[x], local[y])


def update(made, local, options, v, value):
    local[v].update(local[value])


def write(made, local, options, array, at, value):
    local[array].write(local[at], local[value])


def read(made, local, options, target, array, at, boot):
    if boot is None:
        local[target] = local[array].read(local[at])
    else:
        local[target] = lodcore.tensor_array_read(local[array], local[at], local[boot])


def index(made, local, options, target, at, by):
    local[target] = lodcore.add(local[at], by)


def break_above(made, local, options, x, limit):
    made.break_if(lodcore.greater_than(ops.mean(local[x]), limit))


def break_at(made, local, options, counter, steps):
    made.break_if(lodcore.greater_equal_than(local[counter], steps))


def nested(made, local, options, loop):
    ended = record(loop, local, **options)
    for v, name in loop["results"].items():
        local[name] = ended[v]


INSTRUCTIONS = {
    "compute": compute,
    "update": update,
    "write": write,
    "read": read,
    "index": index,
    "break above": break_above,
    "break at": break_at,
    "nested": nested,
}


# -- the same in the reference -------------------------------------------------------------------------------------


def in_words_of_the_reference(loop, functions):
    """Convert a loop to the instructions of the reference, and the increments of its counters."""
    made = []
    for kind, *rest in loop["body"]:
        if kind == "compute":
            target, which, x, y = rest
            made.append(reference.compute(target, functions[which], x, y))
        elif kind == "update":
            made.append(reference.update(*rest))
        elif kind == "write":
            made.append(reference.write(*rest))
        elif kind == "read":
            made.append(reference.read(*rest))
        elif kind == "index":
            target, at, by = rest
            made.append(reference.compute(target, lambda i, by=by: i + by, at))
        elif kind == "break above":
            x, limit = rest
            made.append(reference.compute("stop", lambda x, c=limit: mean(functions, x) > c, x))
            made.append(reference.break_if("stop"))
        elif kind == "break at":
            counter, steps = rest
            made.append(reference.compute("stop", lambda t, n=steps: t >= n, counter))
            made.append(reference.break_if("stop"))
        else:
            (inner,) = rest
            for v, init in inner["vars"].items():
                made.append(reference.compute(v, lambda x: x, init))
            for v, (first, _) in inner["counters"].items():
                made.append(reference.compute(v, lambda first=first: first))
            arrays = {name: name for name in ("p", "q")}
            carried = {name: v for v, name in inner["results"].items()}
            made.append(reference.nested({**carried, **arrays}, *in_words_of_the_reference(inner, functions)))
    return made, {v: by for v, (_, by) in loop["counters"].items()}


def mean(functions, x):
    """Return the mean, as a number, of an array or a Variable."""
    return float(ops.mean(x).get()) if isinstance(x, Variable) else np.mean(x)


def in_reference(loop, names, functions=FUNCTIONS):
    """Run a loop in the reference, where arrays are dicts of written elements; return all its names."""
    body, advance = in_words_of_the_reference(loop, functions)
    first = {v: names[init] for v, init in loop["vars"].items()}
    counters = {v: first for v, (first, _) in loop["counters"].items()}
    return reference.while_loop({**names, **first, **counters}, body, advance)


def contents(array):
    """Return the content of an array as a dict."""
    held = {}
    for at in range(array.size()):
        with contextlib.suppress(IndexError):  # a hole
            held[at] = array.read(at)
    return held


def new_arrays():
    return {"p": TensorArray(), "q": TensorArray()}


def flat(loop):
    """List all instructions, including those of inner loops."""
    found = []
    for instruction in loop["body"]:
        found += flat(instruction[1]) if instruction[0] == "nested" else [instruction]
    return found
