"""Grouping of rows by keys: equal keys are numbered, and the rows of each number are listed."""

from libc.stdint cimport int64_t, uint64_t

from lodcore.kernels.sizes cimport agree

cdef extern from "group.h" nogil:
    int64_t number_all(const char* keys, int64_t size, int64_t n_keys, uint64_t seed, int64_t* table, int64_t slots,
                       int64_t* ids, int64_t* firsts)
    int64_t find_all_runs(const char* keys, int64_t size, int64_t n_keys, int64_t* out)
    void order_all(const int64_t* ids, int64_t n_rows, int64_t count, int64_t* offsets, int64_t* out)


def number_keys(const unsigned char[:, ::1] keys not None, uint64_t seed, int64_t[:, ::1] table not None,
                int64_t[::1] ids not None, int64_t[::1] firsts not None):
    """Number equal keys in the order of their first appearance.

    Parameters
    ----------
    keys : uint8, shape (n_rows, key_bytes)
        Two keys are equal if all of their bytes are. They are read more than once, so no other thread may write to
        them.
    seed : int
        The seed of the hash: 0 .. 2**64 - 1, kept secret, so that nobody can choose keys that collide. The numbers do
        not depend on it.
    table : int64, shape (slots, 2)
        Work space; the number of slots is a power of two, at least 4.
    ids : int64, shape (n_rows,)
        Written: the number of each key.
    firsts : int64, shape (slots // 4 * 3,)
        Written: the row in which each number first occurs.

    Returns
    -------
    int
        The number of different keys; -1 if there are more than slots // 4 * 3, and then what is written is undefined.
    """
    cdef int64_t n_rows = keys.shape[0], size = keys.shape[1], slots = table.shape[0], count
    agree(ids.shape[0] == n_rows and table.shape[1] == 2 and slots >= 4 and (slots & (slots - 1)) == 0
          and firsts.shape[0] == slots // 4 * 3)
    if n_rows == 0:
        return 0
    cdef const char* source = <const char*> &keys[0, 0] if size else NULL
    cdef int64_t* work = &table[0, 0]
    cdef int64_t* numbers = &ids[0]
    cdef int64_t* places = &firsts[0]
    if size == 0:
        ids[:] = 0
        firsts[0] = 0
        return 1
    with nogil:
        count = number_all(source, size, n_rows, seed, work, slots, numbers, places)
    return count


def find_runs(const unsigned char[:, ::1] keys not None, int64_t[::1] out not None):
    """Find where runs of equal keys begin.

    Parameters
    ----------
    keys : uint8, shape (n_rows, key_bytes)
        Two keys are equal if all of their bytes are.
    out : int64, shape (n_rows,)
        Written: the first row of each run; the entries after them are undefined.

    Returns
    -------
    int
        The number of runs.
    """
    cdef int64_t n_rows = keys.shape[0], size = keys.shape[1], count
    agree(out.shape[0] == n_rows)
    if n_rows == 0:
        return 0
    if size == 0:
        out[0] = 0
        return 1
    cdef const char* source = <const char*> &keys[0, 0]
    cdef int64_t* places = &out[0]
    with nogil:
        count = find_all_runs(source, size, n_rows, places)
    return count


def order_by_id(const int64_t[::1] ids not None, int64_t[::1] offsets not None, int64_t[::1] out not None):
    """List the rows of each number, in ascending order.

    Parameters
    ----------
    ids : int64, shape (n_rows,)
        0 .. count - 1.
    offsets : int64, shape (count + 1,)
        Written: the offsets of the rows of each number.
    out : int64, shape (n_rows,)
        Written: the rows.

    Returns
    -------
    int
        The first row whose number is out of range, -1 if there is none.
    """
    cdef int64_t n_rows = ids.shape[0], count = offsets.shape[0] - 1, r, bad = -1
    agree(out.shape[0] == n_rows and count >= 0)
    cdef const int64_t* numbers = &ids[0] if n_rows else NULL
    cdef int64_t* bounds = &offsets[0]
    cdef int64_t* rows = &out[0] if n_rows else NULL
    with nogil:
        for r in range(n_rows):
            if numbers[r] < 0 or numbers[r] >= count:
                bad = r
                break
        if bad < 0:
            order_all(numbers, n_rows, count, bounds, rows)
    return bad
