"""Columns of every dtype of pandas, Polars, Arrow and DuckDB: grouped, and back; missing values; keys of any dtype."""

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, from_arrow, from_pandas, from_polars, to_pandas, to_polars
from tests.helpers.libraries import MARKS, imported

pandas, polars, duckdb, pyarrow = (imported(name) for name in ("pandas", "polars", "duckdb", "pyarrow"))
pytestmark = MARKS

U = ["b", "a", "b"]
ZONE = "Europe/Berlin"
STAMPS = ["2020-01-01 12:00", "2020-06-01 12:00", "2021-01-01 12:00"]
UTC = np.array(["2020-01-01T11:00", "2020-06-01T10:00", "2021-01-01T11:00"], "M8[us]")
DATES = [dt.date(2020, 1, 1), dt.date(1900, 2, 3), dt.date(2022, 1, 1)]
DECIMALS = [Decimal("1.10"), Decimal("2.25"), Decimal("-3.00")]

#: By name: how pandas and Polars hold it, what NumPy holds, and whether the dtypes that go out say the same.
KINDS = {
    "text": (["x", "yy", ""], ["x", "yy", ""], np.array(["x", "yy", ""])),
    "objects": (np.array(["x", "yy", ""], object), ["x", "yy", ""], np.array(["x", "yy", ""])),
    "python text": (pandas.array(["x", "yy", ""], "string[python]"), ["x", "yy", ""], np.array(["x", "yy", ""])),
    "categories": (
        pandas.Categorical(["x", "y", "x"]),
        polars.Series(["x", "y", "x"], dtype=polars.Categorical),
        np.array(["x", "y", "x"]),
    ),
    "numbered categories": (pandas.Categorical([7, 2**53 + 1, 7]), [7, 2**53 + 1, 7], np.array([7, 2**53 + 1, 7])),
    "enum": (
        pandas.Categorical(["x", "y", "x"], ["y", "x", "z"], ordered=True),
        polars.Series(["x", "y", "x"], dtype=polars.Enum(["y", "x", "z"])),
        np.array(["x", "y", "x"]),
    ),
    "durations": (pandas.to_timedelta([1, 2, 3], unit="s"), [dt.timedelta(seconds=k) for k in (1, 2, 3)],
                  np.array([1, 2, 3], "m8[s]")),
    "zones": (pandas.to_datetime(STAMPS).tz_localize(ZONE), [dt.datetime.fromisoformat(one) for one in STAMPS], UTC),
    "dates": (DATES, DATES, np.array(DATES, "M8[D]")),
    "decimals": (DECIMALS, DECIMALS, np.array([1.1, 2.25, -3.0])),
    "bools": ([True, False, True], [True, False, True], np.array([True, False, True])),
    "nullable": (pandas.array([2**53 + 1, 2, -3], "Int64"), [2**53 + 1, 2, -3], np.array([2**53 + 1, 2, -3])),
    "nullable floats": (pandas.array([0.1, 2, -3], "Float32"), polars.Series([0.1, 2, -3], dtype=polars.Float32),
                        np.array([0.1, 2, -3], "f4")),
    "sparse": (pandas.arrays.SparseArray([0, 5, 0]), [0, 5, 0], np.array([0, 5, 0])),
    "unsigned": (np.array([1, 2, 2**64 - 1], "u8"), polars.Series([1, 2, 2**64 - 1], dtype=polars.UInt64),
                 np.array([1, 2, 2**64 - 1], "u8")),
    "integers of Python": (np.array([1, 2, 3], object), [1, 2, 3], np.array([1, 2, 3])),
    "large": (np.array([2**63, 0, 1], object), polars.Series([2**63, 0, 1], dtype=polars.UInt64),
              np.array([2**63, 0, 1], "u8")),
    "times of day": ([dt.time(1), dt.time(2, 3, 4, 5), dt.time(0)], [dt.time(1), dt.time(2, 3, 4, 5), dt.time(0)],
                     np.array([3600 * 10**6, 7384 * 10**6 + 5, 0], "m8[us]")),
    "small": (np.array([1, 2, 3], "i1"), polars.Series([1, 2, 3], dtype=polars.Int8), np.array([1, 2, 3], "i1")),
}  # fmt: skip


