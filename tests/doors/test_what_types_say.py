"""What types of columns say beyond their dtype: zones of arrays that are given, and categories of Arrow."""

import datetime
import decimal

import numpy as np
import pytest

import lodcore
from lodcore.errors import DTypeError, LoDError
from lodcore.interop import Groups, from_arrow, from_pandas, from_polars, to_arrow, to_pandas, to_polars, to_xarray
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

pandas, polars, pyarrow, duckdb = (imported(name) for name in ("pandas", "polars", "pyarrow", "duckdb"))
xarray = imported("xarray")
pytestmark = MARKS

X = lodcore.array([[1], [2]])
ZONE = "Europe/Zurich"
TIMES = pandas.Series(pandas.to_datetime(["2020-01-01", "2020-07-01"]).tz_localize(ZONE))
UTC = np.array(["2019-12-31T23", "2020-06-30T22"], "M8[us]")
COLUMNS = {
    "pandas": lambda: TIMES,
    "an Index": lambda: pandas.DatetimeIndex(TIMES),
    "pandas with Arrow": lambda: TIMES.astype(pandas.ArrowDtype(pyarrow.timestamp("us", ZONE))),
    "Polars": lambda: polars.Series(TIMES),
    "pyarrow": lambda: pyarrow.array(TIMES),
}


@for_each("name", COLUMNS)
def test_times_with_a_zone_are_those_of_utc_and_go_out_with_their_zone(name):
    times = COLUMNS[name]()
    assert (lodcore.array([times]).values == UTC).all()
    assert (lodcore.array([UTC]) == lodcore.array([UTC]).with_values(times)).all()
    groups = Groups({"x": X}, {"t": times}, {"p": times}).with_columns(u=times)
    assert groups.with_columns(u=[1, 2]).kept.keys() == {"t", "p"}
    for table in (
        to_polars(groups),
        to_polars({"x": X, "t": times, "p": times, "u": times}),
        to_polars({"x": X, "p": times, "u": times}, {"t": times}),
        to_polars({"x": X, "p": times, "u": times}, {"t": times}, lists=False),
    ):
        for column in "tpu":
            assert table[column].to_list() == TIMES.to_list()
            assert table[column].dtype.time_zone == ZONE
    for table in (
        to_pandas(groups),
        to_pandas({"x": X, "p": times, "u": times}, {"t": times}),
        to_pandas({"x": X, "p": times, "u": times}, {"t": times}, lists=True),
    ):
        assert table["p"].to_list() == table["u"].to_list() == TIMES.to_list()
        assert table.index.get_level_values("t").to_list() == TIMES.to_list()
    assert to_arrow(groups)["t"].to_pylist() == TIMES.to_list()


@for_each("name", ["pandas", "Arrow"])
def test_categories_of_times_keep_their_zone(name):
    table = pandas.DataFrame({"k": [1, 1], "c": pandas.Categorical(TIMES)})
    if name == "Arrow":
        table = pyarrow.table({"k": [1, 1], "c": pyarrow.array(TIMES).dictionary_encode()})
    groups = (from_pandas if name == "pandas" else from_arrow)(table, by="k")
    assert to_pandas(groups)["c"].to_list() == TIMES.to_list()
    assert to_polars(groups)["c"].to_list() == to_arrow(groups)["c"].to_pylist() == [TIMES.to_list()]


def sizes(ordered=True, chunks=1):
    words = pyarrow.array(["lo", "mid", "hi", "top"])
    made = [pyarrow.DictionaryArray.from_arrays(pyarrow.array([n], "int8"), words, ordered=ordered) for n in (2, 1)]
    made = pyarrow.concat_arrays(made) if chunks == 1 else pyarrow.chunked_array(made)
    return pyarrow.table({"k": [1, 1], "c": made})


