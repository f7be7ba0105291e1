"""Chains of elementwise operators on whole arrays: random programs, on every instruction set."""

import hashlib
import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.draw import int64, read_only
from tests.helpers.instructions import (
    CODE,
    EXTREME,
    LINE,
    ONE,
    ORDINARY,
    ROW,
    THREE,
    TILE,
    TWO,
    changed,
    one_nan,
    run,
    with_changes,
)
from tests.helpers.tables import for_each

UFUNCS = [np.exp, np.tanh, np.maximum]
SEEDS = st.integers(0, 2**32)
DTYPES = st.sampled_from([np.dtype("f4"), np.dtype("f8")])


class Chain:
    """A random program on numbers.

    Attributes
    ----------
    arguments : tuple
        Those of `chains.run_chain`.
    """

    def __init__(self, seed, dtype, values=ORDINARY, count=None):
        self.random, self.dtype, self.values = np.random.default_rng(seed), np.dtype(dtype), values
        self.count = int(self.random.choice([0, 1, 5, 40])) if count is None else count
        self.arrays, self.operands, self.instructions = [], [], []
        self.known = [self._operand(ROW, self._array(self.count)) for _ in range(2)]
        self.known += [self._operand(LINE, self._array(length)) for length in self.random.choice([1, 3, 7, 300], 2)]
        cells = 0
        for _ in range(self.random.integers(1, 12)):
            if self.random.random() < 0.6:
                out, cells = self._operand(TILE, cells), cells + 1
            else:
                out = self._operand(ROW, self._array(self.count, True))
            self._add(out)
        for one in list(self.known):  # the content of the scratch memory becomes visible
            self._step("move", self._operand(ROW, self._array(self.count, True)), one)
        tables = [int64(rows).reshape(-1, k) for rows, k in ((self.operands, 4), (self.instructions, 8))]
        self.arguments = self.arrays, UFUNCS, *tables, self.count

    def _array(self, count, written=False):
        with np.errstate(all="ignore"):
            made = self.random.choice(self.values, (count, 1)).astype(self.dtype)
        self.arrays.append(made if written else read_only(made))
        return len(self.arrays) - 1

    def _operand(self, kind, number):
        self.operands.append((kind, number, 1, 0))
        return len(self.operands) - 1

    def _step(self, code, out, x, y=-1, z=-1, number=-1):
        self.instructions.append((CODE[code], 1, out, x, y, z, number, 0))

    def _add(self, out):
        kind = self.random.choice(["one", "two", "three", "ufunc"])
        x, y, z = (int(self.random.choice(self.known)) for _ in range(3))
        if kind == "ufunc":
            number = int(self.random.integers(len(UFUNCS)))
            self._step("ufunc", out, x, y if UFUNCS[number].nin == 2 else -1, -1, number)
        elif kind in ("one", "two"):
            self._step(str(self.random.choice(ONE if kind == "one" else TWO)), out, x, -1 if kind == "one" else y)
        else:
            self._step(str(self.random.choice(THREE)), out, x, y, z)
        self.known.append(out)


@pytest.mark.not_on_reference
class TestTwin:
    @given(SEEDS, DTYPES, st.sampled_from([ORDINARY, ORDINARY + EXTREME]))
    def test_run_chain(self, seed, dtype, values):
        """ "chains.run_chain": equal bytes, and the same exceptions of floating point."""
        arguments = Chain(seed, dtype, values).arguments
        both = kernels.chains, importlib.import_module("reference.kernels.chains")
        got, want = (run(one.run_chain, arguments) for one in both)
        assert got[0] == want[0]
        for one, other in zip(got[1], want[1], strict=True):
            assert one_nan(one).tobytes() == one_nan(other).tobytes()