def frames(name):
    """Return a table of pandas and of Polars, and what NumPy holds."""
    of_pandas, of_polars, wanted = KINDS[name]
    series = polars.Series(name, of_polars) if not isinstance(of_polars, polars.Series) else of_polars.alias(name)
    if name == "zones":
        series = series.dt.replace_time_zone(ZONE)
    return pandas.DataFrame({"u": U, name: of_pandas}), polars.DataFrame([polars.Series("u", U), series]), wanted


@pytest.mark.parametrize("name", KINDS)
def test_every_dtype_goes_in_and_out_the_same_way(name):
    of_pandas, of_polars, wanted = frames(name)
    arrow = of_polars.to_arrow()
    for read, data in ((from_pandas, of_pandas), (from_polars, of_polars), (from_arrow, arrow)):
        groups = read(data, by="u")
        assert groups["u"].tolist() == ["b", "a"]
        assert (groups[name].values == wanted[[0, 2, 1]]).all()
        assert groups[name].dtype.kind == wanted.dtype.kind
        assert groups[name].lengths.tolist() == [2, 1]
        keyed = read(data, by=name)
        first = np.sort(np.unique(wanted, return_index=True)[1])
        assert (keyed.keys[name] == wanted[first]).all()
        both = read(data, by=[name, "u"])
        assert both.lod.num_levels == 2
        assert both.keys["u"].tolist() == [U[k] for k in first]
    for groups in (from_pandas(of_pandas, by="u"), from_polars(of_polars, by="u")):
        made, other = to_pandas(groups), to_polars(groups, lists=False)
        listed = to_polars(groups)
        order = [0, 2, 1]
        if name not in ("dates", "durations"):  # which pandas counts in other units
            assert made[name].tolist() == [of_pandas[name].tolist()[k] for k in order]
        assert other[name].to_list() == [of_polars[name].to_list()[k] for k in order]
        assert listed[name].to_list() == [[of_polars[name].to_list()[k] for k in one] for one in ([0, 2], [1])]
        assert (from_polars(listed)[name].values == wanted[order]).all()
        if not listed[name].dtype.inner.is_(polars.Time) and name not in ("categories", "enum"):
            assert polars.from_arrow(lodcore.to_arrow(groups))[name].to_list() == listed[name].to_list()
    if name == "zones":
        assert str(made[name].dtype).endswith(f", {ZONE}]")
        assert other.schema[name].time_zone == ZONE
    if name == "enum":
        assert made[name].cat.categories.tolist() == ["y", "x", "z"]


