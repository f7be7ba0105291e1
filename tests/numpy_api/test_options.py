"""Every option of every function of NumPy, alone and with each other one, compared with NumPy for each sequence."""

import ast
import inspect
import itertools

import numpy as np
import pytest

from lodcore import LoDTensor, vjp
from lodcore.numpy_api.functions import FUNCTIONS
from tests.helpers.table_of_numpy import CALLS, REFUSED, WITHOUT_EFFECT
from tests.helpers.tables import for_each

pytestmark = [
    pytest.mark.not_on_reference,  # options are handled above the kernels
    pytest.mark.filterwarnings("ignore"),
]

BY_NAME = {function.__name__: function for function in FUNCTIONS}
REFUSALS = (TypeError, ValueError, IndexError, OverflowError, RuntimeError, AttributeError)
LENGTHS = [2, 1, 4]

#: Functions of each sequence separately, not of all axes of an array.
OF_SEQUENCES = {"ediff1d", "shape", "take_along_axis", "unique"}
#: Functions of all sequences together.
WHOLE = {"allclose", "array_equal", "argwhere", "broadcast_to", "iscomplexobj", "isrealobj", "matrix_transpose"}
WHOLE |= {
    "moveaxis",
    "ndim",
    "nonzero",
    "reshape",
    "result_type",
    "shape",
    "size",
    "swapaxes",
    "tensordot",
    "transpose",
}
WHOLE |= {"dot", "tile", "squeeze", "where", "partition", "argpartition"}
#: Functions of a single axis.
ONE_AXIS = {"take_along_axis", "unique"}
#: Options accepted here beyond NumPy: one bound of `clip` by its older name, more than one axis.
BROADER = {"clip", "vecdot"}


def parameters(name):
    """Return the parameters of a function of NumPy, or a replacement if NumPy does not expose them."""
    try:
        found = inspect.signature(BY_NAME[name]).parameters
    except ValueError:  # compiled functions of older NumPys
        found = inspect.signature(FUNCTIONS[BY_NAME[name]]).parameters
    return {key: one for key, one in found.items() if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)}


# -- calls -------------------------------------------------------------------------------------------------------------


def calls(name):
    """List calls: without options, with each one, with each pair and with all; with and without an axis."""
    known, (needed, options) = parameters(name), CALLS[name]
    options = {option: texts for option, texts in options.items() if option in known}  # older NumPys lack some
    others = [option for option in options if option != "axis"]
    sets = [chosen for n in {0, 1, 2, len(others)} for chosen in itertools.combinations(others, n)]
    for one, chosen in itertools.product(needed, sets):
        if {"kind", "stable"} <= {*chosen}:  # NumPy accepts one of them
            continue
        for texts in itertools.product(*(options[option] for option in chosen)):
            given = dict(zip(chosen, texts, strict=True))
            yield one, given
            yield from ((one, {"axis": axis, **given}) for axis in options.get("axis", []))


def written(name, needed, given):
    """Write a call."""
    module = "np.linalg" if name == "vecdot" else "np"
    return f"{module}.{name}({', '.join([needed, *(f'{option}={text}' for option, text in given.items())])})"


def outcome(text, names):
    """Return the result of a call, or its error."""
    try:
        with np.errstate(all="ignore"):
            return eval(text, {**names, "np": np})
    except REFUSALS as error:
        return error


# -- operands
# ------------------------------------------------------------------------------------------------------------


def arrays(shape, dtype):
    """Make the operands of calls: see the table."""
    rng = np.random.default_rng([9, *shape])
    x, y = ((rng.integers(-4, 5, shape) / (3 if dtype is np.float32 else 1)).astype(dtype) for _ in range(2))
    n, p = x.copy(), x.astype(np.float32)
    if dtype is np.float32:
        n[rng.random(shape) < 0.2] = np.nan
    for odd, part in ((np.nan, 0.5), (np.inf, 0.2), (-np.inf, 0.2)):
        p[rng.random(shape) < part] = odd
    mask = rng.random(shape) < 0.6
    mask[..., 0] = True
    v = rng.permutation(x.size).reshape(shape).astype(dtype)
    return {"x": x, "y": y, "z": np.abs(y) + 1, "n": n, "p": p, "g": x + 2j * y, "m": mask, "v": v}


def regular(shape, levels, dtype):
    """Return the operands of a call for lodcore, and for NumPy: all sequences have equal lengths."""
    dense = arrays(shape, dtype)
    lengths = [np.full(int(np.prod(shape[: k + 1])), shape[k + 1]) for k in range(levels)]
    mine = {
        name: LoDTensor.from_lengths(value.reshape(-1, *shape[levels + 1 :]).copy(), *lengths)
        for name, value in dense.items()
    }
    matrix = {"i": np.arange(float(shape[-1] * 2)).reshape(-1, 2).astype(dtype)}
    return {**mine, **matrix}, {**dense, **matrix}


