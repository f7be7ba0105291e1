"""arrow_batches on DataFrames of pandas and Polars."""

import numpy as np
import pyarrow
import pytest

import lodcore
from lodcore.interop import arrow_batches
from tests.helpers.libraries import MARKS, imported

pandas, polars = imported("pandas"), imported("polars")
pytestmark = MARKS

TABLE = pyarrow.table({"values": [[1.0, 2.0], [], [3.0]], "name": ["a", "b", "c"]})


def double(values):
    return values * 2


def frame_of(table):
    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def test_a_frame_comes_back_as_a_frame_of_arrow():
    frame = frame_of(TABLE).set_axis([5, 6, 7])
    made = arrow_batches(double)(frame)
    assert made["values"].dtype == pandas.ArrowDtype(pyarrow.large_list(pyarrow.float64()))
    assert [list(row) for row in made["values"]] == [[2.0, 4.0], [], [6.0]]
    assert made["name"].tolist() == ["a", "b", "c"]
    assert made.index.tolist() == [5, 6, 7]
    shorter = arrow_batches(lambda values: values[:1], keep=False)(frame)
    assert shorter.index.tolist() == [0]


def test_text_of_pandas():
    frame = pandas.DataFrame({"name": pandas.Series(["A", "b"], dtype="string[pyarrow]"), "k": [1, 2]})
    made = arrow_batches(lambda name: lodcore.LoDTensor(name.values | 0x20, name.lod))(frame)
    assert made["name"].tolist() == ["a", "b"]
    assert made["k"].tolist() == [1, 2]


def test_objects_are_refused():
    frame = pandas.DataFrame({"values": [[1], [2, 3]], "k": np.arange(2)})
    with pytest.raises(lodcore.DTypeError, match="column 'values': has dtype object; ArrowDtype is needed"):
        arrow_batches(double)(frame)
    assert arrow_batches(lambda k: k + 1, keep=False)(frame)["k"].tolist() == [1, 2]


def test_arrow_batches_of_an_empty_frame_returns_its_columns():
    made = arrow_batches(double)(frame_of(TABLE.slice(0, 0)))
    assert list(made.columns) == ["values", "name"]
    assert len(made) == 0


def test_arrow_batches_runs_on_frames_of_polars():
    frame = polars.from_arrow(TABLE)
    made = arrow_batches(double)(frame)
    assert made["values"].to_pylist() == [[2.0, 4.0], [], [6.0]]
    assert polars.from_arrow(made)["name"].to_list() == ["a", "b", "c"]
