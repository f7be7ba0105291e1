"""Ctrl-C at every instruction: each call is interrupted at its k-th, for every k, and what follows is as if nothing had
been called.

A trace function raises KeyboardInterrupt before the k-th instruction of the package's own code, also where CPython
never handles a signal. The traceback lives while the state is looked at. `make hunt` tries every k, `make test`
some of them.

    python -m tests.robustness.interrupts [name ...]
"""

import faulthandler
import io
import multiprocessing
import os
import sys
import tempfile
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np

import lodcore
from lodcore import IfElse, Program, TensorArray, Variable, nn
from lodcore.base.dispatch import OPENED, open_block
from lodcore.batching import batch_stream, batches, pack_stream, sample_by_temperature
from lodcore.graph import Executor, data, map_fn, parameter, while_loop

PACKAGE = str(Path(lodcore.__file__).parent)


class Interrupts:
    """A context in which the k-th instruction of the package raises KeyboardInterrupt, and those before are counted."""

    def __init__(self, at):
        self.left, self.at = at, at

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.trace)
        return self

    def __exit__(self, *error):
        sys.settrace(self.before)

    def trace(self, frame, event, argument):
        """Count an instruction, and interrupt before the last one."""
        if not frame.f_code.co_filename.startswith(PACKAGE) and frame.f_code is not size_of.__code__:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event in ("call", "opcode"):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self.trace


def interrupted(call, at):
    """Return the KeyboardInterrupt of a call whose instruction `at` is interrupted; None if it has fewer."""
    before, sys.unraisablehook = sys.unraisablehook, lambda _: None  # generators that are freed are interrupted, too
    try:
        with Interrupts(at):
            call()
    except KeyboardInterrupt as error:
        return error
    finally:
        sys.unraisablehook = before
    return None


def is_clean():
    """Return whether nothing records, and no memory handler, setting of warnings or thread is left."""
    return (
        open_block() is None
        and OPENED == [0]
        and type(lodcore.add(np.ones(1), 1.0)) is np.ndarray
        and np.geterrcall() is None
        and np._core.multiarray.get_handler_name() == "default_allocator"
    )


# -- cases: each makes a call, and a function that says what the state is; `again` calls once more -------------------


def loop():
    v, array = Variable(np.zeros(2)), TensorArray()
    array.write(0, np.ones(2))

    def call():
        made = while_loop(loop_vars=[v])
        with made.loop():
            at = made.step()
            made.break_if(lodcore.greater_equal_than(at, 3))
            v.update(lodcore.add(v, 1.0))
            array.write(at, lodcore.mul(v, 2.0))
        return at.get()

    return call, lambda: (v.get().tolist(), v.block, array.block, [x.tolist() for x in array])


def loop_that_runs_later():
    made, v = while_loop(), Variable(np.zeros(2))
    with made.loop(exec_immediately=False):
        at, sums = made.step(), made.loop_var(np.zeros(2))
        made.break_if(lodcore.greater_equal_than(at, 3))
        sums.update(lodcore.add(sums, v))
    made()
    v.set(np.ones(2))
    return made, lambda: (sums.get().tolist(), int(at))


def loop_in_vjp():
    v, array = Variable(np.zeros(2)), TensorArray()

    def f(x):
        made = while_loop(loop_vars=[v])
        with made.loop():
            at = made.step()
            made.break_if(lodcore.greater_equal_than(at, 3))
            v.update(lodcore.add(v, x))
            array.write(at, lodcore.mul(v, x))
        return lodcore.ops.sum(lodcore.mul(v, 2.0))

    def call():
        value, back = lodcore.vjp(f, np.ones(2))
        return float(value), [d.tolist() for d in back(1.0)]

    return call, lambda: (v.get().tolist(), v.block, v.later, array.block, [x.tolist() for x in array])


def mapped():
    rows, array = np.arange(6.0).reshape(3, 2), TensorArray()

    def call():
        return map_fn(lambda row: lodcore.ops.sum(row), rows).tolist()

    return call, lambda: (array.block, len(array))


def branches():
    array = TensorArray()

    def call():
        ie = IfElse(True)
        with ie.true_block():
            array.write(0, np.ones(1))
            ie.output(lodcore.add(ie.input(np.ones(2)), 1.0))
        with ie.false_block():
            ie.output(ie.input(np.ones(2)))
        return ie()[0].tolist()

    return call, lambda: (array.block, len(array))


class Sums:
    """A cell."""

    def __call__(self, parameters, x, state):
        made = lodcore.tanh(lodcore.add(x, state))
        return made, made


def cell():
    """A cell that is compiled at its first call."""
    sums = Sums()
    x = lodcore.LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [1, 2])

    def call():
        return nn.dynamic_rnn(sums, {}, x, np.zeros((2, 2)))[0].values.tolist()

    return call, x.tolist


def kept_cell():
    """A cell that was compiled before."""
    call, state = cell()
    call()
    return call, state


