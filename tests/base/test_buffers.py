"""Arrays for kernels and results, and conversion of callers' integers: what is accepted, and the errors."""

import numpy as np
import pytest

from lodcore import DTypeError, LoD, LoDError, LoDTensor, ShapeError
from lodcore.base import buffers
from lodcore.base.memory import LIMIT, integer, unharmed
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels

MOST, LEAST = 2**63 - 1, -(2**63)


@for_each("number", [2**63, 2**64 - 1, 2**64, 10**30, LEAST - 1])
def test_as_int64_names_the_number_that_int64_cannot_hold(number):
    """In any kind of sequence, at any position, among numbers of either sign."""
    for at, others in ((0, []), (0, [1]), (2, [0, 5]), (1, [-1]), (2, [-1, 3, -1])):
        numbers = [*others[:at], number, *others[at:]]
        at = numbers.index(number)
        given = [numbers, tuple(numbers), np.array(numbers, object)]
        if min(numbers) >= 0 and max(numbers) < 2**64:
            given += [np.array(numbers, "u8"), np.array(numbers, ">u8"), np.array(numbers, "u8")[:, None]]
        for one in given:
            for error in (LoDError, IndexError):
                with pytest.raises(error, match=f"f: x: is {number} at position {at}; int64 cannot hold that"):
                    buffers.as_int64(one, "f: x", error)


@for_each("dtype", ["i1", "u1", ">i2", "u4", "<i8", ">i8", "u8", ">u8", "i8"])
def test_integers_of_any_dtype_and_layout(dtype):
    for numbers in ([], [0], [3, 0, 127]):
        array = np.array(numbers, dtype)
        spread = np.zeros(3 * len(numbers), dtype)
        spread[::3] = numbers
        unaligned = np.frombuffer(b"x" + array.tobytes(), dtype, len(numbers), 1)
        for given in (array, array[:, None], spread[::3], array[::-1][::-1], unaligned, array.tolist(), [*array]):
            found = buffers.as_int64(given, "f")
            assert (found.tolist(), found.dtype.str) == (numbers, "<i8")
            assert found.flags.c_contiguous
            assert found.flags.aligned


@for_each(
    ("given", "error"),
    [
        (np.empty(0), DTypeError),
        (np.empty(0, bool), DTypeError),
        (np.empty((0, 1)), DTypeError),
        (np.array([True]), DTypeError),
        ([True, False], DTypeError),
        ([1.0], DTypeError),
        (["1"], DTypeError),
        (np.ma.array([1, 2]), DTypeError),
        (np.ma.array([1, 2], mask=[True, False]), DTypeError),
        (np.array([1], "m8[s]"), DTypeError),
        ([[1, 2]], ShapeError),
        (np.zeros((1, 3), int), ShapeError),
        (np.zeros((1, 1, 1), int), ShapeError),
        (5, ShapeError),
        (None, DTypeError),
        ("12", DTypeError),
        ({1, 2}, DTypeError),
        ([[1], [2, 3]], ShapeError),
    ],
)
def test_as_int64_refuses_all_but_vectors_of_integers(given, error):
    with pytest.raises(error, match=r"^f: x: "):
        buffers.as_int64(given, "f: x")


def test_what_is_no_sequence_is_named_by_its_kind():
    for given, says in ((None, "None"), ((one for one in [1]), "a generator"), ({1: 2}, "a dict"), ("12", "a str")):
        with pytest.raises(DTypeError, match=rf"^f: x: is {says}; a flat sequence of integers is needed$"):
            buffers.as_int64(given, "f: x")
    for given in (None, (one for one in [1, 1])):
        with pytest.raises(
            DTypeError, match=r"^LoD.from_lengths: lengths\[0\]: is (None|a generator); a flat sequence"
        ):
            LoDTensor.from_lengths([1.0, 2.0], given)


def test_errors_number_one_of_several_arguments():
    for entry in (0, 1, 7):
        with pytest.raises(DTypeError, match=rf"^f\[{entry}\]: has dtype"):
            buffers.private_offsets([1.5], "f", entry)


@for_each("count", [0, 1, 2, 3, 5])
def test_buffers_for_each_repeats_a_number_and_refuses_a_vector_of_one(count):
    for number in (7, -1, np.int8(7), np.array(7), np.uint64(7), MOST, LEAST):
        assert buffers.for_each(number, "f: x", count).tolist() == [int(number)] * count
    for given in ([7], (7,), np.array([7]), np.array([[7]])):
        if count == 1:
            assert buffers.for_each(given, "f: x", count).tolist() == [7]
            continue
        with pytest.raises(ShapeError, match=f"f: x: has 1 entries; there are {count} sequences"):
            buffers.for_each(given, "f: x", count)
    for number in (2**63, LEAST - 1, np.uint64(2**63)):
        with pytest.raises(IndexError, match=r"f: x: is .* int64 cannot hold that"):
            buffers.for_each(number, "f: x", count)


@for_each("dtype", [[("a", ">i4")], [("a", "i4"), ("b", ">f8")], [("a", [("b", ">u2")])], ">f8", object, [("a", "O")]])
def test_is_plain_refuses_other_byte_orders_and_objects(dtype):
    array = np.zeros(3, dtype)
    assert not buffers.is_plain(array)
    assert buffers.is_plain(np.zeros(3, array.dtype.newbyteorder("=") if array.dtype.hasobject is False else "f8"))


