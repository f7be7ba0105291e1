"""The Scopes of the last run: Program, loops, steps, loops in steps; they hang in that of the Executor."""

import gc
import threading
import weakref

import numpy as np
import pytest

import lodcore
from lodcore import GraphError, LoDTensor, TensorArray, ops, vjp
from lodcore.graph import Executor, Program, Scope, Variable, append_backward, cond, data, parameter, while_loop
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference

W = np.array([[0.5, 0.1], [0.2, 0.3]])
X = np.arange(6.0).reshape(3, 2)


def nested(recompute=False):
    """Record a loop of three steps with one of two steps in each, an array, and the gradient."""
    loops = []
    with Program() as program:
        x, w, states = data("x", (None, 2), "float64"), parameter(W, "W"), TensorArray(name="states")
        outer = while_loop(recompute=recompute)
        with outer.loop():
            t, s = outer.step(), outer.loop_var(x)
            outer.break_if(t >= 3)
            inner = while_loop()
            with inner.loop():
                u = inner.loop_var(s)
                inner.break_if(inner.step() >= 2)
                u.update(lodcore.tanh(lodcore.matmul(u, w)))
            states.write(t, u)
            s.update(u)
        loss = ops.sum(s)
        append_backward(loss)
        loops += [outer, inner]
    return program, loss, *loops


def expected(steps):
    found = [X]
    for _ in range(steps):
        found.append(np.tanh(found[-1] @ W))
    return found


def check_tree(executor, outer, inner):
    """Check the tree of Scopes, and that it is the same whenever one looks."""
    (program,) = executor.scope.kids
    (loop,) = program.kids
    assert executor.scope.kids == (program,)
    assert program.kids == (loop,)
    assert loop.kids == loop.kids == outer.step_scopes
    assert len(loop.kids) == 4
    assert [scope.parent for scope in (program, loop, loop.kids[0])] == [executor.scope, program, loop]
    states = expected(8)
    name = outer.variables[0].name
    for at, step in enumerate(loop.kids):
        np.testing.assert_array_equal(step.find_var("x_1").get(), states[2 * at])
        assert len(step.kids) == (at < 3), name
        assert (step.find_var("W").get() == W).all(), "found outside of the step"
        for scope in step.kids:
            assert scope.parent is step
            assert len(scope.kids) == 3
            for j, one in enumerate(scope.kids):
                assert one.parent is scope
                np.testing.assert_array_equal(one.find_var("x_1_1").get(), states[2 * at + j])
    assert inner.step_scopes == loop.kids[2].kids[0].kids
    return program, loop


@for_each("keep", ["a gradient", "keep_scopes", "both"])
def test_the_tree_of_the_last_run_hangs_in_the_scope_of_the_executor(keep):
    program, loss, outer, inner = nested()
    executor = Executor()
    fetch = [loss] if keep == "keep_scopes" else [loss, "W@GRAD"]
    executor.run(program, {"x": X}, fetch, keep_scopes=keep != "a gradient")
    check_tree(executor, outer, inner)
    check_tree(executor, outer, inner)
    if keep != "a gradient":
        step = outer.step_scopes[1].kids[0].kids[0]
        np.testing.assert_array_equal(step.find_var("matmul").get(), expected(2)[2] @ W)
    states = outer.step_scopes[2].find_var("states_1").get()
    assert int(states.size()) == 2, "as it was when the step began, or after its write"
    before = executor.scope.kids
    executor.run(program, {"x": X}, [loss])
    assert executor.scope.kids != before
    assert executor.scope.kids[0].kids == () == outer.step_scopes
    np.testing.assert_array_equal(before[0].find_var("x").get(), X)


def test_scopes_of_recomputed_steps_show_their_first_values():
    program, _, outer, _ = nested(recompute=True)
    executor = Executor()
    executor.run(program, {"x": X}, ["W@GRAD"])
    (loop,) = executor.scope.kids[0].kids
    assert loop.kids == outer.step_scopes
    for step, state in zip(loop.kids, expected(8)[::2], strict=False):
        np.testing.assert_array_equal(step.find_var("x_1").get(), state)
        assert step.kids == ()


def test_scopes_are_the_same_objects_in_any_order_of_access():
    program, _, outer, inner = nested()
    executor = Executor()
    executor.run(program, {"x": X}, ["W@GRAD"])
    steps, deep = outer.step_scopes, inner.step_scopes
    assert steps[0].parent.parent is executor.scope.kids[0]
    (loop,) = executor.scope.kids[0].kids
    assert loop.kids == steps
    assert loop.kids[2].kids[0].kids == deep
    assert deep[0].parent.parent is loop.kids[2]


def test_the_scopes_of_a_run_are_dropped_before_the_next_begins():
    program, loss, outer, _ = nested()
    executor, held = Executor(), []
    executor.run(program, {"x": X}, ["W@GRAD"])
    held.append(weakref.ref(executor.scope.kids[0]))
    with pytest.raises(GraphError, match="is not fed"):
        executor.run(program, {}, [loss])
    gc.collect()
    assert held[0]() is None
    assert executor.scope.kids == () == outer.step_scopes
    assert executor.scope.local_var_names() == []


