"""`python -m lodcore inspect` ends with one clear line, for any content of the file, and any reader of the output."""

import os
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import lodcore
from tests.helpers.processes import environment
from tests.robustness.programs import ROOT

pytestmark = pytest.mark.not_on_reference


def header(text):
    """Make a file of one array whose header is this text."""
    body = text if isinstance(text, bytes) else text.encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body + b"\x00" * 64


HEADERS = {
    "no literal": "__import__('os').abort()",
    "no dict": "[1, 2]",
    "an unknown dtype": "{'descr': 'Q9z', 'fortran_order': False, 'shape': (1,)}",
    "a dtype of itself": "{'descr': [('a', [('a', '<f8')] * 3)], 'fortran_order': False, 'shape': (1,)}",
    "an endless shape": "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904)}",
    "a negative shape": "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
    "a shape of words": "{'descr': '<f8', 'fortran_order': False, 'shape': ('a',)}",
    "deep brackets": "{'descr': " + "[" * 3000 + "]" * 3000 + "}",
    "unclosed": "{'descr': '<f8', 'fortran_order': (",
    "nothing": "",
    "null bytes": b"\x00" * 40,
    "no text": b"\xff\xfe" * 40,
    "objects": "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "a huge number": "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",)}",
    "a dtype of many bytes": "{'descr': '|V9223372036854775807', 'fortran_order': False, 'shape': (1,)}",
}


def inspected(path, **options):
    """Run the command in a separate process."""
    return subprocess.run(
        [sys.executable, "-m", "lodcore", "inspect", str(path)],
        cwd=ROOT,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=600,
        check=False,
        **options,
    )


def archive(path, entries):
    with zipfile.ZipFile(path, "w") as made:
        for name, content in entries.items():
            made.writestr(name, content)


@pytest.mark.parametrize("member", ["values.npy", "offsets_0.npy"])
@pytest.mark.parametrize("name", HEADERS)
def test_inspect_of_archives_with_hostile_headers_ends_with_one_line(name, member, tmp_path, capsys):
    from lodcore.__main__ import main

    right = header("{'descr': '<i8', 'fortran_order': False, 'shape': (1,)}")
    entries = {"values.npy": right, "offsets_0.npy": right, member: header(HEADERS[name])}
    archive(tmp_path / "x.npz", entries)
    assert main(["inspect", str(tmp_path / "x.npz")]) == 1
    shown = capsys.readouterr()
    assert not shown.out
    assert shown.err.startswith("lodcore inspect: ")
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x05\x06" + b"\xff" * 18,
        b"PK\x03\x04" + b"\xff" * 200,
        b"ARROW1\x00\x00" + b"\xff" * 100,
        b"PAR1" + b"\x00" * 40 + b"\xff\xff\xff\x7fPAR1",
        b"\x93NUMPY\x09\x09\xff\xff",
        os.urandom(1000),
    ],
    ids=["end of zip", "zip", "arrow", "parquet", "array", "noise"],
)
def test_inspect_of_files_that_are_no_archives_ends_with_one_line(content, tmp_path):
    path = tmp_path / "file.npz"
    path.write_bytes(content)
    done = inspected(path, stdout=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("lodcore inspect: ")
    assert done.stderr.count("\n") == 1


def test_inspect_with_a_closed_pipe_ends_with_code_1(tmp_path):
    lodcore.save(tmp_path / "x.npz", lodcore.LoDTensor.from_lengths(np.arange(6.0), [2, 4]))
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = inspected(tmp_path / "x.npz", stdout=writing)
    finally:
        os.close(writing)
    assert done.returncode == 1
    assert done.stderr == "lodcore inspect: the output was closed before all was written\n"