MISSING = {
    "Int64": (pandas.array([2**53 + 1, None, 3], "Int64"), [2**53 + 1, None, 3], 0, [2**53 + 1, 0, 3]),
    "boolean": (pandas.array([True, None, False], "boolean"), [True, None, False], True, [True, True, False]),
    "objects": (np.array([True, None, False], object), [True, None, False], True, [True, True, False]),
    "text": (["a", None, "ccc"], ["a", None, "ccc"], "gone", ["a", "gone", "ccc"]),
    "categories": (pandas.Categorical(["a", None, "c"]), ["a", None, "c"], "", ["a", "", "c"]),
    "Float64": (pandas.array([1.5, None, 3], "Float64"), [1.5, None, 3], -1, [1.5, -1, 3]),
    "decimals": ([Decimal("1.5"), None, Decimal("3")], [Decimal("1.5"), None, Decimal("3")], 0, [1.5, 0, 3]),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_values_raise_or_are_filled_as_nulls_says(name):
    of_pandas, of_polars, fill, wanted = MISSING[name]
    frame = pandas.DataFrame({"u": U, "v": of_pandas, "w": [1, 2, 3]})
    table = polars.DataFrame({"u": U, "v": of_polars, "w": [1, 2, 3]}, strict=False)
    for read, data in ((from_pandas, frame), (from_polars, table), (from_arrow, table.to_arrow())):
        where = f"lodcore.{read.__name__}"
        with pytest.raises(LoDError, match=rf"{where}: data\['v'\]: row 1 is null; use nulls=.*\(nulls={{'v': "):
            read(data, by="u")
        for nulls in (fill, {"v": fill}):
            assert read(data, by="u", nulls=nulls)["v"].tolist() == [[wanted[0], wanted[2]], [wanted[1]]]
        groups = read(data, by="u", nulls={"v": "mask"})
        assert list(groups.masks) == ["v"]
        assert groups.masks["v"].tolist() == [[True, True], [False]]
        assert groups.masks["v"].lod == groups["v"].lod
        with pytest.raises(LoDError, match=rf"{where}: by: 'v' has no value in row 1"):
            read(data, by="v")
        with pytest.raises(KeyError, match=rf"{where}: nulls: 'x' is not a column"):
            read(data, nulls={"x": 0})
        with pytest.raises(ValueError, match=rf"{where}: nulls(\['w'\])?: is 'rubbish'; 'error', 'empty', 'mask' or"):
            read(data, by="u", nulls={"v": fill, "w": "rubbish"})
    for read, data in ((from_pandas, frame), (from_polars, table)):
        values, masks = read(data, nulls={"v": "mask"})
        assert (values["v"][[0, 2]].tolist(), masks["v"].tolist()) == ([wanted[0], wanted[2]], [True, False, True])
        x, mask = read(data["v"], nulls="mask")
        assert (x[[0, 2]].tolist(), mask.tolist()) == ([wanted[0], wanted[2]], [True, False, True])
        with pytest.raises(ValueError, match="nulls: is 'rubbish'"):
            read(data[["u", "w"]], by="u", nulls="rubbish")


@pytest.mark.parametrize("name", MISSING)
def test_missing_values_read_with_a_mask_go_out_as_missing(name):
    of_pandas, of_polars, _, _ = MISSING[name]
    frame = pandas.DataFrame({"u": U, "v": of_pandas})
    table = polars.DataFrame({"u": U, "v": of_polars}, strict=False)
    for read, data in ((from_pandas, frame), (from_polars, table), (from_arrow, table.to_arrow())):
        groups = read(data, by="u", nulls="mask")
        rows, listed = to_polars(groups, lists=False), to_polars(groups)
        assert rows["v"].to_list() == [of_polars[0], of_polars[2], None]
        assert listed["v"].to_list() == [[of_polars[0], of_polars[2]], [None]]
        made = to_pandas(groups)["v"]
        assert pandas.isna(made).tolist() == [False, False, True]
        assert made.iloc[:2].tolist() == [of_polars[0], of_polars[2]]
        assert [pandas.isna(one).tolist() for one in to_pandas(groups, lists=True)["v"]] == [[False, False], [True]]
        replaced = groups.with_columns(v=groups["v"])
        assert to_polars(replaced, lists=False)["v"].null_count() == 0  # what is put in their place stays


def test_decimals_and_categories_are_restored_unless_values_were_changed():
    table = polars.DataFrame({"u": U, "d": DECIMALS, "c": ["x", None, "y"]}).cast({"c": polars.Enum(["y", "x"])})
    groups = from_polars(table, by="u", nulls={"c": "?"})
    assert to_polars(groups, lists=False)["c"].to_list() == to_pandas(groups)["c"].tolist() == ["x", "y", "?"]
    third = groups.with_columns(d=groups["d"] / 3)
    assert to_polars(third, lists=False)["d"].to_list() == to_pandas(third)["d"].tolist() == third["d"].values.tolist()
    assert to_polars(groups, lists=False).schema["d"] == table.schema["d"]
    kept = from_polars(table, by="u", nulls={"c": "x"})
    assert to_polars(kept, lists=False).schema["c"] == table.schema["c"]


@pytest.mark.parametrize("labels", [[20, 10], ["b", "a"], [2**62 + 1, 2**62], pandas.to_datetime(["2020", "2019"])])
def test_missing_categories_go_out_to_pandas_as_missing(labels):
    for ordered in (False, True):
        column = pandas.Categorical([labels[1], None], labels, ordered=ordered)
        groups = from_pandas(pandas.DataFrame({"k": [1, 1], "c": column}), by="k", nulls="mask")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = to_pandas(groups)["c"].array
        assert (made.codes.tolist(), made.ordered) == ([1, -1], ordered)
        assert made.categories.equals(column.categories)


def test_text_keys_of_any_length_and_number_group_rows_in_the_order_of_their_first_rows():
    """A few short ones, many, long ones, and those that differ only in length or at the end."""
    many, long = [f"u{k * 7 % 4001}" for k in range(9000)], [f"{k * 7 % 50:099d}" for k in range(300)]
    near = ["", "a", "ab", "abc" * 5, "abc" * 5 + "d", "b" * 12, "b" * 13, "a", "", "b" * 12, "ü"]
    for words in (many, long, near, [], near[:1]):
        firsts = list(dict.fromkeys(words))
        rows = [[] for _ in firsts]
        for row, word in enumerate(words):
            rows[firsts.index(word)].append(row) if words is not many else None
        numbers = np.arange(len(words))
        kinds = ["str", "string[python]", pandas.ArrowDtype(pyarrow.string()), object]
        tables = [pandas.DataFrame({"u": pandas.Series(words, dtype=kind), "v": numbers}) for kind in kinds]
        for table in [*tables, polars.DataFrame({"u": polars.Series(words, dtype=polars.String), "v": numbers})]:
            groups = (from_pandas if isinstance(table, pandas.DataFrame) else from_polars)(table, by="u")
            assert groups["u"].tolist() == firsts
            if words is many:
                assert groups["v"][0].tolist() == [0, 4001, 8002]
                assert groups.lengths.sum() == len(words)
            else:
                assert groups["v"].tolist() == rows


def test_zones_digits_and_categories_within_lists_and_of_arrow_are_kept():
    stamps = polars.Series("t", UTC).dt.replace_time_zone("UTC").dt.convert_time_zone(ZONE)
    table = polars.DataFrame({"u": U, "t": stamps, "d": polars.Series(DECIMALS, dtype=polars.Decimal(9, 2))})
    listed = table.group_by("u", maintain_order=True).agg("t", "d").with_columns(group=polars.Series([1, 1]))
    for data, by in ((table, "u"), (listed, "group")):
        for groups in (from_polars(data, by=by), from_arrow(data.to_arrow(), by=by)):
            made = to_polars(groups, lists=False)
            for name in ("t", "d"):
                assert made.schema[name] == data.schema[name]
                assert made[name].explode().to_list() == [table[name][k] for k in (0, 2, 1)]
            typed = polars.from_arrow(lodcore.to_arrow(groups))
            inner = polars.List(data.schema["t"]), polars.List(data.schema["d"])
            assert (typed.schema["t"], typed.schema["d"]) == inner
            stamp = to_pandas(groups)["t"].explode().tolist()[0]
            assert str(stamp) == "2020-01-01 12:00:00+01:00"


def test_columns_without_lists_and_keys_of_every_dtype_go_out():
    columns = {"n": np.array([1, 2]), "name": np.array(["a", "b"])}
    assert to_pandas(columns).to_dict("list") == {"n": [1, 2], "name": ["a", "b"]}
    assert to_polars(columns, lists=False).to_dict(as_series=False) == {"n": [1, 2], "name": ["a", "b"]}
    half = from_pandas(pandas.DataFrame({"u": np.array([1.5, 2, 1.5], np.float16), "v": [1, 2, 3]}), by="u")
    assert to_pandas(half).index.get_level_values("u").tolist() == [1.5, 1.5, 2.0]
    for convert in (to_pandas, to_polars):
        with pytest.raises(DTypeError, match=rf"lodcore.{convert.__name__}: keys: is list; a dict of keys by name"):
            convert({"v": [[1], [2]]}, keys=["a"])


def test_structs_of_a_table_are_records():
    table = pyarrow.table({"u": [1, 1, 2], "s": [{"a": 1, "b": "x"}, {"a": 2, "b": "yy"}, None]})
    for data in (table, polars.from_arrow(table)):
        groups = (from_arrow if data is table else from_polars)(data, by="u", nulls="mask")
        assert groups["s"]["b"].tolist() == [["x", "yy"], [""]]
        assert to_polars(groups)["s"].to_list() == [[{"a": 1, "b": "x"}, {"a": 2, "b": "yy"}], [None]]


def test_from_pandas_keeps_nan_and_nat_unless_nulls_is_given():
    """nan and NaT of NumPy, unless there is a fill value; null times are NaT."""
    frame = pandas.DataFrame({"u": U, "v": [1.5, np.nan, 3], "t": pandas.to_datetime(["2020-01-01", None, None])})
    groups = from_pandas(frame, by="u")
    assert np.isnan(groups["v"].values).tolist() == [False, False, True]
    assert np.isnat(groups["t"].values).tolist() == [False, True, True]
    assert from_pandas(frame, by="u", nulls={"v": 0.0})["v"].tolist() == [[1.5, 3.0], [0.0]]
    masked = from_pandas(frame, by="u", nulls="mask")
    assert masked.masks["v"].tolist() == [[True, True], [False]]
    assert np.isnan(masked["v"].values).tolist() == [False, False, True]
    assert np.isnat(masked["t"].values).tolist() == [False, True, True]
    table = polars.from_pandas(frame, nan_to_null=False)
    assert np.isnat(from_polars(table, by="u")["t"].values).tolist() == [False, True, True]
    assert to_polars(from_polars(table, by="u"), lists=False)["t"].null_count() == 2


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([2**70, 1], r"data\['v'\]: has dtype object, of integer objects that no dtype of NumPy holds exactly"),
        ([2**53 + 1, 0.5], "of mixed-integer-float objects that no dtype of NumPy holds exactly"),
        ([Decimal("0.1234567890123456789"), Decimal(1)], "float64 holds 15 digits"),
        ([2**63, -1], "of integer objects that no dtype of NumPy holds exactly"),
        ([dt.time(1, tzinfo=dt.timezone.utc), dt.time(2)], "of time objects that no dtype of NumPy holds exactly"),
        (["a\0", "b"], "(row|string) 0 ends with NUL"),
        ([{}, 1], "of mixed(-integer)? objects; Python objects have no fixed size"),
        (pandas.interval_range(0, 2), "has dtype interval"),
        (pandas.PeriodIndex(["2020Q1", "2020Q2"], freq="Q"), "has dtype period"),
    ],
)
def test_from_pandas_refuses_conversions_with_loss(entries, says):
    values = np.array(entries, object) if isinstance(entries, list) else entries
    with pytest.raises(DTypeError, match=says):
        from_pandas(pandas.DataFrame({"u": [1, 1], "v": values}), by="u")


