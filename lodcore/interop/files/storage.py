"""Files: a tree, and Programs in it, in one .npz file, or in a folder that is mapped into memory and can grow."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterable
from typing import Any

from lodcore.base import files
from lodcore.base.archives import Whole
from lodcore.base.drafts import replace
from lodcore.base.memory import flag
from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.files.folder import is_folder, read_folder
from lodcore.interop.files.folder_writer import append_to_folder, write_folder
from lodcore.interop.files.npz import read_npz, write_npz
from lodcore.interop.files.tree_data import Packed, pack
from lodcore.interop.files.workers import send_names

__all__ = ["append", "load", "save"]


#: Ends of names of other formats, and what writes those.
OTHER_FORMATS = {
    **dict.fromkeys((".parquet", ".arrow", ".feather", ".csv"), "lodcore.to_arrow(x), which pyarrow writes"),
    ".json": "x.tolist()",
    ".npy": "numpy.save",
    **dict.fromkeys((".h5", ".hdf5", ".zarr"), "lodcore.interop.save_to_group"),
    **dict.fromkeys((".pt", ".pth"), "lodcore.to_torch(x), which torch.save writes"),
}


def save(file: Any, tree: Any, scope: Any = None, *, form: str | None = None, compress: bool = False) -> None:
    """Save a tree of arrays, LoDTensors, SparseTensors and Programs, without pickles.

    Parameters
    ----------
    file : str, path or binary file
        A new file takes over the permissions of the one that it replaces; a link stays, and its target is replaced.
    tree : LoDTensor, SparseTensor, ndarray, number, str, bytes, bool, None; dict, list or tuple of trees
        Keys are str or int. LoDs and arrays that occur several times are shared again after loading. An object of a
        subclass of ndarray, such as numpy.memmap, numpy.recarray or numpy.matrix, is saved as an array of its values,
        but for a masked array, which is refused. A tree may have
        Programs (of `lodcore.graph`), Generators of NumPy with their states and seeds, and optimizers of `lodcore.nn`,
        too.
    scope : Scope, optional
        The Scope of an Executor: the parameters of Programs are saved with the values that they have there, instead of
        their initial ones.
    form : {"npz", "folder"}, optional
        One file, whose arrays `numpy.load` can read; or a folder, whose values `load` maps into memory, and to which
        `append` adds sequences. By default a folder if the name ends with a separator or ".lod", or the folder exists.
    compress : bool
        Whether to compress the arrays, for one file only.

    Raises
    ------
    DTypeError
        If a part of the tree cannot be saved; the message names it. In a Program these are the code of Python
        functions, such as a learning rate that is a lambda, and operators that are not at the top level of a module.
    LoDError
        If the name is that of a pipe or a device, or of a folder whose manifest is of a later version.
    ValueError
        If there is no `form`, and the name ends as those of another format do, such as ".parquet".
    FileExistsError
        If the folder holds files other than rows (``*.bin``), which are left as they are.
    BlockingIOError
        If another process or thread is writing to the folder.
    OSError
        If the file cannot be written. The previous contents are replaced atomically, or kept; nothing half-written
        stays.

    Examples
    --------
    >>> import lodcore, os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> name = os.path.join(folder.name, "batch.npz")
    >>> lodcore.save(name, {"words": lodcore.array([[1, 2], [3]]), "epoch": 3})
    >>> lodcore.load(name)
    {'words': LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]]), 'epoch': 3}

    A Program runs without the code that made it; results are fetched by name:

    >>> from lodcore.graph import Executor, Program, data, parameter
    >>> with Program() as program:
    ...     y = lodcore.mul(data("x", (None,), "float64", num_levels=1), parameter(2.0, "w"), name="y")
    >>> lodcore.save(name, program)
    >>> Executor().run(lodcore.load(name), feed={"x": [[1.0], [2.0, 3.0]]}, fetch=["y"])
    [LoDTensor(2 sequences of lengths 1..2, float64: [[2.], [4., 6.]])]
    >>> folder.cleanup()
    """
    where = "lodcore.save"
    compress = flag(f"{where}: compress", compress)
    if scope is not None and not callable(getattr(scope, "snapshot", None)):
        raise DTypeError(f"{where}: scope: is {type(scope).__name__}; a Scope is needed, such as that of an Executor")
    packed = pack(where, tree, scope)
    if hasattr(file, "write"):
        if form == "folder":
            raise ValueError(f"{where}: file: is open; the name of a folder is needed")
        write_npz(where, Whole(where, file), packed, compress)
        return
    name = _name(where, file)
    if form not in (None, "npz", "folder"):
        raise ValueError(f'{where}: form: is {form!r}; "npz" or "folder" is needed')
    if form is None:
        other = os.path.splitext(name)[1].lower()
        if other in OTHER_FORMATS:
            raise ValueError(
                f"{where}: file: is {name!r}; {other} is another format, for which there is {OTHER_FORMATS[other]}; "
                'form="npz" or "folder" writes this name in a format of lodcore'
            )
        ends = name.endswith((os.sep, ".lod")) or os.path.isdir(name)
        form = "folder" if ends else "npz"
    if form == "folder":
        if compress:
            raise ValueError(f"{where}: compress: is True; what is mapped into memory cannot be compressed")
        write_folder(where, name.rstrip(os.sep), packed)
        return
    if os.path.isdir(name):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    replace(where, name, lambda draft: _write_file(where, draft, packed, compress))


def _write_file(where: str, path: str, packed: Packed, compress: bool) -> None:
    with io.BufferedWriter(files.create(path)) as opened:
        write_npz(where, opened, packed, compress)


def load(file: Any, *, verify: bool = False, operators: Iterable[Any] = ()) -> Any:
    """Load a tree from a file written by `save`, or from an .npz file with values, offsets_0, offsets_1, ...

    Parameters
    ----------
    file : str, path or binary file
        The values of a folder are mapped into memory, read-only: they use memory, shared by processes, only when they
        are read. Offsets are copied and checked. Nothing is unpickled.
    verify : bool
        Whether to read a whole folder and compare it with its checksums; the checksums of one file are always compared.
    operators : list of str, optional
        Modules to import, for user-defined operators of a Program in the file. Others are taken from modules that are
        already imported; a file never decides what is imported.

    Returns
    -------
    tree
        The saved values of parameters are the initial ones of Programs. Generators continue from their states, and
        spawn the children that come next; if the seed is not in the file, which may be older, or is not a
        `numpy.random.SeedSequence`, children are derived from the state.

    Raises
    ------
    LoDError, DTypeError
        If the file is damaged, or not a regular one, or a Program needs a missing operator, or is of a later version;
        the message names the part.
    OSError
        If the file cannot be read.

    Notes
    -----
    Loading a Program runs nothing of it; SECURITY.md says what running a foreign one can do.

    The files of a folder must not be shortened while they are mapped, since reading past the end of a file crashes the
    process. `save` and `append` never do that: what is mapped stays as it is while the folder is written again, and a
    folder can be loaded while it is written; the last finished state is found.

    A mapped LoDTensor that multiprocessing sends to a worker is mapped there from the same files; neither its values
    nor its offsets are sent. A worker that does not find this save raises an error. A plain pickle has the data.

    Examples
    --------
    >>> import lodcore, os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> name = os.path.join(folder.name, "corpus.lod")
    >>> lodcore.save(name, lodcore.array([[1, 2], [3]]))
    >>> lodcore.append(name, lodcore.array([[], [4]]))
    >>> lodcore.load(name)
    LoDTensor(4 sequences of lengths 0..2, int64: [[1, 2], [3], [], [4]])
    >>> folder.cleanup()
    """
    where = "lodcore.load"
    verify = flag(f"{where}: verify", verify)
    if operators:
        from lodcore.interop.files.program_operators import imported

        imported(where, operators)
    if hasattr(file, "read"):
        return read_npz(f"{where}: {getattr(file, 'name', 'file')}", file)
    name = _name(where, file)
    if is_folder(name):
        send_names()
        return read_folder(f"{where}: {name}", name.rstrip(os.sep), verify)
    with io.BufferedReader(files.regular(f"{where}: {name}", name)) as opened:
        return read_npz(f"{where}: {name}", opened)


def append(file: Any, tree: Any) -> None:
    """Append sequences to a folder, written by `save`, of one LoDTensor or a dict of LoDTensors.

    Parameters
    ----------
    file : str or path
    tree : LoDTensor, or dict of LoDTensor
        Must have the keys, in any order, dtypes, row shapes and levels of the stored tensors, and LoDs shared by the
        same entries.

    Raises
    ------
    LoDError, DTypeError
        If the tree does not fit; nothing is written in this case.
    BlockingIOError
        If another process or thread is writing to the folder.
    OSError
        If the rows cannot be written; then the folder is as before.

    Notes
    -----
    New bytes are written after the existing ones, and become valid when a new manifest atomically replaces the old
    one. A crash before that leaves the folder unchanged; processes that have mapped the folder are not affected.

    Examples
    --------
    >>> import lodcore, os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> name = os.path.join(folder.name, "corpus.lod")
    >>> lodcore.save(name, {"words": lodcore.array([[1, 2]])})
    >>> lodcore.append(name, {"words": lodcore.array([[3]])})
    >>> lodcore.load(name)["words"].tolist()
    [[1, 2], [3]]
    >>> folder.cleanup()
    """
    where = "lodcore.append"
    append_to_folder(where, _name(where, file).rstrip(os.sep), tree)


def _name(where: str, file: Any) -> str:
    """Return the name of a file."""
    try:
        name = os.fspath(file)
    except TypeError:
        raise DTypeError(f"{where}: file: is {type(file).__name__}; a name or an open file is needed") from None
    if not name:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    try:
        ends = b"\0" in os.fsencode(name)
    except UnicodeEncodeError:
        ends = True
    if ends:
        raise LoDError(f"{where}: file: is {described(name)}, which no file is called")
    return os.fsdecode(name)
