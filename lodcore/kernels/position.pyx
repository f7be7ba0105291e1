"""Positions across the sequences of a group: their first elements, their second ones, and so on; their extremes.

A group is a run of sequences, mostly those of one sequence of the previous level; `outer` has the offsets of groups in
sequences, `offsets` those of sequences in elements or rows. A group has as many positions as its longest sequence has
elements; `positions` has their offsets. Sums run over the sequences in their order.
"""

from libc.stdint cimport int64_t, uint64_t

from lodcore.kernels.sizes cimport agree, ends_at

ctypedef fused number:
    float
    double
    int64_t
    uint64_t


cdef inline bint grouped(const int64_t[::1] outer, const int64_t[::1] offsets) noexcept:
    """Return whether the last group ends at the number of sequences."""
    return outer.shape[0] > 0 and offsets.shape[0] > 0 and outer[outer.shape[0] - 1] == offsets.shape[0] - 1


def count_positions(const int64_t[::1] outer not None, const int64_t[::1] offsets not None, int64_t[::1] out not None):
    """Compute the offsets of the positions of each group from its greatest lengths.

    Parameters
    ----------
    outer : int64, shape (n_groups + 1,)
    offsets : int64, shape (n_seqs + 1,)
    out : int64, shape (n_groups + 1,)
    """
    agree(grouped(outer, offsets) and out.shape[0] == outer.shape[0])
    cdef const int64_t* groups = &outer[0]
    cdef const int64_t* bounds = &offsets[0]
    cdef int64_t* made = &out[0]
    cdef Py_ssize_t n_groups = outer.shape[0] - 1, g, s
    cdef int64_t longest
    with nogil:
        made[0] = 0
        for g in range(n_groups):
            longest = 0
            for s in range(groups[g], groups[g + 1]):
                longest = max(longest, bounds[s + 1] - bounds[s])
            made[g + 1] = made[g] + longest


def count_elements(const int64_t[::1] outer not None, const int64_t[::1] offsets not None,
                   const int64_t[::1] positions not None, int64_t[::1] out not None):
    """Compute the offsets of the elements at each position: how many sequences of the group reach it.

    Parameters
    ----------
    outer : int64, shape (n_groups + 1,)
    offsets : int64, shape (n_seqs + 1,)
    positions : int64, shape (n_groups + 1,)
    out : int64, shape (n_positions + 1,)
    """
    agree(grouped(outer, offsets) and ends_at(positions, outer.shape[0] - 1, out.shape[0] - 1))
    cdef const int64_t* groups = &outer[0]
    cdef const int64_t* bounds = &offsets[0]
    cdef const int64_t* firsts = &positions[0]
    cdef int64_t* made = &out[0]
    cdef Py_ssize_t n_groups = outer.shape[0] - 1, n_positions = out.shape[0] - 1, g, s, t
    cdef int64_t reach, ended
    with nogil:
        for t in range(n_positions + 1):
            made[t] = 0
        for g in range(n_groups):  # first how many sequences end at each position, then how many continue
            for s in range(groups[g], groups[g + 1]):
                if bounds[s + 1] > bounds[s]:
                    made[firsts[g] + bounds[s + 1] - bounds[s]] += 1
            reach = 0
            for t in range(firsts[g + 1], firsts[g], -1):
                ended = made[t]
                reach += ended
                made[t] = reach
        for t in range(n_positions):
            made[t + 1] += made[t]


def order_by_position(const int64_t[::1] outer not None, const int64_t[::1] offsets not None,
                      const int64_t[::1] positions not None, int64_t[::1] next_places not None,
                      int64_t[::1] out not None):
    """List the numbers of all elements by position, and at each position by sequence.

    Parameters
    ----------
    outer : int64, shape (n_groups + 1,)
    offsets : int64, shape (n_seqs + 1,)
    positions : int64, shape (n_groups + 1,)
    next_places : int64, shape (n_positions,)
        Read and rewritten: where the elements of each position begin in `out`; afterwards, where they end.
    out : int64, shape (n_elements,)
    """
    cdef Py_ssize_t n_groups = outer.shape[0] - 1, g, s, e
    agree(grouped(outer, offsets) and ends_at(positions, n_groups, next_places.shape[0])
          and offsets[offsets.shape[0] - 1] == out.shape[0])
    if out.shape[0] == 0:
        return
    cdef const int64_t* groups = &outer[0]
    cdef const int64_t* bounds = &offsets[0]
    cdef const int64_t* firsts = &positions[0]
    cdef int64_t* places = &next_places[0]
    cdef int64_t* made = &out[0]
    cdef int64_t* place
    with nogil:
        for g in range(n_groups):
            for s in range(groups[g], groups[g + 1]):
                place = places + firsts[g]
                for e in range(bounds[s], bounds[s + 1]):
                    made[place[0]] = e
                    place[0] += 1
                    place += 1


