"""Dtypes of results are recorded: those of operators, of their Spec rules, and of NumPy."""

import itertools
import warnings

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDTensor, ops, vjp
from lodcore.operators.registry import OPS
from lodcore.testing.samples import with_tensors
from tests.helpers.agree import values_of
from tests.helpers.dtypes_of_results import CALLS, SAME_EVERYWHERE, inferred, run, samples_of, written
from tests.helpers.small_calls import calls, gradients, is_float
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # dtypes do not depend on the kernels

TABLE = written()
#: The elements of a TensorArray are known at run time: the Spec rule may infer a result that is refused then.
LATER = {"last_of_steps"}
WITHOUT_TENSORS = {name for name in CALLS if not samples_of(name)}


def test_every_call_is_in_the_table():
    assert TABLE.keys() == CALLS.keys() - WITHOUT_TENSORS, "run `make pages`, and review the new rows"
    assert all(TABLE[name].keys() == samples_of(name).keys() for name in TABLE)


@for_each("name", TABLE)
def test_dtypes_are_those_of_the_table(name):
    samples = samples_of(name)
    assert {key: run(name, sample) for key, sample in samples.items()} == TABLE[name]
    promised = {key: inferred(name, sample) for key, sample in samples.items()}
    assert all(promised[key] == given for key, given in TABLE[name].items() if given != "-" or name not in LATER)


#: Calls of the table that are functions of NumPy on arrays, and these functions.
NUMPY = {
    **{f"elementwise {name}": getattr(np, name) for name in SAME_EVERYWHERE},
    **{f"reduce_values {name}": getattr(np, name) for name in ["sum", "prod", "mean", "max", "min", "any", "all"]},
    **{f"pool_positions {name}": getattr(np, name) for name in ["sum", "mean", "max", "min"]},
    **{f"sequence_pool {name}": getattr(np, name) for name in ["sum", "mean", "max", "min"]},
    **{f"sequence_accumulate {name}": getattr(np, name).accumulate for name in ["add", "multiply", "minimum", "hypot"]},
    **{f"sequence_quantile {name}": lambda x, name=name: np.quantile(x, 0.5, method=name) for name in ["linear"]},
    "sequence_cumsum": np.cumsum,
    "sequence_prod": np.prod,
    "sequence_sort": np.sort,
    "sequence_argsort": np.argsort,
    "sequence_unique": np.unique,
    "sequence_var": np.var,
    "sequence_std": np.std,
    "sequence_diff": np.diff,
    "sequence_interp": np.interp,
    "sequence_searchsorted": np.searchsorted,
    "add": lambda x: np.add(x, 2.0),
    "minus": lambda x: np.subtract(x, 2.0),
    "mul": lambda x: np.multiply(x, 2.0),
    "div": lambda x: np.divide(x, 2.0),
    "less_than": lambda x: np.less(x, 2.0),
    "where": lambda x: np.where([True] * len(x), x, 0.0),
    "logical_and": np.logical_and,
    "logical_not": np.logical_not,
    "matmul": np.matmul,
    "concat_values": lambda *xs: np.concatenate(xs),
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
}
TWO = {"sequence_interp", "sequence_searchsorted", "logical_and", "matmul", "concat_values"}


def of_numpy(name, key):
    """Return NumPy's dtype, "-" if it raises."""
    count = 3 if name == "sequence_interp" else 2 if name in TWO or getattr(NUMPY[name], "nin", 1) == 2 else 1
    first, _, others = key.partition("/")
    xs = [np.ones(3).astype(dtype) for dtype in [first, *[others or first] * (count - 1)]]
    try:
        with np.errstate(all="ignore"):
            return np.asarray(NUMPY[name](*xs)).dtype.str.lstrip("<>|=")
    except (TypeError, ValueError):
        return "-"


