"""Structs of which some fields are null, and rows of which some numbers are: what is there stays."""

import datetime

import numpy as np
import pytest

import lodcore
from lodcore.errors import DTypeError, LoDError
from lodcore.interop import Groups, from_arrow, from_pandas, from_polars, to_arrow, to_pandas, to_polars
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

pandas, polars, pyarrow = (imported(name) for name in ("pandas", "polars", "pyarrow"))
pytestmark = MARKS

RECORDS = [{"a": 1, "b": "x"}, {"a": None, "b": "z"}, {"a": 3, "b": None}, None]
DOORS = {
    "Polars": (from_polars, lambda frame: frame),
    "Arrow": (from_arrow, lambda frame: frame.to_arrow()),
    "pandas": (from_pandas, lambda frame: frame.to_pandas(use_pyarrow_extension_array=True)),
}


def frame_of(records):
    return polars.DataFrame({"k": [1, 1, 2, 2][: len(records)], "c": records})


@for_each("name", DOORS)
def test_a_null_field_leaves_the_others(name):
    read, convert = DOORS[name]
    table = convert(frame_of(RECORDS[:2]))
    assert read(table, by="k", nulls=0)["c"].tolist() == [[(1, "x"), (0, "z")]]
    for nulls in ("mask", {"c": "mask"}):
        groups = read(convert(frame_of(RECORDS)), by="k", nulls=nulls)
        assert groups.masks["c"].tolist() == [[(True, True), (False, True)], [(True, False), (False, False)]]
        assert groups.masks["c"].lod == groups["c"].lod
        assert to_polars(groups)["c"].to_list() == [RECORDS[:2], RECORDS[2:]]
        assert to_polars(groups, lists=False)["c"].to_list() == RECORDS
        assert to_arrow(groups)["c"].to_pylist() == [RECORDS[:2], RECORDS[2:]]
        assert to_pandas(groups)["c"].tolist() == [*RECORDS[:3], pandas.NA]
        assert [list(one) for one in to_pandas(groups, lists=True)["c"]] == [RECORDS[:2], RECORDS[2:]]
        assert to_polars(groups[[1]])["c"].to_list() == [RECORDS[2:]]
    with pytest.raises(LoDError, match=rf"lodcore.{read.__name__}: data\['c'\]: row 1 is null"):
        read(table, by="k")
    with pytest.raises(LoDError, match=rf"lodcore.{read.__name__}: by: 'c' has no value in row 1"):
        read(table, by="c")


@for_each("dates", [["NaT", "2020-01-02"], ["2020-01-01", "NaT"]])
def test_nat_in_records_comes_back(dates):
    rows = np.empty(2, [("d", "M8[D]"), ("n", "i8"), ("w", "m8[us]", (2,))])
    rows["d"], rows["n"], rows["w"] = dates, [1, 2], [["NaT", 5], [6, 7]]
    x = lodcore.LoDTensor.from_lengths(rows, [2])
    groups = Groups({"x": x}, {"k": [7]})
    found = [
        from_polars(to_polars({"x": x}))["x"],
        from_polars(to_polars(x)),
        from_pandas(to_pandas({"x": x}, lists=True))["x"],
        from_polars(to_polars(groups, lists=False), by="k")["x"],
        from_arrow(to_polars(groups, lists=False), by="k")["x"],
        from_polars(to_polars({"x": x}), nulls="mask")[0]["x"],
    ]
    for made in found:
        assert str(made.tolist()) == str(x.tolist())
    other = to_polars({"y": rows, "k": np.array([7, 8])})
    assert str(groups.join(other)["y"].tolist()) == str(rows[:1].tolist())
    filled = from_polars(other.select(polars.col("y").struct.field("d").alias("y")), nulls=np.datetime64("2020-02-02"))
    assert filled["y"].tolist().count(datetime.date(2020, 2, 2)) == 1


