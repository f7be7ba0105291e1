"""Runs the cases of `reference` on lodcore: the counterpart of `reference/read_cases.py`."""

import io

import numpy as np

import lodcore
from lodcore import IndicesMap, LoD, LoDTensor, RankTable, TensorArray, vjp
from lodcore.graph import Variable, while_loop
from lodcore.graph.gradients.cotangents import differentiable, values_of
from lodcore.operators.registry import OPS
from reference.write_cases import write
from tests.helpers.agree import offsets_of
from tests.helpers.draw import read_only

#: Attributes that JSON cannot express.
SPECIAL = {
    "ufunc": lambda name: getattr(np, name),
    "axes": tuple,
    "keys": lambda keys: [key_of(key) for key in keys],
}


def key_of(key):
    """Parse the text of an index: "1:3"; vectors are lists."""
    if isinstance(key, str):
        return slice(*[int(part) if part else None for part in key.split(":")])
    return np.array(key) if isinstance(key, list) else key


def made(thing):
    """Convert an entry of the file; other values are attributes."""
    if isinstance(thing, list):
        return [made(one) for one in thing]
    if not isinstance(thing, dict):
        return thing
    kind = thing["kind"]
    if kind == "lod":
        return LoD.from_offsets(*thing["lod"], num_rows=thing["num_rows"])
    if kind == "ragged":
        return LoDTensor.from_offsets(read_only(thing["values"].copy()), *thing["lod"])
    if kind == "array":
        steps = TensorArray(len(thing["elements"]))
        for index, element in enumerate(thing["elements"]):
            if element is not None:
                steps.write(index, made(element))
        return steps
    if kind == "table":
        return RankTable(np.array(thing["indices"], int), np.array(thing["lengths"], int))
    if kind == "map":
        x = LoDTensor(np.empty(thing["of"]["num_rows"]), made(thing["of"]))
        found = [TensorArray.unpack(x, thing["level"], sort_by_length)[1] for sort_by_length in (True, False)]
        return next(one for one in found if one.tolist() == thing["indices"])
    return read_only(thing["values"].copy())


def described(thing):
    """Convert a result or a gradient to the form of the file."""
    if thing is None or isinstance(thing, (list, tuple)):
        return None if thing is None else [described(one) for one in thing]
    if isinstance(thing, Variable):
        thing = thing.get()
    if isinstance(thing, TensorArray):
        return {"kind": "array", "elements": [described(element) for element in elements(thing)]}
    if isinstance(thing, RankTable):
        return {"kind": "table", "indices": thing.indices.tolist(), "lengths": thing.lengths.tolist()}
    if isinstance(thing, LoD):
        return {"kind": "lod", "lod": offsets_of(thing), "num_rows": thing.num_rows}
    if isinstance(thing, IndicesMap):
        return {"kind": "map", "of": described(thing.lod), "level": thing.level, "indices": thing.tolist()}
    if hasattr(thing, "to_dense"):
        thing = thing.to_dense()
    values = values_of(thing)
    found = {"dtype": values.dtype.name, "values": values}
    if isinstance(thing, LoDTensor):
        return {"kind": "ragged", **found, "lod": offsets_of(thing.lod)}
    return {"kind": "dense", **found}


def elements(steps):
    """List the elements of an array, None for holes."""
    found = []
    for index in range(steps.size()):
        try:
            found.append(steps.read(index))
        except IndexError:
            found.append(None)
    return found


def described_gradient(x, gradient):
    """Describe the gradient of an argument: zeros where no gradient arrived, None for tensors without a float dtype."""
    if isinstance(x, list):
        return [described_gradient(*pair) for pair in zip(x, gradient, strict=True)]
    if isinstance(x, TensorArray):
        pairs = zip(elements(x), elements(gradient), strict=True)
        return {"kind": "array", "elements": [described_gradient(*pair) for pair in pairs]}
    if x is None or not differentiable(x):
        return None
    return described(zeros_like(x) if gradient is None else gradient)


def zeros_like(x):
    zeros = np.zeros_like(values_of(x))
    return LoDTensor(zeros, x.lod) if isinstance(x, LoDTensor) else zeros


def cotangent_of(entry):
    """Make a cotangent; for an array, a list of those of its elements."""
    return elements(made(entry)) if isinstance(entry, dict) and entry["kind"] == "array" else made(entry)


def loop(body, variables, init, outer_names, outer, arrays):
    """Run a loop whose body is a list of instructions, see `reference/graph/loop_cases.py`."""
    known = dict(zip(outer_names, outer, strict=True)) | {array: TensorArray() for array in arrays}
    made = while_loop()
    with made.loop():
        carried = dict(zip(variables, map(made.loop_var, init), strict=True))
        instructions(made, body, known | carried)
    return tuple(carried.values())


def instructions(made, body, known):
    """Record the instructions of a body in the open loop."""
    for kind, name, *rest in body:
        if kind == "set":
            known[name] = OPS[rest[0]](*[known[one] for one in rest[1:]])
        elif kind == "update":
            known[name].update(known[rest[0]])
        elif kind == "break_if":
            made.break_if(known[name])
        elif kind == "read":
            array, counter, offset, boot = rest
            known[name] = known[array].read(known[counter] + offset, known[boot])
        elif kind == "write":
            counter, offset, value = rest
            known[name].write(known[counter] + offset, known[value])
        else:
            variable, start, counter, inside = rest
            inner = while_loop()
            with inner.loop():
                last = inner.loop_var(known[start])
                instructions(inner, inside, {**known, variable: last, counter: inner.step()})
            known[name] = last


def as_file(cases):
    """Write cases to a file in memory."""
    file = io.BytesIO()
    write(file, cases)
    file.seek(0)
    return file


@np.errstate(all="ignore")
def run(operator, arguments, cotangents):
    """Run a case: return its results, and its gradients by `vjp`."""
    function = loop if operator == "while_loop" else OPS.get(operator) or getattr(lodcore, operator)
    result = function(**attributes(arguments))
    results = [described(one) for one in (result if isinstance(result, tuple) else (result,))]
    if function is not loop and not getattr(function, "gradient", False):
        return results, None
    given = attributes(arguments)  # again, since an array is written to
    tensors = {name: thing for name, thing in given.items() if is_tensor(thing)}

    def of_tensors(*variables):
        return function(**{**given, **dict(zip(tensors, variables, strict=True))})

    _, pullback = vjp(of_tensors, *tensors.values())
    gradients = pullback(*map(cotangent_of, cotangents))
    found = zip(tensors.items(), gradients, strict=True)
    return results, {name: described_gradient(x, gradient) for (name, x), gradient in found}


def attributes(arguments):
    """Make all arguments of a call."""
    return {name: SPECIAL.get(name, lambda x: x)(made(thing)) for name, thing in arguments.items()}


def is_tensor(thing):
    """Return whether an argument may have a gradient."""
    if isinstance(thing, list):
        return bool(thing) and all(map(is_tensor, thing))
    return isinstance(thing, (LoDTensor, np.ndarray, TensorArray))
