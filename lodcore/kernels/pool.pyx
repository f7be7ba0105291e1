"""Pooling of sequences to one row each, and back: sums, maxima and minima, first and last rows.

Rows for arithmetic are float32, float64, int64 or uint64, shape (n_rows, width). The order of a sum is part of its
meaning, so that every path returns the same bits. Rows of several cells are added one after another to 0. Rows of one
cell are added in lanes, 64 for float32 and 32 for float64: lane k starts at 0 and adds rows k, k + 64, ... of the
sequence; then each of the first 32 lanes adds the lane 32 positions later, each of the first 16 the lane 16 positions
later, and so on until one lane is left. Integers wrap around.

Integers of 1, 2 and 4 bytes are summed by `sum_small_rows`, and compared by `best_small_rows`, without being converted.

Among equal maxima or minima the first one counts; nan propagates, the first of several. An empty sequence yields zeros.

C took 0.85 of the time for the first rows of sequences of one row of 8 bytes, and 0.93 for rows that are placed first
and have a size other than 2, 4 or 8 bytes.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from lodcore.kernels.folds cimport BY_ONE, GREATEST, LEAST, SUM, number
from lodcore.kernels.lanes cimport real
from lodcore.kernels.pooling cimport find_rows, pool_rows, spread
from lodcore.kernels.simd cimport forced_void
from lodcore.kernels.sizes cimport agree, ends_at
from lodcore.kernels.small_numbers cimport best_small, sum_small

cdef enum:
    NEAR = 1 << 15  # bytes that are cleared just before they are used

ctypedef fused cell:
    uint32_t
    uint64_t

ctypedef fused small:
    uint8_t
    uint16_t
    uint32_t
    int8_t
    int16_t
    int32_t


cdef int verb_of(str name) except -1:
    """Return what `pool_reals` computes for the function of a tensor."""
    return {"sum": SUM, "mean": SUM, "max": GREATEST, "min": LEAST}[name]


cdef void pool_reals(
    const real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, int divide, real* out
) noexcept nogil:
    pool_rows(x, offsets, n_seqs, width, verb, divide, out)


def sum_rows(const number[:, ::1] x not None, const int64_t[::1] offsets not None, int divide,
             number[:, ::1] out not None):
    """Sum the rows of each sequence.

    Parameters
    ----------
    x : number, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    divide : int
        The divisor of each sum: 0 for none, 1 for the length of the sequence, 2 for the square root of the length, as a
        number of the dtype of x. Only 0 for integers.
    out : as x, shape (n_seqs, width)
    """
    cdef Py_ssize_t n_seqs = out.shape[0], width = out.shape[1]
    agree(x.shape[1] == width and ends_at(offsets, n_seqs, x.shape[0]))
    if n_seqs == 0 or width == 0:
        return
    cdef const number* source = &x[0, 0] if x.shape[0] else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef number* result = &out[0, 0]
    with nogil:
        pool_rows(source, ends, n_seqs, width, SUM, divide, result)


def best_rows(const number[:, ::1] x not None, const int64_t[::1] offsets not None, bint least,
              number[:, ::1] out not None):
    """Compute the maximum (or minimum) of each column of each sequence.

    Parameters
    ----------
    x : number, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    least : bool
    out : as x, shape (n_seqs, width)
    """
    cdef Py_ssize_t n_seqs = out.shape[0], width = out.shape[1]
    agree(x.shape[1] == width and ends_at(offsets, n_seqs, x.shape[0]))
    if n_seqs == 0 or width == 0:
        return
    cdef const number* source = &x[0, 0] if x.shape[0] else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef number* result = &out[0, 0]
    with nogil:
        pool_rows(source, ends, n_seqs, width, LEAST if least else GREATEST, BY_ONE, result)


def sum_small_rows(const small[:, ::1] x not None, const int64_t[::1] offsets not None, uint64_t[:, ::1] out not None):
    """Sum the rows of each sequence, modulo 2^64.

    Parameters
    ----------
    x : integer of 1, 2 or 4 bytes, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    out : uint64, shape (n_seqs, width)
        For signed integers, the bits of the int64.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], width = out.shape[1]
    agree(x.shape[1] == width and ends_at(offsets, n_seqs, x.shape[0]))
    if n_seqs == 0 or width == 0:
        return
    cdef const small* source = &x[0, 0] if x.shape[0] else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef uint64_t* result = &out[0, 0]
    with nogil:
        if small is uint8_t or small is int8_t:
            sum_small(<const uint8_t*> source, ends, n_seqs, width, small is int8_t, result)
        elif small is uint16_t or small is int16_t:
            sum_small(<const uint16_t*> source, ends, n_seqs, width, small is int16_t, result)
        else:
            sum_small(<const uint32_t*> source, ends, n_seqs, width, small is int32_t, result)