@given(SEEDS, DTYPES, st.integers(1, 3000))
def test_many_tiles_have_the_bits_of_parts(seed, dtype, count):
    """Each number has the same result as alone, in any tile."""
    arguments = Chain(seed, dtype, count=count).arguments
    _, whole = run(kernels.chains.run_chain, arguments)
    arrays, ufuncs, operands, instructions, _ = arguments
    rows = {number for kind, number, _, _ in operands.tolist() if kind == ROW}
    lines = {number for kind, number, _, _ in operands.tolist() if kind == LINE}
    for c in {0, count // 2, count - 1}:
        some = list(arrays)
        for at, x in enumerate(arrays):
            if at in rows:
                some[at] = x[c : c + 1]
            elif at in lines:
                some[at] = read_only(np.roll(x, -c, 0))
        _, parts = run(kernels.chains.run_chain, (some, ufuncs, operands, instructions, 1))
        for one, other in zip(whole, parts, strict=True):
            assert one_nan(one[c]).tobytes() == one_nan(other[0]).tobytes()


def digest():
    """Run programs without ufuncs, whose bits depend on NumPy's paths, and hash what they write."""
    found = hashlib.sha256()
    for seed in range(80):
        arguments = Chain(seed, ["f4", "f8"][seed % 2], count=[7, 1000][seed % 3 == 0]).arguments
        if not (arguments[3][:, 0] == CODE["ufunc"]).any():
            met, arrays = run(kernels.chains.run_chain, arguments)
            found.update(bytes([met]) + b"".join(one_nan(array).tobytes() for array in arrays))
    return found.hexdigest()


def small(**changes):
    """Return the arguments of a small program: out = x + line, and a ufunc of it; with changes."""
    x, line, out = np.ones((3, 1)), np.ones((2, 1)), np.zeros((3, 1))
    given = {
        "arrays": [read_only(x), read_only(line), out],
        "ufuncs": [np.exp],
        "operands": int64([[ROW, 0, 1, 0], [LINE, 1, 1, 0], [TILE, 0, 1, 0], [ROW, 2, 1, 0]]),
        "instructions": int64([[CODE["add"], 1, 2, 0, 1, -1, -1, 0], [CODE["ufunc"], 1, 3, 2, -1, -1, 0, 0]]),
        "count": 3,
    }
    return with_changes(given, changes)


def test_small_program():
    arguments = small()
    assert kernels.chains.run_chain(*arguments) == 0
    assert (arguments[0][2] == np.exp(2.0)).all()


@for_each(
    "changes",
    [
        {"arrays": []},
        {"count": 2},
        {"count": 4},
        {"count": -1},
        {"operands": int64([[ROW, 0, 1]])},
        {"instructions": int64([[1, 1, 2, 0, 1, -1, -1]])},
        *[changed("operands", (0, 0), kind) for kind in (-1, 2, 3, 4, 5, 7)],
        *[changed("operands", (0, 1), array) for array in (-1, 1, 3, 2**62)],
        *[changed("operands", (0, 2), line) for line in (0, 2)],
        *[changed("operands", (0, 3), column) for column in (-1, 1, 2**62)],
        *[changed("operands", (2, 1), cell) for cell in (-1, 2**40)],
        *[changed("instructions", (0, 0), CODE[code]) for code in ("expand", "sum", "largest", "first", "product")],
        *[changed("instructions", (0, 0), code) for code in (-1, CODE["added"], CODE["call"], 99)],
        *[changed("instructions", (0, 1), width) for width in (0, -1, 2)],
        *[changed("instructions", (0, 2), out) for out in (-1, 0, 1, 4)],
        *[changed("instructions", (0, 3), x) for x in (-1, 4)],
        *[changed("instructions", (1, 6), ufunc) for ufunc in (-1, 1)],
        changed("arrays", 1, np.ones((0, 1))),
        changed("arrays", 0, np.ones((3, 1), "f4")),
        changed("arrays", 0, np.ones((3, 2))),
        changed("arrays", 0, np.ones(3)),
        changed("arrays", 0, np.ones((6, 1))[::2]),
    ],
)
def test_run_chain_of_tables_out_of_bounds_is_refused(changes):
    arguments = small(**changes)
    with pytest.raises(ValueError, match="the arrays do not belong together"):
        kernels.chains.run_chain(*arguments)
    assert not any(one.any() for one in arguments[0][2:])
