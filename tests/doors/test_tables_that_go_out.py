"""Tables of groups that go out to pandas, Polars and Arrow as lists: bytes as they are, and what types say."""

import datetime
import decimal

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, from_arrow, from_pandas, from_polars, to_arrow, to_pandas, to_polars
from lodcore.errors import DTypeError, LoDError
from lodcore.interop import ArrowTable, Groups
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

pandas, polars, pyarrow = (imported(name) for name in ("pandas", "polars", "pyarrow"))
pytestmark = MARKS

BYTES = lodcore.array([[b"abc", b""], [], [b"d"]])
LISTS = [[b"abc", b""], [], [b"d"]]


@for_each(
    "go_out",
    [
        lambda x: pyarrow.array(x).to_pylist(),
        lambda x: to_arrow(x).to_pylist(),
        lambda x: polars.Series(x).to_list(),
        lambda x: to_polars(x).to_list(),
        lambda x: [list(one) for one in to_pandas(x, lists=True)],
        lambda x: to_arrow({"x": x})["x"].to_pylist(),
        lambda x: polars.DataFrame(ArrowTable({"x": x}))["x"].to_list(),
    ],
)
def test_bytes_have_no_nul_behind_them(go_out):
    assert go_out(BYTES) == LISTS
    assert go_out(BYTES[1:]) == LISTS[1:]


def test_bytes_in_rows_keys_and_records_have_no_nul_behind_them():
    assert to_pandas(BYTES).tolist() == [b"abc", b"", b"d"]
    groups = Groups({"v": lodcore.array([[1], [], [2]])}, {"k": [b"abc", b"", b"d"]}, {"p": [b"", b"xy", b"z"]})
    for table in (to_arrow(groups), to_polars(groups).to_arrow(), pyarrow.table(ArrowTable(dict(k=groups["k"])))):
        assert table["k"].to_pylist() == [b"abc", b"", b"d"]
    assert to_polars(groups)["p"].to_list() == [b"", b"xy", b"z"]
    assert to_polars(groups, lists=False)["k"].to_list() == [b"abc", b"d"]
    assert to_pandas(groups, lists=True).index.tolist() == [b"abc", b"", b"d"]
    assert to_pandas(groups).index.get_level_values("k").tolist() == [b"abc", b"d"]
    deep = Groups({"v": lodcore.array([[[1], [2]], [[3]]])}, {"k": [b"abc", b""], "l": [b"", b"defg", b"h"]})
    assert to_arrow(deep)["l"].to_pylist() == to_polars(deep)["l"].to_list() == [[b"", b"defg"], [b"h"]]
    records = LoDTensor.from_lengths(np.array([(b"abc", 1), (b"", 2)], "S3, i4"), [2])
    for made in (to_arrow(records).to_pylist(), to_polars(records).to_list()):
        assert made == [[{"f0": b"abc", "f1": 1}, {"f0": b"", "f1": 2}]]


DAY, NOON = datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 12, tzinfo=datetime.timezone.utc)
ZONE = "Europe/Berlin"
#: Columns of four rows by what their types say.
KEPT = {
    "zone": [NOON, NOON + datetime.timedelta(days=1), NOON, NOON],
    "decimal": [decimal.Decimal(text) for text in ("1.50", "0.25", "1.50", "-3.00")],
    "time": [datetime.time(1, 2), datetime.time(23), datetime.time(1, 2), datetime.time(0)],
    "category": ["s", "l", "s", "m"],
    "ordered": ["s", "l", "s", "m"],
}
SIZES = ["s", "m", "l", "xl"]


def frame_of(names, rows=4):
    """Return a table of pandas with columns of several kinds, named after them, and numbers."""
    columns = {}
    for name in names:
        kind, entries = name.split("_")[0], KEPT[name.split("_")[0]][:rows]
        if kind == "zone":
            columns[name] = pandas.Series(entries, dtype="datetime64[us, UTC]").dt.tz_convert(ZONE)
        elif kind in ("category", "ordered"):
            columns[name] = pandas.Categorical(entries, categories=SIZES, ordered=kind == "ordered")
        elif not rows:
            types = {"decimal": pyarrow.decimal128(9, 2), "time": pyarrow.time64("us")}
            columns[name] = pandas.Series([], dtype=pandas.ArrowDtype(types[kind]))
        else:
            columns[name] = pandas.Series(entries, dtype=object)
    return pandas.DataFrame({**columns, "v": list(range(rows)), "g": [1, 1, 2, 2][:rows], "h": [1, 2, 1, 1][:rows]})


def inner(kind):
    """Return what is in the lists of a type of Arrow."""
    while hasattr(kind, "value_field"):
        kind = kind.value_type
    return kind


def says(kind):
    """Return what a type of Arrow says."""
    kind = inner(kind)
    if pyarrow.types.is_dictionary(kind):
        return "ordered" if kind.ordered else "category"
    if pyarrow.types.is_timestamp(kind):
        return "zone" if kind.tz == ZONE else "timestamp"
    return next(
        (name for name in ("decimal", "time") if str(kind).startswith((f"{name}1", f"{name}6", f"{name}3"))), None
    )


