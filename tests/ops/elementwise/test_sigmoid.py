"""The sigmoid of numbers of all dtypes and layouts: as by its formula, and the same bits in any memory order."""

import numpy as np
import pytest

import lodcore

NUMBERS = np.array([[0.0, 1.0, -1.0, 4.5], [30.0, -30.0, 800.0, -800.0], [np.inf, -np.inf, 0.25, -0.25]])
LAYOUTS = {
    "in rows": np.ascontiguousarray,
    "in columns": np.asfortranarray,
    "with gaps": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "in the other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "one column": lambda x: x.reshape(-1, 1),
    "read-only": lambda x: lodcore.LoDTensor.from_lengths(x, [len(x)]).values,
}


def formula(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x.astype(np.float64)))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "i1", "i4", "u8", "?"])
def test_has_the_dtype_of_functions_of_numpy(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    made = lodcore.sigmoid(x)
    assert made.dtype == np.tanh(x).dtype
    np.testing.assert_allclose(made.astype(float), formula(x), rtol=4 * max(np.finfo(made.dtype).eps, 1e-16))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_has_the_same_bits_in_every_layout(layout, dtype):
    x = NUMBERS.astype(dtype)
    wanted = lodcore.sigmoid(x)
    np.testing.assert_allclose(wanted, formula(x), rtol=4 * np.finfo(dtype).eps, atol=1e-38)
    before = LAYOUTS[layout](x)
    kept = before.copy()
    made = lodcore.sigmoid(before)
    assert made.shape == before.shape
    assert made.reshape(wanted.shape).tobytes() == wanted.tobytes()
    assert before.tobytes() == kept.tobytes()


def test_sigmoid_of_numbers_and_of_empty_arrays():
    assert lodcore.sigmoid(0.0) == 0.5
    assert lodcore.sigmoid(np.float32(0)).dtype == np.float32
    for shape in [(0,), (0, 3), (2, 0), (0, 0, 4)]:
        assert lodcore.sigmoid(np.zeros(shape, np.float32)).shape == shape
    assert lodcore.sigmoid(lodcore.array([[], [0.0]])).tolist() == [[], [0.5]]


def test_raises_no_flag_of_floating_point():
    with np.errstate(all="raise"):
        made = lodcore.sigmoid(np.array([-1e30, 1e30, -100.0, np.nan], np.float32))
    np.testing.assert_array_equal(made, np.array([0, 1, 0, np.nan], np.float32))


def test_a_compiled_cell_raises_no_flag_either_and_has_the_bits_of_the_operator():
    x = lodcore.LoDTensor.from_lengths(NUMBERS.astype(np.float32), [2, 1])
    with np.errstate(all="raise"):
        made, _ = lodcore.nn.dynamic_rnn(lambda p, x, h: (lodcore.sigmoid(x), h), None, x, np.zeros((2, 1), np.float32))
    assert made.values.tobytes() == lodcore.sigmoid(x).values.tobytes()
