"""Windows and their inverse, concatenate and cut."""

import itertools
from itertools import chain, groupby
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, ShapeError
from lodcore.batching import chunk_plan, concat_and_cut
from lodcore.ops import rows
from reference.batching import chunks as meaning
from tests.helpers.plans import document_lengths, documents_of
from tests.helpers.tables import for_each


@st.composite
def calls(draw):
    size = draw(st.integers(1, 6))
    return draw(document_lengths()), size, draw(st.integers(1, size)), draw(st.sampled_from(["short", "full"]))


@given(calls(), st.booleans())
def test_chunk_plan_apply_cuts_the_windows_of_the_definition_and_undo_joins_them(call, first):
    lengths, size, stride, last = call
    x = documents_of(lengths, np.float64)
    plan = chunk_plan(x, size, stride, last)
    where = [meaning.windows(one, size, stride, last == "full") for one in x.tolist()]
    want = [[one[start:stop] for start, stop in found] for one, found in zip(x.tolist(), where, strict=True)]
    windows = plan.apply(x)
    assert windows.tolist() == want
    assert len(plan) == sum(map(len, want))
    said = LoDTensor(np.random.default_rng(0).integers(0, 9, windows.num_rows) * 0.5, windows.lod)
    back = plan.undo(said, "first" if first else "mean")
    pairs = zip(said.tolist(), where, lengths, strict=True)
    assert back.tolist() == [meaning.undo(pieces, found, length, first) for pieces, found, length in pairs]
    assert plan.undo(windows).equals(x)
    assert plan.undo(windows.values).equals(x)


def test_rows_of_any_width_and_integers():
    x = documents_of([5, 0, 2], width=(3,))
    plan = chunk_plan(x, 3, 2)
    assert plan.undo(plan.apply(x), "first").equals(x)
    assert plan.undo(plan.apply(x)).dtype == np.float64


@pytest.mark.parametrize("reduce", ["mean", "first"])
def test_gradients_of_chunk_plan_apply_and_undo_are_derivatives(reduce):
    plan = chunk_plan([5, 2], 3, 2)
    lodcore.grad_check(
        lambda x: lodcore.ops.sum(lodcore.mul(plan.apply(x), plan.apply(x))), documents_of([5, 2], float)
    )
    y = LoDTensor(np.arange(plan.lod.num_rows * 2.0).reshape(-1, 2), plan.lod)
    lodcore.grad_check(lambda y: lodcore.ops.sum(lodcore.mul(plan.undo(y, reduce), plan.undo(y, reduce))), y)


@given(document_lengths(), st.integers(1, 9), st.booleans(), st.booleans())
def test_concat_and_cut(lengths, size, separated, drop_last):
    x = documents_of(lengths)
    packed, plan = concat_and_cut(x, size, -1 if separated else None, drop_last)
    ended = [one + [-1] * separated for one in x.tolist()]
    joined = list(chain(*ended))
    kept = len(joined) // size * size if drop_last else len(joined)
    assert [np.concatenate(one).tolist() for one in packed.to_arrays()] == [
        joined[start : min(start + size, kept)] for start in range(0, kept, size)
    ]
    back = plan.undo(packed)
    assert list(chain(*back.tolist())) == joined[:kept]
    if kept == len(joined):
        assert back.tolist() == ended
    report = plan.report()
    assert report.num_tokens == kept
    assert sum(int(stop - start) for _, start, stop in report.dropped) == len(joined) - kept
    pieces = [token for window in packed.tolist() for piece in window for token in piece]
    assert pieces == joined[:kept]


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_pieces_of_windows_have_tokens(size, drop_last):
    """For all short lengths of four documents: one piece for each document in a window, and none is empty."""
    for lengths in itertools.product(range(4), repeat=4):
        x = documents_of(lengths)
        owned = [(k, token) for k, one in enumerate(x.tolist()) for token in one]
        kept = len(owned) // size * size if drop_last else len(owned)
        windows = [owned[start : min(start + size, kept)] for start in range(0, kept, size)]
        groups = [[[t for _, t in one] for _, one in groupby(window, key=itemgetter(0))] for window in windows]
        packed, plan = concat_and_cut(x, size, drop_last=drop_last)
        assert packed.tolist() == groups
        assert plan.documents.tolist() == [k for window in windows for k, _ in groupby(window, key=itemgetter(0))]
        assert plan.undo(packed).tolist() == [[t for k, t in owned[:kept] if k == number] for number in range(4)]