@for_each(
    ("record", "field", "fill"),
    [
        ({"d": None, "n": None}, "n", "0"),
        (None, "n", "0"),
        ({"d": None}, "d", r"np.datetime64\('NaT'\)"),
        ({"d": None, "e": None}, "d", r"np.datetime64\('NaT'\)"),
    ],
)
def test_nat_that_may_be_that_of_a_null_record_is_refused_by_its_field(record, field, fill):
    kinds = {"d": polars.Date, "n": polars.Int64, "e": polars.Duration}
    kind = polars.Struct({name: kinds[name] for name in record or ("d", "n")})
    series = polars.Series("c", [record], kind)
    with pytest.raises(LoDError, match=rf"from_polars: data: row 0 is null in field '{field}'; .* nulls={fill}$"):
        from_polars(series)
    with pytest.raises(LoDError, match=rf"join: other\['c'\]: row 0 is null in field '{field}'; .*: {fill}}}$"):
        Groups({"v": lodcore.array([[1]])}, {"k": [1]}).join(polars.DataFrame({"k": [1], "c": series}))
    values, there = from_polars(series, nulls="mask")
    assert np.isnat(values["d"]).all()
    assert not any(there.tolist()[0])


def test_the_values_of_a_map_may_be_null():
    entries = pyarrow.array([[("x", None), ("y", 2)], []], pyarrow.map_(pyarrow.string(), pyarrow.int64()))
    table = pyarrow.table({"k": [1, 1], "c": entries})
    assert from_arrow(table, by="k", nulls=0)["c"].tolist() == [[[("x", 0), ("y", 2)], []]]
    masked = from_arrow(table, by="k", nulls="mask")
    assert masked.masks["c"].tolist() == [[[(True, False), (True, True)], []]]
    found = [{"key": "x", "value": None}, {"key": "y", "value": 2}]
    assert to_polars(masked)["c"].to_list() == [[found, []]]


def test_records_with_several_numbers_in_a_field():
    kind = pyarrow.struct([("a", pyarrow.int64()), ("b", pyarrow.list_(pyarrow.int64(), 2))])
    records = [{"a": 1, "b": [1, 2]}, {"a": 2, "b": [None, 4]}, None]
    table = pyarrow.table({"k": [1, 2, 2], "c": pyarrow.array(records, kind)})
    groups = from_arrow(table, by="k", nulls="mask")
    assert to_arrow(groups)["c"].to_pylist() == [records[:1], records[1:]]
    assert to_pandas(groups)["c"].tolist() == [*records[:2], pandas.NA]
    assert from_arrow(table, by="k", nulls=7)["c"].values["b"].tolist() == [[1, 2], [7, 4], [7, 7]]


def test_one_bool_per_record_without_groups():
    x, (rows,) = from_arrow(frame_of(RECORDS).to_arrow()["c"], "mask", strings="fixed", records=True)
    assert (x.tolist()[:2], rows.tolist()) == ([(1, "x"), (0, "z")], [True, False, False, False])


def test_records_that_are_joined():
    groups = Groups({"v": lodcore.array([[1], [2]])}, {"k": [1, 2]})
    other = polars.DataFrame({"k": [1, 2], "c": RECORDS[:2]})
    assert groups.join(other, nulls=7)["c"].tolist() == [(1, "x"), (7, "z")]
    with pytest.raises(LoDError, match=r"Groups.join: other\['c'\]: row 1 is null"):
        groups.join(other)


def test_a_mask_has_the_fields_of_its_column():
    records = lodcore.LoDTensor.from_lengths(np.array([(1, 2)], [("a", int), ("b", int)]), [1])
    mask = records.with_values(np.array([(True, False)], [("a", bool), ("b", bool)]))
    table = lodcore.interop.ArrowTable({"c": records}, {"c": mask})
    assert pyarrow.table(table)["c"].to_pylist() == [[{"a": 1, "b": None}]]
    for wrong in (np.array([(True, False)], [("a", bool), ("x", bool)]), np.array([(1, 2)], [("a", int), ("b", int)])):
        with pytest.raises(DTypeError, match=r"masks\['c'\]: has "):
            lodcore.interop.ArrowTable({"c": records}, {"c": records.with_values(wrong)})