def program():
    with Program() as made:
        x = data("x", (None,), "float64", num_levels=1)
        w = parameter(np.array([2.0]), "w")
        y = lodcore.mul(x, w)
    executor = Executor()
    fed = lodcore.array([[1.0], [2.0, 3.0]])

    def call():
        return executor.run(made, feed={"x": fed}, fetch=[y])[0].tolist()

    return call, lambda: (len(made.ops), made.closed, made.opened, w.get().tolist(), str(made))


def updates():
    with Program() as made:
        weights = [parameter(np.array(float(j)), f"w{j}") for j in range(4)]
        for w in weights:
            w.update(w + 1.0)
    executor = Executor()

    def call():
        return [float(value) for value in executor.run(made, {}, weights)]

    return call, lambda: [float(executor.scope.get(w)) for w in weights]


def recorded():
    v = Variable(np.ones(2))

    def call():
        with Program() as made:
            x = data("x", (None,), "float64")
            lodcore.add(x, v)
        return len(made.ops)

    return call, lambda: (v.get().tolist(), v.block)


def optimizer():
    made = nn.Adam(0.1)
    parameters = {"a": np.ones(3), "b": [np.zeros(2)]}
    state = made.init(parameters)

    def leaves(*trees):
        return [np.asarray(one).tolist() for tree in trees for one in lodcore.tree_leaves(tree)]

    return lambda: leaves(*made.step(parameters, parameters, state)), lambda: leaves(parameters, state)


def in_place(*others):
    """Return a case: steps in place of four arrays, and of other ones with their gradients."""

    def make():
        made = nn.Adam(0.5)
        parameters = {f"p{j}": np.zeros(3) for j in range(4)}
        gradients = {name: -np.ones(3) for name in parameters}
        for number, (value, gradient) in enumerate(others):
            parameters[f"other{number}"], gradients[f"other{number}"] = value.copy("K")[::-1], gradient
        state = made.init(parameters)

        def call():
            made.step(parameters, gradients, state, in_place=True)

        return call, lambda: [
            np.asarray(one).tolist() for one in lodcore.tree_leaves([parameters, state["mean"], state["square"]])
        ]

    return make


def recomputed():
    rng = np.random.default_rng(1)

    def f(x):
        made = while_loop(recompute=True)
        with made.loop():
            at, y = made.step(), made.loop_var(x)
            made.break_if(lodcore.greater_equal_than(at, 2))
            y.update(nn.dropout(y, 0.5, rng))
        return lodcore.ops.sum(y)

    _, back = lodcore.vjp(f, np.ones(8))
    return lambda: back(1.0)[0].tolist(), lambda: rng.bit_generator.state["state"]


def written():
    x = lodcore.array([[1.0, 2.0], [3.0]])

    def call():
        file = io.BytesIO()
        lodcore.save(file, {"x": x})
        return file.getvalue()

    return call, x.tolist


def stored():
    folder = Path(tempfile.mkdtemp())
    lodcore.save(folder / "x.npz", lodcore.array([[0.0]]))

    def call():
        lodcore.save(folder / "x.npz", lodcore.array([[1.0, 2.0], [3.0]]))

    return call, lambda: (lodcore.load(folder / "x.npz").tolist(), sorted(path.name for path in folder.iterdir()))


def stored_in_folder():
    """A folder, and those above it, which the save makes."""
    top = Path(tempfile.mkdtemp())
    folder = top / "a/b/x.lod"

    def call():
        lodcore.save(folder, lodcore.array([[1.0, 2.0], [3.0]]))

    def state():
        names = sorted(path.name.rpartition("-")[2] for path in top.rglob("*"))
        return names, lodcore.load(folder).tolist() if folder.exists() else None

    return call, state


def appended():
    folder = Path(tempfile.mkdtemp()) / "x.lod"
    lodcore.save(folder, lodcore.array([[0.0]]))

    def call():
        lodcore.append(folder, lodcore.array([[1.0, 2.0], [3.0]]))

    def state():
        sizes = sorted(path.stat().st_size for path in folder.iterdir() if path.suffix == ".bin")
        return lodcore.load(folder, verify=True).tolist(), sizes, len(os.listdir(folder))

    return call, state


def running():
    """Return how many threads of a pool run; those of a pool that is released end soon, on a busy machine later."""
    end = time.monotonic() + 60
    while left := [one for one in threading.enumerate() if one.name.startswith("lodcore_")]:
        if time.monotonic() > end:
            break
        time.sleep(0.005)
    return len(left)


def pool():
    x = lodcore.LoDTensor.from_lengths(np.arange(2.0**21), [2**19] * 4)

    def call():
        return lodcore.sequence_pool(x, "max").tolist()

    def state():
        lodcore.set_num_threads(1)  # which releases the pool
        left = running()
        lodcore.set_num_threads(3)
        return left

    lodcore.set_num_threads(3)
    return call, state