def types_of(groups):
    """Return the types of a table of groups in Arrow, and in pandas as lists."""
    frame = to_pandas(groups, lists=True)
    arrow = to_arrow(groups)
    names = set(groups.columns)
    assert {name for name in frame.columns if frame[name].dtype == object} <= {*groups.per_group}
    return {name: arrow.schema.field(name).type for name in arrow.column_names}, {
        name: frame[name].dtype.pyarrow_dtype for name in names
    }


@pytest.mark.parametrize("by", ["g", ["g", "h"]])
@pytest.mark.parametrize("nulls", ["error", "mask"])
@pytest.mark.parametrize("rows", [4, 0])
def test_columns_in_lists_keep_what_their_types_say(by, nulls, rows):
    frame = frame_of(KEPT, rows)
    if nulls == "mask" and rows:
        frame = frame.mask(
            pandas.DataFrame({name: [False, True, False, False] for name in KEPT}).reindex(
                columns=frame.columns, fill_value=False
            )
        )
        frame[["g", "h", "v"]] = frame[["g", "h", "v"]].astype(int)
    groups = from_pandas(frame, by, nulls=nulls)
    arrow, lists = types_of(groups)
    for name in KEPT:
        assert says(arrow[name]) == says(lists[name]) == name, name
    table = to_polars(groups)
    assert [str(inner_of_polars(table[name].dtype)).split("(")[0] for name in KEPT] == [
        "Datetime", "Decimal", "Time", "Categorical", "Enum",
    ]  # fmt: skip
    flat = polars.DataFrame(to_polars(groups, lists=False))
    for name, entries in KEPT.items():
        wanted = list(entries[:rows])
        if nulls == "mask" and rows:
            wanted[1] = None
        assert flat.sort("v")[name].to_list() == wanted
        assert lodcore.to_pandas(groups)[name].notna().tolist() == [one is not None for one in wanted]
        found = to_arrow(groups)[name].to_pylist()
        while rows and isinstance(found[0], list):
            found = [one for some in found for one in some]
        assert found == wanted


def inner_of_polars(kind):
    while isinstance(kind, polars.List):
        kind = kind.inner
    return kind


@for_each("kind", KEPT)
def test_keys_and_finer_keys_keep_what_their_types_say(kind):
    frame = frame_of([kind, f"{kind}_finer"])
    groups = from_pandas(frame, [kind, f"{kind}_finer"])
    firsts = list(dict.fromkeys(KEPT[kind]))
    table = to_arrow(groups)
    assert says(table.schema.field(kind).type) == says(table.schema.field(f"{kind}_finer").type) == kind
    assert table[kind].to_pylist() == firsts
    assert table[f"{kind}_finer"].to_pylist() == [[one] for one in firsts]
    table = to_polars(groups)
    assert table[kind].dtype == inner_of_polars(table[f"{kind}_finer"].dtype)
    assert table[kind].to_list() == firsts
    assert table[f"{kind}_finer"].to_list() == [[one] for one in firsts]
    table = to_pandas(groups, lists=True)
    assert table.index.tolist() == firsts
    assert says(table[f"{kind}_finer"].dtype.pyarrow_dtype) == kind
    empty = from_pandas(frame_of([kind, f"{kind}_finer"], 0), [kind, f"{kind}_finer"])
    for made in (to_arrow(empty).schema, to_arrow(groups).schema):
        assert says(made.field(kind).type) == says(made.field(f"{kind}_finer").type) == kind


def test_values_that_do_not_fit_any_more_have_plain_types():
    groups = from_pandas(frame_of(KEPT), "g")
    changed = Groups(
        {
            "decimal": groups["decimal"] + 1e37,
            "time": groups["time"] + np.timedelta64(1, "D"),
            "ordered": groups["ordered"].with_values(np.array(["s", "q", "q", "m"])),
            "zone": groups["v"],
        },
        {"g": groups["g"]},
        kept={**groups.kept, "g": ("category", np.array(["a"]), False)},
    )
    arrow, lists = types_of(changed)
    for name in changed.columns:
        assert says(arrow[name]) is None, name
        assert says(lists[name]) is None, name
        assert not isinstance(
            inner_of_polars(to_polars(changed)[name].dtype), (polars.Enum, polars.Decimal, polars.Time)
        )
    assert to_arrow(changed)["g"].to_pylist() == to_pandas(changed, lists=True).index.tolist() == [1, 2]
    assert to_arrow(changed)["ordered"].to_pylist() == [["s", "q"], ["q", "m"]]


