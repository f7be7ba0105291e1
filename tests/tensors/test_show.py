"""Text and HTML of tensors: short, structure first, with correct brackets."""

import ast
import re
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given

import lodcore
from lodcore import LevelError, LoD, LoDTensor
from reference.nested import parse
from tests.helpers.agree import numbered
from tests.helpers.draw import lod_tensors, lods

LONGEST = 500  # characters, for any tensor


def content(x):
    """Return the text after the colon."""
    return repr(x).split(": ", 1)[1].removesuffix(")")


def balanced(text):
    depth = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        assert depth >= 0, text
    assert depth == 0, text


# -- pinned examples -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nested", "text"),
    [
        ([[1, 2, 3], [], [4, 5]], "LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2, 3], [], [4, 5]])"),
        ([[1, 2], [3, 4]], "LoDTensor(2 sequences of length 2, int64: [[1, 2], [3, 4]])"),
        ([[7]], "LoDTensor(1 sequence of length 1, int64: [[7]])"),
        ([], "LoDTensor(0 sequences, float64: [])"),
        ([[]], "LoDTensor(1 sequence of length 0, float64: [[]])"),
        (
            [[[1, 2], [3]], [], [[4, 5, 6]]],
            "LoDTensor(3 sequences of lengths 0..2 / 3 sequences of lengths 1..3, int64: "
            "[[[1, 2], [3]], [], [[4, 5, 6]]])",
        ),
        ([[True, False]], "LoDTensor(1 sequence of length 2, bool: [[True, False]])"),
        ([[0.5, 1 / 3, float("nan"), float("-inf")]], "LoDTensor(1 sequence of length 4, float64: "),
        ([[b"a", b"\xff"]], r"LoDTensor(1 sequence of length 2, |S1: [[b'a', b'\xff']])"),
    ],
)
def test_repr_of_tensors_shows_content_and_structure(nested, text):
    assert repr(lodcore.array(nested)).startswith(text)


def test_numbers_of_one_sequence():
    assert content(lodcore.array([[0.5, 1 / 3, float("nan"), float("-inf"), -0.25]])) == (
        "[[0.5, 0.333333, nan, -inf, -0.25]]"
    )


def test_text_is_quoted_so_that_brackets_and_commas_in_it_are_no_structure():
    assert content(lodcore.array([["a, b", ""], ["]"]])) == "[['a, b', ''], [']']]"


def test_wide_rows_have_brackets_of_their_own():
    x = LoDTensor.from_lengths(np.arange(10.0).reshape(5, 2), [2, 0, 3])
    assert repr(x) == (
        "LoDTensor(3 sequences of lengths 0..3, rows of shape (2,), float64: "
        "[[[0., 1.], [2., 3.]], [], [[4., 5.], [6., 7.], [8., 9.]]])"
    )
    assert content(LoDTensor.from_lengths(np.empty((3, 0)), [2, 1])) == "[[[], []], [[]]]"


def test_long_content_is_cut_inside_and_outside():
    text = content(LoDTensor.from_lengths(np.arange(1000), [500, 500]))
    assert text.startswith("[[0, 1, 2, 3, 4,")
    assert text.endswith(", ...], ...]")
    assert content(LoDTensor.from_lengths(np.arange(1000), [1] * 1000)).endswith("[13], [14], ...]")


@pytest.mark.parametrize(
    ("lod", "text"),
    [
        (LoD.from_lengths([2, 0, 3]), "LoD([xx] [] [xxx])"),
        (LoD.from_lengths([2, 1], [2, 0, 3]), "LoD([[xx] []] [[xxx]])"),
        (LoD.from_lengths([1], [2], [1, 0]), "LoD([[[x] []]])"),
        (LoD.from_lengths([0]), "LoD([])"),
        (LoD.from_lengths([]), "LoD(0 sequences, 1 level)"),
        (LoD.from_lengths([], []), "LoD(0 sequences, 2 levels)"),
        (LoD.from_offsets(num_rows=3), "LoD(0 levels, 3 rows)"),
    ],
)
def test_repr_of_lods_shows_their_levels(lod, text):
    assert repr(lod) == text


@pytest.mark.parametrize("depth", range(1, 12))
def test_levels_are_counted(depth):
    s = "" if depth == 1 else "s"
    assert repr(LoD.from_lengths(*[[]] * depth)) == f"LoD(0 sequences, {depth} level{s})"
    lod = LoD.from_lengths([99], *[[1] * 99] * (depth - 1))
    outer = ["1 sequence of length 99", *["99 sequences of length 1"] * (depth - 1)]
    if depth > 6:
        outer = [*outer[:2], f"... {depth - 4} levels ...", *outer[-2:]]
    if depth > 1:
        assert repr(lod) == f"LoD({' / '.join(outer)})"
    assert repr(LoDTensor(np.zeros(99), lod)).startswith(f"LoDTensor({' / '.join(outer)}, float64")
    with pytest.raises(LevelError, match=f"there {'is' if depth == 1 else 'are'} {depth} level{s}$"):
        lod.offsets(depth)


# -- correct brackets --------------------------------------------------------------------------------------------------


