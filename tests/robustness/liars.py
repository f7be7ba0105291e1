"""Call all public functions with objects of all kinds: arrays, numbers and lists with false attributes or side effects.

    python -m tests.robustness.liars --seconds 60 --seed 0 --log FILE

A call may return anything, or raise an error; it never crashes the interpreter.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import os
import random
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

import lodcore
from lodcore import LoD, LoDTensor, SparseTensor, TensorArray, batching, graph, interop, nn, ops
from tests.robustness import injection, more_calls

LONGEST = 2.0  # the maximum number of seconds of a call
X = LoDTensor(np.arange(12.0).reshape(6, 2), LoD.from_lengths([2, 4]))


class Array(np.ndarray):
    """An array with false attributes."""

    shape = property(lambda self: (10**6, 7))  # type: ignore[assignment]
    size = property(lambda self: 10**7)  # type: ignore[assignment]
    dtype = property(lambda self: np.dtype(np.int64))  # type: ignore[assignment]
    ndim = property(lambda self: 5)  # type: ignore[assignment]
    nbytes = property(lambda self: 1)  # type: ignore[assignment]

    def itself(self, *arguments: Any, **keywords: Any) -> Any:
        return self

    astype = ravel = reshape = view = copy = __array_ufunc__ = __array_function__ = itself

    def __lt__(self, other: Any) -> bool:  # type: ignore[override]
        return False

    __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __lt__
    __hash__ = None  # type: ignore[assignment]

    def any(self, *arguments: Any, **keywords: Any) -> Any:
        return False

    def max(self, *arguments: Any, **keywords: Any) -> Any:
        return 10**9

    def min(self, *arguments: Any, **keywords: Any) -> Any:
        return -(10**9)


class Other:
    """An object that converts to another array each time, with a side effect."""

    def __init__(self, *arrays: Any, act: Callable[[], Any] = int) -> None:
        self.arrays, self.act = itertools.cycle(arrays), act

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        with suppress(ValueError):
            self.act()
        return next(self.arrays)

    def __len__(self) -> int:
        return 10**6


class Long(list[Any]):
    """A list that is longer than its length."""

    def __len__(self) -> int:
        return 10**5

    def __getitem__(self, key: Any) -> Any:
        return 10**9


class Number(int):
    """A number with another value in each conversion."""

    def __index__(self) -> int:
        return 10**15

    __int__ = __index__

    def __lt__(self, other: Any) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Pair(tuple[Any, ...]):
    """A tuple that yields other entries when iterated."""

    def __len__(self) -> int:
        return 1000

    def __iter__(self) -> Iterator[Any]:
        return iter([X] * 3)


class Tree(dict[Any, Any]):
    """A dict that yields other items."""

    def __getitem__(self, key: Any) -> Any:
        return np.ones(3)

    def items(self) -> Any:
        return [("z", 1)]


class Tensor(LoDTensor):
    """A tensor with false attributes."""

    __slots__ = ()
    values = property(lambda self: np.ones((1, 1)))  # type: ignore[assignment]
    lod = property(lambda self: LoD.from_lengths([10**9]))  # type: ignore[assignment]
    num_rows = property(lambda self: 77)  # type: ignore[assignment]
    num_levels = property(lambda self: 77)  # type: ignore[assignment]

    def __len__(self) -> int:
        return 10**9


def lying(array: Any) -> Any:
    """Make an array of the class with false attributes."""
    return np.ndarray.view(np.asarray(array), Array)


ROWS = np.ones((6, 2))
GARBAGE: list[Any] = [
    *(lying(np.arange(3)), lying(ROWS), lying([True, False]), Other(np.arange(3), np.arange(9)), Other(ROWS, ROWS[:1])),
    *(Other(np.array([0, 1]), act=lambda: X.values.resize((0,))), Other(np.array([10**9, -5])), Long([1, 2])),
    *(Long([[1, 2], [3]]), Number(1), Pair([X, X]), Tree(a=np.ones(3)), Tensor.from_lengths(ROWS, [2, 4])),
    *(ROWS.T, np.asfortranarray(ROWS), np.ones((12, 2))[::2], np.broadcast_to(1.0, (6, 2)), ROWS.astype(">f8")),
    *(np.zeros((6, 0)), np.zeros((0, 2)), np.zeros((6, 2), "S0"), np.zeros((6, 2), "V0"), np.zeros(6, "V7")),
    *(np.zeros((6, 2), object), ROWS.astype(np.longdouble), ROWS.astype(complex), np.zeros((6, 2), "m8[s]")),
    *(np.zeros((6, 2), "M8[D]"), np.ma.array(ROWS), np.float64(3), np.array(2), np.int8(3), np.ones((1,) * 30)),
    *(np.zeros(6, [("a", "f8"), ("b", "i1")]), np.array(["ab", "c"]), -1, 2**62, 2**63, 2**64, -(2**63), 10**30),
    *(float("nan"), float("inf"), True, None, ..., slice(2**62, -(2**62), -1), slice(None, None, 2**63 - 1), ""),
    *(1e308, b"", [], [[]], [[[]]], {}, {"weight": None}, set(), memoryview(b"abc"), bytearray(8), type, object()),
    *(X, X.lod, LoD.from_lengths([]), SparseTensor([0, 2], np.ones((2, 2)), 3), TensorArray(), np.dtype("f8"), np.add),
    *(1j, lambda *given: given),
]  # fmt: skip
#: Functions that write files, or change global settings.
LEFT_OUT = ("set_num_threads", "set_recycled_bytes", "save", "append", "load", "plot", "__reduce", "__setstate__")


def things() -> dict[str, Any]:
    """Make objects whose methods are called, and which are used as arguments."""
    made = more_calls.things()
    return {
        **made, "lod": X.lod, "rank": lodcore.lod_rank_table(X), "map": TensorArray.unpack(X, 0)[1],
        "program": lodcore.Program(), "scope": lodcore.Scope(), "adam": nn.Adam(0.1), "sgd": nn.SGD(0.1, 0.5),
        "lstm layer": nn.LSTM(2, 3), "gru layer": nn.GRU(2, 3), "linear layer": nn.Linear(2, 3),
        "table layer": nn.Embedding(7, 3), "chunks": batching.chunk_plan(made["docs"], 3, 2),
        "budget": batching.batches([1, 2, 3], 4), "slots": lodcore.VarArray(),
    }  # fmt: skip


def targets(objects: dict[str, Any]) -> list[tuple[str, Any]]:
    """List the callables: public names, and methods, including special methods."""
    found = []
    for module in (lodcore, nn, batching, interop, graph, ops):
        found += [(f"{module.__name__}.{name}", getattr(module, name, None)) for name in module.__all__]
    for place, one in objects.items():
        if isinstance(one, (np.ndarray, list, dict, int, str)):
            continue
        for name in dir(type(one)):
            with suppress(*injection.ALLOWED):  # some properties do not exist for every tensor
                if (name[0] != "_" or name[:2] == "__") and "subclass" not in name:
                    found.append((f"{place}.{name}", getattr(one, name)))
    return [(name, f) for name, f in found if callable(f) and not any(part in name for part in LEFT_OUT)]


def arguments(f: Any, known: list[Any], draw: random.Random) -> tuple[list[Any], dict[str, Any]]:
    """Draw as many arguments as there are parameters."""
    given: list[Any] = []
    named: dict[str, Any] = {}
    try:
        parameters = [*inspect.signature(f).parameters.values()]
    except (TypeError, ValueError):
        return [draw.choice(GARBAGE + known) for _ in range(draw.randrange(1, 4))], {}
    for one in parameters:
        if one.kind is one.VAR_KEYWORD or (one.default is not one.empty and draw.random() < 0.6):
            continue
        value = draw.choice(GARBAGE if draw.random() < 0.4 else known)
        if one.kind is one.KEYWORD_ONLY or (named and one.kind is one.POSITIONAL_OR_KEYWORD):
            named[one.name] = value
        elif len(given) < len(parameters) and not named:
            given.append(value)
    return given, named


def load_libraries() -> None:
    """Call each conversion once: a library whose import is interrupted may crash when the process ends."""
    for name in dir(X):
        if name.startswith("to_"):
            with suppress(Exception):
                getattr(X, name)()


def stop(number: int, frame: Any) -> None:
    """Interrupt a call that takes too long."""
    raise TimeoutError


def main() -> None:
    """Run for the given time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", default=os.devnull, help="a file that holds the call that runs")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    load_libraries()
    injection.bound_memory()
    draw, objects = random.Random(chosen.seed), things()
    known = [*objects.values(), 0, 1, 2, -1, "sum", "max", [0, 1], [[1, 2], [3]], np.array([0, 1]), ROWS, X, X.lod]
    callable_ones, count, end = targets(objects), 0, time.perf_counter() + chosen.seconds
    signal.signal(signal.SIGALRM, stop)
    log = os.open(chosen.log, os.O_WRONLY | os.O_CREAT)
    while time.perf_counter() < end or count < injection.LEAST:
        name, f = draw.choice(callable_ones)
        given, named = arguments(f, known, draw)
        kinds = ", ".join([type(one).__name__ for one in (*given, *named.values())])
        os.pwrite(log, f"{name}({kinds})"[:300].ljust(300).encode() + b"\n", 0)
        count += 1
        with suppress(*injection.ALLOWED, ImportError, NotImplementedError, StopIteration, AssertionError):
            signal.setitimer(signal.ITIMER_REAL, LONGEST)
            try:
                made = f(*given, **named)
                if inspect.isgenerator(made):
                    list(itertools.islice(made, 3))
                repr(made)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    print(f"{count} calls; lodcore {lodcore.__version__} lives")


if __name__ == "__main__":
    main()
