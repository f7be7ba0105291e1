"""Blocks: operators in the order in which they were recorded, and how each of them runs."""

from __future__ import annotations

import operator as builtin
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lodcore.errors import DTypeError, GraphError
from lodcore.graph.arrays import new_variable
from lodcore.graph.variable import Variable, spec_text
from lodcore.registry import Op, Spec, spec_of
from lodcore.symbol import Symbol, open_block, recording
from lodcore.tensor import Tensor
from lodcore.tensor_array import TensorArray

__all__ = ["Block", "Frame", "Operator"]

#: What a run of a Block knows: the values of Variables, and what operators saved for their gradients.
Frame = dict[Any, Any]


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
    """

    __slots__ = ("_calls", "arguments", "op", "outputs", "single")

    def __init__(self, op: Op, arguments: dict[str, Any], outputs: list[Variable], single: bool) -> None:
        self.op = op
        self.arguments = arguments
        self.outputs = outputs
        self.single = single
        self._calls: dict[bool, Callable[[Frame], None]] = {}

    @property
    def inputs(self) -> list[Variable]:
        """The Variables that it reads."""
        found = []
        for name in self.op.roles:
            given = self.arguments[name]
            found += [x for x in (given if isinstance(given, list) else [given]) if isinstance(x, Variable)]
        return found

    @property
    def attrs(self) -> dict[str, Any]:
        """Its attributes, and constants that stand for tensors."""
        return {
            name: given
            for name, given in self.arguments.items()
            if not isinstance(given, Variable)
            and not (isinstance(given, list) and any(isinstance(x, Variable) for x in given))
        }

    def run(self, frame: Frame, keep: bool) -> None:
        """Compute the results from the values in a frame, and put them there.

        Parameters
        ----------
        frame : dict
        keep : bool
            Save what the gradient needs.
        """
        self.runner(keep)(frame)

    def runner(self, keep: bool) -> Callable[[Frame], None]:
        """Give the function that computes from the values in a frame, and puts the results there."""
        run = self._calls.get(keep)
        if run is None:
            run = self._calls[keep] = self._made_runner(keep)
        return run

    def _made_runner(self, keep: bool) -> Callable[[Frame], None]:
        call, outputs, single = self._compiled(keep), self.outputs, self.single
        saves = keep and self.op._saving is not None
        out = outputs[0]

        def store(frame: Frame) -> None:
            result = call(frame)
            if saves:
                result, frame[self] = result
            if single:
                frame[out] = result
            else:
                frame.update(zip(outputs, result, strict=True))

        def store_one(frame: Frame) -> None:
            frame[out] = call(frame)

        return store_one if single and not saves else store

    def _compiled(self, keep: bool) -> Callable[[Frame], Any]:
        """Make the function that fetches the arguments from a frame and computes."""
        op = self.op
        function = op._saving if keep and op._saving is not None else op.__wrapped__  # type: ignore[attr-defined]
        names = list(self.arguments)
        given = list(self.arguments.values())
        leading = 0
        while leading < len(given) and isinstance(given[leading], Variable) and names[leading] not in op.keywords:
            leading += 1
        rest = dict(zip(names[leading:], given[leading:], strict=True))
        if leading and not any(isinstance(x, Variable) for x in _flat(rest.values())):
            if rest:
                function = partial(function, **rest)
            fetch = builtin.itemgetter(*given[:leading])
            if leading == 1:
                return lambda frame: function(fetch(frame))
            return lambda frame: function(*fetch(frame))
        return lambda frame: function(**{name: value_in(frame, x) for name, x in self.arguments.items()})

    def __repr__(self) -> str:
        results = ", ".join(out.name for out in self.outputs)
        arguments = ", ".join(f"{name}={text_of(x)}" for name, x in self.arguments.items())
        return f"{results} = {self.op.__name__}({arguments})"


def text_of(x: Any) -> str:
    """Write an argument for people: Variables by their names, arrays by their shapes."""
    if isinstance(x, Variable):
        return x.name
    if isinstance(x, list):
        return f"[{', '.join(map(text_of, x))}]"
    return spec_text(spec_of(x)) if isinstance(x, (Tensor, TensorArray)) else repr(x)


def _flat(values: Any) -> list[Any]:
    return [x for value in values for x in (value if isinstance(value, list) else [value])]


def value_in(frame: Frame, x: Any) -> Any:
    """Give the value of a Variable in a frame, of each in a list; anything else is its own value."""
    if isinstance(x, Variable):
        return frame[x]
    if isinstance(x, list) and any(isinstance(one, Variable) for one in x):
        return [frame[one] if isinstance(one, Variable) else one for one in x]
    return x


class Block:
    """Operators in the order in which they were recorded.

    Operators on Variables with values compute at once as well; in a symbolic Block nothing has a value.

    Parameters
    ----------
    parent : Block, optional
        The Block around it.
    symbolic : bool
        Whether what comes from outside is captured without its value.
    """

    def __init__(self, parent: Block | None = None, symbolic: bool = False) -> None:
        self.parent = parent
        self.symbolic = symbolic
        self.ops: list[Any] = []
        self.frame: Frame = {}  # values, and what operators saved
        self.captures: dict[
            int, tuple[Any, Variable]
        ] = {}  # what comes from outside, by identity, and its Variable here
        self.versions: dict[Variable, Variable] = {}  # an array that was written, and its last version
        self.feeds: list[Variable] = []
        self.closed = False
        self._names: dict[str, Variable] | None = None
        self._counts: dict[str, int] = parent._counts if parent is not None else {}

    # -- names -----------------------------------------------------------------------------------------------------

    def add(self, variable: Variable, name: str) -> None:
        """Give a Variable that is given its own name a place.

        Raises
        ------
        GraphError
            If the name is taken.
        """
        if self._names is None:
            self._names = {}
        if variable._name is None:
            variable._name = self._fresh(name)
        if variable.name in self._names:
            raise GraphError(f"{variable.name}: there is such a Variable in the Block already")
        self._names[variable.name] = variable

    def name_of(self, variable: Variable) -> str:
        """Make a name for a Variable of this Block that has none, after the operator that computes it."""
        for op in self.ops:
            if any(out is variable for out in op.outputs):
                return self._fresh(op.op.__name__)
        return self._fresh("variable")

    def _fresh(self, stem: str) -> str:
        while True:
            count = self._counts[stem] = self._counts.get(stem, -1) + 1
            name = f"{stem}_{count}" if count or stem == "variable" else stem
            if self._names is None or name not in self._names:
                return name

    def var(self, name: str) -> Variable:
        """Find a Variable of this Block by its name.

        Raises
        ------
        KeyError
            If there is none.
        """
        for variable in self.variables():
            if variable.name == name:
                return variable
        raise KeyError(name)

    def variables(self) -> list[Variable]:
        """List the Variables of this Block, in the order in which they are first mentioned."""
        found = dict.fromkeys((self._names or {}).values())
        for op in self.ops:
            found |= dict.fromkeys([*op.inputs, *op.outputs])
        return list(found)

    # -- recording -------------------------------------------------------------------------------------------------

    def record(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Append the call of an operator, and give the Variables of its results.

        With values for all its inputs it computes as well, unless the Block is symbolic.
        """
        if self.closed:
            raise GraphError(f"{op.__name__}: its Block is closed; a Variable of a body has no meaning outside")
        arguments = op.bind(args, kwargs)
        valued = not self.symbolic
        roles = op.roles
        for name in arguments:
            given = arguments[name]
            if name not in roles:
                if isinstance(given, Symbol):
                    raise GraphError(f"{op.__name__}: {name}: is a Variable; a value is needed there")
            elif roles[name] == "Batches" and isinstance(given, (list, tuple)):
                inputs = [self.input(op, name, x) for x in op.constant(name, given)]
                arguments[name] = inputs
                valued = valued and all(not isinstance(x, Variable) or x._value is not None for x in inputs)
            else:
                made = arguments[name] = self.input(op, name, op.constant(name, given))
                valued = valued and (not isinstance(made, Variable) or made._value is not None)
        made = self._computed(op, arguments) if valued else self._inferred(op, arguments)
        self.ops.append(made)
        if op.writes is not None:
            written = args[0] if args else kwargs[op.writes]
            self.versions[self.variable(written)] = made.outputs[0]
            return written
        return made.outputs[0] if made.single else tuple(made.outputs)

    def _computed(self, op: Op, arguments: dict[str, Any]) -> Operator:
        """Compute, and make the operator whose outputs have values."""
        values = {name: _value(x) for name, x in arguments.items()}
        function = op._saving or op.__wrapped__  # type: ignore[attr-defined]
        if open_block() is None:
            result = function(**values)
        else:
            with recording(None):
                result = function(**values)
        hidden = None
        if op._saving is not None:
            result, hidden = result
        single = type(result) is not tuple
        outputs = [new_variable(None, one, None, self) for one in ([result] if single else result)]
        made = Operator(op, arguments, outputs, single)
        self.frame.update((out, out._value) for out in outputs)
        if hidden is not None:
            self.frame[made] = hidden
        return made

    def _inferred(self, op: Op, arguments: dict[str, Any]) -> Operator:
        """Make the operator whose outputs have Specs only."""
        specs = {
            name: ([_spec(one) for one in x] if isinstance(x, list) else _spec(x)) if name in op.roles else x
            for name, x in arguments.items()
        }
        found = op.infer_arguments(specs)
        single = isinstance(found, Spec)
        outputs = [new_variable(None, None, spec, self) for spec in ([found] if single else found)]
        return Operator(op, arguments, outputs, single)

    def input(self, op: Op, name: str, given: Any) -> Any:
        """Turn an argument that may be a tensor into a Variable of this Block, or a constant."""
        if isinstance(given, Symbol):
            given = given.current()  # type: ignore[attr-defined]
        if isinstance(given, Variable) or type(given) is TensorArray or (self.symbolic and isinstance(given, Tensor)):
            found = self.variable(given)
        elif isinstance(given, np.ndarray) and given.dtype.hasobject:
            raise DTypeError(f"{op.__name__}: {name}: has dtype {given.dtype}; Python objects have no fixed size")
        else:
            return given
        return self.versions.get(found, found)

    def variable(self, given: Any) -> Variable:
        """Give the Variable that stands for something here: itself, the last version of an array, or a captured one."""
        known = self.captures.get(id(given))
        if known is not None:
            return known[1]
        if isinstance(given, Variable):
            if given.block is self:
                return given
            if given.block is not None and given.block.closed:
                raise GraphError(
                    f"Variable {given.name}: was made in a Block that is closed; it has no meaning outside"
                )
            if not self.symbolic:
                if given.block is not None:
                    raise GraphError(f"Variable {given.name}: belongs to another Block")
                if given._value is not None:
                    self.frame[given] = given._value
                return given
        return self.capture(given)

    def capture(self, given: Any) -> Variable:
        """Make the Variable that stands here for something from outside."""
        if isinstance(given, Variable):
            captured = new_variable(given._name, None, in_body(given.spec), self)
        elif type(given) is TensorArray and not self.symbolic:
            captured = new_variable(None, given._snapshot(), None, self)
            self.frame[captured] = captured._value
        else:
            captured = new_variable(None, None, in_body(spec_of(given)), self)
        if type(given) is TensorArray and not self.symbolic:
            given._block = self
        self.captures[id(given)] = (given, captured)
        return captured

    def outer(self, given: Any) -> Any:
        """Give the Variable of this Block for a Variable or tensor that an update or a break reads."""
        if isinstance(given, Symbol):
            given = given.current()  # type: ignore[attr-defined]
        found = self.variable(given) if isinstance(given, (Variable, TensorArray)) else given
        return self.versions.get(found, found) if isinstance(found, Variable) else found

    def output(self, x: Any) -> Any:
        """Give what a result of a recorded function stands for: the last version of an array, the end of a loop."""
        if isinstance(x, Symbol):
            x = x.current()  # type: ignore[attr-defined]
        if type(x) is TensorArray and id(x) in self.captures:
            x = self.captures[id(x)][1]
        return self.versions.get(x, x) if isinstance(x, Variable) else x

    def close(self) -> None:
        """Record no more; arrays that were given become what was written to them."""
        self.closed = True
        for given, captured in self.captures.values():
            if type(given) is TensorArray and given._block is self:
                given._block = None
                last = self.versions.get(captured)
                if last is not None and last._value is not None:
                    given._take_over(last._value)


def in_body(spec: Spec) -> Spec:
    """Forget the number of rows: in the body of a loop it may differ from step to step."""
    return spec._replace(shape=(None, *spec.shape[1:])) if spec.shape and spec.kind is not TensorArray else spec


def _value(x: Any) -> Any:
    if isinstance(x, Variable):
        return x._value
    if type(x) is list:
        return [one._value if isinstance(one, Variable) else one for one in x]
    return x


def _spec(x: Any) -> Any:
    """Describe an argument of a shape rule: tensors by their Spec, anything else by itself."""
    if isinstance(x, Variable):
        return x.spec
    return spec_of(x) if isinstance(x, (Tensor, TensorArray)) else x
