"""Structure, tensors and TensorArray."""

from tests.mutants.mutant import Mutant

TENSOR_ARRAY = "lodcore/tensors/tensor_array.py"

MUTANTS = [
    # -- Python: structure
    Mutant(
        "too-few-new-sequences",
        "lodcore/tensors/lod.py",
        "if fresh.num_sequences() != self.num_rows:",
        "if fresh.num_sequences() > self.num_rows:",
        "tests/tensors/test_lod.py tests/test_errors.py",
    ),
    Mutant(
        "wrong-level-dropped",
        "lodcore/tensors/lod.py",
        "[*levels[: k - 1], joined, *levels[k + 1 :]]",
        "[*levels[: k - 1], levels[k - 1], *levels[k + 1 :]]",
        "tests/tensors/test_lod.py",
    ),
    Mutant(
        "last-segment-forgotten",
        "lodcore/tensors/lod.py",
        "count = int(rows.max()) + 1 if len(rows) else 0",
        "count = max(int(rows.max()), 1) if len(rows) else 0",
        "tests/tensors/test_lod.py",
    ),
    Mutant(
        "batches-of-fewer-levels-joined",
        "lodcore/tensors/structure.pyx",
        "if lod._num_levels != num_levels:",
        "if lod._num_levels < num_levels:",
        "tests/tensors/test_lod.py tests/ops/test_gather.py tests/test_errors.py",
    ),
    # -- Python: tensors
    Mutant(
        "rows-without-structure",
        "lodcore/tensors/tensor.py",
        "if len(rows) != lod.num_rows:",
        "if len(rows) < lod.num_rows:",
        "tests/tensors/test_tensor.py tests/test_errors.py",
    ),
    Mutant(
        "copy-that-shares",
        "lodcore/tensors/tensor.py",
        "            return obj.clone()\n",
        "            return obj\n",
        "tests/tensors/test_nested.py tests/tensors/test_tensor.py",
    ),
    Mutant(
        "lent-memory-writable",
        "lodcore/tensors/nested.py",
        "lent = not isinstance(given, (list, tuple))",
        "lent = type(given) is np.ndarray",
        "tests/tensors/test_tensor.py",
    ),
    Mutant(
        "regular-whatever-the-lengths",
        "lodcore/tensors/conversion.py",
        "(lengths != lengths[0]).any()",
        "(lengths != lengths[0]).all()",
        "tests/tensors/test_tensor.py tests/test_errors.py",
    ),
    Mutant(
        "mask-of-the-wrong-side",
        "lodcore/tensors/conversion.py",
        "steps >= padded - lengths",
        "steps > padded - lengths",
        "tests/tensors/test_tensor.py",
    ),
    Mutant(
        "out-overlaps-an-input",
        "lodcore/base/memory.py",
        "np.may_share_memory(out, given):",
        "out is given:",
        "tests/test_errors.py tests/ops/test_gather.py",
    ),
    Mutant(
        "out-is-read-only",
        "lodcore/base/memory.py",
        "if not out.flags.writeable:",
        "if not out.flags.aligned:",
        "tests/test_errors.py tests/ops/test_gather.py",
    ),
    Mutant(
        "out-is-strided",
        "lodcore/base/memory.py",
        "if not (out.flags.c_contiguous and out.flags.aligned):",
        "if not out.flags.aligned:",
        "tests/test_errors.py tests/ops/test_gather.py",
    ),
    # -- Python: TensorArray, ranks
    Mutant(
        "write-that-shares",
        TENSOR_ARRAY,
        "else value.copy())",
        "else value)",
        "tests/tensors/test_tensor_array.py tests/tensors/test_tensor_array_machine.py",
    ),
    Mutant(
        "write-past-a-fixed-size",
        TENSOR_ARRAY,
        "at >= self._limit:",
        "at > self._limit:",
        "tests/tensors/test_tensor_array.py tests/tensors/test_tensor_array_machine.py",
    ),
    Mutant(
        "stale-stack",
        TENSOR_ARRAY,
        "if axis == 0 and self._untouched and isinstance(self._source, np.ndarray):",
        "if axis == 0 and isinstance(self._source, np.ndarray) and self._size == len(self._source):",
        "tests/tensors/test_tensor_array.py tests/tensors/test_tensor_array_machine.py",
    ),
    Mutant(
        "stale-concat",
        TENSOR_ARRAY,
        "if axis == 0 and self._untouched and isinstance(self._source, LoDTensor):\n            return self._source.fl",
        "if axis == 0 and isinstance(self._source, LoDTensor):\n            return self._source.fl",
        "tests/tensors/test_tensor_array.py tests/tensors/test_tensor_array_machine.py",
    ),
    Mutant(
        "steps-writable",
        "lodcore/indices_map.py",
        "    buffers.seal(by_step.values)\n",
        "",
        "tests/tensors/test_tensor_array.py",
    ),
    Mutant(
        "pack-at-another-level",
        TENSOR_ARRAY,
        'if lod._level(level, "TensorArray.pack") != k:',
        'if lod._level(level, "TensorArray.pack") > k:',
        "tests/tensors/test_tensor_array.py tests/test_errors.py",
    ),
    Mutant(
        "steps-of-another-batch",
        "lodcore/elements.py",
        "if wrong.any():",
        "if wrong.all():",
        "tests/tensors/test_tensor_array.py tests/test_errors.py",
    ),
    Mutant(
        "slot-minus-one",
        "lodcore/elements.py",
        "if number < 0:",
        "if number < -1:",
        "tests/tensors/test_tensor_array.py tests/test_errors.py",
    ),
    Mutant(
        "table-of-another-batch",
        "lodcore/ops/rank.py",
        "if len(x) != len(table):",
        "if len(x) < len(table):",
        "tests/ops/test_rank.py tests/test_errors.py",
    ),
    Mutant(
        "pickled-order-unchecked",
        "lodcore/indices_map.py",
        "if not np.array_equal(np.sort(places), np.arange(lod.num_sequences(k))):",
        "if len(places) != lod.num_sequences(k):",
        "tests/tensors/test_pickle.py tests/tensors/test_tensor_array.py",
    ),
]
