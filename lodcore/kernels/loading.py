"""Loading of modules at first use, so that importing lodcore is fast.

A module that is being loaded is locked, and a child process has none of the threads that would unlock it. So a process
is not forked while another thread loads; threads that load do not wait for each other.
"""

import os
from contextlib import suppress
from importlib import import_module
from sys import modules
from threading import Condition, RLock, get_ident
from types import ModuleType
from typing import Any

# entered itself, not by way of its Condition, whose methods in Python an interrupt may leave before the release
_lock = RLock()
_changed = Condition(_lock)
_loading: dict[object, int] = {}  # the thread of each call that loads


def load(name: str) -> ModuleType:
    """Return a module, loaded if it is not yet."""
    found = modules.get(name)
    if found is not None and getattr(found.__spec__, "_initializing", True) is False:  # by another thread
        return found
    call = object()
    try:
        try:
            with _lock:
                _loading[call] = get_ident()
            return import_module(name)
        finally:
            _loading.pop(call, None)
            with _lock:
                _changed.notify_all()
    finally:  # once more, since an interrupt may come just before the other try
        _loading.pop(call, None)


def _wait_for_others() -> None:
    """Wait, holding the lock, until no other thread loads."""
    _changed.wait_for(lambda: all(thread == get_ident() for thread in [*_loading.values()]))


def hold_at_fork(lock: Any) -> None:
    """Let no other thread hold a lock, an RLock, while the process is forked.

    This may be called in a fork that has begun, by what another module lets Python do before it. Then the lock is not
    held, and if another thread holds it, the child renews it, as `threading` does.
    """

    def release() -> None:
        with suppress(RuntimeError):
            lock.release()

    def release_in_child() -> None:
        try:
            lock.release()
        except RuntimeError:
            lock._at_fork_reinit()

    os.register_at_fork(before=lock.acquire, after_in_parent=release, after_in_child=release_in_child)


os.register_at_fork(before=_wait_for_others)
hold_at_fork(_lock)  # comes before what is registered above
