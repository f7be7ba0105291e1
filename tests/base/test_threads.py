"""set_num_threads: the same bits for any number of threads, errors of threads, and child processes after a fork."""

import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import (
    DTypeError,
    LoDTensor,
    embedding_bag,
    gather_sequences,
    lookup_table,
    row_conv,
    sequence_cumsum,
    sequence_enumerate,
    sequence_expand,
    sequence_expand_as,
    sequence_logsumexp,
    sequence_pad,
    sequence_pool,
    sequence_reverse,
    sequence_softmax,
    sequence_unpad,
    vjp,
)
from lodcore.base import threads
from lodcore.base.threads import in_parts, over_sequences, parts
from tests.helpers.draw import lengths, running_sum
from tests.helpers.processes import environment
from tests.helpers.tables import for_each


@pytest.fixture(params=[2, 3], autouse=True)
def several(request, monkeypatch):
    """Use several threads for work of any size."""
    monkeypatch.setattr(threads, "WIDE", 1)
    lodcore.set_num_threads(request.param)
    yield request.param
    lodcore.set_num_threads(1)


@given(lengths(most=40), st.integers(1, 8))
def test_parts_cover_every_sequence_once(sizes, row_bytes):
    offsets = np.array(running_sum(sizes))
    covered = [s for start, stop in parts(offsets, row_bytes) for s in range(start, stop)]
    assert covered == list(range(len(sizes)))


def test_work_is_divided_by_what_it_costs_not_by_its_bytes(monkeypatch):
    monkeypatch.setattr(threads, "WIDE", 1000)
    offsets, rows, calls = np.arange(0, 101, 10), np.zeros(100, "u1"), []
    for cost in (9, 10):
        calls.append([])
        over_sequences(lambda some, part: calls[-1].append(len(part)), "or", offsets, rows, cost=cost)
    assert calls[0] == [100]
    assert len(calls[1]) > 1
    assert sum(calls[1]) == 100


def test_work_is_done_once_and_in_several_threads(several):
    seen, names = [], set()
    barrier = threading.Barrier(several, timeout=600)

    def work(start, stop):
        if threading.current_thread().name not in names:
            names.add(threading.current_thread().name)
            barrier.wait()
        seen.extend(range(start, stop))

    in_parts(work, [(k, k + 1) for k in range(12)])
    assert sorted(seen) == list(range(12))
    assert len(names) == several


@pytest.mark.parametrize("bad", [0, 11])
def test_an_error_of_one_thread_is_raised_by_the_call(bad):
    def work(start, stop):
        if start == bad:
            raise ValueError(f"run {start}")

    with pytest.raises(ValueError, match=f"run {bad}"):
        in_parts(work, [(k, k + 1) for k in range(12)])
    in_parts(lambda start, stop: None, [(0, 1), (1, 2)])


def test_one_of_the_errors_of_all_threads_is_raised_by_the_call(several):
    """Also if the thread that called it has none."""
    barrier = threading.Barrier(several, timeout=600)

    def work(start, stop):
        barrier.wait()
        if threading.current_thread() is not threading.main_thread():
            raise ValueError(f"run {start}")

    with pytest.raises(ValueError, match="run"):
        in_parts(work, [(k, k + 1) for k in range(several)])


def test_in_parts_releases_the_results_of_its_threads():
    class Large:
        pass

    def computed():
        large = Large()
        in_parts(lambda start, stop: large, [(k, k + 1) for k in range(12)])
        return weakref.ref(large)

    held = computed()
    limit = time.monotonic() + 600
    while held() is not None and time.monotonic() < limit:
        time.sleep(0.001)  # a thread says that it is ready, and then forgets the work
    assert held() is None


@for_each("count", [2, 3, 9, 30])
def test_parts_of_a_batch_contain_every_sequence_once(count):
    """Of one row each, or all but one without rows."""
    for sizes in ([1] * count, [5] + [0] * (count - 1), [0] * (count - 1) + [5], [0] * count, [1, 100] * count):
        runs = parts(np.array(running_sum(sizes)), 8)
        assert [s for start, stop in runs for s in range(start, stop)] == list(range(len(sizes)))
        assert parts(np.array(running_sum(sizes)) + 7, 8) == runs


def test_gather_sequences_gives_the_same_bits_with_any_number_of_threads():
    random = np.random.default_rng(0)
    sizes = random.integers(0, 20, 100)
    x = LoDTensor.from_lengths(random.standard_normal((sizes.sum(), 3)), sizes)
    index = random.integers(0, len(x), 200)
    together = gather_sequences(x, index)
    lodcore.set_num_threads(1)
    alone = gather_sequences(x, index)
    assert together.lod == alone.lod
    assert together.values.tobytes() == alone.values.tobytes()


@pytest.mark.parametrize(
    ("n", "error", "says"),
    [
        (0, ValueError, "n: is 0"),
        (10**9, ValueError, "1 .. 1024"),
        (1025, ValueError, "n: is 1025; 1 .. 1024"),
        (np.True_, DTypeError, "an integer is needed"),
        (1.0, DTypeError, "n: is 1.0"),
        (True, DTypeError, "True"),
    ],
)
def test_set_num_threads_refuses_other_values(n, error, says, several):
    with pytest.raises(error, match=says):
        lodcore.set_num_threads(n)
    assert lodcore.get_num_threads() == several


