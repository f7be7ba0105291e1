"""Compares NumPy's functions with awkward on random batches: `python -m tests.helpers.with_awkward`.

Results are compared if both define one. awkward is not a dependency of lodcore or of its tests;
`tests/numpy_api/test_with_awkward.py` runs it where it is installed.
"""

import awkward as ak
import numpy as np

from lodcore import LoDTensor
from lodcore.tensors import lod_body

ROUNDS = 60


def draw(random, num_levels, dtype, low=0):
    """Draw a LoDTensor, and the same array for awkward."""
    levels, count = [], int(random.integers(low, 6))
    for _ in range(num_levels):
        lengths = random.integers(low, 4, count) * (random.random(count) < 0.8 if not low else 1)
        levels.append(lengths)
        count = int(lengths.sum())
    rows = random.integers(-8, 9, count).astype(dtype)
    return both(LoDTensor.from_lengths(rows / 4 if np.dtype(dtype).kind == "f" else rows, *levels))


def both(x):
    made = ak.Array(x.values)
    for level in reversed(range(x.num_levels)):
        made = ak.unflatten(made, x.lod.lengths(level))
    return x, made


def plain(result):
    """Return a result as lists, with nan and None as one value: awkward has None for empty selections."""
    lists = result.tolist() if hasattr(result, "tolist") else result

    def walked(one):
        if isinstance(one, list):
            return [walked(inner) for inner in one]
        return None if one is None or one != one else one

    return walked(lists)


def agree(what, mine, theirs):
    found, wanted = plain(mine), plain(theirs)
    flat = [np.array(spread(lists), float) for lists in (found, wanted)]
    assert form(found) == form(wanted), f"{what}: {found} is not {wanted}"
    np.testing.assert_allclose(*flat, rtol=1e-12, err_msg=what)


def spread(lists):
    return [one for inner in lists for one in spread(inner)] if isinstance(lists, list) else [lists]


def form(lists):
    return [form(inner) for inner in lists] if isinstance(lists, list) else lists is None


def either(what, mine, theirs):
    """Compare two calls; if one raises IndexError, both must."""
    results = []
    for call in (mine, theirs):
        try:
            results.append(call())
        except (IndexError, ValueError):
            results.append(None)
    assert (results[0] is None) == (results[1] is None), f"{what}: {results}"
    if results[0] is not None:
        agree(what, *results)


# -- what is compared ----------------------------------------------------------------------------------------------


def operators(random):
    x, a = draw(random, int(random.integers(1, 4)), random.choice(["f8", "i8"]))
    y, b = both(LoDTensor(random.integers(1, 5, x.num_rows).astype(x.dtype), x.lod))
    for name, function in {
        "+": lambda x, y: x + y,
        "1 -": lambda x, y: 1 - x,
        "*": lambda x, y: x * y * 2,
        "/": lambda x, y: x / y,
        "//": lambda x, y: x // y,
        "%": lambda x, y: x % y,
        "**": lambda x, y: x**2,
        "<": lambda x, y: x < y,
        "==": lambda x, y: x == y,
        "&": lambda x, y: (x > 0) & (y > 2),
        "~": lambda x, y: ~(x > 0),
        "abs": lambda x, y: abs(-x),
        "tanh": lambda x, y: np.tanh(x),
        "maximum": lambda x, y: np.maximum(x, y),
    }.items():
        agree(name, function(x, y), function(a, b))
    agree("where", np.where(x > 0, x, y), ak.where(a > 0, a, b))
    agree("zeros_like", np.zeros_like(x), ak.zeros_like(a))
    agree("concatenate", np.concatenate([x, y]), ak.concatenate([a, b]))
    for axis in range(1, x.num_levels + 1):
        agree(f"concatenate {axis}", np.concatenate([x, y], axis=axis), ak.concatenate([a, b], axis=axis))
    agree("sort", np.sort(x), ak.sort(a, axis=-1))
    one = random.integers(1, 5, (len(x), *(1,) * x.num_levels)).astype(x.dtype)
    theirs = ak.from_numpy(one.reshape(len(x)))  # awkward inserts the axes of an array with levels at the front
    agree("one per sequence", x * one, a * theirs)


def alignment(random):
    """Compare results of keepdims, and dense arrays with axes of 1, for rows of numbers whose counts coincide."""
    width = int(random.integers(1, 4))
    levels, count = [], int(random.integers(1, 4))
    for _ in range(int(random.integers(1, 3))):
        levels.append(random.integers(0, 4, count))
        count = int(levels[-1].sum())
    x, a = both(LoDTensor.from_lengths(random.integers(1, 9, (count, width)) / 4, *levels))
    dense = random.integers(1, 9, (len(x), *(1,) * x.num_levels, width)) / 4
    if x.num_levels == 1:
        theirs = ak.Array(dense)
        agree("a row per sequence", x - dense, a - theirs)
        agree("reflected", np.maximum(dense, x), np.maximum(theirs, a))
        agree("where", np.where(x > dense, x, dense), ak.where(a > theirs, a, theirs))
    with np.errstate(all="ignore"):
        for axis in {x.num_levels, x.num_levels + 1}:
            for name in ("sum", "mean"):
                kept = getattr(x, name)(axis=axis, keepdims=True)
                same = getattr(ak, name)(a, axis=axis, keepdims=True)
                agree(f"x - {name}, axis {axis}", x - kept, a - same)
        mine = np.where(x > x.mean(axis=x.num_levels, keepdims=True), x, 0.5)
        agree("where mean", mine, ak.where(a > ak.mean(a, axis=x.num_levels, keepdims=True), a, 0.5))
        inner = x.mean(axis=-2, keepdims=True) * x.sum(axis=-1, keepdims=True)
        agree("together", inner, ak.mean(a, axis=-2, keepdims=True) * ak.sum(a, axis=-1, keepdims=True))


