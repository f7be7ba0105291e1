"""A queue whose readers stay awake for a moment before they sleep.

To wake a sleeping thread takes 30 to 60 us, as much as a task of a small batch, and the next task usually comes sooner
than the thread would have fallen asleep.
"""

from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from queue import SimpleQueue

cdef extern from "<sched.h>" nogil:
    int sched_yield()

cdef long long AWAKE = 200_000  # nanoseconds, in which a training step of small layers has its next task
cdef int LOOKS = 64  # between two looks at the clock


cdef class WakefulQueue:
    """An unbounded queue for several threads.

    Readers watch it without the interpreter's lock, and give their processor to any other thread that needs it.
    """

    cdef object items
    cdef volatile size_t count  # of items that were put

    def __cinit__(self):
        self.items = SimpleQueue()

    def put(self, item):
        """Append an item, and wake a reader."""
        self.items.put(item)
        self.count = self.count + 1

    def get(self):
        """Remove the first item and return it; wait until there is one."""
        cdef size_t seen = self.count
        if self.items.empty():
            with nogil:
                self.watch(seen)
        return self.items.get()

    cdef void watch(self, size_t seen) noexcept nogil:
        """Return when an item has been put, or after a moment."""
        cdef timespec now
        cdef long long begin = nanoseconds(&now), at = begin
        while at - begin < AWAKE:
            for _ in range(LOOKS):
                if self.count != seen:
                    return
            sched_yield()
            at = nanoseconds(&now)


cdef inline long long nanoseconds(timespec* now) noexcept nogil:
    clock_gettime(CLOCK_MONOTONIC, now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