def test_gradients_of_concat_and_cut():
    x = documents_of([3, 4], float)
    packed, pull = lodcore.vjp(lambda x: concat_and_cut(x, 3, 0)[0], x)
    (derivative,) = pull(packed.values)
    assert derivative.equals(x)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: chunk_plan([3], 0), ValueError, "size: is 0"),
        (lambda: chunk_plan([3], 2, 3), ValueError, "stride: is 3; at most the size 2"),
        (lambda: chunk_plan([3], 2, last="drop"), ValueError, "last: is 'drop'"),
        (lambda: chunk_plan([-3], 2), LoDError, "lengths: is -3"),
        (lambda: chunk_plan([3], 2).apply([[1, 2]]), LoDError, "document 0 has 2 tokens; 3 were planned"),
        (lambda: chunk_plan([3], 2).apply([[1, 2], [3]]), LoDError, "has 2 documents"),
        (lambda: chunk_plan([3], 2).apply([[[1, 2, 3]]]), LoDError, "has 2 levels"),
        (lambda: chunk_plan([3], 2).undo([[[1], [2, 3]]]), LoDError, "has windows other than the 2"),
        (lambda: chunk_plan([3], 2).undo(np.arange(4)), LoDError, "has 4 rows; the windows have 3"),
        (lambda: chunk_plan([3], 2).undo(np.arange(3), "max"), ValueError, "reduce: is 'max'"),
        (lambda: concat_and_cut([[1]], 0), ValueError, "size: is 0"),
        (lambda: concat_and_cut([[1]], 2, "x"), DTypeError, "separator: is 'x'"),
        (lambda: concat_and_cut([[[1]]], 2), LoDError, "has 2 levels"),
    ],
)
def test_wrong_calls_of_chunk_plan_name_argument_and_value(call, error, says):
    with pytest.raises(error, match=says):
        call()


# -- tables


@for_each(("size", "stride", "last"), itertools.product((1, 2, 17, 20), (1, 2, 17), ("short", "full")))
def test_chunk_plan_apply_and_undo_of_many_windows_are_inverse(size, stride, last):
    """More windows than a sort of few numbers keeps in order, with documents at both ends that have none."""
    if stride > size:
        return
    lengths = [0, 45, 1, size, 0, size + 1, 38, 0]
    x = documents_of(lengths, np.float64)
    plan = chunk_plan(lengths, size, stride, last)
    where = [meaning.windows(one, size, stride, last == "full") for one in x.tolist()]
    said = LoDTensor(np.random.default_rng(1).integers(-9, 9, plan.lod.num_rows) * 0.5, plan.lod)
    for reduce in ("first", "mean"):
        back = plan.undo(said, reduce).tolist()
        pairs = zip(said.tolist(), where, lengths, strict=True)
        want = [meaning.undo(pieces, found, length, reduce == "first") for pieces, found, length in pairs]
        np.testing.assert_allclose(np.concatenate(back), np.concatenate(want))
        assert list(map(len, back)) == lengths
    assert plan.apply(x).tolist() == [
        [one[a:b] for a, b in found] for one, found in zip(x.tolist(), where, strict=True)
    ]
    for array in (plan.lengths, plan.starts, plan.sizes):
        assert not array.flags.writeable


@for_each(
    "given_",
    [
        [[1], [2, 3]],
        [[1, 2], [3]],
        [[1, 2, 3]],
        [[[1, 2, 3]]],
        [[[1, 2]], [[3]]],
        [[[1, 2], [3]], []],
        [[[[1], [2]], [[3]]]],
    ],
)
@pytest.mark.not_on_reference
def test_windows_that_were_not_planned(given_):
    """All have as many tokens as the windows [[[0, 1], [2]]]; only the last one's parts are the planned ones."""
    with pytest.raises(LoDError, match=r"ChunkPlan.undo: y: has windows other than the 2"):
        chunk_plan([3], 2).undo(given_)


