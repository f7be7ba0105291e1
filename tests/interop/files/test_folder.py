"""A finished file is read completely, even if other writers are killed, and no partial file remains."""

import ctypes
import errno
import functools
import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, Vocabulary
from lodcore.__main__ import main
from lodcore.base import drafts, files
from lodcore.batching import PackPlan, pack_plan
from lodcore.interop.files import folder, folder_writer, manifest, npz
from tests.helpers.disks import failing_at, interrupted_at, killed_at, losses, named, steps_of, watched
from tests.helpers.forged_files import body_of, write_checked
from tests.helpers.tables import for_each

pytestmark = [
    pytest.mark.not_on_reference,
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
    pytest.mark.skipif(sys.platform != "linux", reason="the helpers find names of open files in /proc"),
]

OLD = {"x": LoDTensor.from_lengths(np.arange(40.0), [10, 0, 30]), "n": 1}
NEW = {"x": LoDTensor.from_lengths(-np.arange(60.0), [10, 20, 30]), "y": np.arange(7), "n": 2}
PART = LoDTensor.from_lengths(np.arange(5, dtype="i2"), [2, 0, 3])
PLAN, SMALL = pack_plan(PART, 5), pack_plan(PART[:1], 5)


def same(a, b):
    """Compare trees of these tests."""
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, LoDTensor):
        return isinstance(b, LoDTensor) and a.equals(b) and a.dtype == b.dtype
    return np.array_equal(a, b)


def entries(root):
    """Return the files below a folder, with their contents."""
    return {str(path.relative_to(root)): path.is_file() and path.read_bytes() for path in sorted(root.rglob("*"))}


class Case:
    """A way to write: the files before, the call, and the files that may be there afterwards."""

    def __init__(self, root, kind):
        self.root, self.kind, self.name = root, kind, root / {"folder": "x.lod", "append": "x.lod"}.get(kind, "x.npz")
        self.first()

    def first(self):
        if self.kind == "plan":
            SMALL.save(self.name)
        else:
            lodcore.save(self.name, {"x": PART} if self.kind in ("append", "pack") else OLD)
        if self.kind == "pack":
            os.rename(self.name, self.root / "in.npz")

    def act(self):
        if self.kind == "append":
            lodcore.append(self.name, {"x": PART})
        elif self.kind == "plan":
            PLAN.save(self.name)
        elif self.kind == "pack":
            given = ["--budget", "5", "--force", "--quiet", "--output", str(self.name)]
            if main(["pack", str(self.root / "in.npz"), *given]):
                raise OSError(errno.ENOSPC, "as the command says")
        else:
            lodcore.save(self.name, NEW)

    def found(self):
        """Return which of the two states is there."""
        if self.kind == "plan":
            return {1: "old", 3: "new"}[len(PackPlan.load(self.name).documents)]
        if self.kind == "pack" and not self.name.exists():
            return "old"
        found = lodcore.load(self.name, verify=True)
        if self.kind == "append":
            states = {"old": {"x": PART}, "new": {"x": lodcore.concat_batches([PART, PART])}}
        elif self.kind == "pack":
            states = {"new": PLAN.apply(PART)}
        else:
            states = {"old": OLD, "new": NEW}
        (state,) = [state for state, tree in states.items() if same(tree, found)]
        return state

    def check_clean(self):
        """Write once more, and see that nothing of dead writers is left."""
        self.act()
        found = {path.name for path in self.root.iterdir()} - {"in.npz"}
        assert found == {self.name.name}
        if self.name.is_dir():
            assert {path.name for path in self.name.iterdir()} == named(self.name)


