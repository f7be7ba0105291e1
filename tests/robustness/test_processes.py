"""Signals, forks and interpreters: a call completes or raises, and the next one is correct."""

import pytest

from tests.robustness.programs import survives

pytestmark = pytest.mark.not_on_reference

#: Calls that take long, or are repeated.
LONG = {
    "a loop": "endless()",
    "a loop under vjp": "vjp(lambda v: endless(v), 1.0)",
    "kernels": "again(lambda: np.sort(x, 1))",
    "kernels in threads": "again(lambda: lodcore.sequence_reverse(x))",
    "a function of each sequence": "again(lambda: lodcore.map_sequences(np.sort, x))",
    "a layer, forward and backward": "again(lambda: vjp(lambda a: layer(p, a)[0], w)[1](np.ones((6000, 8))))",
    "plans": "again(lambda: batching.pack_plan(np.arange(60_000) % 977 + 1, 1024))",
    "lists": "again(x.tolist)",
    "files": "again(lambda: lodcore.load(saved()))",
}


def test_an_interrupt_ends_calls_that_take_long():
    survives(
        """
import io, os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored in what it runs beside itself
from lodcore import batching, nn
x = LoDTensor.from_lengths(np.arange(1_000_000.0), [1000] * 1000)
w = LoDTensor.from_lengths(np.ones((6000, 8)), [60] * 100)
layer = nn.LSTM(8, 8)
p = layer.init(np.random.default_rng(0), float)
def endless(start=1.0):
    loop = lodcore.while_loop()
    with loop.loop():
        t = loop.loop_var(0)
        loop.break_if(t >= 10**9)
        s = loop.loop_var(start)
        s.update(s * 1.0)
def again(call):
    while True:
        call()
def saved():
    file = io.BytesIO()
    lodcore.save(file, x)
    file.seek(0)
    return file
given, structure = x.values.copy(), x.lod.lengths(0).copy()
calls = dict(zip(sys.argv[1::2], sys.argv[2::2]))
for call, wait in [(call, wait) for call in calls for wait in (0.05, 0.2)]:
    print(call, wait, flush=True)
    lodcore.set_num_threads(3 if "threads" in call else 1)
    code = compile(calls[call], call, "exec")
    try:  # a busy machine may interrupt before the call begins
        threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT)).start()
        exec(code)
    except KeyboardInterrupt:
        pass
    except ValueError as error:  # raised after the interrupt by closing a zip file that is being written
        while error is not None and not isinstance(error, KeyboardInterrupt):
            error = error.__context__
        assert call == "files" and error is not None
    else:
        raise AssertionError("it was not interrupted")
    assert (x.values == given).all() and (x.lod.lengths(0) == structure).all()
    assert lodcore.sequence_pool(x, "sum").shape == (1000,)
    assert (lodcore.sequence_reverse(lodcore.sequence_reverse(x)).values == given).all()
    loop = lodcore.while_loop()  # no Block is open any more
    with loop.loop():
        t = loop.loop_var(0)
        loop.break_if(t >= 3)
    assert vjp(lambda v: v * 2.0, 3.0)[1](1.0) == (2.0,)
""",
        600,
        *(word for row in LONG.items() for word in row),
    )


@pytest.mark.parametrize("count", [1, 3])
def test_forks_while_threads_work(count):
    """A child process has none of the threads, and still computes."""
    survives(f"""
import os
lodcore.set_num_threads({count})
x = LoDTensor.from_lengths(np.ones((300_000, 8)), [300] * 1000)
done = threading.Event()
def work():
    while not done.is_set():
        lodcore.sequence_reverse(x)
        lodcore.sequence_pool(x, "max")
        loop = lodcore.while_loop()
        with loop.loop():
            t = loop.loop_var(0)
            loop.break_if(t >= 3)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(12):
    child = os.fork()
    if child == 0:
        found = lodcore.sequence_pool(lodcore.sequence_reverse(x), "sum")
        y, back = vjp(lambda a: lodcore.sequence_pool(a, "max"), x)
        lodcore.set_num_threads(2)
        lodcore.sequence_reverse(x)
        os._exit(0 if (found == 300).all() and back(np.ones((1000, 8)))[0].values.sum() == 8000 else 1)
    assert os.waitpid(child, 0)[1] == 0
done.set()
for thread in threads:
    thread.join()
""")


