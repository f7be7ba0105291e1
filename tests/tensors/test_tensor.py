"""LoDTensor: constructors, indexing, parts, conversions; DenseTensor and Spec."""

import copy
import pickle
import warnings
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import (
    DenseTensor,
    LoD,
    LoDTensor,
    SparseTensor,
    Spec,
    Tensor,
    TensorArray,
    array,
    concat_batches,
    gather_sequences,
    sequence_slice,
)
from reference.ops import levels as oracle
from tests.helpers.agree import assert_rows, from_the_first, numbered, offsets_of, same, same_memory
from tests.helpers.draw import lod_tensors, lods, odd_forms, values
from tests.helpers.tables import for_each


def bits(array):
    return array.dtype, array.shape, array.tobytes()


# -- constructors ------------------------------------------------------------------------------------------------------


@given(lod_tensors())
def test_makers_of_rows_agree(x):
    rows, lod = x.values, x.lod
    offsets = offsets_of(lod)
    made = [
        LoDTensor(rows, lod),
        LoDTensor.from_offsets(rows, *offsets),
        LoDTensor.from_row_splits(rows, *offsets),
        LoDTensor.from_lengths(rows, *(lod.lengths(k) for k in range(lod.num_levels))),
    ]
    if lod.num_levels == 1:
        made.append(LoDTensor.from_segment_ids(rows, lod.segment_ids(), lod.num_sequences()))
        made.append(LoDTensor.from_starts_stops(rows, lod.offsets()[:-1], lod.offsets()[1:]))
        made.append(LoDTensor.from_arrays([*rows[:0].reshape(0, 0, *rows.shape[1:]), *x], rows.dtype))
    for y in made:
        assert y.lod == lod
        assert y.dtype == rows.dtype
        if len(y):
            assert bits(y.values) == bits(rows)


@given(lod_tensors(), st.sampled_from(["itself", "strided", "byte-swapped", "misaligned", "Fortran"]))
def test_values_of_every_layout(x, layout):
    rows = x.values
    given_rows = {
        "itself": lambda: rows,
        "strided": lambda: np.repeat(rows, 2, axis=0)[::2],
        "byte-swapped": lambda: rows.astype(rows.dtype.newbyteorder()),
        "misaligned": lambda: np.frombuffer(b"\0" + rows.tobytes(), np.uint8)[1:].view(rows.dtype).reshape(rows.shape),
        "Fortran": lambda: np.asfortranarray(rows),
    }[layout]
    if layout == "misaligned" and not rows.nbytes:
        return
    y = LoDTensor(given_rows(), x.lod)
    assert bits(y.values) == bits(rows)
    assert y.values.flags.c_contiguous
    assert y.values.flags.aligned


@pytest.mark.parametrize(
    "dtype", [[("c", ">i4", (2,))], [("c", ">i4", (2,)), ("d", "<i4")], [("a", [("b", ">f8", 3)])]]
)
def test_numbers_of_arrays_in_records_have_the_byte_order_of_the_machine(dtype):
    """NumPy's `isnative` is true for these dtypes, whatever their order is."""
    rows = np.ones(3, dtype)
    x = LoDTensor.from_lengths(rows, [2, 1])
    assert x.dtype == np.dtype(dtype).newbyteorder("=")
    assert x.copy().equals(x)
    assert x.equals(LoDTensor.from_arrays([rows[:2], rows[2:]]))


@given(values(n_rows=6), st.lists(st.tuples(*[st.integers(0, 6)] * 2).map(sorted), max_size=5), st.data())
def test_from_starts_stops(rows, runs, data):
    starts, stops = ([run[end] for run in runs] for end in (0, 1))
    x = LoDTensor.from_starts_stops(
        rows, data.draw(odd_forms(starts)) if runs else starts, data.draw(odd_forms(stops)) if runs else stops
    )
    assert_rows(x, [list(range(start, stop)) for start, stop in runs], 1, rows)