@for_each(
    ("table", "ordered"),
    [
        (lambda: (from_arrow, sizes()), True),
        (lambda: (from_arrow, sizes(chunks=2)), True),
        (lambda: (from_arrow, sizes(False)), False),
        (lambda: (from_pandas, sizes().to_pandas()), True),
        (lambda: (from_pandas, sizes().to_pandas(types_mapper=pandas.ArrowDtype)), True),
        (lambda: (from_polars, sizes().to_pandas()), True),
        (
            lambda: (from_arrow, duckdb.sql("select 1 as k, unnest(['hi', 'mid'])::enum('lo','mid','hi','top') c")),
            False,
        ),
    ],
)
def test_categories_keep_their_order_and_those_that_are_not_used(table, ordered):
    read, given = table()
    if read is from_polars:
        given = polars.DataFrame({"k": [1, 1], "c": ["hi", "mid"]}).cast({"c": polars.Enum(["lo", "mid", "hi", "top"])})
    groups = read(given, by="k")
    found = to_pandas(groups)["c"]
    assert (found.tolist(), found.cat.ordered) == (["hi", "mid"], ordered)
    assert found.cat.categories.tolist() == ["lo", "mid", "hi", "top"]
    arrow = to_arrow(groups)["c"].combine_chunks().values
    assert (arrow.dictionary.to_pylist(), arrow.type.ordered) == (["lo", "mid", "hi", "top"], ordered)
    if ordered:
        assert to_polars(groups)["c"].dtype.inner == polars.Enum(["lo", "mid", "hi", "top"])


def test_dictionaries_of_chunks_that_differ_have_the_labels_of_all():
    chunks = [pyarrow.array(words).dictionary_encode() for words in (["b", "a"], ["c", None, "a"])]
    table = pyarrow.table({"k": [1] * 5, "c": pyarrow.chunked_array(chunks)})
    groups = from_arrow(table, by="k", nulls="mask")
    assert to_pandas(groups)["c"].cat.categories.tolist() == ["b", "a", "c"]
    twice = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2]), pyarrow.array(["b", "a", "b"]))
    found = to_pandas(from_arrow(pyarrow.table({"k": [1, 1, 1], "c": twice}), by="k"))["c"]
    assert (found.tolist(), found.cat.categories.tolist()) == (["b", "a", "b"], ["b", "a"])
    lists = pyarrow.array([["b"], ["a", "b"]], pyarrow.list_(pyarrow.dictionary(pyarrow.int8(), pyarrow.string())))
    groups = from_arrow(pyarrow.table({"k": [1, 1], "c": lists}), by="k")
    assert groups.kept["c"][1].tolist() == ["b", "a"]
    assert from_arrow(table.slice(0, 0), by="k").kept["c"][0] == "category"


MISSING = {
    "pandas": lambda: pandas.array([2**53 + 1, None], dtype="Int64"),
    "Polars": lambda: polars.Series([2**53 + 1, None]),
    "pyarrow": lambda: pyarrow.array([2**53 + 1, None]),
    "a dictionary": lambda: pyarrow.array([2**53 + 1, None]).dictionary_encode(),
}
#: Calls with a column of two entries, and the name of the argument.
CALLS = [
    (lambda c: to_pandas(X, {"k": c}), r"lodcore.to_pandas: keys\['k'\]"),
    (lambda c: to_pandas(X, {"k": c}, lists=True), r"lodcore.to_pandas: keys\['k'\]"),
    (lambda c: to_polars(X, {"k": c}), r"lodcore.to_polars: keys\['k'\]"),
    (lambda c: to_pandas({"x": X, "c": c}), r"lodcore.to_pandas: columns\['c'\]"),
    (lambda c: to_xarray({"x": X}, {"k": c}), r"lodcore.to_xarray: per_sequence\['k'\]"),
    (lambda c: lodcore.LoDTensor.from_padded([c, c], [1, 1]), r"LoDTensor.from_padded: dense\[0\]"),
]


@for_each(("call", "where"), CALLS)
def test_no_integer_that_is_missing_goes_out_as_a_float(call, where):
    for make in MISSING.values():
        with pytest.raises(LoDError, match=rf"^{where}: row 1 is null; integers have no value for it"):
            call(make())
    with pytest.raises(DTypeError, match=rf"^{where}: is a masked array; fill or drop the masked entries first"):
        call(np.ma.array([1, 2], mask=[False, True]))


UUIDS = [bytes(range(1, 17)), bytes(16)]


