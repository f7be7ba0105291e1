"""LoDTensors with sequences of equal lengths, compared with NumPy's arrays, computed and recorded."""

import copy
import functools
import operator
import warnings

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, vjp
from lodcore.operators.roles import spec_of
from lodcore.testing.samples import bits
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # other tests compare their results with those of the compiled kernels

DTYPES = ["?", "i1", "u8", "i4", "i8", "f2", "f4", "f8", "c8", "c16", "U3", "S3", "M8[s]", "m8[s]"]
#: Shapes, and how many of their axes after the first are those of levels.
SHAPES = [((3, 4), 1), ((3, 4, 2), 1), ((2, 3, 4), 2), ((2, 3, 4, 2), 2), ((2, 2, 3, 2), 3), ((2, 2), 1)]
REFUSED = (TypeError, ValueError, IndexError, OverflowError, RuntimeError)


def pair(shape, levels, dtype):
    """Make an array, and a LoDTensor of the same."""
    random = np.random.default_rng(list(shape))
    drawn = random.integers(0 if np.dtype(dtype).kind in "ub" else -5, 6, shape)
    if np.dtype(dtype).kind == "c":
        drawn = drawn + 1j * random.integers(-5, 6, shape)
    dense = (drawn > 2) if dtype == "?" else (drawn / 2 if np.dtype(dtype).kind == "f" else drawn).astype(dtype)
    lengths = [np.full(int(np.prod(shape[: k + 1])), shape[k + 1]) for k in range(levels)]
    rows = dense.reshape(int(np.prod(shape[: levels + 1])), *shape[levels + 1 :])
    return dense, LoDTensor.from_lengths(rows.copy(), *lengths)


def regular(result):
    """Return a result as an array, if it has one."""
    if isinstance(result, tuple):
        return tuple(map(regular, result))
    if not isinstance(result, LoDTensor):
        return result
    try:
        return result.to_regular()
    except ValueError:
        return result.tolist()  # the lengths differ, which is certainly wrong


@functools.cache
def compiled(text):
    """Compile an expression, or a statement, once for all arrays."""
    return compile(text, "example", "exec" if text.endswith(";") else "eval")


def outcome(text, names):
    """Return the result of an expression, or of a statement, on x; or the error."""
    names = {**names, "np": np, "operator": operator}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if text.endswith(";"):
                names["x"] = copy.deepcopy(names["x"])
                exec(compiled(text), names)
                return regular(names["x"])
            return regular(eval(compiled(text), names))
    except REFUSED as error:
        return error


def same(got, want):
    if isinstance(want, tuple):
        return isinstance(got, tuple) and len(got) == len(want) and all(map(same, got, want))
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or (got.dtype != want.dtype and got.dtype.kind not in "US"):
        return False
    if got.dtype.kind not in "fc":
        return got.tobytes() == want.tobytes() or bool((got == want).all())
    tolerance = {2: 1e-2, 4: 1e-4}.get(got.real.dtype.itemsize, 1e-9)
    return np.allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)


AXES = ["", "axis=0", "axis=1", "axis=-1", "axis=2", "axis=(0, 1)", "axis=(1, 2)", "axis=None", "axis=()", "axis=9"]
KEPT = ["axis=1, keepdims=True", "axis=0, keepdims=True", "axis=-1, keepdims=True", "axis=None, keepdims=True"]
OTHER = ["axis=1, dtype='f4'", "axis=0, dtype='i8'", "axis=1, initial=2", "axis=0, initial=2", "axis=1, initial=1.5"]
MASKED = ["axis=1, where=m", "axis=0, where=m", "axis=None, where=m", "axis=0, where=m, initial=2"]
NAMES = ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin"]
REDUCTIONS = [f"x.{name}({given})" for name in NAMES for given in [*AXES, *KEPT, *OTHER, *MASKED, "axis=1, ddof=1"]]
REDUCTIONS += [f"np.{name}(x, axis={axis})" for name in NAMES for axis in (None, 0, 1, -1)]
REDUCTIONS += [
    f"np.{name}.reduce(x, axis={axis})" for name in ("add", "maximum", "logical_or") for axis in (0, 1, None)
]

