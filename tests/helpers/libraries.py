"""Imports of the real libraries, ignoring their warnings.

The environment variable LODCORE_DOORS names the libraries that must be installed, separated by commas; with 1, and by
default, all of them must be. A test that needs another one is skipped.
"""

import importlib
import importlib.util
import os
import warnings

import pytest

#: Each test runs once, on the compiled kernels; warnings of other libraries are ignored.
MARKS = [pytest.mark.not_on_reference, pytest.mark.filterwarnings("ignore")]
NEEDED = os.environ.get("LODCORE_DOORS", "1").split(",")


class Missing:
    """A library that is not installed, or a part of it; tests may have it as a parameter, and fail if they use it."""

    def __init__(self, name):
        self.__name = name

    def __getattr__(self, name):
        return self(name)

    def __call__(self, *arguments, **named):
        if "PYTEST_CURRENT_TEST" not in os.environ:
            return self
        raise ModuleNotFoundError(f"No module named {self.__name!r}", name=self.__name)


def may_be_missing(name):
    """Return whether a library is not installed, and need not be."""
    root = name.partition(".")[0]
    return NEEDED != ["1"] and root not in NEEDED and importlib.util.find_spec(root) is None


def imported(name):
    """Import a library; the result raises an error when it is used if the library is missing, and need not be there."""
    if may_be_missing(name):
        return Missing(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)
