"""The real libraries, imported in spite of what they warn of."""

import importlib
import warnings

import pytest

#: Each test runs once, on the compiled kernels, and what other libraries warn of is theirs.
MARKS = [pytest.mark.not_on_reference, pytest.mark.filterwarnings("ignore")]


def imported(name):
    """Import a library, which must be there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)
