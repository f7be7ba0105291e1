"""Dropout in cells of one's own: compiled, with the masks that the operators draw one by one."""

import io
import warnings

import numpy as np

import lodcore
from lodcore import Executor, LoDTensor, Program, append_backward, data, nn, ops
from tests.helpers.random_cells import COMPILED_CELLS, compilations, numbers, operator_by_operator, run
from tests.helpers.tables import for_each

pytestmark = COMPILED_CELLS

LENGTHS, WIDTH = [3, 0, 1, 5, 2, 2], 4


def given(dtype="f4"):
    x = LoDTensor.from_lengths(numbers(sum(LENGTHS), 3, dtype=dtype), LENGTHS)
    return {"x": numbers(3, WIDTH, dtype=dtype), "h": numbers(WIDTH, WIDTH, dtype=dtype)}, x


def dropping(rng, other, rate=0.25):
    """Return a cell that draws three masks in each step: two of rows of different widths, one of numbers."""

    def cell(p, x, h):
        new = np.tanh(x @ p["x"] + nn.dropout(h, 0.5, rng) @ p["h"])
        kept = nn.dropout(np.ones_like(ops.sum(x, axis=1)), rate, rng)
        return nn.dropout(x, 0.5, other), nn.dropout(new, rate, rng) * kept[:, None] + h * 0.5

    return cell


def flat(results):
    return [array for some in results for array in some]


@for_each("dtype", ["f4", "f8"])
@for_each("is_reverse", [False, True])
@for_each("rate", [0, 0.25, 1])
@for_each("bits", [np.random.PCG64, np.random.MT19937])
def test_dropout_of_a_compiled_cell_draws_as_the_operators_do(dtype, is_reverse, rate, bits):
    parameters, x = given(dtype)
    found = []
    for one_by_one in (False, True):
        rngs = [np.random.Generator(bits(seed)) for seed in (1, 2)]
        cell, state = dropping(*rngs, rate), np.ones((len(LENGTHS), WIDTH), dtype)
        for _ in range(3):  # from the third time on, the body is one that was kept
            if one_by_one:
                with operator_by_operator():
                    found.append(flat(run(cell, parameters, x, state, is_reverse)))
            else:
                with compilations() as compiled:
                    found.append(flat(run(cell, parameters, x, state, is_reverse)))
                assert all(compiled)
        found.append([rng.random(3) for rng in rngs])
    for one, other in zip(found[:4], found[4:], strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found[3], found[7])
    assert any((a != b).any() for a, b in zip(found[0], found[1], strict=True))


def test_a_program_draws_in_each_run_and_its_clone_for_tests_drops_nothing():
    parameters, x = given()
    rng, state = np.random.default_rng(4), np.zeros((len(LENGTHS), WIDTH), np.float32)
    with Program() as program:
        values = {name: lodcore.parameter(value) for name, value in parameters.items()}
        outputs, last = nn.dynamic_rnn(dropping(rng, rng), values, data("x", (None, 3), "float32", num_levels=1), state)
        loss = ops.sum(outputs) + ops.sum(last)
        gradients = lodcore.tree_leaves(append_backward(loss, parameters=values))
    fetch = [loss, *gradients]
    file = io.BytesIO()
    lodcore.save(file, program)
    runs = [Executor().run(program, {"x": x}, fetch) for _ in range(2)]
    loaded = lodcore.load(io.BytesIO(file.getvalue()))
    for one in runs:
        for a, b in zip(one, Executor().run(loaded, {"x": x}, [v.name for v in fetch]), strict=True):
            np.testing.assert_array_equal(a, b)
    assert runs[0][0] != runs[1][0]
    before = rng.bit_generator.state
    (found,) = Executor().run(program.clone(for_test=True), {"x": x}, [loss])
    outputs, last = nn.dynamic_rnn(dropping(None, None), parameters, x, state)
    np.testing.assert_allclose(found, outputs.values.sum() + last.sum(), rtol=1e-5)
    assert rng.bit_generator.state == before


def test_dropout_of_a_weight_draws_another_mask_in_each_step():
    rng, x = np.random.default_rng(1), LoDTensor.from_lengths(np.zeros((8, 6), "f4"), [8])
    y, _ = nn.dynamic_rnn(lambda p, x, h: (x + nn.dropout(p, 0.5, rng), h), np.ones(6, "f4"), x, np.zeros((1, 1), "f4"))
    assert len(np.unique(y.values, axis=0)) > 1


@for_each("is_error", [False, True])
def test_steps_that_run_again_to_warn_draw_the_same(is_error):
    x, found = LoDTensor.from_lengths(np.full((3, 2), 30, "f4"), [3]), []
    for one_by_one in (False, True):
        rng = np.random.default_rng(3)

        def cell(p, x, h, rng=rng):
            h = np.exp(nn.dropout(x, 0.5, rng) * 1.6) * h
            return h, h

        def called(cell=cell):
            return flat(run(cell, None, x, np.ones((1, 2), "f4")))

        with np.errstate(over="raise" if is_error else "warn"), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                if one_by_one:
                    with operator_by_operator():
                        made = called()
                else:
                    made = called()
            except FloatingPointError as error:
                made = str(error)
        found.append((made, [str(one.message) for one in warned], rng.bit_generator.state))
    np.testing.assert_equal(*found)
    assert isinstance(found[0][0], str) == is_error
