"""Calls of all functions: operators and their gradients, constructors, methods, index forms, recorded programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

import lodcore
from lodcore import LoD, LoDTensor, SparseTensor, TensorArray, vjp
from lodcore.operators.registry import OPS
from lodcore.testing import ways
from lodcore.testing.samples import Sample
from tests.helpers import wrong_calls
from tests.helpers.wrong_calls import RIGHT
from tests.robustness import more_calls
from tests.robustness.more_calls import between_passes as between_passes
from tests.samples import SAMPLES

EXAMPLES = 3  # of each operator, and of its gradient


class Case(NamedTuple):
    """A call: the function, and its arguments."""

    name: str
    run: Callable[..., Any]
    arguments: Any

    @property
    def is_gradient(self) -> bool:
        """Whether it has a forward pass and a backward pass, with `between_passes` between them."""
        return self.name.startswith(("gradient", "grad_of"))


def drawn(strategy: Any, count: int) -> list[Any]:
    """Draw some examples, the same ones every time."""
    found: list[Any] = []

    @settings(
        max_examples=count, database=None, derandomize=True, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def keep(one: Any) -> None:
        found.append(one)

    keep()
    return found[-count:]


#: The ways of running an operator.
WAYS = (
    ways.at_once, ways.at_once, ways.of_lists, ways.as_a_method, ways.under_vjp, ways.in_a_program, ways.in_a_body,
    ways.in_a_body_of_a_program, ways.into_out,
)  # fmt: skip


def _forward(op: Any, keywords: dict[str, Any], way: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: way(op, Sample(arguments, keywords))


def _backward(op: Any, keywords: dict[str, Any]) -> Callable[..., Any]:
    """Make the call of an operator and of its gradient with respect to numeric tensors."""

    def run(*arguments: Any) -> Any:
        places = [j for j, x in enumerate(arguments) if isinstance(x, (np.ndarray, LoDTensor)) and x.dtype.kind == "f"]

        def f(*inputs: Any) -> Any:
            given = list(arguments)
            for j, x in zip(places, inputs, strict=True):
                given[j] = x
            return op(*given, **keywords)

        value, pullback = vjp(f, *[arguments[j] for j in places])
        more_calls.pause(value)
        made = more_calls.ones_like(value)
        return pullback(*made) if isinstance(made, list) else pullback(made)

    return run


def _text(text: str) -> Callable[..., Any]:
    """Make the call of a text whose names are the arguments."""
    code = compile(text, text, "eval")
    public = {
        **wrong_calls.public_names(),
        "lodcore": lodcore,
        "np": np,
        "vjp": vjp,
        "LoDTensor": LoDTensor,
        "LoD": LoD,
    }

    def run(*items: Any) -> Any:
        return eval(code, {**public, **dict(items)})

    return run


#: More texts: constructors, index forms, functions of NumPy; `things` defines the names.
TEXTS = [
    *("LoDTensor(v, x.lod)", "LoDTensor.from_lengths(v, [2, 4])", "LoDTensor.from_lengths(v, lengths)"),
    *("LoDTensor.from_offsets(v, offsets)", "LoDTensor.from_segment_ids(v, i)", "LoD.from_segment_ids(i, 9)"),
    *("LoDTensor.from_starts_stops(v, i, i)", "LoDTensor.from_arrays([v, v, v])", "LoDTensor.from_arrays(several)"),
    *("LoDTensor.from_padded(dense, lengths)", "LoDTensor.from_padded(dense, mask=dense[..., 0] > 0)"),
    *("LoD.from_lengths(lengths)", "LoD.from_lengths(numbers)", "LoD.from_offsets(offsets)", "lodcore.array(several)"),
    *("x.lod.take(lengths - lengths)", "x.lod.append(lengths=i)", "lodcore.array([numbers, numbers])"),
    *("x[0]", "x[-1]", "x[:1]", "x[::-1]", "x[:, 0]", "x[:, :2]", "x[:, ::2]", "x[..., 0]", "x[:, :, 0]", "x[[1, 0]]"),
    *(
        "x[[True, False]]",
        "x[[1, 0], [0, 1]]",
        "x[[1, 0], [0, 1], [1, 0]]",
        "x[:, [0, 1], [1, 0]]",
        "x[[1, 0], :, [1, 0]]",
    ),
    *(
        "x[nested]",
        "x[x[:, :, 0] > 0]",
        "x[numbers[:2]]",
        "x[lengths - lengths]",
        "[*x]",
        "x.tolist()",
        "x.to_arrays()",
    ),
    *("x + v[:1]", "x * x", "np.tanh(x)", "x @ v[:2]", "x == x", "np.where(x > 0, x, 1)", "np.concatenate([x, x], 1)"),
    *(
        "x.sum(axis=1)",
        "x.max(axis=1)",
        "x.max(axis=0)",
        "x.prod(axis=1)",
        "x.argmax(axis=1)",
        "x.any(axis=1)",
        "x.std()",
    ),
    *(
        "x.to_padded(out=padded)",
        "x.to_padded(-1, 'left', 8, 2, True)",
        "x.with_values(v)",
        "x.per_sequence(dense[:, 0])",
    ),
    *("lodcore.gather_sequences(x, lengths - lengths, out=out)", "lodcore.sequence_reverse(x, out=out)"),
    *(
        "lodcore.sequence_concat(batches)",
        "lodcore.concat_batches(batches)",
        "lodcore.concat_batches(batches, out=twice)",
    ),
    *("lodcore.sequence_pad(x, out=padded)", "lodcore.sequence_pool(x, 'sum', out=pooled)", "sparse.merge()"),
    *(
        "lodcore.sequence_pool(x, 'max', out=pooled)",
        "sparse.to_dense()",
        "sparse + sparse",
        "sparse.to_dense(out=table)",
    ),
    *(
        "TensorArray.unpack(x, 0, out=out)",
        "TensorArray.unpack(x, 0)[0].pack(0, steps_map)",
        "steps.pack(0, steps_map)",
    ),
    *(
        "lodcore.reorder_by_rank(x, rank)",
        "lodcore.reorder_by_rank(v[:2], rank)",
        "lodcore.shrink_memory(v[:2], 1, rank)",
    ),
    *("TensorArray.unstack(x).concat()", "TensorArray.unstack(dense).stack()", "x.lod.segment_ids(out=i)"),
    *(
        "vjp(lambda a: a[[1, 0], [0, 1]], x)[1](v[:2])",
        "vjp(lambda a: lodcore.reorder_by_rank(a, rank), v[:2])[1](v[:2])",
    ),
    *(
        "vjp(lambda a: lodcore.sequence_pool(a, 'max'), x)[1](pooled, out=out)",
        "recorded(x, 'sum')",
        "recorded(x, 'max')",
    ),
    *(
        "vjp(lambda a: lodcore.sequence_concat([a, a]), x)[1](twice)",
        "looped(x)",
        "lodcore.lod_reset(v, x)",
        "x.clone()",
    ),
    *("lodcore.lookup_table(v, i)", "lodcore.embedding_bag(v, nested)", "lodcore.lookup_table(v, nested)"),
    *(
        "vjp(lambda t: lodcore.embedding_bag(t, nested), v)[1](pooled)",
        "assigned(x, [1, 0], v)",
        "assigned(x, x > 0, 1.0)",
    ),
    *(
        "lodcore.save(file(), {'x': x, 'v': v})",
        "pickled(x)",
        "pickled(steps)",
        "pickled(sparse)",
        "pickled(rank)",
        "x.flatten()",
    ),
]


def _recorded(x: Any, pool_type: str) -> Any:
    """Pool in a Program, on values that are fed when it runs."""
    from lodcore.graph import Executor, Program, data
    from lodcore.operators.roles import spec_of

    with Program() as program:
        given = data("x", spec_of(x))
        pooled = lodcore.sequence_pool(given, pool_type)
    return Executor().run(program, feed={"x": x}, fetch=[pooled])


def _looped(x: Any) -> Any:
    """Run a loop of two steps, and its gradient."""
    from lodcore.graph import while_loop

    def f(given: Any) -> Any:
        loop = while_loop()
        with loop.loop():
            state = loop.loop_var(given)
            loop.break_if(lodcore.equal(loop.step(), 2))
            state.update(lodcore.tanh(state))
        return state

    value, pullback = vjp(f, x)
    return pullback(np.ones_like(value.values))


def _assigned(x: Any, key: Any, value: Any) -> Any:
    y = x.clone()
    y[key] = value
    return y


def _pickled(value: Any) -> Any:
    import pickle

    return pickle.loads(pickle.dumps(value))


def _file() -> Any:
    import io

    return io.BytesIO()


def things() -> dict[str, Any]:
    """Make the objects that the texts use."""
    v, lod = np.arange(12.0).reshape(6, 2), LoD.from_lengths([2, 4])
    x = LoDTensor(v, lod)
    steps, steps_map = TensorArray.unpack(x, 0)
    return {
        "x": x, "v": v, "i": np.array([0, 1, 2, 3, 4, 5]), "out": np.zeros((6, 2)), "twice": np.zeros((12, 2)),
        "lengths": np.array([2, 4]), "offsets": np.array([0, 2, 6]), "numbers": [1, 0, 2, 0, 1],
        "several": [np.ones((2, 2)), np.ones((1, 2)), np.ones((0, 2))], "batches": [x, x], "dense": np.ones((2, 4, 2)),
        "nested": LoDTensor(np.array([0, 1, 1, 0, 1, 1]), lod), "padded": np.zeros((2, 4, 2)),
        "pooled": np.zeros((2, 2)),
        "sparse": SparseTensor([0, 3, 0], np.ones((3, 2)), 4), "table": np.zeros((4, 2)), "steps": steps,
        "steps_map": steps_map, "rank": lodcore.lod_rank_table(x),
    }  # fmt: skip


HELPERS = {"recorded": _recorded, "looped": _looped, "assigned": _assigned, "pickled": _pickled, "file": _file}


@cache
def cases() -> list[Case]:
    """List all cases."""
    found: list[Case] = []
    for name, samples in SAMPLES.items():
        op = OPS[name]
        examples = drawn(samples.calls, EXAMPLES)
        for j, way in enumerate(WAYS):
            one = examples[j % len(examples)]
            found.append(Case(f"{name}, {way.__name__}", _forward(op, one.kwargs, way), one.args))
        if samples.smooth is not None:
            for j, one in enumerate(drawn(samples.smooth, EXAMPLES)):
                found.append(Case(f"gradient of {name} {j}", _backward(op, one.kwargs), one.args))
    names = {**things(), **HELPERS}
    for text in TEXTS:
        used = [(name, value) for name, value in names.items() if name in text]
        found.append(Case(text, _text(text), tuple(used)))
    names = {**more_calls.things(), **more_calls.HELPERS}
    for text in more_calls.TEXTS:
        used = [(name, value) for name, value in names.items() if name in text]
        found.append(Case(text, _text(text), tuple(used)))
    for text in RIGHT:
        used = [(name, value) for name, value in wrong_calls.things().items() if name in text]
        if "rewritten" not in text:
            found.append(Case(text, _text(text), tuple(used)))
    return found


def left_out() -> list[str]:
    """List the operators that are not called in every way: none, if none was forgotten."""
    known: dict[str, set[str]] = {}
    for case in cases():
        name, _, way = case.name.partition(", ")
        known.setdefault(name, set()).add(way)
    wanted = {way.__name__ for way in WAYS}
    return [name for name in set(SAMPLES) & set(OPS) if not wanted <= known.get(name, set())]


if __name__ == "__main__":
    print("\n".join(case.name for case in cases()))