KINDS = ["folder", "append", "npz", "plan", "pack"]


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@for_each("kind", ["folder", "append", "npz", "pack"])
def test_a_writer_that_is_killed_at_any_step(kind, tmp_path_factory, quick, capsys):
    """And, for writes, in the middle of them; to kill a process for each takes seconds."""
    steps = steps_of(Case(tmp_path_factory.mktemp("killed"), kind).act)
    places = [(k, None) for k in range(1, len(steps) + 1)]
    places += [(k, 0.5) for k, step in enumerate(steps, 1) if step.kind == "write" and len(step.data) > 20]
    case = Case(tmp_path_factory.mktemp("killed"), kind)
    for number, cut in places:
        assert killed_at(case.act, number, cut)
        state = case.found()
        assert state == "old" or number > 3
        if number % 3 == 0:
            case.check_clean()
        if state == "new" or number % 3 == 0:
            case = Case(tmp_path_factory.mktemp("killed"), kind)
    assert len(places) > 6


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a ZipFile of Python 3.10
@for_each("kind", KINDS)
def test_a_disk_that_is_full_at_any_step(kind, tmp_path_factory, quick, capsys):
    """The old file stays, and the partial one is removed at once."""
    case, number = Case(tmp_path_factory.mktemp("full"), kind), 1
    before = entries(case.root)
    failures = 0
    for number in range(1, len(steps_of(Case(tmp_path_factory.mktemp("full"), kind).act)) + 1):
        failed = failing_at(case.act, number) if kind != "pack" else failing_of_pack(case, number)
        state = case.found()
        assert state == "old" or not failed or number > 3
        if state == "old":
            assert entries(case.root) == before
            failures += failed
        else:
            case.check_clean()
            case = Case(tmp_path_factory.mktemp("full"), kind)
            before = entries(case.root)
    assert failures > 4


def failing_of_pack(case, number):
    """Run the command, which says what fails."""
    before = case.name.exists()
    given = ["--budget", "5", "--quiet", "--output", str(case.name)]
    failing_at(lambda: main(["pack", str(case.root / "in.npz"), *given]), number)
    return case.name.exists() == before


@for_each("kind", ["folder", "append", "npz", "plan"])
def test_power_that_is_lost_at_any_step(kind, tmp_path_factory, quick):
    """On a file system that keeps nothing, or any part, of what was not synchronized; to read each takes seconds."""
    case = Case(tmp_path_factory.mktemp("power"), kind)
    for number, (end, count) in enumerate(losses(case.root, case.act)):
        state = case.found()
        assert state == "new" or end < count
        if number % 5 == 0:
            case.check_clean()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a ZipFile of Python 3.10
@for_each("kind", ["folder", "append", "npz", "plan"])
def test_an_interrupt_at_any_step(kind, tmp_path_factory, quick):
    """Only Ctrl-C while something is removed leaves something for the next writer."""
    case = Case(tmp_path_factory.mktemp("interrupted"), kind)
    before = entries(case.root)
    for number, step in enumerate(steps_of(Case(tmp_path_factory.mktemp("interrupted"), kind).act), 1):
        interrupted_at(case.act, number)
        state = case.found()
        if state == "old" and step.kind not in ("unlink", "rmdir"):
            assert entries(case.root) == before
        case.check_clean()
        case = Case(tmp_path_factory.mktemp("interrupted"), kind)
        before = entries(case.root)


def test_save_of_a_manifest_larger_than_the_limit_of_load_raises(tmp_path, quick, monkeypatch):
    """Text, keys and numbers are part of the manifest, whose size is limited; so is the description of a dtype."""
    for name in ("x.npz", "x.lod"):
        lodcore.save(tmp_path / name, OLD)
        with monkeypatch.context() as patch:
            for module in (manifest, npz):
                patch.setattr(module, "LARGEST", 5000)
            with pytest.raises(LoDError, match=r"lodcore.save.*: tree: its keys, text and numbers have"):
                lodcore.save(tmp_path / name, {"text": "a" * 5000})
            lodcore.save(tmp_path / name, OLD)
            assert same(lodcore.load(tmp_path / name), OLD)
    wide = np.zeros(2, [(f"a field with a long name {k}", "f8") for k in range(400)])
    with pytest.raises(DTypeError, match="has a dtype of 400 fields, whose description is too long"):
        lodcore.save(tmp_path / "x.npz", wide)
    assert same(lodcore.load(tmp_path / "x.npz"), OLD)
    lodcore.save(tmp_path / "x.lod", wide)
    assert np.array_equal(lodcore.load(tmp_path / "x.lod"), wide)


