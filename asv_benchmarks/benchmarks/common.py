"""Functions that the benchmarks share: batches drawn from a seed, and the comparison of several ways to a result."""

import functools
import tracemalloc
import zlib
from abc import ABC, abstractmethod

import numpy as np

from . import flat

WAYS = ["lodcore", "lodcore_out", "flat", "arrays", "padded", "copy"]
DISTRIBUTIONS = ["nlp", "empty", "long", "uniform", "ones", "equal"]
ROWS = {1: 200_000, 64: 25_000}  # rows of a batch by their width
WIDTHS = list(ROWS)
DTYPES = ["float32", "float64", "int64", "uint8"]
SEED = 7
MOST_PADDED = 2**27  # bytes


def draw_lengths(distribution, rows, rng):
    """Draw lengths of sequences that have `rows` rows in total."""
    count = rows if distribution == "ones" else rows // 2 + 1000
    if distribution in ("nlp", "empty"):  # sentences: median 20, a long tail
        lengths = rng.lognormal(np.log(20), 0.8, count).astype(np.int64).clip(1, 512)
        if distribution == "empty":
            lengths[rng.random(count) < 0.7] = 0
    elif distribution == "long":  # one in 200 is a giant
        lengths = rng.integers(1, 5, count)
        lengths[rng.random(count) < 0.005] = 5000
    elif distribution == "uniform":
        lengths = rng.integers(1, 41, count)
    else:
        lengths = np.full(count, {"ones": 1, "equal": 16}[distribution])
    ends = np.cumsum(lengths)
    last = int(np.searchsorted(ends, rows))
    lengths[last] -= ends[last] - rows
    return lengths[: last + 1]


class Batch:
    """A batch of sequences and the arguments of the benchmarks, each drawn when it is first used.

    Parameters
    ----------
    distribution : str
        The distribution of the lengths, one of `DISTRIBUTIONS`.
    width : int
        Numbers per row; rows of width 1 have no axis of their own.
    dtype : str
    rows : int, optional
        By default `ROWS[width]`.
    seed : int
    most_padded : int
        The maximum number of bytes of a padded array; larger ones are skipped.
    """

    def __init__(self, distribution, width=1, dtype="float32", rows=None, seed=SEED, most_padded=MOST_PADDED):
        self.most_padded = most_padded
        self.seed = seed
        self.width = width
        self.dtype = dtype
        self.lengths = draw_lengths(distribution, rows or ROWS[width], self.rng("lengths"))
        self.offsets = flat.offsets_from_lengths(self.lengths)
        self.rows = int(self.offsets[-1])
        self.longest = int(self.lengths.max())

    def __len__(self):
        return len(self.lengths)

    def rng(self, purpose):
        """Make the generator of one part, which does not depend on the other parts."""
        return np.random.default_rng([self.seed, zlib.crc32(purpose.encode())])

    @functools.cached_property
    def values(self):
        shape = (self.rows,) if self.width == 1 else (self.rows, self.width)
        return self.rng("values").integers(256, size=shape, dtype=np.uint8).astype(self.dtype)

    @functools.cached_property
    def document_lengths(self):
        """Draw the lengths of a coarser level: 1 to 15 sequences each."""
        lengths = self.rng("documents").integers(1, 16, len(self) // 8 + 1)
        lengths = lengths[np.cumsum(lengths) < len(self)]
        return np.append(lengths, len(self) - lengths.sum())

    @functools.cached_property
    def documents(self):
        return flat.offsets_from_lengths(self.document_lengths)

    @functools.cached_property
    def tensor(self):
        from lodcore import LoDTensor

        return LoDTensor.from_offsets(self.values, self.offsets)

    @functools.cached_property
    def tensor_of_documents(self):
        from lodcore import LoDTensor

        return LoDTensor.from_offsets(self.values, self.documents, self.offsets)

    @functools.cached_property
    def permutation(self):
        return self.rng("permutation").permutation(len(self))

    @functools.cached_property
    def subset(self):
        """A quarter of the sequences, with repetitions."""
        return self.rng("subset").integers(0, len(self), max(1, len(self) // 4))

    @functools.cached_property
    def subset_of_documents(self):
        count = len(self.document_lengths)
        return self.rng("subset of documents").integers(0, count, max(1, count // 4))

    @functools.cached_property
    def piece_starts(self):
        """The start of a slice of each sequence."""
        return self.rng("starts").integers(0, self.lengths + 1)

    @functools.cached_property
    def piece_sizes(self):
        return self.rng("sizes").integers(0, self.lengths - self.piece_starts + 1)

    @functools.cached_property
    def arrays(self):
        """One array per sequence."""
        return flat.to_arrays(self.values, self.offsets)

    @functools.cached_property
    def parts(self):
        """64 batches, each with values and offsets in memory of its own."""
        cuts = np.linspace(0, len(self), 65).astype(np.int64)
        return [(a.copy(), b.copy()) for a, b in flat.split(self.values, self.offsets, cuts)]

    @functools.cached_property
    def unpacked(self):
        return flat.unpack(self.values, self.offsets)

    @property
    def steps(self):
        """The rows step by step, the longest sequence first."""
        return self.unpacked[0]

    @property
    def step_sizes(self):
        return self.unpacked[1]

    @property
    def order(self):
        """The sequences, the longest first."""
        return self.unpacked[2]

    @property
    def padded_shape(self):
        """The shape of the padded array; NotImplementedError, for asv "not available", if it is too large."""
        size = len(self) * self.longest * self.width * np.dtype(self.dtype).itemsize
        if size > self.most_padded:
            raise NotImplementedError(f"the padded array would have {size / 2**20:.0f} MiB")
        return (len(self), self.longest, *self.values.shape[1:])

    @functools.cached_property
    def mask(self):
        return np.arange(self.padded_shape[1]) < self.lengths[:, None]

    @functools.cached_property
    def padded(self):
        padded = np.zeros(self.padded_shape, self.dtype)
        padded[self.mask] = self.values
        return padded


@functools.cache
def prepared(question, way, *batch):
    """Draw a batch and make the call of a way; asv requests it again before each sample."""
    return getattr(question(), way)(Batch(*batch))


class Question(ABC):
    """A benchmark of an operation on a batch, with a method for each way to compute it.

    A way takes a Batch and returns the call that is measured. The ways are, as far as they exist:

    - lodcore: the public function; lodcore_out: the same with `out=`
    - flat: the NumPy idiom on values and offsets
    - padded: NumPy on a padded array and lengths, with a padded result
    - copy: a plain copy of as many bytes as the result has
    """

    param_names = ["way", "distribution", "width", "dtype"]

    def __init_subclass__(cls, distributions=DISTRIBUTIONS, widths=None, dtypes=None):
        ways = [way for way in WAYS if hasattr(cls, way)]
        cls.params = [choice for choice in (ways, distributions, widths, dtypes) if choice is not None]

    @abstractmethod
    def lodcore(self, batch): ...

    def setup(self, way, *batch):
        self.call = prepared(type(self), way, *batch)


class Times(Question):
    """Seconds of a call."""

    repeat = (5, 50, 0.1)
    rounds = 1
    warmup_time = 0.02

    def time_call(self, *parameters):
        self.call()


class Peaks(Question):
    """Bytes of all arrays alive at the peak of a call, including its result, without its arguments."""

    unit = "bytes"

    def track_peak(self, *parameters):
        tracemalloc.start()
        result = self.call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        del result
        return peak
