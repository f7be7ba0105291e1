"""Words: text as sequences of bytes, and vocabularies, which number words."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import there_are, with_number
from lodcore.base.dispatch import Symbol
from lodcore.base.dtypes import as_dtype
from lodcore.base.memory import integer, unharmed
from lodcore.errors import DTypeError, GraphError, LoDError, ShapeError
from lodcore.kernels.loading import load
from lodcore.operators.operands import known_value
from lodcore.ops.move.gather import gather_sequences
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.conversions import taken
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import levels_and_leaves
from lodcore.tensors.utf8 import fixed_width, is_text, utf8_of, utf8_of_strings

__all__ = ["Vocabulary", "decode_utf8", "encode_utf8"]

Array = np.ndarray[Any, Any]

#: The random seed of the hash, so that nobody can choose words that all collide.
SEED = int.from_bytes(os.urandom(8), "little")
FEWEST_SLOTS = 1 << 12


def encode_utf8(x: Any) -> LoDTensor:
    """Encode strings as bytes of UTF-8, which adds a level.

    Parameters
    ----------
    x : LoDTensor of strings, nested lists of str, ndarray or list of strings
        Strings of a fixed width, str or bytes, or of NumPy's StringDType. bytes are not encoded again.

    Returns
    -------
    LoDTensor of uint8
        Has the levels of `x`, and one more, each sequence of which is a string.

    Raises
    ------
    DTypeError
        If x does not hold strings, or a string contains a lone surrogate.

    Notes
    -----
    Python's strings are encoded as they are, even those that end with NUL, which NumPy's strings of a fixed width
    cannot do.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.encode_utf8([["an", "é"], ["a"]])
    LoDTensor(2 sequences of lengths 1..2 / 3 sequences of lengths 1..2, uint8: [[[97, 110], [195, 169]], [[97]]])
    """
    letters, offsets, lod = _words("encode_utf8: x", x)
    levels = [lod.offsets(k) for k in range(lod.num_levels)]
    return lod_tensor_body.new_tensor(letters, lod_body.make_lod([*levels, offsets], len(letters)))


def decode_utf8(x: Any, dtype: Any = str) -> Any:
    """Decode bytes of UTF-8 as strings: the inverse of `encode_utf8`.

    Parameters
    ----------
    x : LoDTensor of uint8
        Each sequence of the last level is a string.
    dtype : {str, bytes, numpy.dtypes.StringDType()}
        Strings as wide as the longest, or, for a LoDTensor of one level, an array of StringDType.

    Returns
    -------
    LoDTensor of strings, or ndarray if no level is left

    Raises
    ------
    DTypeError
        If the bytes are not UTF-8, or a string ends with NUL, which strings of a fixed width cannot hold.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.decode_utf8(lodcore.encode_utf8([["an", "é"], ["a"]]))
    LoDTensor(2 sequences of lengths 1..2, <U2: [['an', 'é'], ['a']])
    """
    where = "decode_utf8: x"
    given = as_nested(where, _known(where, x))
    if given.dtype != np.uint8 or given.values.ndim != 1 or not given.num_levels:
        raise DTypeError(
            f"{where}: has dtype {given.dtype} and {with_number(given.num_levels, 'level')}; "
            "sequences of uint8 are needed"
        )
    wanted = as_dtype("decode_utf8: dtype", dtype)
    if wanted.kind not in "UST":
        raise DTypeError(f"decode_utf8: dtype: is {wanted}; str, bytes or StringDType is needed")
    lod = lod_body.slice_levels(given.lod, 0, given.num_levels - 1)
    offsets = given.lod.offsets(-1)
    if wanted.kind == "T":
        if lod.num_levels:
            raise DTypeError(
                f"decode_utf8: dtype: is {wanted}, whose values have no fixed size; str or bytes is needed"
            )
        return _objects(where, given.values, offsets, wanted)
    strings = fixed_width(where, given.values, offsets, wanted.kind == "U")
    return lod_tensor_body.new_tensor(strings, lod) if lod.num_levels else strings


def _objects(where: str, letters: Array, offsets: Array, dtype: np.dtype[Any]) -> Array:
    """Return an array of strings of variable size."""
    data, bounds = letters.tobytes(), offsets.tolist()
    strings = []
    for j in range(len(bounds) - 1):
        try:
            strings.append(data[bounds[j] : bounds[j + 1]].decode())
        except UnicodeDecodeError as error:
            raise DTypeError(f"{where}: string {j} is not UTF-8: {error.reason}") from None
    return np.array(strings, dtype)


def _known(where: str, x: Any) -> Any:
    """Return the value of a Variable, which must have one, since text has no gradient and is not recorded."""
    value = known_value(x)
    if value is None and isinstance(x, Symbol):
        raise GraphError(f"{where}: is a Variable without a value; text is encoded and decoded before it is recorded")
    return value


def _words(where: str, x: Any) -> tuple[Array, Array, LoD]:
    """Return the bytes of words, their offsets in bytes, and the LoD whose rows they are."""
    x = _of_others(where, _known(where, x))
    found = _of_strings(where, x) if isinstance(x, (list, tuple)) else None
    if found is not None:
        return found
    if isinstance(x, LoDTensor) or (isinstance(x, (list, tuple)) and not _is_flat(x)):
        given = as_nested(where, x)
        if given.dtype == np.uint8 and given.num_levels and given.values.ndim == 1:
            last = given.num_levels - 1
            return given.values, given.lod.offsets(last), lod_body.slice_levels(given.lod, 0, last)
        values, lod = given.values, given.lod
    else:
        values = np.asarray(x)
        if not values.ndim:
            raise DTypeError(f"{where}: is {type(x).__name__}; an array or lists of strings are needed")
        lod = LoD.from_offsets(num_rows=len(values))
    if not values.size and values.ndim == 1 and not is_text(values.dtype):
        values = np.zeros(len(values), "U1")  # empty lists do not have a dtype of strings
    if not is_text(values.dtype):
        raise DTypeError(f"{where}: has dtype {values.dtype}; strings, or sequences of bytes, are needed")
    if values.ndim != 1:
        raise ShapeError(f"{where}: has strings in an array of shape {values.shape}; one string per row is needed")
    offsets, letters = utf8_of(where, values)
    return letters, offsets, lod


def _of_strings(where: str, x: Any) -> tuple[Array, Array, LoD] | None:
    """Return what `_words` does, for lists of Python's strings, which unlike NumPy's may end with NUL."""
    levels: list[Array] = []
    leaves: Any = x
    if _is_flat(x):
        _check_strings(where, x)
    else:
        levels, leaves, arrays = levels_and_leaves(where, list(x), None)
        kinds = () if arrays else {bytes if issubclass(kind, bytes) else kind for kind in set(map(type, leaves))}
        if not (kinds == {bytes} or (kinds and all([issubclass(kind, str) for kind in kinds]))):
            return None
    offsets, letters = utf8_of_strings(where, leaves)
    return letters, offsets, lod_body.make_lod(levels, len(leaves))


def _of_others(where: str, x: Any) -> Any:
    """Convert text of other libraries as `lodcore.array` does, and arrays of Python strings or lists as lists."""
    if not isinstance(x, (LoDTensor, list, tuple, np.ndarray)):
        try:
            found = taken(x)
        except DTypeError:  # such as a pandas Index, or a Series with missing words
            found = None
        if found is None and hasattr(x, "__array__"):
            found = np.asarray(x)
        if not isinstance(found, (LoDTensor, np.ndarray)):
            makes = "" if found is None else f", which makes {type(found).__name__}"
            raise DTypeError(f"{where}: is {type(x).__name__}{makes}; an array or lists of strings are needed")
        x = found
    return x.tolist() if isinstance(x, np.ndarray) and x.dtype == object and x.ndim == 1 else x


def _check_strings(where: str, x: Any) -> None:
    """Raise if a flat list holds anything but strings, which NumPy would convert to text."""
    if all([issubclass(kind, (str, bytes)) for kind in set(map(type, x))]):
        return
    for j, one in enumerate(x):
        if not isinstance(one, (str, bytes)):
            hint = "; drop what is missing, or fill it with a word" if _is_missing(one) else ""
            raise DTypeError(f"{where}: entry {j} is {one!r}; strings are needed{hint}")


def _is_missing(one: Any) -> bool:
    """Return whether this is None, nan, NaT, or NA of pandas, whose comparison with itself is NA."""
    differs = one is None or one != one
    return bool(differs) if isinstance(differs, (bool, np.bool_)) else differs is one


def _is_flat(x: Any) -> bool:
    return not len(x) or isinstance(x[0], (str, bytes))


class Vocabulary:
    """A mapping between words and their numbers.

    Parameters
    ----------
    words : list of str, ndarray of strings, or LoDTensor of bytes with one level
        Distinct words; the number of a word is its position.
    unknown : str or bytes, optional
        The word that replaces all words not in the vocabulary. Without it, such a word is an error.
    counts : array_like of int64, shape (number of words,), optional
        How often each word occurred.

    Raises
    ------
    ValueError
        If a word occurs twice, or `unknown` is not among the words.

    Notes
    -----
    Words are stored as bytes of UTF-8 and looked up in a hash table with open addressing (Knuth, The Art of Computer
    Programming, volume 3, section 6.4), in one pass over the text.

    Examples
    --------
    >>> import lodcore
    >>> text = [["the", "cat"], [], ["the", "dog", "the"]]
    >>> vocabulary = lodcore.Vocabulary.fit(text)
    >>> vocabulary.tokens
    ['<unk>', 'the', 'cat', 'dog']
    >>> ids = vocabulary.encode([["the", "mouse"], ["dog"]])
    >>> ids
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 0], [3]])
    >>> vocabulary.decode(ids).tolist()
    [['the', '<unk>'], ['dog']]
    """

    __module__ = "lodcore"
    __slots__ = ("_begins", "_bytes", "_ends", "_letters", "_table", "counts", "unknown_id")

    def __init__(self, words: Any, unknown: str | bytes | None = None, counts: Any = None) -> None:
        letters, offsets, lod = _words("Vocabulary: words", words)
        if lod.num_levels:
            raise LoDError(
                f"Vocabulary: words: have {with_number(lod.num_levels, 'level')} above the words; a flat list is needed"
            )
        count = len(offsets) - 1
        self._bytes: LoDTensor = lod_tensor_body.new_tensor(letters, lod_body.make_lod([offsets], len(letters)))
        bounds = self._bytes.lod.offsets()
        self._letters, self._begins, self._ends = letters, bounds[:-1], bounds[1:]
        self._table: Array = _new_table(count)
        twice = kernels.words.fill_table(letters, self._begins, self._ends, SEED, self._table)
        if twice >= 0:
            raise ValueError(
                f"Vocabulary: words: has {self.tokens[twice]!r} at position {twice} and before; give each once"
            )
        self.unknown_id: int | None = None
        if unknown is not None:
            number = self._number(unknown)
            if number < 0:
                raise ValueError(f"Vocabulary: unknown: is {unknown!r}, which is not among the words")
            self.unknown_id = number
        self.counts: Array | None = None
        if counts is not None:
            self.counts = buffers.as_int64(counts, "Vocabulary: counts", ValueError).copy()
            if len(self.counts) != count:
                raise ValueError(f"Vocabulary: counts: has {len(self.counts)} entries; {there_are(count, 'word')}")
            if count and self.counts.min() < 0:
                at = int(self.counts.argmin())
                raise ValueError(f"Vocabulary: counts: is {self.counts[at]} at position {at}; 0 or more is needed")

    @classmethod
    def fit(
        cls,
        x: Any,
        min_count: int = 1,
        max_size: int | None = None,
        unknown: str | bytes | None = "<unk>",
        special: Iterable[str | bytes] = (),
    ) -> Vocabulary:
        """Make a vocabulary from the words of a text, the most frequent first, ties in order of appearance.

        Parameters
        ----------
        x : LoDTensor of strings or of bytes with a level, nested lists of str, or list of str
            Or text of another library: a pandas or Polars Series, or an Arrow array, of strings or lists of strings.
        min_count : int
            The minimum number of occurrences of a word.
        max_size : int, optional
            The maximum number of words, `unknown` and `special` included, which are kept even if they are more.
        unknown : str or bytes, optional
            The first word, which replaces all other words; None for no such word.
        special : list of str
            The next words, such as those for the beginning and the end of a sequence.

        Returns
        -------
        Vocabulary
        """
        letters, offsets, _ = _words("Vocabulary.fit: x", x)
        least = integer("Vocabulary.fit: min_count", min_count)
        first = [*([] if unknown is None else [unknown]), *special]
        fixed = cls(first)
        begins, ends, counts = _numbered(letters, offsets)
        order = np.argsort(-counts, kind="stable")
        words = LoDTensor.from_starts_stops(letters, begins[order], ends[order])
        fixed_words = fixed._bytes
        known = fixed._look_up(words.values, words.lod.offsets(), -1)[0]
        met = np.zeros(len(first), np.int64)
        met[known[known >= 0]] = counts[order][known >= 0]
        kept = np.flatnonzero((known < 0) & (counts[order] >= least))
        if max_size is not None:
            kept = kept[: max(integer("Vocabulary.fit: max_size", max_size) - len(first), 0)]
        words = gather_sequences(words, kept)
        joined = LoD.concat(fixed_words.lod, words.lod)
        all_words = lod_tensor_body.new_tensor(np.concatenate([fixed_words.values, words.values]), joined)
        return cls(all_words, unknown, np.concatenate([met, counts[order][kept]]))

    # -- words to numbers, and back ------------------------------------------------------------------------------------

    def encode(self, x: Any) -> Any:
        """Return the number of each word.

        Parameters
        ----------
        x : LoDTensor of strings or of bytes with a level, nested lists of str, ndarray or list of str
            Or text of another library, as in `fit`.

        Returns
        -------
        LoDTensor of int64, or ndarray if the words have no level
            Has the levels of the words.

        Raises
        ------
        KeyError
            If a word is not in the vocabulary and there is no `unknown`; the message names the first one.
        """
        letters, offsets, lod = _words("Vocabulary.encode: x", x)
        ids, missing = self._look_up(letters, offsets, -1 if self.unknown_id is None else self.unknown_id)
        if missing >= 0 and self.unknown_id is None:
            word = letters[offsets[missing] : offsets[missing + 1]].tobytes().decode(errors="replace")
            raise KeyError(f"Vocabulary.encode: x: word {missing} is {word!r}, which is not in the vocabulary")
        return lod_tensor_body.new_tensor(ids, lod) if lod.num_levels else ids

    def decode(self, ids: Any, dtype: Any = str) -> Any:
        """Return the word of each number.

        Parameters
        ----------
        ids : LoDTensor of integers, nested lists or ndarray of integers
        dtype : {str, bytes, numpy.uint8}
            Strings as wide as the longest, or bytes with one more level.

        Returns
        -------
        LoDTensor, or ndarray of strings if the numbers have no level

        Raises
        ------
        IndexError
            If a number is out of range; the message names the first one.
        """
        nested = isinstance(ids, LoDTensor) or (isinstance(ids, (list, tuple)) and ids and not np.isscalar(ids[0]))
        given = as_nested("Vocabulary.decode: ids", ids) if nested else None
        numbers = buffers.as_int64(ids if given is None else given.values, "Vocabulary.decode: ids", IndexError)
        wrong = (numbers < 0) | (numbers >= len(self))
        if wrong.any():
            at = int(np.argmax(wrong))
            raise IndexError(f"Vocabulary.decode: ids: is {numbers[at]} at row {at}; 0 .. {len(self) - 1} is valid")
        wanted = as_dtype("Vocabulary.decode: dtype", dtype)
        strings = self._strings_of(numbers, wanted) if wanted.kind in "US" and len(numbers) > len(self) else None
        if strings is not None:
            return strings if given is None or not given.num_levels else lod_tensor_body.new_tensor(strings, given.lod)
        words = gather_sequences(self._bytes, numbers)
        if given is not None and given.num_levels:
            levels = [given.lod.offsets(k) for k in range(given.num_levels)]
            lod = lod_body.make_lod([*levels, words.lod.offsets()], len(words.values))
            words = lod_tensor_body.new_tensor(words.values, lod)
        return words if wanted == np.uint8 else decode_utf8(words, dtype)

    def _strings_of(self, numbers: Array, dtype: np.dtype[Any]) -> Array | None:
        """Return words by their numbers, as wide as the longest of them; None if a word of all is no string."""
        try:
            words: Array = decode_utf8(self._bytes, dtype)
        except DTypeError:
            return None
        used = np.zeros(len(self), bool)
        used[numbers] = True
        width = np.strings.str_len(words[used]).max(initial=1)
        found: Array = words.astype(f"{dtype.kind}{width}")[numbers]
        return found

    def __len__(self) -> int:
        return len(self._begins)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, (str, bytes)) and self._number(word) >= 0

    def __getitem__(self, word: str | bytes) -> int:
        number = self._number(word)
        if number >= 0:
            return number
        if self.unknown_id is None:
            raise KeyError(f"Vocabulary: {word!r} is not in the vocabulary")
        return self.unknown_id

    def __repr__(self) -> str:
        some = ", ".join(map(repr, self._strings(0, min(len(self), 6))))
        unknown = (
            "" if self.unknown_id is None else f", unknown {self._strings(self.unknown_id, self.unknown_id + 1)[0]!r}"
        )
        return f"Vocabulary({with_number(len(self), 'word')}: {some}{', ...' if len(self) > 6 else ''}{unknown})"

    @property
    def tokens(self) -> list[str]:
        """The words, in the order of their numbers; bytes that are not UTF-8 are surrogates, as by `os.fsdecode`."""
        return self._strings(0, len(self))

    def _strings(self, first: int, stop: int) -> list[str]:
        data = self._letters.tobytes()
        bounds = zip(self._begins[first:stop].tolist(), self._ends[first:stop].tolist(), strict=True)
        return [data[begin:end].decode(errors="surrogateescape") for begin, end in bounds]

    def _number(self, word: Any) -> int:
        """Return the number of a word, or -1 if it is not in the vocabulary."""
        if not isinstance(word, (str, bytes)):
            raise DTypeError(f"Vocabulary: word: is {type(word).__name__}; a str is needed")
        try:
            data = word.encode(errors="surrogateescape") if isinstance(word, str) else word
        except UnicodeEncodeError:  # no word has such a character
            return -1
        return int(self._look_up(np.frombuffer(data, np.uint8), np.array([0, len(data)]), -1)[0][0])

    def _look_up(self, letters: Array, offsets: Array, unknown: int) -> tuple[Array, int]:
        ids = buffers.new_int64(len(offsets) - 1)
        table = self._letters, self._begins, self._ends, SEED, self._table
        return ids, kernels.words.look_up(letters, offsets, *table, unknown, ids)

    # -- files ---------------------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        unknown = None if self.unknown_id is None else np.asarray(self._bytes[self.unknown_id]).tobytes()
        return Vocabulary, (self._bytes, unknown, self.counts)

    def save(self, file: Any) -> None:
        """Write the vocabulary to a file that `Vocabulary.load` reads, as `lodcore.save` does.

        Parameters
        ----------
        file : str, path or binary file
        """
        words, unknown, counts = self.__reduce__()[1]
        load("lodcore.interop").save(file, {"words": words, "unknown": unknown, "counts": counts})

    @classmethod
    def load(cls, file: Any) -> Vocabulary:
        """Read a Vocabulary from a file written by `save`.

        Parameters
        ----------
        file : str, path or binary file

        Returns
        -------
        Vocabulary
        """
        tree = load("lodcore.interop").load(file)
        if not isinstance(tree, dict) or tree.keys() != {"words", "unknown", "counts"}:
            raise ValueError(f"Vocabulary.load: file: {file!r} holds no Vocabulary")
        return cls(tree["words"], tree["unknown"], tree["counts"])


def _new_table(count: int) -> Array:
    """Return an empty table with room for a number of words."""
    return np.full(max(2, 1 << max(2 * count - 1, 0).bit_length()), -1, np.int64)


def _numbered(letters: Array, offsets: Array) -> tuple[Array, Array, Array]:
    """Return the distinct words of a text: the beginning and end of their first occurrences, and their counts."""
    ids: Array = buffers.new_int64(len(offsets) - 1)
    table = np.full(FEWEST_SLOTS, -1, np.int64)
    begins, ends, counts = (np.zeros(len(table) // 2, np.int64) for _ in range(3))
    at = known = 0
    while True:
        at, known = kernels.words.number_words(letters, offsets, at, known, SEED, table, begins, ends, counts, ids)
        if at == len(ids):
            return begins[:known], ends[:known], counts[:known]
        table = np.full(4 * len(table), -1, np.int64)
        unharmed(kernels.words.fill_table(letters, begins[:known], ends[:known], SEED, table))
        begins, ends, counts = (
            np.concatenate([part, np.zeros(3 * len(part), np.int64)]) for part in (begins, ends, counts)
        )
