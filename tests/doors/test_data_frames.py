"""pandas, Polars and xarray."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor, from_pandas, from_polars, from_xarray, to_pandas, to_polars, to_xarray
from lodcore.errors import DTypeError, LoDError
from lodcore.interop import Groups
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

pandas, polars, xarray = (imported(name) for name in ("pandas", "polars", "xarray"))
pytestmark = MARKS

X = lodcore.array([[1.5, 2.5], [], [3.5]])
DEEP = lodcore.array([[[1, 2], [3]], [[4]]])
POLARS_TAKES, ARROW_TAKES = ("; lodcore.from_polars takes this one", "; lodcore.from_arrow takes this one")
COLUMNS = {"g": ["b", "a", "b", "c", "a"], "h": [1, 1, 2, 1, 1], "v": [1.0, 2, 3, 4, 5], "w": [1, 2, 3, 4, 5]}
FRAME = pandas.DataFrame(COLUMNS)
ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), min_size=1, max_size=12)


def want(rows):
    """Group rows by two keys, in the order of first rows."""
    groups = {}
    for at, (a, b) in enumerate(rows):
        groups.setdefault(a, {}).setdefault(b, []).append(at)
    return groups


@given(ROWS)
def test_groups_of_rows(rows):
    groups = want(rows)
    columns = {"a": [a for a, _ in rows], "b": [b for _, b in rows], "v": np.arange(len(rows)), "w": np.ones(len(rows))}
    one = [[at for inner in groups[a].values() for at in inner] for a in groups]
    one = [sorted(lists) for lists in one]
    for found in (
        from_pandas(pandas.DataFrame(columns), "a"),
        from_polars(polars.DataFrame(columns), "a"),
        from_pandas(pandas.DataFrame(columns).set_index("a")),
    ):
        assert found.columns["v"].tolist() == one
        assert found.keys["a"].tolist() == list(groups)
        assert found.columns["v"].lod is found.columns["w"].lod
    both = [list(inner.values()) for inner in groups.values()]
    for found in (
        from_pandas(pandas.DataFrame(columns), ["a", "b"]),
        from_polars(polars.DataFrame(columns), ["a", "b"]),
        from_pandas(pandas.DataFrame(columns).set_index(["a", "b"]), ["a", "b"]),
    ):
        assert found.columns["v"].tolist() == both
        assert found.keys["b"].tolist() == [b for inner in groups.values() for b in inner]


def test_from_pandas_of_empty_lists_and_arrays():
    found = from_pandas(pandas.Series([[], np.array([1, 2]), None, []]), nulls="empty")
    assert found.tolist() == [[], [1, 2], [], []]


def test_rows_of_nested_sequences_are_counted_in_the_innermost():
    frame = to_pandas({"v": DEEP, "w": DEEP * 2})
    assert [index[-1] for index in frame.index] == [0, 1, 0, 0]
    assert frame["w"].tolist() == [2, 4, 6, 8]


@pytest.mark.parametrize("part", ["variables", "data_vars"])
def test_from_xarray_refuses_objects_with_only_some_attributes_of_a_dataset(part):
    class Like:
        pass

    setattr(Like, part, {})
    with pytest.raises(DTypeError, match=r"dataset: is Like; an xarray.Dataset is needed"):
        from_xarray(Like())


def test_to_pandas_then_from_pandas_restores_groups():
    groups = from_pandas(FRAME, ["g", "h"])
    frame = to_pandas(groups)
    assert frame.index.names == ["g", "h", None]
    assert frame.loc[("a", 1), "v"].tolist() == [2.0, 5.0]
    again = from_pandas(frame)
    assert again.columns["v"].equals(groups.columns["v"])
    assert again.keys["g"].tolist() == ["b", "a", "c"]
    full = lodcore.array([[1.5, 2.5], [3.5]])
    assert to_pandas(full).tolist() == [1.5, 2.5, 3.5]
    assert from_pandas(to_pandas(full)).equals(full)
    assert from_pandas(full.to_pandas({"id": [7, 8]})).equals(full)


RECORDS = np.array([(1.0, [2, 3], "a"), (3, [4, 5], ""), (5, [6, 7], "c")], [("a", "f4"), ("b", "i4", 2), ("c", "U1")])
MANY = {
    "vectors": np.arange(6, dtype=np.float32).reshape(3, 2),
    "matrices": np.arange(12).reshape(3, 2, 2),
    "bools": np.array([[True], [False], [True]]),
    "texts": np.array([["a", ""], ["bcd", "e"], ["", ""]]),
    "times": np.array([[1, "NaT"], [3, 4], [5, 6]], "M8[ns]"),
    "records": RECORDS,
}


@for_each("name", MANY)
def test_one_line_per_row_keeps_axes_of_rows_and_fields(name):
    x = LoDTensor.from_lengths(MANY[name], [2, 1])
    assert from_pandas(to_pandas(x)).equals(x)
    groups = Groups({"x": x, "v": lodcore.array([[1, 2], [3]])}, {"k": ["b", "a"]})
    again = from_pandas(to_pandas(groups))
    assert again["x"].equals(x)
    assert again["k"].tolist() == ["b", "a"]
    deep = LoDTensor.from_lengths(MANY[name], [2, 0], [2, 1])
    of_lists = to_pandas({"x": deep, "v": lodcore.array([[1, 2], []])}, {"k": [1, 2]})["x"]
    assert from_pandas(of_lists.reset_index(drop=True)).equals(LoDTensor.from_lengths(MANY[name], [2, 1]))


def test_rows_that_no_type_of_arrow_holds_are_refused_by_to_pandas():
    with pytest.raises(DTypeError, match=r"^lodcore.to_pandas: columns\['v'\]: has dtype complex128"):
        to_pandas({"v": LoDTensor.from_lengths(np.ones((1, 2), complex), [1])})


@pytest.mark.parametrize("x", [X, DEEP], ids=["one level", "two levels"])
def test_to_pandas_and_from_pandas_of_columns_of_lists_are_inverse(x):
    frame = to_pandas({"x": x, "y": LoDTensor(x.values * 2, x.lod)}, lists=True)
    assert len(frame) == len(x)
    found = from_pandas(frame)
    assert found["x"].equals(x)
    assert lodcore.array(frame["x"]).equals(x)
    plain = pandas.Series(x.tolist())
    assert from_pandas(plain).tolist() == x.tolist()
    assert from_pandas(pandas.Series([np.array([1, 2]), np.array([], int)])).tolist() == [[1, 2], []]


def test_from_pandas_fills_masks_or_refuses_nulls():
    series = pandas.Series([[1], None, [2, 3]])
    with pytest.raises(LoDError, match="sequence 1 of level 0 is null"):
        from_pandas(series)
    assert from_pandas(series, nulls="empty").tolist() == [[1], [], [2, 3]]
    arrow = series.astype(pandas.ArrowDtype(imported("pyarrow").list_(imported("pyarrow").int64())))
    with pytest.raises(LoDError, match="sequence 1 of level 0 is null"):
        from_pandas(arrow)
    assert from_pandas(arrow, nulls="empty").tolist() == [[1], [], [2, 3]]


def test_masks_of_groups_do_not_tell_null_lists_from_empty_ones():
    table = polars.DataFrame({"k": [1, 1, 1], "x": [[1, None], None, []]})
    for groups in (lodcore.from_polars(table, by="k", nulls="mask"), lodcore.from_arrow(table, by="k", nulls="mask")):
        assert groups["x"].tolist() == [[[1, 0], [], []]]
        assert groups.masks["x"].tolist() == [[[True, False], [], []]]
        assert lodcore.to_polars(groups)["x"].to_list() == [[[1, None], [], []]]
    _, masks = lodcore.from_arrow(table, nulls="mask")
    assert masks["x"][0].tolist() == [True, False, True]


def test_from_pandas_of_plain_columns_and_lists():
    frame = pandas.DataFrame({"name": ["a", "b"], "n": [1, 2], "x": [[1], [2, 3]]})
    found = from_pandas(frame)
    assert found["name"].tolist() == ["a", "b"]
    assert found["n"].tolist() == [1, 2]
    assert found["x"].tolist() == [[1], [2, 3]]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: from_pandas(FRAME, "z"), KeyError, "'z' is neither a column nor a level"),
        (lambda: from_pandas(3), DTypeError, "data: is int"),
        (lambda: from_pandas(pandas.DataFrame({"g": [1.0, None], "v": [1, 2]}), "g"), LoDError, "no value in row 1"),
        (lambda: from_pandas(pandas.DataFrame({"g": [1], "v": [{}]}), "g"), DTypeError, "has dtype object"),
        (lambda: to_pandas({"a": X, "b": X[:1]}), LoDError, "a different structure"),
        (lambda: from_polars(3), DTypeError, "data: is int"),
        (lambda: from_polars(polars.DataFrame({"g": [1]}), "z"), KeyError, "'z' is not a column"),
        (lambda: from_polars(polars.DataFrame({"g": [1, None]}), "g"), LoDError, "no value in row 1"),
        (lambda: from_xarray(3), DTypeError, "dataset: is int"),
        (lambda: from_xarray(xarray.Dataset({"x": ("i", [1])})), LoDError, "has 0 variables with an attribute"),
        (lambda: to_xarray(DEEP), LoDError, "have 2 levels"),
        (lambda: to_xarray(X, {"id": [1]}), LoDError, "has 1 entries; 3 are needed"),
        (lambda: to_xarray(X, [1]), DTypeError, "lodcore.to_xarray: per_sequence: is list; a dict of arrays"),
        *(
            (
                lambda call=call, given=given: call(given()),
                DTypeError,
                f"data: is {named}; .* of {needed} is needed{way}$",
            )
            for call, given, named, needed, way in (
                (from_pandas, lambda: polars.DataFrame(COLUMNS), "polars.DataFrame", "pandas", POLARS_TAKES),
                (from_pandas, lambda: polars.Series([1]), "polars.Series", "pandas", POLARS_TAKES),
                (from_pandas, lambda: polars.LazyFrame(COLUMNS), "polars.LazyFrame", "pandas", POLARS_TAKES),
                (from_pandas, lambda: FRAME.index, "pandas.RangeIndex", "pandas", ""),
                (from_polars, lambda: FRAME, "pandas.DataFrame", "Polars", "; lodcore.from_pandas takes this one"),
                (from_polars, lambda: FRAME["v"], "pandas.Series", "Polars", "; lodcore.from_pandas takes this one"),
                (from_polars, lambda: polars.DataFrame(COLUMNS).to_arrow(), "pyarrow.Table", "Polars", ARROW_TAKES),
            )
        ),
    ],
)
def test_wrong_frames_and_columns_are_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


# -- Polars --------------------------------------------------------------------------------------------------------


def test_to_polars_then_from_polars_restores_sequences():
    series = to_polars(X)
    assert series.to_list() == X.tolist()
    assert from_polars(series).equals(X)
    assert lodcore.array(series).equals(X)
    assert from_polars(X.to_polars()[1:]).tolist() == X.tolist()[1:]
    frame = to_polars({"x": X, "y": LoDTensor(X.values * 2, X.lod)}, {"id": ["a", "b", "c"]})
    assert frame["id"].to_list() == ["a", "b", "c"]
    found = from_polars(frame)
    assert found["y"].tolist() == [[3.0, 5.0], [], [7.0]]
    assert found["x"].lod is found["y"].lod
    assert polars.DataFrame(lodcore.interop.ArrowTable({"x": DEEP}))["x"].to_list() == DEEP.tolist()


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]", "M8[m]", "m8[h]", "m8[D]", "M8[25s]"])
def test_to_polars_refuses_times_whose_milliseconds_no_integer_holds(dtype):
    unit, step = np.datetime_data(dtype)
    limit = np.iinfo(np.int64).max // (1000 * step * {"s": 1, "m": 60, "h": 3600, "D": 86400}[unit])
    for sign in (1, -1):
        within, beyond = (np.array([0, sign * (limit + more)]).astype(dtype) for more in (-1, 1))
        made = from_polars(to_polars({"x": LoDTensor.from_lengths(within, [2])}))["x"]
        np.testing.assert_array_equal(made.values, within)
        record = np.zeros(2, [("at", dtype)])
        record["at"] = beyond
        for values, place in ((beyond, ""), (record, "field 'at': ")):
            for lists in (True, False):
                with pytest.raises(lodcore.DTypeError, match=rf"columns\['x'\]: {place}is .*; .*\[ms\] cannot hold it"):
                    to_polars({"x": LoDTensor.from_lengths(values, [2])}, lists=lists)


def test_to_polars_has_a_row_for_each_row():
    groups = from_polars(polars.DataFrame(COLUMNS), ["g", "h"])
    frame = to_polars(groups, lists=False)
    assert frame.columns == ["g", "h", "v", "w"]
    assert frame["v"].to_list() == [1, 3, 2, 5, 4]
    again = from_polars(frame, ["g", "h"])
    assert again.columns["v"].equals(groups.columns["v"])
    assert from_polars(polars.LazyFrame({"x": [[1], [2, 3]]}))["x"].tolist() == [[1], [2, 3]]
    assert to_polars(lodcore.array([[1, 2], [3]]), lists=False)["values"].to_list() == [1, 2, 3]


def test_polars_nulls_and_strings():
    series = polars.Series([[1, None], None, [2]])
    with pytest.raises(LoDError, match="is null"):
        from_polars(series)
    assert from_polars(series, nulls=0).tolist() == [[1, 0], [], [2]]
    words = polars.Series([["a", "a longer word than twelve"], ["b"]])
    assert lodcore.from_arrow(words, strings="fixed").tolist() == [["a", "a longer word than twelve"], ["b"]]
    assert from_polars(polars.Series([[1.0, 2.0]], dtype=polars.Array(polars.Float64, 2))).shape == (1, 2)


# -- xarray --------------------------------------------------------------------------------------------------------


def test_contiguous_ragged_arrays():
    dataset = to_xarray({"lon": X, "lat": LoDTensor(np.ones((3, 2)), X.lod)}, {"id": [7, 8, 9]})
    assert dataset["rowsize"].attrs == {"sample_dimension": "obs"}
    assert dataset["rowsize"].values.tolist() == [2, 0, 1]
    found = from_xarray(dataset)
    assert found.columns["lon"].equals(X)
    assert found.columns["lat"].shape == (3, None, 2)
    assert found.columns["lon"].lod is found.columns["lat"].lod
    assert found.keys["id"].tolist() == [7, 8, 9]
    assert from_xarray(to_xarray(found)).columns["lon"].equals(X)
    assert X.to_xarray(count="n", sample_dimension="time").sizes["time"] == 3


def test_ragged_arrays_in_a_file(tmp_path):
    assert imported("netCDF4").Dataset
    to_xarray({"lon": X}, {"id": [7, 8, 9]}).to_netcdf(tmp_path / "x.nc")
    with xarray.open_dataset(tmp_path / "x.nc") as dataset:
        assert from_xarray(dataset).columns["lon"].equals(X)


def test_indexed_ragged_arrays():
    dataset = xarray.Dataset(
        {
            "which": ("obs", [2, 0, 2, 0], {"instance_dimension": "station"}),
            "t": ("obs", [1.0, 2.0, 3.0, 4.0]),
            "name": ("station", ["p", "q", "r"]),
        }
    )
    found = from_xarray(dataset)
    assert found.columns["t"].tolist() == [[2, 4], [], [1, 3]]
    assert found.keys["name"].tolist() == ["p", "q", "r"]


def test_from_xarray_refuses_wrong_row_sizes():
    dataset = to_xarray(X)
    dataset["rowsize"][0] = -1
    with pytest.raises(LoDError, match="is -1 at position 0"):
        from_xarray(dataset)
    dataset["rowsize"][0] = 5
    with pytest.raises(LoDError, match="add up to 6; num_rows is 3"):
        from_xarray(dataset)


def test_groups_have_columns_and_keys():
    found = from_pandas(FRAME, "g")
    assert isinstance(found, Groups)
    assert (list(found.columns), list(found.keys), list(found), len(found)) == (
        ["h", "v", "w"],
        ["g"],
        ["g", "h", "v", "w"],
        3,
    )


def test_groups_with_keys_only_become_tables_of_groups_and_of_rows():
    columns = {"user": ["b", "a", "b"], "day": [2, 1, 1]}
    rows = {"user": ["b", "b", "a"], "day": [2, 1, 1]}
    for groups in (
        from_pandas(pandas.DataFrame(columns), by=["user", "day"]),
        from_polars(polars.DataFrame(columns), by=["user", "day"]),
    ):
        assert to_polars(groups).to_dict(as_series=False) == {"user": ["b", "a"], "day": [[2, 1], [1]]}
        assert to_polars(groups, lists=False).to_dict(as_series=False) == rows
        assert to_pandas(groups).index.tolist() == [("b", 2, 0), ("b", 1, 0), ("a", 1, 0)]
        listed = to_pandas(groups, lists=True)
        assert listed.index.tolist() == ["b", "a"]
        assert [list(days) for days in listed["day"]] == [[2, 1], [1]]
        assert to_pandas(groups.with_columns(n=[5, 6]))["n"].tolist() == [5, 5, 6]


def test_columns_of_one_name_are_refused():
    for to in (to_pandas, to_polars):
        with pytest.raises(LoDError, match=f"{to.__name__}: columns: has two columns '3'"):
            to({3: X, "3": X})


@pytest.mark.parametrize("names", [["x", "x"], ["level_1", None, "z"], [1, "1"]])
def test_from_pandas_refuses_levels_of_an_index_with_one_name(names):
    index = pandas.MultiIndex.from_arrays([[1, 2, 1]] * len(names), names=names)
    frame = pandas.DataFrame({"v": [1, 2, 3]}, index=index)
    twice = str(names[0])
    for data in (frame, frame["v"]):
        with pytest.raises(LoDError, match=rf"^lodcore.from_pandas: data: has two levels '{twice}' of the index"):
            from_pandas(data)
    if None not in names:  # such levels are left out of tables with keys, and of those with lists
        for data, by in ((frame, "v"), (frame.assign(v=[[1], [], [2]]), None)):
            with pytest.raises(LoDError, match=f"data: has two levels '{twice}' of the index"):
                from_pandas(data, by=by)
        with pytest.raises(LoDError, match=f"other: has two levels '{twice}' of the index"):
            Groups({"w": lodcore.array([[1]])}, {"v": [1]}).join(frame)


def test_pandas_refuses_a_lodtensor_as_a_column_and_names_to_pandas():
    for make in (pandas.Series, pandas.DataFrame, pandas.Index):
        with pytest.raises(ValueError, match=r"not a dense array.*; x\.to_pandas\(\) makes a Series"):
            make(X)
    assert X.to_pandas(lists=True).tolist() == [[1.5, 2.5], [], [3.5]]
    assert polars.Series(X).to_list() == X.to_polars().to_list() == X.tolist()
