"""Windows and their inverse, concatenate and cut."""

import itertools
from itertools import chain, groupby
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor
from lodcore.batching import chunk_plan, concat_and_cut
from reference.batching import chunks as meaning
from tests.helpers.plans import document_lengths, documents_of


@st.composite
def calls(draw):
    size = draw(st.integers(1, 6))
    return draw(document_lengths()), size, draw(st.integers(1, size)), draw(st.sampled_from(["short", "full"]))


@given(calls(), st.booleans())
def test_windows_and_back(call, first):
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
def test_gradients(reduce):
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
        (lambda: chunk_plan([3], 2).apply([[1, 2]]), LoDError, "has document 0 of another length"),
        (lambda: chunk_plan([3], 2).apply([[1, 2], [3]]), LoDError, "has 2 documents"),
        (lambda: chunk_plan([3], 2).apply([[[1, 2, 3]]]), LoDError, "has 2 levels"),
        (lambda: chunk_plan([3], 2).undo([[[1], [2, 3]]]), LoDError, "has other windows than the 2"),
        (lambda: chunk_plan([3], 2).undo(np.arange(4)), LoDError, "has 4 rows; the windows have 3"),
        (lambda: chunk_plan([3], 2).undo(np.arange(3), "max"), ValueError, "reduce: is 'max'"),
        (lambda: concat_and_cut([[1]], 0), ValueError, "size: is 0"),
        (lambda: concat_and_cut([[1]], 2, "x"), DTypeError, "separator: is 'x'"),
        (lambda: concat_and_cut([[[1]]], 2), LoDError, "has 2 levels"),
    ],
)
def test_wrong_calls(call, error, says):
    with pytest.raises(error, match=says):
        call()
