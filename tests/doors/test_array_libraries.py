"""SciPy, TensorFlow, JAX, thinc, DLPack of torch, HDF5, Zarr, and pictures."""

import operator

import numpy as np
import pytest
from hypothesis import given

import lodcore
from lodcore import LoD, LoDTensor, interop
from lodcore.errors import DTypeError, LoDError
from tests.helpers.draw import lod_tensors
from tests.helpers.libraries import MARKS, imported

sparse, tensorflow, jax, thinc = (imported(name) for name in ("scipy.sparse", "tensorflow", "jax", "thinc.api"))
torch, h5py, zarr = (imported(name) for name in ("torch", "h5py", "zarr"))
pytestmark = MARKS

X = lodcore.array([[1.5, 2.5], [], [3.5]])
NUMBERS = [np.dtype(name) for name in ("i4", "i8", "f4", "f8")]


# -- SciPy ---------------------------------------------------------------------------------------------------------


def test_rows_of_a_sparse_matrix():
    dense = np.array([[0, 2.0, 0], [0, 0, 0], [1, 0, 3]])
    for matrix in (sparse.csr_array(dense), sparse.csr_matrix(dense)):
        columns, values = lodcore.from_scipy(matrix)
        assert columns.tolist() == [[1], [], [0, 2]]
        assert values.tolist() == [[2], [], [1, 3]]
        assert columns.lod is values.lod
        assert values.values.ctypes.data == matrix.data.ctypes.data
        assert (lodcore.to_scipy(columns, values, 3).toarray() == dense).all()
        assert lodcore.array(matrix).tolist() == [[(1, 2.0)], [], [(0, 1.0), (2, 3.0)]]
    assert columns.to_scipy(num_columns=5).toarray().sum() == 3
    assert lodcore.to_scipy([[0, 4]]).shape == (1, 5)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"indptr": np.array([0, 2, 1, 3])}, LoDError, "matrix.indptr: fall at position 2"),
        ({"indptr": np.array([0, 1, 1, 9])}, LoDError, "ends at 9"),
        ({"indptr": np.array([0, 1])}, LoDError, "has 1 rows"),
        ({"indices": np.array([0, 7, 1])}, IndexError, "is 7 at 1; there are 3 columns"),
        ({"indices": np.array([0, -1, 1])}, IndexError, "is -1 at 1"),
    ],
)
def test_from_scipy_refuses_sparse_matrices_with_wrong_offsets(change, error, says):
    matrix = sparse.csr_array(np.array([[0, 2.0, 0], [0, 0, 0], [1, 0, 3]]))
    for name, value in change.items():
        setattr(matrix, name, value)
    with pytest.raises(error, match=says):
        lodcore.from_scipy(matrix)


def test_other_sparse_matrices():
    with pytest.raises(DTypeError, match=r"a sparse matrix of rows is needed: m.tocsr"):
        lodcore.from_scipy(sparse.coo_array(np.eye(2)))
    with pytest.raises(LoDError, match="a different structure from columns"):
        lodcore.to_scipy([[1]], [[1.0, 2.0]])
    with pytest.raises(IndexError, match="columns: is 3 at row 0; there are 2 columns"):
        lodcore.to_scipy([[3]], num_columns=2)


# -- TensorFlow ----------------------------------------------------------------------------------------------------


@given(lod_tensors(1, 3, NUMBERS, [(), (2,)]))
def test_ragged_tensors(x):
    ragged = lodcore.to_tensorflow(x)
    assert ragged.ragged_rank == x.num_levels
    assert lodcore.from_tensorflow(ragged).equals(x)
    assert lodcore.array(ragged).equals(x)


