"""Windows over the rows of sequences: copied side by side, and filtered column by column.

A window never reaches over the ends of its sequence: positions beyond them are padded, or omitted. A sum of weighted
rows starts with the product of the first tap; all other sums start at 0, and add rows in order (kernels/taps.pxd).
"""

from libc.stdint cimport int64_t

from lodcore.kernels.lanes cimport real
from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, plain_void, simd_level
from lodcore.kernels.taps cimport add_edges, lagged, weigh
from lodcore.kernels.windows cimport Windows, between, copy_part, copy_whole, pad_windows, sequence_of

cdef enum:
    CACHED = 1 << 15  # bytes of windows at a time


def copy_windows(
    const unsigned char[:, ::1] rows not None, const int64_t[::1] offsets not None,
    const unsigned char[:, ::1] padding not None, int64_t start, int64_t length, int64_t first,
    unsigned char[:, ::1] out not None,
):
    """Copy, for each of some rows, the window that starts `start` rows after it.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
    offsets : int64, shape (n_seqs + 1,), in rows
    padding : uint8, shape (n_padding, row_bytes)
        The rows for positions beyond the ends of the sequence. No row: zeros; one row: everywhere; otherwise the max(0,
        -start) rows before each sequence and the max(0, start + length - 1) rows after it.
    start : int, -2**62 .. 2**62
    length : int, 0 .. 2**62
    first : int
        The row of the first window.
    out : uint8, shape (n, length * row_bytes)
        The windows of the rows from `first` to `first` + n, which exist.
    """
    cdef Windows w
    cdef int64_t row_bytes = rows.shape[1], width = out.shape[1]
    if width != length * row_bytes:
        raise ValueError("out has windows of another size")
    if padding.shape[0] and padding.shape[1] != row_bytes:
        raise ValueError("rows and padding have rows of different sizes")
    if padding.shape[0] > 1 and padding.shape[0] != max(0, -start) + max(0, start + length - 1):
        raise ValueError("padding has another number of rows")
    if (offsets.shape[0] == 0 or rows.shape[0] != offsets[offsets.shape[0] - 1]
            or not 0 <= first <= rows.shape[0] - out.shape[0]):
        raise ValueError("rows, offsets and out have different numbers of rows")
    if out.shape[0] == 0 or width == 0:
        return
    w.rows, w.n_rows, w.row_bytes = <const char*> &rows[0, 0], rows.shape[0], row_bytes
    w.offsets, w.n_seqs = &offsets[0], offsets.shape[0] - 1
    w.padding, w.n_padding = <const char*> &padding[0, 0] if padding.shape[0] else NULL, padding.shape[0]
    w.start, w.length, w.first, w.count = start, length, first, out.shape[0]
    w.out = <char*> &out[0, 0]
    with nogil:
        copy_all_windows(&w)


cdef int filter_rows(const real[:, ::1] x, const int64_t[::1] offsets, const real[:, ::1] filter, bint ahead,
                     real[:, ::1] out) except -1:
    """Sum the weighted rows after (or before) each row."""
    cdef int64_t width = x.shape[1], n_seqs = offsets.shape[0] - 1, taps = filter.shape[0]
    if n_seqs < 0 or x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0] or taps < 1:
        raise ValueError("x, offsets and out have different numbers of rows, or there is no filter")
    if filter.shape[1] != width or out.shape[1] != width:
        raise ValueError("x, filter and out have different widths")
    if x.shape[0] == 0 or width == 0:
        return 0
    cdef const real* source = &x[0, 0]
    cdef const real* weights = &filter[0, 0]
    cdef const int64_t* ends = &offsets[0]
    cdef real* result = &out[0, 0]
    with nogil:
        run_weigh(source, width, ends, n_seqs, weights, taps, ahead, result)


