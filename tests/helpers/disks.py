"""What a writer does to files, step by step: recorded, stopped at any step, or replayed as after a loss of power."""

import contextlib
import errno
import json
import os
import random
import shutil
import signal
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from lodcore.base import files


class Step(NamedTuple):
    """One change of files that a writer makes, or one that makes changes durable."""

    kind: str  # create, write, truncate, sync, sync_folder, replace, unlink, mkdir, rmdir
    path: str
    other: str = ""  # the new name
    place: int = 0  # of the bytes that are written, or the new size
    data: bytes = b""


@contextlib.contextmanager
def watched(before):
    """Call a function before each step; what it returns for a write is the number of bytes to write before SIGKILL."""

    class Watched(files.Opened):
        def __init__(self, path, mode, **options):
            if mode in ("x", "a") and not os.path.lexists(path):
                before(Step("create", path))
            super().__init__(path, mode, **options)

        def write(self, data):
            cut = before(Step("write", self.name, place=self.tell(), data=bytes(data)))
            if cut is not None:
                super().write(bytes(data)[:cut])
                os.kill(os.getpid(), signal.SIGKILL)
            return super().write(data)

        def truncate(self, size=None):
            before(Step("truncate", self.name, place=size))
            return super().truncate(size)

    def fsync(handle):
        path = os.readlink(f"/proc/self/fd/{handle}")
        before(Step("sync_folder" if os.path.isdir(path) else "sync", path))

    def one(kind, real):
        return lambda path, *more, **options: (before(Step(kind, path, *map(_name, more))), real(path, *more))[1]

    made = {kind: one(kind, getattr(os, kind)) for kind in ("replace", "rename", "unlink", "mkdir", "rmdir")}
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(files, "Opened", Watched))
        for name, function in {**made, "fsync": fsync}.items():
            stack.enter_context(mock.patch.object(os, name, function))
        yield


def _name(given):
    return given if isinstance(given, str) else ""


def steps_of(act):
    """Return the steps of a call."""
    steps = []
    with watched(steps.append):
        act()
    return steps


