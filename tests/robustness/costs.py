"""What calls cost as their input grows, on structures and values that are chosen to be costly.

Each text of `costly_calls.CALLS` runs at two sizes on each shape. Its result is at most a constant times as large as
its input, so its cost may grow as n log n. `make test` counts calls of Python functions and the bytes that are in use
at most; `make hunt` measures times: `python -m tests.robustness.costs`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import importlib.util
import io
import pickle
import sys
import tempfile
import time
import tracemalloc
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np

import lodcore
from lodcore import LoDTensor, TensorArray, batching, interop, nn, ops
from tests.robustness.costly_calls import CALLS, WITH_LIBRARIES

#: Lengths of sequences, of about n rows or sequences in total.
LENGTHS = {
    "many empty": lambda n: [0] * (n // 2) + [3] + [0] * (n // 2),
    "one giant": lambda n: [1] * (n // 2) + [n] + [1] * (n // 2),
    "one": lambda n: [n],
    "ones": lambda n: [1] * n,
    "growing": lambda n: list(range(int((2 * n) ** 0.5))),
}
#: Values of m rows: for sorts, hashes and beams.
VALUES = {
    "constant": np.ones,
    "rising": lambda m: np.arange(m) + 0.0,
    "falling": lambda m: m - np.arange(m) + 0.0,
    "pipe": lambda m: np.abs(np.arange(m) - m // 2) + 0.0,
    "far": lambda m: np.arange(m) * 2.0**40,
    "nan": lambda m: np.full(m, np.nan),
}
SHAPES = [
    *((lengths, values) for lengths in LENGTHS for values in ("rising", "constant")),
    *(("one", values) for values in VALUES if values not in ("rising", "constant")),
]


def grad(function: Any, x: Any) -> Any:
    """Return the gradient of what a function makes of x."""
    made, back = lodcore.vjp(function, x)
    return back(made)


def packed(steps: Any, places: Any) -> Any:
    """Return the sequences of steps."""
    return steps.pack(0, places)


def plan(x: Any) -> Any:
    """Pack sequences and take them out again."""
    made = batching.pack_plan(x, max(x.num_rows, 1))
    return made.undo(made.apply(x))


def down(x: Any) -> Any:
    """Take one sequence after the other from a queue."""
    while len(x) > 1:
        x = x[1:]
    return x


def deep(n: int) -> Any:
    """Return one row in many levels."""
    return LoDTensor.from_lengths([1.0], *[[1]] * (n // 5))


def program(n: int) -> Any:
    """Record, differentiate, show, run and clone a Program of n operators and parameters."""
    with lodcore.Program() as made:
        y = lodcore.data("x", lodcore.Spec((None,), np.dtype(float)))
        parameters = [lodcore.parameter(np.ones(2)) for _ in range(n)]
        for one in parameters:
            y = y * one
        loss = ops.sum(y)
        gradients = lodcore.append_backward(loss, parameters)
    lodcore.Executor().run(made, {"x": np.ones(2)}, [loss, *gradients])
    return str(made), made.clone(for_test=True)


def chain(n: int) -> Any:
    """Return the gradient of n operators one after the other that all read one tensor."""

    def f(x: Any) -> Any:
        y = x
        for _ in range(n):
            y = y + x
        return y

    return grad(f, np.ones(2))


def writes(n: int) -> Any:
    """Return the gradient of n writes to an array."""

    def f(x: Any) -> Any:
        made = TensorArray()
        for k in range(n):
            made.write(k, x)
        return made.stack()

    return grad(f, np.ones(2))


def loop(n: int) -> Any:
    """Return the gradient of a loop of n steps that writes to an array."""

    def f(x: Any) -> Any:
        made, array = lodcore.while_loop(), TensorArray()
        with made.loop():
            at, y = made.step(), made.loop_var(x)
            made.break_if(lodcore.greater_equal_than(at, n))
            y.update(lodcore.mul(y, 0.5))
            array.write(at, y)
        return lodcore.add(ops.sum(y), ops.sum(array.stack()))

    return grad(f, np.ones(2))


def slots(n: int) -> Any:
    """Return the gradient of n reads and writes of an array whose elements are slots."""

    def f(x: Any) -> Any:
        array = lodcore.VarArray()
        for k in range(n):
            array.write(k, lodcore.mul(array.read(k - 1), 0.5) if k else x)
        return ops.sum(array.read(n - 1))

    return grad(f, np.ones(2))


def branches(x: Any) -> Any:
    """Return what the block form of a condition makes of each sequence."""
    both = lodcore.IfElse(np.arange(len(x)) % 2 == 0)
    with both.true_block():
        both.output(both.input(x))
    with both.false_block():
        both.output(lodcore.mul(both.input(x), 2))
    return both()


def e_of(x: Any) -> Any:
    """Return one row for each sequence, as sequences of length 1."""
    return lodcore.ops.insert_level(lodcore.sequence_pool(x, "sum"), 0)


def step(parameters: Any, x: Any, state: Any) -> Any:
    """A cell without parameters."""
    made = lodcore.tanh(lodcore.add(x, state))
    return made, made


def machine(x: Any) -> Any:
    """Return the gradients of a container."""
    made = nn.RecurrentGradientMachine(step)
    _, last = made.forward({}, x, np.zeros((len(x), 4)))
    return made.backward(None, last)


def layer(made: Any, x: Any) -> Any:
    """Return the gradient of a layer."""
    parameters = made.init(np.random.default_rng(0), dtype=np.float64)

    def loss(parameters: Any) -> Any:
        found = made(parameters, x)
        return ops.sum(found[0] if isinstance(found, tuple) else found)

    return lodcore.value_and_grad(loss)(parameters)


def attention(x: Any) -> Any:
    """Return what additive attention makes of sequences."""
    made = nn.AdditiveAttention(4, 4, 2)
    query = lodcore.sequence_pool(x, "sum")
    return made(made.init(np.random.default_rng(0), dtype=np.float64), query, x)


def optimized(optimizer: Any, v: Any) -> Any:
    """Return a tree after a step."""
    tree = {str(j): v[j : j + 2] + 0.0 for j in range(0, len(v), 8)}
    return optimizer.step(tree, tree, optimizer.init(tree))


def decoded(n: int) -> Any:
    """Follow the back pointers of a chain of n steps."""
    lods = lodcore.LoD.from_lengths([1], [1])
    ids = [LoDTensor(np.array([1]), lods) for _ in range(n)]
    return lodcore.beam_search_decode(ids, [LoDTensor(np.zeros(1), lods) for _ in range(n)], 1, 0)


def searched(n: int) -> Any:
    """Decode n tokens, of which none is the last one."""

    def scores(ids: Any, state: Any) -> Any:
        return np.log(np.full((len(ids), 3), 1 / 3)), state

    return nn.BeamSearchDecoder(scores, 2, 1, 0, n, min_length=n - 1)(np.zeros((1, 1)), 1)


def saved(x: Any) -> Any:
    """Return what a file gives back."""
    file = io.BytesIO()
    lodcore.save(file, {"x": [x], "y": dict.fromkeys(map(str, range(len(x))), 1)})
    file.seek(0)
    return lodcore.load(file)


def saved_folder(x: Any) -> Any:
    """Return what a folder gives back, to which was appended."""
    with tempfile.TemporaryDirectory() as folder:
        lodcore.save(f"{folder}/x.lod", x)
        lodcore.append(f"{folder}/x.lod", x)
        return lodcore.load(f"{folder}/x.lod", verify=True).tolist()


def names_of(lengths: str, values: str, n: int) -> dict[str, Any]:
    """Return what the texts name, for a shape and a size."""
    sizes = np.array(LENGTHS[lengths](n))
    v = VALUES[values](int(sizes.sum()))
    k = len(sizes)
    numbers = np.nan_to_num(v).astype(np.int64)
    x = LoDTensor.from_lengths(v, sizes)
    here = {"x": x, "i": x.with_values(numbers), "w": x.with_values(np.repeat(v[:, None], 4, axis=1)), "v": v, "n": n}
    here |= {"t": LoDTensor.from_lengths(v, [k // 2, 0, k - k // 2], sizes), "ls": sizes, "k": k}
    here |= {
        "short": x[:, :3],
        "wide": here["w"][:, :3],
        "full": x[sizes > 0],
        "sorted_x": ops.sequence_sort(x),
        "e": np.arange(k),
        "m": np.arange(k) % 2 == 0,
        "words": [str(one) for one in numbers],
    }
    others = {"LoD": lodcore.LoD, "SparseTensor": lodcore.SparseTensor, "batching": batching, "interop": interop}
    return {**globals(), **others, "copy": copy, "pickle": pickle, **here}


def called() -> set[str]:
    """Return the names of the functions, methods and classes that the texts and the functions above call."""
    with open(__file__, encoding="utf-8") as file:
        trees = [ast.parse(text) for text in (file.read(), *CALLS, *WITH_LIBRARIES.values())]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)} | {
        node.id for node in nodes if isinstance(node, ast.Name)
    }


def texts_of(shape: tuple[str, str], texts: list[str]) -> list[str]:
    """Return the texts to run for a shape: those that make their own structure run once."""
    return [text for text in texts if shape == SHAPES[0] or "deep(" not in text]


def run(text: str, names: dict[str, Any]) -> None:
    """Run a text, without warnings of what is not a number."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        eval(compile(text, text, "eval"), names)


