"""Text as bytes with a level, and vocabularies, compared with dicts and strings of Python."""

import collections
import io
import pickle
import re
import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, ShapeError, Vocabulary, decode_utf8, encode_utf8

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
WORDS = st.lists(TEXT | st.sampled_from(["a", "b", "é", "the", "日本語", "a longer word than eight"]), max_size=12)
NESTED = st.lists(WORDS, min_size=1, max_size=5)
KINDS = ["lists", "U", "bytes"]


def given_as(kind, nested):
    """Return nested lists of words in one of the forms that text may have."""
    if kind == "lists":
        return nested
    flat = [word for words in nested for word in words]
    x = LoDTensor.from_lengths(np.array(flat, "U30") if flat else np.zeros(0, "U1"), [len(words) for words in nested])
    return x if kind == "U" else encode_utf8(x)


def fitted(nested, min_count=1, max_size=None, special=("<unk>",)):
    """Choose words as a vocabulary does, with a Counter."""
    counts = collections.Counter(word for words in nested for word in words)
    common = [word for word, count in counts.most_common() if count >= min_count and word not in special]
    return [*special, *(common if max_size is None else common[: max(max_size - len(special), 0)])]


@given(NESTED)
def test_decode_utf8_of_encode_utf8_gives_the_text(nested):
    made = encode_utf8(given_as("U", nested))
    assert made.num_levels == 2
    assert made.tolist() == [[list(word.encode()) for word in words] for words in nested]
    assert decode_utf8(made).tolist() == nested
    raw = decode_utf8(made, bytes)
    assert raw.tolist() == [[word.encode() for word in words] for words in nested]
    assert encode_utf8(raw).equals(made)


@given(WORDS)
def test_encode_and_decode_of_text_without_levels(words):
    made = encode_utf8(words)
    assert [bytes(word).decode() for word in made.tolist()] == words
    assert decode_utf8(made).tolist() == words
    objects = decode_utf8(made, np.dtypes.StringDType())
    assert objects.dtype.kind == "T"
    assert objects.tolist() == words
    assert encode_utf8(objects).equals(made)


@given(NESTED)
def test_arrays_of_strings_of_any_size_come_in_as_bytes(nested):
    arrays = [np.array(words, np.dtypes.StringDType()) for words in nested]
    made = lodcore.array(arrays)
    assert made.equals(encode_utf8(given_as("U", nested)))


@given(NESTED, NESTED, st.sampled_from(KINDS), st.integers(1, 3), st.none() | st.integers(0, 6))
def test_vocabulary_numbers_words_as_a_dict(nested, others, kind, min_count, max_size):
    vocabulary = Vocabulary.fit(given_as(kind, nested), min_count, max_size)
    want = fitted(nested, min_count, max_size)
    assert vocabulary.tokens == want
    assert len(vocabulary) == len(want)
    counts = collections.Counter(word for words in nested for word in words)
    assert vocabulary.counts.tolist() == [counts[word] for word in want]
    ids = vocabulary.encode(given_as(kind, others))
    numbers = {word: number for number, word in enumerate(want)}
    assert ids.tolist() == [[numbers.get(word, 0) for word in words] for words in others]
    assert vocabulary.decode(ids).tolist() == [[want[j] for j in words] for words in ids.tolist()]
    assert decode_utf8(vocabulary.decode(ids, np.uint8)).equals(vocabulary.decode(ids))
    for word in [*want, *(word for words in others for word in words)]:
        assert vocabulary[word] == numbers.get(word, 0)
        assert (word in vocabulary) == (word in numbers)
    again = pickle.loads(pickle.dumps(vocabulary))
    assert (again.tokens, again.unknown_id, again.counts.tolist()) == (want, 0, vocabulary.counts.tolist())


