"""assert_isolated: changes of one document that reach another one are found and named."""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoD, LoDError, LoDTensor, ShapeError
from lodcore.batching import assert_isolated, attention_inputs, pack_plan
from tests.helpers.tables import for_each

RANDOM = np.random.default_rng(3)

X = LoDTensor(RANDOM.standard_normal((23, 4)), LoD.from_lengths([3, 0, 2, 2], [4, 1, 6, 3, 0, 5, 4]))

MIX = RANDOM.standard_normal((4, 4))


def attention(x, mask):
    """One head over all rows at once."""
    scores = np.where(mask, x @ MIX @ x.T, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ x


def block_diagonal(x):
    ids = x.lod.segment_ids(1)
    return ids[:, None] == ids[None, :]


def test_attention_with_the_mask_is_isolated():
    assert_isolated(lambda x: attention(x.values, block_diagonal(x)), X)
    inputs = attention_inputs(LoDTensor(np.arange(23), X.lod))
    assert_isolated(lambda x: attention(x.values, inputs.mask()[0]), X)


def test_packed_attention_equals_one_document_at_a_time():
    plan = pack_plan([4, 1, 6, 3, 0, 5, 4], 10)
    x = LoDTensor(X.values, X.lod.drop(0))
    packed = plan.apply(x)
    out = plan.undo(attention(packed.values, block_diagonal(packed)))
    for document, one in zip(out, x, strict=True):
        if len(one):
            np.testing.assert_allclose(document, attention(one, np.ones((len(one),) * 2, bool)))


@pytest.mark.parametrize("pair", [(0, 2), (2, 0), (5, 6), (0, 6), (6, 0), (3, 5)])
def test_assert_isolated_names_the_documents_of_a_leak(pair):
    source, victim = pair
    owners, bins = X.lod.segment_ids(1), [0, 0, 0, 2, 2, 3, 3]

    def leaky(x):
        out = x.values.copy()
        out[owners == victim] += 0.01 * x.values[owners == source].sum()
        return out

    says = rf"document {source} \(bin {bins[source]}\) changes document {victim} \(bin {bins[victim]}\) by"
    with pytest.raises(AssertionError, match=says):
        assert_isolated(leaky, X)


def test_assert_isolated_finds_positions_without_a_mask():
    """A common mistake: positions that restart, without a mask."""
    with pytest.raises(AssertionError, match="changes document"):
        assert_isolated(lambda x: attention(x.values, np.tri(len(x.values), dtype=bool)), X)


def test_assert_isolated_finds_leaks_between_bins():
    mean = lambda x: x.values - x.values.mean(axis=0)  # noqa: E731
    with pytest.raises(AssertionError, match="changes document"):
        assert_isolated(mean, X)


def test_assert_isolated_changes_integers_within_their_range():
    ids = LoDTensor(RANDOM.integers(0, 5, 23), X.lod)
    seen = []

    def f(x):
        seen.append(x.values)
        return MIX[x.values % 4]

    assert_isolated(f, ids)
    assert all(np.isin(one, ids.values).all() for one in seen)
    assert any((one != ids.values).any() for one in seen)


@for_each("shape", [(3,), (3, 2)])
@for_each("dtype", ["f2", "f4", "f8", ">f4", "i1", "u1", "i4", "u8", ">i2"])
def test_changed_documents_have_the_dtype_of_the_packed_ones(dtype, shape):
    packed = LoDTensor.from_lengths(np.arange(np.prod(shape)).reshape(shape).astype(dtype), [1, 1], [2, 1])
    seen = []
    assert_isolated(lambda x: seen.append(x.values) or x.values, packed)
    assert {one.dtype for one in seen} == {packed.values.dtype}
    assert {one.shape for one in seen} == {shape}
    with pytest.raises(AssertionError, match="changes document"):
        assert_isolated(lambda x: x.values.astype(float)[::-1], packed)


def test_assert_isolated_takes_a_change_of_the_caller():
    words = LoDTensor(np.full(23, 7), X.lod)
    with pytest.raises(DTypeError, match="one value only; change= must say how"):
        assert_isolated(lambda x: x.values, words)
    assert_isolated(lambda x: x.values, words, change=lambda rows, random: rows + 1)
    with pytest.raises(ShapeError, match="change: returned shape"):
        assert_isolated(lambda x: x.values, words, change=lambda rows, random: rows[1:])


@pytest.mark.parametrize(
    ("f", "error", "says"),
    [
        (lambda x: np.zeros(23), AssertionError, "nothing can be shown"),
        (lambda x: np.zeros(22), ShapeError, r"returned shape \(22,\)"),
        (lambda x: np.array(["a"] * 23), DTypeError, "returned dtype"),
    ],
)
def test_assert_isolated_of_functions_that_ignore_their_input_raises(f, error, says):
    with pytest.raises(error, match=says):
        assert_isolated(f, X)


def test_assert_isolated_compares_results_without_numbers():
    with pytest.raises(AssertionError, match="nothing can be shown"):
        assert_isolated(lambda x: np.zeros((23, 0)), X)


@pytest.mark.parametrize("kind", ["bool", "S1", "complex128"])
def test_assert_isolated_of_other_dtypes_needs_a_change(kind):
    flags = LoDTensor(np.arange(23).astype("i8").astype(kind), X.lod)
    with pytest.raises(DTypeError, match=rf"packed: has {flags.dtype}; change= must say how"):
        assert_isolated(lambda x: X.values, flags)


def test_assert_isolated_of_one_document_and_of_none():
    assert_isolated(lambda x: x.values, [[[1.0, 2.0]]])
    with pytest.raises(LoDError, match="packed: has no rows; documents with at least one are needed"):
        assert_isolated(lambda x: x.values, LoDTensor(np.zeros(0), LoD.from_lengths([0, 0], [])))
    with pytest.raises(LoDError, match="has 1 level"):
        assert_isolated(lambda x: x, [[1.0]])


def test_operators_are_isolated():
    assert_isolated(lambda x: lodcore.sequence_softmax(x), X)
    assert_isolated(lambda x: lodcore.sequence_conv(x, MIX.repeat(3, axis=0), 3), X)


SMALL = LoDTensor(np.arange(22.0), LoD.from_lengths([5, 6], [2] * 11))


@for_each(("source", "victim"), [(s, v) for s in (0, 3, 7, 8, 10) for v in range(11) if s != v])
def test_a_leak_between_any_two_documents_is_found(source, victim):
    """Into one row of the victim, in one column, or as nan in place of a number."""
    row, column = (source + victim) % 2, victim % 3

    def leaky(x, change):
        rows = np.repeat(x.values[:, None], 3, axis=1)
        rows[2 * victim + row, column] = change(rows[2 * victim + row, column], x.values[2 * source])
        return rows

    moved = [lambda old, new: old + new, lambda old, new: old if new == 2 * source else np.nan]
    for change in [*moved, lambda old, new: old if new != 2 * source else np.nan]:
        says = rf"document {source} \(bin {int(source > 4)}\) changes document {victim} \(bin {int(victim > 4)}\)"
        with np.errstate(invalid="ignore"), pytest.raises(AssertionError, match=says):
            assert_isolated(lambda x: leaky(x, change), SMALL)  # noqa: B023


def test_assert_isolated_compares_within_the_given_tolerance():
    def leaky(size):
        return lambda x: 10.0 * np.sign(x.values) + size * x.values.sum() / (1 + abs(x.values.sum()))

    for size in (1e-2, 1e-3):
        with pytest.raises(AssertionError, match="changes document"):
            assert_isolated(leaky(size), SMALL, tolerance=1e-9)
        assert_isolated(leaky(size), SMALL, tolerance=1e-2)
    other = np.array([np.inf, np.nan, -np.inf, 0])
    for scale in (1e-9, 1.0, 1e9):  # relative to the greatest finite number, which may be small
        for f in (lambda x: leaky(1e-3)(x) * scale, lambda x: np.append(leaky(1e-3)(x)[:-4] * scale, other)):  # noqa: B023
            with pytest.raises(AssertionError, match="changes document"):
                assert_isolated(f, SMALL, tolerance=1e-8)
            assert_isolated(f, SMALL, tolerance=1e-2)


def test_assert_isolated_checks_the_changes_and_leaves_inputs_alone():
    def in_place(rows, random):
        rows[:] = rows + 1
        return rows

    before = SMALL.values.copy()
    assert_isolated(lambda x: x.values * 2, SMALL, change=in_place)
    assert (SMALL.values == before).all()
    for change in (lambda rows, random: rows.astype("f4"), lambda rows, random: (rows + 1).astype(int),
                   lambda rows, random: rows[:-1], lambda rows, random: rows[:, None]):  # fmt: skip
        with pytest.raises(ShapeError, match=r"change: returned shape .* of .*; \(22,\) of float64 is needed"):
            assert_isolated(lambda x: x.values, SMALL, change=change)
    for f, says in ((lambda x: np.append(x.values, 0), r"returned shape \(23,\)"), (lambda x: x.values[1:], r"\(21,\)"),
                    (lambda x: x.values.sum(), r"returned shape \(\)")):  # fmt: skip
        with pytest.raises(ShapeError, match=says):
            assert_isolated(f, SMALL)
    with pytest.raises(DTypeError, match="f: returned dtype complex128; real numbers"):
        assert_isolated(lambda x: x.values * 1j, SMALL)
    with pytest.raises(LoDError, match="has 1 level; bins of documents have 2 or more"):
        assert_isolated(lambda x: x.values, [[1.0, 2.0], [3.0]])
    for f in (lambda x: np.zeros(2), lambda x: np.arange(2)):
        with pytest.raises(AssertionError, match="nothing can be shown"):
            assert_isolated(f, [[[1.0, 2.0]]])  # also with one document


def test_changed_integers_all_differ():
    ids = LoDTensor(np.array([3, 3, 5, 9] * 20), LoD.from_lengths([2], [40, 40]))
    seen = []
    for seed in range(3):
        assert_isolated(lambda x: seen.append(x.values) or x.values * 2.0, ids, seed=seed)
    changed = [one for one in seen if (one != ids.values).any()]
    assert len(changed) == 6
    for one in changed:
        assert set(one.tolist()) == {3, 5, 9}
        assert (one != ids.values).sum() == 40  # all tokens of one of both documents
