"""LoD, LoDTensor, SparseTensor, TensorArray and rank tables."""

DEFECTS = {
    ("lodcore/tensors/conversions.py", "tests/numpy_api/test_advice.py"): [
        (
            "device-of-what-is-not-dense",
            "class _NotDenseError(ShapeError, AttributeError):",
            "class _NotDenseError(ShapeError):",
        ),
    ],
    ("lodcore/tensors/joining.pyx", "tests/operators/test_refused_structures.py"): [
        (
            "only-the-outermost-level-is-compared",
            "            if level == k or mine == theirs:",
            "            if level == k or level > 0 or mine == theirs:",
        ),
    ],
    ("lodcore/tensors/kernel_calls.pyx", "tests/tensors/test_lod.py"): [
        ("wrong-level-dropped", "out[s] = inner[outer[s]]", "out[s] = outer[s]"),
    ],
    ("lodcore/tensors/lod.py", "tests/tensors/test_lod.py"): [
        (
            "last-segment-forgotten",
            "count = int(rows.max()) + 1 if len(rows) else 0",
            "count = max(int(rows.max()), 1) if len(rows) else 0",
        ),
    ],
    ("lodcore/tensors/lod_body.pyx", "tests/tensors/test_lod.py"): [
        (
            "hash-of-structure-without-offsets",
            "self._hash = hash((self.n_levels, self.n_rows, block)) or 1",
            "self._hash = id(self) or 1",
        ),
        (
            "memory-that-can-be-made-writable",
            "if type(base) is not bytes or cnp.PyArray_DATA(memory) != <void*> PyBytes_AS_STRING(base):",
            "if cnp.PyArray_NDIM(memory) != 1:",
        ),
    ],
    ("lodcore/tensors/lod_body.pyx", "tests/tensors/test_lod.py tests/ops/move/test_gather.py"): [
        (
            "last-level-dropped",
            "    for k in range(first, lod.n_levels):\n        offsets = new_offsets(size[0] + 1)",
            "    for k in range(first, min(lod.n_levels, 2)):\n        offsets = new_offsets(size[0] + 1)",
        ),
    ],
    ("lodcore/tensors/text.py", "tests/tensors/test_nested.py"): [
        (
            "text-looked-at-in-part",
            "for at, value in enumerate(values):",
            "for at, value in enumerate(list(values)[:64]):",
        ),
    ],
    ("lodcore/tensors/nested.py", "tests/tensors/test_tensor.py"): [
        ("lent-memory-writable", "lent = not isinstance(given, (list, tuple))", "lent = type(given) is np.ndarray"),
    ],
    ("lodcore/tensors/nested.py", "tests/numpy_api/test_advice.py"): [
        ("path-of-a-value-backwards", "for at in [j, *reversed(path)]", "for at in [*path, j]"),
    ],
    ("lodcore/tensors/padding.py", "tests/tensors/test_padding_options.py"): [
        (
            "least-length-not-rounded-up",
            '        known = max(known, integer(f"{where}: min_length", least, bools=True))\n',
            '        return max(known, integer(f"{where}: min_length", least, bools=True))\n',
        ),
        (
            "a-number-pads-all-levels",
            "        return [usual] * (depth - 1) + [given]",
            "        return [given] * depth",
        ),
    ],
    ("lodcore/tensors/rank_table.py", "tests/ops/order/test_rank_table.py"): [
        (
            "table-of-vectors-inverted",
            "            lengths[self._indices] = self._lengths\n",
            "            lengths[:] = self._lengths[self._indices]\n",
        ),
    ],
    ("lodcore/tensors/rank_table.py", "tests/tensors/test_pickle.py tests/tensors/test_tensor_array.py"): [
        (
            "pickled-order-unchecked",
            "if not np.array_equal(np.sort(places), np.arange(lod.num_sequences(k))):",
            "if len(places) != lod.num_sequences(k):",
        ),
    ],
    ("lodcore/tensors/sparse_tensor.py", "tests/tensors/test_sparse_tensor.py"): [
        ("merged-rows-are-not-added", 'add_rows("SparseTensor.merge", rows, places, merged)', "merged[places] = rows"),
    ],
    ("lodcore/tensors/tensor_array.py", "tests/tensors/test_tensor_array.py"): [
        (
            "clones-share-what-was-not-written",
            "elements = {at: copied(element) for at, element in self.known_elements().items()}",
            (
                "elements = {at: copied(element) if at in self._items else element for at, element in "
                "self.known_elements().items()}"
            ),
        ),
    ],
    ("lodcore/tensors/utf8.py", "tests/ops/text/test_words.py"): [
        ("bytes-that-end-with-NUL-are-cut", "    if (last == 0).any():", "    if unicode and (last == 0).any():"),
    ],
}
