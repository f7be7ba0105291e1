"""Which neighbouring operators of a Program can run together, judging by their Specs."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lodcore.graph.block import Operator
from lodcore.graph.loops.flat_programs import Numbers
from lodcore.graph.loops.traced import Traced, Untraceable, Value
from lodcore.graph.variable import Variable
from lodcore.operators.elementwise import ElementwiseOp
from lodcore.operators.registry import OPS
from lodcore.operators.roles import spec_of
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec, Tensor

__all__ = ["BOOL", "Form", "form_of", "groups_of", "is_number", "role_of", "spec_of_operand"]

FLOATS = frozenset([np.dtype(np.float32), np.dtype(np.float64)])
BOOL = np.dtype(bool)

Form = tuple[int, tuple[Any, ...]]  # the number of levels, and the shape of the values


class Part(NamedTuple):
    """How an operator may take part in a chain.

    Attributes
    ----------
    form : (int, tuple)
        The form of the rows.
    dtypes : set of dtype
        The dtypes of its numbers, except bools.
    rows : list of Variable or tensor
    truths : list of Variable
        The rows of bools, which must be made in the chain.
    """

    form: Form
    dtypes: set[np.dtype[Any]]
    rows: list[Any]
    truths: list[Variable]


class Stretch:
    """Operators one after the other that belong to the same rows, what they make, and the dtypes of their numbers."""

    def __init__(self) -> None:
        self.each: list[tuple[Operator, Part]] = []
        self.made = set[Variable]()
        self.dtypes = set[np.dtype[Any]]()

    def join(self, op: Operator, part: Part) -> bool:
        """Add an operator if it belongs to the same rows; return whether it does."""
        dtypes = self.dtypes | part.dtypes
        fits = len(dtypes) == 1 and all(_compatible(first.form, part.form) for _, first in self.each[:1])
        if not fits or any(v not in self.made for v in part.truths):
            return False
        self.each.append((op, part))
        self.made.add(op.outputs[0])
        self.dtypes = dtypes
        return True


def groups_of(ops: Iterable[Any]) -> Iterator[tuple[list[Operator], np.dtype[Any]]]:
    """Yield the operators of each chain, and the dtype of its numbers."""
    some = Stretch()
    for op in ops:
        part = _part_of(op) if isinstance(op, Operator) else None
        if part is None or not some.join(op, part):
            yield from _connected(some.each)
            some = Stretch()
            if part is not None:
                some.join(op, part)
    yield from _connected(some.each)


def _connected(some: list[tuple[Operator, Part]]) -> Iterator[tuple[list[Operator], np.dtype[Any]]]:
    """Yield the runs of at least two operators that share rows, directly or by way of others, and their dtype."""
    group: dict[int, int] = {}

    def first(x: int) -> int:
        while group.setdefault(x, x) != x:
            group[x] = group[group[x]]  # halves the way of those that follow
            x = group[x]
        return x

    for op, part in some:
        for x in part.rows:
            group[first(id(x))] = first(id(op.outputs[0]))
    roots = [first(id(op.outputs[0])) for op, _ in some]
    for _, run in itertools.groupby(zip(roots, some, strict=True), lambda one: one[0]):
        each = [one for _, one in run]
        if len(each) > 1:
            dtypes = set().union(*[part.dtypes for _, part in each])
            yield [op for op, _ in each], dtypes.pop()


def _part_of(op: Operator) -> Part | None:
    """Return how an operator may take part in a chain, None if it cannot."""
    known = isinstance(op.op, ElementwiseOp) or op.op is OPS["elementwise"]
    if not known or OPS.get(op.op.__name__) is not op.op or not op.single or op.around is not None:
        return None
    spec = op.outputs[0].spec
    form = form_of(spec)
    if spec.kind not in (np.ndarray, LoDTensor) or not form[1]:
        return None
    dtypes, rows, truths, kinds = {spec.dtype} - {BOOL}, [], [], []
    for name in op.op.roles:
        given = op.arguments[name]
        for x in given if type(given) is list else [given]:
            role = role_of(x, form)
            if role is None:
                return None
            kinds.append(type(x) if role == "number" else role)
            if role == "number":
                continue
            dtype = spec_of_operand(x).dtype
            if role == "row":
                rows.append(x)
            if dtype != BOOL:
                dtypes.add(dtype)
            elif role == "row" and isinstance(x, Variable):
                truths.append(x)
                kinds[-1] = "truth"
            else:
                return None
    if not rows or not dtypes <= FLOATS or len(dtypes) > 1:
        return None
    attrs = tuple([(name, x) for name, x in op.arguments.items() if name not in op.op.roles])
    try:
        works = _takes_part(op.op, attrs, tuple(kinds), next(iter(dtypes), np.dtype(np.float64)), spec.dtype == BOOL)
    except TypeError:  # an attribute without a hash
        return None
    return Part(form, dtypes, rows, truths) if works else None


@functools.lru_cache(1024)
def _takes_part(op: Any, attrs: tuple[Any, ...], kinds: tuple[Any, ...], dtype: np.dtype[Any], truth: bool) -> bool:
    """Return whether the machine can compute an operator for operands of some kinds."""
    numbers = Numbers(dtype)
    given = [
        kind(1) if isinstance(kind, type) else Traced(numbers, numbers.value("input", (), 1, at, kind == "truth"))
        for at, kind in enumerate(kinds)
    ]
    roles = list(op.roles)
    arguments = dict(attrs) | ({roles[0]: given} if op is OPS["elementwise"] else dict(zip(roles, given, strict=True)))
    try:
        made = op.in_steps(numbers, **arguments)
    except (Untraceable, RecursionError):
        return False
    return isinstance(made, Value) and made.truth == truth


def spec_of_operand(x: Any) -> Spec:
    """Return the Spec of a Variable or a tensor."""
    return x.spec if isinstance(x, Variable) else spec_of(x)


def form_of(spec: Spec) -> Form:
    """Return the form of rows with a Spec."""
    return spec.num_levels, spec.shape


def is_number(x: Any) -> bool:
    """Return whether an operand is a real number."""
    return isinstance(x, (bool, int, float, np.bool_, np.integer, np.floating))


def role_of(x: Any, form: Form) -> str | None:
    """Return what an operand is to rows of a form: "row", "line" if all rows share it, "number", or None."""
    if is_number(x):
        return "number"
    if not isinstance(x, (Variable, Tensor)):
        return None
    spec = spec_of_operand(x)
    if spec.kind not in (np.ndarray, LoDTensor):
        return None
    levels, shape = form
    if spec.num_levels == levels and _compatible(form_of(spec), form):
        return "row"
    own = spec.shape
    while own and own[0] == 1:
        own = own[1:]
    fits = not spec.num_levels and len(spec.shape) <= len(shape) - (levels > 0) and len(own) < len(shape)
    return "line" if fits and _compatible((0, own), (0, shape[len(shape) - len(own) :])) else None


def _compatible(one: Form, other: Form) -> bool:
    """Return whether rows of two forms may have one shape."""
    if one[0] != other[0] or len(one[1]) != len(other[1]):
        return False
    return all(a == b or a is None or b is None for a, b in zip(one[1], other[1], strict=True))