@given(lods(min_levels=1))
def test_a_lod_reads_as_its_nested_lists(lod):
    text = repr(lod).removeprefix("LoD(").removesuffix(")")
    balanced(text)
    if text.startswith("["):  # other texts are too long, or have no sequences
        wanted = re.sub(r"\d+", "x", str(numbered(lod))).replace(",", "").replace("'", "")
        assert parse(f"[{text.replace('x', ' x ')}]") == parse(wanted)


@given(lod_tensors(dtypes=[np.int8], row_shapes=[(), (2,)]))
def test_content_reads_as_the_nested_lists(x):
    text = content(x)
    balanced(text)
    if "..." not in text:
        assert ast.literal_eval(text) == x.tolist()


@given(lod_tensors())
def test_repr_of_tensors_of_every_dtype_is_one_short_line(x):
    assert len(repr(x)) < LONGEST
    assert repr(x).startswith("LoDTensor(")
    assert "\n" not in repr(x)
    assert str(x) == repr(x)
    ElementTree.fromstring(f"<x>{x._repr_html_()}</x>")


# -- large data ----------------------------------------------------------------------------------------------------


def best_time(call):
    """Measure processor time, since other processes make a call wait as long as they like."""
    times = []
    for _ in range(7):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return min(times)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("lengths", [np.ones(10**6, int), np.zeros(10**6, int), np.arange(10**6) % 3])
def test_a_million_sequences_print_fast(lengths):
    x = LoDTensor.from_lengths(np.zeros(lengths.sum()), lengths)
    whole = best_time(lambda: str(x.lod.lengths(0).tolist()))
    assert len(repr(x)) < LONGEST
    assert best_time(lambda: repr(x)) < whole / 10
    assert len(repr(x.lod)) < LONGEST
    assert best_time(lambda: repr(x.lod)) < whole / 10
    assert len(x._repr_html_()) < 10_000
    assert best_time(x._repr_html_) < whole


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((3, 10**5)),
        np.zeros((3, 3, 4, 5)),
        np.zeros((3, *[5] * 7), np.int8),
        np.zeros((3, *[1] * 30)),
        np.array(["a" * 10**6] * 3),
        np.array([b"\0" * 10**5 + b"a"] * 3),
        np.zeros(3, "V100000"),
        np.zeros(3, [(f"field{i}", "i1") for i in range(300)]),
    ],
    ids=["wide", "axes", "many axes", "thin axes", "text", "bytes", "void", "fields"],
)
def test_large_rows_are_cut(values):
    x = LoDTensor.from_lengths(values, [1, 2])
    assert best_time(lambda: repr(x)) < 0.05
    assert len(repr(x)) < 2 * LONGEST
    assert len(x._repr_html_()) < 10_000


def test_many_levels_are_cut():
    lod = LoD.from_lengths(*[[1]] * 2000)
    assert len(repr(lod)) < LONGEST
    balanced(repr(lod))
    x = LoDTensor([1], lod)
    assert len(repr(x)) < 2 * LONGEST
    assert len(x._repr_html_()) < 50_000


def test_more_rows_than_any_memory():
    assert len(repr(LoD.from_lengths([2**62]))) < LONGEST
    x = LoDTensor.from_lengths(np.empty((2**40, 0)), [0, 2**40])
    assert len(repr(x)) < LONGEST
    assert len(x._repr_html_()) < 10_000


# -- HTML ----------------------------------------------------------------------------------------------------------


def test_html_tells_the_summary_and_draws_the_lengths():
    html = lodcore.array([[1, 2, 3], [], [4, 5]])._repr_html_()
    tree = ElementTree.fromstring(f"<x>{html}</x>")
    text = "".join(tree.itertext())
    for part in ("LoDTensor", "(3, None)", "int64", "40 bytes", "3 sequences", "1 empty", "[[1, 2, 3], [], [4, 5]]"):
        assert part in text
    bars = [float(bar.get("height")) for bar in tree.iter("rect")]
    assert bars == [40.0, 0.0, 40.0, 40.0]  # of lengths 0, 1, 2, 3


def test_html_of_tensors_escapes_values_and_names_of_fields():
    x = LoDTensor.from_lengths(np.array(["<script>alert(1)</script>", "&"]), [2])
    assert "<script>" not in x._repr_html_()
    fields = LoDTensor.from_lengths(np.zeros(1, [("<b>", "i1")]), [1])
    assert "<b>LoDTensor</b>" in fields._repr_html_()
    assert fields._repr_html_().count("<b>") == 1


@pytest.mark.parametrize("lengths", [[], [0], [5], [0, 2**40], [1, 1, 1], list(range(100))])
def test_html_of_any_lengths(lengths):
    x = LoDTensor.from_lengths(np.empty((sum(lengths), 0)), lengths)
    tree = ElementTree.fromstring(f"<x>{x._repr_html_()}</x>")
    assert len(list(tree.iter("rect"))) <= 24
    assert all(0 <= float(bar.get("height")) <= 40 for bar in tree.iter("rect"))
    titles = [title.text for title in tree.iter("title")]
    assert sum(int(title.rsplit(": ", 1)[1]) for title in titles) == len(lengths)


