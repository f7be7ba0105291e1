"""Change the operands of a call while it runs, in the same thread or another one, with or without the GIL.

The changes are made after any Python-level step, between the passes of a gradient, in finalizers, and in threads.

    python -m tests.robustness.injection --seconds 60 --seed 0

Whatever happens, a call returns a complete result or raises an error; it never crashes the interpreter. Therefore this
runs in a separate process. The file given by --log contains the running case, which identifies the cause of a crash.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

import lodcore
from lodcore import IndicesMap, LoD, LoDTensor, RankTable, SparseTensor, TensorArray, Vocabulary
from lodcore.batching import PackPlan
from tests.robustness import calls
from tests.robustness.writing import Writer

ALLOWED = (
    *(ValueError, TypeError, IndexError, KeyError, MemoryError, AttributeError, RuntimeError, BufferError),
    *(ArithmeticError, OSError),
)
MEMORY = 2**30  # the memory limit of calls
LEAST = 20  # calls that are made, even if a busy machine does not make them in the given time
#: Types of lodcore that return arrays.
MADE = (RankTable, IndicesMap, SparseTensor, PackPlan, Vocabulary)


# -- changes -----------------------------------------------------------------------------------------------------------


class Victims(NamedTuple):
    """The arrays, lists and tensors of a call, which are changed while it runs."""

    arrays: list[Any]
    lists: list[Any]
    tensors: list[Any]


def own(value: Any, victims: Victims) -> Any:
    """Copy an argument into memory that this module may change, and register all of its parts."""
    if isinstance(value, LoDTensor):
        array = np.array(value.values)
        victims.arrays.append(array)
        shared = value if array.dtype.hasobject else LoDTensor(array, value.lod, share=True)
        victims.tensors.append(shared)
        return shared
    if isinstance(value, np.ndarray):
        array = np.array(value)
        victims.arrays.append(array)
        return array
    if isinstance(value, list):
        made = [own(one, victims) for one in value]
        victims.lists.append((made, list(made)))
        return made
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(own(one, victims) for one in value)
    if type(value) is dict:
        tree = {key: own(one, victims) for key, one in value.items()}
        victims.lists.append((tree, dict(tree)))
        return tree
    if isinstance(value, MADE):
        victims.tensors.append(value)
    return value


def attempt(step: Callable[..., Any], *arguments: Any) -> None:
    """Call a function that NumPy, or Python, may refuse."""
    with suppress(*ALLOWED):
        step(*arguments)


def set_field(array: Any, name: str, value: Any) -> None:
    """Set a field of an array in place."""
    setattr(array, name, value)


def change_array(array: Any, random: random.Random) -> None:
    """Apply one change to an array that NumPy allows at any time."""
    which = random.randrange(12)
    if which >= 10:
        attempt(write_one, array, random)
    elif which == 0:
        attempt(set_field, array, "shape", (-1,))
    elif which == 1:
        attempt(set_field, array, "shape", (-1, 1))
    elif which == 2:
        attempt(set_field, array, "shape", (1, -1))
    elif which == 3:
        attempt(array.resize, (0,))
    elif which == 4:
        attempt(array.resize, (1000,))
    elif which == 5:
        attempt(set_field, array, "dtype", random.choice([np.uint8, np.int16, np.float32, np.int64, "S1"]))
    elif which == 6:
        attempt(array.setflags, random.random() < 0.5)
    elif which == 7 and array.dtype.kind in "iu":  # sizes derived from few bytes stay small, or are refused
        attempt(array.fill, random.choice([-1, 0, 127, 10**12]))
    elif which == 8 and array.dtype.kind in "bf":
        attempt(array.fill, random.choice([0, 1, np.nan]) if array.dtype.kind == "f" else random.random() < 0.5)
    elif array.ndim > 1:
        attempt(set_field, array, "shape", array.shape[::-1])


def write_one(array: Any, random: random.Random) -> None:
    """Overwrite all bytes of one cell of an array."""
    cells = array.reshape(-1).view(np.uint8) if array.flags.c_contiguous and not array.dtype.hasobject else array[:0]
    at = random.randrange(max(array.size, 1)) * array.itemsize
    cells[at : at + array.itemsize] = random.choice([0, 1, 0x7F, 0x80, 0xFF])


def change_list(made: Any, random: random.Random) -> None:
    """Empty a list or a dict, or replace an entry."""
    which = random.randrange(5)
    if isinstance(made, dict):
        if which == 0 or not made:
            made.clear()
        elif which == 1:
            made[random.choice([*made])] = random.choice([None, 10**9, np.ones(3), {}])
        elif which == 2:
            made[random.choice(["z", 0, None])] = np.ones(3)
        else:
            made.pop(random.choice([*made]))
    elif which == 0:
        made.clear()
    elif which == 1 and made:
        made[random.randrange(len(made))] = None
    elif which == 2:
        made.append(random.choice([None, 10**9, -1, np.ones(3), [[]], "x"]))
    elif which == 3 and made:
        made.pop()
    else:
        made.reverse()


def handed_by(tensor: Any, random: random.Random) -> list[Any]:
    """List arrays that a tensor returns, and the arrays of which they are views."""
    names = ("values", "offsets", "lengths", "indices", "order", "steps", "documents", "starts", "sizes", "counts")
    found = []
    for name in names:
        with suppress(*ALLOWED):
            found.append(getattr(tensor, name))
    return [one for one in found if isinstance(one, np.ndarray)]


def change_handed(array: Any, random: random.Random) -> None:
    """Apply a change to a returned array that would crash if the array owned its memory."""
    base = array.base
    which = random.randrange(4)
    if which == 0:
        attempt(array.__setstate__, (1, (0,), np.dtype(np.int8), False, b""))
    elif which == 1:
        attempt(array.resize, (0,))
    elif which == 2 and isinstance(base, np.ndarray):
        attempt(base.resize, (0,))
    else:
        change_array(array, random)


def change(victims: Victims, random: random.Random) -> None:
    """Change one of the operands in one way."""
    kinds = [kind for kind in (victims.arrays, victims.arrays, victims.lists, victims.tensors) if kind]
    if not kinds:
        return
    kind = random.choice(kinds)
    one = random.choice(kind)
    if kind is victims.arrays:
        change_array(one, random)
    elif kind is victims.lists:
        change_list(one[0], random)
    else:
        handed = handed_by(one, random)
        if handed:
            change_handed(random.choice(handed), random)


def change_result(result: Any, random: random.Random) -> None:
    """Change the result of a call, wherever it has arrays."""
    if isinstance(result, (list, tuple)):
        for one in result:
            change_result(one, random)
    elif isinstance(result, LoDTensor):
        change_result(result.values, random)
    elif isinstance(result, np.ndarray):
        change_array(result, random)
        attempt(write_one, result, random)


# -- results -----------------------------------------------------------------------------------------------------------


def check(result: Any) -> None:
    """Check that a result is complete, reading all of it."""
    if isinstance(result, LoDTensor):
        assert len(result.values) == result.num_rows
        result.values.tobytes()
        check(result.lod)
        attempt(repr, result)  # NumPy prints numbers that change meanwhile
    elif isinstance(result, LoD):
        for level in range(result.num_levels):
            offsets = result.offsets(level)
            assert offsets[0] == 0
            assert (offsets[1:] >= offsets[:-1]).all()
            below = result.num_sequences(level + 1) if level + 1 < result.num_levels else result.num_rows
            assert offsets[-1] == below
    elif isinstance(result, np.ndarray):
        result.tobytes()
    elif isinstance(result, (list, tuple)):
        for one in result:
            check(one)
    elif isinstance(result, (RankTable, IndicesMap, SparseTensor, TensorArray)):
        attempt(repr, result)  # NumPy prints numbers that change meanwhile


# -- the ways ----------------------------------------------------------------------------------------------------------


class Machine:
    """Runs cases in all ways until the time is over."""

    def __init__(self, seed: int, log: str | None, end: float) -> None:
        self.random, self.end = random.Random(seed), end
        self.count = self.raised = 0
        self._log = None if log is None else os.open(log, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        self._writer = Writer()

    def note(self, text: str) -> None:
        """Write the name of the case that runs next."""
        if self._log is not None:
            os.pwrite(self._log, text[:300].ljust(300).encode() + b"\n", 0)

    def over(self) -> bool:
        return time.perf_counter() > self.end and self.count >= LEAST

    def run(self, case: calls.Case, victims: Victims, arguments: Any) -> None:
        """Make one call, and check its result."""
        self.count += 1
        try:
            result = case.run(*arguments)
        except (*ALLOWED, AssertionError):  # lodcore.testing raises AssertionError
            self.raised += 1
            return
        check(result)

    def fresh(self, case: calls.Case) -> tuple[Victims, Any]:
        """Make new arguments of a case."""
        victims = Victims([], [], [])
        return victims, own(case.arguments, victims)

    def profiled(self, case: calls.Case, every: int) -> None:
        """Make a change at each call and return of a function, one after the other, each in a separate run."""
        at, met = self.random.randrange(every), 1 << 30
        while at < met and not self.over():
            victims, arguments = self.fresh(case)
            seen = 0

            def step(frame: Any, event: str, argument: Any, at: int = at, victims: Victims = victims) -> None:
                nonlocal seen
                seen += 1
                if seen == at:
                    sys.setprofile(None)
                    change(victims, self.random)
                    change(victims, self.random)

            self.note(f"{case.name}: profiled at {at}")
            sys.setprofile(step)
            try:
                self.run(case, victims, arguments)
            finally:
                sys.setprofile(None)
            met = seen if seen < at else met
            at += 1 + self.random.randrange(2 * every - 1)

    def traced(self, case: calls.Case, every: int) -> None:
        """Make a change between two instructions of the interpreter, where another thread could run."""
        at, met = self.random.randrange(every), 1 << 30
        while at < met and not self.over():
            victims, arguments = self.fresh(case)
            seen = 0

            def step(frame: Any, event: str, argument: Any, at: int = at, victims: Victims = victims) -> Any:
                nonlocal seen
                frame.f_trace_opcodes, frame.f_trace_lines = True, False
                seen += 1
                if seen == at:
                    sys.settrace(None)
                    change(victims, self.random)
                    change(victims, self.random)
                    return None
                return step

            self.note(f"{case.name}: traced at {at}")
            sys.settrace(step)
            try:
                self.run(case, victims, arguments)
            finally:
                sys.settrace(None)
            met = seen if seen < at else met
            at += 1 + self.random.randrange(2 * every - 1)

    def between(self, case: calls.Case, times: int) -> None:
        """Make a change after the forward pass, also to its results, before the backward pass."""
        for _ in range(times):
            victims, arguments = self.fresh(case)

            def step(value: Any, victims: Victims = victims) -> None:
                for _ in range(self.random.randrange(1, 6)):
                    change(victims, self.random)
                change_result(value, self.random)

            self.note(f"{case.name}: between its passes")
            with calls.between_passes(step):
                self.run(case, victims, arguments)

    def written(self, case: calls.Case, seconds: float) -> None:
        """Write to arrays in a thread that does not wait for the GIL."""
        victims, arguments = self.fresh(case)
        self.note(f"{case.name}: written")
        with self._writer.writes(victims.arrays, self.random.randrange(1 << 30)):
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                self.run(case, victims, arguments)

    def collected(self, case: calls.Case, most: int) -> None:
        """Make changes in finalizers, which the garbage collector runs during the call."""
        before = gc.get_threshold()
        for threshold in range(1, most):
            if self.over():
                break
            victims, arguments = self.fresh(case)
            self.note(f"{case.name}: collected at {threshold}")
            gc.disable()
            for _ in range(3):
                Cycle(lambda victims=victims: change(victims, self.random))
            gc.set_threshold(threshold)
            gc.enable()
            try:
                self.run(case, victims, arguments)
            finally:
                gc.set_threshold(*before)
        gc.enable()

    def threaded(self, case: calls.Case, seconds: float) -> None:
        """Make changes in another thread continuously."""
        victims, arguments = self.fresh(case)
        first = [(array, array.shape, array.dtype) for array in victims.arrays]
        done = threading.Event()
        numbers = random.Random(self.random.random())

        def run() -> None:
            while not done.is_set():
                change(victims, numbers)
                for array, shape, dtype in first:  # so that most calls receive something that fits
                    attempt(set_field, array, "dtype", dtype)
                    attempt(set_field, array, "shape", shape)
                for made, content in victims.lists:
                    made.clear()
                    made.update(content) if isinstance(made, dict) else made.extend(content)

        self.note(f"{case.name}: threaded")
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        thread = threading.Thread(target=run)
        thread.start()
        try:
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                self.run(case, victims, arguments)
        finally:
            done.set()
            thread.join()
            sys.setswitchinterval(before)


class Cycle:
    """An object that only the garbage collector frees."""

    def __init__(self, last: Callable[[], None]) -> None:
        self.me, self.last = self, last

    def __del__(self) -> None:
        self.last()


def soak(seed: int, seconds: float, log: str | None = None, names: str = "") -> Machine:
    """Run all cases in all ways, in some order, repeatedly until the time is over."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    cases = [case for case in calls.cases() if names in case.name]
    if not cases:
        raise SystemExit(f"no case has {names!r} in its name")
    machine = Machine(seed, log, time.perf_counter() + seconds)
    while not machine.over():
        machine.random.shuffle(cases)
        for case in cases:
            if machine.over():
                break
            way = machine.random.randrange(5)
            if case.is_gradient and machine.random.random() < 0.5:
                machine.between(case, 6)
            elif way == 0:
                machine.profiled(case, 7)
            elif way == 1:
                machine.traced(case, 97)
            elif way == 2:
                machine.collected(case, 12)
            elif way == 3:
                machine.written(case, 0.02)
            else:
                machine.threaded(case, 0.02)
    return machine


def bound_memory() -> None:
    """Limit the memory of calls to a size that is quickly written: a changed length may be one of many gigabytes.

    Under a sanitizer, which itself maps far more, its option max_allocation_size_mb does that.
    """
    if sys.platform == "linux" and "asan" not in os.environ.get("LD_PRELOAD", ""):
        import resource

        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def main() -> None:
    """Run for the given time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", help="a file that holds the case that runs")
    parser.add_argument("--names", default="", help="only cases whose names have this in them")
    chosen = parser.parse_args()
    bound_memory()
    machine = soak(chosen.seed, chosen.seconds, chosen.log, chosen.names)
    known = f"not in all ways: {missing}" if (missing := calls.left_out()) else "all operators in all ways"
    print(f"{machine.count} calls, {known}, {machine.raised} raised an error; lodcore {lodcore.__version__} lives")


if __name__ == "__main__":
    main()
