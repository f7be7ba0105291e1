"""Iterators that take a step whole or not at all.

A signal is handled, and a thread is changed, between two instructions of Python code. So each `__next__` here first
calls whatever is Python code, and then changes its state and returns without any. What was taken from a source and
could not be returned is kept for the next call. No lock is held by `with`: Cython 3.3 crashes when an error leaves it
for whose traceback there was no memory.
"""

cimport cython
from cpython.object cimport PyObject_SetAttr

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident()

import warnings
import zlib
from bisect import bisect_left, bisect_right, insort
from threading import RLock
from time import sleep

import numpy as np

from lodcore.base.articles import with_article
from lodcore.batching import limits as arguments
from lodcore.errors import DTypeError, LoDError

#: What `following` returns at the end.
END = object()

cdef object MISSING = object()
cdef object LONGEST = arguments.MOST
#: A stream warns if less than this part of its bins is filled.
cdef double ENOUGH = 0.95
#: An item starts the next batch when this many times the buffer size of items came after it.
cdef Py_ssize_t PATIENCE = 4
#: The number of bins after which a stream first checks its fill; then after ten times as many each time.
cdef Py_ssize_t FIRST_LOOK = 100


@cython.auto_pickle(False)
cdef class Stepping:
    """An iterator whose method `following` returns the next value, or `END`, and the changes that belong to it.

    The changes are a tuple: an object, the name of an attribute or the number of an entry, and its value; and so on.
    """

    cdef unsigned long busy  # the thread that takes a step

    def __next__(self):
        cdef unsigned long thread = PyThread_get_thread_ident(), before = self.busy
        while before and before != thread:  # rarely, so that a lock would cost more
            sleep(1e-4)
            before = self.busy
        self.busy = thread
        try:
            value, changes = self.following()
            put(changes)
        finally:
            self.busy = before
        if value is END:
            raise StopIteration
        return value


cdef int put(tuple changes) except -1:
    cdef Py_ssize_t j
    for j in range(0, len(changes) - 2, 3):
        name = changes[j + 1]
        if type(name) is str:
            PyObject_SetAttr(changes[j], name, changes[j + 2])
        else:
            changes[j][name] = changes[j + 2]
    return 0


