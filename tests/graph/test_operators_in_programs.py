"""Every operator on Variables without values: in a Program, and in the body of a loop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore.ops.registry import OPS
from lodcore.testing import rules, ways
from tests.helpers.draw import at_most
from tests.samples import SAMPLES

NAMES = sorted(SAMPLES)
SMOOTH = sorted(name for name, samples in SAMPLES.items() if samples.smooth is not None)


@pytest.mark.parametrize("name", NAMES)
@at_most(12)
@given(drawn=st.data())
def test_programs_and_bodies_give_what_the_call_gives(name, drawn):
    assert not ways.check_ways(OPS[name], drawn.draw(SAMPLES[name].calls), ways.IN_PROGRAMS)


@pytest.mark.parametrize("name", SMOOTH)
@at_most(10)
@given(drawn=st.data())
def test_programs_and_bodies_have_the_gradients_of_the_call(name, drawn):
    call = drawn.draw(SAMPLES[name].smooth.map(rules.widened).filter(bool))
    rules.check_gradient_ways(OPS[name], call)