@for_each("name", NUMPY)
def test_table_agrees_with_numpy(name):
    """Where both compute; for sequences, some functions accept only real numbers where NumPy accepts more."""
    wanted = {key: of_numpy(name, key) for key, given in TABLE[name].items() if given != "-" and key[0] not in "UM"}
    wanted = {key: given for key, given in wanted.items() if given != "-"}
    assert {key: TABLE[name][key] for key in wanted} == wanted
    assert len(wanted) >= 11


NUMBERS = {
    "c16": [0, 1j, -2.5 + 1j, 3 - 0.5j, 1e30j],
    "c8": [0, 2j, 1.5],
    "f8": [0.0, -0.0, 2.5, -3.0],
    "i8": [-300, 0, 5, 2**40],
    "?": [True, False],
    "u1": [0, 200],
}


@for_each(("given", "wanted"), itertools.product(NUMBERS, ["?", "i1", "u2", "i8", "f4", "f8", "c8", ">f8", ">i2"]))
def test_casts_are_those_of_numpy(given, wanted):
    x = np.array(NUMBERS[given], given)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected, found = x.astype(wanted), lodcore.ops.cast(x, wanted)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


LENGTHS = [3, 0, 1, 4]


LINEAR = {
    "diff": lambda x: lodcore.sequence_diff(x, 2),
    "shift": lambda x: lodcore.sequence_shift(x, -1),
    "cumsum": lodcore.sequence_cumsum,
    "accumulate": lambda x: lodcore.sequence_accumulate(x, np.add),
    "sum": lambda x: lodcore.sequence_pool(x, "sum"),
    "mean": lambda x: lodcore.sequence_pool(x, "mean"),
    "sqrt": lambda x: lodcore.sequence_pool(x, "sqrt"),
    "first": lambda x: lodcore.sequence_pool(x, "first"),
    "last": lambda x: lodcore.sequence_pool(x, "last"),
    "windows": lambda x: lodcore.sliding_window(x, 2),
    "pad": lambda x: lodcore.sequence_pad(x, 1j)[0],
    "positions": lambda x: ops.pool_positions(x, "mean"),
    "by position": ops.by_position,
    "reverse": lodcore.sequence_reverse,
    "gather": lambda x: lodcore.gather_nested(x, [3, 0, 3]),
    "split": lambda x: lodcore.split_by_mask(x, [True, False, True, True])[0],
    "sort": lodcore.sequence_sort,
    "rows": lambda x: ops.reduce_values(x, "mean", (0,)),
    "reshape": lambda x: lodcore.sequence_reshape(x, 1),
    "steps": lambda x: lodcore.tensor_array_pack(*(lambda s, m: (s, 0, m))(*lodcore.tensor_array_unpack(x, 0))),
    "repeat": lambda x: lodcore.repeat_runs(x, x.with_values(np.arange(x.num_rows) % 3)),
}


@for_each(("name", "dtype"), list(itertools.product(LINEAR, ("c8", "c16"))))
def test_gradients_of_linear_operators_on_complex_numbers_are_linear(name, dtype):
    values = np.arange(1.0, 9) + 1j * np.cos(np.arange(8))
    x = LoDTensor.from_lengths(values.astype(dtype), LENGTHS)
    out, back = vjp(LINEAR[name], x)
    wave = np.sin(1 + np.arange(values_of(out).size)).reshape(values_of(out).shape)
    real, imag, both = (back((wave * w).astype(dtype))[0].values for w in (1, 1j, 1 + 2j))
    assert np.abs(real).max() > 0.1
    np.testing.assert_allclose(real.imag, 0, atol=1e-6)
    np.testing.assert_allclose(imag, 1j * real, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(both, (1 + 2j) * real, rtol=1e-5, atol=1e-6)


@for_each("name", [*LINEAR, "average", "rolling", "softmax", "logsumexp", "max"])
def test_results_of_float16_are_those_of_float32_rounded(name):
    """Results of float16 are those of float32, rounded."""
    call = (
        LINEAR.get(name)
        or {
            "average": lambda x: lodcore.sequence_moving_average(x, 0.25),
            "rolling": lambda x: lodcore.sequence_rolling(x, 2),
            "softmax": lodcore.sequence_softmax,
            "logsumexp": lodcore.sequence_logsumexp,
            "max": lambda x: lodcore.sequence_pool(x, "max"),
        }[name]
    )
    if name == "pad":
        call = lambda x: lodcore.sequence_pad(x, 0.5)[0]  # noqa: E731
    half = np.cos(np.arange(8)).astype(np.float16)
    found, wanted = (values_of(call(LoDTensor.from_lengths(half.astype(dtype), LENGTHS))) for dtype in ("f2", "f4"))
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.astype("f4"), wanted, rtol=1.5e-3, atol=1e-6)


