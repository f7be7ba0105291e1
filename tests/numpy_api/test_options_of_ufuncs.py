"""Every option of every ufunc, of its `reduce` and its `accumulate`, alone and with the others, compared with NumPy."""

import itertools

import numpy as np
import pytest

from lodcore import LoDError, LoDTensor
from lodcore.numpy_api.protocols import BITS, REDUCING

pytestmark = [
    pytest.mark.not_on_reference,  # options are handled above the kernels
    pytest.mark.filterwarnings("ignore"),
]

UFUNCS = {name: getattr(np, name) for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
ELEMENTWISE = {
    name: ufunc for name, ufunc in UFUNCS.items() if (ufunc.nout, ufunc.signature, ufunc.__name__) == (1, None, name)
}
BINARY = {name: ufunc for name, ufunc in ELEMENTWISE.items() if ufunc.nin == 2}
REFUSALS = (TypeError, ValueError)
LENGTHS = [2, 0, 3]
DTYPES = [None, "f8", "f2", "i2", "?"]
#: The accepted options of `reduce`.
NEEDED = {
    **{name: {"axis", "dtype", "keepdims", "initial", "where"} for name in ("add", "multiply")},
    **{name: {"axis", "keepdims", "initial", "where"} for name in ("maximum", "minimum")},
    **{name: {"axis", "keepdims", "where"} for name in ("logical_and", "logical_or")},
    **{name: {"axis"} for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
}
CASTINGS = [None, "unsafe", "safe", "no"]


def operands(count, dtype, row_shape):
    """Make operands that distinguish options: thirds differ between two types of floats."""
    rng = np.random.default_rng(5)
    drawn = (rng.integers(1, 9, (sum(LENGTHS), *row_shape)) for _ in range(count))
    return [(rows / 3 if np.dtype(dtype).kind == "f" else rows % 7).astype(dtype) for rows in drawn]


def over(values):
    """Make sequences of rows."""
    return LoDTensor.from_lengths(np.array(values), LENGTHS)


def outcome(call, *args, **kwargs):
    """Return a result, or its error."""
    try:
        with np.errstate(all="ignore"):
            return call(*args, **kwargs)
    except REFUSALS as error:
        return error


def check(got, want, what):
    """Compare results without errors with NumPy's."""
    assert not isinstance(want, Exception), f"{what}: {got!r}, where NumPy refuses: {want!r}"
    got = getattr(got, "values", got)
    assert (np.shape(got), got.dtype) == (np.shape(want), want.dtype), f"{what}: {got!r}; {want!r}"
    rounded = 4 * np.finfo(want.dtype).eps if want.dtype.kind == "f" else 0  # for sums in another order
    np.testing.assert_allclose(got, want, rtol=rounded, atol=0, err_msg=str(what))


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_dtype_and_casting_beside_out_and_where(name):
    ufunc, row_shape = ELEMENTWISE[name], (2,)
    mask = np.random.default_rng(6).random((sum(LENGTHS), *row_shape)) < 0.6
    for given in ("f4", "i4"):
        rows = operands(ufunc.nin, given, row_shape)
        for target, masked, dtype, casting in itertools.product((None, "f8", "i2", "?"), (0, 1), DTYPES, CASTINGS):
            options = {key: one for key, one in (("dtype", dtype), ("casting", casting)) if one is not None}
            mine, theirs = dict(options), dict(options)
            if masked:
                mine["where"], theirs["where"] = over(mask), mask
            if target:
                held = np.full(mask.shape, 7).astype(target)
                mine["out"], theirs["out"] = over(held).copy(), held
            elif masked:
                continue  # is refused: see below
            got, want = outcome(ufunc, *map(over, rows), **mine), outcome(ufunc, *rows, **theirs)
            what = (name, given, target, masked, options)
            assert isinstance(got, Exception) == isinstance(want, Exception), f"{what}: {got!r}; NumPy: {want!r}"
            if not isinstance(got, Exception):
                check(got, want, what)
                assert target is None or got is mine["out"]


@pytest.mark.parametrize("option", ["order", "subok", "axes", "axis", "keepdims", "where", "sig", "signature"])
@pytest.mark.parametrize("name", ["add", "arctan2", "exp", "logical_not", "matmul", "modf"])
def test_other_options_are_refused(name, option):
    x = over(operands(1, "f8", (2, 2))[0])
    with pytest.raises((TypeError, ValueError)):
        UFUNCS[name](*[x] * UFUNCS[name].nin, **{option: {"order": "F", "where": x > 1}.get(option, False)})


def one_by_one(method, values, axis, options):
    """Compute with NumPy: along the rows of each sequence, and along an axis of all rows."""
    stops = np.cumsum(LENGTHS)
    if axis != 1:
        return [method(values, axis=axis - 1 if axis > 0 else axis, **options)]
    pieces = zip(stops - LENGTHS, stops, strict=True)
    masks = options.get("where", np.ones(values.shape, bool))
    cut = [(values[start:stop], masks[start:stop]) for start, stop in pieces]
    masked = "where" in options
    return [method(rows, axis=0, **{**options, **({"where": mask} if masked else {})}) for rows, mask in cut]


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
@pytest.mark.parametrize("name", BINARY)
def test_methods_of_ufuncs_take_the_options_of_numpy(name, method):
    ufunc, tried = BINARY[name], {"dtype": DTYPES}
    if method == "reduce":
        tried |= {"keepdims": [None, True], "initial": [None, 3, 0], "where": [None, True]}
    taken = set()
    for given, row_shape in itertools.product(("f4", "i4", "i1", "?"), [(), (2,)]):
        (values,) = operands(1, given, row_shape)
        mask = np.random.default_rng(6).random(values.shape) < 0.6
        for axis, *chosen in itertools.product((1, 2, -1)[: 1 + 2 * len(row_shape)], *tried.values()):
            options = {key: one for key, one in zip(tried, chosen, strict=True) if one is not None}
            mine = {**options, **({"where": over(mask)} if "where" in options else {})}
            theirs = {**options, **({"where": mask} if "where" in options else {})}
            got = outcome(getattr(ufunc, method), over(values), axis=axis, **mine)
            if isinstance(got, Exception):
                continue
            want = outcome(one_by_one, getattr(ufunc, method), values, axis, theirs)
            what = (name, method, given, row_shape, axis, options)
            assert not isinstance(want, Exception), f"{what}: {got!r}, where NumPy refuses: {want!r}"
            parts = [got.values if isinstance(got, LoDTensor) else got] if axis != 1 else [got[s] for s in range(3)]
            for part, one in zip(parts, want, strict=True):
                check(part, one, what)
            taken |= {"axis", *options}
    if method == "accumulate":
        assert taken or name == "ldexp"  # its operands have different types
    else:
        assert taken >= NEEDED.get(name, set())
        assert not taken or ufunc in REDUCING or ufunc in BITS


@pytest.mark.parametrize("lengths", [[1, 1, 3], [5], [2, 0, 3, 0]])
@pytest.mark.parametrize("place", ["x", "y", "where", "out"])
def test_operands_of_another_structure_are_refused(place, lengths):
    """With equally many rows, too: x, y, where and out have the same structure."""
    given = {name: over(np.arange(5.0)) for name in ("x", "y", "out")} | {"where": over(np.ones(5, bool))}
    given[place] = LoDTensor.from_lengths(np.array(given[place].values), lengths)
    given["out"] = given["out"].copy()
    with pytest.raises(LoDError, match="sequence"):
        np.add(given["x"], given["y"], out=given["out"], where=given["where"])
    assert given["out"].values.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_methods_without_an_axis_take_the_first_one(name, method):
    values = np.array([[1, 2, 4], [3, 2, 5]])
    for array in (values, values.astype(float), values > 2):
        got = outcome(getattr(BINARY[name], method), LoDTensor.from_lengths(array.reshape(-1), [3, 3]))
        if isinstance(got, Exception):
            assert method == "accumulate" or BINARY[name] not in {**REDUCING, **BITS} or array.dtype.kind != "i"
            continue
        want = getattr(BINARY[name], method)(array)
        np.testing.assert_allclose(np.array(got.tolist()), want, rtol=1e-15, err_msg=name)