def test_numbers_of_a_row_that_are_there_go_out_and_a_row_of_none_is_null():
    kind = polars.Array(polars.Array(polars.Int64, 2), 2)
    rows = [[[1, None], [3, 4]], [[None, None], [3, 4]], None]
    groups = from_polars(polars.DataFrame({"k": [1] * 3, "c": polars.Series(rows, dtype=kind)}), by="k", nulls="mask")
    found = [rows[0], [None, [3, 4]], None]
    assert [None if row is pandas.NA else row for row in to_pandas(groups)["c"]] == found
    assert to_polars(groups)["c"].to_list() == to_arrow(groups)["c"].to_pylist() == [found]
    gone = polars.DataFrame({"k": [1], "c": polars.Series([[None, None]], dtype=polars.Array(polars.Int64, 2))})
    groups = from_polars(gone, by="k", nulls="mask")
    assert to_pandas(groups)["c"].isna().tolist() == [True]
    assert to_polars(groups)["c"].to_list() == [[None]]


def test_structs_in_lists_of_a_fixed_size_are_an_axis_of_a_row_whether_some_are_null_or_not():
    record = {"a": 1, "b": 2.0}
    kind = pyarrow.list_(pyarrow.struct([("a", pyarrow.int64()), ("b", pyarrow.float64())]), 2)
    whole, partly = [[record, record]], [None, [record, None], [{"a": None, "b": 3.0}, record]]
    dtype = np.dtype([("a", "i8"), ("b", "f8")])
    for rows in (whole, whole + partly):
        x, (there,) = from_arrow(pyarrow.array(rows, kind), "mask")
        assert (x.shape, x.dtype, there.shape) == ((len(rows), 2), dtype, (len(rows), 2))
    assert there.tolist() == [[True, True], [False, False], [True, False], [False, True]]
    assert x.tolist()[1:] == [[(0, 0.0), (0, 0.0)], [(1, 2.0), (0, 0.0)], [(0, 3.0), (1, 2.0)]]
    chunks = pyarrow.chunked_array([whole, partly], kind)
    np.testing.assert_array_equal(from_arrow(chunks, nulls=0), x)
    with pytest.raises(LoDError, match=r"lodcore.from_arrow: obj\[a\]: row 1 is null"):
        from_arrow(chunks)
    groups = from_arrow(pyarrow.table({"k": [1] * 4, "c": chunks}), by="k", nulls="mask")
    assert to_arrow(groups)["c"].to_pylist() == [whole + partly]


def test_structs_in_structs_in_lists_of_a_fixed_size_have_a_bool_per_field():
    inner = pyarrow.list_(pyarrow.struct([("a", pyarrow.int64()), ("b", pyarrow.float64())]), 1)
    kind = pyarrow.list_(pyarrow.struct([("p", inner), ("q", pyarrow.int32())]), 1)
    rows = [[{"p": [{"a": 1, "b": 2.0}], "q": 1}], [{"p": [{"a": None, "b": 3.0}], "q": None}], None]
    table = pyarrow.table({"k": [1] * 3, "c": pyarrow.array(rows, kind)})
    groups = from_arrow(table, by="k", nulls="mask")
    assert to_arrow(groups)["c"].to_pylist() == to_polars(groups)["c"].to_list() == [rows]
    assert from_arrow(table, by="k", nulls=7)["c"].values["p"]["a"].ravel().tolist() == [1, 7, 7]


@for_each("rows", [[[1, 2], [3, 4]], [[1, 2], None], [[1, None], [3, 4]]])
def test_a_mask_has_a_bool_per_number_whether_one_is_missing_or_not(rows):
    array = pyarrow.array(rows, pyarrow.list_(pyarrow.int64(), 2))
    wanted = [[one is not None for one in row or [None, None]] for row in rows]
    _, (there,) = from_arrow(array, "mask")
    assert there.tolist() == wanted
    groups = from_arrow(pyarrow.table({"k": [1, 1], "c": array}), by="k", nulls="mask")
    assert groups.masks["c"].values.tolist() == wanted
    assert from_polars(polars.Series(array), nulls="mask")[1].tolist() == wanted


def test_a_field_without_a_name_is_refused():
    array = pyarrow.array([[{"": 1}]])
    with pytest.raises(DTypeError, match=r"lodcore.from_arrow: obj: has a field without a name"):
        from_arrow(array)
    assert from_arrow(array, records=False)[""].tolist() == [[1]]
    with pytest.raises(DTypeError, match=r"lodcore.from_arrow: data\['c'\]: has a field without a name"):
        from_arrow(pyarrow.table({"k": [1], "c": array.flatten()}), by="k")