def test_bytes_of_a_fixed_size_that_end_with_nul_are_refused():
    uuids = pyarrow.array(UUIDS, pyarrow.binary(16))
    table = pyarrow.table({"k": [1, 1], "u": uuids})
    for call, where in (
        (lambda: from_arrow(uuids), "lodcore.from_arrow: obj"),
        (lambda: from_arrow(table), r"lodcore.from_arrow: obj\[u\]"),
        (lambda: from_arrow(table, by="k"), r"lodcore.from_arrow: obj\[u\]"),
    ):
        with pytest.raises(DTypeError, match=rf"^{where}: value 1 ends with NUL, which NumPy drops; cast it to binary"):
            call()
    assert [bytes(one.tolist()) for one in from_arrow(uuids.cast(pyarrow.binary()))] == UUIDS
    assert from_arrow(uuids[:1]).tolist() == UUIDS[:1]
    assert from_arrow(pyarrow.array([UUIDS[0], None], pyarrow.binary(16)), "mask")[1][0].tolist() == [True, False]


ROWS = {
    "zones": (polars.Datetime("us", ZONE), TIMES.to_list()),
    "times of day": (polars.Time, [datetime.time(1), datetime.time(2)]),
    "decimals": (polars.Decimal(10, 2), [decimal.Decimal("1.10"), decimal.Decimal("2.00")]),
    "enum": (polars.Enum(["b", "a"]), ["a", "b"]),
    "categories": (polars.Categorical(), ["a", "b"]),
}


@for_each("name", ROWS)
def test_rows_of_a_fixed_size_keep_what_their_types_say(name):
    kind, values = ROWS[name]
    row = polars.Array(kind, 2)
    table = polars.DataFrame({"k": [1], "c": polars.Series([values], dtype=row)}).with_columns(
        l=polars.concat_list("c")
    )
    groups = from_polars(table, by="k")
    listed, lines = to_polars(groups), to_polars(groups, lists=False)
    assert listed.schema == {"k": polars.Int64, "c": polars.List(row), "l": polars.List(polars.List(row))}
    assert (listed["c"].to_list(), listed["l"].to_list()) == ([[values]], [[[values]]])
    assert (lines["c"].to_list(), lines["c"].dtype) == ([values], row)
    wide = polars.DataFrame(
        {"k": [1, 1], "c": [[values, values], None]}, {"k": polars.Int64, "c": polars.Array(kind, (2, 2))}
    )
    masked = to_polars(from_polars(wide, by="k", nulls="mask"))["c"]
    assert masked.dtype == polars.List(polars.Array(kind, (2, 2)))
    assert masked.to_list()[0][0] == [values, values]
    assert to_polars(from_polars(table[:0], by="k")).schema == listed.schema


@for_each(
    "column",
    [
        lambda: polars.Series([], dtype=polars.Categorical),
        lambda: polars.Series([], dtype=polars.Enum(["a"])),
        lambda: pandas.Categorical([]),
        lambda: pandas.Series([], dtype=object),
        lambda: pandas.Series([], dtype="category"),
        lambda: pandas.Series(TIMES[:0]),
        lambda: pyarrow.array([], pyarrow.null()),
    ],
)
def test_columns_without_entries_are_taken(column):
    keys, rows = lodcore.group_by(column(), [])
    assert (len(keys), len(rows)) == (0, 0)


@for_each("key", ["a", np.datetime64("2020-01-01"), 5])
def test_a_table_of_which_nothing_is_left_is_joined(key):
    groups = Groups({"v": lodcore.array([[1]])}, {"k": [key]})
    frame = pandas.DataFrame({"k": pandas.Series([key], dtype=object), "z": [1]})
    for other in (frame[frame["z"] > 1], {"k": [], "z": []}):
        joined = groups.join(other, how="inner")
        assert (len(joined), joined["z"].tolist()) == (0, [])
        with pytest.raises(LoDError, match=r"^Groups.join: group 0 \(.*\) has no row in other"):
            groups.join(other)


def test_groups_of_which_none_is_left_are_joined():
    frame = pandas.DataFrame({"k": pandas.Series([], dtype=object), "v": []})
    joined = from_pandas(frame, by="k").join({"k": ["a"], "z": [1]})
    assert (len(joined), joined["z"].tolist()) == (0, [])
