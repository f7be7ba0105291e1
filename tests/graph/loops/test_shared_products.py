"""Loop invariants: matrices that are packed once, and sums of the gradients of slices of one tensor."""

import numpy as np
import pytest

import lodcore
from lodcore import kernels, nn, ops, vjp
from lodcore.errors import ShapeError
from lodcore.graph import while_loop
from lodcore.ops.networks import matrix
from lodcore.ops.networks.matrix import SharedMatrix

DTYPES = [np.float32, np.float64]
SMALL = matrix.SMALL


@pytest.fixture(autouse=True)
def small_matrices_too(monkeypatch):
    """Prepare matrices of any size."""
    monkeypatch.setattr(matrix, "SMALL", 0)


def whole(rng, *shape, dtype=np.float64):
    """Draw small integers, whose products are exact."""
    return rng.integers(-3, 4, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [*DTYPES, ">f4", ">f8"])
@pytest.mark.parametrize(("rows", "depth", "columns"), [(1, 1, 1), (5, 3, 2), (40, 17, 70), (3, 64, 33)])
def test_shared_matrix_products_equal_numpy(rows, depth, columns, dtype):
    rng = np.random.default_rng(0)
    x, y = whole(rng, rows, depth, dtype=dtype), whole(rng, depth, columns, dtype=dtype)
    d = whole(rng, rows, columns, dtype=dtype)
    found = SharedMatrix.of(y)
    if found is None:
        assert not kernels.matrix.is_fast()
        return
    for _ in range(2):
        np.testing.assert_array_equal(found.forward(x), x @ y)
        np.testing.assert_array_equal(found.backward(d), d @ y.T)
    wide = whole(rng, rows, 2 * depth, dtype=dtype)
    np.testing.assert_array_equal(found.forward(wide[:, depth:]), wide[:, depth:] @ y)
    total = found.accumulate(x, d, None)
    assert found.accumulate(x, d, total) is total
    np.testing.assert_array_equal(total, 2 * (x.T @ d))


@pytest.mark.parametrize("dtype", DTYPES)
def test_shared_matrix_of_any_memory_order_equals_numpy(dtype):
    rng = np.random.default_rng(1)
    y, x, d = whole(rng, 40, 60, dtype=dtype), whole(rng, 3, 20, dtype=dtype), whole(rng, 3, 30, dtype=dtype)
    for given in (y[:20, :30], y.T[:20, :30], y[::-2, ::-2], np.asfortranarray(y[20:, 30:])):
        found = SharedMatrix.of(given)
        if found is not None:
            np.testing.assert_array_equal(found.forward(x), x @ given)
            np.testing.assert_array_equal(found.backward(d), d @ given.T)


def test_shared_matrix_does_not_pack_small_matrices(monkeypatch):
    monkeypatch.setattr(matrix, "SMALL", SMALL)
    assert SharedMatrix.of(np.ones((32, 32))) is None
    assert (SharedMatrix.of(np.ones((64, 64))) is not None) == kernels.matrix.is_fast()


def test_shared_matrix_does_not_pack_other_dtypes_and_shapes():
    assert SharedMatrix.of(np.ones((2, 3), np.int64)) is None
    assert SharedMatrix.of(np.ones((0, 3))) is None
    for dtype in ("f2", "g", "c16"):
        assert SharedMatrix.of(np.ones((2, 3), dtype)) is None
    assert SharedMatrix.of(np.ones(3)) is None
    assert SharedMatrix.of(lodcore.array([[[1.0, 2.0]]])) is None
    found = SharedMatrix.of(np.ones((2, 3)))
    if found is None:
        assert not kernels.matrix.is_fast()
        return
    ones = np.ones((4, 4))
    for x in (ones[:, :2].astype(np.float32), ones[:, :3], ones[:2].T, ones[::-1, :2], ones[:, ::2]):
        assert found.forward(x) is None
    assert found.backward(np.ones((4, 2))) is None
    assert found.accumulate(np.ones((4, 2)), np.ones((4, 2)), None) is None


def cell(p, x, state):
    """Compute a step with two shared matrices, one of them used twice, and overlapping slices."""
    both = x @ p["in"] + state @ p["of"] + (0.5 * state) @ p["of"]
    first, rest, all_but_one = both[:, :2], both[:, 2:], both[:, 1:]
    state = state + first * rest + all_but_one[:, ::-1][:, :2] + both[:, 3:1:-1]
    return state, state


def parameters(dtype=np.float64):
    rng = np.random.default_rng(1)
    return {"in": whole(rng, 3, 4, dtype=dtype) / 8, "of": whole(rng, 2, 4, dtype=dtype) / 8}


X = lodcore.LoDTensor.from_lengths(whole(np.random.default_rng(2), 9, 3) / 4, [3, 0, 5, 1])
BOOT = np.zeros((4, 2))


