"""Effects of many rows, of the limits of a dtype, and of identity moves: compared with NumPy and plain Python."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, SparseTensor, ops, vjp

pytestmark = pytest.mark.not_on_reference
INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@pytest.mark.parametrize("many", [1, 100])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_keys_may_be_as_far_apart_as_their_dtype_allows(dtype, many):
    ends = np.iinfo(dtype)
    middle = (ends.max + ends.min) // 2
    for some in ([ends.min, ends.max], [ends.max, middle, ends.min], [middle, ends.max], [ends.max - 100, ends.max]):
        key = np.tile(np.array(some, dtype), many)
        keys, groups = lodcore.group_rows(key)
        wanted, counts = np.unique(key, return_counts=True)
        assert keys.dtype == key.dtype
        assert keys.tolist() == wanted.tolist()
        assert groups.lengths.tolist() == counts.tolist()
        assert groups.tolist() == [np.flatnonzero(key == one).tolist() for one in wanted]


@pytest.mark.parametrize("dtype", [*INTEGERS, "?", "f2"])
@pytest.mark.parametrize("name", ["sigmoid", "tanh", "exp", "sqrt"])
def test_functions_at_the_ends_of_a_dtype(name, dtype):
    kind = np.dtype(dtype).kind
    ends = {"b": [False, True], "f": [-65504, 65504, -6e-8]}.get(kind) or [np.iinfo(dtype).min, np.iinfo(dtype).max]
    x = np.array([*ends, 0, 1], dtype)
    with np.errstate(all="ignore"):
        found = getattr(ops, name)(x)
        wanted = getattr(ops, name)(x.astype(np.float64)).astype(found.dtype)
    close = 1e-3 if found.dtype == np.float16 else 1e-6
    np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=close)


@pytest.mark.parametrize("count", [1, 255, 256, 257, 600, 1025])
def test_gradients_that_all_rows_share_are_the_sum_over_the_rows(count):
    """For any number of blocks, the gradient of many rows is that of their parts."""
    random = np.random.default_rng(count)
    x, d = random.normal(size=(2, count, 3))
    scale, shift, matrix = random.normal(size=3), random.normal(size=3), random.normal(size=(3, 2))
    calls = {
        "layer_norm": (lambda x, scale, shift: ops.layer_norm(x, scale, shift), [scale, shift], d),
        "matmul": (lambda x, w: lodcore.matmul(x, w), [matrix], d[:, :2].copy()),
        "add": (lambda x, b: lodcore.add(x, b), [shift], d),
        "mul": (lambda x, b: lodcore.mul(x, b), [scale], d),
    }
    for function, shared, cotangent in calls.values():
        whole = vjp(function, x, *shared)[1](cotangent)
        pieces = [slice(start, start + 100) for start in range(0, count, 100)]
        parts = [vjp(function, x[one], *shared)[1](cotangent[one]) for one in pieces]
        np.testing.assert_allclose(whole[0], np.concatenate([part[0] for part in parts]), rtol=1e-9, atol=1e-12)
        for j in range(1, 1 + len(shared)):
            np.testing.assert_allclose(whole[j], sum(part[j] for part in parts), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_an_index_has_its_levels_in_every_order(order, levels):
    nested = [[1, 2], [3], [4, 5, 6]] if levels == 1 else [[[1, 2], []], [[3]], [[4], [5, 6]]]
    x, dense = lodcore.array(nested), np.arange(6.0).reshape(3, 2)
    a, b, c = order
    for index in ([a, b, c], [[a, b], [c]], [[a], [], [b, c]], [[a, b, c]], [[[a], [b, c]], [], [[]]]):

        def taken(one, of):
            return [taken(inner, of) for inner in one] if isinstance(one, list) else of[one]

        given = lodcore.array(index) if isinstance(index[0], list) else np.array(index)
        assert lodcore.gather_nested(x, given).tolist() == taken(index, nested)
        assert lodcore.gather_nested(x, given, default=[]).tolist() == taken(index, nested)
        assert lodcore.gather_nested(dense, given).tolist() == taken(index, dense.tolist())


@pytest.mark.parametrize("dtype", INTEGERS[:4])
@pytest.mark.parametrize("beyond", [-1, 0, 1, 2])
def test_offsets_are_held_by_their_dtype_or_refused(dtype, beyond):
    total = int(np.iinfo(dtype).max) + beyond
    x = LoDTensor.from_lengths(np.zeros(total, np.int8), [total - 28, 28])
    if beyond > 0:
        with pytest.raises(OverflowError, match=rf"offsets: are {total} at position 2; {np.dtype(dtype)} holds"):
            lodcore.cu_seqlens(x, dtype=dtype)
    else:
        assert lodcore.cu_seqlens(x, dtype=dtype).tolist() == [0, total - 28, total]


MAKERS = {
    "array of parts": lambda v: lodcore.array([v, v[:1]]),
    "from_lengths": lambda v: LoDTensor.from_lengths(v, [2, 1]),
    "from_arrays": lambda v: LoDTensor.from_arrays([v[:2], v[2:]]),
    "from_padded": lambda v: LoDTensor.from_padded(v[None], [3]),
    "TensorArray.unstack": lambda v: lodcore.TensorArray.unstack(v).stack(),
    "TensorArray.unstack, axis 1": lambda v: lodcore.TensorArray.unstack(v, 1).stack(),
    "TensorArray.write": lambda v: written(v),
    "SparseTensor": lambda v: SparseTensor([0, 2, 2], v, 4).to_dense(),
    "SparseTensor.merge": lambda v: SparseTensor([0, 2, 2], v, 4).merge().to_dense(),
}


def written(v):
    made = lodcore.TensorArray()
    made.write(0, v)
    return made.stack()


@pytest.mark.parametrize("dtype", ["i2", "f4", "f8", "c16"])
@pytest.mark.parametrize("maker", MAKERS)
def test_what_is_made_of_foreign_bytes_is_native(maker, dtype):
    native = np.arange(6).reshape(3, 2).astype(dtype)
    found, wanted = (MAKERS[maker](given) for given in (native.astype(native.dtype.newbyteorder()), native))
    assert found.dtype.isnative
    assert found.dtype == dtype
    np.testing.assert_array_equal(getattr(found, "values", found), getattr(wanted, "values", wanted))


@pytest.mark.parametrize("place", [0, 1, 15, 63, 64, 65, 199])
@pytest.mark.parametrize(("text", "odd"), [("a", 1), ("a", b"a"), (b"a", "a"), (b"a", 1.5), ("a", True)])
def test_values_of_another_kind_are_found_at_any_place(place, text, odd):
    leaves = [text] * 200
    leaves[place] = odd
    for nested in ([leaves], [leaves[:50], leaves[50:]], [[leaves[:100]], [leaves[100:]]]):
        with pytest.raises(lodcore.DTypeError):
            lodcore.array(nested)


@pytest.mark.parametrize("fill", [0.0, 7.0, [1.0, 2.0]], ids=str)
def test_assignment_by_masks_of_every_count(fill):
    rows = np.arange(6.0).reshape(3, 2)
    for chosen in itertools.product([False, True], repeat=3):
        x = LoDTensor(rows.copy(), lodcore.LoD.from_lengths([2, 1]), share=True)
        wanted = rows.copy()
        wanted[np.array(chosen)] = fill
        x[x.with_values(np.array(chosen))] = fill
        assert x.values.tolist() == wanted.tolist()
