"""Operands that agree in rows, bytes or values, but not in lengths or in width.

An operator of several tensors with levels is called with one of them changed. Either it raises, or the result is the
oracle's for the changed call; if the oracle finds that the lists do not match, it must raise.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, TensorArray
from lodcore.operators.registry import OPS
from lodcore.testing.samples import Sample, elements_of, of_elements, sample_of, with_tensors
from tests.helpers.agree import assert_close, numbers, tolerance_of
from tests.samples import SAMPLES
from tests.samples.common import small_values

pytestmark = pytest.mark.not_on_reference  # operands reach all kernels as the same arrays

#: Operators of several tensors with levels.
NAMES = [
    *["add", "minus", "mul", "div", "where", "elementwise", "equal", "not_equal", "logical_and", "logical_or"],
    *["less_than", "less_equal_than", "greater_than", "greater_equal_than", "cross_entropy", "with_values", "spread"],
    *["concat_batches", "concat_values", "sequence_concat", "interleave_places", "cartesian", "merge_by_mask"],
    *["sequence_expand", "sequence_expand_as", "sequence_matmul", "dot_attention", "sequence_scatter"],
    *["select_by_mask", "take_nested", "gather_nested", "repeat_runs", "sequence_repeat"],
    *["sequence_interp", "sequence_searchsorted", "sequence_unflatten", "beam_search", "beam_search_decode"],
    *["last_of_steps", "map_fn_results", "tensor_array_concat", "tensor_array_pack", "tensor_array_stack"],
]
REFUSED = (TypeError, ValueError, IndexError)  # LodError, ShapeError and DTypeError are subclasses


def nested_of(sample):
    """List the tensors with levels of a call, including those in arrays of steps."""
    found = []
    changed(sample, lambda x: found.append(x) or x)
    return found


def changed(sample, change):
    """Make the same call with a replacement for each tensor with levels."""

    def replace(x):
        if isinstance(x, TensorArray):
            return of_elements([None if one is None else replace(one) for one in elements_of(x)])
        return change(x) if isinstance(x, LoDTensor) and x.num_levels else x

    return with_tensors(sample, replace)


def other_lengths(x, k):
    """Move an element from one sequence of level k to a neighbour: the numbers of sequences and of rows stay."""
    lengths = [x.lod.lengths(level).copy() for level in range(x.num_levels)]
    sizes = lengths[k]
    for s in range(len(sizes) - 1):
        if sizes[s] != sizes[s + 1]:
            sizes[[s, s + 1]] = sizes[[s + 1, s]]
            return LoDTensor(x.values, LoD.from_lengths(*lengths))
        if sizes[s]:
            sizes[[s, s + 1]] += [-1, 1]
            return LoDTensor(x.values, LoD.from_lengths(*lengths))
    return None


def other_count(x, k):
    """Insert an empty sequence after those of level k: as many rows, one sequence more."""
    lengths = [x.lod.lengths(level) for level in range(x.num_levels)]
    lengths[k] = np.append(lengths[k], 0)
    if k:
        if not len(lengths[k - 1]):
            return None
        lengths[k - 1] = np.append(lengths[k - 1][:-1], lengths[k - 1][-1] + 1)
    return LoDTensor(x.values, LoD.from_lengths(*lengths))


def other_width(x, seed):
    """Make rows of the same number of bytes, of a dtype of half the size: twice as wide."""
    halves = {"f8": "f4", "f4": "f2", "i8": "i4", "u8": "u4", "i4": "i2", "i2": "i1", "u2": "u1"}
    half = halves.get(x.dtype.str[1:])
    if half is None:
        return None
    shape = x.values.shape[1:]
    values = small_values(seed, (x.num_rows, *shape[:-1], 2 * shape[-1] if shape else 2), half)
    assert values.nbytes == x.values.nbytes
    return LoDTensor(values, x.lod)


def wider(x, seed):
    """Make rows of the same dtype that are twice as wide, as those of two sequences might be."""
    shape = x.values.shape[1:]
    if x.dtype.kind not in "fiub" or not shape:
        return None
    return LoDTensor(small_values(seed, (x.num_rows, *shape[:-1], 2 * shape[-1]), x.dtype), x.lod)


def others_of(x, seed):
    """List the tensors with which a tensor could be confused."""
    levels = range(x.num_levels)
    made = [other(x, k) for k in levels for other in (other_lengths, other_count)]
    return [one for one in [*made, other_width(x, seed), wider(x, seed)] if one is not None]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=min(8, settings.default.max_examples), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_operators_refuse_operands_that_agree_in_rows_bytes_or_values_only(name, data):
    """Each operand is replaced by every tensor with which it could be confused."""
    op, samples = OPS[name], SAMPLES[name]
    sample = sample_of(data.draw(samples.calls))
    tensors = nested_of(sample)
    assume(len(tensors) > 1)
    seed = data.draw(st.integers(0, 99))
    others = [(at, made) for at, x in enumerate(tensors) for made in others_of(x, seed)]
    assume(others)
    for at, made in others:
        if name != "sequence_searchsorted" or at or is_sorted(made):
            check_other(op, samples, sample, at, made)


def is_sorted(x):
    return repr(lodcore.ops.sequence_sort(x).tolist()) == repr(x.tolist())


def check_other(op, samples, sample, at, made):
    """Replace one tensor of a call: the result is that of the oracle, or the call is refused."""
    places = iter(range(len(nested_of(sample))))
    call = changed(sample, lambda x: made if next(places) == at else x)
    try:
        wanted = samples.expected(op.bind(call.args, call.kwargs))
    except ZeroDivisionError:
        return
    except Exception:  # the oracle finds that the lists do not match
        wanted = None
    try:
        with np.errstate(all="ignore"):
            result = op(*call.args, **call.kwargs)
    except REFUSED:
        return
    assert wanted is not None, f"{result!r} of {Sample(*call)}"
    assert_close(numbers(result), wanted, samples.exact, tolerance_of(result))


#: Structures of three levels that agree in the number of sequences of each level, and differ in one level.
ALIKE = {
    None: ([2, 1], [2, 0, 1], [1, 3, 2]),
    0: ([1, 2], [2, 0, 1], [1, 3, 2]),
    1: ([2, 1], [0, 2, 1], [1, 3, 2]),
    2: ([2, 1], [2, 0, 1], [3, 1, 2]),
}


@pytest.mark.parametrize("odd", [0, 1, 2])
@pytest.mark.parametrize("level", [0, 1, 2, -1])
@pytest.mark.parametrize("place", [1, 2])
def test_operators_refuse_operands_that_differ_in_any_kept_level(place, level, odd):
    k = level % 3
    xs = [lodcore.LoDTensor.from_lengths(np.arange(6.0), *ALIKE[None]) for _ in range(3)]
    xs[place] = lodcore.LoDTensor.from_lengths(np.arange(6.0), *ALIKE[odd])
    count = xs[0].lod.num_sequences(k)
    calls = {
        "sequence_concat": (lambda: lodcore.sequence_concat(xs, level), odd < k),
        "interleave_places": (lambda: lodcore.ops.interleave_places(xs, level), odd < k),
        "merge_by_mask": (
            lambda: lodcore.merge_by_mask(xs[0], xs[place], np.arange(2 * count) % 2 == 0, level),
            odd < k - 1,
        ),
    }
    for name, (call, refused) in calls.items():
        if refused:
            with pytest.raises(lodcore.LoDError, match=f"{name}: .*(level {odd}|levels)"):
                call()
        elif name != "merge_by_mask":  # for which the mask, too, depends on the structures
            call()


@pytest.mark.parametrize("odd", [0, 1, 2])
@pytest.mark.parametrize("level", [1, 2, -1, -2])
def test_sequence_expand_refuses_rows_of_other_sequences(level, odd):
    """The levels of x must be those of y before the level, also if both have as many sequences."""
    k = level % 3
    y, other = (lodcore.LoDTensor.from_lengths(np.arange(6.0), *ALIKE[at]) for at in (None, odd))
    lod = other.lod.prefix(k)
    x = LoDTensor(np.arange(float(lod.num_rows)), lod)
    for reference in (y, y.lod):
        if odd < k:
            with pytest.raises(lodcore.LoDError, match=f"sequence_expand_as: x: .*level {odd}"):
                lodcore.sequence_expand_as(x, reference, level)
        else:
            wanted = np.repeat(x.values, {1: [4, 0, 2], 2: [1, 3, 2]}[k])
            assert lodcore.sequence_expand_as(x, reference, level).values.tolist() == wanted.tolist()
