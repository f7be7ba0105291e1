"""Sequences padded to an array and back, and masks of their lengths. Rows are opaque bytes."""

from libc.stdint cimport int64_t

from lodcore.kernels.lines cimport mask_lines, pad_each, repeat_in_lines, unpad_each
from lodcore.kernels.offsets cimport longest
from lodcore.kernels.simd cimport avx2_void, has_wide, plain_void, read_once
from lodcore.kernels.sizes cimport agree, ends_at


def pad_rows(const unsigned char[:, ::1] rows not None, const int64_t[::1] offsets not None,
             const unsigned char[::1] fill not None, bint left, unsigned char[:, :, ::1] out not None):
    """Copy each sequence to the start (or the end) of its line, and fill the rest.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
    offsets : int64, shape (n_seqs + 1,), in rows
    fill : uint8, shape (row_bytes,), or (0,) for zero bytes
    left : bool
        Whether the padding comes first.
    out : uint8, shape (n_seqs, padded_length, row_bytes)
        No sequence is longer than padded_length.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], row_bytes = out.shape[2], line = out.shape[1] * row_bytes
    if row_bytes != rows.shape[1] or fill.shape[0] not in (0, row_bytes):
        raise ValueError("rows, fill and out have rows of different sizes")
    agree(ends_at(offsets, n_seqs, rows.shape[0]) and longest(&offsets[0], n_seqs) <= out.shape[1])
    if n_seqs == 0 or line == 0:
        return
    cdef const char* source = <const char*> (&rows[0, 0] if rows.shape[0] else &out[0, 0, 0])
    cdef const char* row = <const char*> &fill[0] if fill.shape[0] else NULL
    cdef const int64_t* bounds = &offsets[0]
    cdef char* result = <char*> &out[0, 0, 0]
    with nogil:
        if has_wide():
            pad_avx2(source, row_bytes, bounds, n_seqs, row, line, left, result)
        else:
            pad_plain(source, row_bytes, bounds, n_seqs, row, line, left, result)


def unpad_rows(const unsigned char[:, :, ::1] padded not None, const int64_t[::1] offsets not None, bint left,
               unsigned char[:, ::1] out not None):
    """Copy the sequences out of their lines: the inverse of `pad_rows`.

    Parameters
    ----------
    padded : uint8, shape (n_seqs, padded_length, row_bytes)
    offsets : int64, shape (n_seqs + 1,), in rows
        No sequence is longer than padded_length.
    left : bool
        Whether the padding comes first.
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t n_seqs = padded.shape[0], row_bytes = padded.shape[2], line = padded.shape[1] * row_bytes
    if row_bytes != out.shape[1]:
        raise ValueError("padded and out have rows of different sizes")
    agree(ends_at(offsets, n_seqs, out.shape[0]) and longest(&offsets[0], n_seqs) <= padded.shape[1])
    if out.shape[0] == 0 or row_bytes == 0:
        return
    cdef const char* source = <const char*> &padded[0, 0, 0]
    cdef const int64_t* bounds = &offsets[0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        unpad_lines(source, row_bytes, bounds, n_seqs, line, left, result)


def repeat_ends(const int64_t[::1] offsets not None, bint left, unsigned char[:, :, ::1] out not None):
    """Fill the rest of each line with the last row of its sequence, or with the first row.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,), in rows
        No sequence is longer than padded_length.
    left : bool
        Whether the padding comes first; it is then filled with the first row.
    out : uint8, shape (n_seqs, padded_length, row_bytes)
        Read and written: the result of `pad_rows`. A line without a row is not changed.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], row_bytes = out.shape[2], line = out.shape[1] * row_bytes
    agree(offsets.shape[0] == n_seqs + 1 and longest(&offsets[0], n_seqs) <= out.shape[1])
    if n_seqs == 0 or line == 0:
        return
    cdef const int64_t* bounds = &offsets[0]
    cdef char* result = <char*> &out[0, 0, 0]
    with nogil:
        repeat_in_lines(bounds, n_seqs, row_bytes, line, left, result)


def greatest(const int64_t[::1] lengths not None):
    """Compute the maximum of lengths.

    Parameters
    ----------
    lengths : int64, shape (n,)
        Any values; each is read once.

    Returns
    -------
    int
        0 if no length is positive.
    """
    cdef Py_ssize_t n = lengths.shape[0], s
    cdef const int64_t* counts = &lengths[0] if n else NULL
    cdef int64_t most = 0, length
    with nogil:
        for s in range(n):
            length = read_once(counts + s)
            most = max(most, length)
    return most


def mask_rows(const int64_t[::1] lengths not None, const unsigned char[::1] one not None,
              unsigned char[:, :, ::1] out not None):
    """Write an item for each position before a length, and zero bytes for those from there on.

    Parameters
    ----------
    lengths : int64, shape (n,)
        Any values; each is read once. Lengths above padded_length count as padded_length.
    one : uint8, shape (item_bytes,)
    out : uint8, shape (n, padded_length, item_bytes)
        Undefined if a length is negative.

    Returns
    -------
    int
        The first length that is negative, -1 if there is none.
    """
    cdef Py_ssize_t n = lengths.shape[0], padded = out.shape[1], item_bytes = out.shape[2], bad
    if item_bytes != one.shape[0]:
        raise ValueError("one and out have items of different sizes")
    agree(out.shape[0] == n)
    if n == 0:
        return -1
    cdef const int64_t* counts = &lengths[0]
    cdef const char* item = <const char*> &one[0] if item_bytes else NULL
    cdef char* result = <char*> &out[0, 0, 0] if padded * item_bytes else NULL
    with nogil:
        bad = mask_lines(counts, n, padded, item, item_bytes, result)
    return bad


cdef avx2_void pad_avx2(
    const char* rows, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, const char* row, int64_t line,
    bint left, char* out
) noexcept nogil:
    pad_each(rows, row_bytes, offsets, n_seqs, row, line, left, out)


cdef plain_void pad_plain(
    const char* rows, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, const char* row, int64_t line,
    bint left, char* out
) noexcept nogil:
    pad_each(rows, row_bytes, offsets, n_seqs, row, line, left, out)


cdef plain_void unpad_lines(
    const char* padded, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, int64_t line, bint left, char* out
) noexcept nogil:
    unpad_each(padded, row_bytes, offsets, n_seqs, line, left, out)