def test_digits_that_values_do_not_fit_any_more_are_not_restored():
    prices = polars.Series([Decimal("1.25"), Decimal("2.50")], dtype=polars.Decimal(3, 2))
    groups = from_polars(polars.DataFrame({"k": [1, 1], "price": prices}), by="k")
    assert to_polars(groups)["price"].dtype == polars.List(polars.Decimal(3, 2))
    groups.columns["price"] *= 1e6
    assert to_polars(groups)["price"].to_list() == [[1250000.0, 2500000.0]]


def test_decimals_filled_with_more_digits_go_out_as_floats_and_with_fewer_as_decimals():
    prices = polars.Series([Decimal("1.25"), None], dtype=polars.Decimal(9, 2))
    table = polars.DataFrame({"k": [1, 1], "v": prices})
    objects = pandas.DataFrame({"k": [1, 1], "v": pandas.Series([Decimal("1.25"), None], dtype=object)})
    for read, data in ((from_polars, table), (from_arrow, table.to_arrow()), (from_pandas, objects)):
        for fill, there in ((0.125, 0.125), (Decimal("0.125"), 0.125), (Decimal("9.99"), Decimal("9.99")), (0.5, 0.5)):
            groups = read(data, by="k", nulls=fill)
            wanted = [1.25, 0.125] if there == 0.125 else [Decimal("1.25"), Decimal(str(fill))]
            assert to_polars(groups)["v"].to_list() == lodcore.to_arrow(groups)["v"].to_pylist() == [wanted]
            assert to_pandas(groups)["v"].tolist() == to_pandas(groups, lists=True)["v"].iloc[0] == wanted
        for fill in (Decimal("1.0000000000000000001"), Decimal("NaN"), Decimal("1e999")):
            with pytest.raises(DTypeError, match=r"nulls\['v'\]: is .*; float64 cannot hold it"):
                read(data, by="k", nulls=fill)
    assert from_arrow(table.to_arrow(), nulls={"v": Decimal("9.99")})["v"].tolist() == [1.25, 9.99]