def test_ragged_tensors_of_tensorflow():
    ragged = tensorflow.ragged.constant([[[1, 2], []], [[3]]])
    assert lodcore.from_tensorflow(ragged).tolist() == [[[1, 2], []], [[3]]]
    short = tensorflow.RaggedTensor.from_row_splits([1.0, 2.0], tensorflow.constant([0, 2], tensorflow.int32))
    assert lodcore.from_tensorflow(short).tolist() == [[1.0, 2.0]]
    lies = tensorflow.RaggedTensor.from_row_splits([1.0, 2.0], [0, 5, 2], validate=False)
    with pytest.raises(LoDError, match="falls at position 2"):
        lodcore.from_tensorflow(lies)
    with pytest.raises(DTypeError, match="has dtype string"):
        lodcore.from_tensorflow(tensorflow.ragged.constant([["a"]]))
    with pytest.raises(DTypeError, match="a RaggedTensor is needed"):
        lodcore.from_tensorflow(3)
    assert X.to_tensorflow().to_list() == X.tolist()


# -- JAX -----------------------------------------------------------------------------------------------------------


def test_to_jax_gives_segments_that_from_jax_takes_back():
    x = LoDTensor(X.values.astype("f4"), X.lod)
    for size in (None, 3, 8):
        segments = x.to_jax(size)
        assert segments.values.shape == (size or 3,)
        sums = jax.ops.segment_sum(segments.values, segments.segment_ids, segments.num_segments)
        assert sums.tolist() == [4.0, 0.0, 3.5]
        assert segments.positions.tolist()[:3] == [0, 1, 0]
        assert lodcore.from_jax(*segments[:2], segments.num_segments).equals(x)
        assert lodcore.array(segments).equals(x)
    assert lodcore.from_jax(jax.numpy.arange(3), jax.numpy.array([0, 2, 2])).tolist() == [[0], [], [1, 2]]
    with pytest.raises(ValueError, match="size: is 2; x has 3 rows"):
        x.to_jax(2)
    with pytest.raises(LoDError, match="decrease after row 1"):
        lodcore.from_jax(jax.numpy.arange(3), jax.numpy.array([0, 9, 1]), 2)
    with pytest.raises(LoDError, match="values have 3 rows"):
        lodcore.from_jax(jax.numpy.arange(3), jax.numpy.array([0]))


# -- thinc, DLPack -------------------------------------------------------------------------------------------------


def test_to_thinc_and_from_thinc_are_inverse():
    x = LoDTensor(np.arange(6.0, dtype="f4").reshape(3, 2), X.lod)
    ragged = x.to_thinc()
    assert ragged.lengths.dtype == np.int32
    assert ragged.data.ctypes.data == x.values.ctypes.data
    assert lodcore.from_thinc(ragged).equals(x)
    assert lodcore.array(ragged).equals(x)
    assert lodcore.to_thinc(X).lengths.tolist() == [2, 0, 1]
    with pytest.raises(LoDError, match="a Ragged has one"):
        lodcore.to_thinc([[[1]]])
    with pytest.raises(DTypeError, match="a Ragged is needed"):
        lodcore.from_thinc(3)


def test_from_dlpack_takes_arrays_of_other_libraries():
    values = torch.arange(3)
    x = lodcore.from_dlpack(values, torch.tensor([0, 2, 3]))
    assert x.tolist() == [[0, 1], [2]]
    assert x.values.ctypes.data == values.data_ptr()
    assert lodcore.from_dlpack(jax.numpy.arange(3), [0, 3]).tolist() == [[0, 1, 2]]
    assert torch.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]


# -- stores --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [X, lodcore.array([[[1], []], []]), LoDTensor(np.zeros((0, 2)), LoD.from_lengths([0]))])
def test_save_to_group_and_load_from_group_are_inverse_in_hdf5_and_zarr(tmp_path, x):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        interop.save_to_group(file.create_group("batch"), x)
    with h5py.File(tmp_path / "x.h5") as file:
        assert interop.load_from_group(file["batch"]).equals(x)
    interop.save_to_group(zarr.open_group(str(tmp_path / "x.zarr"), mode="w"), x)
    assert interop.load_from_group(zarr.open_group(str(tmp_path / "x.zarr"), mode="r")).equals(x)


