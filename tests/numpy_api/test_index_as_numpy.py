"""Indices of mixed kinds on sequences of equal lengths: results and assignments by NumPy's rule, or a refusal."""

import random

import numpy as np
import pytest

from lodcore import LoDTensor

COUNT = 150  # keys per test


def drawn_part(draw, size, length):
    """Draw the index of one axis."""
    kind = draw.randrange(8)
    if kind < 2:
        return draw.randrange(-size, size)
    if kind < 4:
        return np.array([draw.randrange(-size, size) for _ in range(length)])
    if kind < 5:
        return [draw.randrange(-size, size)]
    if kind < 7:
        bounds = [None, 0, 1, -1, -2, size, size + 2]
        return slice(draw.choice(bounds), draw.choice(bounds), draw.choice([None, 1, 2, -1, -2]))
    return np.array([draw.random() < 0.5 for _ in range(size)])


def drawn_key(draw, shape):
    length = draw.choice([1, 2, 2, 3])
    key = [drawn_part(draw, size, length) for size in shape[: draw.randrange(1, len(shape) + 1)]]
    if draw.random() < 0.15:
        key.insert(draw.randrange(len(key) + 1), Ellipsis)
    return tuple(key)


def tensor_of(array, levels):
    lengths = [[array.shape[k + 1]] * int(np.prod(array.shape[: k + 1])) for k in range(levels)]
    return LoDTensor.from_lengths(array.reshape(-1, *array.shape[levels + 1 :]), *lengths).clone()


def attempted(call):
    try:
        return call(), None
    except (IndexError, ValueError, TypeError) as error:
        return None, error


def same(found, wanted):
    if isinstance(found, LoDTensor):
        if not wanted.size:
            return not found.values.size
        found = np.array(found.tolist())
    return np.shape(found) == wanted.shape and bool(np.all(found == wanted))


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_random_keys_read_and_write_as_numpy_or_are_refused(seed, levels):
    draw, given = random.Random(f"{seed} {levels}"), 0
    for _ in range(COUNT):
        shape = tuple(draw.randrange(2, 4) for _ in range(levels + draw.choice([1, 2, 2])))
        array = np.arange(np.prod(shape), dtype=float).reshape(shape)
        x, key = tensor_of(array, levels), drawn_key(draw, shape)
        found, refused = attempted(lambda x=x, key=key: x[key])
        wanted, wrong = attempted(lambda array=array, key=key: array[key])
        if refused is not None:
            _, refused = attempted(lambda x=x, key=key: x.__setitem__(key, -1.0))
            assert refused is not None, key
            assert same(x, array), key
            continue
        if wrong is not None:  # a wrong index that selects nothing need not fit
            assert not (found.values if isinstance(found, LoDTensor) else np.asarray(found)).size, key
            continue
        given += 1
        assert same(found, wanted), (shape, key)
        new = 1000.0 + np.arange(wanted.size).reshape(wanted.shape)
        value = found.with_values(new.reshape(found.values.shape)) if isinstance(found, LoDTensor) else new
        if wanted.size:
            x[key], array[key] = value, new
            assert same(x, array), (shape, key)
    assert given > COUNT // 2


@pytest.mark.parametrize(
    "key", ["[:, J, K]", "[I, J, K]", "[I, 0, K]", "[0, J, K]", "[M, J, K]", "[M, 0, K]", "[I, :, K]"]
)
@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("count", [3, 1])
def test_keys_with_vectors_that_broadcast_equal_numpy(key, levels, count):
    array = np.arange(36.0)[: count * 12].reshape(count, 3, 4)
    x = tensor_of(array, levels)
    mask = [True, False, True] if count == 3 else [True]
    names = {"I": [count - 1, 0], "J": np.array([1, -1]), "K": [0, 3], "M": mask, "x": x, "array": array}
    assert same(eval(f"x{key}", names), eval(f"array{key}", names))
    exec(f"x{key}, array{key} = -1.0, -1.0", names)
    assert same(x, array)
    one = {**names, "K": [2]}
    assert same(eval(f"x{key}", one), eval(f"array{key}", one))


@pytest.mark.parametrize(
    "key", ["[[0, 1], [0, 1, 2]]", "[:, [0, 1], [0, 1, 2]]", "[:, 0, ..., [0]]", "[:0, [0, 1], [0, 1, 2]]"]
)
def test_keys_with_vectors_that_do_not_broadcast_are_refused(key):
    x = tensor_of(np.arange(36.0).reshape(3, 3, 4), 1)
    with pytest.raises((IndexError, TypeError), match=r"broadcast|separated"):
        eval(f"x{key}", {"x": x})