SIGNS = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!="]
SCALARS = ["2", "-1", "0", "2.5", "True", "1j", "'a'", "np.float32(3)", "np.int8(3)", "np.datetime64(5, 's')", "2**70"]
OPERATORS = [f"{a} {sign} {b}" for sign in SIGNS for one in SCALARS for a, b in (("x", one), (one, "x"))]
OPERATORS += [f"x {sign} y" for sign in SIGNS] + ["-x", "+x", "abs(x)", "~x", "divmod(x, y)", "divmod(7, x)"]
OPERATORS += ["np.power(x, np.float32(2))"]  # newer NumPys compute `x ** np.float32(2)` like this
UFUNCS = sorted(name for name in dir(np) if isinstance(getattr(np, name), np.ufunc))
OPERATORS += [f"np.{name}(x{', y' * (getattr(np, name).nin == 2)})" for name in UFUNCS if getattr(np, name).nin < 3]
OPERATORS += ["np.add(x, 1, dtype='f4')", "np.add(x, y, out=x.copy())", "np.add(x, y, out=x.copy(), where=m)"]

KEYS = [
    "0",
    "-1",
    "3",
    "1:",
    "::2",
    "::-1",
    "[1, 0, 1]",
    "[0.5]",
    "'a'",
    "None",
    "...",
    "1.0",
    "True",
    "0, 1",
    "0, 1, 0",
]
KEYS += [
    ":, 0",
    ":, -1",
    ":, 9",
    ":, 1:",
    ":, ::2",
    ":, ::-1",
    ":, [-1, 0, 0]",
    ":, [9]",
    ":, None",
    "..., 0",
    "..., ::2",
]
KEYS += ["..., [0, 1]", "0, ..., 0", ":, :, 0", ":, :, ::-1", ":, 0, :", "0, :, 0", "[0, 1], [1, 0]", "[0, 1], 0"]
KEYS += ["::-1, ::-1", ":, :, :, 0", "..., 0, 0", ":, :, None", ":, np.int8(1)", ":, np.array(1)", ":, True", "2**70"]
KEYS += [
    ":, :2**70",
    ":, ::-2**70",
    "::0",
    ":, ::0",
    "[2**63]",
    "np.array([0], 'f4')",
    "{}",
    "()",
    "[(0, 1)]",
    "..., ...",
]
KEYS += ["[True] + [False] * (len(x) - 1)", "np.ma.array([0])", "0, :, ::-1", "1:, 0", ":, [0], 0", "'a':", "m"]
INDICES = [f"x[{key}]" for key in KEYS if key != "m"]
WRITTEN = ["x.dtype.type(1)", "1.5", "'a'", "2**70", "None", "1j", "[[1], [1, 2]]", "np.datetime64(5, 's')"]
ASSIGNMENTS = [f"x[{key}] = x.dtype.type(1);" for key in KEYS]
ASSIGNMENTS += [f"x[{key}] = {value};" for key in ("0", "1:", "...", "[0, 1]", "m") for value in WRITTEN]

