"""Memory: no call leaks, and none allocates an amount that its arguments chose. Reads /proc, so it needs Linux."""

import gc
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray
from tests.helpers import wrong_calls
from tests.helpers.kept_memory import C, growth, resident
from tests.helpers.processes import environment
from tests.helpers.tables import for_each
from tests.helpers.wrong_calls import RIGHT, WRONG, things

pytestmark = pytest.mark.not_on_reference  # only compiled code can leak

ROOT = Path(__file__).parents[2]


def repeated(codes, names):
    """Make a function that runs each call a given number of times, and ignores their errors."""
    public = {**wrong_calls.public_names(), "np": np, "operator": None, "rebuilt": wrong_calls.rebuilt}

    def repeat(times):
        for code in codes:
            for _ in range(times):
                with suppress(Exception):
                    eval(code, public, names)

    return repeat


@pytest.fixture(scope="module", autouse=True)
def collected():
    """Exclude the objects that earlier tests have left from the collections of every round, which they would slow."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def names():
    made = things()
    made["rewritten"] = TensorArray()
    for t, step in enumerate(made["steps"]):
        made["rewritten"].write(t, step)
    return made


@pytest.mark.parametrize("call", RIGHT + WRONG)
def test_correct_and_wrong_calls_leak_no_memory(call, names):
    times = 3000
    objects, size = growth(repeated([compile(call, call, "eval")], names), times, small=16 * times)
    assert objects < times // 10
    assert size < 16 * times  # malloc allocates at least 32 bytes


@pytest.mark.parametrize("leak", ["kept.append(bytes(40))", "malloc(4096)"])
def test_growth_of_objects_or_bytes_finds_a_planted_leak(leak):
    objects, size = growth(repeated([compile(leak, leak, "eval")], {"kept": [], "malloc": C.malloc}), 10_000)
    assert objects > 9000 or size > 1_000_000


@for_each("call", RIGHT)
def test_calls_listed_as_right_run(call, names):
    eval(call, wrong_calls.public_names(), names)


@pytest.mark.parametrize("call", WRONG)
def test_calls_listed_as_wrong_raise(call, names):
    with pytest.raises((ValueError, TypeError, IndexError)):
        wrong_calls.run(call, names)


@pytest.mark.parametrize("part", ["OFFSETS", "STRUCTURE", "TENSORS", "NESTED", "OPERATORS", "ARRAYS", "PICKLES"])
def test_wrong_calls_of_the_table_leak_no_memory(part, names):
    """In six rounds, since what Python 3.10 keeps of frames varies from round to round by some hundred objects."""
    table = [call for call, error, _ in getattr(wrong_calls, part) if error is not MemoryError]
    objects, _ = growth(repeated([compile(call, call, "eval") for call in table], names), 200, rounds=6)
    assert objects < 100


def test_memory_of_large_results_is_released(names):
    """A hundred results of 8 MB, one after another, fit in the memory of a few."""
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
    """Run a program with a limit of 2 GiB."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED + program],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_wrong_calls_run_under_a_memory_limit():
    """All wrong calls together, in one process, take seconds."""
    done = limited("""
    import warnings
    warnings.simplefilter("ignore")
    from tests import test_errors as table
    from tests.helpers.wrong_calls import assert_all_refused
    from tests.samples import SAMPLES
    rows = [*table.TABLE, *(row for samples in SAMPLES.values() for row in samples.errors)]
    rows += [(call.format(large), error, name) for call, error, name in table.VECTORS for large in table.TOO_LARGE]
    rows += [(call.format(far), table.LevelError, "level") for call in table.LEVELS for far in table.FAR]
    assert_all_refused(rows, matrix=numpy.matrix([[1, 2]]))
    print(len(rows))
    """)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert int(done.stdout) > 1800


@pytest.mark.parametrize("call", wrong_calls.BOMBS)
def test_array_of_few_bytes_with_many_levels_is_refused_in_little_memory(call):
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
