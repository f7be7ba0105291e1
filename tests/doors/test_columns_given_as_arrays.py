"""Columns of other libraries given as arrays: text is text, and nothing missing becomes a number."""

import datetime

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor
from lodcore.errors import DTypeError, LoDError
from lodcore.interop import Groups
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

pandas, polars, pyarrow = (imported(name) for name in ("pandas", "polars", "pyarrow"))
pytestmark = MARKS


def chunks_of_a_dictionary(*chunks):
    """Return a column of Arrow of several chunks, each with its own dictionary."""
    kind = pyarrow.array(chunks[0]).type
    return pyarrow.chunked_array([pyarrow.array(chunk, kind).dictionary_encode() for chunk in chunks])


HUGE = [2**60, 2**60 + 1, None]
INTEGERS = {
    "Polars": lambda: polars.Series(HUGE),
    "pandas": lambda: pandas.array(HUGE, dtype="Int64"),
    "a Series of pandas": lambda: pandas.Series(HUGE, dtype="Int64"),
    "pandas with Arrow": lambda: pandas.Series(HUGE, dtype=pandas.ArrowDtype(pyarrow.int64())),
    "categories": lambda: pandas.Categorical([1, 2, None]),
    "pyarrow": lambda: pyarrow.array(HUGE),
    "a dictionary": lambda: pyarrow.array([1, 2, None]).dictionary_encode(),
    "chunks": lambda: pyarrow.chunked_array([[1], [2, None]]),
    "chunks of a dictionary": lambda: chunks_of_a_dictionary([1, 2], [None]),
    "a dictionary with a null": lambda: pyarrow.array([1, 2, None]).dictionary_encode(null_encoding="encode"),
    "a dictionary in pandas": lambda: pandas.Series(
        pandas.arrays.ArrowExtensionArray(chunks_of_a_dictionary([1, 2], [None]))
    ),
    "runs": lambda: pyarrow.RunEndEncodedArray.from_arrays(pyarrow.array([2, 3]), pyarrow.array([1, None])),
}
BOOLS = {
    "Polars": lambda: polars.Series([True, False, None]),
    "pandas": lambda: pandas.array([True, False, None], dtype="boolean"),
    "pyarrow": lambda: pyarrow.array([True, False, None]),
}
TEXT = {
    "Polars": polars.Series,
    "categories of Polars": lambda words: polars.Series(words, dtype=polars.Categorical),
    "pandas": lambda words: pandas.Series(words, dtype="str"),
    "objects": lambda words: pandas.Series(words, dtype=object),
    "an Index": pandas.Index,
    "categories": pandas.Categorical,
    "a Series of categories": lambda words: pandas.Series(words, dtype="category"),
    "pandas with Arrow": lambda words: pandas.Series(words, dtype=pandas.ArrowDtype(pyarrow.string())),
    "pyarrow": pyarrow.array,
    "chunks": lambda words: pyarrow.chunked_array([words[:1], words[1:]]),
    "chunks of a dictionary": lambda words: chunks_of_a_dictionary(words[:1], words[1:]),
}
X = lodcore.array([["b"], [], ["a", "b"]])
G = Groups({"v": lodcore.array([[1], [], [2, 3]])}, {"k": [1, 2, 3]})
#: Calls with a column of three entries, and the name of the argument.
CALLS = [
    (lambda c: lodcore.group_by(c, [1, 2, 3]), "group_by: key"),
    (lambda c: lodcore.group_by([1, 2, 1], c), "group_by: column 0"),
    (lambda c: lodcore.group_by((c, [1, 2, 1]), [1, 2, 3]), r"group_by: key\[0\]"),
    (lambda c: lodcore.group_rows(c), "group_rows: key"),
    (lambda c: lodcore.match_keys(c, c), "match_keys: x_keys"),
    (lambda c: lodcore.implode(c, [1, 2, 3]), "implode: key"),
    (lambda c: LoDTensor.from_lengths(c, [2, 1]), "LoDTensor.from_lengths: values"),
    (lambda c: Groups({"v": G["v"]}, {"k": c}), r"Groups: keys\['k'\]"),
    (lambda c: G.with_columns(z=c)["z"], "Groups.with_columns: z"),
    (lambda c: lodcore.to_pandas({"v": G["v"], "z": c})["z"].tolist(), r"lodcore.to_pandas: columns\['z'\]"),
]