def test_decimals_of_tens_and_hundreds_go_out():
    table = pyarrow.table({"k": [1], "v": pyarrow.array([Decimal(12300)], pyarrow.decimal128(5, -2))})
    groups = from_arrow(table, by="k")
    assert lodcore.to_arrow(groups)["v"].type == pyarrow.large_list(pyarrow.decimal128(5, -2))
    assert to_pandas(groups)["v"].tolist() == [Decimal(12300)]
    assert to_polars(groups)["v"].to_list() == [[12300.0]]


def test_decimals_of_many_digits_are_refused():
    table = polars.DataFrame({"u": [1, 1], "v": [Decimal("12345678901234567.25"), Decimal(1)]})
    with pytest.raises(DTypeError, match=r"lodcore.from_polars: data\['v'\]: has more than 15 digits at position 0"):
        from_polars(table, by="u")
    for width in (pyarrow.decimal128(17, 2), pyarrow.decimal256(40, 2), pyarrow.decimal128(10, 0)):
        many = [Decimal("-12345.00"), None, Decimal(7)]
        assert from_arrow(pyarrow.array(many, width), nulls=0.5).tolist() == [-12345.0, 0.5, 7.0]
        groups = from_arrow(pyarrow.table({"u": U, "v": pyarrow.array(many, width)}), by="u", nulls="mask")
        assert to_polars(groups)["v"].to_list() == lodcore.to_arrow(groups)["v"].to_pylist()
        assert to_polars(groups)["v"].to_list() == [[many[0], many[2]], [None]]


