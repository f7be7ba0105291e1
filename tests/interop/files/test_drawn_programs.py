"""Programs that are drawn: saved and loaded, they give the same bits, errors and text, also between two steps."""

import io

import numpy as np
import pytest

import lodcore
from lodcore import GraphError, vjp
from lodcore.graph import Executor, Program, append_backward, data
from lodcore.operators.roles import spec_of
from tests.helpers.drawing.programs import draw_program
from tests.helpers.drawing.trainings import Drawing, draw_batch, draw_loss, draw_training
from tests.helpers.meanings import is_floating
from tests.helpers.programs_as_python import as_python
from tests.helpers.programs_in_every_way import as_tensor, held, loss_in_program, new, placeholder
from tests.helpers.programs_to_keep import as_bytes
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import rows_of

pytestmark = pytest.mark.not_on_reference  # no kernels of its own


def back(tree, scope=None):
    """Save and load."""
    file = io.BytesIO()
    lodcore.save(file, tree, scope)
    return lodcore.load(io.BytesIO(file.getvalue()))


def results(executor, program, feeds, fetched):
    """Return the bits of each run, or its error."""
    found = []
    for feed, fetch in zip(feeds, fetched, strict=True):
        try:
            found.append([as_bytes(x) for x in executor.run(program, feed, fetch)])
        except (ValueError, TypeError, LookupError, GraphError) as error:
            found.append(repr(error))
    return found


def text(program):
    """Return the text of a Program, without the places of generators."""
    return [line.partition("Generator(")[0] for line in str(program).splitlines()]


@for_each("seed", range(12))
def test_a_drawn_program_that_was_saved_gives_the_same_bits(seed):
    program, feeds, fetched = draw_training(seed)
    use = program.clone(for_test=True)
    one, both = back(program), back({"learns": program, "used": use})
    assert text(one) == text(program)
    executor = Executor()
    found = results(executor, one, feeds[:2], fetched[:2])
    found += results(Executor(), back(one, executor.scope), feeds[2:], fetched[2:])
    assert found == results(Executor(), program, feeds, fetched)
    used = [[name for name in fetch if name in use.names and "@" not in name] for fetch in fetched]
    assert results(Executor(), both["used"], feeds, used) == results(Executor(), use, feeds, used)


@for_each("seed", range(15))
def test_a_drawn_loss_is_the_same_at_once_under_vjp_and_in_a_program_that_was_saved(seed):
    feed = draw_batch(Drawing(seed))
    with Program() as program:
        loss, sums = draw_loss(Drawing(seed), *[data(name, spec_of(x)) for name, x in feed.items()])
        append_backward(loss)
    names = [name for name in ("x@GRAD", "d@GRAD") if name in program.names]
    found = Executor().run(back(program), feed, [loss.name, *[one.name for one in sums], *names])
    g = Drawing(seed)
    (value, others), pullback = vjp(lambda x, d: draw_loss(g, x, d), *feed.values())
    gradients = dict(zip(("x@GRAD", "d@GRAD"), pullback(1.0, [None] * len(others)), strict=True))
    for one, other in zip(found, [value, *others, *[gradients[name] for name in names]], strict=True):
        np.testing.assert_allclose(rows_of(one), rows_of(other), rtol=1e-9, atol=1e-12)
    value, others = draw_loss(Drawing(seed), *feed.values())
    np.testing.assert_allclose([held(one) for one in (value, *others)], found[: 1 + len(sums)], rtol=1e-9, atol=1e-12)


@for_each("seed", range(20))
def test_drawn_loops_and_arrays_that_were_saved_give_the_same_bits(seed):
    statements, feeds, fixed, meanings = draw_program(seed)
    f, _ = new(compile(as_python(statements), "program", "exec"))
    try:
        with Program() as program:
            inputs = {name: placeholder(name, feeds[0][name], name in fixed) for name in statements.inputs}
            loss = loss_in_program(f(*inputs.values()), inputs, meanings)
        floating = [name for name in inputs if is_floating(feeds[0][name])]
        if floating:
            append_backward(loss)
    except (ValueError, TypeError, LookupError, GraphError):
        return  # a wrong program, which is refused where it is recorded
    fed = [{name: as_tensor(feed[name]) for name in statements.inputs if name not in fixed} for feed in feeds]
    fetched = [[v.name for op in program.ops for v in op.outputs if v is loss or v.name.endswith("@GRAD")]] * len(fed)
    made = back(program)
    assert text(made) == text(program)
    assert results(Executor(), made, fed, fetched) == results(Executor(), program, fed, fetched)
