"""Runs the cases of `reference` on lodcore: the other half of `reference/read_cases.py`."""

import numpy as np

import lodcore
from lodcore import LoD, LoDTensor, RankTable, TensorArray, vjp
from lodcore.graph import Variable, while_loop
from lodcore.graph.gradients import values_of
from lodcore.indices_map import IndicesMap
from lodcore.registry import OPS
from tests.draw import read_only

#: Attributes that JSON has no word for.
SPECIAL = {"ufunc": lambda name: getattr(np, name), "axes": tuple}


def made(thing):
    """Make what an entry of the file describes; what is no entry is an attribute."""
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
    """Describe a result or a gradient as the file does."""
    if thing is None:
        return None
    if isinstance(thing, (list, tuple)):
        return [described(one) for one in thing]
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


def offsets_of(lod):
    return [lod.offsets(k).tolist() for k in range(lod.num_levels)]


def elements(steps):
    """List the elements of an array, None for a hole."""
    found = []
    for index in range(steps.size()):
        try:
            found.append(steps.read(index))
        except IndexError:
            found.append(None)
    return found


def cotangent_of(entry):
    """Make a cotangent: of an array, a list of those of its elements."""
    return elements(made(entry)) if isinstance(entry, dict) and entry["kind"] == "array" else made(entry)


def loop(body, variables, init, outer_names, outer):
    """Run a loop whose body is a list of instructions, see `reference/cases/loops.py`."""
    made = while_loop()
    with made.loop():
        known = dict(zip(outer_names, outer, strict=True))
        carried = dict(zip(variables, map(made.loop_var, init), strict=True))
        known |= carried
        for kind, name, *rest in body:
            if kind == "set":
                known[name] = OPS[rest[0]](*[known[one] for one in rest[1:]])
            elif kind == "update":
                carried[name].update(known[rest[0]])
            else:
                made.break_if(known[name])
    return tuple(carried.values())


@np.errstate(all="ignore")
def run(operator, arguments, cotangents):
    """Run a case: its results, and its gradients by `vjp`."""
    function = loop if operator == "while_loop" else OPS.get(operator) or getattr(lodcore, operator)
    result = function(**attributes(arguments))
    results = [described(one) for one in (result if isinstance(result, tuple) else (result,))]
    if function is not loop and not getattr(function, "gradient", False):
        return results, None
    given = attributes(arguments)  # anew, since an array is written to
    tensors = {name: thing for name, thing in given.items() if is_tensor(thing)}

    def of_tensors(*variables):
        return function(**{**given, **dict(zip(tensors, variables, strict=True))})

    _, pullback = vjp(of_tensors, *tensors.values())
    gradients = pullback(*map(cotangent_of, cotangents))
    return results, {name: described(gradient) for name, gradient in zip(tensors, gradients, strict=True)}


def attributes(arguments):
    """Make all arguments of a call."""
    return {name: SPECIAL.get(name, lambda x: x)(made(thing)) for name, thing in arguments.items()}


def is_tensor(thing):
    """Tell whether there may be a gradient of an argument."""
    if isinstance(thing, list):
        return bool(thing) and all(map(is_tensor, thing))
    return isinstance(thing, (LoDTensor, np.ndarray, TensorArray))