def failing_at(act, number):
    """Run a call on a disk that is full at a step, if that needs space; return whether it failed."""
    count = [0]

    def before(step):
        count[0] += 1
        if count[0] == number and step.kind not in ("unlink", "rmdir"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with watched(before):
        try:
            act()
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            return True
    return False


def interrupted_at(act, number):
    """Run a call with Ctrl-C before a step; return whether it was interrupted."""
    count = [0]

    def before(step):
        count[0] += 1
        if count[0] == number:
            raise KeyboardInterrupt

    with watched(before), contextlib.suppress(KeyboardInterrupt):
        act()
        return False
    return True


def killed_at(act, number, cut=None):
    """Run a call in a child that is killed before a step, or within it; return whether it was killed."""
    child = os.fork()
    if not child:
        count = [0]

        def before(step):
            count[0] += 1
            if count[0] != number:
                return None
            if cut is not None and step.kind == "write":
                return int(cut * len(step.data))
            return os.kill(os.getpid(), signal.SIGKILL)

        with watched(before), contextlib.suppress(BaseException):
            act()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def named(name):
    """Return the names of the files that a folder of `lodcore.save` should have."""
    body = json.loads(json.loads((name / "manifest.json").read_bytes())["content"])
    levels = [level for structure in body["lods"] for level in structure["offsets"]]
    return {"manifest.json", "lock", *(stored["file"] for stored in [*body["arrays"].values(), *levels])}


class Disk:
    """A model of a file system that keeps what was synchronized, and any part of the rest.

    Parameters
    ----------
    root : Path
        The folder that it holds, with its contents, which are durable.
    """

    def __init__(self, root):
        self.root = str(root)
        self.start = {str(path): None if path.is_dir() else path.read_bytes() for path in Path(root).rglob("*")}

    def after(self, steps, lost, torn=None):
        """Return the files after a loss of power behind the steps.

        Entries of folders, and the bytes of files, become durable independently of each other.

        Parameters
        ----------
        steps : list of Step
        lost : set of int
            The numbers of the steps without effect.
        torn : Random, optional
            How many bytes of a write that was not synced are kept; by default all.
        """
        durable = self.durable(steps)
        entries, data = dict.fromkeys(self.start), {}
        for path, content in self.start.items():
            entries[path] = number = len(data)
            data[number] = content
        names = dict(entries)  # as the writer sees them
        for j, step in enumerate(steps):
            kept = j not in lost
            if step.kind in ("create", "mkdir"):
                number = len(data)
                data[number] = b"" if step.kind == "create" else None
                names[step.path] = number
                if kept:
                    entries[step.path] = number
            elif step.kind in ("write", "truncate"):
                number = names[step.path]
                if kept:
                    data[number] = self._changed(data[number], step, torn if j not in durable else None)
            elif step.kind == "replace":
                self._renamed(names, step)
                if kept:
                    self._renamed(entries, step)
                    entries[step.other] = names[step.other]
            elif step.kind in ("unlink", "rmdir"):
                names.pop(step.path, None)
                if kept:
                    entries.pop(step.path, None)
        return {path: data[number] for path, number in entries.items()}

    @staticmethod
    def _renamed(entries, step):
        for name in [name for name in entries if name == step.path or name.startswith(f"{step.path}/")]:
            entries[step.other + name[len(step.path) :]] = entries.pop(name)

    @staticmethod
    def _changed(content, step, torn):
        if step.kind == "truncate":
            return content[: step.place].ljust(step.place, b"\0")
        data = step.data if torn is None else step.data[: torn.randint(0, len(step.data))]
        return content[: step.place].ljust(step.place, b"\0") + data + content[step.place + len(data) :]

    def durable(self, steps):
        """Return the numbers of the steps that later ones have made durable."""
        durable, names = set(), {}
        for j, step in enumerate(steps):
            if step.kind == "sync_folder":
                durable |= {
                    k for k in range(j)
                    if steps[k].kind in ("create", "mkdir", "unlink", "rmdir", "replace")
                    and step.path in (os.path.dirname(steps[k].path), os.path.dirname(steps[k].other))
                }  # fmt: skip
            elif step.kind == "sync":
                file = self._file(names, step.path)
                durable |= {
                    k for k in range(j) if steps[k].kind in ("write", "truncate") and names.get(k) == file
                }  # fmt: skip
            if step.kind in ("write", "truncate"):
                names[j] = self._file(names, step.path)
            if step.kind == "create":
                names[step.path] = f"{step.path} of step {j}"
            elif step.kind == "replace":
                for name in [n for n in names if isinstance(n, str) and (n + "/").startswith(step.path + "/")]:
                    names[step.other + name[len(step.path) :]] = names.pop(name)
        return durable

    @staticmethod
    def _file(names, path):
        return names.get(path, path)

    def put(self, found):
        """Make the files of a state."""
        shutil.rmtree(self.root)
        os.mkdir(self.root)
        for path in sorted(found):
            if os.path.isdir(os.path.dirname(path)):  # otherwise the folder was lost, with what is in it
                if found[path] is None:
                    os.mkdir(path)
                else:
                    Path(path).write_bytes(found[path])


def losses(root, act, random_ones=1, seed=0):
    """Lose power behind each step of a call, and yield the numbers of the steps until then and of all.

    Behind each step, all that was not synchronized is lost, or nothing, or one step, or all but one, or any.
    """
    disk, generator = Disk(root), random.Random(seed)
    steps = steps_of(act)
    changes = ("sync", "sync_folder")
    for end in range(len(steps) + 1):
        durable = disk.durable(steps[:end])
        loose = {j for j in range(end) if j not in durable and steps[j].kind not in changes}
        choices = [set(), loose, *({j} for j in loose), *(loose - {j} for j in loose)]
        for lost in {frozenset(one) for one in choices}:
            disk.put(disk.after(steps[:end], lost))
            yield end, len(steps)
        for _ in range(random_ones):
            disk.put(disk.after(steps[:end], {j for j in loose if generator.random() < 0.5}, generator))
            yield end, len(steps)
