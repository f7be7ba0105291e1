"""Tables with one row per key, joined to groups: what their types say, and their missing values."""

import datetime
import decimal

import numpy as np
import pytest

import lodcore
from lodcore.errors import DTypeError, LoDError
from lodcore.interop import Groups, from_pandas, from_polars, to_pandas, to_polars
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

pandas, polars, pyarrow, xarray = (imported(name) for name in ("pandas", "polars", "pyarrow", "xarray"))
pytestmark = MARKS

G = Groups({"v": lodcore.array([[1, 3], [2]])}, {"u": ["a", "b"]})
#: The last row has another key, and no values.
USERS = {
    "u": ["b", "a", "z"],
    "at": [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1), None],
    "price": [decimal.Decimal("1.50"), decimal.Decimal("2.25"), None],
    "hour": [datetime.time(1, 2), datetime.time(3), None],
    "n": [1, 2, None],
}


def of_pandas():
    frame = pandas.DataFrame({**USERS, "n": pandas.array(USERS["n"], dtype="Int64")})
    frame["at"] = pandas.to_datetime(frame["at"]).dt.tz_localize("Europe/Berlin")
    frame["size"] = pandas.Categorical(["s", "l", None], categories=["s", "m", "l"], ordered=True)
    return frame


def of_polars():
    sizes = polars.Series("size", ["s", "l", None], dtype=polars.Enum(["s", "m", "l"]))
    return polars.DataFrame(USERS).with_columns(sizes, polars.col("at").dt.replace_time_zone("Europe/Berlin"))


TABLES = {
    "pandas": of_pandas,
    "an index of pandas": lambda: of_pandas().set_index("u"),
    "columns of pandas": lambda: dict(of_pandas().items()),
    "Polars": of_polars,
    "lazy": lambda: of_polars().lazy(),
    "columns of Polars": lambda: of_polars().to_dict(),
    "pyarrow": lambda: pyarrow.table(of_polars()),
    "columns of pyarrow": lambda: {name: pyarrow.table(of_polars())[name] for name in of_polars().columns},
}


@for_each("name", TABLES)
def test_joined_columns_keep_what_their_types_say(name):
    joined = G.join(TABLES[name]())
    assert {key: kept[0] for key, kept in joined.kept.items()} == {
        "at": "zone",
        "price": "decimal",
        "hour": "time",
        "size": "category",
    }
    frame = to_pandas(joined)
    assert frame["price"].tolist() == [decimal.Decimal("2.25")] * 2 + [decimal.Decimal("1.50")]
    assert frame["hour"].tolist() == [datetime.time(3)] * 2 + [datetime.time(1, 2)]
    assert str(frame["at"].dt.tz) == "Europe/Berlin"
    assert frame["size"].tolist() == ["l", "l", "s"]
    table = to_polars(joined)
    assert table["hour"].dtype == polars.Time
    assert str(table["at"].dtype.time_zone) == "Europe/Berlin"
    assert table["price"].to_list() == [decimal.Decimal("2.25"), decimal.Decimal("1.50")]
    if "rrow" not in name:  # which has no order of categories that Polars gives it
        assert frame["size"].dtype.ordered
        assert table["size"].dtype == polars.Enum(["s", "m", "l"])


@for_each("name", TABLES)
def test_a_missing_value_is_an_error_or_filled_only_if_its_row_is_joined(name):
    groups = Groups({"v": G["v"]}, {"u": ["a", "z"]})
    few = Groups({"v": G["v"][:1]}, {"u": ["z"]})
    table = TABLES[name]()
    if isinstance(table, dict):
        table = {key: table[key] for key in ("u", "n")}
    else:
        table = (
            table[["n"]]
            if name.startswith("an index")
            else table.select(["u", "n"])
            if "pandas" not in name
            else table[["u", "n"]]
        )
    with pytest.raises(LoDError, match=r"^Groups.join: other\['n'\]: row 2 is null; .* such as nulls={'n': 0}"):
        groups.join(table)
    assert groups.join(table, nulls=-1)["n"].tolist() == [2, -1]
    assert few.join(table, nulls={"n": 5})["n"].tolist() == [5]
    assert G.join(table)["n"].tolist() == [2, 1]


def test_nan_and_nat_of_pandas_stay():
    frame = pandas.DataFrame({"u": ["a", "b"], "f": [np.nan, 1.0], "at": pandas.to_datetime([None, "2020-01-01"])})
    joined = G.join(frame)
    assert np.isnan(joined["f"]).tolist() == np.isnat(joined["at"]).tolist() == [True, False]
    assert G.join(frame, nulls={"f": 0})["f"].tolist() == [0, 1]


def test_rows_without_a_key_are_left_out():
    for frame in (pandas.DataFrame, polars.DataFrame):
        assert G.join(frame({"u": ["a", None, "b"], "n": [1, 2, 3]}))["n"].tolist() == [1, 3]


