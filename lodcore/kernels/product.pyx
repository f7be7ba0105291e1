"""Products of the rows of each sequence, column by column, and their gradients; and tests of any and all.

A product starts with 1 and multiplies rows one after another.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from lodcore.kernels.masks cimport true_bytes
from lodcore.kernels.sizes cimport agree, ends_at

cdef enum:
    WORDS = 4  # of 8 columns of a mask, which stay in registers

ctypedef fused number:
    float
    double
    int64_t
    uint64_t

ctypedef fused real:
    float
    double


def multiply_rows(const number[:, ::1] x not None, const int64_t[::1] offsets not None, number[:, ::1] out not None):
    """Multiply the rows of each sequence, starting from 1. Integers wrap around.

    Parameters
    ----------
    x : float32, float64, int64 or uint64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    out : as x, shape (n_seqs, width)
        Ones for an empty sequence.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], width = out.shape[1], s, _r, c
    agree(x.shape[1] == width and ends_at(offsets, n_seqs, x.shape[0]))
    if n_seqs == 0 or width == 0:
        return
    cdef const int64_t* bounds = &offsets[0]
    cdef const number* row = &x[0, 0] if x.shape[0] else NULL
    cdef number* product = &out[0, 0]
    with nogil:
        for s in range(n_seqs):
            for c in range(width):
                product[c] = 1
            for _r in range(bounds[s], bounds[s + 1]):
                for c in range(width):
                    if number is int64_t:
                        product[c] = <int64_t> (<uint64_t> product[c] * <uint64_t> row[c])
                    else:
                        product[c] = product[c] * row[c]
                row += width
            product += width


def multiply_others(const real[:, ::1] x not None, const int64_t[::1] offsets not None,
                    const real[:, ::1] rows not None, real[:, ::1] out not None):
    """Multiply, for each row, the other rows of its sequence and the row of the sequence: the gradient of a product.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    rows : as x, shape (n_seqs, width)
    out : as x, shape (n_rows, width)
        The product of the preceding rows, times that of the following rows starting from the last, times the sequence's
        row.
    """
    cdef Py_ssize_t n_seqs = rows.shape[0], width = out.shape[1], s, r, c
    agree(x.shape[1] == width and rows.shape[1] == width and out.shape[0] == x.shape[0]
          and ends_at(offsets, n_seqs, x.shape[0]))
    if out.shape[0] == 0 or width == 0:
        return
    cdef const int64_t* bounds = &offsets[0]
    cdef const real* given = &x[0, 0]
    cdef const real* last = &rows[0, 0]
    cdef real* made = &out[0, 0]
    cdef real product
    with nogil:
        for s in range(n_seqs):
            for c in range(width):
                product = 1
                for r in range(bounds[s], bounds[s + 1]):
                    made[r * width + c] = product
                    product = product * given[r * width + c]
                product = 1
                for r in range(bounds[s + 1] - 1, bounds[s] - 1, -1):
                    made[r * width + c] = made[r * width + c] * product * last[s * width + c]
                    product = product * given[r * width + c]


cdef inline bint truth_of(const uint8_t* given, int64_t count, int64_t readable, bint every) noexcept nogil:
    """Return whether any entry of a mask is true, or every one, as soon as it is known."""
    cdef uint64_t ones = 0x0101010101010101, kept
    cdef int64_t r = 0
    if count < 8 <= readable:  # without branches on the count
        kept = ones & ((<uint64_t> 1 << 8 * count) - 1)
        return (true_bytes(given) & kept) == kept if every else (true_bytes(given) & kept) != 0
    while r + 8 <= count:
        if true_bytes(given + r) != (ones if every else 0):
            return not every
        r += 8
    while r < count:
        if (given[r] != 0) != every:
            return not every
        r += 1
    return every


cdef inline void true_in_columns(
    const uint8_t* given, int64_t rows, int64_t readable, int64_t width, const int words, const bint every,
    uint8_t* made
) noexcept nogil:
    """Compute whether any entry of each column is true, or every one; 8 columns of a row are a word."""
    cdef uint64_t[WORDS] found  # a true entry, or with `every` one that is not
    cdef uint64_t word, ones = 0x0101010101010101
    cdef int64_t c
    cdef int k
    for k in range(words):
        found[k] = 0
    while rows > 0 and readable >= 8 * words:
        for k in range(words):
            memcpy(&word, given + 8 * k, 8)
            found[k] |= true_bytes(given + 8 * k) ^ ones if every else word
        given += width
        readable -= width
        rows -= 1
    memcpy(made, found, width)
    while rows > 0:
        for c in range(width):
            made[c] |= <uint8_t> (given[c] == 0) if every else given[c]
        given += width
        rows -= 1
    for c in range(width):
        made[c] = (made[c] != 0) != every


cdef inline void true_narrow(
    const uint8_t* given, int64_t rows, int64_t readable, int64_t width, const bint every, uint8_t* made
) noexcept nogil:
    if width <= 8:
        true_in_columns(given, rows, readable, width, 1, every, made)
    elif width <= 16:
        true_in_columns(given, rows, readable, width, 2, every, made)
    else:
        true_in_columns(given, rows, readable, width, WORDS, every, made)


def true_sequences(const uint8_t[:, ::1] x not None, const int64_t[::1] offsets not None, bint every,
                   uint8_t[:, ::1] out not None):
    """Compute whether any row of each sequence (or every one) is true, column by column.

    Parameters
    ----------
    x : uint8, shape (n_rows, width)
        0 is false, other values are true.
    offsets : int64, shape (n_seqs + 1,), in rows
    every : bool
    out : uint8, shape (n_seqs, width)
        0 or 1; `every` for an empty sequence.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], width = out.shape[1], s, r, c, left
    agree(x.shape[1] == width and ends_at(offsets, n_seqs, x.shape[0]))
    if n_seqs == 0 or width == 0:
        return
    cdef const int64_t* bounds = &offsets[0]
    cdef const uint8_t* given = &x[0, 0] if x.shape[0] else NULL
    cdef uint8_t* made = &out[0, 0]
    with nogil:
        if width == 1:
            for s in range(n_seqs):
                made[s] = truth_of(given + bounds[s], bounds[s + 1] - bounds[s], bounds[n_seqs] - bounds[s], every)
        elif width <= 8 * WORDS:
            for s in range(n_seqs):
                r, left = bounds[s + 1] - bounds[s], (bounds[n_seqs] - bounds[s]) * width
                if every:
                    true_narrow(given + bounds[s] * width, r, left, width, True, made)
                else:
                    true_narrow(given + bounds[s] * width, r, left, width, False, made)
                made += width
        else:
            for s in range(n_seqs):
                for c in range(width):
                    made[c] = every
                if every:
                    for r in range(bounds[s], bounds[s + 1]):
                        for c in range(width):
                            made[c] &= given[r * width + c] != 0
                else:
                    for r in range(bounds[s], bounds[s + 1]):
                        for c in range(width):
                            made[c] |= given[r * width + c] != 0
                made += width
