"""Positions of the elements that an index selects from each sequence: slices, single elements, masks, numbers.

An element of a level is a sequence of the next level, or a row at the last level. A range is a pair (start, stop).
"""

cimport lodcore.kernels.arrays as cnp
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from lodcore.kernels.masks cimport choose_cells, choose_pairs, count_runs, put_cells, put_pairs, sum_bytes, take_cells
from lodcore.kernels.masks cimport take_pairs, take_runs, true_bytes
from lodcore.kernels.simd cimport read_once
from lodcore.kernels.sizes cimport agree, ends_at

cnp.import_array()


cdef inline int64_t clip(int64_t bound, int64_t length, int64_t low, int64_t high) noexcept nogil:
    """Convert a bound that may be negative to one counted from the start, and clamp it to low .. high."""
    if bound < 0:
        bound += length
    return low if bound < low else high if bound > high else bound


def cut_ranges(const int64_t[::1] offsets not None, int64_t start, int64_t stop, int64_t[:, ::1] ranges not None,
               int64_t[::1] out not None):
    """Slice all sequences alike, from start to stop.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    start, stop : int
        As in a slice of Python: negative bounds count from the end, and bounds out of range are clamped.
    ranges : int64, shape (n_seqs, 2)
        The range of each slice.
    out : int64, shape (n_seqs + 1,)
        The offsets of the slices.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s
    agree(n_seqs >= 0 and ranges.shape[0] == n_seqs and ranges.shape[1] == 2 and out.shape[0] == n_seqs + 1)
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* pairs = &ranges[0, 0] if n_seqs else NULL
    cdef int64_t* result = &out[0]
    cdef int64_t length, first, last, total = 0
    with nogil:
        result[0] = 0
        for s in range(n_seqs):
            length = source[s + 1] - source[s]
            first = clip(start, length, 0, length)
            last = clip(stop, length, first, length)
            pairs[2 * s] = source[s] + first
            pairs[2 * s + 1] = source[s] + last
            total += last - first
            result[s + 1] = total


def strided_offsets(const int64_t[::1] offsets not None, int64_t start, int64_t stop, int64_t step,
                    int64_t[::1] out not None):
    """Compute the offsets of the same slice, start:stop:step, of each sequence.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    start, stop : int
        As in a slice of Python; if step is negative, the least int64 stands for a missing stop.
    step : int
        Not 0.
    out : int64, shape (n_seqs + 1,)
        The offsets of the selected elements.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s
    agree(n_seqs >= 0 and out.shape[0] == n_seqs + 1 and step != 0)
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* result = &out[0]
    cdef int64_t length, first, last, total = 0, back = step < 0
    with nogil:
        result[0] = 0
        for s in range(n_seqs):
            length = source[s + 1] - source[s]
            first = clip(start, length, -back, length - back)
            last = clip(stop, length, -back, length - back)
            if step > 0 and last > first:
                total += (last - first - 1) // step + 1
            elif step < 0 and last < first:
                total += (last - first + 1) // step + 1
            result[s + 1] = total


