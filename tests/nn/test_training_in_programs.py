"""Programs that learn: forward, backward and the step of an optimizer in one, with the bits of computing at once."""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, GraphError, LoDTensor, ShapeError, TensorArray, nn, ops
from lodcore.graph import (
    Executor,
    Program,
    Scope,
    Variable,
    append_backward,
    cond,
    data,
    parameter,
    tree_leaves,
    tree_map,
    value_and_grad,
    while_loop,
)
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference

RNG = np.random.default_rng(3)
BATCHES = [LoDTensor.from_lengths(RNG.integers(0, 6, 5), lengths) for lengths in ([2, 3], [5, 0], [1, 1, 3])]
TABLE = RNG.normal(size=(6, 3))
GRU = nn.GRU(3, 4)


def by_layer(p, ids):
    """Return the loss of an embedding, a recurrent layer and a linear one; the gradient of the table is sparse."""
    hidden = GRU(p["gru"], lodcore.lookup_table(p["table"], ids))[0]
    return ops.mean(lodcore.matmul(lodcore.tanh(hidden), p["out"]) ** 2)


def by_cell(p, ids):
    """Return the loss of a cell of one's own."""

    def cell(p, x, state):
        state = lodcore.tanh(lodcore.matmul(x, p["W"]) + lodcore.matmul(state, p["U"]) + p["b"])
        return state, state

    rows = lodcore.lookup_table(p["table"], ids)
    hidden, _ = nn.dynamic_rnn(cell, p, rows, lodcore.sequence_pool(rows, "mean"))
    return ops.mean(lodcore.matmul(hidden, p["U"]) ** 2)


def by_loop(p, ids):
    """Return the loss of a loop that writes an array, and reads parameters first used in its body."""
    rows = lodcore.sequence_pool(lodcore.lookup_table(p["table"], ids), "sum")
    states = TensorArray()
    loop = while_loop()
    with loop.loop():
        t, state = loop.step(), loop.loop_var(rows)
        loop.break_if(t >= 3)
        states.write(t, state)
        state.update(lodcore.tanh(lodcore.matmul(state, p["W"]) + p["b"]))
    return ops.mean(lodcore.matmul(states.read(1), p["U"]) * state)


SMALL = {
    "table": TABLE,
    "W": RNG.normal(size=(3, 3)),
    "U": RNG.normal(size=(3, 3)),
    "b": np.zeros(3),
    "unused": np.ones(2),
}
MODELS = {
    by_layer: {"table": TABLE.astype("f4"), "gru": GRU.init(RNG), "out": RNG.normal(size=(4, 2)).astype("f4")},
    by_cell: SMALL,
    by_loop: SMALL,
}
OPTIMIZERS = [
    nn.SGD(0.1),
    nn.SGD(lambda step: 0.1 / (step + 1), momentum=0.9, weight_decay=0.01),
    nn.Adam(0.05),
    nn.AdamW(nn.linear_schedule(0.1, 8, 2), weight_decay=0.1),
]


def trained_at_once(loss_of, optimizer, parameters, batches, clip=None):
    state, losses = optimizer.init(parameters), []
    for ids in batches:
        loss, gradients = value_and_grad(loss_of)(parameters, ids)
        if clip is not None:
            gradients, norm = nn.clip_by_global_norm(gradients, clip)
            loss = loss, norm
        losses.append(loss)
        parameters, state = optimizer.step(parameters, gradients, state)
    return losses, parameters, state


def recorded(loss_of, optimizer, values, clip=None, state=True):
    variables = tree_map(parameter, values)
    with Program() as program:
        ids = data("ids", (None,), "int64", num_levels=1)
        loss = loss_of(variables, ids)
        gradients = append_backward(loss, parameters=variables)
        if clip is not None:
            gradients, norm = nn.clip_by_global_norm(gradients, clip)
            loss = loss, norm
        given = (optimizer.init(variables),) if state else ()
        same, state = optimizer.step(variables, gradients, *given)
        assert same is variables
    return program, variables, state, loss


def equal(scope, variables, values):
    for variable, value in zip(tree_leaves(variables), tree_leaves(values), strict=True):
        found = scope.get(variable)
        assert np.asarray(found).dtype == np.asarray(value).dtype
        np.testing.assert_array_equal(found, value)


