"""Samples of functions on states for loops over sequences."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDError, LoDTensor, ShapeError, TensorArray
from lodcore.testing.samples import elements_of
from reference.ops import states as oracle
from tests.helpers.draw import composite, integers, lods, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS, batches, smooth_batches


def zero_calls():
    widths, dtypes = st.integers(0, 4), st.sampled_from([np.float32, np.float64, "f8", np.int64])
    return st.builds(call, st.sampled_from([0, 1, 3, np.int64(2), np.array([4])]), widths, dtypes)


@composite
def checked_calls(draw, smooth=False):
    """Draw a batch, or rows, with one key per sequence, or row; or sorted times."""
    x = draw(smooth_batches() if smooth else batches(["f4", "f8", "i8"]))
    x = x.values if draw(st.booleans()) else x
    return call(x, [np.arange(len(x))], "one_per_key", {"where": "checked", "name": "x"})


@composite
def last_calls(draw, smooth=False):
    """Draw steps, of rows or of sequences, with a state for each sequence."""
    lod = draw(lods(1, 3, 6))
    random, dtype = np.random.default_rng(draw(SEEDS)), np.float64 if smooth else draw(sampled_from(["f4", "f8"]))
    shape = draw(sampled_from([(), (2,), (0,)]))
    x = LoDTensor((random.integers(-4, 5, (lod.num_rows, *shape)) / 2).astype(dtype), lod)
    level = draw(integers(0, lod.num_levels - 1))
    steps, indices_map = TensorArray.unpack(x, level)
    count, inner = lod.num_sequences(level), lod.num_levels - level - 1
    lengths = []
    for _ in range(inner):
        lengths.append(random.integers(0, 3, sum(lengths[-1]) if lengths else count))
    rows = sum(lengths[-1]) if lengths else count
    boot = (random.integers(-4, 5, (rows, *shape)) / 2).astype(dtype)
    made = LoDTensor.from_lengths(boot, *lengths) if lengths else read_only(boot)
    return call(steps, made, draw(sampled_from([indices_map, indices_map.rank])))


def expected_last(arguments):
    table = arguments["indices_map"]
    steps = [one.tolist() for one in elements_of(arguments["ta"])]
    return oracle.last_of_steps(steps, arguments["boot"].tolist(), np.asarray(table.indices).tolist())


def expected_zeros(arguments):
    return oracle.zero_states(int(np.asarray(arguments["n"]).item()), arguments["width"])


COSTS = """
ops.checked(x, [np.arange(len(x))], "one_per_key", {"where": "checked", "name": "x"})
ops.last_of_steps(*(lambda steps, places: (steps, np.zeros(k), places))(*ops.tensor_array_unpack(x, 0)))
ops.zero_states(n, 4)
"""
SAMPLES = {
    "zero_states": Samples(
        calls=zero_calls(),
        expected=expected_zeros,
        smooth=None,
        errors=[
            ("ops.zero_states(-1, 2)", ValueError, "n: is -1; 0 or more"),
            ("ops.zero_states(1.5, 2)", DTypeError, "n: is 1.5; an integer"),
            ("ops.zero_states(True, 2)", DTypeError, "n: is True; an integer"),
            ("ops.zero_states(rows, 2)", DTypeError, "n: is array"),
            ("ops.zero_states(None, 2)", DTypeError, "n: is None"),
            ("ops.zero_states(2, 3, object)", DTypeError, "dtype: is object"),
            ("ops.zero_states(2, 3, 'no')", DTypeError, "dtype: .*'no'"),
            ("ops.zero_states(2, -2)", ValueError, "width: is -2; 0 or more"),
            ("ops.zero_states(2**62, 2**62)", MemoryError, "zero_states"),
        ],
    ),
    "checked": Samples(
        calls=checked_calls(),
        expected=lambda arguments: arguments["x"].tolist(),
        smooth=checked_calls(smooth=True),
        errors=[
            ("ops.checked(flat, [], 'one', {})", ValueError, "name: is 'one'; one of"),
            (
                "ops.checked(flat, [[1, 2]], 'one_per_key', {'where': 'group_by', 'name': 'column 0'})",
                ShapeError,
                "group_by: column 0: has 3 rows; there are 2 keys",
            ),
            (
                "ops.checked(array([[1.0, 0.5]]), [], 'sorted_times', {'where': 'join_asof: y'})",
                ValueError,
                "join_asof: y: row 1 is 0.5, below the row before it; times must be sorted",
            ),
            ("ops.checked({}, [], 'sorted_times', {'where': 'join_asof: y'})", DTypeError, "x: is a dict"),
            (
                "ops.checked(flat, [array([[1], [2, 3]])], 'same_sequences', "
                "{'where': 'network', 'level': 0, 'name': 'x', 'other': 'y'})",
                LoDError,
                "network: x: has 3 sequences .* y has 2",
            ),
            (
                "ops.checked(flat, [array([[1, 2], [3], [4, 5]])], 'same_sequences', "
                "{'where': 'network', 'level': 0, 'name': 'a', 'other': 'b'})",
                LoDError,
                "network: a: sequence 1 of level 0 has length 0; that of b has 1",
            ),
            (
                "ops.checked(x, [flat], 'same_sequences', {'where': 'network', 'level': 1, 'name': 'x', 'other': 'y'})",
                LevelError,
                "network: y: level: is 1; there is 1 level",
            ),
            (
                "ops.checked(x, [flat], 'same_sequences', {'where': 'net', 'level': -1, 'name': 'x', 'other': 'y'})",
                LoDError,
                "net: x: has 2 levels, y 1, so level -1",
            ),
            (
                "ops.checked(flat, [wide[:2]], 'same_structure', {'where': 'net', 'name': 'hidden', 'other': 'cell'})",
                LoDError,
                "net: (hidden|cell): has",
            ),
            (
                "ops.checked(flat, [x], 'same_structure', {'where': 'net', 'name': 'x', 'other': 'y'})",
                LoDError,
                "net: ",
            ),
        ],
    ),
    "last_of_steps": Samples(
        calls=last_calls(),
        expected=expected_last,
        smooth=last_calls(smooth=True),
        errors=[
            ("ops.last_of_steps(steps, rows, steps_map)", LoDError, r"boot: has shape \(5,\); .* 3 sequences"),
            ("ops.last_of_steps(steps, np.zeros(3), steps_map)", DTypeError, "element 0: has dtype int64; .* float64"),
            ("ops.last_of_steps(steps, np.zeros((3, 1), int), steps_map)", ShapeError, r"element 0: has rows .*\(1,\)"),
            ("ops.last_of_steps(steps, np.array(1), steps_map)", ShapeError, "boot: has no axis"),
            ("ops.last_of_steps(pair, np.zeros(3), steps_map)", LoDError, "is of 3 steps; the array has 2"),
            (
                "ops.last_of_steps(steps, np.zeros(3, int), TensorArray.unpack(flat, 0, False)[1])",
                LoDError,
                "a longer sequence after a shorter one",
            ),
            ("ops.last_of_steps(np.zeros(3), rows, steps_map)", DTypeError, "ta: .*ndarray"),
            ("ops.last_of_steps(steps, rows, np.zeros(3))", DTypeError, "indices_map: is .*ndarray"),
            (
                "ops.last_of_steps(TensorArray(unstack_from=np.ones((3, 2))), np.zeros(3), steps_map)",
                LoDError,
                r"element 1: has shape \(2,\); 2|element 2",
            ),
            (
                "ops.last_of_steps(steps, np.zeros(4, int), steps_map)",
                LoDError,
                "boot: has shape .4,.; one row for each of 3",
            ),
            ("ops.last_of_steps(steps, np.zeros(2, int), steps_map)", LoDError, "boot: has shape .2,."),
        ],
    ),
}