FUNCTIONS = [
    "np.clip(x, 0, 1)",
    "np.clip(x, None, 1)",
    "np.clip(x, 2, 0)",
    "np.clip(x, y, y - y)",
    "np.clip(x, min=0)",
    "np.round(x, 1)",
    "np.round(x, -1)",
    "round(x)",
]
FUNCTIONS += [
    "np.zeros_like(x)",
    "np.ones_like(x, dtype='f4')",
    "np.full_like(x, 1)",
    "np.full_like(x, 'a')",
    "np.copy(x)",
]
FUNCTIONS += [f"np.concatenate([x, y], axis={axis})" for axis in (0, 1, 2, -1, 9, None, (0, 1))]
FUNCTIONS += [
    "np.where(m, x, y)",
    "np.where(x, y, 0)",
    "np.isclose(x, y)",
    "np.isclose(a=x, b=y)",
    "np.isclose(x, b=y, rtol=1)",
    "np.isclose(x, y, x)",
    "np.allclose(x, x)",
]
FUNCTIONS += ["np.array_equal(x, x)", "np.array_equal(x, y)", "np.nan_to_num(x)", "np.isin(x, [1, 2])", "np.isin(x, y)"]
FUNCTIONS += [f"np.flip(x, {axis})" for axis in (None, 0, 1, -1, (0, 1))]
FUNCTIONS += [f"np.expand_dims(x, {axis})" for axis in (0, 1, 2, -1, (0, 1), (1, -1))]
FUNCTIONS += [
    f"np.take(x, {given})" for given in ("[0, -1], axis=1", "0, axis=0", "[True], axis=0", "[9], axis=1", "0")
]
FUNCTIONS += [f"np.sort(x, axis={axis})" for axis in (1, -1, 0)] + [
    "np.cumsum(x, axis=1)",
    "np.cumsum(x)",
    "np.unique(x)",
]
FUNCTIONS += ["np.unique(x, axis=0)", "np.unique(x, return_counts=True)", "np.count_nonzero(x, axis=1)", "np.size(x)"]
FUNCTIONS += ["np.ndim(x)", "np.real(x)", "np.imag(x)", "np.angle(x)", "np.result_type(x, 'f4')", "np.iscomplexobj(x)"]
FUNCTIONS += ["np.median(x)", "np.stack([x, x])", "np.diff(x)", "np.add.outer(x, x)", "np.add.at(x, 0, 1);", "1 in x"]
FUNCTIONS += ["np.nonzero(x)", "np.argwhere(x)", "np.where(m)", "np.broadcast_arrays(x, 1)", "np.average(x)"]
FUNCTIONS += [f"np.stack([x, y], axis={axis})" for axis in (0, 1, 2, -1, 9)]
FUNCTIONS += [f"np.tile(x, {reps})" for reps in (2, 0, (2, 1), (1, 2), (2, 1, 3))]
FUNCTIONS += [f"np.repeat(x, 2, axis={axis})" for axis in (None, 0, 1, -1, 9)] + ["np.repeat(x, [1, 2], axis=-1)"]
FUNCTIONS += [f"np.roll(x, 1, axis={axis})" for axis in (None, 0, 1, -1, (0, 1))] + ["np.roll(x, -5, axis=1)"]
FUNCTIONS += ["np.roll(x, (1, -2), axis=(0, 1))", "np.roll(x, (2, 1), axis=(1, 1))", "np.roll(x, (1, 2), axis=-1)"]
FUNCTIONS += [
    "np.transpose(x)",
    "x.T",
    "x.mT",
    "np.swapaxes(x, 0, 1)",
    "np.swapaxes(x, 1, -1)",
    "np.moveaxis(x, 0, -1)",
]
FUNCTIONS += [
    "np.transpose(x, (1, 0))",
    "np.transpose(x, (2, 0, 1))",
    "np.transpose(x, (0, 2, 1))",
    "x.transpose(1, 2, 0)",
]
FUNCTIONS += [
    "np.reshape(x, -1)",
    "x.reshape(len(x), -1)",
    "x.reshape(-1, 4)",
    "np.squeeze(x)",
    "np.squeeze(x[:, :1], 1)",
]
FUNCTIONS += [f"np.ptp(x, axis={axis})" for axis in (None, 0, 1, -1)] + ["np.ptp(x, axis=-1, keepdims=True)"]
FUNCTIONS += [f"np.average(x, axis={axis}, weights=y * y + 1)" for axis in (None, -1)] + [
    "np.average(x, -1, returned=True)"
]
FUNCTIONS += [
    "np.vecdot(x, y)",
    "np.vecdot(x, y, axis=-1)",
    "np.linalg.vecdot(x, y)",
    "x[:, None]",
    "x[None]",
    "x[:, None, 0]",
]
FUNCTIONS += [f"np.bitwise_{name}.reduce(x, axis={axis})" for name in ("or", "xor", "and") for axis in (0, 1, -1, None)]
FUNCTIONS += ["np.concatenate([np.zeros_like(x[:, :1]), x], 1)", "np.moveaxis(x, (0, 1), (1, 0))"]
FUNCTIONS += [f"x.sum(axis={axes})" for axes in ((0, 1), (0, 1, 2), (0, 2))] + ["x.argmax(axis=0)", "x.argmin(axis=1)"]
FUNCTIONS += [f"x.max(axis={axes}, keepdims=True)" for axes in ((0, 1), (1, 2))] + ["x.argmin(axis=0, keepdims=True)"]
FUNCTIONS += [f"x.astype('{dtype}')" for dtype in ("f4", "i8", "U5", "O", "nonsense")] + ["np.zeros_like(x, x)"]
FUNCTIONS += [f"x.astype('f4', casting='{rule}')" for rule in ("safe", "same_kind", "no", "any")]
FUNCTIONS += ["x.astype('f8', 'C', copy=False)", "x.astype(x.dtype, copy=False)"]