def plain(x):
    """Return results as lists."""
    if isinstance(x, tuple):
        return [plain(one) for one in x]
    if isinstance(x, Groups):
        return [plain(x[name]) for name in x]
    return x.tolist() if hasattr(x, "tolist") else x


@for_each(("call", "where"), CALLS)
def test_a_missing_integer_or_bool_is_refused_with_its_row(call, where):
    for columns, kind in ((INTEGERS, "integers"), (BOOLS, "bools")):
        for make in columns.values():
            with pytest.raises(LoDError, match=f"^{where}: row 2 is null; {kind} have no value for it"):
                call(make())


@for_each(("call", "where"), CALLS)
def test_text_is_taken_from_every_library(call, where):
    wanted = plain(call(np.array(["b", "a", "b"])))
    for make in TEXT.values():
        assert plain(call(make(["b", "a", "b"]))) == wanted
        with pytest.raises(LoDError, match=f"^{where}: row 1 is null; text has no value for it"):
            call(make(["b", None, "b"]))
        with pytest.raises(DTypeError, match=rf"^{where}: value 1 is 'a\\x00', whose NUL at the end"):
            call(make(["b", "a\0", "b"]))
    if "to_pandas" not in where:  # which pandas itself takes
        with pytest.raises(DTypeError, match=rf'^{where}: has dtype object; .*; .astype\("U"\) makes text of them'):
            call(np.array(["b", "a", "b"], object))


@for_each("name", TEXT)
def test_sequences_of_text_are_compared_with_a_column(name):
    x = lodcore.array([["b", "a"], ["c", "a"]])
    assert (x == x.per_sequence(TEXT[name](["b", "a"]))).tolist() == [[True, False], [False, True]]
    assert (X[:, :1] == TEXT[name](["b"])).tolist() == [[True], [], [False]]
    assert np.isin(X, TEXT[name](["b"])).tolist() == [[True], [], [False, True]]


@for_each(
    "column",
    [
        lambda: polars.Series([1.5, None]),
        lambda: pandas.array([1.5, None], dtype="Float64"),
        lambda: pandas.Series([1.5, None]),
        lambda: pyarrow.array([1.5, None]),
        lambda: chunks_of_a_dictionary([1.5], [None]),
    ],
)
def test_missing_floats_are_nan(column):
    assert repr(LoDTensor.from_lengths(column(), [2]).tolist()) == "[[1.5, nan]]"


@for_each(
    "make", [lambda x: polars.Series(x), lambda x: pyarrow.array(x), lambda x: pandas.to_datetime(pandas.Series(x))]
)
def test_missing_dates_are_nat(make):
    found = LoDTensor.from_lengths(make([datetime.date(2024, 1, 2), None]), [2]).values
    assert np.isnat(found).tolist() == [False, True]


def test_columns_without_rows_keep_their_kind():
    for column in (polars.Series([], dtype=polars.String), pyarrow.array([], pyarrow.string()), TEXT["pandas"]([])):
        assert LoDTensor.from_lengths(column, [0]).dtype == np.dtype("U1")
    for column in (polars.Series([], dtype=polars.Int64), pyarrow.array([], pyarrow.int64())):
        assert LoDTensor.from_lengths(column, [0]).dtype == np.dtype("i8")


def test_a_column_of_missing_text_alone_is_refused():
    for column in (pyarrow.array([None], pyarrow.string()), TEXT["pandas"]([None])):
        with pytest.raises(LoDError, match="values: row 0 is null; text has no value"):
            LoDTensor.from_lengths(column, [1])


