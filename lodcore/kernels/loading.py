"""Loading of modules at first use, so that importing lodcore is fast.

A module that is being loaded is locked, and a child process has none of the threads that would unlock it. So a process
is not forked while another thread loads; threads that load do not wait for each other.
"""

import os
from importlib import import_module
from threading import Condition, RLock, get_ident
from types import ModuleType

_changed = Condition(RLock())
_loading: list[int] = []  # the threads that load, each as often as it does


def load(name: str) -> ModuleType:
    """Return a module, loaded if it is not yet."""
    with _changed:
        _loading.append(get_ident())
    try:
        return import_module(name)
    finally:
        with _changed:
            _loading.remove(get_ident())
            _changed.notify_all()


def _wait_for_others() -> None:
    """Wait until no other thread loads, and let none begin."""
    _changed.acquire()
    _changed.wait_for(lambda: all(thread == get_ident() for thread in _loading))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_others, after_in_parent=_changed.release, after_in_child=_changed.release)
