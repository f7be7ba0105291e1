"""One program in every way of running: at once, under vjp, with recompute, and in a Program."""

from __future__ import annotations

import re

import numpy as np

import lodcore
from lodcore import LoDTensor, TensorArray, ops, vjp
from lodcore.graph import Executor, Program, append_backward, data, parameter
from lodcore.graph.variable import resolved
from lodcore.tensors.tensor import Tensor
from reference.graph import programs
from reference.graph.values import HOLE, Array, Nested, Unsized, rows
from tests.helpers.meanings import derivative, is_floating, meaning, weight
from tests.helpers.programs_as_python import as_python, said

KINDS = {"Refused": ("GraphError", "DTypeError")}


class Disagreement(AssertionError):
    """An error for a way of running that disagrees with the meaning of the program."""

    def __init__(self, way, what, detail):
        self.way, self.what, self.detail = way, what, detail
        super().__init__(f"{way}: {what}: {detail}")

    @property
    def kind(self):
        """Return the part of the text that failures of one kind share."""
        words = re.sub(r"\d+", "0", self.detail) if "raise" in self.what else ""
        return f"{self.way}: {self.what}: {words[:90]}"


# -- conversion from plain values, and back --------------------------------------------------------------------------


def as_tensor(value):
    """Convert a plain value for lodcore."""
    if isinstance(value, Nested):
        return LoDTensor.from_lengths(rows(value), *(value.lengths(level) for level in range(value.num_levels)))
    return value


def held(value):
    """Return the value of a Variable."""
    return value.get() if hasattr(value, "get") and hasattr(value, "spec") else value


def differs(found, wanted):
    """Describe the difference between a result and the expected one; None if there is none."""
    if isinstance(wanted, Array):
        return array_differs(found, wanted)
    if isinstance(wanted, Nested):
        if not isinstance(found, LoDTensor):
            return f"is {type(found).__name__}; a LoDTensor is wanted"
        lengths = [found.lod.lengths(level).tolist() for level in range(found.num_levels)]
        if lengths != [wanted.lengths(level) for level in range(wanted.num_levels)]:
            return f"has lengths {lengths}; wanted {[wanted.lengths(level) for level in range(wanted.num_levels)]}"
        found, wanted = found.values, rows(wanted)
    if isinstance(found, (LoDTensor, TensorArray)):
        return f"is {type(found).__name__}; an array is wanted"
    found = np.asarray(found)
    if isinstance(wanted, Unsized):
        fits = len(found.shape) == len(wanted.shape) and all(
            w in (None, f) for f, w in zip(found.shape, wanted.shape, strict=True)
        )
        return None if fits and found.dtype == wanted.dtype else f"is {found.dtype} {found.shape}; wanted {wanted}"
    wanted = np.asarray(wanted)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"is {found.dtype} {found.shape}; wanted {wanted.dtype} {wanted.shape}"
    if not np.allclose(found, wanted, rtol=1e-9, atol=1e-11, equal_nan=True):
        return f"is {found.tolist()}; wanted {wanted.tolist()}"
    return None


def array_differs(found, wanted):
    """Describe the difference of an array."""
    if found.size() != len(wanted.slots):
        return f"has size {found.size()}; wanted {len(wanted.slots)}"
    for at, value in enumerate(wanted.slots):
        try:
            element = found.read(at)
        except IndexError:
            if value is not HOLE:
                return f"has a hole at {at}"
            continue
        if value is HOLE:
            return f"has no hole at {at}"
        how = differs(element, value)
        if how:
            return f"element {at} {how}"
    return None


def feeds_as_python(feeds):
    """Write feeds, in the form that f takes."""
    said_feeds = [", ".join(f"{name}={said(value)}" for name, value in feed.items()) for feed in feeds]
    return "\n".join(f"feed: {text}" for text in said_feeds)


# -- the ways --------------------------------------------------------------------------------------------------------


WAYS = ("eager", "vjp", "recompute", "Program")