# -- every level -----------------------------------------------------------------------------------------------------


def drawn_lengths(depth, short, rng):
    """Draw the lengths of each level; if they are long, each level has another maximum length."""
    levels = [rng.integers(1, 4, 2 if short else 30).tolist()]
    for level in range(1, depth):
        lengths = rng.integers(0, 2, sum(levels[-1]))
        if not short and len(lengths):
            lengths[rng.integers(len(lengths))] = 30 + level  # so that enough is left for the levels below
        levels.append(lengths.tolist())
    return levels


def described(lengths):
    """Describe one level in words."""
    count = f"{len(lengths)} sequence{'s' * (len(lengths) != 1)}"
    if not lengths:
        return count
    least, most = min(lengths), max(lengths)
    return f"{count} of length {least}" if least == most else f"{count} of lengths {least}..{most}"


def first_of(lengths):
    """List the first lengths of a level, where they differ."""
    if len({*lengths}) < 2:
        return ""
    return f": {', '.join(map(str, lengths[:10]))}{', ...' * (len(lengths) > 10)}"


@pytest.mark.parametrize("short", [True, False], ids=["short", "long"])
@pytest.mark.parametrize("depth", range(1, 10))
def test_each_level_is_described_by_its_own_lengths(depth, short):
    for seed in range(5):
        levels = drawn_lengths(depth, short, np.random.default_rng([depth, seed]))
        shown = range(depth) if depth <= 6 else [0, 1, depth - 2, depth - 1]
        gap = [f"... {depth - 4} levels ..."] if depth > 6 else []
        lod = LoD.from_lengths(*levels)
        x = LoDTensor(np.arange(lod.num_rows), lod)

        parts = [described(levels[level]) for level in shown]
        assert repr(x).startswith(f"LoDTensor({' / '.join([*parts[:2], *gap, *parts[2:]])}, int64: ")
        if not short:  # otherwise it is drawn: see above
            parts = [described(levels[level]) + first_of(levels[level]) for level in shown]
            assert repr(lod) == f"LoD({' / '.join([*parts[:2], *gap, *parts[2:]])})"

        told = re.findall(r"<div>level (\d+): (.*?)</div>", x._repr_html_())
        assert [int(level) for level, _ in told] == [*shown]
        for (_, text), level in zip(told, shown, strict=True):
            lengths = levels[level]
            assert text == (
                f"{len(lengths):,} sequences, lengths min {min(lengths)}, median {np.median(lengths):g}, "
                f"max {max(lengths)}, {lengths.count(0):,} empty"
                if lengths
                else "no sequences"
            )


def test_rows_have_four_digits():
    x = LoDTensor.from_lengths(np.array([[1 / 3, 2.0], [1e-9, 123456.789]]), [2])
    assert "[0.3333, 2. ], [" in repr(x)
    assert "23456789" not in repr(x)


# -- limits --------------------------------------------------------------------------------------------------------


@pytest.mark.not_on_reference
def test_repr_of_lods_is_cut_at_its_limits():
    assert repr(LoD.from_lengths([76])) == f"LoD([{'x' * 76}])"
    assert repr(LoD.from_lengths([77])) == "LoD(1 sequence of length 77)"
    assert repr(LoD.from_lengths([0, 90, *range(8)])).endswith("lengths 0..90: 0, 90, 0, 1, 2, 3, 4, 5, 6, 7)")
    assert repr(LoD.from_lengths([0, 90, *range(9)])).endswith("lengths 0..90: 0, 90, 0, 1, 2, 3, 4, 5, 6, 7, ...)")
    numbers = lodcore.array([[1e15, 1e16, 999999999999999.0, -1e15, 1e20]])
    assert content(numbers) == "[[1e+15, 1e+16, 999999999999999., -1e+15, 1e+20]]"
    for rows, text in ((0, "0 rows"), (1, "1 row"), (2, "2 rows")):
        dense = LoDTensor(np.zeros(rows), LoD.from_offsets(num_rows=rows))
        assert repr(dense).startswith(f"LoDTensor({text}, float64: [")
    for size, cells in ((64, "0., 0., ..., 0., 0."), (65, "0.0, 0.0, 0.0, 0.0, 0.0, 0.0, ...")):
        assert content(LoDTensor.from_lengths(np.zeros((1, 1, size)), [1])) == f"[[[[{cells}]]]]"
    bars = lodcore.array([[1] * 3, [], [1] * 3, [2] * 5])._repr_html_()
    assert re.findall(r"length (\d+\.\.\d+: \d+)", bars) == [
        "0..0: 1",
        "1..1: 0",
        "2..2: 0",
        "3..3: 2",
        "4..4: 0",
        "5..5: 1",
    ]
    wide = LoDTensor.from_lengths(np.zeros(71), [0, 71])._repr_html_()
    assert re.findall(r"length (\d+\.\.\d+): [1-9]", wide) == ["0..2", "69..71"]
    assert "min 0, median 35.5, max 71, 1 empty" in wide
