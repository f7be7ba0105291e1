"""arrow_batches: the part that needs no library, and, if pyarrow is installed, its results for batches."""

import functools
import pickle

import numpy as np
import pytest

import lodcore
from lodcore.errors import BatchError, DTypeError
from lodcore.interop import arrow_batches

pytestmark = pytest.mark.not_on_reference


def double(values):
    return values * 2


def add(left, right, *, scale, offset=1.0):
    return {"sum": (left + right) * scale + offset}


def test_columns_are_named_by_the_parameters_without_default():
    assert arrow_batches(double).columns == ("values",)
    assert arrow_batches(add).columns == ("left", "right", "scale")
    assert arrow_batches(functools.partial(add, scale=2.0)).columns == ("left", "right")
    assert arrow_batches(np.negative, ["x"]).columns == ("x",)
    assert arrow_batches(add, {"left": "a", "right": "a", "scale": "b"}).columns == ("a", "b")
    assert repr(arrow_batches(functools.partial(add, scale=2.0))) == "arrow_batches(add, columns=('left', 'right'))"


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (((3,), {}), DTypeError, "f: is int; a function is needed"),
        (((lambda *x: x,), {}), ValueError, r"takes \*x; columns= is needed"),
        (((lambda **x: x,), {}), ValueError, r"takes \*\*x; columns= is needed"),
        (((lambda: 1,), {}), ValueError, "columns: are none"),
        (((iter,), {}), ValueError, "iter has no readable signature; columns= is needed"),
        (((double, "values"), {}), DTypeError, "columns: is 'values'; a list of names"),
        (((double, [3]), {}), DTypeError, "columns: has 3; names are needed"),
        (((double,), {"keep": "name"}), DTypeError, "keep: is 'name'; True, False or a list"),
        (((double,), {"max_rows": 0}), ValueError, "max_rows: is 0; 1 or more"),
        (((double,), {"string": "fixed"}), TypeError, "has no option 'string'"),
    ],
)
def test_wrong_calls_of_arrow_batches_name_argument_and_value(arguments, error, says):
    positional, named = arguments
    with pytest.raises(error, match=says):
        arrow_batches(*positional, **named)


def test_a_batch_error_keeps_path_and_rows_when_it_is_pickled():
    error = BatchError("what")
    error.path, error.rows = "a.parquet", (3, 5)
    sent = pickle.loads(pickle.dumps(error))
    assert (str(sent), sent.path, sent.rows) == ("what", "a.parquet", (3, 5))
    assert (BatchError("new").path, BatchError("new").rows) == (None, (0, 0))


def test_arrow_batches_function_can_be_pickled():
    sent = pickle.loads(pickle.dumps(arrow_batches(double, keep=["name"], max_rows=5, nulls={"values": 0})))
    assert (sent.f, sent.columns, sent.keep, sent.max_rows) == (double, ("values",), ("name",), 5)


def test_lodcore_loads_no_engine():
    assert lodcore.interop.arrow_batches is arrow_batches


def test_arrow_batches_copies_the_settings_that_it_is_given():
    nulls, keep = {"values": 0}, ["name"]
    made = arrow_batches(double, nulls=nulls, keep=keep)
    nulls["values"] = 5
    keep.append("other")
    assert (made.nulls, made.keep) == ({"values": 0}, ("name",))


def test_names_of_partial_functions_and_columns():
    partial = functools.partial
    for f in (double, partial(double), partial(partial(double)), partial(partial(partial(double)))):
        assert repr(arrow_batches(f, ["values"])) == "arrow_batches(double, columns=('values',))"

    def g(a, b, *, c, d=None, e=None):
        return a

    made = arrow_batches(g)
    assert (made.positional, made.named, made.columns) == (("a", "b"), (("c", "c"),), ("a", "b", "c"))
    made = arrow_batches(g, {"a": "x", "b": "y", "c": "x"})
    assert (made.positional, made.columns) == ((), ("x", "y"))
    for number in (0, -1):
        with pytest.raises(ValueError, match=f"max_rows: is {number}; 1 or more"):
            arrow_batches(double, max_rows=number)
