"""Memory: no call keeps any, and none takes an amount that its arguments chose. Reads /proc, as Linux has it."""

import ctypes
import gc
import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray
from tests.helpers import wrong_calls
from tests.helpers.wrong_calls import things

pytestmark = pytest.mark.not_on_reference  # it is compiled code that can lose memory

ROOT = Path(__file__).parent.parent
RIGHT = [
    *("LoD.from_offsets([0, 2], [0, 1, 2])", "LoD.from_lengths([2, 0], [1, 3])", "LoD.from_segment_ids([0, 0, 2])"),
    *("LoD.from_row_offsets([0, 3], [0, 1, 3])", "lod.offsets(1)", "lod.lengths(1)", "lod.row_offsets(0)"),
    *("lod.segment_ids(0)", "lod.positions(1)", "lod.split()", "lod.take([0, 2])", "lod.take([0, 2], 1)"),
    *("lod.slice(1, 3)", "lod.concat(lod)", "lod.append(lengths=[1] * 6)", "lod.drop(0)", "lod.drop(1)"),
    *("lod == lod.take([0, 1, 2])", "hash(lod.take([0, 1]))", "repr(lod)", "lod.num_sequences(-1)"),
    *("LoDTensor(rows, flat.lod)", "LoDTensor.from_lengths(rows, [5])", "LoDTensor.from_offsets(rows, [0, 5])"),
    *("LoDTensor.from_segment_ids(rows, rows)", "LoDTensor.from_starts_stops(rows, [0, 1], [2, 5])"),
    *("LoDTensor.from_arrays([rows, rows])", "LoDTensor.from_arrays([[1], [2.5]])"),
    *("LoDTensor.from_padded(dense, [1, 0, 4])", "LoDTensor.from_padded(dense, mask=dense == 0)"),
    *("x[1]", "flat[0]", "flat[1:]", "list(x)", "list(flat)", "x.tolist()", "x.to_arrays()", "x.flatten()", "repr(x)"),
    *("wide.to_padded()", "flat.to_padded(-1, 'left', 5, 2, True)", "array([[1, 2], [3]]).to_padded()"),
    *("wide[:1].to_regular()", "wide.clone()", "wide.equals(wide)", "wide.shape", "wide.lengths", "wide.offsets"),
    *("array([[[1, 2]], []])", "array([rows, rows])", "array(flat)", "array([['a']])"),
    *("gather_sequences(x, [2, 0])", "gather_sequences(x, [2, 0], 1)", "gather_sequences(wide, rows[:2])"),
    *("concat_batches([x, x])", "sequence_slice(flat, 0, [1, 0, 2])", "sequence_slice(x, 0, 0, 0)"),
    *(
        "lod_rank_table(x)",
        "reorder_by_rank(flat, table)",
        "shrink_memory(reorder_by_rank(flat, table), 0, table)",
        "repr(table)",
    ),
    *("TensorArray.unpack(wide, 0)", "TensorArray.unpack(x, 0, False)", "steps.pack(0, steps_map)"),
    *("inner_steps.pack(0, inner_map)", "rewritten.pack(0, steps_map)", "list(steps)", "steps.sizes()"),
    *("steps.concat()", "pair.concat()", "pair.stack()", "TensorArray.unstack(dense).stack(1)", "steps_map.clone()"),
    *("TensorArray().write(0, rows)", "TensorArray.unpack(flat, 0)[1].tolist()", "DenseTensor(rows).clone()"),
]
WRONG = [
    *("LoD.from_offsets([0, 2, 1])", "LoD.from_lengths([1, -1])", "LoD.from_segment_ids([1, 0])", "lod.take([9])"),
    *("LoD.from_row_offsets([0, 3], [0, 2, 5])", "lod.append(lengths=[-1])", "lod.concat(flat.lod)", "lod.drop(5)"),
    *("LoDTensor(rows, lod)", "LoDTensor.from_starts_stops(rows, [0], [9])", "LoDTensor.from_arrays([rows, dense])"),
    *("LoDTensor.from_padded(dense, [9, 9, 9])", "x[9]", "x['a']", "flat.to_padded(length=1)", "np.asarray(x)"),
    *("array([[1], 2])", "array([[1, None]])", "array([rows, dense])", "gather_sequences(x, [0, 9])"),
    *("gather_sequences(x, [0.5])", "concat_batches([flat, wide])", "sequence_slice(flat, 9, 9)", "lod_rank_table(3)"),
    *("reorder_by_rank(rows, table)", "shrink_memory(flat, -1, table)", "TensorArray.unpack(flat, 7)"),
    *("steps.pack(0, inner_map)", "with_hole.stack()", "mixed.concat()", "uneven.stack()", "steps.read(9)"),
    *("gather_sequences(x, [0], out=rows)", "LoDTensor.from_lengths([1], [1 << 62, 1 << 62])", "hash(x)"),
]