@for_each(
    ("nulls", "error", "text"),
    [
        ("mask", ValueError, "nulls: is 'mask'; 'error' or a fill value is needed"),
        ("empty", ValueError, "nulls: is 'empty'; 'error' or a fill value is needed"),
        ({"n": "mask"}, ValueError, r"nulls\['n'\]: is 'mask'; 'error' or a fill value is needed"),
        ({"n": "x"}, ValueError, r"nulls\['n'\]: is 'x'; 'error' or a fill value is needed"),
        ({"q": 0}, KeyError, "nulls: 'q' is not a column"),
        ({"n": 1.5}, DTypeError, r"nulls\['n'\]"),
    ],
)
def test_wrong_fill_values_are_refused(nulls, error, text):
    with pytest.raises(error, match=f"Groups.join: {text}"):
        G.join({"u": ["a", "b"], "n": [1, 2]}, nulls=nulls)


@for_each(
    "other",
    [
        lambda lists: {"u": ["a", "b"], "n": lists},
        lambda lists: {"u": ["a", "b"], "n": lodcore.array(lists)},
        lambda lists: pandas.DataFrame({"u": ["a", "b"], "n": lists}),
        lambda lists: polars.DataFrame({"u": ["a", "b"], "n": lists}),
        lambda lists: pyarrow.table({"u": ["a", "b"], "n": lists}),
    ],
)
def test_a_column_of_lists_is_refused(other):
    with pytest.raises(LoDError, match=r"^Groups.join: other\['n'\]: holds sequences; one value per key is needed"):
        G.join(other([[1], [2, 3]]))


@for_each(
    ("other", "error", "text"),
    [
        (lambda: 5, DTypeError, "other: is int; a dict of columns or a table is needed"),
        (lambda: pyarrow.array([1]), DTypeError, "other: is Int64Array without columns; a table is needed"),
        (lambda: {"u": [1, 2]}, DTypeError, r"other\['u'\]: has dtype int64; the groups have <U1"),
        (
            lambda: pandas.DataFrame([["a", 1, 2]], columns=["u", "n", "n"]),
            LoDError,
            "other: has two columns 'n'",
        ),
        (
            lambda: pandas.DataFrame({"u": ["a"]}, index=pandas.Index(["a"], name="u")),
            LoDError,
            "other: 'u' is a column and a level of the index; rename one",
        ),
    ],
)
def test_what_is_no_table_is_refused(other, error, text):
    with pytest.raises(error, match=f"^Groups.join: {text}"):
        G.join(other())


def test_any_name_of_a_column_can_be_joined():
    assert G.join({"u": ["a", "b"], "self": [1, 2]})["self"].tolist() == [1, 2]


FRAME = pandas.DataFrame(
    {"u": ["b", "a", "b"], "v": [1, 2, 3]},
    index=pandas.MultiIndex.from_tuples([(1, "x", 0), (1, "y", 0), (2, "x", 0)], names=["day", "place", None]),
)


def test_named_levels_of_an_index_that_are_not_keys_are_columns():
    found = from_pandas(FRAME, "u")
    assert list(found) == ["u", "day", "place", "v"]
    assert found["day"].tolist() == [[1, 2], [1]]
    assert found["place"].tolist() == [["x", "x"], ["y"]]
    found = from_pandas(FRAME, "day")
    assert list(found) == ["day", "place", "u", "v"]
    found = from_pandas(FRAME, ["u", "place"])
    assert (list(found), found["day"].tolist()) == (["u", "place", "day", "v"], [[[1, 2]], [[1]]])
    assert from_pandas(FRAME.droplevel([0, 2]), "u")["place"].tolist() == [["x", "x"], ["y"]]
    assert list(from_pandas(FRAME.reset_index(drop=True), "u")) == ["u", "v"]
    assert from_pandas(FRAME["v"], "place").tolist() == [[1, 3], [2]]
    zones = FRAME.set_index(pandas.DatetimeIndex(["2020-01-01"] * 3, tz="Europe/Berlin", name="at"))
    assert from_pandas(zones, "u").kept == {"at": ("zone", "Europe/Berlin")}
    lists = from_pandas(FRAME.assign(v=[[1], [], [2, 3]]))
    assert (list(lists), lists["day"].tolist()) == (["day", "place", "u", "v"], [1, 1, 2])


def test_a_level_with_the_name_of_a_column_is_refused():
    for frame, by in ((FRAME.assign(day=0), "u"), (FRAME.rename_axis(["u", None, None]), "u")):
        with pytest.raises(
            LoDError, match=r"lodcore.from_pandas: data: '(day|u)' is a column and a level of the index"
        ):
            from_pandas(frame, by)
    assert from_polars(polars.DataFrame({"u": [1], "v": [2]}), "u")["v"].tolist() == [[2]]


def test_arrays_of_xarray_are_joined():
    groups = Groups({"v": G["v"]}, {"u": [1, 2]})
    for axis in (None, {"q": [5, 6]}):
        prices = xarray.DataArray([7, 8], dims="q", coords=axis)
        assert groups.join({"u": [1, 2], "p": prices})["p"].tolist() == [7, 8]
    assert groups.join(xarray.Dataset({"u": ("q", [2, 1]), "p": ("q", [7, 8])}))["p"].tolist() == [8, 7]