@given(st.data())
def test_from_arrays_joins_one_array_a_sequence(data):
    x = data.draw(lod_tensors(1, 1))
    arrays = [np.array(sequence) for sequence in x]
    if not arrays:
        arrays = [x.values[:0]]
    y = LoDTensor.from_arrays(arrays)
    assert [bits(sequence) for sequence in y] == [bits(array) for array in arrays]
    assert y.values.flags.writeable
    assert not any(np.may_share_memory(y.values, array) for array in arrays)
    out = np.zeros_like(y.values)
    z = LoDTensor.from_arrays(tuple(arrays), out=out)
    assert same_memory(z.values, out)
    assert same(z, y)
    swapped = [array.astype(array.dtype.newbyteorder()) for array in arrays]
    assert same(LoDTensor.from_arrays(swapped), y)
    assert same(LoDTensor.from_arrays(iter(np.repeat(array, 2, axis=0)[::2] for array in arrays)), y)


def test_from_arrays_promotes_as_numpy_does():
    x = LoDTensor.from_arrays([[1, 2], np.array([0.5], np.float32), np.array([True])])
    assert x.dtype == np.float64
    assert x.tolist() == [[1.0, 2.0], [0.5], [1.0]]
    assert LoDTensor.from_arrays([[1, 2]], np.int8).dtype == np.int8
    assert LoDTensor.from_arrays([]).shape == (0, None)
    assert LoDTensor.from_arrays([]).dtype == np.float64


# -- memory --------------------------------------------------------------------------------------------------------


def test_values_are_shared_read_only_unless_share_is_true():
    rows = np.arange(4.0)
    lod = LoD.from_lengths([3, 1])
    for x in (LoDTensor(rows, lod), LoDTensor.from_lengths(rows, [3, 1]), LoDTensor.from_offsets(rows, [0, 3, 4])):
        assert np.shares_memory(x.values, rows)
        assert not x.values.flags.writeable
        assert not x[0].flags.writeable
    assert rows.flags.writeable
    shared = LoDTensor(rows, lod, share=True)
    assert same_memory(shared.values, rows)
    shared[0][1] = 9
    assert rows[1] == 9
    assert shared.lod is lod


def test_memory_from_an_array_method_is_shared_read_only():
    class Lender:
        def __init__(self):
            self.mine = np.arange(3.0)

        def __array__(self, dtype=None, copy=None):
            return self.mine

    lender = Lender()
    for x in (LoDTensor(lender, LoD.from_lengths([3])), LoDTensor.from_lengths(lender, [3])):
        assert not (np.shares_memory(x.values, lender.mine) and x.values.flags.writeable)


@given(lod_tensors())
def test_results_own_their_memory_and_views_share_it(x):
    for copied in (x.clone(), x.to_packed(), copy.deepcopy(x), copy.copy(x)):
        assert same(copied, x)
        assert copied.lod is x.lod
        assert copied.values.flags.writeable
        assert not np.may_share_memory(copied.values, x.values)


# -- indexing ------------------------------------------------------------------------------------------------------


def test_values_give_the_same_view_while_nobody_holds_it():
    """Unchanged unless it is held, or was changed."""
    x = LoDTensor(np.array([1.0, 2.0, 3.0]), LoD.from_lengths([2, 1]), share=True)
    first = id(x.values)
    assert id(x.values) == first
    held, kept = x.values, x.values[1:]
    assert x.values is not held
    assert x.values is not kept.base
    held.setflags(write=False)
    assert x.values.flags.writeable
    del held, kept
    x.values.setflags(write=False)
    assert x.values.flags.writeable
    x.values[0] = 7
    assert x.tolist() == [[7.0, 2.0], [3.0]]


