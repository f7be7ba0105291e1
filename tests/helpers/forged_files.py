"""Archives and manifests that are written by hand."""

import io
import json
import zipfile
import zlib

import numpy as np


def archive_of(members, manifest=None, method=zipfile.ZIP_STORED):
    """Write an .npz file of members, which are arrays or bytes, with a manifest, which is text or data."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as opened:
        for name, content in members.items():
            if isinstance(content, np.ndarray):
                part = io.BytesIO()
                np.lib.format.write_array(part, content, allow_pickle=True)
                content = part.getvalue()
            opened.writestr(name, content)
        if manifest is not None:
            opened.writestr("lodcore.json", manifest if isinstance(manifest, str) else json.dumps(manifest))
    file.seek(0)
    return file


def manifest_of(tree, lods=(), **changes):
    """Make the manifest of an .npz file."""
    return {"format": "lodcore", "version": 1, "tree": tree, "lods": lods, **changes}


def array_bytes(header, data=b"", version=b"\1\0"):
    """Write an array of the format of NumPy by hand."""
    text = header.encode("latin-1")
    size = len(text).to_bytes(2 if version == b"\1\0" else 4, "little")
    return b"\x93NUMPY" + version + size + text + data


def described(descr, shape, data=b"", fortran_order="False"):
    """Write an array by hand whose header has these texts."""
    return array_bytes(f"{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {shape}}}\n", data)


def body_of(folder):
    """Return the manifest of a folder."""
    return json.loads(json.loads((folder / "manifest.json").read_bytes())["content"])


def write_checked(path, body, checksum=None):
    """Write data, or text, as a manifest or a record of a writer, with its checksum or another one."""
    text = body if isinstance(body, str) else json.dumps(body)
    checked = {"checksum": zlib.crc32(text.encode()) if checksum is None else checksum, "content": text}
    path.write_text(json.dumps(checked), encoding="utf-8")
