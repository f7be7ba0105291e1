"""Tests of libraries that are not installed, and need not be, are skipped."""

import pytest

from tests.helpers.libraries import may_be_missing


def skipped():
    """Return a wrapper of a hook that skips a test which fails for want of a library."""

    @pytest.hookimpl(wrapper=True)
    def wrapper(item):
        try:
            return (yield)
        except (ImportError, AssertionError) as error:
            cause = error.__cause__ if isinstance(error, AssertionError) else error  # of `for_each`: that of a row
            if isinstance(cause, ImportError) and cause.name and may_be_missing(cause.name):
                pytest.skip(str(cause))
            raise

    return wrapper


pytest_runtest_setup = skipped()
pytest_runtest_call = skipped()
