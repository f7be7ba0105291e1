"""Sorting of text, cells by their positions, and interpolation between two neighbours of a sorted sequence."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

ctypedef fused number:
    float
    double
    int64_t
    uint64_t

ctypedef fused real:
    float
    double

cdef enum:
    WIDE_CHARACTER = (1 << 21) - 1  # the largest character that a key holds, greater than any character of Unicode


def prefix_keys(const uint8_t[:, ::1] x not None, int64_t unit, uint64_t[::1] out not None):
    """Compute a key from the first characters of each text, such that different keys have the order of the texts.

    Parameters
    ----------
    x : uint8, shape (n, size)
        Characters of `unit` bytes, in native byte order; zeros after the end of a text.
    unit : 1 or 4
    out : uint64, shape (n,)
        8 characters of one byte, or 3 of four bytes.

    Returns
    -------
    bool
        Whether different texts may have the same key.
    """
    cdef Py_ssize_t n = x.shape[0], size = x.shape[1], r, c, most
    cdef const uint8_t* text
    cdef uint32_t character
    cdef uint64_t key
    cdef bint several = size > (8 if unit == 1 else 12)
    if out.shape[0] != n or size % unit:
        raise ValueError("x, unit and out do not belong together")
    if n == 0 or size == 0:
        out[:] = 0
        return several
    text = &x[0, 0]
    with nogil:
        for r in range(n):
            key = 0
            if unit == 1:
                most = size if size < 8 else 8
                for c in range(most):
                    key |= <uint64_t> text[c] << (56 - 8 * c)
            else:
                most = size // 4 if size < 12 else 3
                for c in range(most):
                    memcpy(&character, text + 4 * c, 4)
                    if character >= WIDE_CHARACTER:
                        key |= <uint64_t> WIDE_CHARACTER << (42 - 21 * c)
                        several = True
                        break
                    key |= <uint64_t> character << (42 - 21 * c)
            out[r] = key
            text += size
    return several


cdef inline bint comes_after(const uint8_t* one, const uint8_t* other, int64_t size, int64_t unit) noexcept nogil:
    """Return whether a text comes after another one of the same number of characters."""
    cdef int64_t c
    cdef uint32_t first, second
    if unit == 1:
        for c in range(size):
            if one[c] != other[c]:
                return one[c] > other[c]
        return False
    for c in range(0, size, 4):
        memcpy(&first, one + c, 4)
        memcpy(&second, other + c, 4)
        if first != second:
            return first > second
    return False


cdef void merge_sort(const uint8_t* x, int64_t row_bytes, int64_t size, int64_t unit, bint descending,
                     int64_t* positions, int64_t step, int64_t count, int64_t* order, int64_t* spare) noexcept nogil:
    """Sort positions of texts, every `step`-th; equal texts keep their order."""
    cdef int64_t width = 1, start, middle, stop, left, right, k
    cdef int64_t* swapped
    cdef bint behind
    for k in range(count):
        order[k] = positions[k * step]
    while width < count:
        start = 0
        while start < count:
            middle = start + width if start + width < count else count
            stop = middle + width if middle + width < count else count
            left, right = start, middle
            for k in range(start, stop):
                if left == middle:
                    behind = True
                elif right == stop:
                    behind = False
                elif descending:
                    behind = comes_after(x + order[right] * row_bytes, x + order[left] * row_bytes, size, unit)
                else:
                    behind = comes_after(x + order[left] * row_bytes, x + order[right] * row_bytes, size, unit)
                if behind:
                    spare[k] = order[right]
                    right += 1
                else:
                    spare[k] = order[left]
                    left += 1
            start = stop
        swapped = order
        order = spare
        spare = swapped
        width *= 2
    for k in range(count):
        positions[k * step] = order[k]


def order_ties(const uint8_t[:, ::1] x not None, int64_t unit, const uint64_t[:, ::1] keys not None,
               const int64_t[::1] offsets not None, bint descending, int64_t[:, ::1] positions not None):
    """Sort the texts whose keys are equal, column by column, to complete a sort by keys.

    Parameters
    ----------
    x : uint8, shape (n_rows, width * size)
        Texts as in `prefix_keys`.
    unit : 1 or 4
    keys : uint64, shape (n_rows, width)
        Sorted within each column of each sequence.
    offsets : int64, shape (n_seqs + 1,), in rows
    descending : bool
    positions : int64, shape (n_rows, width)
        Read and rewritten: positions of the texts within their sequences, in the order of the keys; equal texts keep
        their order.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = keys.shape[1]
    if (x.shape[0] != offsets[n_seqs] or keys.shape[0] != x.shape[0] or positions.shape[0] != x.shape[0]
            or positions.shape[1] != width or (width and x.shape[1] % (width * unit))):
        raise ValueError("x, unit, keys, offsets and positions do not belong together")
    if x.shape[0] == 0 or x.shape[1] == 0:
        return
    cdef int64_t size = x.shape[1] // width, row_bytes = x.shape[1], longest = 0, first, stop, s, c, r
    cdef const uint8_t* texts = &x[0, 0]
    cdef const uint64_t* known = &keys[0, 0]
    cdef int64_t* places = &positions[0, 0]
    cdef int64_t* space
    for s in range(n_seqs):
        longest = max(longest, offsets[s + 1] - offsets[s])
        for r in range(offsets[s], offsets[s + 1]):
            for c in range(width):
                if not 0 <= positions[r, c] < offsets[s + 1] - offsets[s]:
                    raise ValueError("positions name no rows of their sequences")
    space = <int64_t*> malloc(2 * longest * sizeof(int64_t))
    if space == NULL:
        raise MemoryError
    with nogil:
        for s in range(n_seqs):
            for c in range(width):
                first = offsets[s]
                while first < offsets[s + 1]:
                    stop = first + 1
                    while stop < offsets[s + 1] and known[stop * width + c] == known[first * width + c]:
                        stop += 1
                    if stop - first > 1:
                        merge_sort(texts + offsets[s] * row_bytes + c * size, row_bytes, size, unit, descending,
                                   places + first * width + c, width, stop - first, space, space + longest)
                    first = stop
        free(space)


