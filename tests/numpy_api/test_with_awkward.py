"""NumPy's interface compared with awkward; collected if awkward can be imported."""

import pytest

from tests.helpers.with_awkward import run


@pytest.mark.not_on_reference
def test_results_are_those_of_awkward():
    assert run() > 0