@for_each("loss_of", [*MODELS])
@for_each("optimizer", OPTIMIZERS)
def test_a_program_learns_with_the_bits_of_value_and_grad_and_step(loss_of, optimizer):
    values, batches = MODELS[loss_of], BATCHES * 3
    losses, parameters, state = trained_at_once(loss_of, optimizer, values, batches)
    program, variables, states, loss = recorded(loss_of, optimizer, values)
    executor = Executor()
    assert [executor.run(program, {"ids": ids}, [loss])[0] for ids in batches] == losses
    equal(executor.scope, variables, parameters)
    equal(executor.scope, states, state)
    for variable, value in zip(tree_leaves(variables), tree_leaves(values), strict=True):
        assert variable.get() is value, "the initial value stays"


@for_each("limit", [0.01, 1e9])
def test_gradients_are_clipped_in_a_program(limit):
    optimizer = nn.Adam(0.05)
    losses, parameters, _ = trained_at_once(by_layer, optimizer, MODELS[by_layer], BATCHES, limit)
    program, variables, _, fetch = recorded(by_layer, optimizer, MODELS[by_layer], limit, state=False)
    executor = Executor()
    assert [tuple(executor.run(program, {"ids": ids}, fetch)) for ids in BATCHES] == losses
    equal(executor.scope, variables, parameters)
    assert "clip_by_global_norm" not in str(program.clone(for_test=True))


def test_updates_run_at_the_end_of_a_run_for_any_fetch():
    w = parameter(np.ones(2), "w")
    with Program() as program:
        x = data("x", (2,), "float64")
        double = w * 2.0
        w.update(double)
        later = w + x
        other = lodcore.mul(x, 3.0)
        w.update(later)  # the last one holds
    assert "    w.update(mul)" in str(program)
    assert "w.update(add)" in str(program)
    assert '"update"' in program.to_dot()
    executor, x_of = Executor(), {"x": np.ones(2)}
    for step, fetch in enumerate([[other], [], [double], [w], [later]]):
        found = executor.run(program, x_of, fetch)
        assert executor.scope.get(w).tolist() == [step + 2.0] * 2
        if fetch and fetch[0] is not other:
            assert found[0].tolist() == [{2: 2 * (step + 1), 3: step + 1, 4: step + 2}[step]] * 2
    assert executor.scope.find_var("w").get().tolist() == [6, 6]
    assert w.get().tolist() == [1, 1]
    found[0][:] = 0
    assert executor.scope.get(w).tolist() == [6, 6], "what is fetched is the caller's"
    executor.scope.set(w, np.zeros(2))
    assert executor.run(program, x_of, [w])[0].tolist() == [0, 0]
    executor.scope.erase("w")
    assert executor.run(program, x_of, [w])[0].tolist() == [1, 1]


def test_update_of_a_parameter_copies_fed_and_constant_values():
    w, v, given = parameter(np.ones(2)), parameter(np.ones(2)), np.full(2, 5.0)
    with Program() as program:
        x = data("x", (2,), "float64")
        w.update(x)
        v.update(given)
    given[:] = 0
    executor, fed = Executor(), np.ones(2)
    executor.run(program, {x: fed})
    fed[:] = 7
    assert (executor.scope.get(w).tolist(), executor.scope.get(v).tolist()) == ([1, 1], [5, 5])
    executor.scope.get(v)[:] = 3
    executor.run(program, {x: fed})
    assert executor.scope.get(v).tolist() == [5, 5]


def test_executors_and_scopes_keep_values_apart():
    program, variables, _, loss = recorded(by_cell, nn.Adam(0.1), SMALL)
    w = variables["W"]
    one, other, scope = Executor(), Executor(), Scope()
    first = one.run(program, {"ids": BATCHES[0]}, [loss])
    again = one.run(program, {"ids": BATCHES[0]}, [loss])
    assert other.run(program, {"ids": BATCHES[0]}, [loss]) == first != again
    assert one.run(program, {"ids": BATCHES[0]}, [loss], scope=scope) == first
    assert (scope.get(w) == other.scope.get(w)).all()
    assert not (scope.get(w) == one.scope.get(w)).all()
    inner = Scope(scope)
    assert other.run(program, {"ids": BATCHES[0]}, [loss], scope=inner) == again, "an inner Scope begins with the outer"
    assert (scope.get(w) == Executor().scope.get(w)).sum() == 0
    assert (inner.get(w) == one.scope.get(w)).all()
    with pytest.raises(DTypeError, match=r"Executor\.run: scope: is dict; a Scope is needed"):
        one.run(program, {"ids": BATCHES[0]}, scope={})
    with pytest.raises(DTypeError, match=r"Executor\.run: scope: is Record"):
        one.run(program, {"ids": BATCHES[0]}, scope=one.scope.kids[-1])