def test_a_manifest_of_the_largest_size_is_loaded_and_a_larger_one_is_refused(tmp_path, quick, monkeypatch):
    lodcore.save(tmp_path / "x.npz", OLD)
    lodcore.save(tmp_path / "x.lod", OLD)
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        sizes = {"x.npz": archive.getinfo(npz.MANIFEST).file_size}
    sizes["x.lod"] = (tmp_path / "x.lod" / manifest.MANIFEST).stat().st_size
    for name, size in sizes.items():
        for module in (manifest, npz):
            monkeypatch.setattr(module, "LARGEST", size)
        assert same(lodcore.load(tmp_path / name), OLD)
        for module in (manifest, npz):
            monkeypatch.setattr(module, "LARGEST", size - 1)
        with pytest.raises(LoDError, match=f"{size} bytes"):
            lodcore.load(tmp_path / name)


def test_a_first_save_that_fails_leaves_nothing(tmp_path, quick):
    for count in range(1, 100):
        for place in ("a.npz", "b.lod", "new/c.lod"):
            if failing_at(lambda place=place: lodcore.save(tmp_path / place, OLD), count) and place != "a.npz":
                continue
        left = [path for path in tmp_path.iterdir() if path.name not in ("a.npz", "b.lod", "new")]
        assert not left
        if (tmp_path / "new" / "c.lod").exists() and same(lodcore.load(tmp_path / "new" / "c.lod"), OLD):
            break
        assert not (tmp_path / "new").exists()
    assert count > 8


def test_a_smaller_save_fits_on_a_disk_that_was_full(tmp_path):
    """The limit is of the size of files; a limit of disks is tried by `python -m tests.robustness.stores`."""
    name, big = tmp_path / "x.lod", LoDTensor.from_lengths(np.arange(2.0**16), [2**16])
    program = (
        "import sys, numpy as np, resource, lodcore\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, 2**14))\n"
        "name, small = sys.argv[1], lodcore.array([[1.5], [2.5, 3.5]])\n"
        "big = lodcore.LoDTensor.from_lengths(np.arange(2.0**16), [2**16])\n"
        "for call in (lodcore.save, lodcore.append) * 2:\n"
        "    for place in (name, name + '.npz') if call is lodcore.save else (name,):\n"
        "        try:\n"
        "            call(place, big)\n"
        "        except OSError as error:\n"
        "            assert error.errno == 27, error\n"
        "        else:\n"
        "            raise AssertionError\n"
        "        call(place, small)\n"
        "assert len(lodcore.load(name, verify=True)) == 4, lodcore.load(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(name)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in name.iterdir()} == named(name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.lod", "x.lod.npz"]
    lodcore.save(name, big)
    assert lodcore.load(name).equals(big)


# -- what is not ours ----------------------------------------------------------------------------------------------


def test_save_and_append_keep_files_with_other_names(tmp_path, quick):
    name = tmp_path / "x"
    name.mkdir()
    others = {"pytorch_model.bin": b"weights", "1-0.bin": b"rows", "0.bin": b"", ".nfs0001": b"gone"}
    for other, content in others.items():
        (name / other).write_bytes(content)
    lodcore.save(name, OLD)
    lodcore.save(name, {"x": PART})
    lodcore.append(name, {"x": PART})
    for number in range(1, 40, 3):
        killed_at(lambda: lodcore.save(name, {"x": PART}), number)
        failing_at(lambda: lodcore.append(name, {"x": PART}), number)
    lodcore.save(name, NEW)
    assert same(lodcore.load(name, verify=True), NEW)
    assert {path.name for path in name.iterdir()} == named(name) | others.keys()
    assert {other: (name / other).read_bytes() for other in others} == others


@for_each(
    ("entry", "content"),
    [
        ("manifest.json", b'{"name": "an app"}'),
        ("manifest.json", b"\n"),
        ("writer.json", b"[]"),
        ("manifest.json.new", b"mine"),
        ("writer.json.new", b"[]"),
        ("letter.txt", b"dear"),
        ("pytorch_model.bin.index.json", b"{}"),
    ],
)
def test_save_to_a_folder_without_a_manifest_raises_and_changes_nothing(entry, content, tmp_path_factory, quick):
    name = tmp_path_factory.mktemp("others")
    (name / entry).write_bytes(content)
    (name / "lock").write_bytes(b"a key")
    before = entries(name)
    with pytest.raises(FileExistsError, match=f"has '{entry}' in it"):
        lodcore.save(name, OLD)
    with pytest.raises(LoDError, match=r"manifest.json: is"):
        lodcore.append(name, PART)
    assert entries(name) == before
    (name / "lock").unlink()
    with pytest.raises(FileExistsError):
        lodcore.save(name, OLD)
    with pytest.raises(LoDError):
        lodcore.append(name, PART)
    assert os.listdir(name) == [entry]