@given(
    NESTED,
    st.lists(TEXT | st.sampled_from(["a", "b", "é", "the"]), max_size=3, unique=True),
    st.integers(1, 3),
    st.none() | st.integers(0, 7),
)
def test_vocabulary_fit_puts_special_words_first_with_their_counts(nested, special, min_count, max_size):
    special = [word for word in special if word != "?"]
    counts = collections.Counter(word for words in nested for word in words)
    for unknown in ("?", None):
        vocabulary = Vocabulary.fit(nested, min_count, max_size, unknown=unknown, special=special)
        first = special if unknown is None else [unknown, *special]
        assert vocabulary.tokens == fitted(nested, min_count, max_size, tuple(first))
        assert vocabulary.counts.tolist() == [counts[word] for word in vocabulary.tokens]


@pytest.mark.parametrize("max_size", range(7))
@pytest.mark.parametrize("unknown", ["<unk>", None])
def test_special_words_are_part_of_the_size(unknown, max_size):
    first = [*([] if unknown is None else [unknown]), "<s>", "</s>"]
    vocabulary = Vocabulary.fit(
        [["a", "b", "a", "c", "a", "b"]], max_size=max_size, unknown=unknown, special=first[-2:]
    )
    assert vocabulary.tokens == [*first, *["a", "b", "c"][: max(max_size - len(first), 0)]]


def test_counts_of_special_words_are_theirs():
    text = [["b", "</s>", "a"], ["b", "<s>", "<s>", "b", "<s>", "b"]]
    for special in (["<s>", "</s>"], ["</s>", "<s>"], ["x", "b", "</s>"]):
        vocabulary = Vocabulary.fit(text, special=special)
        counts = dict(zip(vocabulary.tokens, vocabulary.counts.tolist(), strict=True))
        assert counts == {"<unk>": 0, **dict.fromkeys(special, 0), "b": 4, "<s>": 3, "a": 1, "</s>": 1}


@pytest.mark.twins
def test_iterating_over_a_vocabulary_gives_its_words():
    vocabulary = Vocabulary.fit([["b", "a", "b"], []])
    assert list(vocabulary) == vocabulary.tokens == ["<unk>", "b", "a"]
    assert [vocabulary[word] for word in vocabulary] == [0, 1, 2]


def test_vocabulary_of_many_words():
    random = np.random.default_rng(3)
    words = random.integers(0, 30_000, 200_000).astype("U")
    lengths = np.full(2_000, 100)
    x = LoDTensor.from_lengths(words, lengths)
    vocabulary = Vocabulary.fit(x)
    want = [word for word, _ in collections.Counter(words.tolist()).most_common()]
    assert vocabulary.tokens == ["<unk>", *want]
    assert vocabulary.decode(vocabulary.encode(x)).tolist() == x.tolist()
    assert vocabulary.counts.sum() == len(words)


def test_vocabulary_load_gives_the_vocabulary_that_was_saved():
    vocabulary = Vocabulary.fit([["b", "a", "b"]], special=["<s>"])
    with tempfile.TemporaryDirectory() as folder:
        vocabulary.save(f"{folder}/words.npz")
        again = Vocabulary.load(f"{folder}/words.npz")
        assert again.tokens == ["<unk>", "<s>", "b", "a"]
        assert again.encode(["a", "x"]).tolist() == [3, 0]
        assert repr(again) == "Vocabulary(4 words: '<unk>', '<s>', 'b', 'a', unknown '<unk>')"
        lodcore.save(f"{folder}/other.npz", {"words": np.zeros(1)})
        with pytest.raises(ValueError, match="holds no Vocabulary"):
            Vocabulary.load(f"{folder}/other.npz")