def strided_ranges(const int64_t[::1] offsets not None, int64_t start, int64_t step,
                   const int64_t[::1] new_offsets not None, int64_t[:, ::1] out not None):
    """List the elements that the same slice selects from each sequence, one range per element.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    start, step : int
        As in `strided_offsets`.
    new_offsets : int64, shape (n_seqs + 1,)
        The result of `strided_offsets`.
    out : int64, shape (n, 2)
        n is the last of the new offsets.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s
    agree(n_seqs >= 0 and ends_at(new_offsets, n_seqs, out.shape[0]) and out.shape[1] == 2)
    cdef const int64_t* source = &offsets[0]
    cdef const int64_t* taken = &new_offsets[0]
    cdef int64_t* pairs = &out[0, 0] if out.shape[0] else NULL
    cdef int64_t length, first, place, at, back = step < 0
    with nogil:
        for s in range(n_seqs):
            length = source[s + 1] - source[s]
            first = source[s] + clip(start, length, -back, length - back)
            for at in range(taken[s], taken[s + 1]):
                place = first + (at - taken[s]) * step
                pairs[2 * at] = place
                pairs[2 * at + 1] = place + 1


def pick_ranges(const int64_t[::1] offsets not None, const int64_t[::1] index not None,
                int64_t[:, ::1] out not None):
    """Select one element of each sequence.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    index : int64, shape (n_seqs,)
        Any values; each is read once. Negative ones count from the end of the sequence.
    out : int64, shape (n_seqs, 2)
        Undefined if an index is invalid.

    Returns
    -------
    int
        The first sequence that is too short, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s, bad = -1
    agree(n_seqs >= 0 and index.shape[0] == n_seqs and out.shape[0] == n_seqs and out.shape[1] == 2)
    if n_seqs == 0:
        return -1
    cdef const int64_t* source = &offsets[0]
    cdef const int64_t* numbers = &index[0]
    cdef int64_t* pairs = &out[0, 0]
    cdef int64_t length, number
    with nogil:
        for s in range(n_seqs):
            length = source[s + 1] - source[s]
            number = read_once(numbers + s)
            if number < -length or number >= length:
                bad = s
                break
            number += source[s + 1] if number < 0 else source[s]
            pairs[2 * s] = number
            pairs[2 * s + 1] = number + 1
    return bad