def test_str_of_a_scope_shows_the_tree_of_runs():
    program, _, _, _ = nested()
    executor = Executor()
    executor.run(program, {"x": X}, ["W@GRAD"])
    lines = str(executor.scope).splitlines()
    assert lines[0].startswith("Scope: ")
    assert lines[1].startswith("    Program: ")
    assert {"x", "W", "W@GRAD"} <= {*lines[1].split(": ")[1].split(", ")}
    assert lines[2].startswith("        while_loop: ")
    assert lines[3].startswith("            step 0: ")
    assert lines[4].startswith("                while_loop: ")
    assert lines[5].startswith("                    step 0: ")
    with Program() as program:
        loop = while_loop()
        with loop.loop():
            loop.break_if(loop.step() >= 100)
    executor.run(program, keep_scopes=True)
    assert str(executor.scope).splitlines()[-1].strip() == "... 93 more"


CHANGES = [
    lambda scope, name: scope.find_var(name).set(np.zeros(2)),
    lambda scope, name: scope.var(name).set(np.zeros(2)),
    lambda scope, name: scope.find_var(name).get_mutable(LoDTensor),
    lambda scope, name: scope.find_var(name).clone(Variable(1.0)),
    lambda scope, name: scope.var("new"),
    lambda scope, name: scope.erase(name),
    lambda scope, name: scope.new_scope(),
    lambda scope, name: scope.drop_kids(),
    lambda scope, name: scope.set(Variable(1.0), 1.0),
]


def test_scopes_of_a_run_refuse_writes():
    program, _, outer, _ = nested()
    executor = Executor()
    executor.run(program, {"x": X}, ["W@GRAD"])
    gradient = executor.run(program, {"x": X}, ["W@GRAD"])[0]
    step = outer.step_scopes[1]
    for scope in (*executor.scope.kids, step.parent, step):
        name = scope.local_var_names()[0]
        for change in CHANGES:
            with pytest.raises(GraphError, match=r"the record of a run.*, which cannot be changed"):
                change(scope, name)
        for one in scope.local_var_names():
            value = scope.find_var(one).get()
            if isinstance(value, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    value[...] = 0
    assert (gradient == executor.run(program, {"x": X}, ["W@GRAD"])[0]).all()


def test_rows_and_arrays_of_a_record_are_copies_or_read_only():
    fed, given = lodcore.array([[1.0, 2.0], [3.0]]), TensorArray()
    given.write(0, np.ones(2))
    with Program() as program:
        y = lodcore.tanh(data("x", (None,), "float64", num_levels=1))
        lodcore.mul(given.read(0), 2.0)
    executor = Executor()
    executor.run(program, {"x": fed})
    for name in ("x", y.name):
        with pytest.raises(ValueError, match="read-only"):
            executor.scope.find_var(name).get()[0] = 5.0
    assert fed.tolist() == [[1, 2], [3]]
    executor.scope.kids[0].find_var("array").get().write(0, np.zeros(2))
    assert given.read(0).tolist() == [1, 1]


def test_executor_run_keeps_its_scopes_in_a_given_scope():
    program, loss, outer, _ = nested()
    scope, executor = Scope(), Executor()
    own = scope.new_scope()
    executor.run(program, {"x": X}, [loss, "W@GRAD"], scope=scope)
    assert scope.kids[0] is own
    assert scope.kids[1].kids[0].kids == outer.step_scopes
    assert executor.scope.kids == ()
    scope.drop_kids()
    assert scope.kids == ()


def test_step_scopes_under_vjp_are_the_same_objects_while_held():
    loops = []

    def f(x):
        loop = while_loop()
        loops.append(loop)
        with loop.loop():
            s = loop.loop_var(x)
            loop.break_if(loop.step() >= 2)
            s.update(s * 2.0)
        return s

    _, pullback = vjp(f, 1.0)
    scopes = loops[0].step_scopes
    assert scopes == loops[0].step_scopes
    with pytest.raises(GraphError, match="the record of a run"):
        scopes[0].find_var("input").set(5.0)
    assert float(pullback(1.0)[0]) == 4
    del pullback
    gc.collect()
    assert float(scopes[1].find_var("input").get()) == 2


def test_threads_get_the_same_scope_objects():
    program, _, outer, _ = nested()
    executor, found = Executor(), []
    executor.run(program, {"x": X}, ["W@GRAD"])
    threads = [threading.Thread(target=lambda: found.append(executor.scope.kids[0].kids[0].kids)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(steps == outer.step_scopes for steps in found)
    assert len(found) == 8


def test_branches_of_cond_have_scopes():
    with Program() as program:
        x, w = data("x", (None, 2), "float64"), parameter(W, "W")

        def deep(x):
            loop = while_loop()
            with loop.loop():
                s = loop.loop_var(x)
                loop.break_if(loop.step() >= 2)
                s.update(cond(loop.step() < 1, lambda s: lodcore.matmul(s, w), lodcore.tanh, s))
            return s

        loss = ops.sum(cond(ops.sum(x) > 0, deep, lambda x: x, x))
        append_backward(loss)
    executor = Executor()
    for feed in (X, X - 9):
        executor.run(program, {"x": feed}, ["W@GRAD"])
        (branch,) = executor.scope.kids[0].kids
        assert branch.title == ("cond, when_true" if feed is X else "cond, when_false")
        if feed is X:
            (loop,) = branch.kids
            assert [one.title for step in loop.kids for one in step.kids] == ["cond, when_true", "cond, when_false"]
            np.testing.assert_array_equal(loop.kids[0].kids[0].find_var("matmul").get(), X @ W)
    assert "cond, when_false" in str(executor.scope)