def test_products_with_a_sparse_matrix_are_refused_with_advice():
    rows = lodcore.LoDTensor(np.ones((3, 2)), lodcore.LoD.from_lengths([2, 1]))
    for matrix in (sparse.csr_matrix(np.eye(2)), sparse.csr_array(np.eye(2)), sparse.coo_matrix(np.eye(2))):
        for name, call in (
            ("matmul", operator.matmul),
            ("matmul", np.matmul),
            ("mul", operator.mul),
            ("add", operator.add),
        ):
            with pytest.raises(
                DTypeError, match=rf"^{name}: y: is a (csr|coo)_.*; .* is needed; .toarray\(\) makes one"
            ):
                call(rows, matrix)
        assert (rows @ matrix.toarray()).equals(rows)


@pytest.mark.parametrize(
    "values",
    [
        np.array(["a", "", "bcd", "\u00e9\U0001f600"]),
        np.array(["a", "b", "c", ""], "U7"),
        np.array([["a", "b"], ["", "cd"]]),
        np.array([], "U3"),
        np.array([b"a", b"", b"bcd"]),
        np.array(["2024-01-02", "NaT", "1900-01-01"], "M8[D]"),
        np.array(["2024-01-02T01:02:03.000000004"], "M8[ns]"),
        np.array([1, -2], "m8[10m]"),
        np.array([], "M8[us]"),
        np.array([(1, 2.5)], "i4, f8"),
    ],
)
def test_text_and_dates_are_saved_in_hdf5_and_zarr(tmp_path, values):
    x = LoDTensor.from_lengths(values, [len(values), 0])
    with h5py.File(tmp_path / "x.h5", "w") as file:
        interop.save_to_group(file.create_group("batch"), x)
    with h5py.File(tmp_path / "x.h5") as file:
        found = interop.load_from_group(file["batch"])
    assert found.dtype == x.dtype
    assert found.equals(x)
    interop.save_to_group(zarr.open_group(str(tmp_path / "x.zarr"), mode="w"), x)
    assert interop.load_from_group(zarr.open_group(str(tmp_path / "x.zarr"), mode="r")).equals(x)


def test_what_hdf5_cannot_hold_is_refused_before_anything_is_written(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for values, says in (
            (np.array([("a", 1)], "U1, i4"), r"has dtype .*; HDF5 has no text or dates in records: save each field"),
            (np.array([((3,),)], [("a", [("b", "M8[s]")])]), "has dtype .*; HDF5 has no text or dates in records"),
            (
                np.zeros(1, [("c", "<i4", (0,))]),
                "has dtype .*; HDF5 has no values or fields without bytes: leave them out",
            ),
            (
                np.zeros(1, [("a", [("b", "S0"), ("c", "i4")], (2,))]),
                "has dtype .*; HDF5 has no values or fields without",
            ),
            (np.zeros(1, "V0"), "has dtype .V0; HDF5 has no values or fields without bytes"),
            (np.array(["\ud800"]), "surrogates not allowed; text that UTF-8 can encode is needed"),
        ):
            with pytest.raises(DTypeError, match=f"^lodcore.interop.save_to_group: x: .*{says}"):
                interop.save_to_group(file, LoDTensor.from_lengths(values, [1]))
            assert not list(file)


def test_a_wrong_dtype_beside_the_values_of_a_group_is_refused(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        interop.save_to_group(file, lodcore.array([["a", "\u00e9"]]))
        for dtype, error, says in (
            ("<U100000", LoDError, "its attribute dtype is '<U100000', of values of .S2; that of text as"),
            ("O", LoDError, "its attribute dtype is 'O'"),
            (3, LoDError, "its attribute dtype is .*3"),
            ("M8[s]", LoDError, "its attribute dtype is 'M8"),
            ("f99", DTypeError, "its attribute dtype"),
            ("<U0", LoDError, "values: are longer than their dtype, <U0"),
        ):
            file.attrs["dtype"] = dtype
            with pytest.raises(error, match=f"^lodcore.interop.load_from_group: group: {says}"):
                interop.load_from_group(file)
        file.attrs["dtype"] = "<U1"
        file["values"][...] = np.array([b"a", b"\xff"])
        with pytest.raises(LoDError, match=r"^lodcore.interop.load_from_group: group: values: .* can't decode"):
            interop.load_from_group(file)
