"""Writers of files are killed at random instants, find no space, and have readers beside them; files are damaged.

python -m tests.robustness.stores [--seconds N] [--seed N] [--folder PATH] gives each part as many seconds, and prints
how often it was tried. The first state that is wrong ends it. On Linux; as root, small disks are mounted.
"""

import argparse
import contextlib
import errno
import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import lodcore
from lodcore import DTypeError, LoDTensor
from lodcore.__main__ import main as command
from lodcore.batching import PackPlan, pack_plan
from tests.helpers.disks import Disk, losses, named, steps_of

REFUSED = (ValueError, DTypeError, MemoryError, OSError)


def tree(k, size=40):
    """Return a tree all of whose numbers are k."""
    x = LoDTensor.from_lengths(np.full(size, float(k)), [size // 4, 0, size - size // 4])
    return {"x": x, "y": x.values.astype("i2"), "deep": lodcore.array([[[k], []], [[k, k]]]), "n": k}


def state(found):
    """Return the number of a tree, which must be whole."""
    k = found["n"]
    assert found["deep"].tolist() == [[[k], []], [[k, k]]], found
    assert (found["x"].values == k).all(), found
    assert (found["y"] == k).all(), found
    assert len(found["x"]) == 3, found
    return k


class Saves:
    """Saves of a whole tree, to a file or a folder."""

    def __init__(self, root, ending):
        self.name = root / f"x{ending}"

    def write(self, k):
        lodcore.save(self.name, tree(k, 4 + 97 * (k % 50)))

    def read(self):
        return state(lodcore.load(self.name, verify=True))


class Appends:
    """Appends of one sequence each; every hundredth time, the folder is saved again."""

    def __init__(self, root):
        self.name = root / "x.lod"

    def write(self, k):
        if k % 100 == 0 or not self.name.exists():
            lodcore.save(self.name, {"x": LoDTensor.from_lengths(np.arange(k + 1.0), [1] * (k + 1))})
        else:
            lodcore.append(self.name, {"x": LoDTensor.from_lengths([float(k)], [1])})

    def read(self):
        x = lodcore.load(self.name, verify=True)["x"]
        assert x.tolist() == [[float(k)] for k in range(len(x))], x
        return len(x) - 1


class Plans:
    """Packing plans."""

    def __init__(self, root):
        self.name = root / "plan.npz"

    def write(self, k):
        pack_plan(np.full(k % 50 + 1, 3), 10).save(self.name) if k else pack_plan([3], 10).save(self.name)

    def read(self):
        return len(PackPlan.load(self.name).lengths) - 1


class Packs:
    """The command that packs; an output folder is not replaced, but made again."""

    def __init__(self, root, ending):
        self.root, self.ending, self.name = root, ending, root / f"out{ending}"
        self.given = root.with_name(f"{root.name}-given{ending}")
        if not self.given.exists():
            lodcore.save(self.given, LoDTensor.from_lengths(np.arange(12), [3, 0, 9]))

    def write(self, k):
        if self.ending == ".lod":  # without its manifest it is no folder of ours, if the removal is interrupted
            (self.name / "manifest.json").unlink(missing_ok=True)
            shutil.rmtree(self.name, ignore_errors=True)
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            assert not command(
                ["pack", str(self.given), "--budget", "9", "--force", "--quiet", "--output", str(self.name)]
            )

    def read(self):
        if not self.name.exists():
            return 0
        if not (self.name / "manifest.json").exists() and self.ending == ".lod":
            return 0  # it was being removed
        assert lodcore.load(self.name, verify=True).tolist()
        return 0


def kinds(root):
    """Return the ways to write, each with a separate folder."""
    made = {"save .npz": (Saves, ".npz"), "save folder": (Saves, ".lod"), "append": (Appends,), "plan": (Plans,)}
    made |= {"pack .npz": (Packs, ".npz"), "pack folder": (Packs, ".lod")}
    for name, (kind, *more) in made.items():
        place = root / name.replace(" ", "-").replace(".", "")
        place.mkdir()
        yield name, place, kind(place, *more)


def kills(root, seconds, generator):
    """Kill writers at random instants; all that they had finished is read."""
    for name, place, kind in kinds(root):
        end, count, within, k = time.monotonic() + seconds, 0, 0, 0
        kind.write(0)
        while time.monotonic() < end:
            reading, writing = os.pipe()
            child = os.fork()
            if not child:
                os.close(reading)
                try:
                    for j in range(k + 1, k + 10_000):
                        kind.write(j)
                        os.write(writing, b"x")
                finally:
                    os._exit(1)
            os.close(writing)
            if count % 2:
                os.read(reading, 1)  # otherwise the first is interrupted
            time.sleep(generator.random() ** 2 * 0.008)
            os.kill(child, signal.SIGKILL)
            ended = os.waitpid(child, 0)[1]
            assert os.WIFSIGNALED(ended), f"{name}: a writer ended with {ended}"
            finished = k + len(os.read(reading, 10_000)) + count % 2
            os.close(reading)
            found = kind.read()
            if name in ("save .npz", "save folder", "append"):
                assert finished <= found <= finished + 1, (name, finished, found)
                within += found == finished + 1
                k = found
            count += 1
            if count % 20 == 0:
                k += 1
                kind.write(k)
                check_clean(place)
        print(f"kills, {name}: {count}, of which {within} after the new state was valid", flush=True)


def check_clean(place):
    """Raise if anything is left of dead writers."""
    assert len(os.listdir(place)) == 1, os.listdir(place)
    (name,) = place.iterdir()
    if name.is_dir():
        assert {path.name for path in name.iterdir()} == named(name), sorted(name.iterdir())


def full_disks(root, seconds, generator):
    """Save and append more than there is space for; the old files stay, and the space is freed."""
    place = root / "disk"
    place.mkdir()
    if os.geteuid():
        print("small disks: not tried, since only root mounts them")
        return
    end, counts = time.monotonic() + seconds, [0, 0]
    while time.monotonic() < end:
        size = generator.randint(20, 200)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", str(place)], check=True)
        try:
            for user in (0, 65534):
                os.chmod(place, 0o777)
                ended = in_child(lambda user=user: fill(place / str(user), user, generator.random()))
                counts = [a + b for a, b in zip(counts, ended, strict=True)]
        finally:
            subprocess.run(["umount", str(place)], check=True)
    print(f"small disks: {counts[0]} writes for which there was no space, {counts[1]} for which there was", flush=True)


def in_child(act):
    """Return two numbers that a forked child computes."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.write(writing, "{} {}".format(*act()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as opened:
        said = opened.read()
    assert not os.waitpid(child, 0)[1]
    return [int(number) for number in said.split()]


def fill(place, user, seed, limit=0):
    """Write trees of random sizes, as a user, until the disk has been full some times."""
    generator, failed, done = random.Random(seed), 0, 0
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if user:
        os.setgid(user)
        os.setuid(user)
    place.mkdir()
    before = {}
    for k in range(30):
        kind = generator.choice(["npz", "lod", "append", "plan"])
        name = place / f"{kind}.{'npz' if kind in ('npz', 'plan') else 'lod'}"
        size = int(4 + 16000 * generator.random() ** 3)
        free, held = os.statvfs(place).f_bfree, snapshot(place)
        try:
            if kind == "plan":
                pack_plan(np.full(size, 3), 100).save(name)
            elif kind == "append" and name.exists():
                lodcore.append(name, LoDTensor.from_lengths(np.full(size, 1.0), [size]))
            elif kind == "append":
                lodcore.save(name, LoDTensor.from_lengths(np.full(size, 1.0), [size]))
            else:
                lodcore.save(name, tree(k, size))
            before[name] = k
            done += 1
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EFBIG):
                raise
            assert snapshot(place) == held, (kind, sorted(snapshot(place)), sorted(held))
            assert limit or os.statvfs(place).f_bfree == free, (kind, free, os.statvfs(place).f_bfree)
            failed += 1
        for path, state_of in before.items():
            if path.stem == "plan":
                PackPlan.load(path)
            elif path.stem == "append":
                assert (lodcore.load(path, verify=True).values == 1).all()
            else:
                assert state(lodcore.load(path, verify=True)) == state_of
    shutil.rmtree(place)
    return failed, done


def snapshot(place):
    """Return all files with their contents."""
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def limits(root, seconds, generator):
    """The same with a limit for the size of a file, which needs no rights."""
    end, counts = time.monotonic() + seconds, [0, 0]
    place = root / "limits"
    while time.monotonic() < end:
        limit = generator.randint(100, 100_000)
        ended = in_child(lambda limit=limit: fill(place, 0, generator.random(), limit))
        counts = [a + b for a, b in zip(counts, ended, strict=True)]
    print(f"limits of files: {counts[0]} writes above the limit, {counts[1]} below it", flush=True)


def readers(root, seconds):
    """Read while writers save, or one appends; mapped tensors are used until later."""
    for title, act, count in (("two that save", Saves, 2), ("one that appends", Appends, 1)):
        place = root / title.replace(" ", "-")
        place.mkdir()
        kind = act(place, ".lod") if act is Saves else act(place)
        kind.write(0)
        writers = [started(kind) for _ in range(count)]
        end, loads, states, kept = time.monotonic() + seconds, 0, set(), []
        try:
            while time.monotonic() < end:
                states.add(kind.read())
                loads += 1
                if act is Saves and loads % 50 == 0:
                    kept = [*kept[-5:], lodcore.load(kind.name)]
                    for found in kept:
                        state(found)
        finally:
            for one in writers:
                os.kill(one, signal.SIGKILL)
            ended = [os.waitpid(one, 0)[1] for one in writers]
        assert all(map(os.WIFSIGNALED, ended)), ended
        print(f"readers beside {title}: {loads} loads of {len(states)} states, no error", flush=True)


def started(kind):
    """Start a process that writes one state after the other."""
    child = os.fork()
    if not child:
        try:
            for k in range(1, 10**9):
                with contextlib.suppress(BlockingIOError):
                    kind.write(k)
        finally:
            traceback.print_exc()
            os._exit(1)
    return child


def damage(root):
    """Cut and change every file at every byte: reading returns what was saved, or raises."""
    lodcore.save(root / "d.lod", tree(3, 8))
    lodcore.save(root / "d.npz", tree(3, 8))
    pack_plan([3, 4, 5], 9).save(root / "p.npz")
    calls = {root / "d.lod": lambda: state(lodcore.load(root / "d.lod", verify=True))}
    calls[root / "d.npz"] = lambda: state(lodcore.load(root / "d.npz"))
    calls[root / "p.npz"] = lambda: sum(PackPlan.load(root / "p.npz").lengths) - 9
    counts = [0, 0]
    for place, read in calls.items():
        for path in sorted(place.iterdir()) if place.is_dir() else [place]:
            whole = path.read_bytes()
            changed = [whole[:at] for at in range(len(whole))]
            changed += [whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :] for at in range(len(whole))
                        for flip in (1, 0x80, 0xFF)]  # fmt: skip
            for data in changed:
                path.write_bytes(data)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        assert read() == 3
                        counts[0] += 1
                    except REFUSED:
                        counts[1] += 1
            path.write_bytes(whole)
    print(f"damage: {counts[1]} files refused, {counts[0]} read as they were saved", flush=True)


def power(root, seconds, generator):
    """Lose power behind every step, systematically once, and then at random over many saves."""
    os.fsync = lambda handle: None
    place = root / "power"
    place.mkdir()
    count, k = 0, 0
    for name, _, kind in kinds(place):
        if name.startswith("pack"):
            continue
        kind.write(0)
        for _ in losses(kind.name.parent, lambda kind=kind: kind.write(1), random_ones=3, seed=generator.random()):
            kind.read()
            count += 1
    print(f"power, every step: {count} states of disks", flush=True)
    end, count, kind = time.monotonic() + seconds, 0, Saves(place / "save-folder", ".lod")
    while time.monotonic() < end:
        k, disk = k + 1, Disk(kind.name.parent)
        before = kind.read()
        steps = steps_of(lambda k=k: kind.write(k))
        steps = steps[: generator.randint(0, len(steps))]
        durable, share = disk.durable(steps), generator.random()
        disk.put(disk.after(steps, {j for j in range(len(steps)) if j not in durable and generator.random() < share},
                            generator))  # fmt: skip
        assert kind.read() in (before, k)
        count += 1
    kind.write(k + 1)
    check_clean(kind.name.parent)
    print(f"power, one save after the other: {count} losses", flush=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=20, help="for each part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to write; by default the folder for temporary files")
    chosen = parser.parse_args(arguments)
    generator = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as made:
        root = Path(made)
        os.chmod(root, 0o755)
        kills(root, chosen.seconds, generator)
        full_disks(root, chosen.seconds, generator)
        limits(root, chosen.seconds, generator)
        readers(root, chosen.seconds)
        damage(root)
        power(root, chosen.seconds, generator)


if __name__ == "__main__":
    sys.exit(main())
