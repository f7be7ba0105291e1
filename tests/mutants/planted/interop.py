"""Other libraries, Arrow and files."""

DEFECTS = {
    ("lodcore/interop/arrow/importing.py", "tests/interop/arrow/test_interface.py"): [
        (
            "the-offset-of-a-slice-is-forgotten",
            "    values: Array = column.buffer(1, found.dtype, column.offset + start, column.offset + stop)",
            "    values: Array = column.buffer(1, found.dtype, start, stop)",
        ),
        (
            "hidden-list-views-keep-their-size",
            "        begins[~there], sizes[~there] = 0, 0",
            "        begins[~there] = 0",
        ),
    ],
    ("lodcore/interop/arrow/reading.pyx", "tests/interop/arrow/test_invalid_arrays.py"): [
        ("any-depth-is-read", "    if depth > DEEPEST:", "    if depth > 1000:"),
    ],
    ("lodcore/interop/arrow/writing.pyx", "tests/interop/arrow/test_interface.py"): [
        (
            "what-goes-out-is-held-twice",
            "    Py_INCREF(node)\n    made.private_data = <void*> node\n",
            "    Py_INCREF(node)\n    Py_INCREF(node)\n    made.private_data = <void*> node\n",
        ),
    ],
    ("lodcore/interop/files/folder_writer.py", "tests/interop/files/test_storage.py"): [
        (
            "an-appended-folder-keeps-torn-bytes",
            "                opened.truncate(size)\n                opened.seek(size)\n",
            "                opened.seek(0, os.SEEK_END)\n",
        ),
    ],
    ("lodcore/interop/files/folder_writer.py", "tests/interop/files/test_folder.py"): [
        (
            "a-manifest-is-written-in-place",
            "        os.replace(path + NEW, path)\n",
            "        files.remove(path)\n        os.rename(path + NEW, path)\n",
        ),
    ],
    ("lodcore/interop/files/tree_data.py", "tests/nn"): [
        ("indices-beyond-the-height-are-read", 'int(node["height"], 16))', "2**40)"),
    ],
    ("lodcore/interop/foreign_data.py", "tests/interop/test_conversions.py"): [
        (
            "memory-of-files-is-lent",
            "    return not isinstance(base, (bytes, mmap.mmap))",
            "    return not isinstance(base, bytes)",
        ),
    ],
    ("lodcore/interop/tables.py", "tests/interop/test_conversions.py"): [
        (
            "rows-are-numbered-from-the-outermost-sequence",
            "                place = lod_body.slice_levels(lod, level - 1, level).positions(0)",
            "                place = lod_body.slice_levels(lod, 0, level).positions(0)",
        ),
    ],
}