@pytest.mark.parametrize("dtype", [None, str, bytes])
@pytest.mark.parametrize("words", [["a", "b\0"], ["", "\0"], ["long", "é\0", "c\0"]])
def test_text_that_ends_with_nul_is_refused_where_numpy_would_drop_it(words, dtype):
    made = LoDTensor.from_lengths(
        np.frombuffer("".join(words).encode(), np.uint8), [len(word.encode()) for word in words]
    )
    with pytest.raises(DTypeError, match="string 1 ends with NUL, which NumPy drops"):
        decode_utf8(made, *([] if dtype is None else [dtype]))
    assert decode_utf8(made, np.dtypes.StringDType()).tolist() == words
    assert decode_utf8(made[:1], *([] if dtype is None else [dtype])).tolist() in (words[:1], [words[0].encode()])


@pytest.mark.parametrize("unknown", [None, "b"])
def test_numbers_of_words(unknown):
    vocabulary = Vocabulary(["a", "b", "c"], unknown=unknown)
    assert [vocabulary[word] for word in ["a", "b", "c", b"a"]] == [0, 1, 2, 0]
    assert [word in vocabulary for word in ["a", "c", b"b", "d", 0, None]] == [True, True, True, False, False, False]
    if unknown is None:
        with pytest.raises(KeyError, match="'d' is not in the vocabulary"):
            vocabulary["d"]
    else:
        assert vocabulary["d"] == vocabulary[b"d"] == 1


@pytest.mark.parametrize("dtype", [str, bytes])
def test_one_level_is_decoded_to_an_array(dtype):
    """As many levels as the bytes have, without the last."""
    words = ["an", "", "a"]
    flat, nested = decode_utf8(encode_utf8(words), dtype), decode_utf8(encode_utf8([words, []]), dtype)
    assert type(flat) is np.ndarray
    assert (
        flat.tolist() == nested.values.tolist() == [dtype(word, "ascii") if dtype is bytes else word for word in words]
    )
    assert type(nested) is LoDTensor
    assert nested.lod == lodcore.LoD.from_lengths([3, 0])


