"""Other libraries, Arrow and files."""

from tests.mutants.mutant import Mutant

FOLDER_WRITER = "lodcore/interop/files/folder_writer.py"
IMPORTING = "lodcore/interop/arrow/importing.py"

TEST_DOORS = "tests/interop/test_conversions.py"
TEST_INTERFACE = "tests/interop/arrow/test_interface.py"

MUTANTS = [
    Mutant(
        "the-offset-of-a-slice-is-forgotten",
        IMPORTING,
        "    values: Array = column.buffer(1, found.dtype, column.offset + start, column.offset + stop)",
        "    values: Array = column.buffer(1, found.dtype, start, stop)",
        TEST_INTERFACE,
    ),
    Mutant(
        "hidden-list-views-keep-their-size",
        IMPORTING,
        "        begins[~there], sizes[~there] = 0, 0",
        "        begins[~there] = 0",
        TEST_INTERFACE,
    ),
    Mutant(
        "any-depth-is-read",
        "lodcore/interop/arrow/reading.pyx",
        "    if depth > DEEPEST:",
        "    if depth > 1000:",
        "tests/interop/arrow/test_invalid_arrays.py",
    ),
    Mutant(
        "what-goes-out-is-held-twice",
        "lodcore/interop/arrow/writing.pyx",
        "    Py_INCREF(node)\n    made.private_data = <void*> node\n",
        "    Py_INCREF(node)\n    Py_INCREF(node)\n    made.private_data = <void*> node\n",
        TEST_INTERFACE,
    ),
    Mutant(
        "an-appended-folder-keeps-torn-bytes",
        FOLDER_WRITER,
        "                opened.truncate(size)\n                opened.seek(size)\n",
        "                opened.seek(0, os.SEEK_END)\n",
        "tests/interop/files/test_storage.py",
    ),
    Mutant(
        "a-manifest-is-written-in-place",
        FOLDER_WRITER,
        "        os.replace(path + NEW, path)\n",
        "        files.remove(path)\n        os.rename(path + NEW, path)\n",
        "tests/interop/files/test_folder.py",
    ),
    Mutant(
        "indices-beyond-the-height-are-read",
        "lodcore/interop/files/tree_data.py",
        'int(node["height"], 16))',
        "2**40)",
        "tests/nn",
    ),
    Mutant(
        "memory-of-files-is-lent",
        "lodcore/interop/foreign_data.py",
        "    return not isinstance(base, (bytes, mmap.mmap))",
        "    return not isinstance(base, bytes)",
        TEST_DOORS,
    ),
    Mutant(
        "rows-are-numbered-from-the-outermost-sequence",
        "lodcore/interop/tables.py",
        "                place = lod_body.slice_levels(lod, level - 1, level).positions(0)",
        "                place = lod_body.slice_levels(lod, 0, level).positions(0)",
        TEST_DOORS,
    ),
]