def take_cells(const uint8_t[:, ::1] x not None, const int64_t[::1] offsets not None,
               const int64_t[:, ::1] positions not None, uint8_t[:, ::1] out not None):
    """Gather cells by their positions within their sequences, column by column.

    Parameters
    ----------
    x : uint8, shape (n_rows, width * size)
        Cells of any kind, of `size` bytes.
    offsets : int64, shape (n_seqs + 1,), in rows
    positions : int64, shape (n_rows, width)
    out : as x

    Returns
    -------
    int
        The first row with a position outside of its sequence, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = positions.shape[1]
    if (x.shape[0] != offsets[n_seqs] or positions.shape[0] != x.shape[0] or out.shape[0] != x.shape[0]
            or out.shape[1] != x.shape[1] or (width and x.shape[1] % width)):
        raise ValueError("x, offsets, positions and out do not belong together")
    if x.shape[0] == 0 or x.shape[1] == 0 or width == 0:
        return -1
    cdef int64_t size = x.shape[1] // width, bad
    cdef const uint8_t* given = &x[0, 0]
    cdef const int64_t* places = &positions[0, 0]
    cdef const int64_t* bounds = &offsets[0]
    cdef uint8_t* made = &out[0, 0]
    with nogil:
        if size == 8:
            bad = copy_cells(given, bounds, n_seqs, width, 8, places, made)
        elif size == 4:
            bad = copy_cells(given, bounds, n_seqs, width, 4, places, made)
        else:
            bad = copy_cells(given, bounds, n_seqs, width, size, places, made)
    return bad


cdef inline int64_t copy_cells(const uint8_t* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int64_t size,
                               const int64_t* positions, uint8_t* out) noexcept nogil:
    """Copy cells; return the first row with an invalid position, or -1."""
    cdef int64_t s, r, c, place
    for s in range(n_seqs):
        for r in range(offsets[s], offsets[s + 1]):
            for c in range(width):
                place = positions[r * width + c]
                if place < 0 or place >= offsets[s + 1] - offsets[s]:
                    return r
                memcpy(out + (r * width + c) * size, x + ((offsets[s] + place) * width + c) * size, size)
    return -1


def count_numbers(const real[:, ::1] x not None, const int64_t[::1] offsets not None, int64_t[:, ::1] out not None):
    """Count the cells of each sequence that are not nan, column by column, where nan come last.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    out : int64, shape (n_seqs, width)
    """
    cdef Py_ssize_t n_seqs = out.shape[0], width = out.shape[1], s, r, c
    if offsets.shape[0] != n_seqs + 1 or x.shape[0] != offsets[n_seqs] or x.shape[1] != width:
        raise ValueError("x, offsets and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            for c in range(width):
                r = offsets[s + 1]
                while r > offsets[s] and x[r - 1, c] != x[r - 1, c]:
                    r -= 1
                out[s, c] = r - offsets[s]


def mix_rows(const number[:, ::1] x not None, const int64_t[::1] offsets not None, const int64_t[:, ::1] low not None,
             const double[:, ::1] weights not None, number[:, ::1] out not None):
    """Interpolate between two neighbouring cells of each sequence, column by column, `count` times.

    Parameters
    ----------
    x : float32, float64, int64 or uint64, shape (n_rows, width)
        The cells of each sequence are sorted.
    offsets : int64, shape (n_seqs + 1,), in rows
    low : int64, shape (n_seqs, count * width)
        The row of the lower neighbour within the sequence; negative if there is none, in which case the result is nan.
        The upper neighbour is the next row, or the last one.
    weights : float64, as low
        The weights of the upper neighbours: 0 selects the lower one; integers require 0 or 1.
    out : as x, shape (n_seqs, count * width)

    Notes
    -----
    The result is computed from the nearer neighbour, in float64, or as the weighted sum if the difference is infinite.
    Equal neighbours are copied.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], n_cells = out.shape[1], width = x.shape[1], s, c
    cdef int64_t row, last
    cdef double weight
    cdef number below, above
    if offsets.shape[0] != n_seqs + 1 or low.shape[0] != n_seqs or low.shape[1] != n_cells:
        raise ValueError("x, offsets, low, weights and out do not belong together")
    if weights.shape[0] != n_seqs or weights.shape[1] != n_cells or x.shape[0] != offsets[n_seqs]:
        raise ValueError("x, offsets, low, weights and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            last = offsets[s + 1] - offsets[s] - 1
            for c in range(n_cells):
                row = low[s, c]
                if row < 0 or last < 0:
                    if number is float or number is double:
                        out[s, c] = <number> (0.0 / 0.0)
                    else:
                        out[s, c] = 0
                    continue
                row = row if row < last else last
                weight = weights[s, c]
                below = x[offsets[s] + row, c % width]
                above = x[offsets[s] + (row + 1 if row < last else last), c % width]
                if weight == 0 or below == above:
                    out[s, c] = below
                elif weight == 1:
                    out[s, c] = above
                elif number is float or number is double:
                    if <double> above - below == INFINITY:
                        out[s, c] = <number> (below * (1 - weight) + above * weight)
                    elif weight < 0.5:
                        out[s, c] = <number> (below + (<double> above - below) * weight)
                    else:
                        out[s, c] = <number> (above - (<double> above - below) * (1 - weight))
                else:
                    out[s, c] = below


def spread_mixed(const real[:, ::1] rows not None, const int64_t[::1] offsets not None,
                 const int64_t[:, ::1] low not None, const double[:, ::1] weights not None,
                 real[:, ::1] out not None):
    """Distribute each cotangent to its two neighbours, and write zeros to all other cells: the adjoint of `mix_rows`.

    Parameters
    ----------
    rows : float32 or float64, shape (n_seqs, count * width)
    offsets : int64, shape (n_seqs + 1,), in rows
    low : int64, shape (n_seqs, count * width)
    weights : float64, as low
        As in `mix_rows`.
    out : as rows, shape (n_rows, width)
    """
    cdef Py_ssize_t n_seqs = rows.shape[0], n_cells = rows.shape[1], width = out.shape[1], s, c, r
    cdef int64_t row, last
    cdef double weight
    if offsets.shape[0] != n_seqs + 1 or low.shape[0] != n_seqs or low.shape[1] != n_cells:
        raise ValueError("rows, offsets, low, weights and out do not belong together")
    if weights.shape[0] != n_seqs or weights.shape[1] != n_cells or out.shape[0] != offsets[n_seqs]:
        raise ValueError("rows, offsets, low, weights and out do not belong together")
    with nogil:
        for r in range(out.shape[0]):
            for c in range(width):
                out[r, c] = 0
        for s in range(n_seqs):
            last = offsets[s + 1] - offsets[s] - 1
            for c in range(n_cells):
                row = low[s, c]
                if row < 0 or last < 0:
                    continue
                row = row if row < last else last
                weight = weights[s, c]
                out[offsets[s] + row, c % width] += <real> (rows[s, c] * (1 - weight))
                out[offsets[s] + (row + 1 if row < last else last), c % width] += <real> (rows[s, c] * weight)


def fill_nan(const real[::1] x not None, real value, real[::1] out not None):
    """Replace each nan by a number.

    Parameters
    ----------
    x : float32 or float64, shape (n,)
    value : float
    out : as x
    """
    cdef Py_ssize_t n = x.shape[0], k
    if out.shape[0] != n:
        raise ValueError("x and out do not belong together")
    if n == 0:
        return
    cdef const real* given = &x[0]
    cdef real* made = &out[0]
    with nogil:
        for k in range(n):
            made[k] = given[k] if given[k] == given[k] else value