def test_tables_of_duckdb():
    connection = duckdb.connect()
    rows = "('b', 1, 1.50::decimal(8,2), true, 'x'), ('a', 2, 2.25, null, 'y'), ('b', 3, null, false, 'x')"
    table = connection.sql(f"select u, i, d, b, e::enum('x', 'y') e from (values {rows}) t(u, i, d, b, e)")
    groups = from_arrow(table, by="u", nulls={"d": -1, "b": "mask"})
    assert groups["d"].tolist() == [[1.5, -1.0], [2.25]]
    assert groups["e"].tolist() == [["x", "x"], ["y"]]
    assert groups.masks["b"].tolist() == [[True, True], [False]]
    assert from_arrow(table, by=["u", "e"], nulls=0)["i"].tolist() == [[[1, 3]], [[2]]]


def test_to_pandas_and_to_polars_take_the_same_columns():
    x = lodcore.array([[1, 2], [3]])
    deep = lodcore.array([[[1, 2], [3]], [[4]]])
    columns = {"v": x, "age": [30, 40], "name": np.array(["a", "b"])}
    keys = {"u": ["p", "q"]}
    frame, table = to_pandas(columns, keys), to_polars(columns, keys, lists=False)
    assert frame["age"].tolist() == table["age"].to_list() == [30, 30, 40]
    assert frame.index.get_level_values("u").tolist() == table["u"].to_list() == ["p", "p", "q"]
    lists = to_pandas(columns, keys, lists=True), to_polars(columns, keys)
    assert [list(one) for one in lists[0]["v"]] == lists[1]["v"].to_list() == [[1, 2], [3]]
    assert lists[0]["name"].tolist() == lists[1]["name"].to_list() == ["a", "b"]
    assert to_polars(columns, lists=False)["level_0"].to_list() == [0, 0, 1]
    both = {"u": ["p", "q"], "day": [1, 2, 3]}
    assert to_polars({"v": deep}, both)["day"].to_list() == [[1, 2], [3]]
    assert [list(one) for one in to_pandas({"v": deep}, both, lists=True)["day"]] == [[1, 2], [3]]
    assert to_polars({"v": deep}, keys, lists=False)["v"].to_list() == [[1, 2], [3], [4]]
    assert to_pandas({"v": deep}, keys)["v"].tolist() == [[1, 2], [3], [4]]
    for convert in (to_pandas, to_polars):
        where = f"lodcore.{convert.__name__}"
        with pytest.raises(LoDError, match=rf"{where}: keys\['u'\]: has 1 entries; there are 2 sequences"):
            convert({"v": x}, {"u": [1]}, lists=True)
        with pytest.raises(LoDError, match=rf"{where}: columns: 'w' has a different structure from 'v'"):
            convert({"v": x, "w": [1, 2, 3]})


