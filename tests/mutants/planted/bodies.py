"""The compiled bodies of LoD and LoDTensor, and the arrays below them."""

from tests.mutants.mutant import Mutant

BUFFERS = "lodcore/base/buffers.pyx"
CORE = "lodcore/tensors/lod_body.pyx"
TENSOR_CORE = "lodcore/tensors/lod_tensor_body.pyx"

MUTANTS = [
    # -- integers from outside, arrays for results
    Mutant(
        "unsigned-wraps",
        BUFFERS,
        "array.max() > INT64_MAX:",
        "array.max() > 2**64 - 1:",
        "tests/tensors/test_lod.py tests/test_errors.py",
    ),
    Mutant(
        "huge-int-becomes-minus-one",
        BUFFERS,
        "            if overflow:\n",
        "            if overflow and number < 0:\n",
        "tests/tensors/test_lod.py tests/test_errors.py",
    ),
    Mutant(
        "too-few-numbers-for-the-sequences",
        BUFFERS,
        "if cnp.PyArray_DIM(vector, 0) != count:",
        "if cnp.PyArray_DIM(vector, 0) > count:",
        "tests/ops/move/test_gather.py tests/test_errors.py",
    ),
    Mutant(
        "views-of-read-only-rows-writable",
        BUFFERS,
        "cnp.PyArray_BYTES(array) + start * cnp.PyArray_STRIDE(array, 0), cnp.PyArray_ISWRITEABLE(array))",
        "cnp.PyArray_BYTES(array) + start * cnp.PyArray_STRIDE(array, 0), True)",
        "tests/tensors/test_tensor.py",
    ),
    # -- compiled bodies
    Mutant(
        "negative-level-off-by-one",
        CORE,
        "return k + self.n_levels if k < 0 else k",
        "return max(k + self.n_levels - 1, 0) if k < 0 else k",
        "tests/tensors/test_lod.py",
    ),
    Mutant(
        "equal-whatever-the-rows",
        CORE,
        "self.n_levels != that.n_levels or self.n_rows != that.n_rows or",
        "self.n_levels != that.n_levels or",
        "tests/tensors/test_lod.py",
    ),
    Mutant(
        "equal-by-the-first-offsets",
        CORE,
        "memcmp(self._block, that._block, 8 * size) == 0",
        "memcmp(self._block, that._block, size) == 0",
        "tests/tensors/test_lod.py",
    ),
    Mutant(
        "hash-of-structure-without-offsets",
        CORE,
        "self._hash = hash((self.n_levels, self.n_rows, block)) or 1",
        "self._hash = id(self) or 1",
        "tests/tensors/test_lod.py",
    ),
    Mutant(
        "memory-that-can-be-made-writable",
        CORE,
        "if type(base) is not bytes or cnp.PyArray_DATA(memory) != <void*> PyBytes_AS_STRING(base):",
        "if cnp.PyArray_NDIM(memory) != 1:",
        "tests/tensors/test_lod.py",
    ),
    Mutant(
        "levels-do-not-agree",
        "lodcore/tensors/joining.pyx",
        "if end != cnp.PyArray_DIM(levels[k + 1], 0) - 1:",
        "if end > cnp.PyArray_DIM(levels[k + 1], 0) - 1:",
        "tests/tensors/test_lod.py tests/test_errors.py",
    ),
    Mutant(
        "rows-left-over",
        "lodcore/tensors/joining.pyx",
        "elif rows >= 0 and end != rows:",
        "elif rows >= 0 and end > rows:",
        "tests/tensors/test_lod.py tests/test_errors.py",
    ),
    Mutant(
        "last-level-dropped",
        CORE,
        "    for k in range(first, lod.n_levels):\n        offsets = new_offsets(size[0] + 1)",
        "    for k in range(first, min(lod.n_levels, 2)):\n        offsets = new_offsets(size[0] + 1)",
        "tests/ops/move/test_gather.py",
    ),
    Mutant(
        "levels-of-a-cut-overlap",
        CORE,
        "        place += high - low + 1\n",
        "        place += high - low\n",
        "tests/tensors/test_tensor.py tests/tensors/test_lod.py",
    ),
    Mutant(
        "split-counts-the-wrong-rows",
        CORE,
        "            rows = (self.place - 1)[0]\n",
        "            rows = size\n",
        "tests/tensors/test_lod.py tests/tensors/test_tensor.py",
    ),
    Mutant(
        "last-sequence-by-minus-two",
        TENSOR_CORE,
        "i = i + size if i < 0 else i",
        "i = max(i + size - 1, 0) if i < 0 else i",
        "tests/tensors/test_tensor.py",
    ),
    Mutant(
        "one-past-the-last-sequence",
        TENSOR_CORE,
        "if not -size <= key < size:",
        "if not -size <= key <= size:",
        "tests/tensors/test_tensor.py",
    ),
    Mutant(
        "upper-levels-dropped",
        TENSOR_CORE,
        "[] if upper is None else upper)",
        "[])",
        "tests/ops/move/test_gather.py",
    ),
    Mutant(
        "iteration-stays-at-the-first-rows",
        TENSOR_CORE,
        "self.row += lod.n_rows",
        "self.row = lod.n_rows",
        "tests/tensors/test_tensor.py",
    ),
]
