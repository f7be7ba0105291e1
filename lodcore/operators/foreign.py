"""Calls with kinds of tensors from outside: with what they stand for, and results of the kind that is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lodcore.base.dispatch import VariableBody
from lodcore.errors import GraphError
from lodcore.operators.lod_rules import deepest, same
from lodcore.operators.roles import LISTS, spec_of
from lodcore.tensors.kinds import is_foreign, is_kept, plain_spec
from lodcore.tensors.tensor import Spec

__all__ = ["called", "inferred", "of_entries"]

Convert = Callable[[Any, str], Any]


def called(op: Any, plain_values: Convert, with_kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call an operator with the tensors that its arguments stand for; return a result of the kind that is kept.

    Parameters
    ----------
    op : Op
    plain_values, with_kind : callable
        The operators that convert to and from what a kind stands for.
    args : tuple
    kwargs : dict

    Returns
    -------
    tensor, a tuple of them, or None if no argument is of a kind from outside
    """
    given = {**dict(zip(op.parameters, args, strict=False)), **kwargs}
    found = [(name, x) for name, x in given.items() if name in op.roles and _has_foreign(op, name, x)]
    if not found:
        return None
    wanted = given.pop("name", None) if "name" not in op.parameters else None
    for _, x in found if wanted is not None else ():
        if isinstance(x, VariableBody) and x.block is not None:
            x.block.check_name(op.__name__, wanted)
    plain = {name: _plain(f"{op.__name__}: {name}", x, plain_values) for name, x in found}
    made = op(
        *[plain.get(name, x) for name, x in zip(op.parameters, args, strict=False)],
        *args[len(op.parameters) :],
        **{name: plain.get(name, x) for name, x in kwargs.items() if name in given},
    )
    made = _kept(op, {**op.defaults, **given}, found, made, with_kind)
    first = made[0] if type(made) is tuple else made
    if wanted is not None and isinstance(first, VariableBody) and first.block is not None:
        first.block.rename(first, wanted)
    return made


def inferred(op: Any, arguments: dict[str, Any]) -> Any:
    """Return the Spec of the result of a call with Specs of kinds from outside."""
    found = [(name, arguments[name]) for name in op.roles if _has_foreign(op, name, arguments[name])]
    plain = {name: _plain(name, x, lambda spec, where: plain_spec(spec)) for name, x in found}
    made = op.infer_arguments({**arguments, **plain})
    return _kept(op, arguments, found, made, lambda spec, like, where: spec._replace(kind=like.kind))


def of_entries(where: str, made: Any, inputs: list[Any], with_kind: Any) -> Any:
    """Return a result with one entry per row of its inputs, of the kind of the first input that has as many axes.

    Parameters
    ----------
    where : str
    made : tensor
    inputs : list of tensor
        Only those of kinds from outside without levels count: their structure is the number of rows.
    with_kind : callable
        As in `called`.
    """
    for x in [x for x in inputs if is_foreign(_kind_of(x)) and is_kept(_kind_of(x))]:
        spec, result = _spec_of(x), _spec_of(made)
        if not (spec.num_levels or result.num_levels) and len(spec.shape) == len(result.shape) > 0:
            return with_kind(made, x, where)
    return made


def _has_foreign(op: Any, name: str, x: Any) -> bool:
    """Return whether an argument is, or a list of tensors has, a kind from outside that the role does not take."""
    role = op.roles[name]
    if role in LISTS and isinstance(x, (list, tuple)) and type(x) is not Spec:
        return any(is_foreign(_kind_of(one)) for one in x)
    kind = _kind_of(x)
    return is_foreign(kind) and role.kind is None and not role.receives(kind)


def _plain(where: str, x: Any, convert: Convert) -> Any:
    if isinstance(x, (list, tuple)) and type(x) is not Spec:
        return [_plain(f"{where}[{j}]", one, convert) if is_foreign(_kind_of(one)) else one for j, one in enumerate(x)]
    return convert(x, where)


def _kept(op: Any, given: dict[str, Any], found: list[tuple[str, Any]], made: Any, with_kind: Any) -> Any:
    """Return results with the kind of the first argument of a kind from outside whose structure they have."""
    if not op.lod_rule.same_object or op.writes is not None:
        return made
    if type(made) is tuple:
        return tuple([_kept(op, given, found, one, with_kind) for one in made])
    result = made if type(made) is Spec else _spec_of(made)
    source = None if op.lod_rule in (same, deepest) else op.lod_rule.source(given)
    for _, x in found:
        of_list = isinstance(x, (list, tuple)) and type(x) is not Spec
        for one in [one for one in x if is_foreign(_kind_of(one))] if of_list else [x]:
            spec = one if type(one) is Spec else _spec_of(one)
            same_axes = spec.num_levels > 0 or len(spec.shape) == len(result.shape) > 0
            alike = spec.num_levels == result.num_levels and same_axes
            if is_kept(spec.kind) and alike and (source is None or one is source):
                return with_kind(made, one, op.__name__)
    return made


def _kind_of(x: Any) -> type:
    """Return the kind of a tensor, of a Spec, or of the value that a Variable represents."""
    if type(x) is Spec:
        return x.kind
    if not isinstance(x, VariableBody):
        return type(x)
    try:
        return _spec_of(x).kind
    except GraphError:  # it has neither a Spec nor a value
        return object


def _spec_of(x: Any) -> Spec:
    known: Any = x.current() if isinstance(x, VariableBody) else x
    found: Spec = known.spec if isinstance(known, VariableBody) else spec_of(known)
    return found