def test_text_functions_of_empty_batches():
    vocabulary = Vocabulary.fit([])
    assert vocabulary.tokens == ["<unk>"]
    assert vocabulary.encode([[], []]).tolist() == [[], []]
    assert vocabulary.encode([]).tolist() == []
    assert vocabulary.decode([]).tolist() == []
    assert Vocabulary([]).tokens == []
    assert encode_utf8([]).tolist() == []


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: encode_utf8([[1, 2]]), DTypeError, "encode_utf8: x: has dtype int64; strings"),
        (lambda: encode_utf8(np.zeros(2)), DTypeError, "encode_utf8: x: has dtype float64; strings"),
        (lambda: encode_utf8(["\ud800"]), DTypeError, "encode_utf8: x: is not text"),
        (lambda: encode_utf8("a"), DTypeError, "encode_utf8: x: is str; an array or lists of strings"),
        (lambda: encode_utf8(np.array([["a"]])), ShapeError, r"encode_utf8: x: .* shape \(1, 1\); one string per row"),
        (lambda: Vocabulary("a"), DTypeError, "Vocabulary: words: is str; an array or lists"),
        (lambda: Vocabulary.fit(None), DTypeError, "Vocabulary.fit: x: is NoneType; an array or lists"),
        (lambda: Vocabulary(["a"]).encode(np.array("a")), DTypeError, "encode: x: is ndarray; an array or lists"),
        (
            lambda: decode_utf8(lodcore.array([[[97]]], "u1"), np.dtypes.StringDType()),
            DTypeError,
            "StringDType.*, whose values have no fixed size; str or bytes is needed",
        ),
        (
            lambda: decode_utf8(lodcore.array([[97], [200]], "u1"), np.dtypes.StringDType()),
            DTypeError,
            "decode_utf8: x: string 1 is not UTF-8",
        ),
        (lambda: Vocabulary([["a"], ["b"]]), LoDError, "Vocabulary: words: have 1 level above the words; a flat list"),
        (lambda: decode_utf8(LoDTensor.from_lengths(np.full((3, 2), 97, "u1"), [3])), DTypeError, "sequences of uint8"),
        (lambda: decode_utf8(np.full(3, 97, "u1")), DTypeError, "decode_utf8: x: "),
        (lambda: decode_utf8([[1, 2]]), DTypeError, "decode_utf8: x: has dtype int64 and 1 level"),
        (lambda: decode_utf8(lodcore.array([[200]], "u1")), DTypeError, "decode_utf8: x: is not UTF-8 at byte 0"),
        (lambda: decode_utf8(lodcore.array([[97, 0]], "u1")), DTypeError, "string 0 ends with NUL"),
        (lambda: decode_utf8(encode_utf8(["a"]), int), DTypeError, "decode_utf8: dtype: is int64; str"),
        (lambda: Vocabulary(["a", "b", "a"]), ValueError, "words: has 'a' at position 2 and before"),
        (lambda: Vocabulary(["a"], unknown="b"), ValueError, "unknown: is 'b', which is not among"),
        (lambda: Vocabulary(["a"], counts=[1, 2]), ValueError, "counts: has 2 entries; there is 1 word"),
        (lambda: Vocabulary(["a"]).encode(["a", "b"]), KeyError, "x: word 1 is 'b', which is not"),
        (lambda: Vocabulary(["a"])["b"], KeyError, "'b' is not in the vocabulary"),
        (lambda: Vocabulary(["a"])[1], DTypeError, "word: is int; a str is needed"),
        (lambda: Vocabulary(["a"]).decode([[0, 1]]), IndexError, r"ids: is 1 at row 1; 0 \.\. 0 is valid"),
        (lambda: Vocabulary(["a"]).decode([-1]), IndexError, "ids: is -1 at row 0"),
        (lambda: Vocabulary(["a"]).decode([0, 9]), IndexError, r"ids: is 9 at row 1; 0 \.\. 0 is valid"),
        (lambda: Vocabulary.fit(["a"], min_count=1.5), DTypeError, "min_count"),
    ],
)
def test_wrong_calls_of_vocabularies_name_argument_and_value(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_arrays_of_strings_of_python_are_lists_of_them():
    flat, nested = np.array(["a", "b", "a"], object), np.empty(2, object)
    nested[:] = [["a"], ["b", "a"]]
    for text in (flat, nested):
        assert Vocabulary.fit(text).tokens == ["<unk>", "a", "b"]
    assert Vocabulary(["a", "b"]).encode(flat).tolist() == [0, 1, 0]
    assert Vocabulary(["a", "b"]).encode(nested).tolist() == [[0], [1, 0]]


@pytest.mark.parametrize("other", [None, float("nan"), 1, 2.5])
def test_vocabulary_fit_of_entries_that_are_no_strings_raises(other):
    for text in (["a", other], ("a", other), np.array(["a", other], object)):
        with pytest.raises(DTypeError, match=rf"x: entry 1 is {other}; strings are needed"):
            Vocabulary.fit(text)


@pytest.mark.parametrize("words", [["a", "a\0", "\0", "", "b\0c\0\0"], [b"a", b"a\0", b"\0\xff\0"]])
def test_a_nul_at_the_end_is_kept(words):
    """NumPy's strings of a fixed width cannot have it, so that it is refused where they would be made."""
    raw = [list(word if isinstance(word, bytes) else word.encode()) for word in words]
    nested = [words[:2], [], words[2:]]
    for form in (words, tuple(words), np.array(words, object)):
        assert encode_utf8(form).tolist() == raw
    assert encode_utf8(nested).tolist() == [raw[:2], [], raw[2:]]
    assert encode_utf8([nested]).tolist() == [[raw[:2], [], raw[2:]]]
    vocabulary = Vocabulary(words)
    assert len(vocabulary) == len(words)
    assert vocabulary.encode(nested).tolist() == [[0, 1], [], list(range(2, len(words)))]
    assert [vocabulary[word] for word in words] == list(range(len(words)))
    assert sorted(Vocabulary.fit(nested, unknown=None).encode(words).tolist()) == list(range(len(words)))
    assert vocabulary.decode([[1]], np.uint8).tolist() == [[raw[1]]]
    file = io.BytesIO()
    vocabulary.save(file)
    file.seek(0)
    assert Vocabulary.load(file).encode(words).tolist() == list(range(len(words)))
    for call in (
        lambda: lodcore.array(nested),
        lambda: lodcore.array(nested, dtype=str if isinstance(words[0], str) else bytes),
        lambda: LoDTensor(words, lodcore.LoD.from_lengths([len(words)])),
        lambda: LoDTensor.from_lengths(words, [len(words)]),
        lambda: vocabulary.decode([[1]]),
    ):
        with pytest.raises(DTypeError, match="NUL"):
            call()


def test_words_of_bytes_that_are_not_utf8_are_told_apart_and_found():
    vocabulary = Vocabulary(np.array([b"\xff", b"a", b"\xfe\xff", "é".encode()]))
    assert vocabulary.tokens == ["\udcff", "a", "\udcfe\udcff", "é"]
    assert [vocabulary[word] for word in vocabulary] == [0, 1, 2, 3]
    assert "\\udcff" in repr(vocabulary)


def test_text_that_utf8_does_not_have_is_no_word():
    for unknown in (None, "a"):
        vocabulary = Vocabulary(["a", "b"], unknown)
        assert "\ud800" not in vocabulary
        if unknown is None:
            with pytest.raises(KeyError, match=r"ud800. is not in the vocabulary"):
                vocabulary["\ud800"]
        else:
            assert vocabulary["\ud800"] == 0
    with pytest.raises(ValueError, match=r"unknown: is .*, which is not among the words"):
        Vocabulary(["a"], "\ud800")


def test_counts_of_words_are_not_negative():
    with pytest.raises(ValueError, match=r"^Vocabulary: counts: is -2 at position 1; 0 or more is needed"):
        Vocabulary(["a", "b", "c"], counts=[0, -2, -1])


def test_words_of_two_kinds():
    assert encode_utf8(["a", b"b\0"]).tolist() == [[97], [98, 0]]
    with pytest.raises(DTypeError, match="value 1 is b'b' among text"):
        encode_utf8([["a"], [b"b"]])
    for words in (["a", None], ["a", 1], [["a", None]], [["a", 1]], ["\ud800"], [["\ud800"]]):
        with pytest.raises(DTypeError):
            encode_utf8(words)


@pytest.mark.not_on_reference
def test_vocabulary_copies_the_counts_and_words_it_is_made_of():
    counts, words = np.array([5, 6]), np.array(["a", "b"])
    vocabulary = lodcore.Vocabulary(words, counts=counts)
    counts[0], words[0] = 9, "c"
    assert (vocabulary.counts.tolist(), vocabulary.tokens) == ([5, 6], ["a", "b"])


@pytest.mark.parametrize("dtype", [str, bytes, np.uint8])
@pytest.mark.parametrize("words", [["a", "né", "€uro", "", "😀"], ["a", "b\0", "c"], [b"a", b"\xff", b"bc"]])
def test_decode_of_many_numbers_equals_decode_of_few(words, dtype):
    vocabulary = lodcore.Vocabulary(words)

    def decoded(numbers):
        try:
            return vocabulary.decode(numbers, dtype)
        except DTypeError as error:
            return re.sub(r"\d+", "N", str(error))

    for first, second in ((0, 2), (0, 1), (1, 1), (2, 0)):
        few, many = decoded([first, second]), decoded([first, second] * 50)
        if isinstance(few, str):
            assert few == many
        else:
            assert few.dtype == many.dtype
            assert few.tolist() * 50 == many.tolist()
            nested = vocabulary.decode(lodcore.array([[first, second]] * 50), dtype)
            assert nested.tolist() == [few.tolist()] * 50