def ragged(row_shape, dtype):
    """Return the operands of a call for lodcore, and for NumPy and each sequence."""
    rows = arrays((sum(LENGTHS), *row_shape), dtype)
    pieces = zip(np.cumsum(LENGTHS), LENGTHS, strict=True)
    theirs = [{name: value[stop - length : stop].copy() for name, value in rows.items()} for stop, length in pieces]
    return {name: LoDTensor.from_lengths(value, LENGTHS) for name, value in rows.items()}, theirs


def dense(found):
    """Return a result as an array if it is one; as lists if lengths differ."""
    if isinstance(found, (tuple, list)):
        return tuple(map(dense, found))
    if not isinstance(found, LoDTensor):
        return found
    try:
        return found.to_regular()
    except ValueError:
        return found.tolist()


def part(found, s):
    """Return the part of a result for one sequence."""
    return tuple(part(one, s) for one in found) if isinstance(found, (tuple, list)) else dense(found[s])


def same(name, got, want):
    """Compare results in dtype, shape and values."""
    if isinstance(want, (tuple, list)) or isinstance(got, (tuple, list)):
        several = isinstance(want, (tuple, list)) and isinstance(got, (tuple, list)) and len(got) == len(want)
        return several and all(same(name, *pair) for pair in zip(got, want, strict=True))
    got, want = np.asarray(got), np.asarray(want)
    if not got.size and not want.size:  # without sequences their length is unknown
        return bool(got.dtype == want.dtype and got.ndim == want.ndim)
    if (got.shape, got.dtype) != (want.shape, want.dtype):
        return False
    if got.dtype.kind not in "fc" or name == "empty_like":
        return name == "empty_like" or np.array_equal(got, want)
    rough = got.real.dtype.itemsize == 4 or name in ("nanvar", "nanstd")  # NumPy rounds the mean there
    return np.allclose(got, want, rtol=1e-5 if rough else 1e-10, atol=1e-6 if rough else 1e-10, equal_nan=True)


# -- the tests ---------------------------------------------------------------------------------------------------------


def test_table_has_every_option_of_every_function():
    missing = {name for name in BY_NAME if name not in CALLS}
    gone = {name for name in CALLS if name not in BY_NAME and hasattr(np, name)}
    assert (missing, gone) == (set(), set())
    for name, (needed, options) in CALLS.items():
        if name in BY_NAME:
            counts = [len(ast.parse(f"f({one})", mode="eval").body.args) for one in needed]
            refused = {key.split(".")[1] for key in REFUSED if key.startswith(f"{name}.")}
            left = {*list(parameters(name))[max(counts) if name in ("where", "broadcast_arrays") else min(counts) :]}
            left -= {"interpolation", "newshape", "descending"}  # removed from NumPy, and new in 2.5
            assert left <= {*options} | refused, name


class Tried:
    """The observed options of a function: those that are accepted, and those that have changed a result of NumPy."""

    def __init__(self, name):
        self.name, self.taken, self.counted = name, set(), set()

    def agree(self, text, got, wanted, given):
        """Check a result of lodcore, which may be an error, against NumPy's result of a call."""
        if isinstance(got, Exception):
            return
        want = wanted(given)
        if isinstance(want, Exception):
            assert self.name in BROADER, f"{text}: {want!r}, but {got!r}"
            return
        assert same(self.name, got, want), f"{text}: {want!r}, but {got!r}"
        self.taken |= {*given}
        for option in {*given} - self.counted:
            without = wanted({other: value for other, value in given.items() if other != option})
            if isinstance(without, Exception) or not same(self.name, without, want):
                self.counted.add(option)

    def complete(self):
        """Check that every option of the table is accepted and has an effect."""
        options = {*CALLS[self.name][1]} & {*parameters(self.name)}
        assert options - self.taken == set(), "refused whatever else is given"
        unseen = options - WITHOUT_EFFECT - self.counted - ({"axis"} if self.name in ONE_AXIS else set())
        assert unseen == set(), "the value in the table changes nothing"


def needs_axis(needed, given):
    """Return whether a call passes an axis."""
    return "a" in [*given.values(), *needed.split(", ")] or "=a" in needed


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "std", "var", "max", "amin", "any", "argmax", "nansum", "ptp"])
def test_the_first_argument_may_have_its_name_in_numpy(name):
    x = LoDTensor.from_lengths([1.5, 2.0, 3.0], [2, 1])
    function = getattr(np, name)
    np.testing.assert_array_equal(function(a=x, axis=1), function(x, axis=1))
    np.testing.assert_array_equal(np.real(val=x).values, x.values)


