"""Structure, tensors and TensorArray."""

from tests.mutants.mutant import Mutant

TENSOR_ARRAY = "lodcore/tensors/tensor_array.py"

MUTANTS = [
    # -- structure
    Mutant(
        "wrong-level-dropped",
        "lodcore/tensors/lod_body.pyx",
        "place[before + s] = inner[outer[s]]",
        "place[before + s] = outer[s]",
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
    # -- Python: TensorArray, ranks
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
        "        buffers.seal(rows)\n        by_step = lod_tensor_body.owned_tensor",
        "        by_step = lod_tensor_body.owned_tensor",
        "tests/tensors/test_tensor_array.py",
    ),
    Mutant(
        "slot-minus-one",
        TENSOR_ARRAY,
        "    if number < 0:\n        raise IndexError(",
        "    if number < -1:\n        raise IndexError(",
        "tests/tensors/test_tensor_array.py tests/test_errors.py",
    ),
    Mutant(
        "pickled-order-unchecked",
        "lodcore/tensors/rank_table.py",
        "if not np.array_equal(np.sort(places), np.arange(lod.num_sequences(k))):",
        "if len(places) != lod.num_sequences(k):",
        "tests/tensors/test_pickle.py tests/tensors/test_tensor_array.py",
    ),
]
