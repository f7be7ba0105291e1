"""Vocabularies of text from other libraries."""

import pytest

from lodcore import DTypeError, LoDError, Vocabulary
from tests.helpers.libraries import MARKS, imported, may_be_missing

pandas, polars, pyarrow = (imported(name) for name in ("pandas", "polars", "pyarrow"))
if may_be_missing("pyarrow"):
    pytest.skip("pandas needs pyarrow for one of these", allow_module_level=True)
pytestmark = MARKS

FLAT, NESTED = ["a", "bé", "a"], [["a", "bé"], [], ["a"]]
FORMS = {
    "pandas": (pandas.Series(FLAT), FLAT),
    "pandas of objects": (pandas.Series(FLAT, dtype=object), FLAT),
    "pandas of Arrow": (pandas.Series(FLAT, dtype="string[pyarrow]"), FLAT),
    "pandas of categories": (pandas.Series(FLAT, dtype="category"), FLAT),
    "pandas, another index": (pandas.Series(FLAT, index=[5, 2, 9]), FLAT),
    "Index": (pandas.Index(FLAT), FLAT),
    "pandas of lists": (pandas.Series(NESTED), NESTED),
    "Polars": (polars.Series(FLAT), FLAT),
    "Polars of lists": (polars.Series(NESTED), NESTED),
    "Arrow": (pyarrow.array(FLAT), FLAT),
    "Arrow, large": (pyarrow.array(FLAT, pyarrow.large_string()), FLAT),
    "Arrow, chunked": (pyarrow.chunked_array([FLAT[:1], FLAT[1:]]), FLAT),
    "Arrow, a slice": (pyarrow.array(["c", *FLAT])[1:], FLAT),
    "Arrow of lists": (pyarrow.array(NESTED), NESTED),
}


@pytest.mark.parametrize("form", FORMS)
def test_text_of_another_library(form):
    given, lists = FORMS[form]
    vocabulary = Vocabulary.fit(given)
    assert vocabulary.tokens == ["<unk>", "a", "bé"]
    assert vocabulary.counts.tolist() == [0, 2, 1]
    assert vocabulary.encode(given).tolist() == vocabulary.encode(lists).tolist()
    if lists is FLAT:
        assert Vocabulary(given[:2]).tokens == ["a", "bé"]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (pandas.Series(["a", None]), LoDError, "data: row 1 is null"),
        (
            pandas.Index(["a", pandas.NA], dtype=object),
            DTypeError,
            "entry 1 is <NA>; strings are needed; drop what is missing",
        ),
        (["a", pandas.NaT], DTypeError, "entry 1 is NaT; strings are needed; drop what is missing"),
        (pandas.Series([1, 2]), DTypeError, "has dtype int64; strings"),
        (pandas.DataFrame({"t": FLAT}), DTypeError, "is DataFrame, which makes dict; an array or lists of strings"),
        (pyarrow.array(["a", None]), LoDError, "sequence 1 of level 0 is null"),
        (pyarrow.array([1, 2]), DTypeError, "has dtype int64; strings"),
    ],
)
def test_vocabulary_fit_refuses_all_but_texts(given, error, says):
    with pytest.raises(error, match=says):
        Vocabulary.fit(given)
