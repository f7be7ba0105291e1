"""Datasets of xarray: nothing of a table of groups is left out without a word, and text comes back from a file."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor
from lodcore.errors import DTypeError, LoDError
from lodcore.interop import Groups, from_pandas, from_xarray, to_arrow, to_pandas, to_polars, to_xarray
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

pandas, xarray = imported("pandas"), imported("xarray")
pytestmark = MARKS

X = lodcore.array([[1], [2]])


def masked(kind):
    frame = pandas.DataFrame({"k": [1, 1], "n": pandas.array([5, None], dtype=kind)})
    return from_pandas(frame, by="k", nulls="mask")


def test_arrays_per_group_and_missing_values_go_out():
    dataset = to_xarray(masked("Float64").with_columns(w=[9.0]))
    assert dataset["w"].values.tolist() == [9.0]
    assert repr(dataset["n"].values.tolist()) == "[5.0, nan]"
    with pytest.raises(LoDError, match=r"^lodcore.to_xarray: columns\['n'\]: row 1 is missing; int64 has no value"):
        to_xarray(masked("Int64"))
    assert to_xarray(masked("Int64")[[]])["n"].size == 0


@for_each(
    ("arguments", "says"),
    [
        (({"x": X}, {"x": [7, 8]}), r"columns\['x'\]: is the name of a variable per sequence, too"),
        (({"rowsize": X},), r"columns\['rowsize'\]: is the name of the lengths, too; count= gives another"),
        (({"x": X}, {"rowsize": [7, 8]}), r"per_sequence\['rowsize'\]: is the name of the lengths, too; count="),
    ],
)
def test_two_variables_of_one_name_are_refused(arguments, says):
    with pytest.raises(LoDError, match=f"^lodcore.to_xarray: {says}"):
        to_xarray(*arguments)
    assert from_xarray(to_xarray({"rowsize": X}, count="n"))["rowsize"].equals(X)


def test_datasets_with_any_number_of_variables_per_sequence_go_out():
    groups = from_xarray(to_xarray({"x": X}, {"a": ["p", "q"], "b": [3, 4]}))
    assert list(groups.keys) == ["a", "b"]
    for table in (to_polars(groups), to_polars(groups, lists=False), to_arrow(groups).to_pandas()):
        assert (list(table["a"]), list(table["b"])) == (["p", "q"], [3, 4])
    for table in (to_pandas(groups), to_pandas(groups, lists=True)):
        assert (table.index.get_level_values("a").tolist(), table["b"].tolist()) == (["p", "q"], [3, 4])
    alone = from_xarray(to_xarray({"x": X}))
    assert to_pandas(alone)["x"].tolist() == to_polars(alone, lists=False)["x"].to_list() == [1, 2]
    with pytest.raises(LoDError, match=r"keys: are 2; there is 1 level"):
        to_pandas(groups, {"a": ["p", "q"], "b": [3, 4]})


def test_text_of_a_file_is_text(tmp_path):
    words = lodcore.array([["a"], ["bb"]])
    to_xarray({"t": words}, {"name": ["x", "yy"]}).to_netcdf(tmp_path / "words.nc")
    with xarray.open_dataset(tmp_path / "words.nc") as dataset:
        as_objects = dataset.assign({name: dataset[name].astype(object) for name in ("t", "name")})
        for one in (dataset, as_objects):  # as some ways of reading files give it, and as others do
            found = from_xarray(one)
            assert found["t"].equals(words)
            assert found["name"].tolist() == ["x", "yy"]
        for wrong, says in (
            (["a", None], "has dtype object; Python objects have no fixed size"),
            (["a", "a\0"], "value 1 is .*, whose NUL at the end NumPy would drop"),
        ):
            for dim in ("obs", "instance"):
                with pytest.raises(DTypeError, match=rf"^lodcore.from_xarray: dataset\['q'\]: {says}"):
                    from_xarray(dataset.assign(q=(dim, np.array(wrong, object))))


def test_a_table_without_columns_has_no_dataset():
    with pytest.raises(LoDError, match=r"^lodcore.to_xarray: columns: there are none"):
        to_xarray(Groups({}, {"k": [1]}, lod=lodcore.LoD.from_lengths([1])))


def test_keys_beyond_the_levels_say_more_about_the_finest_groups():
    x = lodcore.array([[[1], [2, 3]], [[4]]])
    groups = Groups({"x": x}, {"a": [1, 2], "b": [3, 4, 5], "c": ["p", "q", "r"]}, {"w": [0.5, 1.5]})
    for table in (to_polars(groups), to_pandas(groups, lists=True)):
        assert [list(one) for one in table["c"]] == [["p", "q"], ["r"]]
    assert to_arrow(groups)["c"].to_pylist() == [["p", "q"], ["r"]]
    rows = to_polars(groups, lists=False)
    assert (rows["c"].to_list(), rows["w"].to_list()) == (["p", "q", "q", "r"], [0.5, 0.5, 0.5, 1.5])
    rows = to_pandas(groups)
    assert (rows["c"].tolist(), rows["x"].tolist()) == (["p", "q", "q", "r"], [1, 2, 3, 4])
    assert rows.index.get_level_values("b").tolist() == [3, 4, 4, 5]
    assert to_pandas(groups[[1]])["c"].tolist() == ["r"]


@for_each(
    ("dtype", "number"),
    [("M8[ps]", 1), ("m8[ps]", 1), ("m8[M]", 1), ("M8[fs]", 1), ("M8[D]", 2**60), ("m8[7W]", 2**60), ("m8", 1)],
)
def test_dates_and_durations_that_xarray_does_not_hold_are_refused(dtype, number):
    rows = np.array([number]).view(dtype)
    with pytest.raises(DTypeError, match=r"^lodcore.to_xarray: columns\['x'\]: (has dtype .* xarray|is )"):
        to_xarray({"x": LoDTensor.from_lengths(rows, [1])})
    with pytest.raises(DTypeError, match=r"^lodcore.to_xarray: per_sequence\['k'\]: (has dtype .* xarray|is )"):
        to_xarray({"x": lodcore.array([[1]])}, {"k": rows})


@for_each("dtype", ["M8[10s]", "m8[10s]", "M8[Y]", "M8[M]", "m8[W]", "M8[h]", "M8[25ms]", "m8[us]", "M8[ns]"])
def test_dates_and_durations_of_other_units_keep_their_values(dtype):
    rows = np.array([1, 2]).view(dtype)
    back = from_xarray(to_xarray({"x": LoDTensor.from_lengths(rows, [1, 1])}, {"k": rows}))
    assert (back["x"].values == rows).all()
    assert (back["k"] == rows).all()


def test_variables_of_several_dimensions_come_in_and_go_out():
    dataset = xarray.Dataset(
        {
            "n": ("one", [2, 1], {"sample_dimension": "obs"}),
            "a": (("c", "obs"), np.arange(6).reshape(2, 3)),
            "k": (("c", "one"), [["a", "b"], ["c", "d"]]),
            "free": ("c", [1, 2]),
        }
    )
    groups = from_xarray(dataset)
    assert list(groups) == ["k", "a"]
    assert groups["a"].tolist() == [[[0, 3], [1, 4]], [[2, 5]]]
    assert groups["k"].tolist() == [["a", "c"], ["b", "d"]]
    again = from_xarray(to_xarray(groups))
    assert again["a"].equals(groups["a"])
    assert again["k"].tolist() == groups["k"].tolist()
    both = dataset.assign(b=(("obs", "one"), np.zeros((3, 2))))
    with pytest.raises(LoDError, match=r"^lodcore.from_xarray: dataset\['b'\]: has the dimensions 'obs' and 'one'"):
        from_xarray(both)


@for_each(
    ("numbers", "attribute", "says"),
    [
        ([1, 0, -1, 1, 2], "instance_dimension", "is -1 at row 2; 0 .. 2 is valid"),
        ([1, 0, 2, 5, 2], "instance_dimension", "is 5 at row 3; 0 .. 2 is valid"),
        ([0, 0, 0, 1, 9], "instance_dimension", "is 9 at row 4; 0 .. 2 is valid"),
        ([1.0, 0.5, 0, 0, 0], "instance_dimension", "has dtype float64; integers are needed"),
        ([1, -1, 5], "sample_dimension", "is -1 at position 1; a length is not negative"),
        ([1, 1, 1], "sample_dimension", "add up to 3; num_rows is 5"),
    ],
)
def test_wrong_numbers_of_sequences_are_refused_by_the_variable_and_its_row(numbers, attribute, says):
    own, other = ("obs", "i") if attribute == "instance_dimension" else ("i", "obs")
    dataset = xarray.Dataset(
        {"x": ("obs", np.arange(5.0)), "n": ("i", [0, 1, 2]), "idx": (own, np.array(numbers), {attribute: other})}
    )
    with pytest.raises((LoDError, DTypeError), match=rf"^lodcore.from_xarray: dataset\['idx'\]: {says}"):
        from_xarray(dataset)


def test_unsigned_numbers_of_sequences_may_fall():
    numbers = np.array([1, 0, 1], "u1")
    dataset = xarray.Dataset({"x": ("obs", np.arange(3.0)), "idx": ("obs", numbers, {"instance_dimension": "i"})})
    assert from_xarray(dataset)["x"].tolist() == [[1.0], [0.0, 2.0]]