@pytest.mark.parametrize("first", ["packages", "kernels"])
def test_forks_while_threads_import_lazily_survive(first):
    survives(f"""
import os, signal
from lodcore import kernels

sys.setswitchinterval(1e-6)
PACKAGES = ["while_loop", "sequence_reverse", "save", "batching", "nn", "testing"]
def load():
    for name in PACKAGES if "{first}" == "packages" else []:
        getattr(lodcore, name)
    for name in kernels.__all__:
        getattr(kernels, name)

threads = [threading.Thread(target=load) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(600)  # so that a child that waits forever ends, and is seen
        load()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
for thread in threads:
    thread.join()
""")


def test_modules_are_loaded_while_a_fork_begins():
    """Their locks are not held by this fork, and free after it, also if another thread holds them meanwhile."""
    survives(
        """
import contextlib, os, sys, threading
import lodcore
ignored = []
sys.unraisablehook = lambda error: ignored.append(error.exc_value)
taken, ends = threading.Event(), threading.Event()

def hold(*locks):
    with contextlib.ExitStack() as stack:
        for lock in locks:
            stack.enter_context(lock)
        taken.set()
        ends.wait()

def load():
    if not taken.is_set():
        from lodcore.base import files
        from lodcore.graph import scope
        from lodcore.nn import kept_cells
        threading.Thread(target=hold, args=(files._guard, kept_cells._lock, scope.LOOKING, scope.PLACING)).start()
        taken.wait()

os.register_at_fork(before=load)
child = os.fork()
if child:
    ends.set()
    assert os.waitpid(child, 0)[1] == 0
from lodcore.base import files
from lodcore.graph import scope
from lodcore.nn import kept_cells
for lock in (files._guard, kept_cells._lock, scope.LOOKING, scope.PLACING):
    assert lock.acquire(timeout=60)
assert not ignored, ignored
""",
        prelude="",
    )  # which loads them


@pytest.mark.parametrize("first", ["the main one", "another one"])
def test_a_second_interpreter_gets_an_import_error(first):
    """The first interpreter can use the module; any other one gets an error, and nothing crashes."""
    printed = survives(
        prelude="",
        program=f"""
import sys, warnings
warnings.simplefilter("ignore")
try:
    import _xxsubinterpreters as interpreters
    def make(): return interpreters.create(isolated=False)  # sharing the lock, as all once did
except ImportError:
    import _interpreters as interpreters
    def make(): return interpreters.create("legacy")
run, end = interpreters.run_string, interpreters.destroy
code = '''
import warnings
warnings.simplefilter("ignore")
try:
    import lodcore
    x = lodcore.array([[1.0, 2.0], [3.0]])
    print("WHO", lodcore.sequence_pool(x, "sum").tolist(), lodcore.vjp(lambda a: a * 2.0, x)[1](x)[0].tolist())
except ImportError as error:
    print("WHO ImportError", error)
except RuntimeError as error:
    print("WHO RuntimeError", error)
'''
if {first!r} == "the main one":
    exec(code.replace("WHO", "main"))
for _ in range(3):
    other = make()
    run(other, code.replace("WHO", "other"))
    run(other, code.replace("WHO", "other"))
    end(other)
exec(code.replace("WHO", "main"))
""",
    )
    lines = printed.splitlines()
    if "RuntimeError CPU dispatcher" in lines[0]:  # of NumPy 2.1 with Python 3.13; no interpreter can load it then
        assert all("Error" in line for line in lines), printed
        return
    assert len([line for line in lines if "[3.0, 3.0] [[2.0, 4.0], [6.0]]" in line]) == 2, printed
    told = [line for line in lines if "ImportError" in line]
    assert len(told) == (6 if first == "the main one" else 5), printed
    assert all("interpreter" in line for line in told), printed