@pytest.mark.not_on_reference
def test_chunk_plan_refuses_rows_of_other_documents():
    plan = chunk_plan([3], 2, 1)
    for count in (0, 3, 5, 8):
        with pytest.raises(LoDError, match=f"has {count} rows; the windows have 4"):
            plan.undo(np.arange(count))
    for lengths in ([2], [3, 1], [4], [1, 2]):
        same = len(lengths) == 1
        with pytest.raises(LoDError, match="document 0 has" if same else f"has {len(lengths)} documents"):
            plan.apply(documents_of(lengths))
    for size in (1, 2, 3):
        with pytest.raises(ValueError, match=f"stride: is {size + 1}; at most the size {size}"):
            chunk_plan([3], size, size + 1)


@for_each(
    ("dtype", "separator", "holds"),
    [
        *((dtype, value, holds) for dtype in ("i8", "u1", "i2") for value, holds in (
            (0, True), (7, True), (2.0, True), (np.uint64(7), True), (2.5, False), (np.nan, False), (1j, False),
            (2**70, False), ([1, 2], False), (None, True))),
        *((dtype, value, True) for dtype in ("f4", "f8") for value in (0, 2.5, np.nan, -np.inf)),
        ("u1", 255, True), ("u1", 256, False), ("u1", -1, False), ("i2", -32768, True), ("i2", 32768, False),
        ("f4", 1e300, False), ("f4", 1j, False), ("f4", "x", False), ("c8", 1j, True),
    ],
)  # fmt: skip
@pytest.mark.not_on_reference
def test_concat_and_cut_refuses_separators_that_the_dtype_cannot_hold(dtype, separator, holds):
    x = documents_of([2, 0, 1], dtype)
    if not holds:
        with pytest.raises((DTypeError, LoDError, ShapeError), match="concat_and_cut: separator: "):
            concat_and_cut(x, 2, separator)
        return
    packed, _ = concat_and_cut(x, 9, separator)
    ends = [] if separator is None else [separator]
    assert packed.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(packed.values, np.array([0, 1, *ends, *ends, 2, *ends], dtype))


@pytest.mark.not_on_reference
def test_fewer_tokens_than_a_window():
    for drop_last, kept in ((False, 3), (True, 0), (np.True_, 0), (0, 3), (1, 0)):
        packed, plan = concat_and_cut([[1], [], [2, 3]], 4, drop_last=drop_last)
        assert (packed.num_rows, plan.num_bins, plan.report().num_tokens) == (kept, int(kept > 0), kept)
    for lengths in ([2, 2], [4], [1, 0, 3, 0]):  # exactly one window, which is not shorter
        assert concat_and_cut(documents_of(lengths), 4, drop_last=True)[0].num_rows == 4


@pytest.mark.parametrize("reduce", ["mean", "first"])
def test_chunk_plans_are_applied_and_undone_in_a_program(reduce):
    x = documents_of([4, 0, 7], np.float64)
    plan = chunk_plan(x, size=3, stride=2)
    with lodcore.Program() as program:
        fed = lodcore.data("x", (None,), np.float64, num_levels=1)
        windows = plan.apply(fed)
        found = [windows, plan.undo(windows * 2.0, reduce), plan.undo(rows(windows) * 2.0, reduce)]
    first, *others = lodcore.Executor().run(program, {"x": x}, found)
    assert first.equals(plan.apply(x))
    for one in others:
        assert one.equals(plan.undo(first * 2.0, reduce))
    with pytest.raises(LoDError, match=r"ChunkPlan.apply: x: document 0 has 7 tokens; 4 were planned"):
        lodcore.Executor().run(program, {"x": x[::-1]}, [windows])
    with lodcore.Program() as program:
        back = plan.undo(lodcore.data("y", (None,), np.float64, num_levels=2), reduce)
    with pytest.raises(LoDError, match=r"ChunkPlan.undo: y: has windows other than the 5 that were planned"):
        lodcore.Executor().run(program, {"y": first[::-1]}, [back])
