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
        "lodcore/tensors/joining.pyx",
        "if lod.n_levels != num_levels:",
        "if lod.n_levels < num_levels:",
        "tests/tensors/test_lod.py tests/ops/move/test_gather.py tests/test_errors.py",
    ),
    # -- Python: tensors
    Mutant(
        "rows-without-structure",
        "lodcore/tensors/lod_tensor.py",
        '        if len(rows) != lod.num_rows:\n            raise LoDError(f"LoDTensor: values',
        '        if len(rows) < lod.num_rows:\n            raise LoDError(f"LoDTensor: values',
        "tests/tensors/test_tensor.py tests/test_errors.py",
    ),
    Mutant(
        "copy-that-shares",
        "lodcore/tensors/from_lists.py",
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
        "lodcore/tensors/lod_tensor.py",
        "(lengths != lengths[0]).any()",
        "(lengths != lengths[0]).all()",
        "tests/tensors/test_tensor.py tests/test_errors.py",
    ),
    Mutant(
        "mask-of-the-wrong-side",
        "lodcore/tensors/padding.py",
        "steps >= longest - lengths",
        "steps > longest - lengths",
        "tests/tensors/test_tensor.py",
    ),
    Mutant(
        "out-overlaps-an-input",
        "lodcore/base/memory.py",
        "np.may_share_memory(out, given):",
        "out is given:",
        "tests/test_errors.py tests/ops/move/test_gather.py",
    ),
    Mutant(
        "out-is-read-only",
        "lodcore/base/memory.py",
        "if not out.flags.writeable:",
        "if not out.flags.aligned:",
        "tests/test_errors.py tests/ops/move/test_gather.py",
    ),
    Mutant(
        "out-is-strided",
        "lodcore/base/memory.py",
        "if not (out.flags.c_contiguous and out.flags.aligned):",
        "if not out.flags.aligned:",
        "tests/test_errors.py tests/ops/move/test_gather.py",
    ),
    # -- Python: TensorArray, ranks
    Mutant(
        "write-that-shares",
        "lodcore/tensors/kinds.py",
        "return element if data_shared else copied(element)",
        "return element",
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
        "lodcore/ops/arrays/joined_arrays.py",
        "isinstance(ta.untouched_source, np.ndarray):\n        return ta.untouched_source, []",
        "isinstance(ta._source, np.ndarray) and len(ta._source) == ta.num_slots:\n        return ta._source, []",
        "tests/tensors/test_tensor_array.py tests/tensors/test_tensor_array_machine.py",
    ),
    Mutant(
        "stale-concat",
        "lodcore/ops/arrays/joined_arrays.py",
        "    source = ta.untouched_source\n",
        "    source = ta._source\n",
        "tests/tensors/test_tensor_array.py tests/tensors/test_tensor_array_machine.py",
    ),
    Mutant(
        "steps-writable",
        "lodcore/ops/move/steps.py",
        "        buffers.seal(rows)\n        by_step = tensor_core.owned_tensor",
        "        by_step = tensor_core.owned_tensor",
        "tests/tensors/test_tensor_array.py",
    ),
    Mutant(
        "pack-at-another-level",
        "lodcore/ops/move/steps.py",
        "if core.normalize_level(lod, level, where) != k:",
        "if core.normalize_level(lod, level, where) > k:",
        "tests/tensors/test_tensor_array.py tests/test_errors.py",
    ),
    Mutant(
        "steps-of-another-batch",
        "lodcore/ops/move/steps.py",
        "if wrong.any():",
        "if wrong.all():",
        "tests/tensors/test_tensor_array.py tests/test_errors.py",
    ),
    Mutant(
        "slot-minus-one",
        TENSOR_ARRAY,
        "    if number < 0:\n        raise IndexError(",
        "    if number < -1:\n        raise IndexError(",
        "tests/tensors/test_tensor_array.py tests/test_errors.py",
    ),
    Mutant(
        "table-of-another-batch",
        "lodcore/ops/order/rank.py",
        "if len(x) != len(table):",
        "if len(x) < len(table):",
        "tests/ops/order/test_rank.py tests/test_errors.py",
    ),
    Mutant(
        "pickled-order-unchecked",
        "lodcore/tensors/rank_table.py",
        "if not np.array_equal(np.sort(places), np.arange(lod.num_sequences(k))):",
        "if len(places) != lod.num_sequences(k):",
        "tests/tensors/test_pickle.py tests/tensors/test_tensor_array.py",
    ),
]
