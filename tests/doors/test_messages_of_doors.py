"""What the doors say of wrong arguments: they name the argument, the column and the rule."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, from_arrow, from_pandas, from_polars, to_pandas, to_polars
from lodcore.errors import DTypeError, LoDError
from lodcore.interop import load_from_group, save_to_group
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

pandas, polars, pyarrow, h5py = (imported(name) for name in ("pandas", "polars", "pyarrow", "h5py"))
pytestmark = MARKS

X = lodcore.array([[1], [2]])
FRAME = pandas.DataFrame({"k": [1, 1], "v": [1, 2]})
TABLE = polars.DataFrame({"k": [1, 1], "n": [1, None], "s": ["a", None]})
RECORDS = polars.DataFrame({"k": [1, 1], "c": [{"a": 1, "b": "x"}, {"a": 2, "b": None}]})


@for_each(
    ("table", "name"),
    [
        (FRAME, "from_pandas"),
        (TABLE.fill_null(0).fill_null("a"), "from_polars"),
        (pyarrow.table({"k": [1, 1], "v": [3, 4]}), "from_arrow"),
    ],
)
def test_array_of_a_table_or_a_flat_column_names_what_takes_it(table, name):
    with pytest.raises(
        DTypeError,
        match=rf"^lodcore.array: obj: is a \w+, no array of sequences; lodcore.{name}\(obj, by='key'\) makes",
    ):
        lodcore.array(table)
    assert getattr(lodcore, name)(table, by="k", nulls=0)["k"].tolist() == [1]
    if name != "from_arrow":
        with pytest.raises(DTypeError, match=r"^lodcore.array: obj: is a Series, .*; LoDTensor.from_lengths\(obj, len"):
            lodcore.array(table["k"])
        assert LoDTensor.from_lengths(table["k"], [2, 0]).tolist() == [[1, 1], []]


@for_each(
    ("call", "error", "says"),
    [
        (lambda: from_pandas(FRAME, by=FRAME.v), DTypeError, "lodcore.from_pandas: by: is Series; the name of a col"),
        (lambda: from_pandas(FRAME, by={"k"}), DTypeError, "lodcore.from_pandas: by: is set; the name of a column"),
        (lambda: from_polars(TABLE, by=TABLE["k"]), DTypeError, "lodcore.from_polars: by: is Series; the name of a"),
        (lambda: from_polars(TABLE, by=polars.col("k")), KeyError, ".*by: .* is not a column"),
        (lambda: from_arrow(TABLE.to_arrow(), by=[["k"]]), DTypeError, "lodcore.from_arrow: by: is list; the name"),
        (lambda: from_pandas(FRAME, by="k", nulls="q"), ValueError, "lodcore.from_pandas: nulls: is 'q'; .*; no colu"),
        (
            lambda: from_pandas(FRAME, by="k", nulls={"v": "q"}),
            ValueError,
            r"lodcore.from_pandas: nulls\['v'\]: is 'q'; .* or a fill value is needed; the column holds int64",
        ),
        (
            lambda: from_polars(TABLE, by="k", nulls="?"),
            DTypeError,
            r"lodcore.from_polars: nulls\['n'\]: is '\?'; int64 cannot hold it",
        ),
        (
            lambda: from_arrow(TABLE.to_arrow(), "?", strings="fixed"),
            DTypeError,
            r"lodcore.from_arrow: nulls\[n\]: is '\?'; int64 cannot hold it",
        ),
        (
            lambda: from_arrow(pyarrow.array([pyarrow.scalar((1, 2, 3), pyarrow.month_day_nano_interval())])),
            DTypeError,
            r"lodcore.from_arrow: obj: has format 'tin' \(interval of months, days and nanoseconds\), which NumPy",
        ),
        (
            lambda: from_arrow(pyarrow.RunEndEncodedArray.from_arrays(pyarrow.array([2]), pyarrow.array([1]))),
            DTypeError,
            r"lodcore.from_arrow: obj: has format '\+r' \(run-end encoding\), which NumPy",
        ),
    ],
)
def test_what_is_said(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_text_fills_text_in_records():
    assert from_polars(RECORDS, by="k", nulls="?")["c"].tolist() == [[(1, "x"), (2, "?")]]
    assert from_polars(RECORDS, by="k", nulls={"c": "?"})["c"].tolist() == [[(1, "x"), (2, "?")]]


def test_numbers_of_the_other_byte_order_go_out():
    keys, weights = np.array([1, 2], ">i8"), np.array([0.5, 1.5], ">f8")
    for table in (
        to_pandas({"x": X, "w": weights}, {"k": keys}),
        to_pandas({"x": X, "w": weights}, {"k": keys}, lists=True),
    ):
        assert table.index.get_level_values("k").tolist() == [1, 2]
        assert table["w"].sum() == 2
    assert to_polars({"x": X, "w": weights}, {"k": keys}, lists=False)["w"].to_list() == [0.5, 1.5]


def test_a_group_is_written_once(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        save_to_group(file, X)
        with pytest.raises(LoDError, match=r"^lodcore.interop.save_to_group: group: has 'values' already; delete it"):
            save_to_group(file, X + 1)
        assert load_from_group(file).equals(X)
        del file["values"]
        with pytest.raises(LoDError, match=r"group: has 'offsets_0' already"):
            save_to_group(file, X)
