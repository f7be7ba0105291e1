"""Rows of a table that are checked in one test: pytest takes two milliseconds for a test, most rows less."""

import functools
import inspect

import pytest

__all__ = ["for_each"]


def for_each(names, rows):
    """Call the decorated test with each row, as `pytest.mark.parametrize` does, in one test that names all failures."""
    single, rows = isinstance(names, str), list(rows)
    names = [names] if single else list(names)
    assert rows, "a table without rows checks nothing"

    def decorate(check):
        @functools.wraps(check)
        def check_all(*args, **fixtures):
            failed = []
            for row in rows:
                try:
                    check(*args, **fixtures, **dict(zip(names, [row] if single else row, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    failed.append((row, error))
            if failed:
                said = [f"{row!r}: {type(error).__name__}: {error}" for row, error in failed]
                raise AssertionError("\n\n".join([f"{len(failed)} of {len(rows)} fail", *said])) from failed[0][1]

        signature = inspect.signature(check)
        assert signature.parameters.keys() >= set(names), names
        left = [one for name, one in signature.parameters.items() if name not in names]
        check_all.__signature__ = signature.replace(parameters=left)
        return check_all

    return decorate
