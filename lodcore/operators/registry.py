"""Operators: plain functions with their rules, in one registry that serves every way of running."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lodcore.base import dispatch
from lodcore.base.dispatch import OpBody
from lodcore.base.keywords import refuse_unknown
from lodcore.base.memory import flag
from lodcore.base.naming import described, without_any
from lodcore.errors import GraphError
from lodcore.operators import foreign
from lodcore.operators.arguments import of_another_kind
from lodcore.operators.lod_rules import LoDRule, counted, said, same, sources_of, spec_with_levels
from lodcore.operators.results import finished, with_lod
from lodcore.operators.roles import LISTS, Anything, Kind, Role, entries_of, spec_of, spec_of_list
from lodcore.operators.vjp_rules import VJPRule
from lodcore.tensors.kinds import is_foreign, of_kind, plain_of, plain_spec
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = ["OPS", "Op", "Saved", "operator"]

#: The Spec of a value that is unknown until it is computed.
UNKNOWN = Spec((), np.dtype(np.void), 0, object)

#: A rule of an operator, as it is defined.
Rule = TypeVar("Rule", bound=Callable[..., Any])

#: Where a function saves what its vjp rule needs; None if nothing is needed.
Saved: TypeAlias = "dict[str, Any] | None"

BOOLS = frozenset([bool])

#: The operators of the package by name.
OPS: dict[str, Op] = dispatch.OPS


class Signature:
    """What `inspect.signature` returns for an operator: that of its function, without `saved`."""

    def __get__(self, op: Any, owner: type) -> inspect.Signature:
        if op is None:
            raise AttributeError("__signature__")  # that of the class is its own
        whole = inspect.signature(op.__wrapped__)
        return whole.replace(parameters=[one for name, one in whole.parameters.items() if name != "saved"])


class Op(OpBody):
    """An operator, made by `operator`: a call computes on tensors, and is recorded on Variables.

    Parameters
    ----------
    function : callable
        Computes on tensors.
    roles : dict
        The parameters that may be tensors, each with its Role.
    lod_rule : LoDRule or str
        The structure of the result; in words, if the Spec rule says what it is.
    differentiable : bool
        Whether the result has a gradient.
    writes : str, optional
        The parameter for the TensorArray that is written to; the result is its next version.
    results : int or None
        The number of tensors returned; None for one, or for a tuple whose size depends on the call.
    on_arrays : callable, optional
        Computes the same on arrays and numbers alone; loops call it instead of the function.
    rowwise : tuple of str
        The parameters in which the operator is row-wise: each row of the result depends on the same row of one of
        these, and on all other operands, if these parameters and the result are matrices.

    Attributes
    ----------
    parameters : tuple of str
        All but `out` and `saved`.
    defaults : dict
        The defaults of optional parameters.
    saves : tuple of str
        The names of the values that the function saves for the vjp rule.
    saving : callable or None
        What runs if they are needed.
    slots : dict
        The slots of a recorded call's values by name; its frame is a list of the arguments, `out`, and what is saved.
    unused_by_vjp : frozenset of str
        The parameters, and "out", whose values the vjp rule does not read.
    only_rule : VJPRule or None
        The vjp rule, unless it depends on the arguments: `rule_of`.
    prepare : callable or None
        Prepares the second of two operands, which the steps of a loop share, for many calls; `matmul` packs matrices.
        Returns an object, or None if that is not worth it: `forward(x)` computes the result, `backward(d)` the gradient
        of the rows x, and `accumulate(x, d, total)` adds the gradient of the second operand to `total`, which may be
        None at first. Each method returns None for arrays that it does not support.
    """

    __signature__ = Signature()

    elementwise = False

    cuts = False  # whether a gradient that arrives is dropped in silence, as its derivative is 0 by definition

    gradient_in_rows = ""  # the parameter whose gradient is a SparseTensor

    flags: tuple[str, ...] = ()  # the parameters that are True or False

    keeps_versions = False  # whether recorded arrays are read in the given version, not in the current one

    def __init__(
        self,
        function: FunctionType,
        roles: dict[str, Role],
        lod_rule: LoDRule | str = same,
        differentiable: bool = True,
        writes: str | None = None,
        results: int | None = 1,
        on_arrays: Callable[..., Any] | None = None,
        rowwise: tuple[str, ...] = (),
    ) -> None:
        code = function.__code__  # instead of inspect.signature, which takes too long for an import
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        positional = names[: code.co_argcount]
        given = function.__defaults__ or ()
        defaults = dict(zip(positional[len(positional) - len(given) :], given, strict=True))
        defaults.update(function.__kwdefaults__ or {})
        self._function = function if "saved" in names else None
        if "saved" in positional:
            raise TypeError(f"operator: {function.__name__}: saved: must be a keyword: `*, saved=None`")
        self.parameters = tuple([name for name in names if name not in ("out", "saved")])
        unknown = [name for name in [*roles, *rowwise] if name not in self.parameters]
        if unknown or not roles:
            wrong = f"has no parameter {unknown[0]}" if unknown else "no parameter has a role; at least one is a tensor"
            raise TypeError(f"operator: {function.__name__}: {wrong}")
        self.roles = {name: roles[name] for name in self.parameters if name in roles}
        self.tensors = tuple(self.roles)
        self.defaults = {name: value for name, value in defaults.items() if name in self.parameters}
        self.positional = positional.index("out") if "out" in positional else len(positional)
        self.keywords = tuple([name for name in names[code.co_argcount :] if name != "saved"])
        self.takes_out = "out" in names
        self.lod_rule = said(lod_rule) if isinstance(lod_rule, str) else lod_rule
        for name in [name for name in self.lod_rule.reads if name not in self.parameters]:
            raise TypeError(
                f"operator: {function.__name__}: lod_rule: names {name!r}, which is no parameter of the function"
            )
        self.gradient = differentiable
        self.writes, self.changes = writes, writes is not None
        self.results = results
        self.on_arrays = on_arrays
        self.rowwise = rowwise
        self.unused_by_vjp: frozenset[str] = frozenset()
        self._save((), None)
        self.prepare: Callable[..., Any] | None = None
        self.in_steps: Callable[..., Any] | None = None
        self._infer: Callable[..., Any] | None = None
        self._described: frozenset[str] = frozenset()  # parameters whose numbers are passed as Specs
        self.only_rule: VJPRule | None = None
        if of_lodcore := function.__module__.startswith("lodcore."):  # that of a user stays as it is
            without_any(function)
        functools.update_wrapper(self, function)
        if of_lodcore:
            self.__module__ = "lodcore.ops"  # which pickles name, not a file
        self.__doc__ = _with_refusal(function.__doc__)
        batches = [name for name, role in self.roles.items() if role in LISTS]
        where = self.parameters.index(batches[0]) if batches else -1
        super().__init__(function, where, batches[0] if batches else "", bool(self.keywords))

    def __repr__(self) -> str:
        return f"<operator {self.__name__}>"

    def __reduce__(self) -> str:
        return self.__qualname__

    def __deepcopy__(self, memo: dict[int, Any]) -> Op:
        return self

    __name__: str
    __qualname__: str

    # -- registering ---------------------------------------------------------------------------------------------------

    def define_infer(self, rule: Rule) -> Rule:
        """Register the shape rule: the operator's function with a Spec instead of each tensor."""
        self._infer, self._described = rule, frozenset([name for name, role in self.roles.items() if role.described])
        return rule

    def _save(self, names: tuple[str, ...], function: Callable[..., Any] | None) -> None:
        """Set what is saved, and what runs to save it."""
        self.saves, self.saving = names, function if names else None
        self.slots = {name: at for at, name in enumerate((*self.parameters, "out", *names))}

    def define_vjp(self, rule: Rule) -> Rule:
        """Register the vjp rule: a function of the cotangents and of the values of the forward pass that it names.

        It may also name `context`: `context.new("x")` is an uninitialised array for the gradient of x, in the memory
        that was passed to `pullback(out=...)`, if any; `context.sum_of("x")` is the gradient of x so far, to which the
        rule may add in place, or None.
        """
        if self._function is not None:
            known = {*self.parameters, "out", "needs", "context"}
            self._save(tuple([name for name in self._names(rule) if name not in known]), self._function)
        self.only_rule = self.prepared_rule(rule)
        read = self.only_rule.names
        if "context" not in read:
            self.unused_by_vjp = frozenset([name for name in (*self.roles, "out") if name not in read])
        return rule

    def define_steps(self, rule: Rule) -> Rule:
        """Register how the operator takes part in the compiled steps of a loop: what it computes on rows.

        The rule is called with the rows of the step (`lodcore.graph.loops.lowered.Lowered`) and the arguments by name;
        rows and outer objects are opaque. It returns the rows of the result, made by the methods of the first argument.

        Elementwise operators need no rule if they use only NumPy's ufuncs, `np.where`, and sums and means along rows.
        An operator without a rule, or whose function does not work on rows that are traced, is called in each step, at
        some 10 microseconds a call, if it has a gradient and its result a row for each row of its operands, and if no
        more than half of the cell's operators are such.
        """
        self.in_steps = rule
        return rule

    def prepared_rule(self, rule: Callable[..., Any]) -> VJPRule:
        """Return a vjp rule with the names of the values that it reads."""
        names, known = self._names(rule), {*self.slots, "needs", "context"}
        for name in [name for name in names if name not in known]:
            raise TypeError(
                f"define_vjp: {self.__name__}: {name}: is not a parameter, out, needs or context, and the function has "
                "no parameter saved, where it could save it"
            )
        return VJPRule(rule, names, self.tensors, self.elementwise)

    def _names(self, rule: Callable[..., Any]) -> tuple[str, ...]:
        """Return what a vjp rule names besides the cotangents."""
        code = rule.__code__
        return code.co_varnames[: code.co_argcount][1 if self.results is None else self.results :]

    # -- calling -------------------------------------------------------------------------------------------------------

    @property
    def vjp_rule(self) -> Callable[..., Any]:
        """The vjp rule; raises GraphError if there is none."""
        if self.only_rule is None:
            raise GraphError(f"{self.__name__}: has no vjp rule")
        return self.only_rule.function

    def infer_rule(self, **arguments: Any) -> Any:
        """Call the shape rule as it was registered."""
        if self._infer is None:
            raise GraphError(
                f"{self.__name__}: has no Spec rule, which {self.__name__}.define_infer registers; it is needed where "
                "there are no values"
            )
        return self._infer(**arguments)

    def rule_of(self, arguments: Sequence[Any]) -> VJPRule | None:
        """Return the vjp rule of a call whose arguments are in the order of the parameters."""
        return self.only_rule

    @property
    def has_infer(self) -> bool:
        """Whether there is a shape rule."""
        return self._infer is not None or type(self).infer_arguments is not Op.infer_arguments

    @property
    def differentiable(self) -> bool:
        """Whether there is a gradient rule."""
        return self.only_rule is not None

    def infer(self, *args: Any, **kwargs: Any) -> Any:
        """Return the Spec of the result of a call with Specs.

        Parameters
        ----------
        *args, **kwargs
            As for the operator, with a Spec instead of each tensor.

        Returns
        -------
        Spec, or tuple of Spec
        """
        return self.infer_arguments(self.with_flags(self.bind(args, kwargs)))

    def with_flags(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Check that what is True or False in the arguments of a call is that; return them."""
        for name in self.flags:
            flag(f"{self.__name__}: {name}", arguments[name])
        return arguments

    def infer_arguments(self, arguments: dict[str, Any]) -> Any:
        """Return the Spec of the result of a call; arguments are given by name, with a Spec instead of each tensor."""
        found = self.describe(arguments)
        if found is not None:
            return found
        found = self.infer_rule(**arguments) if self._infer is None else self._infer(**arguments)
        if self.lod_rule.by_spec:
            return counted(found) if isinstance(found, Spec) else tuple([counted(x) for x in found])
        levels = self.lod_rule.num_levels(self.__name__, arguments)
        if isinstance(found, Spec):
            return spec_with_levels(found, levels)
        return tuple([spec_with_levels(x, levels) for x in found])

    def structure(self, arguments: dict[str, Any]) -> Any:
        """Return the sources of the levels of the result, as `LoDRule.structure` does; a tuple for several results."""
        if not self.lod_rule.by_spec:
            return self.lod_rule.structure(self.__name__, arguments)
        arguments = dict(arguments)
        if self.describe(arguments) is not None:
            return None
        found = self.infer_rule(**arguments)
        return sources_of(found) if isinstance(found, Spec) else tuple([sources_of(x) for x in found])

    def describe(self, arguments: dict[str, Any]) -> Any:
        """Replace arguments by their Specs for the shape rule; return the Spec of the result if it is known."""
        for name, role in self.roles.items():
            given = arguments[name]
            if type(given) is Spec:
                kind = given.kind
                if kind is object:
                    return UNKNOWN if self.results == 1 else (UNKNOWN,) * (self.results or 1)
                if kind in role.kinds:
                    continue
                if is_foreign(kind) and not role.receives(kind):
                    return foreign.inferred(self, arguments)
            elif type(given) is list and any([type(x) is Spec and is_foreign(x.kind) for x in given]):
                return foreign.inferred(self, arguments)
            elif role.place and type(given) in (int, float, str, list, tuple):
                raise of_another_kind(f"{self.__name__}: {name}", type(given), *role.place)
            elif role.entries is None and (
                given is None or (type(given) in (int, float) and name not in self._described)
            ):
                continue
            arguments[name] = self.described(name, role, given)
        return None

    def described(self, name: str, role: Role, given: Any) -> Any:
        """Return the Spec of an argument for the shape rule; check that its kind is accepted."""
        if role in LISTS:
            entries = entries_of(f"{self.__name__}: {name}", role, given)
            return [self.taken(f"{name}[{j}]", x) if isinstance(x, Spec) else x for j, x in enumerate(entries)]
        if isinstance(given, (Spec, LoD)):
            return self.taken(name, given if isinstance(given, Spec) else spec_of(given))
        if isinstance(given, (list, tuple)):
            return spec_of_list(f"{self.__name__}: {name}", given)
        if name in self._described and isinstance(given, (int, float, complex, str, bytes, np.generic)):
            return spec_of(np.asarray(given))
        return given

    def taken(self, name: str, spec: Spec) -> Spec:
        """Check that a kind of tensor is accepted; the name of an entry of a list ends with its number."""
        return self.roles[name.partition("[")[0]].spec(f"{self.__name__}: {name}", spec)

    # -- kinds of tensors from outside ---------------------------------------------------------------------------------

    def with_kinds(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call with the tensors that those of kinds from outside stand for; return the kind that is kept, or None."""
        return foreign.called(self, PLAIN, WITH_KIND, args, kwargs)

    # -- arguments and results -----------------------------------------------------------------------------------------

    def bind_slowly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call that gives `out`, or that no function with these parameters would take."""
        refuse_unknown(self.__name__, self, kwargs)
        arguments = {**self.defaults, **inspect.signature(self).bind(*args, **kwargs).arguments}
        if arguments.pop("out", None) is not None:
            raise GraphError(f"{self.__name__}: out: a recorded result cannot be written to an array")
        return {name: arguments[name] for name in self.parameters}

    def constant(self, name: str, given: Any) -> Any:
        """Convert a list given for a tensor as the operator itself would; return anything else unchanged."""
        return self.roles[name].constant(f"{self.__name__}: {name}", given)

    def finish(self, result: Any, args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Any:
        """Return plain rows with the LoD of the argument that the LoD rule determines."""
        named = {**self.defaults, **dict(zip(self.parameters, args, strict=False)), **(kwargs or {})}
        return finished(self.__name__, self.lod_rule, result, named)

    def with_lod(self, result: Any, source: Any) -> Any:
        """Return plain rows with the LoD of an argument."""
        return with_lod(self.__name__, result, source)


def _flag(where: str, given: Any) -> Any:
    """Check what is True or False; return it unchanged."""
    flag(where, given)
    return given


def _with_refusal(doc: str | None) -> str | None:
    """Add to a docstring the error of all roles: a SparseTensor is never converted silently."""
    if doc is None or "SparseTensor" in doc:
        return doc
    lines = doc.split("\n")
    words = [line.strip(" ") for line in lines]
    section = next((one for one in ("Raises", "Notes", "References", "Examples") if one in words), None)
    if section is None:
        return doc
    at = words.index(section)
    indent = lines[at].partition(section)[0]
    entry = [f"{indent}DTypeError", f"{indent}    If a tensor is a SparseTensor; its `to_dense()` makes an array."]
    if section == "Raises":
        end = words.index("", at) if "" in words[at:] else len(lines)
        lines[end:end] = entry  # the rarest error is the last one
    else:
        lines[at:at] = [f"{indent}Raises", f"{indent}------", *entry, ""]
    return "\n".join(lines)


#: The names of rules; a text that is one of them is not a description.
RULES = frozenset(("before", "counted", "deepest", "no_lod", "outer", "same", "same_as"))


def operator(
    function: None = None,
    /,
    *,
    lod_rule: LoDRule | str = same,
    differentiable: bool = True,
    results: int | None = 1,
    writes: str | None = None,
    on_arrays: Callable[..., Any] | None = None,
    rowwise: str | tuple[str, ...] = (),
    kind: type[Op] = Op,
    **roles: Role | type,
) -> Callable[[Any], Op]:
    """Make an operator from a function; see `docs/write-an-operator.md`.

    Parameters
    ----------
    function : None
        The function is decorated: `@operator(x=Nested)`, not `@operator`.
    lod_rule : LoDRule or str
    differentiable : bool
    results : int or None
    writes : str, optional
    on_arrays : callable, optional
    rowwise : str or tuple of str
        As in `Op`.
    kind : type
        The class of the operator.
    **roles : Role or type
        The role of each parameter that may be a tensor; a kind of tensor that the function receives as it is.

    Returns
    -------
    callable
        The decorator of the function.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.ops import Nested, operator
    >>> @operator(x=Nested)
    ... def doubled(x):
    ...     return x.values * 2
    >>> doubled([[1, 2], [3]])
    LoDTensor(2 sequences of lengths 1..2, int64: [[2, 4], [6]])
    """
    if function is not None:
        raise TypeError("operator: has no roles; write @operator(x=Nested), with the role of each tensor")
    if isinstance(lod_rule, str) and lod_rule.partition("(")[0].strip() in RULES:
        raise TypeError(
            f"operator: lod_rule: is the text {lod_rule!r}; the rule itself is needed, without quotation marks"
        )
    named = {name: Kind(role) if isinstance(role, type) else role for name, role in roles.items()}
    for wrong in [name for name, role in named.items() if not isinstance(role, Role)]:
        raise TypeError(f"operator: {wrong}: is {named[wrong]!r}; a Role is needed, such as Nested")
    rows = (rowwise,) if isinstance(rowwise, str) else rowwise

    def register(function: Any) -> Op:
        if not isinstance(function, FunctionType):
            raise TypeError(f"operator: is used on {described(function)}; a function that Python defines is needed")
        made = kind(function, named, lod_rule, differentiable, writes, results, on_arrays, rows)
        own = not str(function.__module__).startswith("lodcore.")  # which return what their LoD rules say
        if not own:
            made.flags = tuple([name for name, x in made.defaults.items() if type(x) is bool and name not in named])
        types = {name: role.types(made.defaults.get(name, name) is None) for name, role in named.items()}
        expected = [BOOLS if name in made.flags else types.get(name) for name in made.parameters]
        lods = made.lod_rule.same_object or (own and not made.lod_rule.by_spec)  # whether plain rows receive levels
        if lods or own or any(expected):
            takes = [named[name].take if name in named else _flag for name in made.parameters]
            made.look_at(expected, takes, LoDTensor, lods, lod_rule is same)
        if not own:
            OPS[made.__name__] = made
        return made

    return register


class KindOp(Op):
    """An operator that converts between a kind from outside and the kind that it stands for."""

    def with_kinds(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return None: the kinds are taken as they are."""

    def infer_arguments(self, arguments: dict[str, Any]) -> Any:
        """Return the Spec of the result."""
        return self.infer_rule(**arguments)


def _plain_values(x: Any, where: str) -> Any:
    return plain_of(where, x)


def _with_kind(x: Any, like: Any, where: str) -> Any:
    return of_kind(where, like, x)


def _made(function: Any, roles: dict[str, Role], spec: Any, vjp: Any) -> Op:
    """Make an operator between kinds."""
    op = KindOp(function, roles, "that of `x`")
    op.__name__ = function.__name__[1:]
    op.define_infer(spec)
    op.define_vjp(vjp)
    return op


#: What a tensor of a kind from outside stands for, and a tensor of the kind of another one.
PLAIN = _made(_plain_values, {"x": Anything}, lambda x, where: plain_spec(x), lambda d: d)
WITH_KIND = _made(
    _with_kind,
    {"x": Anything, "like": Anything},
    lambda x, like, where: x._replace(kind=like.kind),
    lambda d: (d, None),
)