def check_program(program, feeds, fixed=(), meanings=None, ways=WAYS):
    """Run a program in all ways; raise Disagreement at the first that disagrees with its meaning.

    Parameters
    ----------
    program : Program
    feeds : list of dict
        Values by name.
    fixed : collection of str
        Inputs that are the same in all feeds: the parameters of a Program.
    meanings : list of Meaning, optional
        The results of the interpreter for each feed, if they are known.
    ways : collection of str
    """
    made = compile(as_python(program), "program", "exec")
    meanings = [meaning(program, feed) for feed in feeds] if meanings is None else meanings
    for feed, wanted in zip(feeds, meanings, strict=True):
        if "eager" in ways:
            at_once(program, made, feed, wanted)
        if "vjp" in ways:
            under_vjp(program, made, feed, wanted, "vjp", {})
        if "recompute" in ways:
            under_vjp(program, made, feed, wanted, "recompute", {"recompute": True})
    if "Program" in ways:
        in_program(program, made, feeds, meanings, fixed)


def new(made, **options):
    """Make new arrays and the function of a program."""
    names = {}
    exec(made, names)
    return names["make"](**options)


def raised(way, where, error, more=""):
    """Make the Disagreement of two errors."""
    return Disagreement(way, f"raises {type(error).__name__}{where}", " ".join(str(error).split()) + more)


def is_one_of(error, names):
    """Return whether an error is of a kind with one of these names."""
    kinds = [kind for name in names for kind in KINDS.get(name, (name,))]
    return any(kind.__name__ in kinds for kind in type(error).__mro__)


def tried(way, wanted, run):
    """Run, and compare the error; return None if the error is expected."""
    try:
        found = run()
    except Exception as error:
        if is_one_of(error, [wanted.error]):
            return None
        raise raised(way, "", error, f"; wanted {wanted.error or 'values'}") from error
    if wanted.error:
        raise Disagreement(way, f"does not raise {wanted.error}", "")
    return found


def compare(way, what, found, wanted):
    """Compare values by name, or number."""
    for name, value in wanted.items():
        try:
            how = differs(held(found[name]), value)
        except Exception as error:
            raise raised(way, f" by a look at {what}", error) from error
        if how:
            kind = how.split()[0]
            raise Disagreement(way, f"{what}, {kind}", f"{name} {how}")


def at_once(program, made, feed, wanted):
    f, arrays = new(made)
    found = tried("eager", wanted, lambda: f(*[as_tensor(feed[name]) for name in program.inputs]))
    if found is not None:
        compare("eager", "results", found, dict(enumerate(wanted.results)))
    compare("eager", "arrays from outside", arrays, wanted.arrays)


def under_vjp(program, made, feed, wanted, way, options):
    f, arrays = new(made, **options)
    inputs = {name: as_tensor(feed[name]) for name in program.inputs}
    found = tried(way, wanted, lambda: vjp(f, *inputs.values()))
    if found is None:
        compare(way, "arrays from outside after an error", arrays, dict(program.outside))
        return
    results, pullback = found
    compare(way, "results", results, dict(enumerate(wanted.results)))
    compare(way, "arrays from outside", arrays, wanted.arrays)
    cotangents = [cotangent(number, value) for number, value in enumerate(results)]
    gradients = tried(way + " backward", wanted, lambda: pullback(*cotangents))
    again = tried(way + " backward", wanted, lambda: pullback(*cotangents))
    found = dict(zip(inputs, gradients, strict=True))
    for name, other in zip(inputs, again, strict=True):
        if name not in wanted.directions:
            if found.pop(name) is not None:
                raise Disagreement(way, "gradient of integers", f"{name} is not None")
        elif not np.array_equal(values_of(found[name]), values_of(other)):
            raise Disagreement(way, "a pullback gives other bits the second time", name)
    check_gradients(way, program, feed, inputs, found, wanted, 0.0)


def cotangent(number, value):
    """Compute the gradient of the loss with respect to a result."""
    value = held(value)
    if isinstance(value, TensorArray) or np.dtype(value.dtype if hasattr(value, "dtype") else type(value)).kind != "f":
        return None
    if isinstance(value, LoDTensor):
        return LoDTensor(weight(number) * (2 * value.values + 1), value.lod)
    return weight(number) * (2 * np.asarray(value) + 1)


def values_of(gradient):
    return gradient.values if isinstance(gradient, LoDTensor) else np.asarray(gradient)