def loss(p, x, boot):
    outputs, last = nn.dynamic_rnn(cell, p, x, boot)
    return ops.sum(outputs * outputs) + ops.sum(last)


def unrolled(p, x, boot):
    """Compute the same for each sequence separately, with NumPy's products."""
    total = 0.0
    for j, length in enumerate(X.lengths):
        state = ops.index_values(boot, [slice(j, j + 1)])
        at = int(X.offsets[j])
        for row in range(at, at + int(length)):
            output, state = cell(p, ops.index_values(x, [slice(row, row + 1)]), state)
            total = total + ops.sum(output * output)
        total = total + ops.sum(state)
    return total


def test_loop_with_packed_matrices_equals_the_unrolled_steps():
    value, found = lodcore.value_and_grad(loss, (0, 1, 2))(parameters(), X, BOOT)
    expected, derivatives = lodcore.value_and_grad(unrolled, (0, 1, 2))(parameters(), X.values, BOOT)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    for name in ("in", "of"):
        np.testing.assert_allclose(found[0][name], derivatives[0][name], rtol=1e-11)
    np.testing.assert_allclose(found[1].values, derivatives[1], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found[2], derivatives[2], rtol=1e-11, atol=1e-13)
    lodcore.grad_check(loss, parameters(), X, BOOT)


def test_packed_and_unpacked_matrices_give_equal_losses_and_gradients(monkeypatch):
    packed = lodcore.value_and_grad(loss)(parameters(), X, BOOT)
    monkeypatch.setattr(SharedMatrix, "of", classmethod(lambda cls, values: None))
    plain = lodcore.value_and_grad(loss)(parameters(), X, BOOT)
    np.testing.assert_allclose(packed[0], plain[0], rtol=1e-12)
    for name in ("in", "of"):
        np.testing.assert_allclose(packed[1][name], plain[1][name], rtol=1e-11)


