"""Memory, threads, buffers and names of other libraries."""

from tests.mutants.mutant import Mutant

BUFFERS = "lodcore/base/buffers.pyx"
MEMORY = "lodcore/base/memory.py"
RECYCLING = "lodcore/base/recycling.h"

TEST_ERRORS = "tests/test_errors.py tests/ops/move/test_gather.py"
TEST_LOD = "tests/tensors/test_lod.py tests/test_errors.py"
TEST_RECYCLING = "tests/base/test_recycling.py"

MUTANTS = [
    Mutant(
        "bools-may-be-anything",
        "lodcore/base/archives.py",
        '    elif dtype.kind == "b" and len(data) and data.max() > 1:',
        '    elif dtype.kind == "b" and len(data) and data.max() > 9:',
        "tests/interop/files/test_storage.py",
    ),
    Mutant("unsigned-wraps", BUFFERS, "array.max() > INT64_MAX:", "array.max() > 2**64 - 1:", TEST_LOD),
    Mutant(
        "huge-int-becomes-minus-one",
        BUFFERS,
        "            if overflow:\n",
        "            if overflow and number < 0:\n",
        TEST_LOD,
    ),
    Mutant(
        "views-of-read-only-rows-writable",
        BUFFERS,
        ("cnp.PyArray_BYTES(array) + start * cnp.PyArray_STRIDE(array, 0), cnp.PyArray_ISWRITEABLE(array))"),
        "cnp.PyArray_BYTES(array) + start * cnp.PyArray_STRIDE(array, 0), True)",
        "tests/tensors/test_tensor.py",
    ),
    Mutant(
        "our-own-line-is-named",
        "lodcore/base/caller.pyx",
        'frozenset(("lodcore", "numpy", "contextlib", "functools"))',
        'frozenset(("numpy", "contextlib", "functools"))',
        "tests/numpy_api/test_warnings.py",
    ),
    Mutant("out-overlaps-an-input", MEMORY, "np.may_share_memory(out, given):", "out is given:", TEST_ERRORS),
    Mutant("out-is-read-only", MEMORY, "if not out.flags.writeable:", "if not out.flags.aligned:", TEST_ERRORS),
    Mutant(
        "neighbours-across-borders",
        "lodcore/base/other_names.py",
        '"trapezoid": "((x[:, 1:] + x[:, :-1]) / 2).sum(axis=1)"',
        '"trapezoid": "x.with_values((x.values[1:] + x.values[:-1]) / 2).sum(axis=1)"',
        "tests/numpy_api/test_advice.py",
    ),
    Mutant("blocks-a-quarter-too-small", RECYCLING, "(quarter + 1) * step;", "quarter * step;", TEST_RECYCLING),
    Mutant("one-list-for-two-sizes", RECYCLING, "+ (int)quarter;", "+ (int)(quarter | 1);", TEST_RECYCLING),
    Mutant(
        "block-stays-in-its-list",
        RECYCLING,
        "            lodcore_kept[list] = block->next;\n            lodcore_on_call_bytes -= block->on_call;\n",
        "            lodcore_on_call_bytes -= block->on_call;\n",
        TEST_RECYCLING,
    ),
    Mutant(
        "zeros-that-are-none",
        RECYCLING,
        "memset(lodcore_used(block, size, whole), 0, size)",
        "lodcore_used(block, size, whole)",
        TEST_RECYCLING,
    ),
    Mutant(
        "resized-to-less-than-its-list",
        RECYCLING,
        "    (void)lodcore_list(size, &whole);\n",
        "    whole = size;\n",
        TEST_RECYCLING,
    ),
]