def add_positions(const number[:, ::1] x not None, const int64_t[::1] outer not None,
                  const int64_t[::1] offsets not None, const int64_t[::1] positions not None,
                  number[:, ::1] out not None):
    """Sum the rows at each position, one sequence after another. Integers wrap around.

    Parameters
    ----------
    x : float32, float64, int64 or uint64, shape (n_rows, width)
    outer : int64, shape (n_groups + 1,)
    offsets : int64, shape (n_seqs + 1,), in rows
    positions : int64, shape (n_groups + 1,)
    out : as x, shape (n_positions, width)
    """
    cdef Py_ssize_t n_groups = outer.shape[0] - 1, width = out.shape[1], g, s, i
    agree(grouped(outer, offsets) and ends_at(positions, n_groups, out.shape[0]) and x.shape[1] == width
          and offsets[offsets.shape[0] - 1] == x.shape[0])
    if out.shape[0] == 0 or width == 0:
        return
    cdef const int64_t* groups = &outer[0]
    cdef const int64_t* bounds = &offsets[0]
    cdef const int64_t* firsts = &positions[0]
    cdef const number* given = &x[0, 0]
    cdef const number* row
    cdef number* sums = &out[0, 0]
    cdef number* sum_of
    cdef Py_ssize_t size, reached
    with nogil:
        for g in range(n_groups):
            sum_of = sums + firsts[g] * width
            reached = 0
            for s in range(groups[g], groups[g + 1]):
                row = given + bounds[s] * width
                size = (bounds[s + 1] - bounds[s]) * width
                for i in range(min(size, reached)):
                    if number is int64_t:
                        sum_of[i] = <int64_t> (<uint64_t> sum_of[i] + <uint64_t> row[i])
                    else:
                        sum_of[i] = sum_of[i] + row[i]
                for i in range(reached, size):
                    sum_of[i] = row[i]
                reached = max(reached, size)


cdef inline bint is_better(number found, number best, bint least) noexcept nogil:
    """Return whether a number replaces the best one so far; without branches, so that the loop is vectorized."""
    if number is float or number is double:
        return ((found < best) if least else (found > best)) | ((found != found) & (best == best))
    else:
        return (found < best) if least else (found > best)


def best_positions(const number[:, ::1] x not None, const int64_t[::1] outer not None,
                   const int64_t[::1] offsets not None, const int64_t[::1] positions not None, bint least,
                   number[:, ::1] out not None, int64_t[:, ::1] index not None):
    """Compute the maximum (or minimum) of each column at each position: nan wins, then the first of equal cells.

    Parameters
    ----------
    x : float32, float64, int64 or uint64, shape (n_rows, width)
    outer : int64, shape (n_groups + 1,)
    offsets : int64, shape (n_seqs + 1,), in rows
    positions : int64, shape (n_groups + 1,)
    least : bool
    out : as x, shape (n_positions, width)
    index : int64, shape (n_positions, width) or (0, 0)
        The index, row by row, of the cell of x that became each cell of `out`; not written if it has no rows.
    """
    cdef Py_ssize_t n_groups = outer.shape[0] - 1, width = out.shape[1], g, s, i
    agree(grouped(outer, offsets) and ends_at(positions, n_groups, out.shape[0]) and x.shape[1] == width
          and offsets[offsets.shape[0] - 1] == x.shape[0]
          and (index.shape[0] == 0 or (index.shape[0] == out.shape[0] and index.shape[1] == width)))
    if out.shape[0] == 0 or width == 0:
        return
    cdef const int64_t* groups = &outer[0]
    cdef const int64_t* bounds = &offsets[0]
    cdef const int64_t* firsts = &positions[0]
    cdef const number* row
    cdef number* best
    cdef int64_t* place
    cdef Py_ssize_t size, first, reached
    cdef int64_t* places = &index[0, 0] if index.shape[0] else NULL
    cdef bint wanted = places != NULL
    with nogil:
        for g in range(n_groups):
            best = &out[0, 0] + firsts[g] * width
            place = places + firsts[g] * width if wanted else NULL
            reached = 0
            for s in range(groups[g], groups[g + 1]):
                first = bounds[s] * width
                row = &x[0, 0] + first
                size = (bounds[s + 1] - bounds[s]) * width
                if wanted:
                    for i in range(min(size, reached)):
                        if is_better(row[i], best[i], least):
                            best[i] = row[i]
                            place[i] = first + i
                    for i in range(reached, size):
                        place[i] = first + i
                elif least:
                    for i in range(min(size, reached)):
                        best[i] = row[i] if is_better(row[i], best[i], True) else best[i]
                else:
                    for i in range(min(size, reached)):
                        best[i] = row[i] if is_better(row[i], best[i], False) else best[i]
                for i in range(reached, size):
                    best[i] = row[i]
                reached = max(reached, size)


def spread_positions(const number[:, ::1] x not None, const int64_t[::1] outer not None,
                     const int64_t[::1] offsets not None, const int64_t[::1] positions not None,
                     number[:, ::1] out not None):
    """Copy to each row the row of its position: the adjoint of `add_positions`.

    Parameters
    ----------
    x : float32, float64, int64 or uint64, shape (n_positions, width)
    outer : int64, shape (n_groups + 1,)
    offsets : int64, shape (n_seqs + 1,), in rows
    positions : int64, shape (n_groups + 1,)
    out : as x, shape (n_rows, width)
    """
    cdef Py_ssize_t n_groups = outer.shape[0] - 1, width = out.shape[1], g, s, i
    agree(grouped(outer, offsets) and ends_at(positions, n_groups, x.shape[0]) and x.shape[1] == width
          and offsets[offsets.shape[0] - 1] == out.shape[0])
    if out.shape[0] == 0 or width == 0:
        return
    cdef const int64_t* groups = &outer[0]
    cdef const int64_t* bounds = &offsets[0]
    cdef const int64_t* firsts = &positions[0]
    cdef const number* given = &x[0, 0]
    cdef number* made = &out[0, 0]
    with nogil:
        for g in range(n_groups):
            for s in range(groups[g], groups[g + 1]):
                for i in range((bounds[s + 1] - bounds[s]) * width):
                    made[bounds[s] * width + i] = given[firsts[g] * width + i]