def test_pullback_called_twice_gives_the_same_bits():
    _, pullback = vjp(lambda p: loss(p, X, BOOT), parameters())
    (first,), (second,) = pullback(1.0), pullback(1.0)
    for name in ("in", "of"):
        assert first[name] is not second[name]
        np.testing.assert_array_equal(first[name], second[name])
        first[name][...] = np.nan
    np.testing.assert_array_equal(pullback(1.0)[0]["of"], second["of"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_recompute_gives_the_same_bits(dtype):
    weight = whole(np.random.default_rng(3), 3, 3, dtype=dtype) / 7

    def power(weight, recompute):
        loop = while_loop(max_steps=9, recompute=recompute)
        with loop.loop():
            at, x = loop.loop_var(0), loop.loop_var(np.ones((2, 3), dtype))
            loop.break_if(lodcore.greater_equal_than(at, 6))
            x.update(lodcore.tanh(x @ weight))
        return ops.sum(x.get() if isinstance(x, np.ndarray) else x)

    plain = lodcore.value_and_grad(lambda w: power(w, False))(weight)
    again = lodcore.value_and_grad(lambda w: power(w, True))(weight)
    assert plain[0] == again[0]
    np.testing.assert_array_equal(plain[1], again[1])


def test_each_run_of_a_program_packs_its_own_matrices():
    with lodcore.Program() as program:
        x = lodcore.data("x", (None, 3), "float64", num_levels=1)
        weight = lodcore.data("w", (3, 3), "float64")
        outputs, _ = nn.dynamic_rnn(lambda w, x, s: (x @ w + s, x @ w + s), weight, x, np.zeros((4, 3)))
    rng, executor = np.random.default_rng(4), lodcore.Executor()
    for _ in range(2):
        given = whole(rng, 3, 3)
        (found,) = executor.run(program, feed={"x": X, "w": given}, fetch=[outputs])
        rows = X.values @ given
        for j, sequence in enumerate(found):
            np.testing.assert_array_equal(sequence, np.cumsum(rows[X.offsets[j] : X.offsets[j + 1]], axis=0))


def test_product_of_wrong_widths_raises_in_a_loop_as_outside():
    with pytest.raises(ShapeError, match="inner sizes must be equal"):
        nn.dynamic_rnn(lambda w, x, s: (x @ w, s), np.ones((2, 3)), X, BOOT)


def test_gradients_of_slices_of_one_tensor_add_up():
    x = np.arange(12.0).reshape(3, 4)
    weights = [np.full((3, 2), 10.0**k) for k in range(4)]

    def f(x):
        parts = x[:, :2], x[:, 2:], x[:, 1:3], x[:, ::-2]
        return sum(ops.sum(part * w) for part, w in zip(parts, weights, strict=True)) + ops.sum(x[1]) + ops.sum(x)

    _, pullback = vjp(f, x)
    expected = np.array([1.0, 1.0, 10.0, 10.0]) + [0, 100, 100, 0] + [0, 1000, 0, 1000] + 1
    out = np.full((3, 4), np.nan)
    for given in (None, out):
        (found,) = pullback(1.0) if given is None else pullback(1.0, out=given)
        np.testing.assert_array_equal(found, expected + np.array([[0.0], [1.0], [0.0]]))
    assert found is out


def test_gradient_array_used_by_two_readers_is_not_added_to_in_place():
    def f(x):
        part = x[:, :2]
        y = part + 0.0  # its gradient is that of the sum, the very array
        return ops.sum(y * y[:, ::-1]) + ops.sum(part[:, :1]) + ops.sum(x[:, 1:])

    lodcore.grad_check(f, np.random.default_rng(0).standard_normal((3, 4)))


@pytest.mark.parametrize("dtype", [*DTYPES, np.int64])
def test_sigmoid_equals_the_formula_without_overflow(dtype):
    x = np.array([-1000, -745, -30, -1, 0, 1, 30, 745, 1000], dtype)
    found = ops.sigmoid(x)
    real = x.astype(found.dtype)
    with np.errstate(over="ignore"):
        expected = 1 / (1 + np.exp(-real))
    np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == np.float32 else 1e-15, atol=1e-300)
    for one, expected in zip(x, found, strict=True):
        assert ops.sigmoid(one) == expected
        assert ops.sigmoid(np.array(one)) == expected
    if dtype != np.int64:
        odd = np.array([np.nan, np.inf, -np.inf, -0.0], dtype)
        np.testing.assert_array_equal(ops.sigmoid(odd), [np.nan, 1, 0, 0.5])


#: Computations of a step from a state and shared operands.
STEPS = {
    "add": lodcore.add,
    "minus": lodcore.minus,
    "minus, on the left": lambda h, w: lodcore.minus(w, h),
    "mul": lodcore.mul,
    "div": lodcore.div,
    "div, on the left": lambda h, w: lodcore.div(w, lodcore.add(h, 2.0)),
    "mul and add": lambda h, w: lodcore.add(lodcore.mul(h, w), w),
    "div twice": lambda h, w: lodcore.div(lodcore.div(h, w), w),
    "maximum": lambda h, w: ops.elementwise([h, lodcore.mul(w, 0.3)], np.maximum),
    "power": lambda h, w: ops.elementwise([lodcore.add(lodcore.tanh(h), 2.0), w], np.power),
    "matmul": lambda h, w: lodcore.matmul(h, lodcore.mul(w, np.eye(3))),
}


@pytest.mark.parametrize("shape", [(3,), (1, 3), (1, 1), ()], ids=str)
@pytest.mark.parametrize("step", STEPS)
def test_gradients_of_shared_operands_equal_those_of_single_steps(step, shape):
    def looped(h0, w, steps):
        loop = while_loop()
        with loop.loop():
            time = loop.step()
            h = loop.loop_var(h0)
            loop.break_if(lodcore.greater_equal_than(time, steps))
            h.update(STEPS[step](h, w))
        return ops.sum(lodcore.mul(h, h))

    def one_by_one(h0, w, steps):
        for _ in range(steps):
            h0 = STEPS[step](h0, w)
        return ops.sum(lodcore.mul(h0, h0))

    w = np.broadcast_to([0.9, 1.1, 1.2][: shape[-1] if shape else 1], shape) if shape else np.array(1.1)
    for rows, steps in [(5, 4), (50, 2), (50, 8), (200, 3)]:  # rows kept for one sum at the end: some, all, in parts
        h0 = np.random.default_rng(rows).uniform(0.1, 0.9, (rows, 3))
        value, found = lodcore.value_and_grad(lambda h, w, n=steps: looped(h, w, n), (0, 1))(h0, w)
        wanted_value, wanted = lodcore.value_and_grad(lambda h, w, n=steps: one_by_one(h, w, n), (0, 1))(h0, w)
        np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
        for one, other in zip(found, wanted, strict=True):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 50, 128, 300])
def test_gradient_of_a_long_loop_sums_all_groups_of_steps(rows, dtype):
    """Products are added in groups of rows: of several steps, of one, and of the steps that are left."""
    rng = np.random.default_rng(rows)
    weight, first = whole(rng, 8, 8, dtype=dtype) / 16, whole(rng, rows, 8, dtype=dtype)

    def total(weight, run):
        return ops.sum(run(weight))

    def looped(weight):
        loop = while_loop()
        with loop.loop():
            at, x = loop.loop_var(0), loop.loop_var(first)
            loop.break_if(lodcore.greater_equal_than(at, 7))
            x.update(lodcore.add(x @ weight, 0.5))
        return x

    def stepwise(weight):
        x = first
        for _ in range(7):
            x = lodcore.add(lodcore.matmul(x, weight), 0.5)
        return x

    found, wanted = (lodcore.value_and_grad(total)(weight, run)[1] for run in (looped, stepwise))
    np.testing.assert_allclose(found, wanted, rtol=1e-10 if dtype == np.float64 else 2e-4)
