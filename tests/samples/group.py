"""Samples of the operators that find equal keys."""

import numpy as np

from lodcore import DTypeError, LoDError, ShapeError
from reference.ops import group as oracle
from tests.helpers.draw import composite, integers, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS

KEYS = ["?", "i1", "u2", "i4", "i8", "u8", "f4", "f8", "f2", "U3", "S2"]


def keys_of(seed, count, dtype, kinds=4):
    """Make keys, many of which are equal, and a few nan."""
    random = np.random.default_rng(seed)
    made = random.integers(0, kinds, count)
    if np.dtype(dtype).kind == "f":
        keys = (made / 2 - 0.5).astype(dtype)
        keys[random.random(count) < 0.2] = np.nan
        keys[random.random(count) < 0.2] *= -1
        return read_only(keys)
    return read_only(made.astype(dtype))


@composite
def key_calls(draw):
    keys = keys_of(draw(SEEDS), draw(integers(0, 12)), draw(sampled_from(KEYS)), draw(sampled_from([2, 4, 9])))
    return call(keys, draw(sampled_from(["sorted", "first", "runs"])))


@composite
def match_calls(draw):
    dtypes = draw(sampled_from([("i8", "i8"), ("i4", "u2"), ("f4", "i2"), ("f8", "f8"), ("U3", "U1"), ("S2", "S4")]))
    sides = [keys_of(draw(SEEDS), draw(integers(0, 6)), dtype) for dtype in dtypes]
    return call(*sides, draw(sampled_from(["inner", "left", "right", "outer"])))


def matched(arguments):
    return oracle.match_keys(arguments["x_keys"].tolist(), arguments["y_keys"].tolist(), arguments["how"])


COSTS = """
lodcore.group_rows(v)
lodcore.group_rows(i.values << 20, "first")
lodcore.match_keys(e, e + 1, "outer")
"""
SAMPLES = {
    "group_rows": Samples(
        key_calls(),
        lambda arguments: oracle.group_rows(arguments["key"].tolist(), arguments["order"]),
        None,
        [
            ("group_rows(dense)", ShapeError, r"key: has shape \(3, 4\)"),
            ("group_rows(3)", ShapeError, "key: has shape"),
            ("group_rows(flat)", LoDError, "key: has 1 level; a dense array"),
            ("group_rows(rows.astype('g'))", DTypeError, "key: has dtype (float|longdouble)"),
            ("group_rows([1j])", DTypeError, "key: has dtype complex128"),
            ("group_rows(objects)", DTypeError, "key: .*object"),
            ("group_rows(rows, 'last')", ValueError, "order: is 'last'; one of 'sorted'"),
        ],
    ),
    "match_keys": Samples(
        match_calls(),
        matched,
        None,
        [
            ("match_keys(rows, ['a'])", DTypeError, "y_keys: has dtype <U1; x_keys has int64"),
            ("match_keys(np.array([1], 'u8'), np.array([1], 'i1'))", DTypeError, "has dtype int8; x_keys has uint64"),
            ("match_keys(rows, np.array([1], 'u8'))", DTypeError, "y_keys: has dtype uint64; x_keys has int64"),
            ("match_keys(np.array([b'a']), ['a'])", DTypeError, "y_keys: has dtype <U1; x_keys has .S1"),
            ("match_keys(dense, rows)", ShapeError, "x_keys: has shape"),
            ("match_keys(rows, rows, 'cross')", ValueError, "how: is 'cross'"),
        ],
    ),
}