#: Calls that raise in NumPy and return a result here, some for one dtype, as the median of dates.
OWN = {"np.median(x)", "np.clip(x, None, 1)", "np.angle(x)", "round(x)"}
GROUPS = {
    "reductions": REDUCTIONS,
    "operators": OPERATORS,
    "indices": INDICES,
    "assignments": ASSIGNMENTS,
    "functions": FUNCTIONS,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("group", GROUPS)
def test_expressions_on_equal_lengths_equal_numpy(group, dtype):
    for shape, levels in SHAPES:
        dense, x = pair(shape, levels, dtype)
        y, mask = dense[::-1].copy(), np.random.default_rng(0).random(shape) < 0.6
        names = {"x": dense, "y": y, "m": mask}
        mine = {"x": x, "y": x[::-1], "m": LoDTensor(mask.reshape(x.values.shape), x.lod)}
        for text in GROUPS[group]:
            got = outcome(text, mine)
            if isinstance(got, Exception) or (dtype == "?" and text == "x ** 2"):  # int8 by a short cut
                continue
            want = outcome(text, names)
            assert not isinstance(want, Exception) or text in OWN, f"{text}, {shape}: {want!r}, but {got!r}"
            assert isinstance(want, Exception) or same(got, want), f"{text}, {shape}: {want!r}, but {got!r}"
            if dtype in ("?", "i8", "f4", "f8") and not text.endswith(";"):
                check_recorded(text, mine, got)


def check_recorded(text, names, eager):
    """Check that a recorded call returns the computed result, or is refused."""
    given = {name: x for name, x in names.items() if isinstance(x, LoDTensor)}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            recorded = vjp(lambda x: eval(compiled(text), {**given, "x": x, "np": np}), given["x"])[0]
    except (*REFUSED, AttributeError):
        return
    assert same(regular(recorded), eager), text


@pytest.mark.parametrize("dtype", ["i8", "f8"])
def test_promised_functions_of_the_page_are_not_refused(dtype):
    """docs/numpy.md: none of these is refused."""
    _, x = pair((2, 3, 4), 2, dtype)
    mask = LoDTensor(x.values > 1, x.lod)
    promised = [f"x.{name}({given})" for name in NAMES for given in ("", "axis=2", "axis=-1", "axis=2, keepdims=True")]
    promised += [f"x.{name}(axis={axis})" for name in ("sum", "mean", "max", "any", "prod") for axis in (0, 1, (1, 2))]
    promised += [f"x {sign} 2" for sign in ("+", "-", "*", "/", "//", "%", "**", "<", "==")] + ["x % 2 == 0"]
    promised += [
        "np.tanh(x)",
        "np.maximum(x, x)",
        "np.add(x, 1, out=x.copy(), where=m)",
        "np.divmod(x, 2)",
        "np.modf(x)",
    ]
    promised += [
        f"x[{key}]" for key in ("0", "1:", "::-1", "[1, 0]", ":, 1:", ":, :, ::-1", ":, :, -1", "..., 0", "0, 1, 2")
    ]
    promised += [f"np.flip(x, {axis})" for axis in (None, 0, (1, 2))] + [
        "np.expand_dims(x, (0, 1))",
        "np.clip(x, 0, 1)",
    ]
    promised += ["x[m]", "np.where(m, x, 0)", "np.concatenate([x, x], axis=1)", "np.unique(x)", "np.isin(x, x)"]
    for text in promised:
        found = outcome(text, {"x": x, "m": mask})
        assert not isinstance(found, Exception), f"{text}: {found!r}"


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("x.var()", lodcore.DTypeError, "var: .*<U3"),
        ("x.sum(axis=1)", lodcore.DTypeError, "sum: x: has dtype <U3; numbers"),
        ("x.sum(dtype='i8')", lodcore.DTypeError, "sum: x: has dtype <U3; numbers are needed"),
        ("x.any()", lodcore.DTypeError, "any: x: has dtype <U3; numbers"),
        ("x.max(axis=1)", lodcore.DTypeError, "max: x: has dtype <U3; .* real numbers"),
        ("np.round(x)", lodcore.DTypeError, "round: x: has dtype <U3"),
        ("y.mean(axis=1, dtype='i8')", lodcore.DTypeError, "mean: dtype: is int64"),
        ("y.sum(axis=1, initial=1.5)", lodcore.DTypeError, "sum: initial: is 1.5; int64 cannot hold it"),
        ("y.max(axis=1, initial=[1, 2])", lodcore.DTypeError, r"max: initial: has shape \(2,\)"),
        ("(y > 0).max(axis=0, initial=2)", lodcore.DTypeError, "max: initial: is 2; bool cannot hold it"),
        ("np.zeros_like(y, y)", lodcore.DTypeError, "zeros_like: dtype: is LoDTensor"),
        ("np.full_like(y, y)", lodcore.LoDError, "fill_value: has levels"),
        ("np.full_like(y, 1.5)", lodcore.DTypeError, "^full_like: fill_value: is 1.5; int64"),
        ("y.sum(axis=0, where=y)", lodcore.DTypeError, "sum: where: has dtype int64; bool"),
        ("y.sum(where='a')", lodcore.DTypeError, "sum: where: has dtype <U1; bool"),
        ("y.sum(where=None)", lodcore.DTypeError, "sum: where"),
        ("y.astype('i1', casting='safe')", lodcore.DTypeError, "astype: dtype: is int8; 'safe' casting does not"),
        ("y.astype('i1', casting='x')", ValueError, "astype: casting: is 'x': casting must be one of"),
        ("y.astype('i1', x=1)", TypeError, r"LoDTensor.astype\(\) got an unexpected keyword argument 'x'"),
        ("np.roll(y[..., None], None, axis=2)", lodcore.DTypeError, "^numpy.roll: shift: is None; an integer"),
        ("np.roll(y[..., None], y, axis=2)", lodcore.DTypeError, "^numpy.roll: shift: is LoDTensor"),
        ("np.repeat(y[..., None], [], axis=2)", lodcore.DTypeError, r"^numpy.repeat: repeats: is \[\]; an integer"),
        ("np.diff(y[..., None], axis=2, prepend=y[:1])", lodcore.LoDError, "^numpy.diff: prepend: has 1 sequences"),
        ("np.array([True, False]).any(where=y > 1)", lodcore.ShapeError, "^numpy.logical_or.reduce: x: has length 2"),
        ("np.std(y, axis=1, correction=1)", TypeError, "^numpy.std: correction: is not supported"),
        ("np.maximum.reduce(y, axis=1, dtype='f8')", TypeError, "^numpy.maximum.reduce: dtype: is not supported"),
        ("np.bitwise_or.reduce(y, where=y > 1)", TypeError, "^numpy.bitwise_or.reduce: where: is not supported"),
        ("np.take(y, [9], axis=1)", IndexError, "^numpy.take: index 9 is out of bounds for sequence 0"),
        ("np.partition(y, 9, axis=1)", IndexError, "^numpy.partition: index 9 is out of bounds for sequence 0"),
        (
            "np.average(y, axis=1, weights=np.ones(9))",
            lodcore.ShapeError,
            "^average: weights: has length 9 on axis 1, .* x is",
        ),
        ("np.sum(y, axis=1, where=y[:, :0] > 1)", lodcore.LoDError, "^numpy.sum: x: .*; that of where has 0"),
        ("np.clip(y, np.zeros(9), None)", lodcore.ShapeError, "^numpy.clip: a_min: has length 9 on axis 1, .* a is"),
        ("np.diff(y, prepend=y[:1])", lodcore.LoDError, "^numpy.diff: a: has 3 sequences at level 0; prepend has 1"),
        ("y.round(400)", lodcore.DTypeError, "round: decimals: is 400"),
        ("y.round(1.5)", lodcore.DTypeError, "round: decimals: is 1.5"),
        ("np.isclose(y, y, y)", TypeError, "numpy.isclose: argument 2: is a LoDTensor; a number or an array is needed"),
        ("np.unique(y, axis=0)", TypeError, "numpy.unique: axis: is 0"),
        ("np.take(y, y, axis=0)", TypeError, "numpy.take: indices"),
        ("np.take(y, [True, False], axis=0)", TypeError, "numpy.take: indices"),
        ("np.take(y, [0], axis=(0, 1))", lodcore.DTypeError, r"take: axis: is \(0, 1\)"),
        ("y[np.ma.array([0])]", TypeError, "index: is a masked array"),
        ("y @ 2", lodcore.ShapeError, "matmul: .* a number is multiplied by mul"),
        ("y + 2**70", lodcore.DTypeError, "add: dtypes int64, int"),
        (
            "np.add(np.ones(7), 1, out=y.astype(float))",
            lodcore.ShapeError,
            "numpy.add: x: has length 7 on axis 1.*ragged",
        ),
        ("np.array([['2000-01-01']], 'M8[s]') + x", TypeError, None),
        ("lodcore.array([[np.datetime64(5, 's')]]).astype('U5')", lodcore.DTypeError, "cast: dtype: is <U5"),
    ],
)
def test_wrong_expressions_are_refused(text, error, says):
    names = {
        "x": lodcore.array([["a", "bcd"], []]),
        "y": lodcore.array([[1, 2], [], [3]]),
        "np": np,
        "lodcore": lodcore,
    }
    with pytest.raises(error, match=says):
        eval(text, names)