@pytest.mark.parametrize(("wish", "count"), [("3", 3), ("", 1), ("0", 1), ("many", 1), ("99999999999", 1)])
def test_lodcore_num_threads_of_the_environment_is_read_at_import(wish, count):
    program = "import lodcore; print(lodcore.get_num_threads())"
    variables = environment(LODCORE_NUM_THREADS=wish)
    printed = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=True)
    assert int(printed.stdout) == count


def test_a_child_starts_threads_of_its_own():
    in_parts(lambda start, stop: None, [(0, 1), (1, 2)])
    program = """
import os, sys
import lodcore
from lodcore.base.threads import in_parts
lodcore.set_num_threads(2)
in_parts(lambda start, stop: None, [(0, 1), (1, 2)])
child = os.fork()
if child == 0:
    in_parts(lambda start, stop: None, [(k, k + 1) for k in range(9)])
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    variables = environment(PYTHONWARNINGS="ignore")
    subprocess.run([sys.executable, "-c", program], env=variables, check=True, timeout=600)


TABLE = np.random.default_rng(0).standard_normal((4, 3))


def numbers_like(x):
    """Return row numbers of the table, with the structure of x."""
    return LoDTensor(np.arange(x.num_rows) % 4, x.lod)


def taps_like(x):
    """Return three rows of weights for those of x."""
    return np.random.default_rng(1).standard_normal((3, *x.values.shape[1:]))


WIDE_CALLS = {
    "lookup": lambda x, v, d: lookup_table(TABLE, numbers_like(x), padding_idx=2),
    "bags": lambda x, v, d: embedding_bag(TABLE, numbers_like(x), "mean"),
    "greatest of bags": lambda x, v, d: embedding_bag(TABLE, numbers_like(x), "max"),
    "expand": lambda x, v, d: sequence_expand(v, x),
    "expand_as": lambda x, v, d: sequence_expand_as(v, x),
    "reverse": lambda x, v, d: sequence_reverse(x),
    "windows": lambda x, v, d: sequence_enumerate(numbers_like(x), 3, 9),
    "row_conv": lambda x, v, d: row_conv(x, taps_like(x)),
    "row_conv backward": lambda x, v, d: vjp(lambda x: row_conv(x, taps_like(x)), x)[1](x.values[::-1].copy())[0],
    "pad": lambda x, v, d: sequence_pad(x)[0],
    "unpad": lambda x, v, d: sequence_unpad(d, x.lengths),
    "to_padded": lambda x, v, d: x.to_padded(7, side="left"),
    "softmax": lambda x, v, d: sequence_softmax(x),
    "softmax gradient": lambda x, v, d: vjp(sequence_softmax, x)[1](x.values[::-1].copy())[0],
    "logsumexp": lambda x, v, d: sequence_logsumexp(x),
    "cumsum": lambda x, v, d: sequence_cumsum(x),
    **{
        kind: lambda x, v, d, kind=kind: sequence_pool(x, kind)
        for kind in ("sum", "mean", "sqrt", "max", "first", "last")
    },
    **{
        f"{kind} gradient": lambda x, v, d, kind=kind: vjp(lambda x: sequence_pool(x, kind), x)[1](v)[0]
        for kind in ("sum", "mean", "max", "last")
    },
}


@pytest.mark.parametrize("name", sorted(WIDE_CALLS))
@pytest.mark.parametrize("row_shape", [(), (5,), (0,)])
def test_operators_give_the_same_bits_with_any_number_of_threads(name, row_shape, several):
    def bits(x):
        return getattr(x, "lod", None), np.array(getattr(x, "values", x)).tobytes()

    for seed, count in enumerate([0, 1, 2, 3, 7, 20, 50]):
        random = np.random.default_rng(seed)
        sizes = random.integers(0, 9, count) * random.integers(0, 2, count)
        x = LoDTensor.from_lengths(random.standard_normal((sizes.sum(), *row_shape)), sizes)
        v = random.standard_normal((count, *row_shape))
        dense = random.standard_normal((count, sizes.max(initial=0), *row_shape))
        lodcore.set_num_threads(several)
        together = WIDE_CALLS[name](x, v, dense)
        lodcore.set_num_threads(1)
        assert bits(together) == bits(WIDE_CALLS[name](x, v, dense))


@pytest.mark.not_on_reference
def test_layers_without_a_pool_of_threads_are_divided_into_the_same_parts():
    """If threads were never requested, there is no pool of them, and wide layers are divided into the same parts."""
    program = (
        "import numpy as np, lodcore\n"
        "from lodcore import nn\n"
        "from lodcore.base import threads\n"
        "x = lodcore.LoDTensor.from_lengths(np.ones((896, 256), np.float32), np.full(128, 7))\n"
        "layer = nn.LSTM(256, 256)\n"
        "outputs, _ = layer(layer.init(np.random.default_rng(0)), x)\n"
        "assert outputs.shape == (128, None, 256) and threads._pool is None\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=environment(LODCORE_NUM_THREADS=""))
