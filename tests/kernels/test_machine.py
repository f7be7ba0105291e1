"""The machine for steps: random programs, exact if nothing but products is rounded, on every instruction set."""

import hashlib
import importlib
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree
from tests.helpers.draw import int64, read_only
from tests.helpers.instructions import (
    AFTER,
    BATCH,
    BEFORE,
    CODE,
    EARLIER,
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
from tests.helpers.matrices import packed
from tests.helpers.tables import for_each

UFUNCS = [np.exp, np.tanh, np.maximum, np.hypot]
SEEDS = st.integers(0, 2**32)
DTYPES = st.sampled_from([np.dtype("f4"), np.dtype("f8")])


class Program:
    """A random program over random steps, whose products have integers as operands.

    Attributes
    ----------
    arguments : tuple
        Those of `machine.run_steps`.
    """

    def __init__(self, seed, dtype, values=ORDINARY, most=24):
        self.random, self.dtype = np.random.default_rng(seed), np.dtype(dtype)
        self.arrays, self.weights, self.operands, self.instructions = [], [], [], []
        lengths = sorted(self.random.choice([1, 2, 3, 5], self.random.integers(1, 6)), reverse=True)
        if self.random.random() < 0.2:  # tiles of several sizes
            lengths = [*lengths, *[1] * self.random.choice([3, 40])]
        backwards, self.back = (bool(self.random.random() < 0.5) for _ in range(2))
        order = self.random.permutation(len(lengths))
        ends = np.cumsum([lengths[k] for k in order])
        first = dict(zip(order, ends, strict=True))
        starts = [first[k] - 1 if backwards else first[k] - lengths[k] for k in range(len(lengths))]
        counts = [sum(length > t for length in lengths) for t in range(lengths[0])]
        self.n, self.rows = len(lengths), sum(lengths)
        self.whole, self.values, self.known = [], values, []
        self.where = int64([0, *np.cumsum(counts)]), int64(starts), -1 if backwards else 1
        self._sources()
        for _ in range(self.random.integers(1, most)):
            self._add()
        self._out()
        tables = [int64(rows).reshape(-1, k) for rows, k in ((self.operands, 4), (self.instructions, 8))]
        self.arguments = self.arrays, self.weights, UFUNCS, *tables, *self.where, self.rows, self.back

    def _array(self, rows, width, whole=False, written=False):
        drawn = self.random.integers(-3, 4, (rows, width)) if whole else self.random.choice(self.values, (rows, width))
        with np.errstate(all="ignore"):
            made = drawn.astype(self.dtype)
        self.arrays.append(made if written else read_only(made))
        return len(self.arrays) - 1

    def _operand(self, kind, array, line, column=0):
        self.operands.append((kind, array, line, column))
        return len(self.operands) - 1

    def _sources(self):
        """Make operands that are there before a step: their numbers and widths."""
        for _ in range(3):
            line = int(self.random.choice([1, 2, 3, 7, 16, 33]))
            column = int(self.random.integers(0, line))
            width = int(self.random.integers(1, line - column + 1))
            kind = int(self.random.choice([BATCH, EARLIER, ROW, LINE, BEFORE]))
            rows = {BATCH: self.rows, EARLIER: self.rows, LINE: 1}.get(kind, self.n)
            array = self._array(rows, line)
            if kind in (EARLIER, BEFORE):
                self._array(self.n, line)
            self.known.append((self._operand(kind, array, line, column), width))
        self.whole.append((self._operand(ROW, self._array(self.n, 5, True), 5), 5))
        pair = self._array(self.n, 3, True, True)
        self._array(self.n, 3, True, True)
        before, after = self._operand(BEFORE, pair, 3), self._operand(AFTER, pair, 3)
        self._step("neg", 3, after, before)
        self.whole.append((before, 3))
        self.cells = 0

    def _step(self, code, width, out, x, y=-1, z=-1, number=-1, last=0):
        self.instructions.append((CODE[code], width, out, x, y, z, number, last))

    def _pick(self, width=None):
        fit = [(one, wide) for one, wide in self.known if width is None or wide >= width]
        return fit[self.random.integers(len(fit))]

    def _target(self, width):
        """Make an operand for a result: in the scratch memory, or in rows."""
        if self.random.random() < 0.6:
            gap = int(self.random.integers(0, 2))
            made = self._operand(TILE, self.cells, width + gap, gap)
            self.cells += width + gap
        else:
            kind = int(self.random.choice([ROW, BATCH]))
            line = width + int(self.random.integers(0, 3))
            rows = self.rows if kind == BATCH else self.n
            made = self._operand(kind, self._array(rows, line, True, True), line, line - width)
        self.known.append((made, width))
        return made

    def _add(self):
        kinds = ["one", "two", "three", "expand", "sum", "largest", "first", "ufunc", "product"]
        kind = self.random.choice(kinds)
        x, width = self._pick()
        if kind == "product":
            self._product()
            return
        if kind in ("sum", "largest"):
            self._step(kind, width, self._target(1), x)
            return
        if kind == "first":
            self._step("largest", width, self._target(1), x)
            self._step("first", width, self._target(width), x, self.known[-2][0])
            return
        if kind == "expand":
            width = int(self.random.integers(1, 20))
            self._step("expand", width, self._target(width), x)
            return
        y, z = self._pick(width)[0], self._pick(width)[0]
        number = int(self.random.integers(len(UFUNCS))) if kind == "ufunc" else -1
        codes = {"one": ONE, "two": TWO, "three": THREE}.get(kind)
        several = UFUNCS[number].nin if codes is None else ["one", "two", "three"].index(kind) + 1
        code = kind if codes is None else str(self.random.choice(codes))
        given = [x, y, z][:several] + [-1] * (3 - several)
        self._step(code, width, self._target(width), *given, number)

    def _product(self):
        self._out()
        left, depth = self.whole[self.random.integers(len(self.whole))]
        width = int(self.random.choice([1, 3, 16, 33]))
        self.weights.append(read_only(packed(self.random.integers(-3, 4, (depth, width)).astype(self.dtype))))
        out = self._operand(ROW, self._array(self.n, width, True, True), width)
        code = ["product", "added"][self.random.integers(2)]
        if code == "added":  # adds to the existing content at every step
            self._step("mul", width, out, self._zeros(width), out)
        self._step(code, width, out, left, -1, depth, len(self.weights) - 1, int(self.random.integers(5)))
        self.known.append((out, width))

    def _zeros(self, width):
        return self._operand(LINE, self._array(1, width, True), width)

    def _out(self):
        """Make the scratch memory visible, which no instruction after a product can read."""
        for k, (one, width) in enumerate(self.known):
            if self.operands[one][0] == TILE:
                made = self._operand(BATCH, self._array(self.rows, width, True, True), width)
                self._step("move", width, made, one)
                self.known[k] = made, width


@pytest.mark.not_on_reference
class TestTwin:
    @given(SEEDS, DTYPES, st.sampled_from([ORDINARY, ORDINARY + EXTREME]))
    def test_run_steps(self, seed, dtype, values):
        """ "machine.run_steps": equal bytes, and the same exceptions of floating point."""
        program, twin = Program(seed, dtype, values), importlib.import_module("reference.kernels.machine")
        got, want = run(kernels.machine.run_steps, program.arguments), run(twin.run_steps, program.arguments)
        assert got[0] == want[0]
        for one, other in zip(got[1], want[1], strict=True):
            assert one_nan(one).tobytes() == one_nan(other).tobytes()

    @given(SEEDS, st.integers(0, 40), st.integers(0, 40), DTYPES)
    def test_cells_below_a_limit(self, seed, rows, columns, dtype):
        """ "machine.is_below": also of a few hundred cells, and of nan."""
        random = np.random.default_rng(seed)
        matrix = random.choice([0, 1e-30, -1, 2.5], (rows, columns)).astype(dtype)
        for value in (0, 3, -3, 1e30, np.inf, -np.inf, np.nan):
            if matrix.size:
                matrix.reshape(-1)[random.integers(matrix.size)] = value
            for limit in (3.0, 2.0**50, np.inf):
                found = agree("machine.is_below", matrix, limit)
                assert found == (np.abs(matrix) < limit).all()
                if columns > 1:  # rows with gaps between them
                    assert agree("machine.is_below", matrix[:, 1:], limit) == (np.abs(matrix[:, 1:]) < limit).all()


def digest():
    """Run programs, and hash what they write."""
    found = hashlib.sha256()
    for seed in range(60):
        met, arrays = run(kernels.machine.run_steps, Program(seed, ["f4", "f8"][seed % 2]).arguments)
        found.update(bytes([met]) + b"".join(one_nan(array).tobytes() for array in arrays))
    return found.hexdigest()


def small(**changes):
    """Return the arguments of a small program: out = x + y, out = x @ weight, and a ufunc; with changes."""
    x, y, out, pair = np.ones((3, 2)), np.ones((1, 2)), np.zeros((3, 2)), np.zeros((2, 2))
    given = {
        "arrays": [read_only(x), read_only(y), out, pair, pair.copy()],
        "weights": [packed(np.ones((2, 2)))],
        "ufuncs": [np.exp],
        "operands": int64([[BATCH, 0, 2, 0], [LINE, 1, 2, 0], [BATCH, 2, 2, 0], [BEFORE, 3, 2, 0], [AFTER, 3, 2, 0]]),
        "instructions": int64(
            [
                [CODE["add"], 2, 2, 0, 1, -1, -1, 0],
                [CODE["ufunc"], 2, 4, 3, -1, -1, 0, 0],
                [CODE["product"], 2, 4, 3, -1, 2, 0, 0],
            ]
        ),
        "steps": int64([0, 2, 3]),
        "starts": int64([0, 2]),
        "stride": 1,
        "n_rows": 3,
        "back": False,
    }
    return with_changes(given, changes)


def test_small_program():
    arguments = small()
    assert kernels.machine.run_steps(*arguments) == 0
    assert (arguments[0][2] == 2).all()


@for_each(
    "changes",
    [
        {"arrays": []},
        {"n_rows": 2},
        {"n_rows": 4},
        {"stride": 0},
        {"stride": 2},
        {"stride": -1},
        {"starts": int64([0, 3])},
        {"starts": int64([-1, 2])},
        {"starts": int64([2, 0])},
        {"starts": int64([0])},
        {"steps": int64([0, 1, 3])},
        {"steps": int64([1, 2, 3])},
        {"steps": int64([0, 2, 2])},
        {"steps": int64([])},
        {"operands": int64([[BATCH, 0, 2]])},
        {"instructions": int64([[1, 2, 2, 0, 1, -1, -1]])},
        *[changed("operands", (0, 0), kind) for kind in (-1, 7, AFTER)],
        *[changed("operands", (0, 1), array) for array in (-1, 5)],
        *[changed("operands", (0, 2), line) for line in (1, 3)],
        *[changed("operands", (0, 3), column) for column in (-1, 1, 3, 2**62)],
        *[changed("operands", 0, row) for row in ([TILE, -1, 2, 0], [TILE, 2**40, 2, 0], [TILE, 0, 2**40, 0])],
        *[changed("operands", (3, 1), array) for array in (4, 2**62)],
        *[changed("instructions", (0, 0), code) for code in (-1, CODE["added"])],
        *[changed("instructions", (0, 1), width) for width in (0, -1, 3)],
        *[changed("instructions", (0, 2), out) for out in (-1, 0, 1, 5)],
        *[changed("instructions", (0, 3), x) for x in (-1, 5)],
        changed("instructions", (0, 4), 5),
        *[changed("instructions", (1, 6), ufunc) for ufunc in (-1, 1)],
        *[changed("instructions", (2, 2), out) for out in (0, 2)],
        changed("instructions", (2, 3), 0),
        *[changed("instructions", (2, 5), depth) for depth in (0, -1, 1, 3)],
        *[changed("instructions", (2, 6), weight) for weight in (-1, 1)],
        changed("weights", 0, np.ones(2)),
        changed("weights", 0, np.ones((2, 2))),
        changed("weights", 0, packed(np.ones((2, 2), "f4"))),
        changed("arrays", 0, np.ones((3, 2), "f4")),
        changed("arrays", 0, np.ones((2, 2))),
        changed("arrays", 0, np.ones(6)),
        changed("arrays", 2, np.zeros((2, 3)).T),
    ],
)
def test_machine_tables_out_of_bounds_are_refused(changes):
    arguments = small(**changes)
    with pytest.raises(ValueError, match="the arrays do not belong together"):
        kernels.machine.run_steps(*arguments)
    assert not any(one.any() for one in arguments[0][2:])


@for_each("dtype", ["f4", "f8"])
@for_each("found", [1.0, np.inf, np.nan])
@for_each("code", ["sum", "largest"])
def test_sums_and_largest_numbers_of_rows_count_every_place(code, found, dtype):
    for width in range(1, 51):
        x, out = np.zeros((width, width), dtype), np.full((width, 1), -9, dtype)
        np.fill_diagonal(x, found)
        operands = int64([[BATCH, 0, width, 0], [BATCH, 1, 1, 0]])
        instructions = int64([[CODE[code], width, 1, 0, -1, -1, -1, 0]])
        where = int64([0, width]), int64(range(width)), 1, width, False
        assert kernels.machine.run_steps([read_only(x), out], [], [], operands, instructions, *where) == 0
        np.testing.assert_array_equal(out, np.full((width, 1), found, dtype))


@for_each("back", [False, True])
@for_each("dtype", ["f4", "f8"])
def test_functions_are_called_once_in_each_step(back, dtype):
    """Between the instructions before and after them, with the number of the step and of its rows."""
    x, out = np.arange(6, dtype=dtype).reshape(3, 2), np.zeros((3, 2), dtype)
    given, made = np.zeros((2, 2), dtype), np.zeros((2, 2), dtype)
    calls = []

    def doubled(t, count):
        calls.append((t, count))
        made[:count] = given[:count] * 2

    def run(function):
        operands = int64([[BATCH, 0, 2, 0], [ROW, 2, 2, 0], [ROW, 3, 2, 0], [BATCH, 1, 2, 0]])
        lines = [["neg", 1, 0, -1, -1], ["call", 2, 1, -1, 2], ["neg", 3, 2, -1, -1]]
        instructions = int64([[CODE[name], 2, *some, 0, 0] for name, *some in lines])
        where = int64([0, 2, 3]), int64([0, 2]), 1
        return kernels.machine.run_steps([x, out, given, made], [], [function], operands, instructions, *where, 3, back)

    assert run(doubled) == 0
    np.testing.assert_array_equal(out, x * 2)
    assert calls == ([(1, 1), (0, 2)] if back else [(0, 2), (1, 1)])

    def failing(t, count):
        raise KeyError(t)

    with pytest.raises(KeyError, match=str(int(back))):
        run(failing)


@pytest.mark.beyond_the_rules
def test_a_ufunc_without_a_loop_for_the_dtype_is_refused():
    for ufunc, says in [(np.frompyfunc(abs, 1, 1), "no loop"), (np.logical_not, "no loop"), (np.add, "belong")]:
        with pytest.raises(ValueError, match=says):
            kernels.machine.run_steps(*small(ufuncs=[ufunc]))


@pytest.mark.not_on_reference
@pytest.mark.skipif(shutil.which("objdump") is None, reason="there is no objdump")
def test_loops_are_compiled_for_wide_registers():
    """The loop over the numbers of a row is one of vectors, in the variants for AVX2 and AVX-512."""
    if not kernels.matrix.is_fast():
        pytest.skip("another processor")

    def shown(*options):
        command = ["objdump", *options, kernels.machine.__file__]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    if ".debug_info" in shown("-h"):
        pytest.skip("a build that is not optimized")
    text = shown("-d", "--no-show-raw-insn", "-M", "intel")
    if "__asan" in text or "in_tiles_avx2" not in text:
        pytest.skip("another build")
    parts = {part.partition("\n")[0]: part for part in text.split("\n\n") if "in_tiles_avx" in part.partition("\n")[0]}
    for path, register in (("avx2", "ymm"), ("avx512", "zmm")):
        found = "".join(part for name, part in parts.items() if f"in_tiles_{path}" in name)
        for name in ("vaddp", "vmulp", "vdivp", "vsubp"):
            for letter in "sd":
                assert any(name + letter in line and register in line for line in found.splitlines()), (path, name)