def test_save_lists_files_that_it_could_not_remove_and_a_later_save_removes_them(tmp_path, quick, monkeypatch):
    """As on Windows, where a file that is mapped cannot be removed."""
    name = tmp_path / "x.lod"
    lodcore.save(name, OLD)
    first, unlink = named(name), os.unlink
    with monkeypatch.context() as patch:

        def busy(path):
            if path.endswith(".bin"):
                raise PermissionError(path)
            unlink(path)

        patch.setattr(os, "unlink", busy)
        lodcore.save(name, NEW)
        lodcore.save(name, OLD)
    assert first <= {path.name for path in name.iterdir()}
    (name / "writer.json.new").write_bytes(b"{")
    lodcore.save(name, NEW)
    assert {path.name for path in name.iterdir()} == named(name)


def test_damaged_manifests_and_records_are_saved_over(tmp_path, quick):
    name = tmp_path / "x.lod"
    lodcore.save(name, OLD)
    whole = (name / "manifest.json").read_bytes()
    record = folder_writer.record({"1-0.bin"})
    for size in range(0, len(whole), 97):
        (name / "manifest.json").write_bytes(whole[:size])
        (name / "writer.json").write_bytes(record[: size % len(record)])
        lodcore.save(name, NEW)
        assert same(lodcore.load(name, verify=True), NEW)
        assert not (name / "writer.json").exists()
    (name / "manifest.json").write_bytes(whole)
    write_checked(name / "manifest.json", body_of(name) | {"version": 2})
    before = entries(name)
    with pytest.raises(LoDError, match="has version 2"):
        lodcore.save(name, NEW)
    assert entries(name) == before


def test_a_record_names_rows_only(tmp_path, quick):
    """Whatever it says, nothing else is removed."""
    name = tmp_path / "x.lod"
    lodcore.save(name, OLD)
    (tmp_path / "mine.bin").write_bytes(b"1")
    for names in (["../mine.bin"], ["manifest.json"], [3], "lock", None, [["a.bin"]]):
        write_checked(name / "writer.json", {"format": "lodcore writer", "version": 1, "files": names})
        lodcore.save(name, OLD)
        assert same(lodcore.load(name, verify=True), OLD)
        assert (tmp_path / "mine.bin").exists()


def test_folders_of_earlier_versions(tmp_path, quick):
    """Their files have other names, and a dead writer left a part of a manifest, and rows that nothing names."""
    name = tmp_path / "x.lod"
    lodcore.save(name, {"x": PART})
    mark = (set(named(name)) - {"manifest.json", "lock"}).pop().partition("-")[0]
    write_checked(name / "manifest.json", json.dumps(body_of(name)).replace(f"{mark}-", "7-"))
    for path in name.glob("*.bin"):
        path.rename(name / path.name.replace(mark, "7"))
    (name / "manifest.json.new").write_bytes(b'{"chec')
    (name / "8-0.bin").write_bytes(b"rows")
    assert same(lodcore.load(name, verify=True), {"x": PART})
    lodcore.append(name, {"x": PART})
    both = {"x": lodcore.concat_batches([PART, PART])}
    assert same(lodcore.load(name, verify=True), both)
    lodcore.save(name, OLD)
    assert same(lodcore.load(name, verify=True), OLD)
    assert {path.name for path in name.iterdir()} == named(name) | {"8-0.bin"}


# -- readers -------------------------------------------------------------------------------------------------------


