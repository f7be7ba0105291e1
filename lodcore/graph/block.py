"""Blocks: operators in the order of recording, and their execution."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol, recording, variable_of
from lodcore.errors import DTypeError, GraphError
from lodcore.graph.engine import Call, Layout, function_of
from lodcore.graph.loops.array_versions import ArrayVariable, new_variable
from lodcore.graph.names import checked_name
from lodcore.graph.recorder import Recorder
from lodcore.graph.variable import Variable, as_value, resolved, spec_text
from lodcore.operators.arguments import of_another_kind
from lodcore.operators.registry import Op
from lodcore.operators.roles import LISTS, spec_of
from lodcore.tensors.lod import LoD
from lodcore.tensors.nested import as_array, is_moment
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import ArrayVersion, TensorArray

__all__ = ["PYTHON_TYPES", "Block", "NamedBlock", "Operator", "inferred_specs"]

#: The usual types of arguments besides Variables.
PYTHON_TYPES = frozenset((int, float, str, bool))

#: The types of constant arguments, besides lists.
CONSTANTS = (int, float, complex, str, bytes, np.generic, TensorArray, LoD, Tensor)


class Operator:
    """One recorded call: an operator, its arguments, and the Variables of its results.

    Parameters
    ----------
    op : Op
    arguments : dict
        By name; Variables and constants for tensors, values for attributes.
    outputs : list of Variable
    single : bool
        Whether the result is one tensor, not a tuple.

    Attributes
    ----------
    inputs : list of Variable
        The Variables that the call reads.
    around : callable or None
        What calls the function of the operator, as `call_named` does, so that errors name who recorded it.
    caller : str or None
        The name of the function that recorded it, with which its errors begin instead of its own.
    words : dict or None
        What this function calls the arguments of the operator.
    """

    __module__ = "lodcore"

    __slots__ = ("arguments", "around", "caller", "inputs", "op", "outputs", "single", "words")

    def __init__(self, op: Op, arguments: dict[str, Any], outputs: list[Variable], single: bool) -> None:
        self.op = op
        self.arguments = arguments
        self.outputs = outputs
        self.single = single
        self.around: Callable[..., Any] | None = None
        self.caller: str | None = None
        self.words: dict[str, str] | None = None
        self.inputs: list[Variable] = []
        for name in op.roles:
            given = arguments[name]
            if isinstance(given, Variable):
                self.inputs.append(given)
            elif type(given) is list:
                self.inputs += [x for x in given if isinstance(x, Variable)]

    @property
    def name(self) -> str:
        """The name of the called operator."""
        return self.op.__name__

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes, and the constants given for tensors."""
        return {
            name: given
            for name, given in self.arguments.items()
            if not any(isinstance(x, Variable) for x in (given if isinstance(given, list) else [given]))
        }

    def call(self, layout: Layout, keep: bool) -> Call:
        """Return the Call that computes on a frame.

        Parameters
        ----------
        layout : Layout
            The layout of the frame.
        keep : bool
            Whether to store what operators save for their vjp rules.
        """
        saves = self.op.saves if keep else ()
        function = function_of(self.op, keep) if self.op.writes is None else self.op.__wrapped__  # type: ignore[attr-defined]
        return Call(
            self,
            function if self.around is None else functools.partial(self.around, function),
            None if saves else self.op.on_arrays,
            tuple(self.arguments),
            layout.arguments(self.arguments.values()),
            layout.slots(self.outputs),
            self.single,
            {name: layout.slot((self, name)) for name in saves} if saves else {},
            bool(self.op.keywords),
        )

    def __repr__(self) -> str:
        block = self.outputs[0].home() if self.outputs and self.outputs[0].home is not None else None
        results = ", ".join(out.name for out in self.outputs)
        arguments = ", ".join(f"{name}={text_of(x, block)}" for name, x in self.arguments.items())
        return f"{results} = {self.name}({arguments})"


def computed(op: Op, arguments: dict[str, Any]) -> Any:
    """Compute an operator on values by name."""
    function = function_of(op, False)
    return op.of_values(function, list(arguments.values()), None) if op.converts else function(**arguments)