def best_small_rows(const small[:, ::1] x not None, const int64_t[::1] offsets not None, bint least,
                    small[:, ::1] out not None):
    """Compute the maximum (or minimum) of each column of each sequence.

    Parameters
    ----------
    x : integer of 1, 2 or 4 bytes, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    least : bool
    out : as x, shape (n_seqs, width)
    """
    cdef Py_ssize_t n_seqs = out.shape[0], width = out.shape[1]
    agree(x.shape[1] == width and ends_at(offsets, n_seqs, x.shape[0]))
    if n_seqs == 0 or width == 0:
        return
    cdef const small* source = &x[0, 0] if x.shape[0] else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef small* result = &out[0, 0]
    cdef int verb = LEAST if least else GREATEST
    with nogil:
        if small is uint8_t or small is int8_t:
            best_small(<const uint8_t*> source, ends, n_seqs, width, small is int8_t, verb, <uint8_t*> result)
        elif small is uint16_t or small is int16_t:
            best_small(<const int16_t*> source, ends, n_seqs, width, small is int16_t, verb, <int16_t*> result)
        else:
            best_small(<const int32_t*> source, ends, n_seqs, width, small is int32_t, verb, <int32_t*> result)


def find_best_rows(const number[:, ::1] x not None, const int64_t[::1] offsets not None, bint least,
                   number[:, ::1] out not None, int64_t[:, ::1] index not None):
    """Compute the maximum (or minimum) of each column of each sequence, and its row.

    Parameters
    ----------
    x : number, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    least : bool
    out : as x, shape (n_seqs, width)
    index : int64, shape (n_seqs, width)
        The row, within its sequence, of each cell of `out`; -1 for an empty sequence.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], width = out.shape[1]
    agree(x.shape[1] == width and ends_at(offsets, n_seqs, x.shape[0]) and index.shape[0] == n_seqs
          and index.shape[1] == width)
    if n_seqs == 0 or width == 0:
        return
    cdef const number* source = &x[0, 0] if x.shape[0] else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef number* result = &out[0, 0]
    cdef int64_t* places = &index[0, 0]
    cdef int verb = LEAST if least else GREATEST
    with nogil:
        find_rows(source, ends, n_seqs, width, verb, result, places)


def spread_rows(const real[:, ::1] rows not None, const int64_t[::1] offsets not None, int divide,
                real[:, ::1] out not None):
    """Copy each row to all rows of its sequence: the adjoint of `sum_rows`.

    Parameters
    ----------
    rows : float32 or float64, shape (n_seqs, width)
    offsets : int64, shape (n_seqs + 1,), in rows of `out`
    divide : int
        As in `sum_rows`.
    out : as rows, shape (n_rows, width)
    """
    cdef Py_ssize_t n_seqs = rows.shape[0], width = out.shape[1]
    agree(rows.shape[1] == width and ends_at(offsets, n_seqs, out.shape[0]))
    if out.shape[0] == 0 or width == 0:
        return
    cdef const real* source = &rows[0, 0]
    cdef const int64_t* ends = &offsets[0]
    cdef real* result = &out[0, 0]
    with nogil:
        spread(source, ends, n_seqs, width, divide, result)


def scatter_cells(const real[:, ::1] rows not None, const int64_t[::1] offsets not None,
                  const int64_t[:, ::1] index not None, real[:, ::1] out not None):
    """Scatter each cell to the position where `find_best_rows` found it: the gradient of the maximum or minimum.

    Parameters
    ----------
    rows : float32 or float64, shape (n_seqs, width)
    offsets : int64, shape (n_seqs + 1,), in rows of `out`
    index : int64, shape (n_seqs, width)
        The row, within its sequence, of each cell; any number for an empty sequence.
    out : as rows, shape (n_rows, width)
        Zeros at all other positions.
    """
    cdef Py_ssize_t n_seqs = rows.shape[0], width = out.shape[1]
    agree(rows.shape[1] == width and ends_at(offsets, n_seqs, out.shape[0]) and index.shape[0] == n_seqs
          and index.shape[1] == width)
    if out.shape[0] == 0 or width == 0:
        return
    cdef const real* source = &rows[0, 0]
    cdef const int64_t* ends = &offsets[0]
    cdef const int64_t* places = &index[0, 0]
    cdef real* result = &out[0, 0]
    with nogil:
        scatter(source, ends, n_seqs, width, places, result)


def pick_rows(const unsigned char[:, ::1] rows not None, const int64_t[::1] offsets not None, bint last,
              unsigned char[:, ::1] out not None):
    """Copy the first (or last) row of each sequence.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
    offsets : int64, shape (n_seqs + 1,), in rows
    last : bool
    out : uint8, shape (n_seqs, row_bytes)
    """
    cdef Py_ssize_t n_seqs = out.shape[0], row_bytes = out.shape[1]
    agree(rows.shape[1] == row_bytes and ends_at(offsets, n_seqs, rows.shape[0]))
    if n_seqs == 0 or row_bytes == 0:
        return
    cdef const char* source = <const char*> &rows[0, 0] if rows.shape[0] else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        pick_each(source, ends, n_seqs, row_bytes, last, result)


def place_rows(const unsigned char[:, ::1] rows not None, const int64_t[::1] offsets not None, bint last,
               unsigned char[:, ::1] out not None):
    """Copy each row to the first (or last) position of its sequence, and zeros elsewhere: the adjoint of `pick_rows`.

    Parameters
    ----------
    rows : uint8, shape (n_seqs, row_bytes)
        The rows of empty sequences are not used.
    offsets : int64, shape (n_seqs + 1,), in rows of `out`
    last : bool
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t n_seqs = rows.shape[0], row_bytes = out.shape[1]
    agree(rows.shape[1] == row_bytes and ends_at(offsets, n_seqs, out.shape[0]))
    if out.shape[0] == 0 or row_bytes == 0:
        return
    cdef const char* source = <const char*> &rows[0, 0]
    cdef const int64_t* ends = &offsets[0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        place_each(source, ends, n_seqs, row_bytes, last, result)


def fill_empty(const unsigned char[::1] row not None, const int64_t[::1] offsets not None,
               unsigned char[:, ::1] out not None):
    """Write a row for each empty sequence, and keep the other rows.

    Parameters
    ----------
    row : uint8, shape (row_bytes,)
    offsets : int64, shape (n_seqs + 1,)
    out : uint8, shape (n_seqs, row_bytes)
        Read and rewritten.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], row_bytes = out.shape[1], s
    agree(row.shape[0] == row_bytes and offsets.shape[0] == n_seqs + 1)
    if n_seqs == 0 or row_bytes == 0:
        return
    cdef const unsigned char* source = &row[0]
    cdef const int64_t* ends = &offsets[0]
    cdef unsigned char* result = &out[0, 0]
    with nogil:
        for s in range(n_seqs):
            if ends[s + 1] == ends[s]:
                memcpy(result + s * row_bytes, source, row_bytes)


def sum_empty(const real[:, ::1] rows not None, const int64_t[::1] offsets not None, real[::1] out not None):
    """Sum the rows of the empty sequences, one after another to 0: the adjoint of `fill_empty`.

    Parameters
    ----------
    rows : float32 or float64, shape (n_seqs, width)
    offsets : int64, shape (n_seqs + 1,)
    out : as rows, shape (width,)
    """
    cdef Py_ssize_t n_seqs = rows.shape[0], width = out.shape[0], s, c
    agree(rows.shape[1] == width and offsets.shape[0] == n_seqs + 1)
    if width == 0:
        return
    cdef const real* source = &rows[0, 0] if n_seqs else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef real* result = &out[0]
    with nogil:
        for c in range(width):
            result[c] = 0
        for s in range(n_seqs):
            if ends[s + 1] == ends[s]:
                for c in range(width):
                    result[c] += source[s * width + c]


# -- first and last rows, as opaque bytes ------------------------------------------------------------------------------


cdef inline forced_void pick_cells(
    const char* rows, const int64_t* offsets, int64_t n_seqs, const bint last, char* out, cell* unused
) noexcept nogil:
    """Copy rows of a few bytes: for an empty sequence, an adjacent row is read and cleared, without a branch."""
    cdef int64_t final = offsets[n_seqs] - 1, s, row
    cdef cell one
    for s in range(n_seqs):
        if last:
            row = offsets[s + 1] - (offsets[s + 1] > 0)
        else:
            row = offsets[s] if offsets[s] < final else final
        memcpy(&one, rows + row * sizeof(cell), sizeof(cell))
        one = one if offsets[s + 1] > offsets[s] else 0
        memcpy(out + s * sizeof(cell), &one, sizeof(cell))


cdef void pick_each(
    const char* rows, const int64_t* offsets, int64_t n_seqs, int64_t row_bytes, bint last, char* out
) noexcept nogil:
    """Copy the first or last row of each sequence; write zeros for an empty one."""
    cdef int64_t n_rows = offsets[n_seqs], s
    if n_rows > 0 and row_bytes == 4 and last:
        pick_cells(rows, offsets, n_seqs, True, out, <uint32_t*> NULL)
    elif n_rows > 0 and row_bytes == 4:
        pick_cells(rows, offsets, n_seqs, False, out, <uint32_t*> NULL)
    elif n_rows > 0 and row_bytes == 8 and last:
        pick_cells(rows, offsets, n_seqs, True, out, <uint64_t*> NULL)
    elif n_rows > 0 and row_bytes == 8:
        pick_cells(rows, offsets, n_seqs, False, out, <uint64_t*> NULL)
    else:
        for s in range(n_seqs):
            if offsets[s + 1] > offsets[s]:
                memcpy(out, rows + (offsets[s + 1] - 1 if last else offsets[s]) * row_bytes, row_bytes)
            else:
                memset(out, 0, row_bytes)
            out += row_bytes


cdef inline forced_void place_near(
    const char* rows, const int64_t* offsets, int64_t n_seqs, const int64_t row_bytes, const bint last, char* out
) noexcept nogil:
    """Copy rows; a size that the compiler knows is a store."""
    cdef int64_t s = 0, end, k, room = NEAR // row_bytes
    while s < n_seqs:
        end = s + 1
        while end < n_seqs and offsets[end + 1] - offsets[s] <= room:
            end += 1
        memset(out + offsets[s] * row_bytes, 0, (offsets[end] - offsets[s]) * row_bytes)
        for k in range(s, end):
            if offsets[k + 1] > offsets[k]:
                memcpy(out + (offsets[k + 1] - 1 if last else offsets[k]) * row_bytes, rows + k * row_bytes, row_bytes)
        s = end


cdef void place_each(
    const char* rows, const int64_t* offsets, int64_t n_seqs, int64_t row_bytes, bint last, char* out
) noexcept nogil:
    """Copy each row to the first or last position of its sequence, and write zeros to the others."""
    if row_bytes == 1:
        place_near(rows, offsets, n_seqs, 1, last, out)
    elif row_bytes == 2:
        place_near(rows, offsets, n_seqs, 2, last, out)
    elif row_bytes == 4:
        place_near(rows, offsets, n_seqs, 4, last, out)
    elif row_bytes == 8:
        place_near(rows, offsets, n_seqs, 8, last, out)
    elif row_bytes == 12:
        place_near(rows, offsets, n_seqs, 12, last, out)
    elif row_bytes == 16:
        place_near(rows, offsets, n_seqs, 16, last, out)
    elif last:
        place_near(rows, offsets, n_seqs, row_bytes, True, out)
    else:
        place_near(rows, offsets, n_seqs, row_bytes, False, out)


# -- cells at their positions ------------------------------------------------------------------------------------------


cdef void scatter(
    const real* rows, const int64_t* offsets, int64_t n_seqs, int64_t width, const int64_t* index, real* out
) noexcept nogil:
    """Scatter each cell of `rows` to its position among zeros. Rows are cleared just before they are used."""
    cdef int64_t s = 0, end, k, c, room = NEAR // (width * <int64_t> sizeof(real))
    cdef const int64_t* place
    cdef const real* row
    cdef real* to
    while s < n_seqs:
        end = s + 1
        while end < n_seqs and offsets[end + 1] - offsets[s] <= room:
            end += 1
        memset(out + offsets[s] * width, 0, (offsets[end] - offsets[s]) * width * sizeof(real))
        for k in range(s, end):
            row, place, to = rows + k * width, index + k * width, out + offsets[k] * width
            if offsets[k + 1] - offsets[k] == 1:
                memcpy(to, row, width * sizeof(real))
            elif offsets[k + 1] > offsets[k]:
                for c in range(width):
                    to[place[c] * width + c] = row[c]
        s = end