@for_each("way", ["struct", "list", "array"])
def test_fields_of_structs_keep_what_their_types_say(way):
    dtype = polars.Struct(
        {
            "time": polars.Time,
            "zone": polars.Datetime("us", ZONE),
            "decimal": polars.Decimal(9, 2),
            "category": polars.Categorical,
            "ordered": polars.Enum(["y", "x"]),
            "number": polars.Int8,
        }
    )
    first = {name: KEPT[name][0] for name in ("time", "zone", "decimal")}
    first |= {"category": "a", "ordered": "x", "number": 7}
    records = [first, {**dict.fromkeys(first), "ordered": "y"}, None]
    if way == "list":
        dtype, records = polars.List(dtype), [records, [], records[:1]]
    elif way == "array":
        dtype, records = polars.Array(dtype, 2), [records[:2], None, records[:1] * 2]
    frame = polars.DataFrame({"k": [1, 1, 2], "s": polars.Series(records, dtype=dtype)})
    for groups in (from_polars(frame, by="k", nulls="mask"), from_arrow(frame.to_arrow(), by="k", nulls="mask")):
        made = to_polars(groups, lists=False)["s"]
        assert made.to_list() == frame["s"].to_list()
        assert made.dtype == (dtype if groups.kept["s"][1]["category"][1] is None else made.dtype)
        listed = [frame["s"].to_list()[:2], frame["s"].to_list()[2:]]
        assert to_polars(groups)["s"].to_list() == to_arrow(groups)["s"].to_pylist() == listed
    assert to_polars(from_polars(frame, by="k", nulls="mask"), lists=False)["s"].dtype == dtype


def test_fields_of_structs_whose_values_do_not_fit_have_plain_types():
    dtype = polars.Struct({"d": polars.Decimal(9, 2), "t": polars.Time})
    records = polars.Series(
        [{"d": decimal.Decimal("1.25"), "t": datetime.time(1)}, {"d": None, "t": None}], dtype=dtype
    )
    groups = from_polars(polars.DataFrame({"k": [1, 1], "s": records}), by="k", nulls="mask")
    values = groups["s"].values.copy()
    values["d"] /= 3
    changed = Groups({"s": groups["s"].with_values(values)}, groups.keys, masks=groups.masks, kept=groups.kept)
    (found,) = to_polars(changed)["s"].to_list()
    assert found == to_arrow(changed)["s"].to_pylist()[0] == [{"d": 1.25 / 3, "t": datetime.time(1)}, None]


def test_null_rows_with_an_axis_keep_what_their_types_say():
    dtype = polars.Array(polars.Datetime("us", ZONE), 2)
    stamps = polars.Series([[NOON, NOON], None, [None, NOON]], dtype=dtype)
    groups = from_polars(polars.DataFrame({"k": [1] * 3, "s": stamps}), by="k", nulls="mask")
    assert to_polars(groups, lists=False)["s"].dtype == dtype
    wanted = [[NOON, NOON], None, [None, NOON]]
    assert to_polars(groups)["s"].to_list() == to_arrow(groups)["s"].to_pylist() == [wanted]


def test_tables_of_groups_come_back():
    groups = from_pandas(frame_of(KEPT), ["g", "h"])
    back = {
        "Arrow": from_arrow(to_arrow(groups), dictionaries="decode", strings="fixed"),
        "Polars": from_polars(to_polars(groups)),
        "pandas": from_pandas(to_pandas(groups, lists=True)),
    }
    for name, table in back.items():
        for column in ("category", "v", "decimal", "time"):
            np.testing.assert_array_equal(table[column].values, groups[column].values, f"{column} of {name}")
            assert table[column].lod == groups[column].lod


def test_fill_values_of_numbers_within_rows_stand_at_their_places():
    rows = pyarrow.array([[3, None], [None, 7], [5, 6], [None, 1]], pyarrow.list_(pyarrow.int64(), 2))
    table = pyarrow.table({"k": [1, 1, 2, 2], "f": rows})
    assert lodcore.from_arrow(table, by="k", nulls={"f": [8, 9]})["f"].tolist() == [[[3, 9], [8, 7]], [[5, 6], [8, 1]]]
    assert lodcore.from_arrow(table, by="k", nulls=0)["f"].tolist() == [[[3, 0], [0, 7]], [[5, 6], [0, 1]]]
    masked = lodcore.from_arrow(table, by="k", nulls="mask")
    assert masked.masks["f"].tolist()[0] == [[True, False], [False, True]]


@for_each("options", [{"lists": True}, {"lists": False}])
def test_a_key_with_the_name_of_a_column_is_refused(options):
    x = lodcore.array([[1], [2]])
    for go_out in (to_polars, to_pandas)[: 1 + options["lists"]]:
        with pytest.raises(LoDError, match=r"keys\['k'\]: is the name of a column, too"):
            go_out({"k": x}, {"k": ["a", "b"]}, **options)
    with pytest.raises(LoDError, match=r"keys\['level_0'\]: is the name of a column, too"):
        to_polars({"level_0": x}, lists=False)
    assert to_pandas({"k": x}, {"k": ["a", "b"]})["k"].tolist() == [1, 2]


@for_each("rows", [np.zeros((2, 0)), np.zeros((2, 2, 0)), np.zeros(2, "V0"), np.zeros(2, [("a", [("b", "f8", (0,))])])])
def test_rows_without_entries_are_refused_before_polars_panics(rows):
    x = LoDTensor.from_lengths(rows, [2])
    for columns in (x, {"values": x}, {"values": rows}, x[:0]):
        with pytest.raises(
            DTypeError, match=r"^lodcore.to_polars: columns\['values'\]: has rows of .* without entries"
        ):
            to_polars(columns)
    assert len(to_pandas({"values": x})) == 2