def true_offsets(const int64_t[::1] offsets not None, const unsigned char[::1] mask not None,
                 int64_t[::1] out not None):
    """Count the elements of each sequence for which a mask is true.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    mask : uint8, shape (n,)
        One entry per element, 0 or not 0; no other thread may change it during the call.
    out : int64, shape (n_seqs + 1,)
        The offsets of the selected elements.

    Returns
    -------
    int
        The number of runs of consecutive selected elements.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, size = mask.shape[0]
    agree(ends_at(offsets, n_seqs, size) and out.shape[0] == n_seqs + 1)
    cdef const int64_t* source = &offsets[0]
    cdef const unsigned char* held = &mask[0] if size else NULL
    cdef int64_t* result = &out[0]
    cdef int64_t runs
    with nogil:
        count_true(source, n_seqs, held, result)
        runs = count_runs(held, size)
    return runs


def take_true(const unsigned char[:, ::1] rows not None, const unsigned char[::1] mask not None,
              unsigned char[:, ::1] out not None):
    """Copy the rows for which a mask is true.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
    mask : uint8, shape (n_rows,)
        0 or not 0; no other thread may change it during the call.
    out : uint8, shape (n, row_bytes)
        n is the number of true entries of the mask.
    """
    cdef Py_ssize_t n_rows = rows.shape[0], row_bytes = rows.shape[1], size = out.shape[0]
    agree(mask.shape[0] == n_rows and out.shape[1] == row_bytes)
    if size == 0 or n_rows == 0 or row_bytes == 0:
        return
    cdef const char* source = <const char*> &rows[0, 0]
    cdef const unsigned char* held = &mask[0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        take_true_rows(source, n_rows, row_bytes, held, result, size)


def put_true(const unsigned char[:, ::1] rows not None, const unsigned char[::1] mask not None,
             unsigned char[:, ::1] out not None):
    """Scatter rows to the positions where a mask is true, and write zero bytes elsewhere: the adjoint of `take_true`.

    Parameters
    ----------
    rows : uint8, shape (n, row_bytes)
        n is the number of true entries of the mask.
    mask : uint8, shape (n_rows,)
        0 or not 0; no other thread may change it during the call.
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t n_rows = out.shape[0], row_bytes = out.shape[1], size = rows.shape[0]
    agree(mask.shape[0] == n_rows and rows.shape[1] == row_bytes)
    if n_rows == 0 or row_bytes == 0:
        return
    cdef const char* source = <const char*> &rows[0, 0] if size else NULL
    cdef const unsigned char* held = &mask[0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        put_true_rows(source, size, row_bytes, held, result, n_rows)


def choose(const unsigned char[::1] mask not None, const unsigned char[:, ::1] x not None,
           const unsigned char[:, ::1] y not None, unsigned char[:, ::1] out not None):
    """Copy rows of x where a mask is true, rows of y elsewhere.

    Parameters
    ----------
    mask : uint8, shape (n_rows,)
        0 or not 0.
    x, y : uint8, shape (n_rows, row_bytes)
        A single row is repeated.
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t n_rows = out.shape[0], row_bytes = out.shape[1], r
    cdef bint repeat_x = x.shape[0] == 1 != n_rows, repeat_y = y.shape[0] == 1 != n_rows
    agree(mask.shape[0] == n_rows and x.shape[1] == row_bytes and y.shape[1] == row_bytes)
    agree((x.shape[0] == n_rows or repeat_x) and (y.shape[0] == n_rows or repeat_y))
    if n_rows == 0 or row_bytes == 0:
        return
    cdef const unsigned char* held = &mask[0]
    cdef const char* first = <const char*> &x[0, 0]
    cdef const char* second = <const char*> &y[0, 0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        if row_bytes == 1:
            choose_cells(held, n_rows, first, repeat_x, second, repeat_y, result, <uint8_t*> NULL)
        elif row_bytes == 2:
            choose_cells(held, n_rows, first, repeat_x, second, repeat_y, result, <uint16_t*> NULL)
        elif row_bytes == 4:
            choose_cells(held, n_rows, first, repeat_x, second, repeat_y, result, <uint32_t*> NULL)
        elif row_bytes == 8:
            choose_cells(held, n_rows, first, repeat_x, second, repeat_y, result, <uint64_t*> NULL)
        elif row_bytes == 16:
            choose_pairs(held, n_rows, first, repeat_x, second, repeat_y, result)
        else:
            for r in range(n_rows):
                memcpy(result + r * row_bytes, first if held[r] else second, row_bytes)
                first += 0 if repeat_x else row_bytes
                second += 0 if repeat_y else row_bytes


def true_ranges(const unsigned char[::1] mask not None, int64_t[:, ::1] out not None):
    """List the runs of consecutive elements for which a mask is true.

    Parameters
    ----------
    mask : uint8, shape (n,)
        0 or not 0; no other thread may change it during the call.
    out : int64, shape (number of runs, 2)
    """
    cdef Py_ssize_t size = mask.shape[0], ends = 2 * out.shape[0], j, k = 0
    agree(out.shape[1] == 2 and (ends == 0 or size > 0))
    if ends == 0:
        return
    cdef const unsigned char* held = &mask[0]
    cdef int64_t* places = &out[0, 0]
    cdef bint now, before = False
    with nogil:
        for j in range(size):
            now = held[j] != 0
            places[k] = j
            k += now != before
            before = now
            if k == ends:
                break
        if k < ends:
            places[k] = size


def nested_ranges(const int64_t[::1] offsets not None, const int64_t[::1] index_offsets not None,
                  const int64_t[::1] index not None, int64_t[:, ::1] out not None):
    """Select the elements of each sequence whose numbers are in its own list, one range per element.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    index_offsets : int64, shape (n_seqs + 1,)
    index : int64, shape (n,)
        Any values; each is read once. Negative ones count from the end of the sequence.
    out : int64, shape (n, 2)
        Undefined if an index is invalid.

    Returns
    -------
    int
        The first position whose sequence is too short, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s, j, bad = -1
    agree(n_seqs >= 0 and ends_at(index_offsets, n_seqs, index.shape[0]) and out.shape[0] == index.shape[0]
          and out.shape[1] == 2)
    if index.shape[0] == 0:
        return -1
    cdef const int64_t* source = &offsets[0]
    cdef const int64_t* pieces = &index_offsets[0]
    cdef const int64_t* numbers = &index[0]
    cdef int64_t* pairs = &out[0, 0]
    cdef int64_t length, number
    with nogil:
        for s in range(n_seqs):
            length = source[s + 1] - source[s]
            for j in range(pieces[s], pieces[s + 1]):
                number = read_once(numbers + j)
                if number < -length or number >= length:
                    bad = j
                    break
                number += source[s + 1] if number < 0 else source[s]
                pairs[2 * j] = number
                pairs[2 * j + 1] = number + 1
            if bad >= 0:
                break
    return bad


# -- rows for which a mask is true -------------------------------------------------------------------------------------


cdef void count_true(const int64_t* offsets, int64_t n_seqs, const unsigned char* mask, int64_t* out) noexcept nogil:
    """Compute the offsets of the elements of each sequence that a mask selects."""
    cdef unsigned char[16] ones  # 8 bytes from 8 - n on are n ones, and then zeros
    cdef int64_t total = 0, s = 0, j = offsets[0], end, last = offsets[n_seqs] - 8
    cdef uint64_t kept
    memset(ones, 1, 8)
    memset(ones + 8, 0, 8)
    out[0] = 0
    while s < n_seqs and offsets[s + 1] <= last:
        s += 1
        end = offsets[s]
        while j + 8 <= end:
            total += sum_bytes(true_bytes(mask + j))
            j += 8
        memcpy(&kept, ones + (8 - (end - j)), 8)
        total += sum_bytes(true_bytes(mask + j) & kept)
        out[s] = total
        j = end
    while s < n_seqs:  # those that end among the last 8 elements
        s += 1
        while j + 8 <= offsets[s]:
            total += sum_bytes(true_bytes(mask + j))
            j += 8
        while j < offsets[s]:
            total += mask[j] != 0
            j += 1
        out[s] = total


cdef void take_true_rows(
    const char* rows, int64_t n_rows, int64_t row_bytes, const unsigned char* mask, char* out, int64_t size
) noexcept nogil:
    """Copy the `size` rows for which the mask is true."""
    if row_bytes == 1:
        take_cells(rows, n_rows, mask, out, size, <uint8_t*> NULL)
    elif row_bytes == 2:
        take_cells(rows, n_rows, mask, out, size, <uint16_t*> NULL)
    elif row_bytes == 4:
        take_cells(rows, n_rows, mask, out, size, <uint32_t*> NULL)
    elif row_bytes == 8:
        take_cells(rows, n_rows, mask, out, size, <uint64_t*> NULL)
    elif 8 < row_bytes <= 16:
        take_pairs(rows, n_rows, row_bytes, mask, out, size)
    else:
        take_runs(rows, n_rows, row_bytes, mask, out, size)


cdef void put_true_rows(
    const char* rows, int64_t size, int64_t row_bytes, const unsigned char* mask, char* out, int64_t n_rows
) noexcept nogil:
    """Scatter rows to the positions where the mask is true, and write zero bytes elsewhere."""
    cdef int64_t r, k = 0
    if size == 0:
        memset(out, 0, n_rows * row_bytes)
    elif row_bytes == 1:
        put_cells(rows, size, mask, out, n_rows, <uint8_t*> NULL)
    elif row_bytes == 2:
        put_cells(rows, size, mask, out, n_rows, <uint16_t*> NULL)
    elif row_bytes == 4:
        put_cells(rows, size, mask, out, n_rows, <uint32_t*> NULL)
    elif row_bytes == 8:
        put_cells(rows, size, mask, out, n_rows, <uint64_t*> NULL)
    elif 8 < row_bytes <= 16:
        put_pairs(rows, size, row_bytes, mask, out, n_rows)
    else:
        for r in range(n_rows):
            if mask[r] != 0 and k < size:
                memcpy(out + r * row_bytes, rows + k * row_bytes, row_bytes)
                k += 1
            else:
                memset(out + r * row_bytes, 0, row_bytes)