def test_rows_are_joined_to_rows_before_differences():
    x = LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2) ** 2, [2, 1])
    found = np.diff(x, axis=2, prepend=x, append=0.0)
    np.testing.assert_array_equal(found.values, np.diff(x.values, axis=1, prepend=x.values, append=0.0))
    assert np.tile(x, np.array(2)).equals(np.tile(x, 2))


def test_astype_without_copy_returns_what_has_the_dtype():
    x = lodcore.array([[1, 2], []])
    assert x.astype(int, copy=False) is x
    assert x.astype(int) is not x
    assert x.astype("f4", copy=False).tolist() == x.tolist()
    if hasattr(np, "astype"):
        assert np.astype(x, int, copy=False) is x
        assert np.astype(x, "f4").dtype == np.float32


def test_nested_lists_are_joined_to_sequences():
    x = lodcore.array([[1, 2], []])
    assert np.concatenate([x, [[3]], []]).tolist() == [[1, 2], [], [3]]
    assert np.concatenate([[[], [0]], x], axis=1).tolist() == [[1, 2], [0]]
    assert np.concatenate([x, [[0.5]]]).dtype == float


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i8"])
def test_integers_are_clipped_squared_and_counted_as_in_numpy(dtype):
    values = np.array([0, 3, 100, 7, 127, 1]).astype(dtype)
    x = LoDTensor.from_lengths(values, [2, 0, 4])
    for low, high in ((1, 100), (5, 5), (100, 1), (0, 127)):
        found = np.clip(x, low, high)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.values, np.clip(values, low, high))
    assert (x**2).dtype == dtype
    np.testing.assert_array_equal((x**2).values, values**2)
    assert np.count_nonzero(x) == np.count_nonzero(values)


