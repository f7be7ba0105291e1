"""A plugin of pytest for `tests.builds.elsewhere` and `pythons`: a part of the tests, and what the process is like.

`LODCORE_ROWS=k/n` runs one of n parts of the rows of tables and of the properties, and all other tests, and those that
depend on their environment. `LODCORE_PART=k/n` runs one of n parts of the tests, and those that depend on their
environment; if n is 20, a tenth of the tests of every second file, and so on. `LODCORE_ORDER` is the seed of a random
order, `LODCORE_GARBAGE` after how many new objects cycles are collected. `LODCORE_WITNESS` names a file for the
description of the process, `LODCORE_PRINTED` one for what pytest prints if its streams are closed.
"""

import fcntl
import gc
import locale
import os
import random
import sys
import time
import zlib
from pathlib import Path

#: Folders and files whose tests start processes, or use files, streams, signals, memory or the names of places.
SENSITIVE = (
    "tests/base/",
    "tests/builds/",
    "tests/docs/",
    "tests/interop/files/test_appending.py",
    "tests/interop/files/test_storage.py",
    "tests/robustness/",
    "tests/test_architecture.py",
    "tests/test_main.py",
)


def open_instead():
    """Open a file for what pytest prints, but leave the descriptors of the standard streams closed."""
    opened = os.open(os.environ["LODCORE_PRINTED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    kept = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(opened)
    return os.fdopen(kept, "w", encoding="utf-8")


for name in ("stdout", "stderr"):  # pytest cannot do without them
    if getattr(sys, name) is None:
        setattr(sys, name, open_instead())
if "LODCORE_GARBAGE" in os.environ:
    gc.set_threshold(int(os.environ["LODCORE_GARBAGE"]), 5, 5)
PART, PARTS = map(int, os.environ.get("LODCORE_PART", "0/1").split("/"))
ROW, ROWS = map(int, os.environ.get("LODCORE_ROWS", "0/1").split("/"))


def has_turn(name, among, number):
    """Return whether something is in one of so many parts."""
    return zlib.crc32(name.encode()) % among == number % among


def is_one_of_many(item):
    """Return whether a test is a row of a table, or draws its examples, and does not depend on its environment."""
    rows = item.callspec.params.keys() - {"kernel_tree"} if hasattr(item, "callspec") else set()
    draws = hasattr(getattr(item, "obj", None), "hypothesis")
    return bool(rows or draws) and not item.nodeid.startswith(SENSITIVE)


def pytest_ignore_collect(collection_path, config):
    """Leave out files that are not sampled, which saves the time to import them."""
    if PARTS <= 10 or not collection_path.is_relative_to(config.rootpath):  # as the files of an installed package
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    left_out = name.startswith("tests/") and collection_path.suffix == ".py" and not name.startswith(SENSITIVE)
    return True if left_out and not has_turn(name, PARTS // 10, PART) else None


def pytest_collection_modifyitems(config, items):
    """Choose the part, and shuffle files, and the tests of each file."""
    if ROWS > 1:
        items[:] = [one for one in items if not is_one_of_many(one) or has_turn(one.nodeid, ROWS, ROW)]
    if PARTS > 1:
        others = max(1, PARTS // 10)
        of_all = min(PARTS, 10)
        items[:] = [
            one
            for one in items
            if has_turn(one.nodeid, *((others, PART) if one.nodeid.startswith(SENSITIVE) else (of_all, PART // others)))
        ]
    if "LODCORE_ORDER" not in os.environ:
        return
    draw = random.Random(os.environ["LODCORE_ORDER"])
    places: dict[object, float] = {}
    keys = {one: (places.setdefault(one.path, draw.random()), draw.random()) for one in items}
    items.sort(key=keys.__getitem__)


def pytest_sessionstart(session):
    """Write what this process is like."""
    target = os.environ.get("LODCORE_WITNESS")
    if target and not hasattr(session.config, "workerinput"):
        Path(target).write_text("\n".join(witness()), encoding="utf-8")


def witness():
    """Describe this process."""
    import resource

    from numpy._core import _multiarray_umath as umath

    on = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__[name]]
    yield f"NumPy's instructions: {umath.__cpu_baseline__[-1]} {' '.join(on)}"
    yield f"encoding of files: {locale.getpreferredencoding(False)}; of their names: {sys.getfilesystemencoding()}"
    mask = os.umask(0)
    os.umask(mask)
    yield f"user {os.getuid()}, umask {mask:03o}, {len(os.sched_getaffinity(0))} processors"
    space, files = (resource.getrlimit(limit)[0] for limit in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE))
    yield f"zone {time.strftime('%z')}, address space {space}, {files} open files"
    yield f"folder {os.getcwd()!a}, hash of 'a' {hash('a')}"