def test_programs_share_the_scope_of_an_executor():
    w = parameter(np.ones(2))
    with Program() as train:
        w.update(w + data("x", (2,), "float64"))
    with Program() as test:
        y = data("y", (2,), "float64") * w
    executor = Executor()
    for _ in range(3):
        executor.run(train, {"x": np.ones(2)})
    assert executor.run(test, {"y": np.ones(2)}, [y])[0].tolist() == [4, 4]
    assert executor.scope.get(w).tolist() == [4, 4]


def test_two_programs_may_have_variables_of_one_name():
    executor, values = Executor(), []
    for value in (1.0, 10.0):
        w = parameter(value, "w")
        with Program() as program:
            w.update(w * 2.0)
        values.append((program, w))
    for program, w in values * 2:
        executor.run(program)
        assert executor.scope.find_var("w").get() == executor.scope.get(w)
    assert [float(executor.scope.get(w)) for _, w in values] == [4, 40]


def test_a_run_that_fails_updates_nothing():
    v, w = parameter(np.ones(2), "v"), parameter(np.ones(2), "w")
    with Program() as program:
        x = data("x", (None,), "float64")
        v.update(v + 1.0)
        w.update(x)
    executor = Executor()
    executor.run(program, {"x": np.zeros(2)})
    with pytest.raises(GraphError, match=r"update: w: value: is float64 \(3,\); the parameter is float64 \(2,\)"):
        executor.run(program, {"x": np.zeros(3)})
    assert executor.scope.get(v).tolist() == [2, 2]
    with program:
        lodcore.cross_entropy(np.ones((1, 2)), np.array([5]) + ops.cast(ops.sum(x), "int64"))
    with pytest.raises(IndexError):
        executor.run(program, {"x": np.zeros(2)})
    assert executor.scope.get(v).tolist() == [2, 2]
    assert executor.scope.kids == ()


@for_each(
    ("update", "says"),
    [
        (lambda w, x, y: w.update(np.ones(3)), r"update: w: value: is float64 \(3,\); the parameter is float64 \(2,\)"),
        (lambda w, x, y: w.update(ops.cast(w, "float32")), r"update: w: value: is float32 \(2,\)"),
        (lambda w, x, y: w.update(x), r"update: w: value: is float64 \(\.,\), 1 level"),
        (lambda w, x, y: x.update(w), r"update: x: is not a parameter but data x: .*; only parameters are updated"),
        (lambda w, x, y: y.update(w), r"update: mul: is not a parameter but result mul"),
    ],
)
def test_append_update_of_other_variables_or_shapes_raises(update, says):
    w = parameter(np.ones(2), "w")
    with Program() as program:
        x = data("x", (None,), "float64", num_levels=1)
        y = w * 2.0
        with pytest.raises(GraphError, match=says):
            update(w, x, y)
    assert len(program.ops) <= 2


def test_updates_belong_at_the_top_level_of_a_program():
    w = parameter(np.ones(2), "w")
    with pytest.raises(GraphError, match="update: w: is not a loop variable, and no Program is open"):
        w.update(np.ones(2))
    with Program():
        loop = while_loop()
        with pytest.raises(GraphError, match="parameters are updated at the top level of a Program"), loop.loop():
            w.update(np.ones(2))
    with pytest.raises(GraphError, match=r"SGD\.step: parameters: are Variables, and no Program is open"):
        nn.SGD(0.1).step([w], [np.ones(2)])