def of_steps(make):
    """Return a case of an iterator, with the state that it tells."""

    def case():
        made = make()
        tell = (lambda: made.fill.bins) if hasattr(made, "fill") else getattr(made, "state_dict", lambda: None)
        return lambda: _plain(next(made)), tell

    return case


def _plain(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


def _second(made):
    next(made)
    return made


def size_of(item):
    """Return the length of an item of a stream."""
    return len(item)


WORDS = [(k,) * (1 + k * 7 % 5) for k in range(30)]
CASES = {
    "loop": loop,
    "loop that runs later": loop_that_runs_later,
    "loop in vjp": loop_in_vjp,
    "map_fn": mapped,
    "branches": branches,
    "cell": cell,
    "kept cell": kept_cell,
    "Program": program,
    "updates": updates,
    "recording": recorded,
    "optimizer": optimizer,
    "optimizer in place": in_place(),
    "optimizer in place, general": in_place(
        (np.ones((4, 2)), lodcore.SparseTensor([2, 0], np.ones((2, 2)), 4)), (np.ones((4, 2)), np.ones((4, 2)))
    ),
    "recompute": recomputed,
    "npz": written,
    "npz file": stored,
    "folder": stored_in_folder,
    "append": appended,
    "pool": pool,
    "pack_stream": of_steps(lambda: pack_stream((one for one in WORDS), 9, buffer=6, length=size_of)),
    "batch_stream": of_steps(lambda: _second(batch_stream(WORDS, 9, buffer=6, length=size_of))),
    "sampler": of_steps(lambda: _second(sample_by_temperature([3, 2], 2.0))),
    "plan": of_steps(lambda: batches([3, 1, 2, 2, 1], 4)),
    "iterator": of_steps(lambda: _second(iter(batches([3, 1, 2, 2, 1], 4)))),
}
STEPS = ("pack_stream", "batch_stream", "sampler", "plan", "iterator")  # of these, nothing may be lost or seen twice


def count_of(make):
    """Return the number of instructions of a call, and the results and states of two calls, one after the other."""
    call, state = make()
    found = [(None, state())]
    for _ in range(2):
        found.append((call(), state()))
    call, _ = make()
    with Interrupts(-1) as counted:
        call()
    return -1 - counted.left, found


def failure_at(name, make, at, found):
    """Interrupt a call at an instruction; describe the damage, or return None."""
    call, state = make()
    error = interrupted(call, at)
    if error is None:
        return None
    if not is_clean():
        return "something is still open"
    after = state()
    known = [j for j, (_, one) in enumerate(found[:2]) if after == one]
    if not known or (name in STEPS and known[0] != 0):
        return f"the state is {after}; it was {found[0][1]}"
    raised = []
    with (
        warnings.catch_warnings(),
        mock.patch.object(sys, "unraisablehook", lambda seen: raised.append(seen.exc_value)),
    ):
        warnings.simplefilter("ignore", ResourceWarning)  # of a file that was opened when the interrupt came
        del error
    if raised:
        return f"what the call had begun raises {raised[0]!r} when it is deleted"
    again = call(), state()
    if not any(again == found[j + 1] for j in known):
        return f"called again, it gives {again}; {found[known[0] + 1]} is right"
    return None


@contextmanager
def temporary_folders():
    """Remove, at the end, the temporary folders that cases make."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
        yield


@temporary_folders()
def failures(name, most=None, seed=0, first=0, step=1):
    """Interrupt a case at every instruction, or at some; return what fails, by instruction."""
    make = CASES[name]
    count, found = count_of(make)
    places = np.arange(1, count + 1)[first::step]
    if most is not None and len(places) > most:
        places = np.sort(np.random.default_rng(seed).choice(places, most, replace=False))
    wrong = {}
    for at in places.tolist():
        faulthandler.dump_traceback_later(600, exit=True)  # where a lock is held that nobody releases
        try:
            if said := failure_at(name, make, at, found):
                wrong[at] = said
        except Exception as error:
            wrong[at] = repr(error)
        faulthandler.cancel_dump_traceback_later()
        if not is_clean():
            raise AssertionError(f"{name}: instruction {at}: {wrong.get(at)}; something is open from then on")
    lodcore.set_num_threads(1)
    return count, wrong


def main(names):
    """Interrupt cases at every instruction, in a process for each processor, and print what fails."""
    failed, parts = False, os.cpu_count() or 1
    with ProcessPoolExecutor(parts, multiprocessing.get_context("spawn")) as workers:
        for name in names or CASES:
            begin = time.perf_counter()
            found = [workers.submit(failures, name, None, 0, first, parts) for first in range(parts)]
            counts, wrongs = zip(*(one.result() for one in found), strict=True)
            wrong = {at: said for one in wrongs for at, said in sorted(one.items())}
            seconds = time.perf_counter() - begin
            print(f"{name}: {max(counts)} instructions, {len(wrong)} failures, {seconds:.0f} s", flush=True)
            for at, said in list(wrong.items())[:5]:
                print(f"    {at}: {said[:300]}")
            failed = failed or bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
