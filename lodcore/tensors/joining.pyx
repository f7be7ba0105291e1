"""Functions that join and check structures, shared by tensors and operators."""

cimport lodcore.kernels.arrays as cnp
from libc.stdint cimport INT64_MAX, int64_t

import numpy as np

from lodcore import kernels
from lodcore.base.buffers cimport array_over, as_int64, new_offsets
from lodcore.tensors.lod_body cimport LoDBody, last, make_lod, new_lod
from lodcore.tensors cimport kernel_calls
from lodcore.base.articles import with_number
from lodcore.base.memory import check_size, whole
from lodcore.errors import DTypeError, LoDError

cnp.import_array()

cdef object INT64_DTYPE = np.dtype(np.int64)
cdef cnp.PyArray_Descr* INT64 = <cnp.PyArray_Descr*> INT64_DTYPE


def checked_lod(tuple given, num_rows, str where="LoD.from_offsets", Py_ssize_t first=0):
    """Make a LoD from a caller's offsets of all levels; see `LoD.from_offsets`."""
    cdef str argument = where + ": offsets"
    cdef list levels = []
    cdef cnp.ndarray source, offsets
    cdef Py_ssize_t k, rows = -1 if num_rows is None else counted(num_rows)
    cdef int64_t end
    if not given and num_rows is None:
        raise LoDError("LoD.from_offsets: num_rows: is missing; without levels the number of rows must be given")
    for k in range(len(given)):
        source = as_int64(given[k], argument, LoDError, first + k)
        offsets = new_offsets(cnp.PyArray_DIM(source, 0))
        bad = kernel_calls.copy_checked(<const int64_t*> cnp.PyArray_DATA(source), offsets)
        if bad >= 0:
            raise LoDError(f"{argument}[{first + k}]: {broken_rule(offsets, bad)}")
        levels.append(offsets)
    for k in range(len(levels)):
        end = last(levels[k])
        if k + 1 < len(levels):
            if end != cnp.PyArray_DIM(levels[k + 1], 0) - 1:
                raise LoDError(f"{argument}[{first + k}]: is {end} at position {len(levels[k]) - 1}; the last "
                               f"offset is the number of sequences of level {k + 1}, {len(levels[k + 1]) - 1}")
        elif rows >= 0 and end != rows:
            raise LoDError(f"{argument}[{first + k}]: is {end} at position {len(levels[k]) - 1}; the last offset "
                           f"is the number of rows, {rows}")
        else:
            rows = end
    return make_lod(levels, rows)


def checked_lod_of_lengths(tuple given, num_rows):
    """Make a LoD from a caller's lengths of all levels; see `LoD.from_lengths`."""
    cdef str where = "LoD.from_lengths: lengths"
    cdef list levels = []
    cdef cnp.ndarray lengths, offsets
    cdef Py_ssize_t k, bad
    if not given:
        return checked_lod(given, num_rows)
    for k in range(len(given)):
        lengths = as_int64(given[k], where, LoDError, k)
        offsets = new_offsets(cnp.PyArray_DIM(lengths, 0) + 1)
        bad = kernel_calls.offsets_from_lengths(lengths, offsets)
        if bad >= 0:
            length = int(lengths[bad])
            problem = "a length is not negative" if length < 0 else "the sum must fit in int64"
            raise LoDError(f"{where}[{k}]: is {length} at position {bad}; {problem}")
        levels.append(offsets)
    for k in range(len(levels) - 1):
        if last(levels[k]) != cnp.PyArray_DIM(levels[k + 1], 0) - 1:
            raise LoDError(f"{where}[{k}]: add up to {last(levels[k])}; level {k + 1} has "
                           f"{cnp.PyArray_DIM(levels[k + 1], 0) - 1} sequences")
    k = len(levels) - 1
    cdef int64_t rows = last(levels[k])
    if num_rows is not None and counted(num_rows) != rows:
        raise LoDError(f"{where}[{k}]: add up to {rows}; num_rows is {num_rows}")
    return make_lod(levels, rows)


cdef Py_ssize_t counted(num_rows) except -1:
    """Return a caller's number of rows; a small one without the general conversion, which takes as long as the rest."""
    return num_rows if type(num_rows) is int and 0 <= num_rows < 2**30 else whole(num_rows, "num_rows")


def broken_rule(offsets, bad):
    """Return the text of the rule that the offset at position `bad` violates."""
    if not len(offsets):
        return "is empty; offsets have one entry more than there are sequences"
    if bad == 0:
        return f"is {offsets[0]} at position 0; offsets start at 0"
    return f"falls at position {bad} ({offsets[bad - 1]} -> {offsets[bad]}); offsets never fall"


def concat_lods(str where, list lods):
    """Concatenate the structures of batches.

    Parameters
    ----------
    where : str
        The name of the function, for the message.
    lods : list of LoD
        At least one.

    Returns
    -------
    LoD

    Raises
    ------
    DTypeError, LoDError
        If a batch is not a LoD, or has another number of levels than the first; the message names it.
    """
    cdef Py_ssize_t j = 0, k, num_levels = -1
    cdef int64_t rows = 0
    cdef LoDBody lod
    for entry in lods:
        if not isinstance(entry, LoDBody):
            raise DTypeError(f"{where}: batch {j}: is {type(entry).__name__}; a LoD is needed")
        lod = entry
        num_levels = lod.n_levels if j == 0 else num_levels
        if lod.n_levels != num_levels:
            has = with_number(lod.n_levels, "level")
            raise LoDError(f"{where}: batch {j}: has {has}; the first one has {num_levels}")
        if lod.n_rows > INT64_MAX - rows:
            total = int(rows) + lod.num_rows
            raise MemoryError(f"{where}: the result has {total} rows with batch {j}; 2**63 - 1 is the most")
        rows += lod.n_rows
        j += 1
    return make_lod([join_level(lods, k) for k in range(num_levels)], rows)