def test_optimizers_in_a_program_refuse_steps_that_do_not_fit():
    optimizer, w = nn.Adam(0.1), parameter(np.ones(2), "w")
    with Program():
        loss = ops.sum(w * data("x", (2,), "float64"))
        gradient = append_backward(loss, parameters=w)
        for state in (optimizer.init([np.ones(2)]), {}, 5):
            with pytest.raises(DTypeError, match=r"Adam\.step: state"):
                optimizer.step([w], [gradient], state)
        with pytest.raises(ValueError, match="gradients: is list of 2; list of 1 is needed"):
            optimizer.step([w], [gradient, gradient])
        with pytest.raises(DTypeError, match=r"gradients\[0\]: is ndarray; a Variable of the Program"):
            optimizer.step([w], [np.ones(2)])
        with pytest.raises(ShapeError, match=r"gradients\[0\]: has shape \(\); the parameter has \(2,\)"):
            optimizer.step([w], [loss])
        with pytest.raises(DTypeError, match=r"gradients\[0\]: has a state of"):
            optimizer.step([w], [gradient], optimizer.init([parameter(np.ones(3))]))


# -- for test ----------------------------------------------------------------------------------------------------------


def with_dropout(p, ids, rng):
    hidden = nn.dropout(lodcore.lookup_table(p["table"], ids), 0.5, rng)
    first, loop = lodcore.sequence_pool(hidden, "sum"), while_loop()
    with loop.loop():
        state = loop.loop_var(first)
        loop.break_if(loop.step() >= 2)
        new = lodcore.tanh(lodcore.matmul(state, p["W"]))
        state.update(cond(loop.step() < 1, lambda x: x, lambda x: nn.dropout(x, 0.5, rng), new))
    return ops.mean(state**2)


def test_a_clone_for_test_has_neither_updates_nor_dropout():
    average, rng = parameter(np.zeros(()), "average"), np.random.default_rng(0)

    def loss_of(p, ids):
        loss = with_dropout(p, ids, rng)
        average.update(average * 0.9 + loss * 0.1)
        return loss

    program, variables, _, loss = recorded(loss_of, nn.Adam(0.1), SMALL)
    with program:
        accuracy = lodcore.mul(loss, 2.0)
    test = program.clone(for_test=True)
    text = str(test)
    assert "dropout(" in text
    assert "Generator" not in text
    for word in ("update(average", "adam", "optimizer", "@GRAD", "grad(", "average", "step_0"):
        assert word not in text
    executor = Executor()
    for ids in BATCHES * 2:
        executor.run(program, {"ids": ids}, [loss])
    learned = tree_map(executor.scope.get, variables)
    before = rng.bit_generator.state
    found = executor.run(test, {"ids": BATCHES[0]}, [loss, accuracy, loss.name])
    assert found[0] == found[2] == with_dropout(learned, BATCHES[0], None)
    assert found[1] == 2 * found[0]
    assert rng.bit_generator.state == before
    assert executor.run(test, {"ids": BATCHES[0]}) == []
    equal(executor.scope, variables, learned)
    with test:
        more = accuracy * variables["W"]
    assert executor.run(test, {"ids": BATCHES[0]}, [more])[0].shape == (3, 3)
    assert more.block is test


def test_gradients_that_no_update_needs_stay_in_a_clone_for_test():
    w = parameter(np.ones(2), "w")
    with Program() as program:
        x = data("x", (2,), "float64")
        loss = ops.sum(nn.dropout(w * x, 0.5, np.random.default_rng(0)))
        append_backward(loss)
    test = program.clone(for_test=True)
    assert Executor().run(test, {"x": np.array([2.0, 3.0])}, ["w@GRAD"])[0].tolist() == [2, 3]


def test_a_clone_is_the_same_program():
    program, _, _, loss = recorded(by_loop, nn.SGD(0.1), SMALL)
    clone = program.clone()
    assert str(clone) == str(program)
    one, other = Executor(), Executor()
    for ids in BATCHES:
        assert one.run(program, {"ids": ids}, [loss]) == other.run(clone, {"ids": ids}, [loss])
    with clone:
        lodcore.mul(loss, 2.0)
    assert len(clone.ops) == len(program.ops) + 1
    with program, pytest.raises(GraphError, match=r"Program\.clone: is open"):
        program.clone()


def test_a_variable_outside_keeps_its_initial_value():
    v = Variable(np.array(1.0))
    with Program() as program:
        v.update(v * 2.0)
    Executor().run(program)
    assert float(v.get()) == 1
