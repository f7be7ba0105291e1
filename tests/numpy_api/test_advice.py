"""Common mistakes, and their errors: what is wrong, where, and what to do instead."""

import builtins
import pickle
import re

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, GraphError, LoD, LoDError, LoDTensor, Program, ShapeError, data, vjp
from lodcore.base.other_names import FUNCTIONS as INSTEAD
from lodcore.numpy_api.advice import METHODS, NUMBER_BY_NUMBER, TOGETHER, refused
from lodcore.numpy_api.attached_methods import FUNCTIONS
from lodcore.tensors.conversions import ASKING
from tests.helpers.tables import for_each


def numbers():
    return lodcore.array([[1.0, 2.0], [], [3.0]])


# -- nested lists --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([[1, None]], "obj[0][1]: is None; write nan for a value that is missing"),
        ([[1.0], [], [2.0, None]], "obj[2][1]: is None; write nan"),
        ([[[1, 2], []], [[3], [4, None]]], "obj[1][1][1]: is None; write nan"),
        ([[1, {}]], "obj[0][1]: is {}; what is of type dict has no dtype of a fixed size"),
        ([[1], [2**70]], f"obj[1][0]: is {2**70}; what is of type int has no dtype of a fixed size"),
    ],
)
def test_the_entry_that_is_no_number_is_named(given, says):
    with pytest.raises(DTypeError, match=re.escape(says)):
        lodcore.array(given)
    with pytest.raises(DTypeError, match=re.escape(says.replace("obj", "sequence_pool: x"))):
        lodcore.sequence_pool(given, "sum")


def test_array_takes_nan_for_missing_values():
    assert np.isnan(lodcore.array([[1, np.nan]]).values[1])


# -- structures ----------------------------------------------------------------------------------------------------


def test_an_id_far_beyond_the_rows_needs_the_number_of_sequences():
    with pytest.raises(LoDError, match=r"ids: is 1048576 at row 1; 2 rows would make 1048577 .*give num_sequences"):
        LoD.from_segment_ids([0, 2**20])
    assert LoD.from_segment_ids([0, 2**20], 2**20 + 1).num_sequences() == 2**20 + 1
    assert LoD.from_segment_ids([0, 2**20 - 1]).num_sequences() == 2**20
    ids = np.arange(0, 2**20 + 100, 100)  # one row per hundred sequences is not a mistake
    assert LoD.from_segment_ids(ids).num_sequences() == ids[-1] + 1


def test_a_long_structure_shows_its_lengths():
    assert repr(LoD.from_lengths([3, 0, 2])) == "LoD([xxx] [] [xx])"
    assert repr(LoD.from_lengths([76])) == f"LoD([{'x' * 76}])"
    assert repr(LoD.from_lengths([1000, 2000])) == "LoD(2 sequences of lengths 1000..2000: 1000, 2000)"
    assert repr(LoD.from_lengths([7] * 50)) == "LoD(50 sequences of length 7)"
    many = LoD.from_lengths([2, 1], [1000, 0, 3])
    assert repr(many) == "LoD(2 sequences of lengths 1..2: 2, 1 / 3 sequences of lengths 0..1000: 1000, 0, 3)"
    assert repr(LoD.from_lengths(range(100))).endswith("0..99: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...)")
    assert len(repr(LoD.from_lengths([1] * 20, *[[1] * 20] * 20))) < 300
    for lod in (many, LoD.from_lengths([10**9]), LoD.from_lengths([0] * 10**6)):
        assert "x" not in repr(lod)


# -- memory --------------------------------------------------------------------------------------------------------


def test_writes_into_read_only_values_name_copy_and_share():
    array = np.ones(3)
    x = LoDTensor.from_lengths(array, [2, 1])
    for write in (lambda: x.__setitem__(0, 5.0), lambda: x.__setitem__(x > 0, 5.0), lambda: np.add(x, 1, out=x)):
        with pytest.raises(ValueError, match=r"read-only, since they share .*x\.copy\(\).*share=True"):
            write()
    assert array.tolist() == [1, 1, 1]
    y = x.copy()
    y[0] = 5.0
    assert y.values.tolist() == [5, 5, 1]
    shared = LoDTensor(array, x.lod, share=True)
    shared[1] = 7.0
    assert array.tolist() == [1, 1, 7]