@for_each("dtype", [">f4", ">i2", "<f8", "f2", ">c8"])
def test_full_like_has_the_requested_dtype_and_byte_order(dtype):
    x = lodcore.array([[1, 2], [3]])
    with lodcore.Program():
        declared = ops.full_like(lodcore.data("x", (None,), num_levels=1), 5, dtype).dtype
    assert declared == np.dtype(dtype).newbyteorder("=")
    for given in (x, x.values, np.ones((2, 0))):
        made = ops.full_like(given, 5, dtype)
        assert values_of(made).dtype == made.dtype == (declared if given is x else np.dtype(dtype))
        assert (values_of(made) == 5).all()


@for_each("dtype", [">f4", ">f8", ">c16", ">i2", ">U3", ">M8[s]"])
def test_tensors_with_levels_have_the_byte_order_of_the_machine(dtype):
    x = lodcore.array([[1, 2], [3]])
    native = np.dtype(dtype).newbyteorder("=")
    for made in (x.astype(dtype), ops.cast(x, dtype), np.astype(x, np.dtype(dtype)), x.astype(dtype, copy=False)):
        assert made.dtype == native
        assert made.tolist() == x.astype(native).tolist()
    if native.kind in "fc":
        assert x.sum(axis=1, dtype=dtype).tolist() == [3, 3]
        assert np.zeros_like(x, dtype=dtype).sum(axis=1).tolist() == [0, 0]
        assert x.astype(dtype).mean(axis=1).tolist() == [1.5, 3]
    with lodcore.Program() as program:
        declared = lodcore.data("x", (None,), dtype, num_levels=1)
    assert declared.dtype == native
    assert lodcore.Executor().run(program, {"x": x.astype(native)}, [declared])[0].equals(x.astype(native))


#: Operators whose operands must have one dtype.
OF_ONE_DTYPE = {"concat_batches", "sequence_concat", "merge_by_mask"}

#: Operators whose results have the numbers, and the dtype, of one operand.
MOVING = {"beam_search", "cartesian", "spread", "with_values"}


@for_each(("name", "sample"), calls())
def test_one_narrow_operand_changes_its_own_gradient_only(name, sample):
    """All is computed as if it were wide; its gradient alone is rounded to its dtype."""
    op = OPS[name.split()[0]]
    floats, results, wanted = gradients(op, sample)
    for at in range(len(floats)):
        left = iter(range(len(floats)))
        mixed = with_tensors(sample, lambda x: x.astype("f4") if is_float(x) and next(left) == at else x)  # noqa: B023
        if name in OF_ONE_DTYPE:
            with pytest.raises(DTypeError, match="float"):
                op(*mixed.args, **mixed.kwargs)
            continue
        operands, rows, found = gradients(op, mixed)
        for one, other in zip(rows, results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, strict=name not in MOVING)
        for x, one, other in zip(operands, found, wanted, strict=True):
            if one is None:
                assert other is None
                continue
            one, other = (getattr(d, "values", d) for d in (one, other))
            assert one.dtype == x.dtype, at
            np.testing.assert_allclose(one, other, *[(1e-12, 1e-12), (1e-6, 1e-6)][x.dtype == np.float32])
