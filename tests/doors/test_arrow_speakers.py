"""Other libraries that support Arrow's C data interface: nanoarrow, DuckDB, datasets."""

import numpy as np

import lodcore
from lodcore import from_arrow
from lodcore.interop import ArrowTable
from tests.helpers.libraries import MARKS, imported

pytestmark = MARKS

X = lodcore.array([[1, 2, 3], [], [4, 5]])


def test_from_arrow_takes_arrays_of_nanoarrow():
    nanoarrow = imported("nanoarrow")
    assert nanoarrow.Array(X).to_pylist() == X.tolist()
    assert from_arrow(nanoarrow.Array(X)).equals(X)
    assert lodcore.array(nanoarrow.Array(X)).equals(X)


def test_duckdb_reads_arrow_and_from_arrow_takes_its_results():
    duckdb = imported("duckdb")
    batch = ArrowTable({"id": np.arange(3), "x": X})  # noqa: F841
    assert duckdb.sql("select id, list_sum(x) from batch").fetchall() == [(0, 6), (1, None), (2, 9)]
    again = from_arrow(duckdb.sql("select x from batch order by id desc").arrow())
    assert again["x"].tolist() == X.tolist()[::-1]


def test_datasets_take_arrow_and_give_it_back():
    datasets = imported("datasets")
    stored = datasets.Dataset(lodcore.to_arrow({"x": X}))
    assert stored[0]["x"] == [1, 2, 3]
    assert from_arrow(stored.with_format("arrow")[:])["x"].equals(X)
    assert lodcore.from_arrow(stored.data.table)["x"].equals(X)