def test_bytes_and_tables():
    assert LoDTensor.from_lengths(pyarrow.array([b"ab", b"c"]), [2]).tolist() == [[b"ab", b"c"]]
    tables = [
        polars.DataFrame({"a": [1, 2], "b": [1, None]}),
        pandas.DataFrame({"a": [1, 2], "b": pandas.array([1, None], dtype="Int64")}),
        pyarrow.table({"a": [1, 2], "b": [1, None]}),
    ]
    for table in tables:
        with pytest.raises(LoDError, match="values: column 'b': row 1 is null; integers have no value"):
            LoDTensor.from_lengths(table, [2])
    assert LoDTensor.from_lengths(polars.DataFrame({"a": [1, 2], "b": [3, 4]}), [2]).tolist() == [[[1, 3], [2, 4]]]


@for_each(
    "objects",
    [
        lambda: pandas.Series(["a", 1], dtype=object),
        lambda: pandas.Series([[1], [2]]),
        lambda: pandas.MultiIndex.from_tuples([(1, "a"), (2, "b")]),
        lambda: pyarrow.array([[1], [2, 3]]),
        lambda: polars.Series([[1], [2, 3]]),
    ],
)
def test_other_objects_are_refused(objects):
    with pytest.raises(DTypeError, match=r"^group_by: key: has dtype object; Python objects have no fixed size"):
        lodcore.group_by(objects(), [1, 2])


SEQUENCES = lodcore.array([[1, 2], [3], [4, 5]])
VECTORS = {
    "Polars": polars.Series,
    "pandas": pandas.Series,
    "an Index": pandas.Index,
    "pandas with missing values": lambda x: pandas.array(x, dtype="boolean" if x[0] is True else "Int64"),
    "pyarrow": pyarrow.array,
    "torch": imported("torch").tensor,
}


@for_each("name", VECTORS)
def test_sequences_are_chosen_by_a_column(name):
    for given in ([True, False, True], [2, 0], [-1]):
        key = VECTORS[name](given)
        assert SEQUENCES[key].equals(SEQUENCES[given])
        changed, wanted = SEQUENCES.copy(), SEQUENCES.copy()
        changed[key] = wanted[given] = 0
        assert changed.equals(wanted)
    assert SEQUENCES[:, VECTORS[name]([0, 0])].equals(SEQUENCES[:, [0, 0]])
    assert SEQUENCES[VECTORS[name]([2, 1]), 0].tolist() == [4, 3]
    if name not in ("an Index", "torch"):
        for given, kind in (([True, None, False], "bools"), ([1, None], "integers")):
            if name != "pandas":
                for x, where in ((SEQUENCES, "index"), (G, "Groups: index")):
                    with pytest.raises(LoDError, match=f"^{where}: row 1 is null; {kind} have no value"):
                        x[VECTORS[name](given)]


@for_each(
    ("key", "says"),
    [
        (lambda: pandas.Series([1.5]), "has dtype float64; integers or bool are needed"),
        (lambda: polars.Series(["a"]), "has dtype <U1; integers or bool are needed"),
        (lambda: pandas.DataFrame({"a": [1]}), "is DataFrame; integers, slices, masks and vectors of integers"),
        (lambda: {"a\n": list(range(100))}, r"is {'a\\n': .*\.\.\.; integers, slices, masks and vectors of integers"),
        (lambda: type("Lines", (), {"__repr__": lambda self: "a\n  b"})(), "is a b; integers, slices, masks"),
    ],
)
def test_other_objects_are_no_index_and_the_message_is_one_line(key, says):
    with pytest.raises(TypeError, match=f"^index: {says}") as caught:
        SEQUENCES[key()]
    assert "\n" not in str(caught.value)


