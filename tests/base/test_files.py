"""Locks of files where the file system has none."""

import errno
import fcntl

import pytest

from lodcore.base import files


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO])
def test_a_file_system_without_locks_is_an_error_where_a_lock_is_needed(tmp_path, monkeypatch, number):
    def refused(*_):
        raise OSError(number, "no locks here")

    monkeypatch.setattr(fcntl, "flock", refused)
    path = str(tmp_path / "lock")
    with pytest.raises(OSError, match="no locks here"):
        files.lock(path)
    if number == errno.EIO:  # which says nothing of locks
        with pytest.raises(OSError, match="no locks here"):
            files.lock(path, needed=False)
    else:
        with files.lock(path, needed=False) as held:
            assert not held.closed