@cython.auto_pickle(False)
cdef class StreamBody:
    """The buffer of a stream, and its choice of items; see `Stream`."""

    cdef object lock, length, report
    cdef readonly object source
    cdef str name, overflow
    cdef bint padded
    cdef object budget
    cdef Py_ssize_t size, most
    cdef object arrived  # an item that was taken from the source, before its length is known
    cdef dict waiting  # length and item by number, and so in order of arrival
    cdef list by_length  # lengths and numbers, sorted
    cdef bint is_sorted, is_broken, is_busy
    cdef Py_ssize_t look_after
    cdef object lengths  # a checksum of the lengths of all items taken
    cdef object taken, bins, items, tokens, padding, dropped

    def __cinit__(self, *args, **kwargs):
        self.lock = RLock()
        self.arrived, self.waiting, self.by_length, self.is_sorted = MISSING, {}, [], True
        self.look_after, self.lengths = FIRST_LOOK, 0
        self.taken = self.bins = self.items = self.tokens = self.padding = self.dropped = 0

    def begin(self, source, budget, bint padded, Py_ssize_t most, str overflow, Py_ssize_t size, length, str name,
              report):
        """Set what does not change; `report` makes the report of the counts."""
        self.source, self.budget, self.padded, self.most = source, budget, padded, most
        self.overflow, self.size, self.length, self.name, self.report = overflow, size, length, name, report

    def settings(self):
        """Return what determines the bins besides the items."""
        return self.budget, bool(self.padded), self.most, self.overflow, self.size

    def counts(self):
        """Return the numbers of a state in the order of `COUNTS`, those of the waiting items, and the checksum."""
        self.lock.acquire()
        try:
            numbers = self.taken, self.bins, self.items, self.tokens, self.padding, self.dropped
            return numbers, list(self.waiting), self.lengths
        finally:
            self.lock.release()

    def __next__(self):
        self.lock.acquire()
        try:
            if self.is_busy:
                raise RuntimeError(f"{self.name}: its source, length or warning reads the stream itself")
            self.is_busy = True
            try:
                return self.following()
            finally:
                self.is_busy = False
        finally:
            self.lock.release()

    cdef list following(self):
        """Choose the next bin, and return it; nothing has changed after an error, but what was taken is kept."""
        if self.is_broken:
            raise ValueError(f"{self.name}: load_state_dict was left by an error; a new stream is needed")
        self.refill()
        if not self.waiting:
            raise StopIteration
        if not self.is_sorted:
            self.by_length = sorted([(entry[0], number) for number, entry in self.waiting.items()])
            self.is_sorted = True
        number = next(iter(self.waiting))
        cdef list chosen = self.neighbours(number) if self.padded else self.best_fit(number)
        cdef list bin = [(<tuple> self.waiting[one])[1] for one in chosen]
        used = sum([(<tuple> self.waiting[one])[0] for one in chosen])
        bins, items, tokens = self.bins + 1, self.items + len(bin), self.tokens + used
        padding = self.padding + max(self.budget - used, 0)
        if bins == self.look_after:
            self.look_after *= 10  # also if the warning is an error: the next call returns this bin
            found = self.report(bins, items, tokens, padding, self.dropped, len(self.waiting) - len(bin))
            if found.fill < ENOUGH:
                self.is_sorted = False
                warnings.warn(f"{self.name}: {found}; a larger buffer, or a larger budget, fills them better")
        for one in chosen:
            del self.waiting[one]
        self.bins, self.items, self.tokens, self.padding = bins, items, tokens, padding
        self.is_sorted = True
        return bin

    cdef int refill(self) except -1:
        """Read items from the source until the buffer is full."""
        while len(self.waiting) < self.size and self.arrive():
            self.enter(True)
        return 0

    cdef bint arrive(self) except -1:
        """Take the next item from the source, unless one is there that could not be measured; return whether one is."""
        if self.arrived is MISSING:
            self.arrived = next(self.source, MISSING)
        return self.arrived is not MISSING

    cdef object measured(self, item, number):
        """Return the length of an item."""
        try:
            length = self.length(item)
        except TypeError as error:
            if self.length is not len:
                raise
            kind = with_article(type(item).__name__)
            raise DTypeError(f"{self.name}: source: has {kind}, which has no length; length= may count it") from error
        if type(length) is not int or not 0 <= length <= LONGEST:
            return arguments.as_count(f"{self.name}: length of item {number}", length, 0)
        return length

    cdef int enter(self, bint keep) except -1:
        """Measure the item that has arrived, and add it to the buffer, or only count it."""
        item, number = self.arrived, self.taken
        length = self.measured(item, number)
        lengths = zlib.crc32(length.to_bytes(8, "little"), self.lengths)
        cdef bint dropped = False
        if keep and length > self.budget:
            if self.overflow == "error":
                raise LoDError(
                    f"{self.name}: source: item {number} has length {length}; the budget is {self.budget}: choose "
                    "overflow='drop', 'truncate' or 'own_bin'"
                )
            if self.overflow != "own_bin":
                dropped, keep = True, self.overflow != "drop"
                if keep:
                    try:
                        item = item[:self.budget]
                    except (TypeError, LookupError) as error:
                        kind = with_article(type(item).__name__)
                        raise DTypeError(
                            f"{self.name}: source: item {number} is {kind}, of which no first {self.budget} entries "
                            "can be taken; choose overflow='drop' or 'own_bin'"
                        ) from error
                    length = self.measured(item, number)
                    if length > self.budget:
                        raise LoDError(
                            f"{self.name}: source: item {number} still has length {length} with its first "
                            f"{self.budget} entries; the budget is {self.budget}: choose overflow='drop' or 'own_bin'"
                        )
        cdef tuple entry = (length, number)
        cdef bint was_sorted = self.is_sorted
        if keep:
            self.is_sorted = False
            self.waiting[number] = (length, item)
            self.arrived = MISSING
        self.taken, self.lengths = number + 1, lengths
        if dropped:
            self.dropped += 1
        self.arrived = MISSING
        if keep and was_sorted:
            insort(self.by_length, entry)
            self.is_sorted = True
        return 0

    cdef list best_fit(self, number):
        """Choose items by their sum: the oldest one, then repeatedly the longest that still fits."""
        cdef list by_length = self.by_length
        length = (<tuple> self.waiting[number])[0]
        self.is_sorted = False
        by_length.pop(bisect_left(by_length, (length, number)))
        cdef list chosen = [number]
        room = self.budget - length
        while len(chosen) < self.most:
            place = bisect_right(by_length, (room, LONGEST)) - 1
            if place < 0:
                break
            longest = (<tuple> by_length[place])[0]
            length, number = by_length.pop(bisect_left(by_length, (longest, -1)))  # the oldest of equally long ones
            chosen.append(number)
            room -= length
        return chosen

    cdef list neighbours(self, number):
        """Choose items by the longest times their number: the fullest run of the waiting items sorted by length.

        If the oldest item has waited too long, the run must contain it.
        """
        cdef list by_length = self.by_length
        length = (<tuple> self.waiting[number])[0]
        sizes = np.array([(<tuple> one)[0] for one in by_length])
        last = np.arange(len(sizes))
        counts = np.minimum(np.maximum(self.budget // np.maximum(sizes, 1), 1), self.most)
        first = np.maximum(last + 1 - counts, 0)
        before = np.append(0, np.cumsum(sizes))
        held = before[last + 1] - before[first]
        if self.taken - number > PATIENCE * self.size:
            place = bisect_left(by_length, (length, number))
            held[(first > place) | (last < place)] = -1
        best = int(held.argmax())
        low, high = int(first[best]), best + 1
        chosen = [(<tuple> one)[1] for one in by_length[low:high]]
        self.is_sorted = False
        del by_length[low:high]
        return chosen

    def read_again(self, tuple counts not None, set waiting not None, lengths, str where not None):
        """Read a new source up to a state; a stream that an error has left in between cannot be used."""
        cdef Py_ssize_t number
        self.lock.acquire()
        try:
            if self.is_broken:
                raise ValueError(f"{where}: was left by an error before; a new stream is needed")
            if self.taken or self.arrived is not MISSING:
                raise ValueError(f"{where}: {self.taken or 1} items are taken from the source already; a new stream is "
                                 "needed")
            self.is_broken = True
            for number in range(counts[0]):
                if not self.arrive():
                    raise ValueError(f"{where}: source: ends after {number} items; {counts[0]} were taken")
                self.enter(number in waiting)
            if self.lengths != lengths:
                raise ValueError(f"{where}: source: its first {counts[0]} items have different lengths than when taken")
            self.taken, self.bins, self.items, self.tokens, self.padding, self.dropped = counts
            while self.look_after <= self.bins:
                self.look_after *= 10
            self.is_broken = False
        finally:
            self.lock.release()

    def __getstate__(self):
        self.lock.acquire()
        try:
            return (
                (self.source, self.budget, bool(self.padded), self.most, self.overflow, self.size, self.length,
                 self.name, self.report),
                (self.taken, self.bins, self.items, self.tokens, self.padding, self.dropped),
                self.waiting.copy(), self.lengths, self.look_after, bool(self.is_broken),
                None if self.arrived is MISSING else (self.arrived,),
            )
        finally:
            self.lock.release()

    def __setstate__(self, state):
        settings, counts, self.waiting, self.lengths, self.look_after, self.is_broken, arrived = state
        self.begin(*settings)
        self.taken, self.bins, self.items, self.tokens, self.padding, self.dropped = counts
        self.arrived = MISSING if arrived is None else arrived[0]
        self.is_sorted = False