def test_conversion_of_complex_columns_raises_with_their_dtype():
    x = lodcore.array([[1j], [2.0, 3]])
    for lists in (False, True):
        with pytest.raises(DTypeError, match=r"lodcore.to_polars: columns\['v'\]: has dtype complex128"):
            to_polars({"v": x}, lists=lists)
    with pytest.raises(DTypeError, match=r"lodcore.to_pandas: columns\['v'\]: has dtype complex128"):
        to_pandas({"v": x}, lists=True)
    assert to_pandas({"v": x})["v"].tolist() == [1j, 2, 3]


def test_missing_values_within_lists():
    lists = [[1, None], [], [3]]
    for read, data in (
        (from_pandas, pandas.DataFrame({"u": U, "v": lists})),
        (from_polars, polars.DataFrame({"u": U, "v": lists})),
    ):
        with pytest.raises(LoDError, match=rf"lodcore.{read.__name__}: data\['v'\]: row 1 is null"):
            read(data, by="u")
        assert read(data, by="u", nulls={"v": -1})["v"].tolist() == [[[1, -1], [3]], [[]]]
        groups = read(data, by="u", nulls="mask")
        assert groups.masks["v"].tolist() == [[[True, False], [True]], [[]]]
        assert groups.masks["v"].lod == groups["v"].lod
    words = pandas.DataFrame({"v": [["a", "bb"], [], None]})
    assert from_pandas(words, nulls="empty")["v"].tolist() == [["a", "bb"], [], []]
    nan = from_pandas(pandas.Series([[1.5, np.nan], [2.0]]))
    assert np.isnan(nan.values).tolist() == [False, True, False]
    with pytest.raises(LoDError, match=r"^lodcore.from_pandas: data: row 1 is null"):
        from_pandas(pandas.Series([[[1], [None]], []]))