def check_coarser(str where, list lods, names, Py_ssize_t k):
    """Check that structures have equally many levels, equally many sequences of level k, and equal levels before it.

    Parameters
    ----------
    where : str
        The name of the function, for the message.
    lods : list of LoD
        At least one, which has a level k.
    names : callable
        Returns the name of argument j, for the message.
    k : int

    Returns
    -------
    int
        The total number of rows.

    Raises
    ------
    LoDError
        If an argument differs from the first; the message names it, and its first sequence that differs.
    MemoryError
        If int64 cannot count the rows.
    """
    cdef LoDBody first = lods[0], lod
    cdef Py_ssize_t j, level, count, wanted, s
    cdef const int64_t* mine
    cdef const int64_t* theirs
    cdef int64_t rows = first.n_rows
    for j in range(1, len(lods)):
        lod = lods[j]
        if lod.n_levels != first.n_levels:
            has = with_number(lod.n_levels, "level")
            raise LoDError(f"{where}: {names(j)}: has {has}; {names(0)} has {first.n_levels}")
        for level in range(k + 1):
            mine, theirs = first.level(level, &wanted), lod.level(level, &count)
            if count != wanted:
                raise LoDError(f"{where}: {names(j)}: has {count} sequences at level {level}; {names(0)} has {wanted}")
            if level == k or mine == theirs:
                continue
            for s in range(count):
                if theirs[s + 1] != mine[s + 1]:
                    raise LoDError(
                        f"{where}: {names(j)}: sequence {s} of level {level} has length {theirs[s + 1] - theirs[s]}; "
                        f"that of {names(0)} has {mine[s + 1] - mine[s]}"
                    )
        if lod.n_rows > INT64_MAX - rows:
            raise MemoryError(f"{where}: the result has {int(rows) + lod.n_rows} rows; 2**63 - 1 is the most")
        rows += lod.n_rows
    return rows


cdef cnp.ndarray join_level(list lods, Py_ssize_t k):
    """Concatenate the sequences of one level."""
    cdef Py_ssize_t count, total = 0
    cdef const int64_t* offsets
    cdef LoDBody lod
    for lod in lods:
        lod.level(k, &count)
        total += count
    cdef cnp.ndarray joined = new_offsets(total + 1)
    cdef int64_t* place = <int64_t*> cnp.PyArray_DATA(joined)
    place[0] = 0
    for lod in lods:
        offsets = lod.level(k, &count)
        kernel_calls.append(offsets, count, place)
        place += count
    return joined


def lod_over(cnp.ndarray memory not None, Py_ssize_t num_levels):
    """Make a LoD over checked memory that cannot be written any more, such as sealed memory of the system.

    Parameters
    ----------
    memory : ndarray
        int64, C-contiguous: `num_levels` numbers of sequences and the number of rows, followed by the offsets of all
        levels, coarse first, as in a LoD.
    num_levels : int
    """
    cdef const int64_t* sizes = <const int64_t*> cnp.PyArray_DATA(memory)
    cdef Py_ssize_t place = num_levels + 1, k, count, room = cnp.PyArray_DIM(memory, 0)
    cdef cnp.npy_intp shape[1]
    cdef list levels = []
    if not 0 <= num_levels < room:
        raise LoDError(f"LoD: has {num_levels} levels; there are {room} numbers")
    if sizes[num_levels] < 0:
        raise LoDError(f"LoD: has {sizes[num_levels]} rows; 0 or more are needed")
    for k in range(num_levels):
        count = sizes[k]
        if count < 0 or count >= room - place:
            raise LoDError(f"LoD: level {k} has {count} sequences; there are {room - place} offsets left")
        shape[0] = count + 1
        levels.append(array_over(memory, INT64, 1, shape, NULL, sizes + place, False))
        bad = kernels.lod.first_bad_offset(levels[k], sizes[k + 1])
        if bad >= 0:
            raise LoDError(f"LoD: offsets[{k}]: is {levels[k][bad]} at position {bad}; offsets start at 0, never fall, "
                           f"and end at {sizes[k + 1]}")
        place += count + 1
    if num_levels == 0:
        return new_lod(None, NULL, 0, 0, sizes[0])
    return new_lod(memory, sizes + num_levels + 1, sizes[0], num_levels, sizes[num_levels])


def steps_of(LoDBody lod not None, Py_ssize_t k):
    """Return the offsets of the steps of level k, in elements."""
    cdef Py_ssize_t n_seqs, n_steps
    cdef const int64_t* offsets = lod.level(k, &n_seqs)
    n_steps = kernel_calls.max_length(offsets, n_seqs)
    if n_steps >= 2**16:
        check_size("lod_rank_table", n_steps + 1, 16)  # ranking sequences needs as much again
    cdef cnp.ndarray steps = new_offsets(n_steps + 1)
    kernel_calls.step_offsets(offsets, n_seqs, steps)
    return steps
