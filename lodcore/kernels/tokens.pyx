"""Rows that are numbers: removal of some of them; and numbers of columns to which rows are added."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from "rows.h" nogil:
    int64_t read_once(const int64_t* place)

cdef extern from "tokens.h" nogil:
    bint drop_rows(const void* x, int64_t size, bint is_signed, const int64_t* offsets, int64_t n_seqs,
                   const int64_t* tokens, int64_t n_tokens, void* out, int64_t* out_offsets)

ctypedef fused number:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused cell:
    float
    double
    uint8_t
    uint16_t
    uint32_t
    uint64_t


def drop_tokens(const number[::1] x not None, const int64_t[::1] offsets not None, const int64_t[::1] tokens not None,
                number[::1] out not None, int64_t[::1] out_offsets not None):
    """Copy the rows that are not tokens.

    Parameters
    ----------
    x : any integers, shape (n_rows,)
    offsets : int64, shape (n_seqs + 1,), in rows
    tokens : int64, shape (n_tokens,)
        Any values, in any order; rows equal to one of them are left out.
    out : as x
        The first out_offsets[n_seqs] rows are those that remain; the rows after them are undefined.
    out_offsets : int64, shape (n_seqs + 1,)
    """
    cdef int64_t n_seqs = offsets.shape[0] - 1, n_tokens = tokens.shape[0]
    cdef bint done, is_signed = (<number> -1) < 0
    if (n_seqs < 0 or x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0]
            or out_offsets.shape[0] != offsets.shape[0]):
        raise ValueError("x, offsets and out have different numbers of rows or sequences")
    cdef const number* source = &x[0] if x.shape[0] else NULL
    cdef const int64_t* left_out = &tokens[0] if n_tokens else NULL
    cdef number* result = &out[0] if x.shape[0] else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef int64_t* out_ends = &out_offsets[0]
    with nogil:
        done = drop_rows(source, sizeof(number), is_signed, ends, n_seqs, left_out, n_tokens, result, out_ends)
    if not done:
        raise MemoryError("a table of tokens finds no memory")


def add_at(const cell[::1] updates not None, const int64_t[::1] ids not None, const int64_t[::1] offsets not None,
           int64_t n_columns, cell[:, ::1] out not None):
    """Add each row to the column given by its id, in the line of its sequence.

    Parameters
    ----------
    updates : float32, float64 or unsigned integers, shape (n_rows * width,)
        Added in order; integers wrap around.
    ids : int64, shape (n_rows,)
        Any values; each is read once. Valid ids are 0 .. n_columns - 1.
    offsets : int64, shape (n_seqs + 1,), in rows
    n_columns : int
    out : as updates, shape (n_seqs, n_columns * width)
        Added to. Its content is undefined if an id is invalid.

    Returns
    -------
    int
        The first row whose id is out of range, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], width = out.shape[1] // max(n_columns, 1), s, t, c, bad = -1
    if n_seqs != offsets.shape[0] - 1 or ids.shape[0] != offsets[n_seqs]:
        raise ValueError("ids, offsets and out have different numbers of rows or sequences")
    if out.shape[1] != n_columns * width or (n_columns and updates.shape[0] != ids.shape[0] * width):
        raise ValueError("updates and out have columns of different sizes")
    if ids.shape[0] == 0:
        return -1
    cdef const cell* source = &updates[0] if width else NULL
    cdef const int64_t* numbers = &ids[0]
    cdef const int64_t* ends = &offsets[0]
    cdef cell* result = &out[0, 0] if n_seqs and width else NULL
    cdef cell* to
    cdef int64_t column
    with nogil:
        for s in range(n_seqs):
            for t in range(ends[s], ends[s + 1]):
                column = read_once(numbers + t)
                if <uint64_t> column >= <uint64_t> n_columns:
                    bad = t
                    break
                to = result + (s * n_columns + column) * width
                for c in range(width):
                    to[c] += source[t * width + c]
            if bad >= 0:
                break
    return bad


def take_at(const unsigned char[:, ::1] rows not None, const int64_t[::1] ids not None,
            const int64_t[::1] offsets not None, int64_t n_columns, unsigned char[:, ::1] out not None):
    """Copy the column given by each id from the line of its sequence: the adjoint of `add_at`.

    Parameters
    ----------
    rows : uint8, shape (n_seqs, n_columns * row_bytes)
    ids : int64, shape (n_rows,)
        Any values; each is read once. Valid ids are 0 .. n_columns - 1.
    offsets : int64, shape (n_seqs + 1,), in rows of `out`
    n_columns : int
    out : uint8, shape (n_rows, row_bytes)
        Undefined if an id is invalid.

    Returns
    -------
    int
        The first row whose id is out of range, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = rows.shape[0], row_bytes = out.shape[1], s, t, bad = -1
    if n_seqs != offsets.shape[0] - 1 or ids.shape[0] != offsets[n_seqs] or out.shape[0] != ids.shape[0]:
        raise ValueError("ids, offsets, rows and out have different numbers of rows or sequences")
    if rows.shape[1] != n_columns * row_bytes:
        raise ValueError("rows and out have columns of different sizes")
    if ids.shape[0] == 0:
        return -1
    cdef const unsigned char* source = &rows[0, 0] if n_seqs and rows.shape[1] else NULL
    cdef const int64_t* numbers = &ids[0]
    cdef const int64_t* ends = &offsets[0]
    cdef unsigned char* result = &out[0, 0] if row_bytes else NULL
    cdef const unsigned char* column_at
    cdef int64_t column
    with nogil:
        for s in range(n_seqs):
            for t in range(ends[s], ends[s + 1]):
                column = read_once(numbers + t)
                if <uint64_t> column >= <uint64_t> n_columns:
                    bad = t
                    break
                column_at = source + (s * n_columns + column) * row_bytes
                if row_bytes == 4:
                    memcpy(result + t * 4, column_at, 4)
                elif row_bytes == 8:
                    memcpy(result + t * 8, column_at, 8)
                elif row_bytes:
                    memcpy(result + t * row_bytes, column_at, row_bytes)
            if bad >= 0:
                break
    return bad