@pytest.mark.parametrize("name", sorted({*CALLS} & {*BY_NAME} - OF_SEQUENCES))
def test_sequences_of_one_length_are_an_axis(name):
    tried = Tried(name)
    for shape, levels, dtype in [((2, 3, 4), 1, np.float32), ((2, 2, 3, 2), 2, np.int32)]:
        mine, theirs = regular(shape, levels, dtype)
        for needed, given in calls(name):
            axes = (0, 1, 2, -1, (1, 2), None) if len(given) < 3 else (1, 2)
            for axis in axes if needs_axis(needed, given) else [None]:
                text = written(name, needed, given)

                def wanted(given, needed=needed, axis=axis, theirs=theirs):
                    copies = {key: theirs[key].copy() for key in "xn"}  # `overwrite_input` may overwrite them
                    return outcome(written(name, needed, given), {**theirs, **copies, "a": axis})

                got = outcome(text, {**mine, "a": axis})
                tried.agree(f"{text}, axis {axis} of {shape}", dense(got), wanted, given)
    tried.complete()


@pytest.mark.parametrize("name", sorted({*CALLS} & {*BY_NAME} - WHOLE))
def test_each_sequence_is_as_an_array(name):
    tried = Tried(name)
    for row_shape, dtype in [((), np.float32), ((3,), np.int32)]:
        mine, theirs = ragged(row_shape, dtype)
        for needed, given in calls(name):
            if "axis" in parameters(name) and not needs_axis(needed, given):
                continue  # over all sequences
            text = written(name, needed, given)
            for axis in ((1, 2, -1) if len(given) < 3 else (1, 2))[: 1 + 2 * len(row_shape)]:
                names = {**mine, "a": axis}
                got = outcome(text, names)
                for s, names_of in enumerate(theirs):

                    def wanted(given, needed=needed, axis=axis, names_of=names_of):
                        copies = {key: names_of[key].copy() for key in "xn"}
                        at = axis - 1 if axis > 0 else axis
                        return outcome(written(name, needed, given), {**names_of, **copies, "a": at})

                    one = got if isinstance(got, Exception) else part(got, s)
                    tried.agree(f"{text}, axis {axis} of sequence {s}", one, wanted, given)
                check_recorded(name, text, names, got)
    tried.complete()


def check_recorded(name, text, names, eager):
    """Check that a recorded call returns the computed result, or is refused."""
    try:
        recorded = vjp(lambda x, n: outcome(text, {**names, "x": x, "n": n}), names["x"], names["n"])[0]
    except REFUSALS:
        return
    assert same(name, part(recorded, slice(None)), part(eager, slice(None))), text


@for_each("refused", sorted(REFUSED))
def test_options_that_are_not_supported_are_refused(refused):
    name, option = refused.split(".")
    if name not in BY_NAME or option not in parameters(name):
        return
    tried = 0
    for shape in [(2, 3, 4), (2, 3)]:
        mine, _ = regular(shape, 1, np.float32)
        for needed, given in calls(name):
            if "axis" in given or "axis" not in parameters(name):
                for axis in range(1, len(shape)):
                    text = written(name, needed, {**given, option: REFUSED[refused]})
                    assert isinstance(outcome(text, {**mine, "a": axis}), Exception), text
                    tried += not isinstance(outcome(written(name, needed, given), {**mine, "a": axis}), Exception)
    assert tried, "no call is refused for this option alone"


def test_the_different_values_of_all_sequences():
    mine, _ = ragged((3,), np.float32)
    for needed, given in calls("unique"):
        text = written("unique", needed, {key: value for key, value in given.items() if key != "axis"})
        for more in ("", ", equal_nan=False"):
            want = outcome(f"{text[:-1]}{more})", {"x": mine["n"].values})
            assert same("unique", outcome(f"{text[:-1]}{more})", {"x": mine["n"]}), want), text


@for_each("name", sorted({*CALLS} & {*BY_NAME}))
def test_options_have_the_places_that_numpy_gives_them(name):
    mine, _ = regular((2, 3, 4), 1, np.float32)
    known = parameters(name)
    positional = [key for key, one in known.items() if one.kind == one.POSITIONAL_OR_KEYWORD]
    for needed, given in calls(name):
        if len(given) != 1 or {*given} - {*positional}:
            continue
        ((option, text),) = given.items()
        count = len(ast.parse(f"f({needed})", mode="eval").body.args)
        before = [known[key] for key in [*known][count : [*known].index(option)]]
        unsaid = {"keepdims": "False", "prepend": "np._NoValue"}  # NumPy's values for a missing argument
        none = (np._NoValue, inspect.Parameter.empty)  # old NumPys require both bounds of clip
        said = [unsaid.get(one.name, "None" if one.default in none else repr(one.default)) for one in before]
        places = [needed, *said, text]
        want = outcome(written(name, needed, given), {**mine, "a": 1})
        got = outcome(written(name, ", ".join(places), {}), {**mine, "a": 1})
        assert isinstance(want, Exception) or same(name, dense(got), dense(want)), places