def test_a_reader_that_loses_every_race(tmp_path, quick, monkeypatch):
    """Between its manifest and each of its files, a writer saves again and again, and appends."""
    name, turn = tmp_path / "x.lod", [0]
    lodcore.save(name, {"x": PART})
    parse = folder.parse_manifest

    def slow(where, data):
        found = parse(where, data)
        turn[0] += 1
        if turn[0] < 12:
            lodcore.save(name, {"x": PART + turn[0]})
            if turn[0] % 3 == 0:
                lodcore.append(name, {"x": PART})
        return found

    monkeypatch.setattr(folder, "parse_manifest", slow)
    assert same(lodcore.load(name, verify=True), {"x": PART + 11})
    assert turn == [12]
    (name / "manifest.json").unlink()
    with pytest.raises(LoDError, match=r"manifest.json: is missing"):
        lodcore.load(name)


def test_a_reader_between_all_steps_of_a_writer(tmp_path, quick):
    name = tmp_path / "x.lod"
    lodcore.save(name, OLD)
    held = lodcore.load(name)
    seen = []

    def look(step):
        found = lodcore.load(name, verify=True)
        seen.append([same(found, OLD), same(found, NEW)])
        assert any(seen[-1])

    with watched(lambda step: look(step) if not str(step.path).endswith(".x") else None):
        lodcore.save(name, NEW)
    assert seen[0] == [True, False]
    assert seen[-1] == [False, True]
    assert same(held, OLD)


def writer(name, count, ready):
    ready.set()
    for k in range(count):
        lodcore.save(name, {"x": PART + k})
        lodcore.append(name, {"x": PART + k})


