"""Strings of a fixed width to UTF-8 and back, compared with Python's: byte orders, zeros, widths, many strings."""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDTensor
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

#: At each limit of the number of bytes of a character.
LIMITS = "\x01\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"
WORDS = ["", "a", "a\0b", "\0\0c", "é", "€x", "x€\0é", LIMITS, "", *LIMITS, ""]


@for_each("words", [WORDS, WORDS[:1], ["", ""], ["é"], [], ["a\0b"] * 3])
def test_strings_of_every_kind_are_encoded_in_utf_8_as_by_python(words):
    wanted = [list(word.encode()) for word in words]
    strings = np.array(words, dtype="U12")
    as_bytes = np.array([word.encode() for word in words], dtype="S40")
    wide = np.zeros((len(words), 2), "U12")
    wide[:, 1] = words
    for given in (strings, strings.astype(">U12"), strings.astype("<U12"), as_bytes, wide[:, 1]):
        x = lodcore.encode_utf8(given)
        assert x.tolist() == wanted
        assert x.dtype == np.uint8
    x = lodcore.encode_utf8(strings)
    for dtype, form in ((str, words), (bytes, [word.encode() for word in words])):
        back = lodcore.decode_utf8(x, dtype)
        assert back.tolist() == form
        assert back.dtype.kind == np.dtype(dtype).kind
    if hasattr(np.dtypes, "StringDType"):
        assert lodcore.encode_utf8(strings.astype(np.dtypes.StringDType())).tolist() == wanted


def test_more_strings_than_are_converted_at_once():
    count = 2**16 + 2
    numbers = np.arange(count) % 10
    for given in (numbers.astype("U1"), numbers.astype("S1")):
        x = lodcore.encode_utf8(given)
        assert len(x) == count
        assert np.array_equal(x.values, numbers + ord("0"))
        assert np.array_equal(x.offsets, np.arange(count + 1))


@for_each(
    ("lists", "says"),
    [
        ([[97], [], [97, 0], [98]], "string 2 ends with NUL"),
        ([[], [], [0]], "string 2 ends with NUL"),
        ([[0], [97]], "string 0 ends with NUL"),
        ([[97, 0xC3], [0xA9]], "a string begins inside a character"),
        ([[97], [97, 0xC3], [], [0xA9]], "a string begins inside a character"),
        ([[97], [0xFF]], "is not UTF-8 at byte 1"),
    ],
)
def test_bytes_that_are_no_strings(lists, says):
    x = lodcore.array(lists, np.uint8)
    with pytest.raises(DTypeError, match=says):
        lodcore.decode_utf8(x)
    if "NUL" in says:
        with pytest.raises(DTypeError, match=says):
            lodcore.decode_utf8(x, bytes)


def test_strings_that_are_no_text():
    for lone in ("\ud800", "a\udfff"):
        with pytest.raises(DTypeError, match="is not text"):
            lodcore.encode_utf8(np.array(["ok", lone]))


def test_arrays_of_strings_of_several_kinds_are_refused():
    if not hasattr(np.dtypes, "StringDType"):
        return
    text = np.array(["ab", "c"], np.dtypes.StringDType())
    assert lodcore.array([text, text[:1]]).tolist() == [[[97, 98], [99]], [[97, 98]]]
    for arrays in ([text, np.array(["b"])], [np.array(["b"]), text], [text[:, None], text[:, None]]):
        with pytest.raises(DTypeError, match=r"StringDType.*encode_utf8 makes bytes of strings"):
            lodcore.array(arrays)


def test_tensors_of_records_with_strings_keep_them():
    x = LoDTensor.from_lengths(np.array([("é", 1)], "U2,i4"), [1])
    assert x.tolist() == [[("é", 1)]]
