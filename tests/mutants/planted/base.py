"""Memory, threads, buffers and names of other libraries."""

DEFECTS = {
    ("lodcore/base/archives.py", "tests/interop/files/test_storage.py"): [
        (
            "bools-may-be-anything",
            '    elif dtype.kind == "b" and len(data) and data.max() > 1:',
            '    elif dtype.kind == "b" and len(data) and data.max() > 9:',
        ),
    ],
    ("lodcore/base/buffers.pyx", "tests/tensors/test_lod.py tests/test_errors.py"): [
        ("unsigned-wraps", "array.max() > INT64_MAX:", "array.max() > 2**64 - 1:"),
        ("huge-int-becomes-minus-one", "            if overflow:\n", "            if overflow and number < 0:\n"),
    ],
    ("lodcore/base/buffers.pyx", "tests/tensors/test_tensor.py"): [
        (
            "views-of-read-only-rows-writable",
            "cnp.PyArray_BYTES(array) + start * cnp.PyArray_STRIDE(array, 0), cnp.PyArray_ISWRITEABLE(array))",
            "cnp.PyArray_BYTES(array) + start * cnp.PyArray_STRIDE(array, 0), True)",
        ),
    ],
    ("lodcore/base/caller.pyx", "tests/numpy_api/test_warnings.py"): [
        (
            "our-own-line-is-named",
            'frozenset(("lodcore", "numpy", "contextlib", "functools"))',
            'frozenset(("numpy", "contextlib", "functools"))',
        ),
    ],
    ("lodcore/base/memory.py", "tests/test_errors.py tests/ops/move/test_gather.py"): [
        ("out-overlaps-an-input", "np.may_share_memory(out, given):", "out is given:"),
        ("out-is-read-only", "if not out.flags.writeable:", "if not out.flags.aligned:"),
    ],
    ("lodcore/base/other_names.py", "tests/numpy_api/test_advice.py"): [
        (
            "neighbours-across-borders",
            '"trapezoid": "((x[:, 1:] + x[:, :-1]) / 2).sum(axis=1)"',
            '"trapezoid": "x.with_values((x.values[1:] + x.values[:-1]) / 2).sum(axis=1)"',
        ),
    ],
    ("lodcore/base/recycling.h", "tests/base/test_recycling.py"): [
        ("blocks-a-quarter-too-small", "(quarter + 1) * step;", "quarter * step;"),
        ("one-list-for-two-sizes", "+ (int)quarter;", "+ (int)(quarter | 1);"),
        (
            "block-stays-in-its-list",
            "            lodcore_kept[list] = block->next;\n            lodcore_on_call_bytes -= block->on_call;\n",
            "            lodcore_on_call_bytes -= block->on_call;\n",
        ),
        (
            "zeros-that-are-none",
            "memset(lodcore_used(block, size, whole), 0, size)",
            "lodcore_used(block, size, whole)",
        ),
        ("resized-to-less-than-its-list", "    (void)lodcore_list(size, &whole);\n", "    whole = size;\n"),
    ],
}
