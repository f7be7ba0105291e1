"""python -m lodcore pack on Parquet and Arrow."""

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

from lodcore.__main__ import main
from lodcore.batching import pack_plan
from tests.helpers.libraries import MARKS
from tests.helpers.plans import documents_of

pytestmark = MARKS

X = documents_of([3, 0, 9, 5, 2, 7, 1])
WRITE = {"parquet": pyarrow.parquet.write_table, "arrow": pyarrow.feather.write_feather}
READ = {"parquet": pyarrow.parquet.read_table, "arrow": pyarrow.feather.read_table}


def saved(path, kind, table, **named):
    WRITE[kind](table, str(path / f"tokens.{kind}"), **named)
    return str(path / f"tokens.{kind}")


def table_of(x, number=None):
    lists = pyarrow.array(x.tolist(), pyarrow.list_(number or pyarrow.int64()))
    return pyarrow.table({"name": [str(k) for k in range(len(x))], "ids": lists})


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("number", [pyarrow.int64(), pyarrow.int32(), pyarrow.uint16()])
def test_bins_are_lists_of_lists(tmp_path, kind, number):
    path = saved(tmp_path, kind, table_of(X, number))
    assert main(["pack", path, "--budget", "10", "--quiet"]) == 0
    found = READ[kind](str(tmp_path / f"tokens.packed.{kind}"))
    plan = pack_plan(X, 10)
    assert found.column_names == ["ids", "documents"]
    assert found["ids"].to_pylist() == plan.apply(X).tolist()
    assert found["documents"].to_pylist() == [bin.tolist() for bin in plan]
    assert found["ids"].type.value_type.value_type == number


@pytest.mark.parametrize("kind", WRITE)
def test_slices_chunks_and_large_lists(tmp_path, kind):
    table = table_of(X).slice(1, 5)
    parts = pyarrow.concat_tables([table.slice(0, 2), table.slice(2)])
    wide = pyarrow.chunked_array([part.cast(pyarrow.large_list(pyarrow.int64())) for part in parts["ids"].chunks])
    for given in (parts, pyarrow.table({"ids": wide})):
        path = saved(tmp_path, kind, given)
        assert main(["pack", path, "--budget", "10", "--quiet", "--force"]) == 0
        found = READ[kind](str(tmp_path / f"tokens.packed.{kind}"))
        packed = [document for bin in found["ids"].to_pylist() for document in bin]
        assert sorted(packed) == sorted(X[1:6].tolist())


def test_a_column_is_chosen(tmp_path, capsys):
    table = table_of(X).append_column("other", pyarrow.array([[1]] * 7))
    path = saved(tmp_path, "parquet", table)
    assert main(["pack", path, "--budget", "10", "--quiet", "--column", "other"]) == 0
    assert READ["parquet"](str(tmp_path / "tokens.packed.parquet")).column_names == ["other", "documents"]
    assert main(["pack", path, "--budget", "10", "--quiet", "--column", "name", "--force"]) == 1
    assert "column 'name': is not a column of lists; ids, other are" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lists", "says"),
    [
        ([[1], None], "column 'ids': has 1 nulls"),
        ([[1, None]], "column 'ids': has 1 null tokens"),
        ([["a"]], "has items of type string; numbers are needed"),
        ([1, 2], "a column of lists is needed"),
    ],
)
def test_pack_refuses_columns_that_are_no_documents(tmp_path, capsys, lists, says):
    path = saved(tmp_path, "parquet", pyarrow.table({"ids": lists}))
    assert main(["pack", path, "--budget", "10"]) == 1
    assert says in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["tokens.parquet"]


def test_empty_tables(tmp_path):
    path = saved(tmp_path, "parquet", table_of(X).slice(0, 0))
    assert main(["pack", path, "--budget", "10", "--quiet"]) == 0
    assert READ["parquet"](str(tmp_path / "tokens.packed.parquet")).num_rows == 0


def test_values_are_not_those_of_the_slice_before():
    from lodcore.interop.files.documents import _of_lists

    array = pyarrow.array(X.tolist()).slice(2, 2)
    values, lengths = _of_lists("ids", array)
    assert values.tolist() == X[2].tolist() + X[3].tolist()
    assert lengths.tolist() == [9, 5]
    np.testing.assert_array_equal(values, X[2:4].values)
