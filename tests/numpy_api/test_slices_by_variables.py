"""Slices of dense Variables, and of rows, whose bounds only a run knows: they are NumPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor
from lodcore.graph import Executor, Program, data, while_loop
from tests.helpers.draw import at_most

pytestmark = pytest.mark.not_on_reference  # composed of operators

BOUNDS = st.none() | st.integers(-6, 6)
SLICES = st.tuples(BOUNDS, BOUNDS, st.sampled_from([None, 1, 2, -1, -2]))


@at_most(60)
@given(st.data())
def test_slices_by_variables_are_those_of_numpy(draw):
    shape = tuple(draw.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))
    values = np.arange(float(np.prod(shape))).reshape(shape)
    sizes = [draw.draw(st.sampled_from([size, None])) for size in shape]
    feeds, recorded, plain = {"x": values}, [], []
    with Program() as program:
        x = data("x", sizes, "f8")
        for _ in range(draw.draw(st.integers(1, len(shape)))):
            bounds = draw.draw(SLICES)
            plain.append(slice(*bounds))
            given_bounds = []
            for bound in bounds:
                if bound is not None and draw.draw(st.booleans()):
                    name = f"bound{len(feeds)}"
                    feeds[name] = np.int64(bound)
                    bound = data(name, (), "i8")
                given_bounds.append(bound)
            recorded.append(slice(*given_bounds))
        found = x[tuple(recorded)]
    wanted = values[tuple(plain)]
    (result,) = Executor().run(program, feeds, [found])
    np.testing.assert_array_equal(result, wanted)
    assert all(size in (None, real) for size, real in zip(found.spec.shape, wanted.shape, strict=True))


def test_a_slice_by_the_counter_of_a_loop_has_a_gradient():
    table = np.arange(12.0).reshape(4, 3)

    def total(w):
        loop = while_loop()
        with loop.loop():
            t, so_far = loop.loop_var(0), loop.loop_var(np.zeros(()))
            loop.break_if(t >= 3)
            so_far.update(so_far + lodcore.sum(w[t:, 1 : t + 1] * (t + 1.0)))
        return so_far

    _, gradient = lodcore.value_and_grad(total)(table)
    wanted = np.zeros_like(table)
    for t in range(3):
        wanted[t:, 1 : t + 1] += t + 1
    np.testing.assert_array_equal(gradient, wanted)


def test_rows_of_sequences_are_cut_by_a_variable():
    x = LoDTensor.from_lengths(np.arange(12.0).reshape(3, 4), [2, 1])
    with Program() as program:
        given_x, n = data("x", (None, 4), "f8", 1), data("n", (), "i8")
        found = given_x[:, :, n:]
    (result,) = Executor().run(program, {"x": x, "n": np.int64(3)}, [found])
    assert result.tolist() == [[[3], [7]], [[11]]]


def test_an_axis_whose_length_only_a_run_knows_is_cut_by_a_variable():
    table = np.arange(12.0).reshape(3, 4)
    with Program() as program:
        x, n = data("x", (None, 4), "f8"), data("n", (), "i8")
        columns = lodcore.ops.reshape(x, [2, lodcore.num_rows(x) * 2])
        of_rows = data("y", (None, None), "f8", 1)
        found = [columns[:, n:], x.T[:, :n], of_rows[:, :, n:]]
        lodcore.append_backward(lodcore.sum(found[1]))
    y = LoDTensor.from_lengths(table, [2, 1])
    results = Executor().run(program, {"x": table, "n": np.int64(1), "y": y}, [*found, "x@GRAD"])
    np.testing.assert_array_equal(results[0], table.reshape(2, 6)[:, 1:])
    np.testing.assert_array_equal(results[1], table.T[:, :1])
    assert results[2].equals(y[:, :, 1:])
    np.testing.assert_array_equal(results[3], np.repeat([1.0, 0.0, 0.0], 4).reshape(3, 4))


@pytest.mark.parametrize("key", [slice(None, None, 2), slice(1, None), 1])
def test_an_assignment_by_a_variable_is_refused(key):
    def written(n, weight):
        x = lodcore.array([[1.0, 2.0], [3.0], []])
        x[slice(n, None) if key == slice(1, None) else slice(None, None, n) if type(key) is slice else n] = 0
        return weight

    with pytest.raises(TypeError, match=r"^assignment: a Variable is recorded, and cannot be written into a tensor"):
        lodcore.vjp(written, np.int64(2), np.ones(2))


@pytest.mark.parametrize("key", ["::n", "1::n", "::n, 0", "::n, ::n", ":, ::n"])
@pytest.mark.parametrize("n", [1, 2, -1])
def test_sequences_are_sliced_with_a_variable_as_step(key, n):
    given = lodcore.array([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]])
    with lodcore.Program() as program:
        x = lodcore.data("x", (None,), "float64", num_levels=1)
        y = eval(f"x[{key}]", {"x": x, "n": lodcore.data("n", (), "int64")})
    (found,) = lodcore.Executor().run(program, {"x": given, "n": n}, [y])
    assert found.tolist() == eval(f"x[{key}]", {"x": given, "n": n}).tolist()