def test_view_rows_refuses_ranges_outside_the_array():
    array = np.arange(12.0).reshape(4, 3)
    for start, stop in ((0, 4), (1, 3), (4, 4), (0, 0)):
        assert buffers.view_rows(array, start, stop).tolist() == array[start:stop].tolist()
    for start, stop in ((0, 5), (-1, 2), (3, 2), (5, 5)):
        with pytest.raises(ShapeError, match=rf"shape \(4, 3\) has no rows {start} to {stop}"):
            buffers.view_rows(array, start, stop)
    with pytest.raises(ShapeError, match=r"shape \(\) has no rows"):
        buffers.view_rows(np.array(1.0), 0, 0)


def test_new_rows_and_lines_of_as_many_axes_as_numpy_allows():
    most = 32 if np.__version__.startswith("1.") else 64
    rows = np.zeros((1,) * most)
    assert buffers.new_rows("f", rows, 2).ndim == most
    assert buffers.new_lines("f", rows[0], 2, 3).shape == (2, 3, *(1,) * (most - 2))
    with pytest.raises(ShapeError, match=f"the result has {most + 1} axes; {most} is the most"):
        buffers.new_lines("f", rows, 1, 1)
    with pytest.raises(ShapeError, match=f"the result has {most + 1} axes; {most} is the most"):
        buffers.new_rows("f", rows, 1, None, 0)


def test_requests_beyond_the_limit_raise_memory_error():
    for make in (
        lambda: buffers.new_offsets(LIMIT // 8 + 1),
        lambda: buffers.new_int64(LIMIT // 8 + 1),
        lambda: buffers.new_int64(LIMIT // 16 + 1, 2),
        lambda: buffers.new_rows("f", np.zeros((1, 2)), LIMIT // 16 + 1),
        lambda: buffers.new_lines("f", np.zeros((1, 2)), 2, LIMIT // 32 + 1),
    ):
        with pytest.raises(MemoryError, match=rf"the result has .* bytes; this machine has {LIMIT}"):
            make()


def test_new_rows_refuses_out_that_overlaps_the_rows():
    rows = np.arange(12.0).reshape(4, 3)
    for out in (rows, rows[:2], rows[2:]):
        with pytest.raises(ValueError, match="f: out: overlaps an input"):
            buffers.new_rows("f", rows, len(out), out)
        with pytest.raises(ValueError, match="f: out: overlaps an input"):
            buffers.new_lines("f", rows, 1, len(out), out[None])
    out = np.empty((4, 3))
    assert np.shares_memory(buffers.new_rows("f", rows, 4, out), out)
    unaligned = np.frombuffer(bytearray(1 + 8 * 12), np.uint8)[1:].view("f8").reshape(4, 3)
    with pytest.raises(ValueError, match=r"f: out: strides .*; it must be C-contiguous and aligned"):
        buffers.new_rows("f", rows, 4, unaligned)


def test_extended_appends_rows_of_zeros():
    for rows in (np.arange(6).reshape(3, 2), np.ones((3, 0)), np.array(["ab", "c"])):
        for count in (len(rows), len(rows) + 1, 9):
            made = buffers.extended(rows, count)
            assert (made.dtype, made.shape) == (rows.dtype, (count, *rows.shape[1:]))
            assert made[: len(rows)].tolist() == rows.tolist()
            assert not made[len(rows) :].astype(bool).any()
        with pytest.raises(ValueError, match="extended: rows"):
            buffers.extended(rows, len(rows) - 1)


def test_sealed_memory_cannot_be_made_writable():
    numbers = np.arange(4)
    made = buffers.sealed(numbers)
    assert (made.tolist(), made.flags.writeable, np.shares_memory(made, numbers)) == ([0, 1, 2, 3], False, False)
    block = buffers.new_offsets(3)
    block[:] = 0, 2, 5
    assert buffers.sealed(block) is block
    with pytest.raises(ValueError, match="read-only"):
        block[0] = 1
    assert not buffers.private(made).flags.writeable
    assert buffers.private(numbers[1:3]).tolist() == [1, 2]


def test_num_rows_at_and_beyond_the_limit_of_int64():
    assert LoD.from_offsets(num_rows=2**63 - 2).num_rows == 2**63 - 2
    for number in (2**63 - 1, 2**63, -1):
        with pytest.raises(LoDError, match=rf"num_rows: is {number}; 0 .. 2\*\*63 - 2 is valid"):
            LoD.from_offsets(num_rows=number)
    for number in (True, np.True_, 1.0, "1", None, np.array([1, 2])):
        with pytest.raises(DTypeError, match=r"f: is .*; an integer is needed"):
            integer("f", number)
    assert (integer("f", True, bools=True), integer("f", np.int8(-3))) == (1, -3)
    unharmed(-1)
    for bad in (0, 1, 9):
        with pytest.raises(ValueError, match=f"data changed at position {bad} while it was read"):
            unharmed(bad)


def test_lod_tensors_of_records_have_native_fields():
    x = LoDTensor.from_lengths(np.array([(1, 2.5), (3, 4.5)], [("a", ">i4"), ("b", ">f8")]), [2])
    assert x.values.dtype.isnative
    assert x.values.tolist() == [(1, 2.5), (3, 4.5)]