def repeat(codes, names, times):
    """Run each call so often, its errors passed over."""
    public = {**wrong_calls.public_names(), "np": np, "operator": None, "rebuilt": wrong_calls.rebuilt}
    for code in codes:
        for _ in range(times):
            with suppress(Exception):
                eval(code, public, names)


def resident():
    """Give the bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ["arena", "a", "b", "c", "mapped", "d", "e", "used", "f", "g"]]


C = ctypes.CDLL(None)
if hasattr(C, "mallinfo2"):
    C.mallinfo2.restype = Mallinfo


def allocated():
    """Give the bytes that malloc has handed out, or what comes close to it where the C library does not tell."""
    if not hasattr(C, "mallinfo2"):
        return resident()
    info = C.mallinfo2()
    return info.used + info.mapped


def growth(codes, names, times):
    """Count the objects and the bytes that some rounds of calls leave behind: the least of three rounds."""
    repeat(codes, names, times // 10)
    rounds = []
    for _ in range(3):
        gc.collect()
        objects, size = sys.getallocatedblocks(), allocated()
        repeat(codes, names, times)
        gc.collect()
        rounds.append((sys.getallocatedblocks() - objects, allocated() - size))
        if rounds[-1][0] < times // 10 and rounds[-1][1] <= 0:
            break
    return [min(column) for column in zip(*rounds, strict=True)]


@pytest.fixture(scope="module")
def names():
    gc.collect()
    gc.freeze()  # what was there before need not be looked through each time
    made = things()
    made["rewritten"] = TensorArray()
    for t, step in enumerate(made["steps"]):
        made["rewritten"].write(t, step)
    yield made
    gc.unfreeze()


@pytest.mark.parametrize("call", RIGHT + WRONG)
def test_ten_thousand_calls_leave_nothing_behind(call, names):
    times = 10_000
    objects, size = growth([compile(call, call, "eval")], names, times)
    assert objects < times // 10
    assert size < 16 * times  # the least that malloc gives is 32 bytes


@pytest.mark.parametrize("leak", ["kept.append(bytes(40))", "malloc(4096)"])
def test_a_leak_would_be_seen(leak):
    objects, size = growth([compile(leak, leak, "eval")], {"kept": [], "malloc": C.malloc}, 10_000)
    assert objects > 9000 or size > 1_000_000


@pytest.mark.parametrize("call", RIGHT)
def test_those_calls_are_right(call, names):
    eval(call, wrong_calls.public_names(), names)


@pytest.mark.parametrize("call", WRONG)
def test_these_calls_are_wrong(call, names):
    with pytest.raises((ValueError, TypeError, IndexError)):
        wrong_calls.run(call, names)


@pytest.mark.parametrize("part", ["OFFSETS", "STRUCTURE", "TENSORS", "NESTED", "OPERATORS", "ARRAYS", "PICKLES"])
def test_no_error_of_the_table_leaves_anything_behind(part, names):
    table = [call for call, error, _ in getattr(wrong_calls, part) if error is not MemoryError]
    objects, _ = growth([compile(call, call, "eval") for call in table], names, 200)
    assert objects < 100


def test_large_results_are_given_back(names):
    """A hundred results of 8 MB, one after the other, fit in the memory of a few."""
    x = LoDTensor.from_lengths(np.zeros((10**5, 10)), np.full(10**4, 10))
    steps, indices_map = TensorArray.unpack(x, 0)
    before = resident()
    for _ in range(100):
        lodcore.gather_sequences(x, np.arange(10**4))
        steps.pack(0, indices_map)
        list(x)
    assert resident() - before < 100 * 2**20


# -- under a limit -------------------------------------------------------------------------------------------------

LIMITED = """if True:
    import resource, sys, numpy, pytest, lodcore
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2 * 2**30,) * 2)
"""


def limited(program):
    """Run a program that may take 2 GiB."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED + program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_table_of_errors_runs_in_little_memory():
    options = ["-q", "-p", "no:cacheprovider", "--kernels=lodcore.kernels", "tests/test_errors.py"]
    done = limited(f"    sys.exit(pytest.main({options}))")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.parametrize("call", wrong_calls.BOMBS)
def test_few_bytes_that_ask_for_many(call):
    done = limited(f"""
    from tests.helpers.wrong_calls import run
    try:
        run({call!r}, {{}})
    except (lodcore.LoDError, MemoryError) as error:
        status = open("/proc/self/status").read()
        peak = int(status.split("VmHWM:")[1].split()[0])  # KiB; ru_maxrss begins with that of the parent
        print("little" if peak < 500 * 1024 else peak, error)
    """)
    assert done.stdout.startswith("little"), done.stdout + done.stderr