def test_a_list_of_columns_is_a_list_of_sequences():
    frame = pandas.DataFrame({"u": [1, 1, 2], "v": [1, 2, 3], "w": ["a", "b", "c"]})
    parts = [part for _, part in frame.groupby("u")]
    assert lodcore.array([part["v"] for part in parts]).tolist() == [[1, 2], [3]]
    assert lodcore.array([part["w"] for part in parts]).tolist() == [["a", "b"], ["c"]]
    for name in ("Polars", "pyarrow", "torch"):
        make = VECTORS[name]
        assert lodcore.array([make([1, 2]), make([3])]).tolist() == [[1, 2], [3]]
        assert lodcore.array([[make([1, 2])], [], [make([3]), make([4])]]).tolist() == [[[1, 2]], [], [[3], [4]]]
        assert lodcore.array([make([1, 2]), np.array([3])]).tolist() == [[1, 2], [3]]
    torch = imported("torch")
    assert lodcore.array([torch.ones(2, 3), torch.ones(0, 3)]).shape == (2, None, 3)
    assert lodcore.array([[torch.tensor(1)], [torch.tensor(2)]]).tolist() == [[1], [2]]
    for obj, error, text in (
        ([polars.Series([1, None])], LoDError, "entry 0: row 1 is null; integers have no value"),
        ([pandas.Series([[1], [2]])], DTypeError, "entry 0: has dtype object"),
        ([torch.ones(1, requires_grad=True)], DTypeError, "entry 0 is Tensor: Can't call numpy"),
        ([torch.ones(1), [1]], ValueError, "entry 1 at depth 1 is list"),
    ):
        with pytest.raises(error, match=f"^lodcore.array: obj: {text}"):
            lodcore.array(obj)


#: Calls with a vector of integers, and the name of the argument.
VECTORS_OF_INTEGERS = [
    (lodcore.LoD.from_lengths, r"LoD.from_lengths: lengths\[0\]"),
    (lodcore.LoD.from_segment_ids, "LoD.from_segment_ids: ids"),
    (lambda c: LoDTensor.from_lengths(np.arange(3), c), r"LoD.from_lengths: lengths\[0\]"),
    (lambda c: LoDTensor.from_padded(np.ones((3, 2)), c), "LoDTensor.from_padded: lengths"),
    (lambda c: lodcore.gather_sequences(SEQUENCES, c), "gather_sequences: index"),
    (lambda c: SEQUENCES[c], "index"),
    (lambda c: G[c], "Groups: index"),
    (lambda c: SEQUENCES + SEQUENCES.per_sequence(c), "per_sequence: v"),
    (lambda c: np.isin(SEQUENCES, c), "isin: test_elements"),
    (lambda c: SEQUENCES.copy().__setitem__(slice(None), c), "assignment: value"),
]


@for_each(("call", "where"), VECTORS_OF_INTEGERS)
def test_lengths_and_indices_may_not_be_missing(call, where):
    for make in INTEGERS.values():
        with pytest.raises(LoDError, match=f"^{where}: row 2 is null; integers have no value for it"):
            call(make())


@for_each(
    ("call", "where"),
    [
        (lambda m: G[m], "Groups: index"),
        (lambda m: SEQUENCES.copy().__setitem__(0, m[:2]), "assignment: value"),
        (lambda m: np.isin(SEQUENCES, m), "isin: test_elements"),
        (lambda m: LoDTensor.from_lengths(m, [3]), "LoDTensor.from_lengths: values"),
        (lambda m: lodcore.LoD.from_lengths(m), r"LoD.from_lengths: lengths\[0\]"),
    ],
)
def test_a_masked_array_is_refused(call, where):
    with pytest.raises(DTypeError, match=f"^{where}: is a masked array; fill or drop the masked entries first"):
        call(np.ma.array([1, 2, 0], mask=[False, True, False]))


@for_each("name", TEXT)
def test_text_of_every_library_is_assigned(name):
    x = lodcore.array([["x", "y"], ["z"]])
    x[0] = TEXT[name](["b", "a"])
    assert x.tolist() == [["b", "a"], ["z"]]
    with pytest.raises(LoDError, match=r"^assignment: value: row 1 is null; text has no value for it"):
        x[0] = TEXT[name](["b", None])
    with pytest.raises(DTypeError, match=r"^assignment: value: is 'long'; <U1 cannot hold it"):
        x[0] = TEXT[name](["b", "long"])
    assert x.tolist() == [["b", "a"], ["z"]]


def test_integers_of_128_bits_are_refused():
    with pytest.raises(DTypeError, match=r"^lodcore.array: obj: entry 0: is a Series: cannot convert i128"):
        lodcore.array([polars.Series([1], dtype=polars.Int128)])
