"""Sequences to a padded array and back. Rows are opaque bytes."""

from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset


def pad_rows(const unsigned char[:, ::1] rows not None, const int64_t[::1] offsets not None,
             const unsigned char[::1] fill not None, bint left, unsigned char[:, :, ::1] out not None):
    """Copy each sequence to the start (or the end) of its line, and fill the rest.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
    offsets : int64, shape (n_seqs + 1,), in rows
    fill : uint8, shape (row_bytes,)
    left : bool
        The filling comes first.
    out : uint8, shape (n_seqs, padded_length, row_bytes)
        No sequence is longer than padded_length.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], line = out.shape[1] * out.shape[2], row_bytes = out.shape[2], s, size, k
    if row_bytes != rows.shape[1]:
        raise ValueError("rows and out have rows of different sizes")
    if n_seqs == 0 or line == 0:
        return
    cdef const unsigned char* source = &rows[0, 0] if rows.shape[0] else NULL
    cdef unsigned char* result = &out[0, 0, 0]
    cdef unsigned char* gap
    cdef bint even = True
    with nogil:
        for k in range(1, row_bytes):
            even &= fill[k] == fill[0]
        for s in range(n_seqs):
            size = (offsets[s + 1] - offsets[s]) * row_bytes
            gap = result if left else result + size
            if size:
                memcpy(result + line - size if left else result, source, size)
            if even:
                memset(gap, fill[0], line - size)
            else:
                fill_rows(gap, &fill[0], row_bytes, line - size)
            if size:
                source += size
            result += line


cdef void fill_rows(unsigned char* out, const unsigned char* row, Py_ssize_t row_bytes, Py_ssize_t size) noexcept nogil:
    """Repeat a row over `size` bytes, by doubling what is there."""
    cdef Py_ssize_t done = row_bytes if size else 0
    memcpy(out, row, done)
    while done < size:
        memcpy(out + done, out, min(done, size - done))
        done += min(done, size - done)


def unpad_rows(const unsigned char[:, :, ::1] padded not None, const int64_t[::1] offsets not None, bint left,
               unsigned char[:, ::1] out not None):
    """Copy the sequences out of their lines: the inverse of `pad_rows`.

    Parameters
    ----------
    padded : uint8, shape (n_seqs, padded_length, row_bytes)
    offsets : int64, shape (n_seqs + 1,), in rows
        No sequence is longer than padded_length.
    left : bool
        The filling comes first.
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t n_seqs = padded.shape[0], row_bytes = padded.shape[2], line = padded.shape[1] * row_bytes, s, size
    if row_bytes != out.shape[1]:
        raise ValueError("padded and out have rows of different sizes")
    if out.shape[0] == 0 or row_bytes == 0:
        return
    cdef const unsigned char* source = &padded[0, 0, 0]
    cdef unsigned char* result = &out[0, 0]
    with nogil:
        for s in range(n_seqs):
            size = (offsets[s + 1] - offsets[s]) * row_bytes
            memcpy(result, source + line - size if left else source, size)
            result += size
            source += line