CHANGES = {  # of an attribute of an array in place
    "shape": ("shape", (6, 4)),
    "axes": ("shape", (2, 2, 6)),
    "equal sizes, other strides": ("strides", (8, 32)),
    "dtype": ("dtype", np.dtype(np.int64)),
    "names": ("dtype", np.dtype([("a", np.float64)])),
    "bytes": ("dtype", np.dtype(np.float64).newbyteorder()),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("held", [1, 2, 3])
def test_a_view_that_was_changed_in_place_is_not_handed_out_again(held, share, change):
    wanted = np.arange(24.0).reshape(4, 6)
    x = LoDTensor(wanted.copy(), LoD.from_lengths([3, 1]), share=share)
    views = [x.values for _ in range(held)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy, for strides
        for j in range(held):
            setattr(views[j], *CHANGES[change])
    del views
    for again in [x.values, x.values, x.values]:
        assert (again.shape, again.strides, again.dtype) == ((4, 6), (48, 8), np.dtype(np.float64))
        assert again.flags.writeable == share
        np.testing.assert_array_equal(again, wanted)
    np.testing.assert_array_equal((x + 0.0).values, wanted)


@given(lod_tensors(), st.none() | st.integers(-12, 12), st.none() | st.integers(-12, 12))
def test_index_slice_and_iteration_are_views(x, start, stop):
    nested = numbered(x.lod)
    for one_by_one in (list(x), [x[i] for i in range(len(x))], [x[np.int8(i - len(x))] for i in range(len(x))]):
        assert len(one_by_one) == len(nested)
        for element, sequence in zip(one_by_one, nested, strict=True):
            assert_rows(element, sequence, x.num_levels - 1, x.values)
            assert_view(element, x)
    assert_rows(x[start:stop], nested[start:stop], x.num_levels, x.values)
    assert_view(x[start:stop], x)
    assert x[:].lod == x.lod


def assert_view(y, x):
    array = y.values if isinstance(y, LoDTensor) else y
    assert array.flags.writeable == x.values.flags.writeable
    assert array.nbytes == 0 or np.shares_memory(array, x.values)


@given(lods(0, 0), st.data())
def test_without_levels_rows_are_indexed(lod, data):
    x = LoDTensor(data.draw(values(n_rows=lod.num_rows)), lod)
    assert len(x) == lod.num_rows
    assert [np.asarray(row).tobytes() for row in x] == [row.tobytes() for row in x.values]
    assert bits(x[1:].values) == bits(x.values[1:])
    assert same_memory(np.asarray(x), x.values)
    assert len(x.to_arrays()) == len(x)
    assert x.lod == lod


# -- queries -----------------------------------------------------------------------------------------------------------


@given(lod_tensors())
def test_lod_tensor_answers_questions_about_shape_size_and_levels(x):
    assert x.shape == (x.lod.num_sequences(), *[None] * x.num_levels, *x.values.shape[1:])
    assert x.ndim == len(x.shape)
    assert (x.size, x.nbytes, x.dtype) == (x.values.size, x.values.nbytes, x.values.dtype)
    assert (x.num_levels, x.num_rows) == (x.lod.num_levels, x.lod.num_rows)
    assert x.offsets.tolist() == x.lod.offsets(0).tolist()
    assert x.lengths.tolist() == x.lod.lengths(0).tolist()
    assert len(x) == len(x.lengths)


@given(lod_tensors())
def test_lod_tensor_equals_compares_dtype_structure_and_values(x):
    assert x.equals(x.clone())
    assert not x.equals(x.values)
    assert not x.equals(LoDTensor(x.values.view("u1") if x.dtype == "i1" else np.zeros(x.num_rows, "i1"), x.lod))
    if x.size and x.dtype.kind in "iu":
        changed = x.clone()
        changed.values.reshape(-1)[-1] ^= 1
        assert not x.equals(changed)
    assert not x.equals(LoDTensor(x.values, x.lod.append(lengths=[1] * x.num_rows)))


def test_nan_equals_nan():
    x = LoDTensor.from_lengths([1.0, np.nan], [2])
    assert x.equals(x.clone())
    assert not x.equals(LoDTensor.from_lengths(np.float32([1.0, np.nan]), [2]))


# -- conversions -------------------------------------------------------------------------------------------------------


@given(lod_tensors())
def test_to_arrays_gives_nested_lists_of_rows(x):
    def arrays(nested, depth):
        return x.values[np.array(nested, np.int64)] if depth == 0 else [arrays(inner, depth - 1) for inner in nested]

    def assert_same(found, wanted):
        if isinstance(wanted, list):
            assert type(found) is list
            for a, b in zip(found, wanted, strict=True):
                assert_same(a, b)
        else:
            assert bits(found) == bits(wanted)
            assert_view(found, x)

    assert_same(x.to_arrays(), [arrays(sequence, x.num_levels - 1) for sequence in numbered(x.lod)])


@given(lod_tensors(), st.data())
def test_flatten_at_every_level(x, data):
    level = data.draw(st.integers(-x.num_levels, x.num_levels - 1))
    flat = x.flatten(level)
    assert_rows(flat, oracle.drop(numbered(x.lod), from_the_first(level, x.lod)), x.num_levels - 1, x.values)
    assert same_memory(flat if isinstance(flat, np.ndarray) else flat.values, x.values)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.data())
def test_to_regular_gives_an_array_where_lengths_are_equal(sides, data):
    count, *lengths = sides
    counts = [count]
    for length in lengths:
        counts.append(counts[-1] * length)
    rows = data.draw(values(n_rows=counts[-1]))
    x = LoDTensor.from_lengths(rows, *([length] * counts[k] for k, length in enumerate(lengths)))
    dense = x.to_regular()
    shape = [count]
    for k, length in enumerate(lengths):  # without sequences the length is 0
        shape.append(length if counts[k] else 0)
    assert dense.shape == (*shape, *rows.shape[1:])
    assert dense.tobytes() == rows.tobytes()
    assert dense.size == 0 or np.shares_memory(dense, x.values)


@given(lod_tensors(1, 2), st.sampled_from(["right", "left"]), st.integers(0, 3), st.integers(1, 4))
def test_to_padded_pads_on_either_side_to_any_length(x, side, spare, multiple):
    found = oracle.sequences(numbered(x.lod), x.num_levels - 1)
    longest = max(map(len, found), default=0) + spare
    padded = -(-longest // multiple) * multiple
    dense, mask = x.to_padded(side=side, length=longest, multiple_of=multiple, return_mask=True)
    shape = (len(found), padded, *x.values.shape[1:])
    zero = np.zeros((), x.dtype) if x.dtype.names or x.dtype.kind == "V" else np.asarray(0).astype(x.dtype)
    wanted = np.empty(shape, x.dtype)
    wanted[...] = zero
    rows = [[False] * padded for _ in found]
    for i, sequence in enumerate(found):
        for j, row in enumerate(sequence, padded - len(sequence) if side == "left" else 0):
            wanted[i, j] = x.values[row]
            rows[i][j] = True
    assert bits(dense) == bits(wanted)
    assert mask.tolist() == rows
    assert mask.dtype == bool
    out = np.full_like(dense, dense.flat[0]) if dense.size else dense.copy()
    assert x.to_padded(side=side, length=longest, multiple_of=multiple, out=out) is out
    assert bits(out) == bits(dense)


@given(lods(1, 4), st.data(), st.sampled_from(["right", "left"]), st.sampled_from(["constant", "replicate"]))
def test_to_padded_of_several_levels(lod, data, side, mode):
    levels = data.draw(st.integers(1, lod.num_levels))
    first = lod.num_levels - levels
    spare = [data.draw(st.integers(0, 2)) for _ in range(levels)]
    longest = [int(lod.lengths(k).max(initial=0)) + spare[k - first] for k in range(first, lod.num_levels)]

    def filled(nested, depth):
        if depth == levels:
            return nested
        size, empty = longest[depth], -1 if depth == levels - 1 else []
        if mode == "replicate" and depth == levels - 1 and nested:
            empty = nested[-1 if side == "right" else 0]
        filling = [empty] * (size - len(nested))
        full = [*nested, *filling] if side == "right" else [*filling, *nested]
        return [filled(entry, depth + 1) for entry in full]

    found = [filled(sequence, 0) for sequence in oracle.sequences(numbered(lod), first)]
    wanted = np.array(found, np.int64).reshape(len(found), *longest)
    x = LoDTensor(np.arange(lod.num_rows), lod)
    asked = {"levels": levels, "mode": mode}
    dense, mask = x.to_padded(-1, side, length=tuple(longest), return_mask=True, **asked)
    assert bits(dense) == bits(wanted)
    assert bits(mask) == bits(x.to_padded(-1, side, length=tuple(longest), levels=levels) >= 0)
    assert bits(x.to_padded(-1, side, min_length=tuple(longest), **asked)) == bits(wanted)
    out = np.zeros_like(wanted)
    assert x.to_padded(-1, side, length=longest, out=out, **asked) is out
    assert bits(out) == bits(wanted)
    kept, kept_mask = x.to_padded(-1, side, length=longest, return_mask=True, keep_levels=True, **asked)
    for one, all_lines in ((kept, wanted), (kept_mask, mask)):
        assert bits(one.values if first else one) == bits(all_lines)
        assert not first or one.lod == lod.prefix(first)


@given(lods(1, 4), st.data(), st.sampled_from(["right", "left"]))
def test_from_padded_of_several_levels(lod, data, side):
    x = LoDTensor(np.arange(lod.num_rows), lod)
    spare = tuple(data.draw(st.integers(0, 6)) for _ in range(lod.num_levels))
    dense, mask = x.to_padded(-1, side, levels=lod.num_levels, min_length=spare, return_mask=True)
    assert same(LoDTensor.from_padded(dense, x.num(-1), side=side), x)
    back = LoDTensor.from_padded(dense, mask=mask, side=side)

    def cut(nested, depth):  # a mask does not show empty sequences at the end
        nested = [cut(entry, depth - 1) for entry in nested] if depth > 1 else list(nested)
        while depth > 1 and nested and not nested[-1 if side == "right" else 0]:
            del nested[-1 if side == "right" else 0]
        return nested

    assert back.tolist() == [cut(one, lod.num_levels) for one in x.tolist()]
    assert back.num_levels == lod.num_levels


def test_a_mask_of_fewer_axes_than_lines_have():
    dense, mask = np.arange(12).reshape(2, 3, 2), np.array([[True, False, False], [True, True, False]])
    assert LoDTensor.from_padded(dense, mask).tolist() == [[[0, 1]], [[6, 7], [8, 9]]]
    assert LoDTensor.from_padded(dense, dense > 7).tolist() == [[], [[], [8, 9], [10, 11]]]


@given(lod_tensors(1, 1), st.sampled_from(["right", "left"]))
def test_from_padded_inverts_to_padded(x, side):
    dense, mask = x.to_padded(side=side, return_mask=True)
    for back in (LoDTensor.from_padded(dense, mask=mask), LoDTensor.from_padded(dense, mask)):
        assert same(back, x)
        assert back.values.flags.writeable
    assert same(LoDTensor.from_padded(dense, x.lengths, side=side), x)
    if side == "right" and x.dtype == np.int64 and dense.size:
        assert same(LoDTensor.from_padded(dense.tolist(), x.lengths.tolist()), x)


def test_any_mask_may_choose_rows():
    for dtype in (bool, np.int64, np.uint8, np.int8):  # integers are those of tokenizers
        mask = np.array([[1, 0, 1], [0, 0, 0]], dtype)
        assert LoDTensor.from_padded([[1, 2, 3], [4, 5, 6]], mask=mask).tolist() == [[1, 3], []]
    assert LoDTensor.from_padded([[1, 2], [3, 4]], mask=[[1, 1], [0, 1]]).tolist() == [[1, 2], [4]]
    x = LoDTensor.from_padded([[1, 2, 3], [4, 5, 6]], mask=[[True, False, True], [False, False, False]])
    assert x.tolist() == [[1, 3], []]


@pytest.mark.parametrize("fill", [-1, np.int8(-1), [7, 8], np.array([7, 8])])
def test_to_padded_fills_with_a_number_or_a_row(fill):
    x = LoDTensor.from_lengths(np.arange(6).reshape(3, 2), [1, 2])
    assert x.to_padded(fill).tolist() == [[[0, 1], np.broadcast_to(fill, 2).tolist()], [[2, 3], [4, 5]]]
    assert x.to_padded(fill, side="left").tolist() == [[np.broadcast_to(fill, 2).tolist(), [0, 1]], [[2, 3], [4, 5]]]


def test_to_padded_of_floats_fills_with_any_number():
    x = LoDTensor.from_lengths(np.float32([1, 2, 3]), [1, 2])
    assert np.isnan(x.to_padded(np.nan)[0, 1])
    assert x.to_padded(-np.inf).dtype == np.float32
    assert np.signbit(x.to_padded(-0.0)[0, 1])


@pytest.mark.parametrize(
    "rows", [np.zeros(3, [("text", "S0")])["text"], np.zeros(3, []), np.empty((3, 0)), np.empty((3, 2, 0), "U3")]
)
def test_rows_without_bytes(rows):
    """NumPy itself converts S0 to S1."""
    x = LoDTensor.from_lengths(rows, [2, 0, 1])
    steps, indices_map = TensorArray.unpack(x, 0)
    for y in (
        gather_sequences(x, [0, 1, 2]),
        concat_batches([x[:1], x[1:]]),
        sequence_slice(x, 0, x.lengths),
        steps.pack(0, indices_map),
        LoDTensor.from_arrays(list(x)),
        LoDTensor.from_padded(x.to_padded(), x.lengths),
        LoDTensor.from_starts_stops(rows, [0, 2, 2], [2, 2, 3]),
        x.clone(),
        copy.deepcopy(x),
        pickle.loads(pickle.dumps(x)),
        array(list(x)),
        array(x),
    ):
        assert y.lod == x.lod
        assert (y.dtype, y.values.shape) == (x.dtype, x.values.shape)
    assert x.to_padded().shape == (3, 2, *rows.shape[1:])
    assert x.to_padded().dtype == x.dtype


# -- dense tensors and specs ---------------------------------------------------------------------------------------


def test_dense_tensor_holds_its_array_without_a_copy():
    rows = np.arange(4).reshape(2, 2)
    dense = DenseTensor(rows)
    assert dense.values is rows
    assert (dense.shape, dense.dtype) == ((2, 2), rows.dtype)
    assert not np.may_share_memory(dense.clone().values, rows)
    assert dense.clone().values.tolist() == rows.tolist()
    assert np.asarray(dense) is rows
    assert np.array(dense, np.float32).dtype == np.float32
    assert not np.may_share_memory(np.array(dense, copy=True), rows)
    assert repr(dense) == "DenseTensor(shape=(2, 2), dtype=int64)"


def test_isinstance_of_tensor():
    for tensor in (np.zeros(2), DenseTensor(0), LoDTensor.from_lengths([1], [1])):
        assert isinstance(tensor, Tensor)
    assert not isinstance([1], Tensor)
    with pytest.raises(TypeError, match="abstract"):
        Tensor()


def test_a_new_kind_of_tensor_implements_the_interface():
    class Ones(Tensor):
        def __init__(self, count):
            self.count = count

        @property
        def shape(self):
            return (self.count,)

        @property
        def dtype(self):
            return np.dtype(np.float64)

        def clone(self):
            return Ones(self.count)

    assert isinstance(Ones(3), Tensor)
    assert Ones(3).clone().shape == (3,)


def test_spec_is_a_value():
    spec = Spec((None, 3), np.dtype(np.float32), 2, LoDTensor)
    assert spec == Spec((None, 3), np.dtype(np.float32), 2, LoDTensor)
    assert hash(spec) == hash(Spec((None, 3), np.dtype(np.float32), 2, LoDTensor))
    assert spec != Spec((None, 3), np.dtype(np.float32))
    with pytest.raises(AttributeError):
        spec.num_levels = 1


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


@pytest.mark.not_on_reference
@pytest.mark.parametrize("dtype", ["i2", "f4", "f8", "c16"])
@pytest.mark.parametrize("maker", MAKERS)
def test_constructors_make_native_arrays_of_other_byte_orders(maker, dtype):
    native = np.arange(6).reshape(3, 2).astype(dtype)
    found, wanted = (MAKERS[maker](given) for given in (native.astype(native.dtype.newbyteorder()), native))
    assert found.dtype.isnative
    assert found.dtype == dtype
    np.testing.assert_array_equal(getattr(found, "values", found), getattr(wanted, "values", wanted))


@for_each(
    "make",
    [
        lambda: lodcore.array([[1.0], [2.0, 3.0]]),
        lambda: lodcore.LoD.from_lengths([1, 2]),
        lambda: lodcore.DenseTensor(np.ones(2)),
        lambda: lodcore.SparseTensor([1], np.ones((1, 2)), 3),
        lambda: lodcore.TensorArray(),
        lambda: lodcore.lod_rank_table([[1], [2, 3]]),
    ],
)
def test_tensors_and_structures_can_be_referenced_weakly(make):
    x, gone = make(), []
    cache = weakref.WeakValueDictionary(x=x)
    weakref.finalize(x, gone.append, "x")
    assert cache["x"] is x
    del x
    assert not cache
    assert gone == ["x"]


@pytest.mark.parametrize(
    "values", [np.arange(5.0), np.arange(10).reshape(5, 2)[:, ::-1], [1, 2, 3, 4, 5], np.arange(5, dtype=">i4")]
)
def test_a_call_of_the_class_makes_what_its_new_makes(values):
    lod = LoD.from_lengths([2, 0, 3])
    made, by_name, by_new = (
        LoDTensor(values, lod),
        LoDTensor(values=values, lod=lod),
        LoDTensor.__new__(LoDTensor, values, lod),
    )
    for x in (made, by_name, by_new):
        assert type(x) is LoDTensor
        assert x.lod is lod
        assert x.dtype == np.asarray(values).dtype.newbyteorder("=")
        assert x.tolist() == [np.asarray(values)[:2].tolist(), [], np.asarray(values)[2:].tolist()]
        shared = np.shares_memory(x.values, values)
        assert shared == (type(values) is np.ndarray and values.dtype == "f8")  # others are converted
        assert x.values.flags.writeable != shared


@pytest.mark.parametrize(
    ("arguments", "named", "text"),
    [
        ((), {}, "__new__.* missing 1 required positional argument: 'values'"),
        (([1], LoD.from_lengths([1]), 3), {}, "from 2 to 3 positional arguments but 4"),
        (([1],), {"shared": True}, "unexpected keyword argument 'shared'"),
    ],
)
def test_a_call_of_the_class_with_other_arguments_is_an_error(arguments, named, text):
    with pytest.raises(TypeError, match=text):
        LoDTensor(*arguments, **named)


def test_subclasses_with_and_without_a_new_of_their_own():
    class Named(LoDTensor):
        def __new__(cls, values, lod, name):
            made = super().__new__(cls, values, lod)
            made.name = name
            return made

    class Plain(LoDTensor):
        pass

    lod = LoD.from_lengths([2, 1])
    named, plain = Named(np.arange(3), lod, "a"), Plain(np.arange(3), lod)
    assert (type(named), named.name, type(plain)) == (Named, "a", Plain)
    assert named.tolist() == plain.tolist() == [[0, 1], [2]]
    assert type(Plain.from_lengths(np.arange(3), [3])) is Plain
    with pytest.raises(TypeError, match="not a subclass"):
        LoDTensor.__new__(int, np.arange(3), lod)
