"""Packed matrices: products, exact if nothing is rounded, and approximate otherwise."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, read_only
from tests.helpers.matrices import packed, packed_size
from tests.helpers.paths import on_each_path
from tests.helpers.tables import for_each

DTYPES = st.sampled_from([np.dtype("f4"), np.dtype("f8")])
SIZES = st.sampled_from([0, 1, 2, 3, 5, 11, 12, 13, 16, 31, 32, 33, 50, 64, 70])
SEEDS = st.integers(0, 2**32)


def whole(seed, *shape, dtype):
    """Make small integers, whose sums of products are exact."""
    return read_only(np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype))


@pytest.mark.not_on_reference
class TestTwins:
    @given(SEEDS, SIZES, SIZES, DTYPES)
    def test_zeros(self, seed, depth, columns, dtype):
        """ "matrix.is_zero"."""
        random = np.random.default_rng(seed)
        matrix = np.zeros((depth, columns), dtype) * random.choice([1, -1])
        for value in (0, 1e-45, 3, np.inf, -np.inf, np.nan):
            if matrix.size:
                matrix[random.integers(depth), random.integers(columns)] = value
            zero = agree("matrix.is_zero", matrix)
            assert zero == (not matrix.any())

    @given(SEEDS, SIZES, SIZES, DTYPES, st.booleans())
    def test_pack(self, seed, depth, columns, dtype, transposed):
        shape = (columns, depth) if transposed else (depth, columns)
        out = unwritten(packed_size(depth, columns, dtype), dtype=dtype)
        agree("matrix.pack_columns", whole(seed, *shape, dtype=dtype), transposed, out)

    @given(SEEDS, SIZES, SIZES, SIZES, DTYPES, st.booleans())
    def test_multiply(self, seed, rows, depth, columns, dtype, adding):
        rows, depth = min(rows, 20), min(depth, 33)
        left, matrix = whole(seed, rows, depth, dtype=dtype), whole(seed + 1, depth, columns, dtype=dtype)
        out = np.random.default_rng(seed).integers(-3, 4, (rows, columns)).astype(dtype)
        agree("matrix.multiply_packed", left, read_only(packed(matrix)), adding, out)

    @given(SEEDS, SIZES, SIZES, SIZES, DTYPES, st.booleans(), st.booleans())
    def test_pairs(self, seed, pairs, rows, columns, dtype, adding, indexed):
        random = np.random.default_rng(seed)
        rows, pairs = min(rows, 16), min(pairs, 33)
        left, right = whole(seed, pairs, rows, dtype=dtype), whole(seed + 1, pairs, columns, dtype=dtype)
        indices = [read_only(int64(random.integers(0, pairs, pairs // 2))) if indexed else None for _ in range(2)]
        out = random.integers(-3, 4, (rows, columns)).astype(dtype)
        agree("matrix.multiply_pairs", left, indices[0], right, indices[1], adding, out)

    def test_is_fast_is_a_bool_and_false_for_the_twin(self):
        """Kernels may be compiled for it, the twin never is: its products are those of NumPy."""
        from reference.kernels import matrix as twin

        assert type(kernels.matrix.is_fast()) is bool, "matrix.is_fast"
        assert twin.is_fast() is False


@given(SEEDS, st.sampled_from([1, 5, 47, 48, 49, 130]), st.sampled_from([1, 100, 256, 257, 600]), SIZES, DTYPES)
@pytest.mark.not_on_reference
def test_large_products_are_those_of_numpy(seed, rows, depth, columns, dtype):
    random = np.random.default_rng(seed)
    left, matrix = random.standard_normal((rows, depth)).astype(dtype), random.standard_normal((depth, columns))
    matrix, out = matrix.astype(dtype), np.empty((rows, columns), dtype)
    near = {"rtol": 0, "atol": (rows + depth) * (3e-7 if dtype == np.float32 else 1e-15)}
    for transposed in (False, True):
        given_matrix = np.ascontiguousarray(matrix.T) if transposed else matrix
        kernels.matrix.multiply_packed(left, packed(given_matrix, transposed), False, out)
        np.testing.assert_allclose(out, left @ matrix, **near)
    total = np.empty((depth, columns), dtype)
    right = random.standard_normal((rows, columns)).astype(dtype)
    kernels.matrix.multiply_pairs(left, None, right, None, False, total)
    np.testing.assert_allclose(total, left.T @ right, **near)


@pytest.mark.not_on_reference
@given(SEEDS, st.integers(1, 60), st.integers(1, 300), SIZES, DTYPES)
def test_rows_of_a_product_do_not_depend_on_other_rows(seed, rows, depth, columns, dtype):
    random = np.random.default_rng(seed)
    left, matrix = random.standard_normal((rows, depth)).astype(dtype), random.standard_normal((depth, columns))
    weight, out = packed(matrix.astype(dtype)), np.empty((rows, columns), dtype)
    kernels.matrix.multiply_packed(left, weight, False, out)
    for r in {0, rows // 2, rows - 1}:
        alone = np.empty((1, columns), dtype)
        kernels.matrix.multiply_packed(left[r : r + 1], weight, False, alone)
        assert alone.tobytes() == out[r : r + 1].tobytes()
    cut = columns // 2 // 32 * 32
    parts = np.empty((depth, columns), dtype)
    kernels.matrix.multiply_pairs(left, None, out, None, False, parts)
    for columns_of in (slice(cut), slice(cut, columns)):
        some = np.empty((depth, columns), dtype)
        kernels.matrix.multiply_pairs(left, None, out[:, columns_of], None, False, some[:, columns_of])
        assert some[:, columns_of].tobytes() == parts[:, columns_of].tobytes()


@pytest.mark.large
@for_each("dtype", ["f4", "f8"])
@for_each("adding", [False, True])
@for_each(
    ("rows", "depth", "columns"),
    [(1, 0, 3), (50, 0, 40), (1, 513, 33), (48, 520, 5), (49, 600, 33), (96, 257, 31), (100, 3, 65), (48, 1, 1)],
)
def test_several_blocks_of_integers(rows, depth, columns, adding, dtype):
    """More than two blocks of rows and of depth, or none: exact, regardless of the previous content of the result."""
    dtype = np.dtype(dtype)
    left, matrix = whole(1, rows, depth, dtype=dtype), whole(2, depth, columns, dtype=dtype)
    product = left.astype(int) @ matrix.astype(int)
    out, total = np.full((rows, columns), 5, dtype), np.full((rows, columns), 7, dtype)
    kernels.matrix.multiply_packed(left, packed(matrix), adding, out)
    np.testing.assert_array_equal(out, product + 5 * adding)
    kernels.matrix.multiply_pairs(np.ascontiguousarray(left.T), None, matrix, None, adding, total)
    np.testing.assert_array_equal(total, product + 7 * adding)
    order = np.random.default_rng(3).permutation(depth)
    total[:] = 7
    kernels.matrix.multiply_pairs(np.ascontiguousarray(left.T), int64(order), matrix, int64(order), adding, total)
    np.testing.assert_array_equal(total, product + 7 * adding)


def test_views_of_columns():
    left, right = np.arange(12.0).reshape(3, 4), np.arange(21.0).reshape(3, 7)
    out = np.zeros((2, 9))
    kernels.matrix.multiply_pairs(left[:, 1:3], None, right[:, 2:6], None, False, out[:, 3:7])
    np.testing.assert_array_equal(out[:, 3:7], left[:, 1:3].T @ right[:, 2:6])
    assert not out[:, :3].any()
    assert not out[:, 7:].any()


def digest():
    """Compute products of all kinds of shapes, and hash them; nothing for a processor without fused products."""
    found = hashlib.sha256()
    random = np.random.default_rng(3)
    for seed in range(60):
        dtype = [np.dtype("f4"), np.dtype("f8")][seed % 2]
        rows, depth, columns = (int(random.integers(1, most)) for most in (70, 300, 150))
        left, matrix = (random.standard_normal(shape).astype(dtype) for shape in ((rows, depth), (depth, columns)))
        out, total = np.empty((rows, columns), dtype), np.zeros((depth, columns), dtype)
        kernels.matrix.multiply_packed(left, packed(matrix), False, out)
        kernels.matrix.multiply_pairs(left, None, out, None, True, total)
        found.update(out.tobytes() + total.tobytes())
    return found.hexdigest() if kernels.matrix.is_fast() else ""


def products_of_integers():
    """Compute products that are exact, in blocks and panels that are full and that are not; name the wrong ones."""
    random, wrong = np.random.default_rng(4), []
    for seed in range(24):
        dtype, adding = np.dtype(["f4", "f8"][seed % 2]), seed % 3 == 0
        rows, depth, columns = (int(random.integers(1, most)) for most in (70, 300, 90))
        left, matrix = (whole(seed, *shape, dtype=dtype) for shape in ((rows, depth), (depth, columns)))
        out, total = np.full((rows, columns), 5, dtype), np.full((depth, columns), 7, dtype)
        kernels.matrix.multiply_packed(left, packed(matrix), adding, out)
        kernels.matrix.multiply_pairs(left, None, left @ matrix, None, adding, total)
        right = (out == left @ matrix + 5 * adding).all() and (total == left.T @ (left @ matrix) + 7 * adding).all()
        wrong += [] if right else [(dtype.str, rows, depth, columns, adding)]
    return wrong


@pytest.mark.beyond_the_rules
def test_every_path_multiplies_integers_exactly():
    """Also the plain loop, for processors without fused products."""
    assert set(on_each_path("tests.kernels.test_matrix", "products_of_integers").values()) == {"[]"}


@pytest.mark.not_on_reference
def test_every_fused_path_has_the_same_bits():
    assert len(set(on_each_path("tests.kernels.test_matrix", "digest").values()) - {""}) <= 1


def test_arrays_that_do_not_belong_together():
    matrix, out = np.ones((2, 3)), np.full((2, 3), 7.0)
    weight = packed(matrix)
    for call, says in [
        (lambda: kernels.matrix.pack_columns(matrix, False, np.empty(31)), "matrix and out"),
        (lambda: kernels.matrix.pack_columns(matrix, True, np.empty(32)), "matrix and out"),
        (lambda: kernels.matrix.multiply_packed(matrix, weight, False, out), "left, packed and out"),
        (lambda: kernels.matrix.multiply_packed(np.ones((3, 2)), weight, False, out), "left, packed and out"),
        (lambda: kernels.matrix.multiply_pairs(matrix, None, matrix, None, False, out), "left, right and out"),
        (
            lambda: kernels.matrix.multiply_pairs(matrix, int64([0]), matrix, None, False, np.ones((3, 3))),
            "left, right",
        ),
        (
            lambda: kernels.matrix.multiply_pairs(matrix, int64([0, 2]), matrix, None, False, np.ones((3, 3))),
            "an index leaves",
        ),
        (
            lambda: kernels.matrix.multiply_pairs(matrix, None, matrix, int64([-1, 0]), False, np.ones((3, 3))),
            "an index leaves",
        ),
        (
            lambda: kernels.matrix.multiply_pairs(matrix, None, matrix, int64([0, 2]), False, np.ones((3, 3))),
            "an index leaves",
        ),
    ]:
        with pytest.raises(ValueError, match=says):
            call()
    assert (out == 7).all()


@pytest.mark.beyond_the_rules
@for_each("strides", [(12, 8), (24, 16), (24, 4)])
def test_matrices_with_unaligned_strides_are_refused(strides):
    askew, matrix, square = (
        np.lib.stride_tricks.as_strided(np.ones(9), (2, 3), strides),
        np.ones((2, 3)),
        np.ones((3, 3)),
    )
    for call in [
        lambda: kernels.matrix.pack_columns(askew, False, np.empty(32)),
        lambda: kernels.matrix.multiply_packed(askew, packed(square), False, np.ones((2, 3))),
        lambda: kernels.matrix.multiply_packed(np.ones((2, 3)), packed(square), False, askew),
        lambda: kernels.matrix.multiply_pairs(askew, None, matrix, None, False, square),
        lambda: kernels.matrix.multiply_pairs(matrix, None, askew, None, False, square),
    ]:
        with pytest.raises(ValueError, match="belong together"):
            call()