def correlate_rows(const real[:, ::1] x not None, const int64_t[::1] offsets not None,
                   const real[:, ::1] filter not None, real[:, ::1] out not None):
    """Sum for each row the following rows of its sequence, itself included, weighted by the rows of the filter.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    filter : as x, shape (taps, width)
        At least one row.
    out : as x, shape (n_rows, width)
        out[t] = x[t] * filter[0] + x[t + 1] * filter[1] + ... up to the end of the sequence, added in this order.
    """
    filter_rows(x, offsets, filter, True, out)


def convolve_rows(const real[:, ::1] x not None, const int64_t[::1] offsets not None,
                  const real[:, ::1] filter not None, real[:, ::1] out not None):
    """Sum for each row the preceding rows of its sequence, itself included, weighted by the rows of the filter.

    The adjoint of `correlate_rows`.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    filter : as x, shape (taps, width)
        At least one row.
    out : as x, shape (n_rows, width)
        out[t] = x[t] * filter[0] + x[t - 1] * filter[1] + ... back to the start of the sequence, added in this order.
    """
    filter_rows(x, offsets, filter, False, out)


def sum_lagged_products(const real[:, ::1] x not None, const real[:, ::1] y not None,
                        const int64_t[::1] offsets not None, double[:, ::1] out not None):
    """Sum the products of rows and the rows some positions later in their sequence.

    Parameters
    ----------
    x, y : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    out : float64, shape (taps, width)
        out[j] = the sum of x[t + j] * y[t] over all rows t whose sequence has a row t + j, in order, starting at 0.
    """
    cdef int64_t width = x.shape[1], n_seqs = offsets.shape[0] - 1, taps = out.shape[0]
    if (n_seqs < 0 or x.shape[0] != offsets[n_seqs] or y.shape[0] != x.shape[0] or y.shape[1] != width
            or out.shape[1] != width):
        raise ValueError("x, y, offsets and out have different numbers of rows, or different widths")
    if taps == 0 or width == 0:
        return
    if x.shape[0] == 0:
        out[:, :] = 0
        return
    cdef const real* left = &x[0, 0]
    cdef const real* right = &y[0, 0]
    cdef const int64_t* ends = &offsets[0]
    cdef double* result = &out[0, 0]
    with nogil:
        run_lagged(left, right, width, ends, n_seqs, taps, result)


def sum_edges(const real[:, ::1] x not None, const int64_t[::1] offsets not None, int64_t before, int64_t after,
              double[:, ::1] out not None):
    """Sum the first rows of all sequences, and the last ones, position by position.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    before, after : int, in rows
    out : float64, shape (before + after, width)
        out[i] = the sum of row i of all sequences that have it, and out[before + after - 1 - i] the sum of row i
        counted from the last, in order, starting at 0.
    """
    cdef int64_t width = x.shape[1], n_seqs = offsets.shape[0] - 1
    if before < 0 or after < 0 or out.shape[0] != before + after:
        raise ValueError("out has another number of rows")
    if n_seqs < 0 or x.shape[0] != offsets[n_seqs] or out.shape[1] != width:
        raise ValueError("x and offsets have different numbers of rows, or x and out different widths")
    if out.shape[0] == 0 or width == 0:
        return
    if x.shape[0] == 0:
        out[:, :] = 0
        return
    cdef const real* source = &x[0, 0]
    cdef const int64_t* ends = &offsets[0]
    cdef double* result = &out[0, 0]
    with nogil:
        add_edges(source, width, ends, n_seqs, before, after, result)


# -- filtered rows -----------------------------------------------------------------------------------------------------


cdef avx512_void weigh_avx512(
    const real* x, int64_t width, const int64_t* offsets, int64_t n_seqs, const real* filter, int64_t taps, bint ahead,
    real* out
) noexcept nogil:
    weigh(x, width, offsets, n_seqs, filter, taps, ahead, out)


cdef avx2_void weigh_avx2(
    const real* x, int64_t width, const int64_t* offsets, int64_t n_seqs, const real* filter, int64_t taps, bint ahead,
    real* out
) noexcept nogil:
    weigh(x, width, offsets, n_seqs, filter, taps, ahead, out)


