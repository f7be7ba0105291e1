"""Loop-invariant operands, and values that no gradient reads."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies

import lodcore
from lodcore import LoDTensor, ops, vjp
from lodcore.graph import VarArray, while_loop
from lodcore.operators.operands import unbroadcast
from lodcore.operators.registry import OPS

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

ROWWISE = [name for name, op in OPS.items() if op.rowwise and len(op.parameters) == 2 and op.differentiable]
WITH_RULES = [name for name, op in OPS.items() if op.on_arrays is not None and op.differentiable]
RNG = np.random.default_rng(11)


def steps_of(body, x, shared, count, recompute=False):
    """Run `state = body(state, *shared)` in a loop; return the sum of the last state."""
    loop = while_loop(recompute=recompute)
    with loop.loop():
        state = loop.loop_var(x)
        loop.break_if(lodcore.equal(loop.step(), count))
        state.update(body(state, *shared))
    return ops.sum(lodcore.mul(state, state))


def unrolled(body, x, shared, count):
    """Compute the same without a loop."""
    for _ in range(count):
        x = body(x, *shared)
    return ops.sum(lodcore.mul(x, x))


def check(body, x, shared, count=3, rtol=1e-10):
    """Compare the gradients of a loop with those of the unrolled body, for every choice of needed gradients."""
    for chosen in itertools.product([False, True], repeat=len(shared) + 1):
        if not any(chosen):
            continue

        def f(way, *wanted, chosen=chosen, **options):
            at = iter(wanted)
            x_here, *shared_here = [next(at) if one else known for one, known in zip(chosen, [x, *shared], strict=True)]
            return way(body, x_here, shared_here, count, **options)

        wanted = [known for one, known in zip(chosen, [x, *shared], strict=True) if one]
        expected, pullback = vjp(lambda *w, f=f: f(unrolled, *w), *wanted)
        derivatives = pullback(1.0)
        for recompute in (False, True):
            value, pullback = vjp(lambda *w, f=f, r=recompute: f(steps_of, *w, recompute=r), *wanted)
            np.testing.assert_allclose(value, expected, rtol=rtol)
            for _ in range(2):
                for one, other in zip(pullback(1.0), derivatives, strict=True):
                    assert type(one) is type(other)
                    one, other = (d.values if isinstance(d, LoDTensor) else d for d in (one, other))
                    assert (one.dtype, one.flags.c_contiguous) == (other.dtype, True)
                    np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12)


def network(x, w, b, s):
    return lodcore.tanh(lodcore.mul(lodcore.add(lodcore.matmul(x, w), b), s))


@pytest.mark.parametrize("rows", [0, 1, 5, 400])
def test_gradients_of_shared_weights_equal_the_unrolled_loop(rows):
    """A weight, a bias and a scale; with 400 rows and 3 steps their gradients are accumulated more than once."""
    check(network, RNG.standard_normal((rows, 3)), [RNG.standard_normal(shape) for shape in ((3, 3), (3,), (3,))])


def test_gradients_of_shared_operands_on_either_side_equal_the_unrolled_loop():
    x, b, s = RNG.standard_normal((4, 3)), RNG.standard_normal(3), RNG.standard_normal(3)
    check(lambda x, b, s: lodcore.tanh(lodcore.mul(s, lodcore.add(b, x))), x, [b, s])
    check(lambda x, b: lodcore.add(b, lodcore.mul(x, b)), x, [b])


def test_gradients_of_shared_operands_that_broadcast_equal_the_unrolled_loop():
    """Operands as wide as the rows, of one number or row, and rows that are broadcast to more columns."""
    x = RNG.standard_normal((4, 3))
    for shape in ((), (1,), (1, 3), (4, 1), (4, 3)):
        check(lambda x, y: lodcore.tanh(lodcore.mul(lodcore.add(x, y), y)), x, [RNG.standard_normal(shape)])

    def through_a_column(x, column, y):
        return lodcore.matmul(lodcore.add(lodcore.mul(lodcore.matmul(x, column), y), y), np.eye(3))

    check(through_a_column, x, [RNG.standard_normal((3, 1)), RNG.standard_normal(3)])
    cube = RNG.standard_normal((2, 4, 3))
    check(lambda x, w, b: lodcore.add(lodcore.matmul(x, w), b), cube, [RNG.standard_normal((3, 3)), RNG.random(3)])
    check(lambda x, w: lodcore.matmul(x, w), RNG.standard_normal(3), [RNG.standard_normal((3, 3))])


def test_gradients_of_shared_weights_of_a_lod_tensor_equal_the_unrolled_loop():
    x = LoDTensor.from_lengths(RNG.standard_normal((5, 3)), [2, 0, 3])
    check(network, x, [RNG.standard_normal(shape) for shape in ((3, 3), (3,), (3,))])


def test_gradients_of_shared_float32_operands_stay_float32():
    """float32, alone and added to float64; no gradient of float32 may become float64."""
    check(
        lambda x, w: lodcore.tanh(lodcore.add(lodcore.matmul(x, w), np.ones((4, 3)))).astype(np.float32),
        RNG.standard_normal((4, 3)).astype(np.float32),
        [RNG.standard_normal((3, 3)).astype(np.float32)],
        rtol=2e-4,
    )
    x = RNG.standard_normal((4, 3)).astype(np.float32)
    shared = [RNG.standard_normal(shape).astype(np.float32) for shape in ((3, 3), (3,), (3,))]
    check(network, x, shared, rtol=2e-4)


def test_gradients_of_shared_weights_of_shrinking_steps_that_are_used_outside_too():
    table = lodcore.lod_rank_table([[0] * 3, [0], [0] * 2])
    w, b = RNG.standard_normal((2, 2)), RNG.standard_normal(2)

    def shrinking(x, w, b, looped):
        start = lodcore.add(x, b)
        if looped:
            loop = while_loop()
            with loop.loop():
                step, state = loop.step(), loop.loop_var(start)
                loop.break_if(lodcore.equal(step, 3))
                left = lodcore.shrink_memory(state, step, table)
                state.update(lodcore.tanh(lodcore.add(lodcore.matmul(left, w), b)))
            last = state
        else:
            last = start
            for step in range(3):
                last = lodcore.tanh(lodcore.add(lodcore.matmul(lodcore.shrink_memory(last, step, table), w), b))
        return ops.sum(lodcore.matmul(last, w))

    x = RNG.standard_normal((3, 2))
    found = vjp(lambda *given: shrinking(*given, True), x, w, b)[1](1.0)
    expected = vjp(lambda *given: shrinking(*given, False), x, w, b)[1](1.0)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_gradients_of_weights_shared_by_nested_loops():
    def f(x, w):
        outer = while_loop()
        with outer.loop():
            state = outer.loop_var(x)
            outer.break_if(lodcore.equal(outer.step(), 2))
            inner = while_loop()
            with inner.loop():
                deeper = inner.loop_var(state)
                inner.break_if(lodcore.equal(inner.step(), 3))
                deeper.update(lodcore.tanh(lodcore.matmul(deeper, w)))
            state.update(lodcore.add(deeper, lodcore.matmul(state, w)))
        return ops.sum(state)

    lodcore.grad_check(f, RNG.standard_normal((2, 2)), RNG.standard_normal((2, 2)))


def test_gradients_of_a_weight_that_changes_every_step():
    """A weight that changes from step to step."""

    def f(x, w):
        loop = while_loop()
        with loop.loop():
            state, weight = loop.loop_var(x), loop.loop_var(w)
            loop.break_if(lodcore.equal(loop.step(), 3))
            state.update(lodcore.matmul(state, weight))
            weight.update(lodcore.mul(weight, 0.5))
        return ops.sum(state)

    lodcore.grad_check(f, RNG.standard_normal((2, 2)), RNG.standard_normal((2, 2)))


# -- the parts -------------------------------------------------------------------------------------------------------


def called(op, d, operands, out, needs):
    """Call the vjp rule of an operator with the values that it names."""
    known = dict(zip([*op.parameters, "out", "needs"], [*operands, out, op.only_rule.needs(needs)], strict=True))
    found = op.vjp_rule(d, *[known[name] for name in op.only_rule.names])
    return found if len(operands) > 1 else (found,)


def test_add_mul_and_matmul_are_rowwise():
    assert {"add", "mul", "matmul"} <= set(ROWWISE)


@pytest.mark.parametrize("name", ROWWISE)
@given(rows=strategies.lists(strategies.integers(0, 4), min_size=1, max_size=4))
def test_rowwise_vjp_of_joined_rows_is_the_sum_of_the_calls(name, rows):
    """It is the sum of the gradients of the calls."""
    op, rng = OPS[name], np.random.default_rng(rows)
    for place in [op.parameters.index(x) for x in op.rowwise]:
        shared = rng.uniform(1, 2, (3,) * (1 + (name == "matmul")))
        needs = tuple(j != place for j in range(2))
        xs, ds, outs, expected = [], [], [], np.zeros(shared.shape)

        def gradient(d, x, out, place=place, shared=shared, needs=needs):
            operands = [x, shared] if place == 0 else [shared, x]
            made = called(op, d, operands, out, needs)[1 - place]  # None where there is none
            return np.zeros(shared.shape) if made is None else unbroadcast(made, shared.shape)

        for count in rows:
            x, d = rng.uniform(1, 2, (2, count, 3))
            outs.append(op.__wrapped__(*([x, shared] if place == 0 else [shared, x])))
            expected += gradient(d, x, outs[-1])
            xs.append(x)
            ds.append(d)
        found = gradient(*map(np.concatenate, (ds, xs, outs)))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", WITH_RULES)
def test_vjp_rules_do_not_read_values_declared_unused(name):
    """If unread values are replaced by nan, the gradients are the same."""
    op = OPS[name]
    operands = [RNG.uniform(0.1, 0.9, (3, 3)) for _ in op.parameters]
    out, d, needs = op.__wrapped__(*operands), RNG.standard_normal((3, 3)), (True,) * len(op.parameters)
    expected = called(op, d, operands, out, needs)
    values = dict(zip([*op.parameters, "out"], [*operands, out], strict=True))
    assert op.unused_by_vjp <= values.keys()
    *hidden, of_out = [np.full_like(x, np.nan) if one in op.unused_by_vjp else x for one, x in values.items()]
    for one, other in zip(called(op, d, hidden, of_out, needs), expected, strict=True):
        assert one is other is None or np.array_equal(one, other)


def test_gradients_through_array_reads_writes_and_shrinking_memory():
    """Reads, also before the first element, writes, and memory that shrinks."""
    table = lodcore.lod_rank_table([[0], [0] * 3, [0] * 3])

    def f(x, rows):
        steps = lodcore.tensor_array_unstack(rows)
        kept = VarArray()
        loop = while_loop()
        with loop.loop():
            step, state = loop.step(), loop.loop_var(x)
            loop.break_if(lodcore.equal(step, 3))
            left = lodcore.shrink_memory(state, step, table)
            before = lodcore.shrink_memory(kept.get(step - 1, x), step, table)
            new = lodcore.mul(lodcore.add(left, steps.read(step)), before)
            kept.get(step).update(new)
            state.update(new)
        return lodcore.add(ops.sum(kept.concat()), ops.sum(state))

    lodcore.grad_check(f, RNG.standard_normal((3, 2)), RNG.standard_normal((3, 2)))


def test_cotangents_that_are_read_only_or_unaligned_are_taken():
    """Read-only, or at an odd address."""
    table = lodcore.lod_rank_table([[0], [0] * 3, [0] * 3])

    def f(x):
        loop = while_loop()
        with loop.loop():
            step, state = loop.step(), loop.loop_var(x)
            loop.break_if(lodcore.equal(step, 2))
            state.update(lodcore.shrink_memory(state, step, table))
        return state

    _, pullback = vjp(f, np.ones((3, 2)))
    odd = np.zeros(33, np.uint8)[1:].view(np.float64).reshape(2, 2)
    odd[...] = [[1.0, 2.0], [3.0, 4.0]]
    odd.flags.writeable = False
    (found,) = pullback(odd)
    np.testing.assert_array_equal(found, [[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])


def test_values_that_no_gradient_reads_are_released_after_each_step():
    loops = []

    def f(x, w):
        loop = while_loop()
        with loop.loop():
            state = loop.loop_var(x)
            loop.break_if(lodcore.equal(loop.step(), 2))
            product = lodcore.matmul(state, w)  # read by the sum alone, whose gradient does not need it
            twice = lodcore.add(product, 1.0)  # read twice
            wide = lodcore.matmul(state, np.ones((2, 1)))  # another shape than the sum
            bent = lodcore.tanh(lodcore.add(twice, wide))  # read by its own gradient
            state.update(lodcore.add(bent, lodcore.tanh(twice)))
        loops.append(loop)
        return ops.sum(state)

    x, w = RNG.standard_normal((3, 2)), RNG.standard_normal((2, 2))
    _, pullback = vjp(f, x, w)
    first = loops[0].step_scopes[0]
    names = ["matmul", "add", "matmul_1", "add_1", "tanh", "tanh_1", "add_2"]
    assert [name for name in names if first.find_var(name) is None] == ["matmul", "add_1"]
    del pullback
    lodcore.grad_check(f, x, w)


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 39, 40, 63, 64, 65, 100, 127, 128, 129, 200])
def test_gradient_of_many_small_steps_is_the_sum_over_all(count, rows):
    """Many steps of few rows are processed together: the gradient is the sum over all of them."""
    x, weight, bias = RNG.standard_normal((rows, 2)), 0.5 * RNG.standard_normal((2, 2)), RNG.standard_normal(2)
    drives = RNG.standard_normal((count, rows, 2))

    def run(weight, bias, x):
        drive, total = VarArray(unstack_from=drives), ops.sum(lodcore.mul(x, 0.0))
        loop = while_loop()
        with loop.loop():
            state, so_far = loop.loop_var(x), loop.loop_var(total)
            loop.break_if(lodcore.equal(loop.step(), count))
            made = lodcore.tanh(lodcore.add(lodcore.add(lodcore.matmul(state, weight), bias), drive[loop.step()]))
            state.update(made)
            so_far.update(lodcore.add(so_far, ops.sum(made)))
        return so_far

    total, pullback = vjp(run, weight, bias, x)
    states = [x]
    for drive in drives:
        states.append(np.tanh(states[-1] @ weight + bias + drive))
    np.testing.assert_allclose(total, sum(state.sum() for state in states[1:]), rtol=1e-10, atol=1e-10)
    d_weight, d_bias, d_state = np.zeros((2, 2)), np.zeros(2), np.zeros((rows, 2))
    for before, state in zip(states[-2::-1], states[:0:-1], strict=True):
        d = (d_state + 1) * (1 - state * state)
        d_weight += before.T @ d
        d_bias += d.sum(0)
        d_state = d @ weight.T
    for found, wanted in zip(pullback(1.0), (d_weight, d_bias, d_state), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
