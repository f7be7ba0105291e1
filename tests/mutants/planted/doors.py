"""The doors to other libraries, and files."""

from tests.mutants.mutant import Mutant

ARROW_IN = "lodcore/interop/arrow/importing.py"
ARROW_READ = "lodcore/interop/arrow/reading.pyx"
ARCHIVES = "lodcore/base/archives.py"
MANIFEST = "lodcore/interop/files/manifest.py"
STORES = "tests/interop/files/test_folder.py"
WRITER = "lodcore/interop/files/folder_writer.py"
PARTS = "lodcore/interop/arrow/parts.py"
WRITE = "lodcore/interop/arrow/writing.pyx"
HOSTILE = "tests/interop/arrow/test_invalid_arrays.py"

MUTANTS = [
    Mutant(
        "offsets-are-checked-against-the-first-of-a-block",
        "lodcore/kernels/foreign_data.pyx",
        "        before = place[chunk - 1]\n        if first[0] != 0",
        "        before = first[0]\n        if first[0] != 0",
        "tests/kernels/test_foreign_data.py",
    ),
    Mutant(
        "sums-forget-what-was-before",
        "lodcore/kernels/foreign_data.pyx",
        "        lanes[7] = total  #",
        "        lanes[7] = 0  #",
        "tests/kernels/test_foreign_data.py",
    ),
    Mutant(
        "a-list-may-end-behind-its-child",
        ARROW_IN,
        '    if last > child.length:\n        raise LoDError(f"{WHERE}{column.path}: offsets: end',
        '    if last > child.length + 1:\n        raise LoDError(f"{WHERE}{column.path}: offsets: end',
        HOSTILE,
    ),
    Mutant(
        "a-struct-may-be-longer-than-its-fields",
        ARROW_IN,
        "if column.length and child.length < last:",
        "if column.length and child.length < last - 1:",
        HOSTILE,
    ),
    Mutant(
        "the-offset-of-a-slice-is-forgotten",
        ARROW_IN,
        "    values: Array = column.buffer(1, found.dtype, column.offset + start, column.offset + stop)",
        "    values: Array = column.buffer(1, found.dtype, start, stop)",
        "tests/interop/arrow/test_interface.py",
    ),
    Mutant(
        "a-capsule-is-not-emptied",
        ARROW_READ,
        "    lender.array = array[0]\n    array.release = NULL\n",
        "    lender.array = array[0]\n",
        HOSTILE,
    ),
    Mutant(
        "arrays-are-never-released",
        ARROW_READ,
        "                self.array.release(&self.array)",
        "                pass",
        HOSTILE,
    ),
    Mutant(
        "any-depth-is-read",
        ARROW_READ,
        "    if depth > DEEPEST:",
        "    if depth > 1000:",
        HOSTILE,
    ),
    Mutant(
        "values-in-odd-places-are-not-copied",
        ARROW_READ,
        "        if place % <uintptr_t> kind.alignment == 0:",
        "        if True:",
        HOSTILE,
    ),
    Mutant(
        "what-goes-out-is-held-twice",
        WRITE,
        "    Py_INCREF(node)\n    made.private_data = <void*> node\n",
        "    Py_INCREF(node)\n    Py_INCREF(node)\n    made.private_data = <void*> node\n",
        "tests/interop/arrow/test_interface.py",
    ),
    Mutant(
        "an-appended-folder-keeps-torn-bytes",
        WRITER,
        "                opened.truncate(size)\n                opened.seek(size)\n",
        "                opened.seek(0, os.SEEK_END)\n",
        "tests/interop/files/test_storage.py",
    ),
    Mutant(
        "a-manifest-is-written-in-place",
        WRITER,
        "        os.replace(path + NEW, path)\n",
        "        files.remove(path)\n        os.rename(path + NEW, path)\n",
        STORES,
    ),
    Mutant(
        "a-writer-records-nothing",
        WRITER,
        "    _put(place, RECORD, record(replaced | {stored.file for stored in manifest.stored}))\n",
        "",
        STORES,
    ),
    Mutant(
        "a-manifest-is-there-before-its-files",
        WRITER,
        "    files.sync_folder(place)\n    _commit(where, place, manifest, held)\n",
        "    _commit(where, place, manifest, held)\n",
        STORES,
    ),
    Mutant(
        "what-is-replaced-goes-before-its-manifest-is-durable",
        WRITER,
        "        raise\n    files.sync_folder(place)\n",
        "        raise\n",
        STORES,
    ),
    Mutant(
        "bools-may-be-anything",
        ARCHIVES,
        '    elif dtype.kind == "b" and len(data) and data.max() > 1:',
        '    elif dtype.kind == "b" and len(data) and data.max() > 9:',
        "tests/interop/files/test_storage.py",
    ),
    Mutant(
        "memory-of-files-is-lent",
        "lodcore/interop/foreign_data.py",
        "    return not isinstance(base, (bytes, mmap.mmap))",
        "    return not isinstance(base, bytes)",
        "tests/interop/test_doors.py",
    ),
]