cdef plain_void weigh_plain(
    const real* x, int64_t width, const int64_t* offsets, int64_t n_seqs, const real* filter, int64_t taps, bint ahead,
    real* out
) noexcept nogil:
    weigh(x, width, offsets, n_seqs, filter, taps, ahead, out)


cdef void run_weigh(
    const real* x, int64_t width, const int64_t* offsets, int64_t n_seqs, const real* filter, int64_t taps, bint ahead,
    real* out
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        weigh_avx512(x, width, offsets, n_seqs, filter, taps, ahead, out)
    elif level == SIMD_AVX2:
        weigh_avx2(x, width, offsets, n_seqs, filter, taps, ahead, out)
    else:
        weigh_plain(x, width, offsets, n_seqs, filter, taps, ahead, out)


cdef avx512_void lagged_avx512(
    const real* x, const real* y, int64_t width, const int64_t* offsets, int64_t n_seqs, int64_t taps, double* out
) noexcept nogil:
    lagged(x, y, width, offsets, n_seqs, taps, out)


cdef avx2_void lagged_avx2(
    const real* x, const real* y, int64_t width, const int64_t* offsets, int64_t n_seqs, int64_t taps, double* out
) noexcept nogil:
    lagged(x, y, width, offsets, n_seqs, taps, out)


cdef plain_void lagged_plain(
    const real* x, const real* y, int64_t width, const int64_t* offsets, int64_t n_seqs, int64_t taps, double* out
) noexcept nogil:
    lagged(x, y, width, offsets, n_seqs, taps, out)


cdef void run_lagged(
    const real* x, const real* y, int64_t width, const int64_t* offsets, int64_t n_seqs, int64_t taps, double* out
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        lagged_avx512(x, y, width, offsets, n_seqs, taps, out)
    elif level == SIMD_AVX2:
        lagged_avx2(x, y, width, offsets, n_seqs, taps, out)
    else:
        lagged_plain(x, y, width, offsets, n_seqs, taps, out)


# -- copied windows ----------------------------------------------------------------------------------------------------


cdef avx512_void copy_whole_avx512(
    const char* source, int64_t left, int64_t step, int64_t width, int64_t count, char* to, int64_t room
) noexcept nogil:
    copy_whole(source, left, step, width, count, to, room)


cdef void copy_whole_plain(
    const char* source, int64_t left, int64_t step, int64_t width, int64_t count, char* to, int64_t room
) noexcept nogil:
    copy_whole(source, left, step, width, count, to, room)


cdef void run_copy_whole(
    const char* source, int64_t left, int64_t step, int64_t width, int64_t count, char* to, int64_t room
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        copy_whole_avx512(source, left, step, width, count, to, room)
    else:
        copy_whole_plain(source, left, step, width, count, to, room)


cdef void copy_all_windows(const Windows* w) noexcept nogil:
    """Copy windows block by block, and then write their padding."""
    cdef int64_t width = w.length * w.row_bytes, last = w.first + w.count, rows = CACHED // width + 1
    cdef int64_t s = sequence_of(w.offsets, w.n_seqs, w.first), a = w.first, b, low, high, t
    cdef const char* rows_end = w.rows + w.n_rows * w.row_bytes
    cdef char* out_end = w.out + w.count * width
    cdef const char* source
    cdef char* to
    while a < last:
        b = a + rows if a + rows < last else last
        low = between(a, -w.start, b)
        high = between(low, w.n_rows - w.start - w.length + 1, b)
        for t in range(a, low):
            copy_part(w, t)
        if low < high:
            source = w.rows + (low + w.start) * w.row_bytes
            to = w.out + (low - w.first) * width
            run_copy_whole(source, rows_end - source, w.row_bytes, width, high - low, to, out_end - to)
        for t in range(high, b):
            copy_part(w, t)
        while s < w.n_seqs and w.offsets[s] < b:
            pad_windows(w, s, a, b)
            if w.offsets[s + 1] > b:  # it continues in the next block
                break
            s += 1
        a = b