@pytest.mark.parametrize("mode", ["r+", "r", "c"])
def test_the_memory_of_a_file_is_shared(tmp_path, mode):
    path = tmp_path / "values"
    np.arange(6.0).tofile(path)
    values = np.memmap(path, np.float64, mode, shape=(3, 2))
    x = LoDTensor(values, LoD.from_lengths([2, 1]), share=True)
    assert type(x.values) is np.ndarray
    assert np.shares_memory(x.values, values)
    if mode == "r":
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 9.0
    else:
        x[0] = 9.0
        values.flush()
        assert values[:2].tolist() == [[9, 9], [9, 9]]
        assert np.fromfile(path).tolist() == ([9, 9, 9, 9, 4, 5] if mode == "r+" else [0, 1, 2, 3, 4, 5])
    for wrong in (values[:, ::2], values.astype(">f8"), [[1.0, 2.0]] * 3):
        with pytest.raises(ValueError, match="values: cannot be shared"):
            LoDTensor(wrong, x.lod, share=True)


# -- dense arrays --------------------------------------------------------------------------------------------------


def test_assertions_of_numpy_name_those_for_sequences():
    x, ours = numbers(), r"lodcore\.testing\.assert_equal and assert_allclose"
    for name in ("assert_array_equal", "assert_allclose", "assert_array_almost_equal", "assert_array_less"):
        for other in (x, x + 1, x.tolist()):
            with pytest.raises(ShapeError, match=f"not a dense array.*to_padded.*{ours}"):
                getattr(np.testing, name)(x, other)
    for name in ("assert_equal", "assert_almost_equal"):
        with pytest.raises(ValueError, match=f"ambiguous.*{ours}"):
            getattr(np.testing, name)(x, x + 1)
    for usual in (lambda: np.asarray(x), lambda: np.array([x, x]), lambda: bool(x)):
        with pytest.raises(ValueError, match=r"to_padded|x\.any") as caught:
            usual()
        assert "testing" not in str(caught.value)