def inferred_specs(op: Op, arguments: dict[str, Any]) -> Any:
    """Return the Spec, or the Specs, of the results of an operator whose arguments are Variables and constants."""
    specs = arguments.copy()
    for name in op.roles:
        given = arguments[name]
        if isinstance(given, Variable):
            specs[name] = given.spec
        elif type(given) not in PYTHON_TYPES:
            specs[name] = _spec(given)
    return op.infer_arguments(specs)


def text_of(x: Any, block: Any = None) -> str:
    """Return an argument as text: names of Variables in a Block, shapes of arrays."""
    if isinstance(x, Variable):
        return str(x.name) if block is None else block.name_of(x)
    if isinstance(x, list):
        return f"[{', '.join([text_of(one, block) for one in x])}]"
    if isinstance(x, np.ndarray) and x.size == 1:
        return repr(x.tolist())
    if isinstance(x, type) and issubclass(x, (np.generic, bool, int, float, complex)):
        return repr(np.dtype(x))
    return spec_text(spec_of(x)) if isinstance(x, (Tensor, TensorArray)) else repr(x)


def _flat(given: list[Any]) -> list[Any]:
    return [x for one in given for x in (one if isinstance(one, (list, tuple)) else [one])]


class Block:
    """Operators in the order in which they were recorded.

    Attributes
    ----------
    ops : list
        Operators, updates and breaks.
    captures : dict
        Captured outer objects by identity: the object, and the Variable that represents it here. Results of `met` have
        separate, negative keys.
    versions : dict
        For the Variable of each array that was written to, that of its last version.
    captured_arrays, made_arrays : list
        The TensorArrays that this Block holds while it records: outer ones, and those made here.
    closed : bool
        Whether recording has ended.
    """

    __module__ = "lodcore"

    takes_names = False  # whether `data` and `parameter` make Variables of this Block
    repeats = False  # whether recorded operators run more than once
    keeps_writes = False  # whether writes to outer arrays persist

    def __init__(self) -> None:
        self.reference: Callable[[], Block | None] = weakref.ref(self)
        self.ops: list[Any] = []
        self.captures: dict[int, tuple[Any, Variable]] = {}
        self.versions: dict[Variable, Variable] = {}
        self.captured_arrays: list[TensorArray] = []
        self.made_arrays: list[TensorArray] = []
        self.feeds: list[Variable] = []
        self.declared: set[Variable] = set()
        self.casts: set[Variable] = set()
        self.given_names: set[str] = set()
        self.closed = False

    @property
    def recording(self) -> bool:
        """Whether recording is in progress, so that numbers taken out of Variables would not have gradients."""
        return not self.closed

    def add(self, variable: Variable, name: str | None, stem: str) -> None:
        """Set the name of a Variable of this Block."""
        variable.name = name or stem

    def check_name(self, where: str, name: Any) -> None:
        """Raise if a result cannot have a name, before anything is recorded."""
        checked_name(where, name)

    def name_of(self, variable: Variable) -> str:
        """Return the name of a Variable in this Block."""
        return str(variable.name)

    def adopt(self, given: Variable) -> str:
        """Make a Variable without a Block belong to the Program being recorded, if any; return its name there."""
        return str(given.name)

    # -- recording -----------------------------------------------------------------------------------------------------

    def record(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Append the call of an operator, and return the Variables of its results."""
        if self.closed:
            given = [x for x in _flat([*args, *kwargs.values()]) if getattr(x, "block", None) is self]
            raise self.left(given[0] if given else op.__name__)
        wanted = kwargs.pop("name", None) if "name" in kwargs and "name" not in op.parameters else None
        if wanted is not None:
            self.check_name(str(op.__name__), wanted)
        arguments = op.with_flags(op.bind(args, kwargs))
        for name, given in arguments.items():
            if isinstance(given, Variable) and given.home is self.reference and name in op.roles:  # the usual case
                arguments[name] = self.versions.get(given, given)
            elif type(given) not in PYTHON_TYPES and (
                name in op.roles or isinstance(given, Symbol) or is_moment(given)
            ):
                arguments[name] = self.argument(op, name, given)
        made = self.append(op, arguments)
        if wanted is not None:
            self.rename(made.outputs[0], wanted)
        if op.writes is not None:
            written = args[0] if args else kwargs[op.writes]
            self.write_back(written, made.outputs[0])
            return written
        return made.outputs[0] if made.single else tuple(made.outputs)

    def left(self, given: Any) -> GraphError:
        """Return the error for an object of this Block that is used after the Block was closed."""
        if isinstance(given, TensorArray):
            return GraphError(
                f"TensorArray {given.name}: was made in the body of a loop, anew in every step; make it before the "
                "loop to use it afterwards"
            )
        name = f"Variable {given.name}" if isinstance(given, Variable) else given
        return GraphError(f"{name}: was made in a Block that is closed; it cannot be used outside that Block")

    def loop_variable(self, given: Any) -> Any:
        """Return the loop variable that a Variable represents here or in an outer loop, or None."""
        return None

    def update(self, variable: Variable, value: Any) -> None:
        """Raise GraphError, since only a Program records updates of parameters."""
        raise GraphError(
            f"update: {variable.name}: is not a loop variable of the Block that is open; parameters are updated at the "
            "top level of a Program"
        )

    def rename(self, variable: Variable, name: str | None, stem: str = "") -> None:
        """Name the Variable of a result as requested, or after a stem."""
        variable.name = name or stem

    def bind(self, array: TensorArray, made: Variable) -> None:
        """Make a TensorArray that was created here represent the Variable that was recorded for it."""
        self.made_arrays.append(array)
        array.variable, array.block = made, self
        if made.name == "tensor_array_new" or made.name.startswith("tensor_array_new_"):
            self.rename(made, None, "array")

    def argument(self, op: Op, name: str, given: Any) -> Any:
        """Convert an argument to a Variable of this Block, a constant, a list of them, or an attribute."""
        role = op.roles.get(name)
        if role is None:
            given = resolved(given) if isinstance(given, Symbol) else given
            if isinstance(given, Symbol):
                raise GraphError(f"{op.__name__}: {name}: is a Variable; a value is needed there")
            return as_array(f"{op.__name__}: {name}", given)[()] if is_moment(given) else given
        if type(given) in PYTHON_TYPES:
            return given
        if given is None and role not in LISTS:
            optional = name in op.defaults and op.defaults[name] is None
            if not optional and type(None) not in role.expected:
                if role.place:
                    raise of_another_kind(f"{op.__name__}: {name}", type(None), *role.place)
                raise DTypeError(f"{op.__name__}: {name}: is None; a tensor or a number is needed")
            return None
        if role in LISTS and isinstance(given, (list, tuple)):
            if op.keeps_versions:
                return [self.met(x) if isinstance(x, Variable) else self.input(op, name, x) for x in given]
            return [self.input(op, name, x) for x in op.constant(name, given)]
        return self.input(op, name, given)

    def append(self, op: Op, arguments: dict[str, Any]) -> Operator:
        """Append an operator whose arguments are Variables of this Block and constants; its results have Specs only."""
        made = Operator(op, arguments, [], True)
        if made.inputs:
            found = inferred_specs(op, arguments)
        else:  # numbers alone, for which there is no shape rule
            with recording(None):
                found = spec_of(computed(op, arguments))
        made.single = isinstance(found, Spec)
        for spec in [found] if made.single else found:
            out = variable_of(ArrayVariable if spec.kind is TensorArray else Variable, None, None, spec, self)
            self.add(out, None, op.__name__)
            made.outputs.append(out)
        self.ops.append(made)
        return made

    def input(self, op: Op, name: str, given: Any) -> Any:
        """Convert an argument that may be a tensor to a Variable of this Block, or a constant."""
        if isinstance(given, Symbol):
            return self.known(resolved(given))
        if isinstance(given, (list, tuple)):
            given = op.constant(name, given)
        elif op.roles[name] in LISTS:  # a single entry, which the operator checks
            if isinstance(given, np.ndarray) or is_moment(given):
                given = as_value(f"{op.__name__}: {name}", given)
        elif isinstance(given, np.ndarray) or not isinstance(given, CONSTANTS):
            given = as_value(f"{op.__name__}: {name}", given)
        return self.known(given)

    def known(self, given: Any) -> Any:
        """Return the Variable that represents an object here (an array's last version), or a constant itself."""
        if isinstance(given, Variable):
            if given.home is self.reference:
                return self.versions.get(given, given)
        elif not self.stands_for(given):
            return given
        found = self.variable(given)
        return self.versions.get(found, found)

    def met(self, given: Variable) -> Variable:
        """Return the Variable that represents the value of another one at the point where a loop captured it."""
        return given if given.home is self.reference else self.variable(given, ~id(given))

    def stands_for(self, given: Any) -> bool:
        """Return whether a Variable represents an object that is not a Variable."""
        return isinstance(given, TensorArray)

    def variable(self, given: Any, key: int | None = None) -> Variable:
        """Return the Variable that represents an object here: itself, or one that captures an outer object."""
        key = id(given) if key is None else key
        known = self.captures.get(key)
        if known is not None:
            return known[1]
        if isinstance(given, (Variable, TensorArray)):
            block = given.block
            if block is self:
                return given if isinstance(given, Variable) else given.variable
            if block is not None and block.closed:
                raise block.left(given)
            if block is not None and not self.may_capture(block) and not self.shares(given):
                raise self.foreign(given, block)
        captured = self.capture(given)
        self.captures[key] = given, captured
        return captured

    def foreign(self, given: Any, block: Recorder) -> GraphError:
        """Return the error for an object of another Block that cannot be used here."""
        return GraphError(
            f"{'Variable' if isinstance(given, Variable) else 'TensorArray'} {given.name}: belongs to another "
            f"{type(block).__name__} than what is recorded here; two cannot be mixed (and gradients of gradients are "
            "not supported)"
        )

    def may_capture(self, block: Recorder) -> bool:
        """Return whether Variables of another Block may be used here."""
        return False

    def shares(self, given: Any) -> bool:
        """Return whether something of another Block may be used here, too, like parameters of several Programs."""
        return False

    def capture(self, given: Any) -> Variable:
        """Return the Variable that represents an outer object here."""
        if isinstance(given, Variable):  # it has no Block, and represents itself
            given.get()
            return given
        captured = new_variable(None, ArrayVersion.of(given), None, self)
        self.add(captured, given.wanted_name, "array")
        self.captured_arrays.append(given)
        given.variable, given.block = captured, self
        return captured

    def write_back(self, given: Any, version: Variable) -> Variable:
        """Make an array represent its next version from now on; return the Variable of its first version."""
        base = self.variable(resolved(given))
        self.versions[base] = version
        return base

    def write_variable(self, variable: Variable, result: Variable) -> None:
        """Make a Variable without a Block represent the result of a loop, where writes persist."""

    def output(self, x: Any) -> Any:
        """Return the object that a result represents: an array's last version, or a loop variable after its loop."""
        x = x.current() if isinstance(x, Symbol) else x
        if isinstance(x, TensorArray) and (x.block is not None or id(x) in self.captures):
            x = self.variable(x)
        return self.versions.get(x, x) if isinstance(x, Variable) else x


class NamedBlock(Block):
    """A Block whose Variables have unique names, which also differ from those of the outer Blocks.

    Parameters
    ----------
    parent : Block, optional
        The Block around it.
    """

    def __init__(self, parent: Block | None = None) -> None:
        super().__init__()
        self.names: dict[str, Variable] = parent.names if isinstance(parent, NamedBlock) else {}
        self.counts: dict[str, int] = parent.counts if isinstance(parent, NamedBlock) else {}

    def add(self, variable: Variable, name: str | None, stem: str) -> None:
        """Set the name of a Variable of this Block: the requested one, or a similar one that is free."""
        made = stem = name or stem
        while made in self.names:
            self.counts[stem] = self.counts.get(stem, 0) + 1
            made = f"{stem}_{self.counts[stem]}"
        self.names[made] = variable
        variable.name = made

    def rename(self, variable: Variable, name: str | None, stem: str = "") -> None:
        """Name the Variable of a result as requested, or after a stem, with a name that is free."""
        del self.names[variable.name]
        self.add(variable, name, stem)

    def name_result(self, variable: Variable, name: str) -> None:
        """Name the result of a loop after its loop variable, unless the name is taken here."""
        known = self.names.get(name)
        if known is None or known.home is not self.reference:
            self.names.pop(variable.name, None)
            self.names[name] = variable
            variable.name = name


def _spec(x: Any) -> Any:
    """Return an argument of a shape rule: the Spec of a tensor, anything else unchanged."""
    if isinstance(x, Variable):
        return x.spec
    if type(x) is list:
        return [_spec(one) for one in x]
    return spec_of(x) if isinstance(x, (Tensor, TensorArray)) else x