def counted(text: str, names: dict[str, Any]) -> SimpleNamespace:
    """Count the calls of a text, and the bytes that it has in use at most."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    tracemalloc.start()
    sys.setprofile(count)
    try:
        run(text, names)
    finally:
        sys.setprofile(None)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return SimpleNamespace(calls=calls, used=used)


def seconds(text: str, names: dict[str, Any]) -> float:
    """Return the processor time of a text in this thread, the least of three runs."""
    found = []
    gc.disable()  # its passes depend on all objects of the process
    for _ in range(3):
        start = time.thread_time()
        run(text, names)
        found.append(time.thread_time() - start)
    gc.enable()
    return min(found)


def main() -> None:
    """Measure all calls, and name those that take more than n log n."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=4000)
    parser.add_argument("--only", default="", help="a part of the texts to run")
    given = parser.parse_args()
    bad = 0
    calls = [*CALLS, *(text for name, text in WITH_LIBRARIES.items() if importlib.util.find_spec(name))]
    for shape in SHAPES:
        small, large = (names_of(*shape, size) for size in (given.size, 8 * given.size))
        for text in texts_of(shape, [text for text in calls if given.only in text]):
            run(text, small)  # imports whatever is loaded at the first use
            before, after = seconds(text, small), seconds(text, large)
            if after > 0.02 and after > 20 * max(before, 2e-4):
                bad += 1
                print(
                    f"{text} of {shape}: {1e3 * before:.2f} ms, {1e3 * after:.1f} ms for 8 times the size", flush=True
                )
    print(f"{len(calls)} calls on {len(SHAPES)} shapes; {bad} take more than n log n")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
