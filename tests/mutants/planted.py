"""The defects that are planted one at a time: what the tests must find."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One defect: in the file at `path`, `old`, which stands there once, becomes `new`; `tests` must find it."""

    name: str
    path: str
    old: str
    new: str
    tests: str


ROWS = "lodcore/kernels/rows.h"
OFFSETS = "lodcore/kernels/offsets.pyx"
LEVELS = "lodcore/kernels/levels.pyx"
GATHER = "lodcore/kernels/gather.pyx"
RANK = "lodcore/kernels/rank.pyx"
PAD = "lodcore/kernels/pad.pyx"
BUFFERS = "lodcore/buffers.pyx"
CORE = "lodcore/core.pyx"
TENSOR_CORE = "lodcore/tensor_core.pyx"
TENSOR_ARRAY = "lodcore/tensor_array.py"

MUTANTS = [
    # -- kernels: offsets
    Mutant(
        "sum-of-lengths-overflows",
        ROWS,
        "signs |= a | total;",
        "signs |= a;",
        "tests/kernels/test_offsets.py",
    ),
    Mutant(
        "last-offset-unchecked",
        OFFSETS,
        "for s in range(n_seqs + 1):\n        if offsets[s] < 0",
        "for s in range(n_seqs):\n        if offsets[s] < 0",
        "tests/kernels/test_offsets.py",
    ),
    Mutant(
        "first-offset-unchecked",
        OFFSETS,
        "if source[0] != 0:",
        "if source[0] < 0:",
        "tests/kernels/test_offsets.py",
    ),
    Mutant(
        "longest-is-last",
        ROWS,
        "most = length > most ? length : most;",
        "most = length;",
        "tests/kernels/test_offsets.py",
    ),
    Mutant(
        "segment-id-too-large",
        OFFSETS,
        "following >= n_seqs:",
        "following > n_seqs:",
        "tests/kernels/test_offsets.py",
    ),
    Mutant(
        "segment-ids-may-fall",
        OFFSETS,
        "if following < now or following < 0",
        "if following < 0",
        "tests/kernels/test_offsets.py",
    ),
    Mutant(
        "empty-sequences-at-the-end-forgotten",
        OFFSETS,
        "while now < n_seqs:",
        "while now < n_seqs - 1:",
        "tests/kernels/test_offsets.py",
    ),
    Mutant(
        "positions-count-from-one",
        ROWS,
        "LODCORE_FILL(fill_positions, at + k)",
        "LODCORE_FILL(fill_positions, at + k + 1)",
        "tests/kernels/test_offsets.py",
    ),
    # -- kernels: levels
    Mutant(
        "rebase-forgotten",
        LEVELS,
        "shift_offsets(source, count, -source[0], result)",
        "shift_offsets(source, count, 0, result)",
        "tests/kernels/test_levels.py",
    ),
    Mutant(
        "compose-of-the-wrong-level",
        LEVELS,
        "result[s] = through[source[s]]",
        "result[s] = source[s]",
        "tests/kernels/test_levels.py",
    ),
    Mutant(
        "empty-sequences-at-the-boundary-lost",
        LEVELS,
        "            result[count - 1] = last\n",
        "            pass\n",
        "tests/kernels/test_levels.py",
    ),
    Mutant(
        "joined-batches-not-moved-on",
        LEVELS,
        "shift_offsets(&offsets[0], offsets.shape[0], base, result + at)",
        "shift_offsets(&offsets[0], offsets.shape[0], 0, result + at)",
        "tests/kernels/test_levels.py",
    ),
    Mutant(
        "split-relative-to-the-wrong-level",
        LEVELS,
        "            for s in range(start, stop + 1):\n                result[at] = inner[s] - inner[start]",
        "            for s in range(start, stop + 1):\n                result[at] = inner[s] - outer[d]",
        "tests/kernels/test_levels.py",
    ),
    # -- kernels: gather
    Mutant(
        "negative-index-off-by-one",
        ROWS,
        "s = s < 0 ? s + n_seqs : s;",
        "s = s < 0 ? s + n_seqs - 1 : s;",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "index-of-one-past-the-end",
        ROWS,
        "if ((uint64_t)s >= (uint64_t)n_seqs)",
        "if ((uint64_t)s > (uint64_t)n_seqs)",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "repeats-overflow",
        ROWS,
        "        if (stop - start > INT64_MAX - total)\n            return j;\n        total += stop - start;",
        "        total = (int64_t)((uint64_t)total + (uint64_t)(stop - start));",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "empty-ranges-counted",
        ROWS,
        "        if (first == last)\n            *out++ = total;",
        "        if (first >= last)\n            *out++ = total;",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "slice-past-the-end",
        GATHER,
        "<uint64_t> size > <uint64_t> (here - first)",
        "<uint64_t> size > <uint64_t> here",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "slice-from-a-negative-start",
        GATHER,
        "if <uint64_t> first > <uint64_t> here or",
        "if first > here or",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "reversed-range-accepted",
        GATHER,
        "first < 0 or last < first or last > size",
        "first < 0 or last < 0 or last > size",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "sizes-of-ranges-overflow",
        GATHER,
        "if size > INT64_MAX - result[j]:",
        "if size < 0:",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "repeated-rows-not-added",
        GATHER,
        "to[k] += source[k]",
        "to[k] = source[k]",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "strided-arrays-joined-as-bytes",
        GATHER,
        "if not cnp.PyArray_IS_C_CONTIGUOUS(array):",
        "if not cnp.PyArray_ISALIGNED(array):",
        "tests/kernels/test_gather.py tests/test_tensor.py",
    ),
    Mutant(
        "dtypes-of-one-kind-joined-as-bytes",
        GATHER,
        "or array.dtype == like.dtype",
        "or array.dtype.kind == like.dtype.kind",
        "tests/kernels/test_gather.py tests/test_tensor.py",
    ),
    Mutant(
        "scalars-taken-for-sequences",
        GATHER,
        "cnp.PyArray_NDIM(node) > 0",
        "cnp.PyArray_NDIM(node) >= 0",
        "tests/kernels/test_gather.py tests/test_nested.py",
    ),
    # -- kernels: rank, pad
    Mutant(
        "unstable-order",
        RANK,
        "for s in range(n_seqs):\n            length = source[s + 1] - source[s]\n            result[place[length]]",
        "for s in range(n_seqs - 1, -1, -1):\n            length = source[s + 1] - source[s]\n"
        "            result[place[length]]",
        "tests/kernels/test_rank.py",
    ),
    Mutant(
        "empty-sequences-reach-the-first-step",
        ROWS,
        "int64_t reach = n_seqs - out[0];",
        "int64_t reach = n_seqs;",
        "tests/kernels/test_rank.py",
    ),
    Mutant(
        "sequences-kept-a-step-too-long",
        RANK,
        "if lengths[middle] > step:",
        "if lengths[middle] >= step:",
        "tests/kernels/test_rank.py",
    ),
    Mutant(
        "half-of-each-row-moved",
        ROWS,
        "case 8: VERB##_8(",
        "case 8: VERB##_4(",
        "tests/kernels/test_rank.py",
    ),
    Mutant(
        "filling-on-the-wrong-side",
        PAD,
        "gap = result if left else result + size",
        "gap = result + size if left else result",
        "tests/kernels/test_pad.py",
    ),
    Mutant(
        "filling-judged-by-its-last-byte",
        PAD,
        "even &= fill[k] == fill[0]",
        "even = fill[k] == fill[0]",
        "tests/kernels/test_pad.py",
    ),
    # -- integers from outside, arrays for results
    Mutant(
        "unsigned-wraps",
        BUFFERS,
        "array.max() > INT64_MAX:",
        "array.max() > 2**64 - 1:",
        "tests/test_lod.py tests/test_errors.py",
    ),
    Mutant(
        "huge-int-becomes-minus-one",
        BUFFERS,
        "            if overflow:\n",
        "            if overflow and number < 0:\n",
        "tests/test_lod.py tests/test_errors.py",
    ),
    Mutant(
        "too-few-numbers-for-the-sequences",
        BUFFERS,
        "if cnp.PyArray_DIM(vector, 0) != count:",
        "if cnp.PyArray_DIM(vector, 0) > count:",
        "tests/test_gather.py tests/test_errors.py",
    ),
    Mutant(
        "views-of-read-only-rows-writable",
        BUFFERS,
        "cnp.PyArray_BYTES(array) + start * cnp.PyArray_STRIDE(array, 0), cnp.PyArray_ISWRITEABLE(array))",
        "cnp.PyArray_BYTES(array) + start * cnp.PyArray_STRIDE(array, 0), True)",
        "tests/test_tensor.py",
    ),
    # -- compiled bodies
    Mutant(
        "negative-level-off-by-one",
        CORE,
        "return k + self._num_levels if k < 0 else k",
        "return max(k + self._num_levels - 1, 0) if k < 0 else k",
        "tests/test_lod.py",
    ),
    Mutant(
        "equal-whatever-the-rows",
        CORE,
        "self._num_levels != that._num_levels or self._num_rows != that._num_rows or",
        "self._num_levels != that._num_levels or",
        "tests/test_lod.py",
    ),
    Mutant(
        "equal-by-the-first-offsets",
        CORE,
        "memcmp(self._block, that._block, 8 * size) == 0",
        "memcmp(self._block, that._block, size) == 0",
        "tests/test_lod.py",
    ),
    Mutant(
        "hash-of-structure-without-offsets",
        CORE,
        "self._hash = hash((self._num_levels, self._num_rows, block)) or 1",
        "self._hash = id(self) or 1",
        "tests/test_lod.py",
    ),
    Mutant(
        "memory-that-can-be-made-writable",
        CORE,
        "if type(base) is not bytes or cnp.PyArray_DATA(memory) != <void*> PyBytes_AS_STRING(base):",
        "if cnp.PyArray_NDIM(memory) != 1:",
        "tests/test_lod.py",
    ),
    Mutant(
        "levels-do-not-agree",
        CORE,
        "if end != cnp.PyArray_DIM(levels[k + 1], 0) - 1:",
        "if end > cnp.PyArray_DIM(levels[k + 1], 0) - 1:",
        "tests/test_lod.py tests/test_errors.py",
    ),
    Mutant(
        "rows-left-over",
        CORE,
        "elif rows >= 0 and end != rows:",
        "elif rows >= 0 and end > rows:",
        "tests/test_lod.py tests/test_errors.py",
    ),
    Mutant(
        "last-level-dropped",
        CORE,
        "    for k in range(first, lod._num_levels):\n        offsets = new_offsets(size[0] + 1)",
        "    for k in range(first, min(lod._num_levels, 2)):\n        offsets = new_offsets(size[0] + 1)",
        "tests/test_gather.py",
    ),
    Mutant(
        "levels-of-a-cut-overlap",
        CORE,
        "        place += high - low + 1\n",
        "        place += high - low\n",
        "tests/test_tensor.py tests/test_lod.py",
    ),
    Mutant(
        "split-counts-the-wrong-rows",
        CORE,
        "            rows = (self.place - 1)[0]\n",
        "            rows = size\n",
        "tests/test_lod.py tests/test_tensor.py",
    ),
    Mutant(
        "last-sequence-by-minus-two",
        TENSOR_CORE,
        "i = i + size if i < 0 else i",
        "i = max(i + size - 1, 0) if i < 0 else i",
        "tests/test_tensor.py",
    ),
    Mutant(
        "one-past-the-last-sequence",
        TENSOR_CORE,
        "if not -size <= key < size:",
        "if not -size <= key <= size:",
        "tests/test_tensor.py",
    ),
    Mutant(
        "upper-levels-dropped",
        TENSOR_CORE,
        "[] if upper is None else upper, &size)",
        "[], &size)",
        "tests/test_gather.py",
    ),
    Mutant(
        "iteration-stays-at-the-first-rows",
        TENSOR_CORE,
        "self.row += lod._num_rows",
        "self.row = lod._num_rows",
        "tests/test_tensor.py",
    ),
    # -- Python: structure
    Mutant(
        "too-few-new-sequences",
        "lodcore/lod.py",
        "if fresh.num_sequences() != self.num_rows:",
        "if fresh.num_sequences() > self.num_rows:",
        "tests/test_lod.py tests/test_errors.py",
    ),
    Mutant(
        "wrong-level-dropped",
        "lodcore/lod.py",
        "[*levels[: k - 1], joined, *levels[k + 1 :]]",
        "[*levels[: k - 1], levels[k - 1], *levels[k + 1 :]]",
        "tests/test_lod.py",
    ),
    Mutant(
        "last-segment-forgotten",
        "lodcore/lod_making.py",
        "count = int(rows.max()) + 1 if len(rows) else 0",
        "count = max(int(rows.max()), 1) if len(rows) else 0",
        "tests/test_lod.py",
    ),
    Mutant(
        "batches-of-fewer-levels-joined",
        "lodcore/structure.pyx",
        "if lod._num_levels != num_levels:",
        "if lod._num_levels < num_levels:",
        "tests/test_lod.py tests/test_gather.py tests/test_errors.py",
    ),
    # -- Python: tensors
    Mutant(
        "rows-without-structure",
        "lodcore/tensor.py",
        "if len(rows) != lod.num_rows:",
        "if len(rows) < lod.num_rows:",
        "tests/test_tensor.py tests/test_errors.py",
    ),
    Mutant(
        "copy-that-shares",
        "lodcore/tensor.py",
        "            return obj.clone()\n",
        "            return obj\n",
        "tests/test_nested.py tests/test_tensor.py",
    ),
    Mutant(
        "lent-memory-writable",
        "lodcore/nested.py",
        "lent = not isinstance(given, (list, tuple))",
        "lent = type(given) is np.ndarray",
        "tests/test_tensor.py",
    ),
    Mutant(
        "regular-whatever-the-lengths",
        "lodcore/conversion.py",
        "(lengths != lengths[0]).any()",
        "(lengths != lengths[0]).all()",
        "tests/test_tensor.py",
    ),
    Mutant(
        "mask-of-the-wrong-side",
        "lodcore/conversion.py",
        "steps >= padded - lengths",
        "steps > padded - lengths",
        "tests/test_tensor.py",
    ),
    Mutant(
        "out-overlaps-an-input",
        "lodcore/memory.py",
        "if np.may_share_memory(out, given):",
        "if out is given:",
        "tests/test_errors.py tests/test_gather.py",
    ),
    Mutant(
        "out-is-read-only",
        "lodcore/memory.py",
        "if not out.flags.writeable:",
        "if not out.flags.aligned:",
        "tests/test_errors.py tests/test_gather.py",
    ),
    Mutant(
        "out-is-strided",
        "lodcore/memory.py",
        "if not (out.flags.c_contiguous and out.flags.aligned):",
        "if not out.flags.aligned:",
        "tests/test_errors.py tests/test_gather.py",
    ),
    # -- Python: TensorArray, ranks
    Mutant(
        "write-that-shares",
        TENSOR_ARRAY,
        "else value.copy())",
        "else value)",
        "tests/test_tensor_array.py tests/test_tensor_array_machine.py",
    ),
    Mutant(
        "write-past-a-fixed-size",
        TENSOR_ARRAY,
        "at >= self._limit:",
        "at > self._limit:",
        "tests/test_tensor_array.py tests/test_tensor_array_machine.py",
    ),
    Mutant(
        "stale-stack",
        TENSOR_ARRAY,
        "if axis == 0 and self._untouched and isinstance(self._source, np.ndarray):",
        "if axis == 0 and isinstance(self._source, np.ndarray) and self._size == len(self._source):",
        "tests/test_tensor_array.py tests/test_tensor_array_machine.py",
    ),
    Mutant(
        "stale-concat",
        TENSOR_ARRAY,
        "if axis == 0 and self._untouched and isinstance(self._source, LoDTensor):\n            return self._source.fl",
        "if axis == 0 and isinstance(self._source, LoDTensor):\n            return self._source.fl",
        "tests/test_tensor_array.py tests/test_tensor_array_machine.py",
    ),
    Mutant(
        "steps-writable",
        TENSOR_ARRAY,
        "        buffers.seal(by_step.values)\n",
        "",
        "tests/test_tensor_array.py",
    ),
    Mutant(
        "pack-at-another-level",
        TENSOR_ARRAY,
        "if lod._level(level) != k:",
        "if lod._level(level) > k:",
        "tests/test_tensor_array.py tests/test_errors.py",
    ),
    Mutant(
        "steps-of-another-batch",
        "lodcore/elements.py",
        "if wrong.any():",
        "if wrong.all():",
        "tests/test_tensor_array.py tests/test_errors.py",
    ),
    Mutant(
        "slot-minus-one",
        "lodcore/elements.py",
        "if number < 0:",
        "if number < -1:",
        "tests/test_tensor_array.py tests/test_errors.py",
    ),
    Mutant(
        "table-of-another-batch",
        "lodcore/ops/rank.py",
        "if len(x) != len(table):",
        "if len(x) < len(table):",
        "tests/test_rank.py tests/test_errors.py",
    ),
    Mutant(
        "pickled-order-unchecked",
        "lodcore/indices_map.py",
        "if not np.array_equal(np.sort(places), np.arange(lod.num_sequences(k))):",
        "if len(places) != lod.num_sequences(k):",
        "tests/test_pickle.py tests/test_tensor_array.py",
    ),
]