def test_a_reader_beside_a_writer(tmp_path, quick):
    name, ready = tmp_path / "x.lod", multiprocessing.get_context("fork").Event()
    lodcore.save(name, {"x": PART})
    process = multiprocessing.get_context("fork").Process(target=writer, args=(name, 60, ready))
    process.start()
    ready.wait()
    kept = []

    def check_oldest():
        x, k = kept.pop(0)
        assert x.values.tolist() == (PART.values + k).tolist() * (len(x) // 3)

    while process.is_alive():
        x = lodcore.load(name, verify=True)["x"]
        kept.append((x, int(x.values[0])))
        assert len(x) in (3, 6)
        if len(kept) > 20:  # each has files open, and a slow writer lets the reader come often
            check_oldest()
    process.join()
    assert process.exitcode == 0
    while kept:
        check_oldest()


# -- locks, forks, and the state of the process --------------------------------------------------------------------


def test_forks_during_append_and_save_do_not_keep_the_folder_locked(tmp_path, monkeypatch):
    """Forked by another thread during `append` and `save`, it lives on, and the folder can be written."""
    children, name = [], tmp_path / "x.lod"
    lodcore.save(name, {"x": PART})
    reading, writing = os.pipe()
    ready, telling = os.pipe()

    def forks(handle):
        if len(children) < 8:
            thread = threading.Thread(target=lambda: children.append(child(reading, telling)))
            thread.start()
            thread.join()
            os.read(ready, 1)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", forks)
        lodcore.append(name, {"x": PART})
        lodcore.save(tmp_path / "x.npz", PART)
    assert len(children) > 2
    for one in children:
        held = [os.readlink(f"/proc/{one}/fd/{number}") for number in os.listdir(f"/proc/{one}/fd")]
        assert not [path for path in held if str(tmp_path) in path]
    lodcore.append(name, {"x": PART})
    for one in children:
        os.kill(one, signal.SIGKILL)
        os.waitpid(one, 0)
    for handle in (reading, writing, ready, telling):
        os.close(handle)


def child(reading, telling):
    """Fork a process that lives until the other end of a pipe is closed."""
    made = os.fork()
    if not made:
        signal.alarm(600)
        os.write(telling, b"1")
        os.read(reading, 1)
        os._exit(0)
    return made


def test_the_lock_of_a_killed_owner_is_free(tmp_path):
    """Though a child that it forked during the write is alive."""
    name = tmp_path / "x.lod"
    lodcore.save(name, {"x": PART})
    program = (
        "import os, signal, sys, lodcore\n"
        "def fsync(handle):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        signal.alarm(600)\n"
        "        print(os.getpid(), flush=True)\n"
        "        signal.pause()\n"
        "    signal.pause()\n"
        "os.fsync = fsync\n"
        "lodcore.append(sys.argv[1], {'x': lodcore.load(sys.argv[1])['x']})\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(name)], stdout=subprocess.PIPE, text=True) as owner:
        grandchild = int(owner.stdout.readline())
        with pytest.raises(BlockingIOError, match="is being written by another process or thread"):
            lodcore.append(name, {"x": PART})
        owner.kill()
        owner.wait()
        try:
            os.kill(grandchild, 0)
            lodcore.append(name, {"x": PART})
        finally:
            os.kill(grandchild, signal.SIGKILL)
    assert same(lodcore.load(name, verify=True), {"x": lodcore.concat_batches([PART, PART])})


def test_files_are_neither_opened_nor_closed_while_a_thread_forks(tmp_path):
    """A child that is forked in between would keep the descriptor as long as it lives."""
    opened, made = files.create(str(tmp_path / "a")), []
    acts = [opened.close, lambda: made.append(files.create(str(tmp_path / "b")))]
    with files._guard:  # as from the beginning of a fork to its end
        threads = [threading.Thread(target=act) for act in acts]
        for thread in threads:
            thread.start()
        threads[0].join(0.02)
        assert not opened.closed
        assert not made
    for thread in threads:
        thread.join()
    assert opened.closed
    made[0].close()


def test_a_child_that_was_not_forked_by_python(tmp_path, monkeypatch):
    """It has copies of the parent's files, and the parent's locks end with their use."""
    name, children, fork = tmp_path / "x.lod", [], ctypes.CDLL(None).fork
    lodcore.save(name, {"x": PART})

    def forks(handle):
        if not children:
            made = fork()
            if not made:
                signal.alarm(600)
                signal.pause()
            children.append(made)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", forks)
        lodcore.append(name, {"x": PART})
    try:
        held = [os.readlink(f"/proc/{children[0]}/fd/{one}") for one in os.listdir(f"/proc/{children[0]}/fd")]
        assert str(name / "lock") in held
        lodcore.append(name, {"x": PART})
    finally:
        os.kill(children[0], signal.SIGKILL)
        os.waitpid(children[0], 0)
    assert len(lodcore.load(name)["x"]) == 9


def test_append_while_another_thread_writes_raises_blocking_io_error(tmp_path, monkeypatch):
    name, seen = tmp_path / "x.lod", []
    lodcore.save(name, {"x": PART})

    def second(handle):
        monkeypatch.setattr(os, "fsync", lambda handle: None)
        with pytest.raises(BlockingIOError):
            lodcore.append(name, {"x": PART})
        seen.append(1)

    monkeypatch.setattr(os, "fsync", second)
    lodcore.append(name, {"x": PART})
    assert seen == [1]
    assert len(lodcore.load(name)["x"]) == 6


def test_no_state_of_the_process_is_changed(tmp_path, quick, monkeypatch):
    for call in ("umask", "chdir", "fchdir"):
        monkeypatch.setattr(os, call, None)
    monkeypatch.setattr(signal, "signal", None)
    for name in ("x.npz", "x.lod"):
        lodcore.save(tmp_path / name, OLD)
        lodcore.save(tmp_path / name, {"x": PART})
    lodcore.append(tmp_path / "x.lod", {"x": PART})
    PLAN.save(tmp_path / "plan")
    assert sorted(os.listdir(tmp_path)) == ["plan.npz", "x.lod", "x.npz"]
    monkeypatch.undo()
    modes = (
        "import os, sys, lodcore\n"
        "for mask in (0o22, 0o77, 0o2, 0):\n"
        "    os.umask(mask)\n"
        "    for name in ('a.npz', 'b.lod'):\n"
        "        path = f'{sys.argv[1]}/{mask}{name}'\n"
        "        lodcore.save(path, lodcore.array([[1]]))\n"
        "        made = [path, *(f'{path}/{one}' for one in (os.listdir(path) if os.path.isdir(path) else ()))]\n"
        "        for one in made:\n"
        "            full = 0o777 if os.path.isdir(one) else 0o666\n"
        "            assert os.stat(one).st_mode & 0o777 == full & ~mask, (one, oct(os.stat(one).st_mode))\n"
    )
    subprocess.run([sys.executable, "-c", modes, str(tmp_path)], check=True)


def test_save_interrupted_after_the_replace_leaves_the_new_file(tmp_path, quick, monkeypatch):
    real = os.replace

    def interrupted(a, b):
        real(a, b)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lodcore.save(tmp_path / "x.npz", OLD)
    monkeypatch.undo()
    assert same(lodcore.load(tmp_path / "x.npz"), OLD)
    assert os.listdir(tmp_path) == ["x.npz"]


def test_drafts_of_living_writers_stay(tmp_path, quick):
    """Two writers of one file; the one that ends last wins, and the draft of a dead third is gone."""
    path = str(tmp_path / "x.npz")
    killed_at(lambda: lodcore.save(path, OLD), 5)
    assert len(os.listdir(tmp_path)) == 1

    def first(draft):
        lodcore.save(path, NEW)
        assert same(lodcore.load(path), NEW)
        assert len(os.listdir(tmp_path)) == 2
        Path(draft).write_bytes(b"last")

    drafts.replace("test", path, first)
    assert Path(path).read_bytes() == b"last"
    assert os.listdir(tmp_path) == ["x.npz"]


def test_whoever_writes_next_removes_the_drafts_of_dead_writers_of_any_file(tmp_path, quick):
    """A writer that is killed before any of its steps leaves nothing once another file is saved in the same folder."""
    number, left = 1, 0
    while killed_at(functools.partial(lodcore.save, tmp_path / f"{number}.npz", OLD), number):
        left += any(name.startswith(".lodcore-") for name in os.listdir(tmp_path))
        lodcore.save(tmp_path / "x.npz", NEW)
        assert {name for name in os.listdir(tmp_path) if name != f"{number}.npz"} == {"x.npz"}, number
        (tmp_path / f"{number}.npz").unlink(missing_ok=True)
        number += 1
    assert left > 5


def test_a_draft_of_a_dead_writer_of_a_folder_is_removed_with_the_folders_in_it(tmp_path, quick):
    killed_at(lambda: lodcore.save(tmp_path / "x.npz", OLD), 5)
    (draft,) = tmp_path.iterdir()
    (draft / "content" / "part").mkdir(parents=True, exist_ok=True)
    (draft / "content" / "part" / "0.npy").write_bytes(b"1")
    (tmp_path / "kept").mkdir()
    (draft / "link").symlink_to(tmp_path / "kept")
    lodcore.save(tmp_path / "x.npz", NEW)
    assert sorted(os.listdir(tmp_path)) == ["kept", "x.npz"]


def test_save_keeps_files_and_links_whose_names_resemble_drafts(tmp_path, quick):
    """A file, a link and folders of other names are somebody else's."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine").write_bytes(b"1")
    (tmp_path / ".lodcore-0000abcd-0").write_bytes(b"2")
    (tmp_path / ".lodcore-0000abcd-1").symlink_to("other")
    (tmp_path / ".lodcore-mine-1").mkdir()
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    lodcore.save(tmp_path / "x.npz", OLD)
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*") if path.name != "x.npz"} == before


# -- only regular files --------------------------------------------------------------------------------------------


def test_only_regular_files_are_read_and_replaced(tmp_path, quick, capsys):
    os.mkfifo(tmp_path / "pipe.npz")
    os.symlink("/dev/zero", tmp_path / "zero.npz")
    said = {"pipe.npz": "is a pipe", "zero.npz": "is a device"}
    if sys.platform == "linux":  # elsewhere, only root makes them by name
        os.mknod(tmp_path / "socket.npz", 0o600 | stat.S_IFSOCK)
        said["socket.npz"] = "is a socket"
    for name, says in said.items():
        for call in (lodcore.load, PackPlan.load, Vocabulary.load, lambda path: lodcore.save(path, OLD)):
            with pytest.raises(LoDError, match=f"{says}; a regular file is needed"):
                call(str(tmp_path / name))
        for command in (["inspect"], ["pack", "--budget", "5", "--quiet"]):
            assert main([*command, str(tmp_path / name)]) == 1
            assert says in capsys.readouterr().err
        assert main(["inspect", str(tmp_path / name)]) == 1
        assert capsys.readouterr().err.startswith(f"lodcore inspect: {tmp_path / name}: {says}")  # its name once
    with open("/dev/zero", "rb") as endless, pytest.raises(LoDError, match="is a device"):
        lodcore.load(endless)
    for kind in ("manifest.json", "-lod0-0.bin", "-0.bin", "lock"):
        for place, says in (("pipe", "is a pipe"), ("/dev/zero", "is a device")):
            name = tmp_path / f"{kind}{len(place)}.lod"
            lodcore.save(name, PART)
            (path,) = [one for one in name.iterdir() if one.name.partition("-")[1] + one.name.partition("-")[2] == kind
                       or one.name == kind]  # fmt: skip
            path.unlink()
            os.mkfifo(path) if place == "pipe" else os.symlink(place, path)
            if kind == "lock":
                assert lodcore.load(name).equals(PART)
            else:
                with pytest.raises(LoDError, match=says):
                    lodcore.load(name)
                assert main(["inspect", str(name)]) == 1
            if kind != "-lod0-0.bin":
                with pytest.raises((LoDError, OSError)):
                    lodcore.append(name, PART)
            capsys.readouterr()
    folder_of_arrays = tmp_path / "docs"
    folder_of_arrays.mkdir()
    os.mkfifo(folder_of_arrays / "0.npy")
    assert main(["pack", str(folder_of_arrays), "--budget", "5"]) == 1
    assert "0.npy: is a pipe" in capsys.readouterr().err


def test_sizes_are_bounded_by_the_file(tmp_path, capsys):
    """An array that claims more bytes than the file has is refused before memory is asked for."""
    claim = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,)}\n" % 2**27
    data = b"\x93NUMPY\x01\x00" + len(claim).to_bytes(2, "little") + claim
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "0.npy").write_bytes(data + bytes(8))
    assert main(["pack", str(tmp_path / "docs"), "--budget", "5"]) == 1
    assert "has 8 bytes of values" in capsys.readouterr().err
    (tmp_path / "docs" / "0.npy").write_bytes(data[:9])
    assert main(["pack", str(tmp_path / "docs"), "--budget", "5"]) == 1
    assert "0.npy: ends inside of its header" in capsys.readouterr().err
    for names in (["values", "offsets_0"], ["lengths"]):
        with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
            for name in names:
                archive.writestr(f"{name}.npy", data + bytes(8))
        assert main(["pack", str(tmp_path / "x.npz"), "--budget", "5"]) == 1
        with pytest.raises(LoDError, match="has 8 bytes of values"):
            PackPlan.load(tmp_path / "x.npz")
    assert "has 8 bytes of values" in capsys.readouterr().err


def test_values_that_no_string_has(tmp_path, quick):
    """A code point above 0x10FFFF cannot be shown; the dtype may be that of a field, or of the other byte order."""
    for dtype, order, at in (("<U3", "little", 4), (">U3", "big", 4), ([("a", "<i4"), ("b", ">U3")], "big", 8)):
        values = np.ones(4, dtype)
        data = bytearray(values.tobytes())
        data[at : at + 4] = (0x110000).to_bytes(4, order)
        for name in ("x.npz", "x.lod"):
            lodcore.save(tmp_path / name, values)
            assert np.array_equal(lodcore.load(tmp_path / name), values)
            lodcore.save(tmp_path / name, np.frombuffer(bytes(data), dtype))
            with pytest.raises(LoDError, match="is 0x110000 at character 1; 0x10ffff is the last code point"):
                lodcore.load(tmp_path / name)


def test_save_and_load_close_the_files_that_they_open(tmp_path, quick):
    before = len(os.listdir("/proc/self/fd"))
    for k in range(5):
        for name in ("x.npz", "x.lod"):
            lodcore.save(tmp_path / name, OLD)
            lodcore.load(tmp_path / name)
            failing_at(lambda name=name: lodcore.save(tmp_path / name, OLD), 5 + k)
    with pytest.raises(LoDError):
        files.regular("x", str(tmp_path))
    assert len(os.listdir("/proc/self/fd")) <= before