def test_round_keeps_complex_infinities():
    values = np.array([complex(np.inf, 0), complex(0, -np.inf), 1.26 - 2.34j])
    np.testing.assert_array_equal(np.round(lodcore.LoDTensor.from_lengths(values, [3]), 1).values, np.round(values, 1))


@for_each(("decimals", "nested"), [(decimals, nested) for decimals in (0, 1, -1) for nested in (True, False)])
def test_round_of_complex_numbers_in_a_program_keeps_signs_of_zero_and_infinities(decimals, nested):
    values = np.array([complex(-0.01, -0.02), complex(-0.0, 0.26), complex(np.inf, -0.0), complex(12.6, -np.inf)])
    x = lodcore.LoDTensor.from_lengths(values, [1, 3]) if nested else values
    with lodcore.Program() as program:
        rounded = np.round(lodcore.data("x", spec_of(x)), decimals)
    (found,) = lodcore.Executor().run(program, {"x": x}, [rounded])
    assert bits(found) == bits(np.round(x, decimals))
    assert bits(found.values if nested else found) == bits(np.round(values, decimals))


COMPLEX = lodcore.array([[1 + 2j, np.nan], [np.nan]])
TEXTS = lodcore.array([["a", "b"], ["c"]])


@for_each(
    ("call", "x", "says"),
    [
        (lambda x: np.nanargmax(x, axis=0), COMPLEX, "nanargmax: x: has dtype complex128; along axes of levels real"),
        (lambda x: np.nanargmin(x, axis=0), COMPLEX, "nanargmin: x: has dtype complex128; along axes of levels real"),
        (lambda x: np.nanargmax(x, axis=1), COMPLEX, "nanargmax: x: has dtype complex128; along axes of levels real"),
        (lambda x: np.diff(x, axis=0), TEXTS, "numpy.diff: dtypes <U1, <U1: "),
        (lambda x: np.diff(x, axis=0), TEXTS.astype("S1"), r"numpy.diff: dtypes \|S1, \|S1: "),
    ],
)
def test_a_dtype_is_refused_before_values_at_once_and_in_a_program(call, x, says):
    with pytest.raises(lodcore.DTypeError, match=f"^{says}") as at_once:
        call(x)
    with lodcore.Program(), pytest.raises(lodcore.DTypeError) as recorded:
        call(lodcore.data("x", spec_of(x)))
    assert str(recorded.value) == str(at_once.value)


def test_no_differences_of_text_are_the_text():
    assert np.diff(TEXTS, 0, axis=0).equals(TEXTS)