def check_gradients(way, program, feed, inputs, gradients, wanted, more):
    """Compare gradients with the directional derivative, to which `more` is added for each entry of an input."""
    found, scale = {}, 1 + abs(wanted.derivative)
    for name, gradient in gradients.items():
        x, along = inputs[name], rows(wanted.directions[name])
        if isinstance(x, LoDTensor) and (not isinstance(gradient, LoDTensor) or gradient.lod is not x.lod):
            raise Disagreement(way, "the gradient has not the LoD of the input", f"{name}: {gradient!r}")
        values = values_of(gradient)
        if values.shape != np.shape(along) or values.dtype != np.float64:
            raise Disagreement(
                way, "shape of a gradient", f"{name} is {values.dtype} {values.shape}; {np.shape(along)}"
            )
        found[name] = float(np.sum((values - more) * along))
        scale += float(np.sum(np.abs(values * along)))
    if not abs(sum(found.values()) - wanted.derivative) < 1e-6 * scale:
        each = {name: derivative(program, feed, {name: wanted.directions[name]})[0] for name in found}
        wrong = [f"{name} {found[name]}, wanted {each[name]}" for name in found if abs(found[name] - each[name]) > 1e-7]
        raise Disagreement(way, "gradient", f"along directions: {'; '.join(wrong)}")


def in_program(program, made, feeds, meanings, fixed):
    way = "Program"
    f, arrays = new(made)
    try:
        with Program() as recorded:
            inputs = {name: placeholder(name, feeds[0][name], name in fixed) for name in program.inputs}
            results = f(*inputs.values())
            loss = loss_in_program(results, inputs, meanings)
    except Exception as error:
        compare(way, "arrays from outside after an error", arrays, dict(program.outside))
        pairs = zip(feeds, meanings, strict=True)
        if all(wanted.error and is_one_of(error, programs.all_errors(program, feed)) for feed, wanted in pairs):
            return  # which of several errors comes first is undefined if some values are unknown
        raise raised(way, " while it is recorded", error) from error
    floating = [name for name in inputs if is_floating(feeds[0][name])]
    if floating:
        try:
            append_backward(loss)
        except Exception as error:
            raise raised(way, " by append_backward", error) from error
    executor, derivatives = Executor(), [f"{name}@GRAD" for name in floating]
    constants = {j: value for j, value in enumerate(results) if isinstance(resolved(value), Tensor)}
    results = [value for j, value in enumerate(results) if j not in constants]
    for number in [*range(len(feeds)), 0]:
        feed, wanted = feeds[number], meanings[number]
        fed = {name: as_tensor(feed[name]) for name in program.inputs if name not in fixed}
        fetch = [] if wanted.error else results  # operations that no fetched result depends on do not run
        found = tried(way, wanted, lambda fed=fed, fetch=fetch: executor.run(recorded, fed, fetch))
        compare(way, "arrays from outside", arrays, dict(program.outside))
        if found is None:
            continue
        compare(way, "results", with_constants(found, constants), dict(enumerate(wanted.results)))
        found = tried(way + " backward", wanted, lambda fed=fed: executor.run(recorded, fed, [*results, *derivatives]))
        compare(way + " backward", "results", with_constants(found, constants), dict(enumerate(wanted.results)))
        gradients = dict(zip(floating, found[len(results) :], strict=True))
        inputs = {name: fed.get(name, feed[name]) for name in floating}
        check_gradients(way, program, feed, inputs, gradients, wanted, 0.5)


def with_constants(found, constants):
    """Insert results that need no run, by their numbers, among the fetched ones."""
    fetched = iter(found)
    count = len(found) + len(constants)
    return [constants[j] if j in constants else next(fetched) for j in range(count)]


def placeholder(name, value, is_parameter):
    """Make the Variable of an input with an unknown number of rows."""
    if is_parameter:
        return parameter(value, name)
    if isinstance(value, Nested):
        return data(name, (None, *value.row_shape), value.dtype, num_levels=value.num_levels)
    value = np.asarray(value)
    shape = (None, *value.shape[1:]) if value.ndim > 1 else value.shape
    return data(name, shape, str(value.dtype))


def loss_in_program(results, inputs, meanings):
    """Record the loss, plus half of each input, so that it depends on every input."""
    terms = []
    known = next((found.results for found in meanings if found.error is None), [])
    for number, (value, meant) in enumerate(zip(results, known, strict=False)):
        if not isinstance(meant, Array) and (isinstance(meant, Unsized) or is_floating(meant)):
            terms.append(lodcore.mul(ops.sum(lodcore.add(lodcore.mul(value, value), value)), weight(number)))
    terms += [lodcore.mul(ops.sum(x), 0.5) for x in inputs.values() if np.dtype(x.dtype).kind == "f"]
    loss = None
    for term in terms:
        loss = term if loss is None else lodcore.add(loss, term)
    return loss
