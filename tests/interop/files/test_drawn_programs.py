"""Programs that are drawn: saved and loaded, they give the same bits, errors and text, also between two steps."""

import io

import pytest

import lodcore
from lodcore import GraphError
from lodcore.graph import Executor, Program, append_backward
from tests.helpers.drawing.programs import draw_program
from tests.helpers.drawing.trainings import draw_training
from tests.helpers.meanings import is_floating
from tests.helpers.programs_as_python import as_python
from tests.helpers.programs_to_keep import as_bytes
from tests.helpers.tables import for_each
from tests.helpers.ways_of_running import as_tensor, loss_in_program, new, placeholder

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


@for_each("seed", range(25))
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


@for_each("seed", range(25))
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
