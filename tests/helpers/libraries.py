"""Imports of the real libraries, ignoring their warnings."""

import importlib
import warnings

import pytest

#: Each test runs once, on the compiled kernels; warnings of other libraries are ignored.
MARKS = [pytest.mark.not_on_reference, pytest.mark.filterwarnings("ignore")]


def imported(name):
    """Import a library, which must be installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)
