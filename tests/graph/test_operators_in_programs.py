"""Every operator on Variables without values: in a Program, and in the body of a loop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import ops
from lodcore.graph import Program, data
from lodcore.operators.registry import OPS
from lodcore.operators.roles import spec_of
from lodcore.tensors.tensor import Spec
from lodcore.testing import rules, ways
from lodcore.testing.samples import Sample, fresh, several
from tests.helpers.draw import at_most
from tests.helpers.specs import without_sizes
from tests.helpers.tables import for_each
from tests.samples import SAMPLES

NAMES = sorted(SAMPLES)
SMOOTH = sorted(name for name, samples in SAMPLES.items() if samples.smooth is not None)


@pytest.mark.parametrize("name", NAMES)
@at_most(12)
@given(drawn=st.data())
def test_operators_in_programs_and_loop_bodies_equal_the_call(name, drawn):
    assert not ways.check_ways(OPS[name], drawn.draw(SAMPLES[name].calls), ways.IN_PROGRAMS)


@pytest.mark.parametrize("name", SMOOTH)
@at_most(10)
@given(drawn=st.data())
def test_programs_and_bodies_have_the_gradients_of_the_call(name, drawn):
    call = drawn.draw(SAMPLES[name].smooth.map(rules.widened).filter(bool))
    rules.check_gradient_ways(OPS[name], call)


#: Operators whose small call changes an argument: an array, or a Generator.
CHANGING = {"dropout", "tensor_array_fill"}


@for_each("name", sorted({*NAMES} - CHANGING))
def test_every_argument_may_be_given_by_name(name):
    """In every way of running, also one called `name`."""
    op, sample = OPS[name], SAMPLES[name].small()
    assert not ways.check_ways(op, Sample((), op.bind(sample.args, sample.kwargs)))


# -- data whose sizes are not declared -----------------------------------------------------------------------------


def with_sizes_unknown(arguments):
    """Yield the arguments of a shape rule without all sizes, without each one, and without all but one."""
    flat = [x for given in arguments.values() for x in (given if isinstance(given, list) else [given])]
    specs = [x for x in flat if isinstance(x, Spec)]
    sizes = {(number, axis) for number, x in enumerate(specs) for axis in range(len(x.shape))}
    for dropped in (sizes, *({one} for one in sizes), *(sizes - {one} for one in sizes)):
        yield without_sizes(arguments, lambda number, axis, _, dropped=dropped: (number, axis) in dropped)


@pytest.mark.parametrize("name", NAMES)
def test_sizes_may_be_unknown(name):
    """The shape rule neither refuses a call whose sizes are unknown nor invents a size."""
    given = fresh(SAMPLES[name].small())
    truth = [*map(spec_of, several(OPS[name](*given.args, **given.kwargs)))]
    for arguments in with_sizes_unknown(rules.described(OPS[name], SAMPLES[name].small())[0]):
        found = several(OPS[name].infer_arguments(arguments))
        assert all(rules.fits(*pair) for pair in zip(found, truth, strict=True)), (arguments, found, truth)


def tensor(*shape, levels=0):
    return data(None, shape, "f8", levels)


#: Calls of data with unknown sizes, and the shape of the result: other arguments have the missing sizes.
FOLLOWS = {
    "lstm, from rows of weight": (
        lambda: lodcore.dynamic_lstm(tensor(None, None, levels=1), tensor(3, None), tensor(None), use_peepholes=False),
        (None, 3),
    ),
    "lstm, from columns of x": (
        lambda: lodcore.dynamic_lstm(tensor(None, 8, levels=1), tensor(None, None), tensor(None), use_peepholes=False),
        (None, 2),
    ),
    "gru, from rows of weight": (lambda: lodcore.dynamic_gru(tensor(None, None, levels=1), tensor(4, None)), (None, 4)),
    "gru, from columns of x": (lambda: lodcore.dynamic_gru(tensor(None, 6, levels=1), tensor(None, None)), (None, 2)),
    "gru, unknown": (lambda: lodcore.dynamic_gru(tensor(None, None, levels=1), tensor(None, None)), (None, None)),
    "reshape_rows": (lambda: ops.reshape_rows(tensor(None, None, levels=1), (2, -1, 3)), (None, 2, None, 3)),
    "reshape_rows, known": (lambda: ops.reshape_rows(tensor(None, 12, levels=1), (2, -1, 3)), (None, 2, 2, 3)),
    "sequence_conv": (lambda: lodcore.sequence_conv(tensor(None, None, levels=1), tensor(None, 5), 3), (None, 5)),
    "row_conv": (lambda: lodcore.row_conv(tensor(None, None, levels=1), tensor(3, 4)), (None, None)),
    "matmul": (lambda: lodcore.matmul(tensor(None, None, levels=1), tensor(None, 4)), (None, 4)),
    "add": (lambda: lodcore.add(tensor(None, None, levels=1), tensor(None, 1, 4)), (None, 4)),
}


@pytest.mark.parametrize("name", FOLLOWS)
def test_sizes_follow_from_other_arguments(name):
    call, shape = FOLLOWS[name]
    with Program():
        made = call()
    made = made[0] if isinstance(made, tuple) else made
    assert made.spec.shape == shape
