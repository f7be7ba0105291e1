"""LoD, LoDTensor, SparseTensor, TensorArray and rank tables."""

from tests.mutants.mutant import Mutant

LOD = "lodcore/tensors/lod.py"
LOD_BODY = "lodcore/tensors/lod_body.pyx"
NESTED = "lodcore/tensors/nested.py"
PADDING = "lodcore/tensors/padding.py"
RANK_TABLE = "lodcore/tensors/rank_table.py"

TEST_ADVICE = "tests/numpy_api/test_advice.py"
TEST_LOD = "tests/tensors/test_lod.py"
TEST_PADDING_OPTIONS = "tests/tensors/test_padding_options.py"

MUTANTS = [
    Mutant(
        "device-of-what-is-not-dense",
        "lodcore/tensors/conversions.py",
        "class _NotDenseError(ShapeError, AttributeError):",
        "class _NotDenseError(ShapeError):",
        TEST_ADVICE,
    ),
    Mutant(
        "only-the-outermost-level-is-compared",
        "lodcore/tensors/joining.pyx",
        "            if level == k or mine == theirs:",
        "            if level == k or level > 0 or mine == theirs:",
        "tests/operators/test_refused_structures.py",
    ),
    Mutant(
        "wrong-level-dropped",
        "lodcore/tensors/kernel_calls.pyx",
        "out[s] = inner[outer[s]]",
        "out[s] = outer[s]",
        TEST_LOD,
    ),
    Mutant(
        "last-segment-forgotten",
        LOD,
        "count = int(rows.max()) + 1 if len(rows) else 0",
        "count = max(int(rows.max()), 1) if len(rows) else 0",
        TEST_LOD,
    ),
    Mutant(
        "hash-of-structure-without-offsets",
        LOD_BODY,
        "self._hash = hash((self.n_levels, self.n_rows, block)) or 1",
        "self._hash = id(self) or 1",
        TEST_LOD,
    ),
    Mutant(
        "memory-that-can-be-made-writable",
        LOD_BODY,
        "if type(base) is not bytes or cnp.PyArray_DATA(memory) != <void*> PyBytes_AS_STRING(base):",
        "if cnp.PyArray_NDIM(memory) != 1:",
        TEST_LOD,
    ),
    Mutant(
        "last-level-dropped",
        LOD_BODY,
        "    for k in range(first, lod.n_levels):\n        offsets = new_offsets(size[0] + 1)",
        "    for k in range(first, min(lod.n_levels, 2)):\n        offsets = new_offsets(size[0] + 1)",
        "tests/tensors/test_lod.py tests/ops/move/test_gather.py",
    ),
    Mutant(
        "text-looked-at-in-part",
        NESTED,
        "for j, leaf in enumerate(leaves) if not isinstance(leaf, text)",
        "for j, leaf in enumerate(leaves[:64]) if not isinstance(leaf, text)",
        "tests/tensors/test_nested.py",
    ),
    Mutant(
        "lent-memory-writable",
        NESTED,
        "lent = not isinstance(given, (list, tuple))",
        "lent = type(given) is np.ndarray",
        "tests/tensors/test_tensor.py",
    ),
    Mutant("path-of-a-value-backwards", NESTED, "for at in [j, *reversed(path)]", "for at in [*path, j]", TEST_ADVICE),
    Mutant(
        "least-length-not-rounded-up",
        PADDING,
        '        known = max(known, integer(f"{where}: min_length", least, bools=True))\n',
        '        return max(known, integer(f"{where}: min_length", least, bools=True))\n',
        TEST_PADDING_OPTIONS,
    ),
    Mutant(
        "a-number-pads-all-levels",
        PADDING,
        "        return [usual] * (depth - 1) + [given]",
        "        return [given] * depth",
        TEST_PADDING_OPTIONS,
    ),
    Mutant(
        "table-of-vectors-inverted",
        RANK_TABLE,
        "            lengths[self._indices] = self._lengths\n",
        "            lengths[:] = self._lengths[self._indices]\n",
        "tests/ops/order/test_rank_table.py",
    ),
    Mutant(
        "pickled-order-unchecked",
        RANK_TABLE,
        "if not np.array_equal(np.sort(places), np.arange(lod.num_sequences(k))):",
        "if len(places) != lod.num_sequences(k):",
        "tests/tensors/test_pickle.py tests/tensors/test_tensor_array.py",
    ),
    Mutant(
        "merged-rows-are-not-added",
        "lodcore/tensors/sparse_tensor.py",
        'add_rows("SparseTensor.merge", rows, places, merged)',
        "merged[places] = rows",
        "tests/tensors/test_sparse_tensor.py",
    ),
    Mutant(
        "clones-share-what-was-not-written",
        "lodcore/tensors/tensor_array.py",
        "elements = {at: copied(element) for at, element in self.known_elements().items()}",
        (
            "elements = {at: copied(element) if at in self._items else element for at, element "
            "in self.known_elements().items()}"
        ),
        "tests/tensors/test_tensor_array.py",
    ),
    Mutant(
        "bytes-that-end-with-NUL-are-cut",
        "lodcore/tensors/utf8.py",
        "    if (last == 0).any():",
        "    if unicode and (last == 0).any():",
        "tests/ops/text/test_words.py",
    ),
]