@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_tables_without_rows(kind):
    frame = pandas.DataFrame({"u": pandas.Series([], dtype="str" if kind == "text" else "int64"), "v": np.zeros(0)})
    for read, data in ((from_pandas, frame), (from_polars, polars.from_pandas(frame))):
        groups = read(data, by="u")
        assert (len(groups), groups["v"].tolist(), groups["u"].tolist()) == (0, [], [])
        assert (len(to_pandas(groups)), len(to_polars(groups)), len(to_polars(groups, lists=False))) == (0, 0, 0)


def test_keys_named_twice_are_refused_and_columns_of_nulls_are_filled():
    frame = pandas.DataFrame({"u": U, "v": [1, 2, 3]})
    table = polars.from_pandas(frame)
    for read, data in ((from_pandas, frame), (from_polars, table), (from_arrow, table.to_arrow())):
        with pytest.raises(ValueError, match=rf"lodcore.{read.__name__}: by: names 'u' twice"):
            read(data, by=["u", "u"])
    nothing = polars.DataFrame({"u": U, "v": [None, None, None]})
    assert from_polars(nothing, by="u", nulls=0)["v"].tolist() == [[0, 0], [0]]
    several = polars.concat([table, table], rechunk=False)
    assert from_polars(several, by="u")["v"].tolist() == [[1, 3, 1, 3], [2, 2]]
    wide = LoDTensor.from_lengths(np.arange(6).reshape(3, 2), [2, 1])
    assert to_pandas({"v": wide})["v"].tolist() == to_polars({"v": wide}, lists=False)["v"].to_list()


def test_bytes_of_different_lengths_and_times_of_day():
    bytes_, times = [b"a", b"bcd", b""], [dt.time(1), dt.time(2, 3), dt.time(0)]
    table = polars.DataFrame({"u": U, "b": bytes_, "t": times})
    groups = from_polars(table, by="u")
    assert groups["b"].tolist() == [[b"a", b""], [b"bcd"]]
    assert to_polars(groups, lists=False).select("b", "t").rows() == [(bytes_[k], times[k]) for k in (0, 2, 1)]
    assert to_polars(groups)["b"].to_list() == to_pandas(groups, lists=True)["b"].tolist() == groups["b"].tolist()
    assert to_polars(groups)["t"].to_list() == [[times[0], times[2]], [times[1]]]


def test_clicks_of_a_frame_read_like_a_frame():
    """Sessions of clicks: columns, lengths, a filter, a join, and one row a group."""
    clicks = pandas.DataFrame({"user": ["b", "a", "b", "b"], "ts": [10, 11, 50, 55], "page": ["x", "y", "x", "z"]})
    users = pandas.DataFrame({"user": ["a", "b", "c"], "age": pandas.array([30, 40, 50], "Int64")})
    tables = polars.from_pandas(clicks), polars.from_pandas(users)
    for g, other in ((from_pandas(clicks, by="user"), users), (from_polars(tables[0], by="user"), tables[1])):
        assert (len(g), g.lengths.tolist(), g["page"].tolist()) == (2, [3, 1], [["x", "x", "z"], ["y"]])
        assert g[g["ts"] > 10]["ts"].tolist() == [[50, 55], [11]]
        assert g[g.lengths > 1]["user"].tolist() == ["b"]
        joined = g.join(other).with_columns(n=g.lengths, last=g["ts"].max(axis=1))
        assert joined["age"].tolist() == [40, 30]
        frame = to_polars(joined)
        assert frame.select("user", "age", "n", "last").rows() == [("b", 40, 3, 55), ("a", 30, 1, 11)]
        assert to_pandas(joined)["age"].tolist() == [40, 40, 40, 30]
        assert isinstance(joined["ts"], LoDTensor)