def test_names_of_builtins_resolve_but_are_not_exported():
    shadowing = {name for name in lodcore.ops.__all__ if hasattr(builtins, name)}
    assert shadowing == {"sum", "max", "min", "any", "all"}
    for name in shadowing:
        assert getattr(lodcore, name) is getattr(lodcore.ops, name)
        assert name not in {*lodcore.__all__, *dir(lodcore), *vars(lodcore)}
    names = {}
    exec("from lodcore import *", names)
    assert not shadowing & names.keys()
    x = lodcore.array([[1.0, 2.0], [], [4.0]])
    assert lodcore.sum(x, axis=1).tolist() == [3, 0, 4]
    for name in ("print", "nothing_of_this_name"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
            getattr(lodcore, name)
    assert lodcore.mean is lodcore.ops.mean
    assert not {name for name in lodcore.__all__ if hasattr(builtins, name)}


# -- functions of NumPy --------------------------------------------------------------------------------------------


def for_advice():
    x = LoDTensor.from_lengths([[3.0], [1.0], [2.0], [5.0], [4.0]], [2, 3])
    flat = lodcore.array([[3.0, 1.0], [2.0, 5.0, 4.0]])
    wide = LoDTensor.from_lengths(np.arange(10.0).reshape(5, 2), [2, 3])
    return {
        "x": flat,
        "y": flat + 1,
        "np": np,
        "lodcore": lodcore,
        "weights": flat + 1,
        "mask": flat > 2,
        "k": 3,
        "new_dim": 1,
        "filter": np.ones((3, 1)),
        "context_length": 3,
        "index": [0],
        "n": 1,
        "f": np.cumsum,
        "column": x,
        "wide": wide,
    }


#: Replacements for x if it has rows of numbers.
WITH_WIDE = {"inner", "outer", "einsum", "tensordot", "norm", "reshape", "squeeze", "convolve", "correlate", "repeat"}
#: NumPy's result for one sequence, if the advice is the same.
SAME = {
    "argsort": lambda one: np.argsort(-one, kind="stable"),
    "average": lambda one: np.average(one, weights=one + 1),
    "diff": np.diff,
    "nanmax": np.nanmax,
    "nanmean": np.nanmean,
    "nanmin": np.nanmin,
    "nansum": np.nansum,
    "ptp": np.ptp,
    "trapezoid": np.trapezoid,
}


@pytest.mark.parametrize("name", sorted(INSTEAD))
def test_advice_of_refused_functions_runs(name, tmp_path):
    names = for_advice()
    if name in WITH_WIDE:
        names |= {"x": names["wide"], "y": names["wide"]}
    if name in ("einsum", "tensordot"):
        names["x"] = lodcore.sequence_matmul(names["x"], names["y"], transpose_y=True)
    if name in ("convolve", "correlate"):
        names["x"] = names["column"]
    if name == "repeat":
        names["y"] = names["x"]
    names["file"] = tmp_path / "file.npz"
    found = eval(INSTEAD[name].partition(";")[0], names)
    if SAME.get(name):
        for one, wanted in zip(found, map(SAME[name], names["x"]), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-12)
    if name.startswith("save"):
        loaded = lodcore.load(names["file"])
        lodcore.testing.assert_equal(loaded["x"] if isinstance(loaded, dict) else loaded, names["x"])


@for_each("name", sorted(name for name in NUMBER_BY_NUMBER | TOGETHER if hasattr(np, name)))  # of this NumPy
def test_advice_to_call_a_function_on_the_values_runs(name):
    x = for_advice()["x"]
    dates = "M8[D]" if "bus" in name or "date" in name else None
    values = x.astype(dates or (int if name == "bincount" else float))
    more = {"digitize": ", [1.0, 3.0]", "busday_count": ", np.datetime64(9, 'D')", "busday_offset": ", 0, 'forward'"}
    code = str(refused(getattr(np, name))).partition("; use ")[2].rpartition(", ")[0]
    found = eval(code.replace(", ...", more.get(name, "")), {"x": values, "np": np})
    if name in NUMBER_BY_NUMBER:
        assert found.lod is x.lod


@for_each("name", sorted(METHODS))
def test_advice_of_methods_of_ufuncs_runs(name):
    for code in METHODS[name].removesuffix(" and the like").split(", "):
        exec(code, for_advice() | {"y": 1.0})


def numpys(name):
    return getattr(np, name, None) or getattr(np.linalg, name, None)


NAMES = [*INSTEAD, *NUMBER_BY_NUMBER, *TOGETHER, "gradient", "unwrap", "fft", "inv"]


@pytest.mark.parametrize("name", sorted(filter(numpys, NAMES)))  # those that this NumPy has
def test_refused_functions_across_sequences_name_a_replacement(name):
    function = getattr(np.fft, name) if name == "fft" else numpys(name)
    assert function not in FUNCTIONS
    module = {"norm": "numpy.linalg", "inv": "numpy.linalg", "fft": "numpy.fft"}.get(name, "numpy")
    with pytest.raises(TypeError, match=f"^{re.escape(module)}.{name}: is not supported for sequences; ") as caught:
        numbers().__array_function__(function, (LoDTensor,), (numbers(),), {})
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 160
    assert "x.values, ...)" in text or "apply it to x.values" not in text
    if name not in (*INSTEAD, *NUMBER_BY_NUMBER, *TOGETHER):
        assert "each of x.to_arrays()" in text
        assert "x.values has no sequence boundaries" in text


def test_every_function_of_numpy_is_refused_in_one_line_or_works():
    """For all functions of NumPy: no advice suggests x.values if borders of sequences matter."""
    for function in {getattr(np, name) for name in dir(np) if hasattr(getattr(np, name), "_implementation")}:
        if function not in FUNCTIONS:
            text = str(refused(function))
            assert text.startswith("numpy.")
            assert "; use " in text or "each of x.to_arrays()" in text


def test_methods_of_ufuncs_are_refused_with_a_replacement():
    x = numbers()
    for call, says in (
        (lambda: np.add.outer(x, x), r"numpy\.add\.outer: .*each of x\.to_arrays\(\).*no sequence boundaries"),
        (lambda: np.add.reduceat(x, [0]), r"numpy\.add\.reduceat: .*use x\.sum\(axis=1\)"),
        (lambda: np.add.at(x, 0, 1), r"numpy\.add\.at: .*x\[index\] = x\[index\] \+ y"),
    ):
        with pytest.raises(TypeError, match=says):
            call()


# -- other libraries -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", sorted(ASKING))
def test_asarray_called_by_a_library_names_its_converter(library):
    """As if called from a module of that library, several calls deep."""
    names = {"__name__": f"{library}.inner", "np": np}
    exec("def convert(x, depth=3):\n    return convert(x, depth - 1) if depth else np.asarray(x)", names)
    with pytest.raises(ShapeError, match=re.escape(f"; {ASKING[library]}")):
        names["convert"](numbers())
    for door in re.findall(r"x\.(to_\w+)\(", ASKING[library]):
        assert hasattr(LoDTensor, door)
    names["__name__"] = f"{library}like"
    with pytest.raises(ShapeError) as caught:
        names["convert"](numbers())
    assert ASKING[library] not in str(caught.value)


def test_dlpack_of_a_lodtensor_is_refused():
    """torch queries it first; awkward queries the device, and proceeds without one."""
    x = numbers()
    assert not hasattr(x, "__dlpack_device__")
    with pytest.raises(ShapeError, match="not a dense array") as caught:
        x.__dlpack__()
    assert f"{caught.type.__module__}.{caught.type.__qualname__}" == "lodcore.errors.ShapeError"
    assert type(pickle.loads(pickle.dumps(caught.value))) is ShapeError
    for ask in (x.__dlpack__, lambda: x.__dlpack_device__, lambda: np.from_dlpack(x)):
        with pytest.raises(ShapeError, match=r"not a dense array; use x\.to_torch\(\)"):
            ask()
    dense = LoDTensor(np.ones(2), LoD.from_offsets(num_rows=2), share=True)
    assert np.from_dlpack(dense).tolist() == [1, 1]


@for_each(
    ("call", "error", "says"),
    [
        (lambda: lodcore.array([["a"]]).max(), DTypeError, "^max: x: has dtype <U1, which has no max"),
        (lambda: lodcore.array([["9" * 30]]).astype(int), ValueError, "^cast: x: .* too large"),
        (lambda: lodcore.ops.cast(np.zeros(2, [("a", "f8"), ("b", "i8")]), float), DTypeError, "^cast: x: Cannot cast"),
        (lambda: lodcore.ops.bitwise_reduce(numbers(), "nor", 1), ValueError, "^bitwise_reduce: name: is 'nor'"),
        (lambda: lodcore.LoDTensor.from_lengths([["a"]], [1]).min(axis=2), DTypeError, "^min: x: has dtype <U1, which"),
        (lambda: lodcore.array([["a"]]).ptp(), DTypeError, "ptp: x: has dtype <U1, which has no max"),
        (lambda: lodcore.array([["a"]]).ptp(axis=1), DTypeError, "ptp: x: has dtype <U1; along axes of levels"),
        (lambda: np.ptp(lodcore.array([["a"]])), DTypeError, "numpy.ptp: x: has dtype <U1, which has no max"),
        (lambda: numbers().flatten("C"), DTypeError, "LoDTensor.flatten: level: is 'C'; an integer is needed"),
        (lambda: numbers().flatten(1), LoDError, "LoDTensor.flatten: level: is 1; there is 1 level"),
        (
            lambda: np.append(numbers(), numbers(), axis=1),
            TypeError,
            r"numpy.append: is not supported for sequences; use np.concatenate\(\[x, y\], axis=1\); axis=0 puts",
        ),
        (
            lambda: lodcore.map_sequences(lambda x, k: 1, numbers(), 5),
            DTypeError,
            r"map_sequences: others\[0\]: is int; one entry per sequence is needed, as in an array",
        ),
        (
            lambda: lodcore.map_sequences(lambda x, k, n: 1, numbers(), [[1], [], [2]], np.array(5)),
            DTypeError,
            r"map_sequences: others\[1\]: is ndarray; one entry per sequence is needed",
        ),
        (
            lambda: lodcore.map_sequences(lambda x, k: 1, numbers(), [1, [2], [3]]),
            ShapeError,
            r"map_sequences: others\[0\]: entry 1 at depth 1 is list, entry 0 int",
        ),
        (
            lambda: lodcore.map_sequences(lambda x, k: 1, numbers(), [1, 2]),
            LoDError,
            r"map_sequences: others\[0\]: has 2 sequences; x has 3",
        ),
    ],
)
def test_errors_name_the_function_and_the_argument_that_were_given(call, error, says):
    with pytest.raises(error, match=f"^{says}"):
        call()


def test_map_sequences_takes_numbers_and_lists_for_the_sequences():
    found = lodcore.map_sequences(lambda x, k, rows: x.sum() * k + len(rows), numbers(), [10, 20, 30], [[1], [], [2]])
    assert found.tolist() == [31.0, 0.0, 91.0]


def test_a_variable_that_is_joined_to_sequences_as_a_number_is_refused_as_such():
    x = lodcore.array([[1.0, 2.0], []])
    for call in (lambda: np.concatenate([x, data("v", (), "f8")], axis=1), lambda: vjp(joined, x, np.float64(3))):
        with (
            pytest.raises(GraphError, match="full_like: fill_value: is a Variable; a value is needed there"),
            Program(),
        ):
            call()


def joined(x, v):
    return np.concatenate([x, v], axis=1)