def empties(random):
    """Compare the results of sequences without rows if a value is chosen for them."""
    x, a = draw(random, int(random.integers(1, 4)), "f8")
    for name in ("max", "min"):
        chosen = getattr(x, name)(axis=x.num_levels, empty=-7.0)
        agree(f"{name} of nothing", chosen, ak.fill_none(getattr(ak, name)(a, axis=-1), -7.0))
    places = x.argmax(axis=x.num_levels, empty=-1)
    agree("argmax of nothing", places, ak.fill_none(ak.argmax(a, axis=-1), -1))


def reductions(random):
    x, a = draw(random, int(random.integers(1, 4)), random.choice(["f8", "i8"]))
    for axis in [None, *range(x.ndim)]:
        for keepdims in (False, True):
            for name in ("sum", "prod", "any", "all", "mean"):
                if name == "mean" and axis is None and not x.num_rows:
                    continue
                with np.errstate(all="ignore"):
                    wanted = getattr(ak, name)(a, axis=axis, keepdims=keepdims)
                agree(f"{name} {axis}", getattr(x, name)(axis, keepdims=keepdims), wanted)
        if axis is not None and axis < x.num_levels:
            agree(f"max {axis}", x.max(axis), ak.max(a, axis=axis))
            for name in ("var", "std"):
                with np.errstate(all="ignore"):
                    wanted = getattr(ak, name)(a, axis=axis)
                agree(f"{name} {axis}", getattr(x, name)(axis), wanted)
            continue
        full = (
            x
            if axis is None
            else x[LoDTensor(x.lod.lengths(-1) > 0, lod_body.slice_levels(x.lod, 0, axis - 1))]
            if axis > 1
            else None
        )
        full = x[x.lengths > 0] if full is None else full
        if not full.num_rows:
            continue
        _, b = both(full)
        for name in ("max", "min", "argmax", "argmin"):
            agree(f"{name} {axis}", getattr(full, name)(axis), getattr(ak, name)(b, axis=axis))
        agree(f"var {axis}", full.var(axis), ak.var(b, axis=axis))
        agree(f"std {axis}", full.std(axis), ak.std(b, axis=axis))


def indices(random):
    x, a = draw(random, int(random.integers(1, 4)), "i8", low=int(random.integers(0, 2)))
    bounds = [None if random.random() < 0.3 else int(random.integers(-4, 5)) for _ in range(2)]
    step = int(random.choice([1, 2, 3, -1, -2]))
    for axis in range(x.ndim):
        front = (slice(None),) * axis
        key = (*front, slice(*bounds, step))
        try:
            sliced = a[key]
        except ValueError:  # awkward raises if a slice of the batch ends before it begins
            assert axis == 0
        else:
            agree(f"x[{key}]", x[key], sliced)
        j = int(random.integers(-2, 3))
        either(f"x[{axis}: {j}]", lambda key=(*front, j): x[key], lambda key=(*front, j): a[key])
    if not len(x):
        return
    mask, index = random.random(len(x)) < 0.5, random.integers(-len(x), len(x), 4)
    agree("x[mask]", x[mask], a[mask])
    agree("x[index]", x[index], a[index])
    either("x[index, 0]", lambda: x[index, 0], lambda: a[index, 0])
    either("x[index, index]", lambda: x[index, index % 2], lambda: a[index, index % 2])
    agree("x[nested mask]", x[x > 0], a[a > 0])
    for axis in range(1, x.num_levels):
        upper = LoDTensor(random.random(x.lod.num_sequences(axis)) < 0.5, lod_body.slice_levels(x.lod, 0, axis))
        agree(f"x[mask of {axis} levels]", x[upper], a[both(upper)[1]])
    lengths = x.lod.lengths(-1)
    sizes = np.where(lengths > 0, random.integers(0, 4, len(lengths)), 0)
    numbers = (random.random(int(sizes.sum())) * np.repeat(lengths, sizes)).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    nested = LoDTensor.from_offsets(numbers, *[x.lod.offsets(k) for k in range(x.num_levels - 1)], offsets)
    agree("x[nested index]", x[nested], a[both(nested)[1]])


COMPARED = {
    "operators": operators,
    "alignment": alignment,
    "empties": empties,
    "reductions": reductions,
    "indices": indices,
}


def run(rounds=ROUNDS):
    """Run each comparison on a number of batches; return the number of batches."""
    for name, compare in COMPARED.items():
        for seed in range(rounds):
            try:
                compare(np.random.default_rng(seed))
            except AssertionError as error:
                raise AssertionError(f"{name}, seed {seed}: {error}") from None
    return rounds * len(COMPARED)


if __name__ == "__main__":
    print(f"{run(400)} batches: as awkward {ak.__version__}")
