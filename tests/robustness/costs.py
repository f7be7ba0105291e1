"""What calls cost as their input grows, on structures and values that are chosen to be costly.

Each text of `CALLS` runs at two sizes on each shape. Its result is at most a constant times as large as its input, so
its cost may grow as n log n. `make test` counts calls of Python functions and the bytes that are in use at most; `make
hunt` measures times: `python -m tests.robustness.costs`.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np

import lodcore
from lodcore import LoDTensor, TensorArray, batching, nn, ops

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

#: x has a number in each row, i integers, w rows of 4, t two levels; e has one number for each sequence, m a truth
#: value, v the values, ls the lengths; n is the size.
ONE_LEVEL = [
    "sigmoid",
    "tanh",
    "relu",
    "exp",
    "log",
    "sqrt",
    "sequence_softmax",
    "sequence_logsumexp",
    "sequence_cumsum",
    "sequence_sort",
    "sequence_argsort",
    "sequence_unique",
    "sequence_unique_all",
    "sequence_n_unique",
    "sequence_rank",
    "run_lengths",
    "sequence_var",
    "sequence_std",
    "sequence_diff",
    "sequence_shift",
    "fill_nan",
    "sequence_prod",
    "sequence_reverse",
    "by_position",
    "drop_level",
    "rows",
    "logical_not",
    "lod_num",
    "lod_positions",
    "lod_segment_ids",
    "argwhere",
    "num_rows",
    "lod_lengths",
    "lod_rank_table",
    "sequence_median",
    "sequence_mode",
    "stop_gradient",
    "sum",
    "prod",
    "mean",
    "max",
    "min",
    "any",
    "all",
    "var",
    "std",
    "nansum",
    "nanmean",
    "nanstd",
    "argmax",
    "argmin",
]
CALLS = [
    *[f"ops.{name}(x)" for name in ONE_LEVEL],
    *[f"ops.{name}(t, level=0)" for name in ("sequence_softmax", "sequence_sort", "sequence_unique", "sequence_prod")],
    *[f"lodcore.sequence_pool(x, {how!r})" for how in ("sum", "mean", "max", "first")],
    *[f"grad(ops.{name}, x)" for name in ("sequence_softmax", "sequence_cumsum", "sequence_sort", "sequence_prod")],
    *("x.sum(axis=0)", "x.max(axis=0)", "t.sum(axis=1)", "x.argmax(axis=1, empty=e)", "x + x", "x == x", "np.exp(w)"),
    *("lodcore.sequence_topk(x, 3)", "lodcore.sequence_topk(x, n)", "lodcore.sequence_quantile(x, [0.1, 0.9])"),
    *("lodcore.sequence_searchsorted(x, x)", "lodcore.sequence_interp(x, x, x)", "lodcore.sequence_rolling(x, n)"),
    *("lodcore.sequence_rolling(x, n // 2, 'max', min_periods=1)", "lodcore.sequence_moving_average(x, 0.5)"),
    *("grad(lambda x: lodcore.sequence_rolling(x, n // 2, 'std', min_periods=1), x)", "lodcore.sliding_window(x, 3)"),
    *("lodcore.sequence_accumulate(x, np.maximum)", "lodcore.repeat_runs(x, i % 3)", "lodcore.concat_batches([x, x])"),
    *("lodcore.concat_batches([x[:1]] * n) if ls[0] < 2 else 0", "lodcore.sequence_concat([x, x])", "[*x]", "[*t]"),
    *("lodcore.sequence_interleave([x, x])", "lodcore.embedding_bag(np.ones((5, 4)), i % 5)", "x.tolist()", "repr(x)"),
    *(
        "lodcore.lookup_table(np.ones((5, 4)), i % 5)",
        "lodcore.gather_nested(np.arange(5.0), i % 5)",
        "x._repr_html_()",
    ),
    *(
        "grad(lambda z: lodcore.lookup_table(z, i % 5), np.ones((5, 4)))",
        "lodcore.gather_sequences(x, [*range(k)][::-1])",
    ),
    *("lodcore.group_rows(v)", "lodcore.group_rows(i.values << 20, 'first')", "lodcore.group_by((v, i.values), v)"),
    *("lodcore.implode((i.values % 3, v), v)", "lodcore.explode(x, e)", "lodcore.match_keys(e, e + 1, 'outer')"),
    *("lodcore.join_by_key(x, x, np.arange(k), np.arange(k))", "lodcore.sort_by_key(x, x)", "ops.insert_level(x, 0)"),
    *("lodcore.lod_reset(x, t)", "lodcore.lod_append(x, lengths=np.ones(len(v), int))", "x[m]", "x[x > 1]", "x[::-1]"),
    *("lodcore.merge_by_mask(*lodcore.split_by_mask(x, m), m)", "lodcore.sequence_sample(x, 2, 0)", "x[:, ::2]"),
    *("lodcore.sequence_shuffle(x, 0)", "lodcore.shuffle_sequences(x, 0)", "lodcore.sequence_chunk(x, 2, 1)"),
    *("lodcore.sequence_chunk(x, 3, align='middle')", "lodcore.sequence_chunk(x, n, last='full', align='end')"),
    *(
        "lodcore.sequence_repeat(x, 2)",
        "lodcore.sequence_roll(x, 1)",
        "lodcore.sequence_truncate(x, 2)",
        "ops.spread(x, x)",
    ),
    *(
        "lodcore.sequence_unflatten(x, 1)",
        "lodcore.sequence_conv(w, np.ones((12, 4)), 3)",
        "lodcore.row_conv(w, np.ones((2, 4)))",
    ),
    *("lodcore.sequence_enumerate(i, 2)", "lodcore.sequence_erase(i, i.values[::-1])", "lodcore.sequence_expand(e, x)"),
    *("lodcore.sequence_expand_as(e, x)", "lodcore.sequence_slice(x, 0 * ls, ls)", "lodcore.where(x > 1, x, 0.0)"),
    *("ops.take_nested(x, lodcore.sequence_argsort(x))", "lodcore.reorder_by_rank(x, lodcore.lod_rank_table(x))"),
    *("packed(*TensorArray.unpack(t, 0))", "packed(*TensorArray.unpack(x, 0, sort_by_length=False))", "t.flatten(0)"),
    *(
        "[*TensorArray.unpack(t, 0)[0]]",
        "TensorArray.unstack(w.values).stack()",
        "lodcore.array(t.tolist())",
        "hash(t.lod)",
    ),
    *("LoDTensor.from_arrays(x.to_arrays())", "LoD.from_lengths(ls) == LoD.from_lengths(ls)", "t.lod.split()"),
    *("t.lod.take(np.arange(3)[::-1])", "LoD.from_segment_ids(x.lod.segment_ids(), k)", "t.lod.row_offsets(0)"),
    *(
        "LoDTensor.from_starts_stops(v, x.offsets[:-1][::-1], x.offsets[1:][::-1])",
        "lodcore.cu_seqlens(x)",
        "x.nonzero()",
    ),
    *(
        "SparseTensor(i.values % 5, w.values, 5).merge()",
        "np.nan_to_num(x, nan=x)",
        "np.isin(x, v)",
        "x.equals(x.copy())",
    ),
    *("lodcore.dynamic_gru(lodcore.ops.concat_values([w, w[:, :, :2]], 1), np.ones((2, 6)))", "lodcore.arange(ls)"),
    *(
        "nn.dynamic_rnn(lambda p, a, h: (lodcore.tanh(a + h),) * 2, {}, w, np.zeros((k, 4)))",
        "lodcore.encode_utf8(words)",
    ),
    *("lodcore.Vocabulary.fit([words]).encode([words])", "lodcore.tree_map(abs, dict.fromkeys(words, 1))"),
    *(
        "lodcore.cond(m, lambda x: x * 2, lambda x: x, x)",
        "lodcore.cross_entropy(w, i % 4)",
        "lodcore.map_fn(lambda x: x * 2, x)",
    ),
    "lodcore.beam_search([1, 1], [0.0, 0.0], None, LoDTensor.from_lengths(np.stack([v, v]), [2]), len(v) // 2 + 1, 0)",
    *[f"batching.pack_plan(ls, n + 3, {how!r})" for how in batching.packing.METHODS],
    *[f"batching.pack_plan(np.arange(k)[::-1], k + 9, {how!r})" for how in batching.packing.METHODS],
    *(
        "batching.pack_plan(ls % 9 + 1, 9, 'in_order', window=n)",
        "batching.pack_plan([9] * k, 9, 'in_order', window=n)",
    ),
    *("batching.pack_plan(ls, 8, overflow='split')", "list(batching.batches(ls, n + 3))", "batching.chunk_plan(x, 4)"),
    *("batching.concat_and_cut(i, 8)", "list(batching.pack_stream([*x], n + 3, buffer=n))", "plan(x)", "down(x)"),
    *("list(batching.batch_stream([*x], n + 3))", "program(n // 8)", "chain(n // 8)", "writes(n // 8)"),
    *[
        f"deep(n).{name}"
        for name in ("lod.lengths(-1)", "sequence_sort()", "sequence_pool('sum')", "tolist()", "lod.split()")
    ],
]
CALLS = [text for text in CALLS if not text.startswith("deep(n).sequence")] + [
    f"ops.{call}"
    for call in ("sequence_sort(deep(n))", "sequence_pool(deep(n), 'sum', 0.0, 0)", "by_position(deep(n))")
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
    """Return one row in n levels."""
    return LoDTensor.from_lengths([1.0], *[[1]] * min(n, 800))


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


def names_of(lengths: str, values: str, n: int) -> dict[str, Any]:
    """Return what the texts name, for a shape and a size."""
    sizes = np.array(LENGTHS[lengths](n))
    v = VALUES[values](int(sizes.sum()))
    k = len(sizes)
    numbers = np.nan_to_num(v).astype(np.int64)
    x = LoDTensor.from_lengths(v, sizes)
    here = {"x": x, "i": x.with_values(numbers), "w": x.with_values(np.repeat(v[:, None], 4, axis=1)), "v": v, "n": n}
    here |= {"t": LoDTensor.from_lengths(v, [k // 2, 0, k - k // 2], sizes), "ls": sizes, "k": k}
    here |= {"e": np.arange(k), "m": np.arange(k) % 2 == 0, "words": [str(one) for one in numbers]}
    return {**globals(), "LoD": lodcore.LoD, "SparseTensor": lodcore.SparseTensor, "nn": nn, **here}


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
    """Return the processor time of a text, the least of three runs."""
    found = []
    for _ in range(3):
        start = time.process_time()
        run(text, names)
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Measure all calls, and name those that take more than n log n."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=4000)
    parser.add_argument("--only", default="", help="a part of the texts to run")
    given = parser.parse_args()
    bad = 0
    for shape in SHAPES:
        small, large = (names_of(*shape, size) for size in (given.size, 8 * given.size))
        for text in CALLS:
            if given.only not in text:
                continue
            run(text, small)  # loads what is loaded at the first use
            before, after = seconds(text, small), seconds(text, large)
            if after > 0.02 and after > 20 * max(before, 2e-4):
                bad += 1
                print(
                    f"{text} of {shape}: {1e3 * before:.2f} ms, {1e3 * after:.1f} ms for 8 times the size", flush=True
                )
    print(f"{len(CALLS)} calls on {len(SHAPES)} shapes; {bad} take more than n log n")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
