"""Programs: Blocks that are recorded once and run on fed values."""

from __future__ import annotations

import itertools
from typing import Any

from lodcore.base.contexts import Opening
from lodcore.base.memory import flag
from lodcore.errors import GraphError
from lodcore.graph.block import NamedBlock, Operator, computed
from lodcore.graph.gradients.learned import ParameterUpdate, update_value
from lodcore.graph.gradients.rule_calls import computing
from lodcore.graph.loops.array_versions import new_variable
from lodcore.graph.names import Unnamed
from lodcore.graph.variable import Variable, spec_text
from lodcore.operators.registry import Op
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["Program"]

TAKEN = "there is such a Variable in the Program already"


class Program(Opening, NamedBlock):
    """A Block that an Executor runs.

    Inside `with`, all operators are recorded here, whatever their inputs; afterwards, those on its Variables.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore.graph import Executor, Program, data, parameter
    >>> with Program() as program:
    ...     x = data("x", (None, 2), "float64", num_levels=1)
    ...     w = parameter(np.array([[1.0], [2.0]]), "w")
    ...     y = lodcore.matmul(x, w)
    >>> print(program)
    program:
        data x: float64 (., 2), 1 level
        parameter w: float64 (2, 1)
        matmul = matmul(x=x, y=w)  # float64 (., 1), 1 level
    >>> rows = lodcore.LoDTensor.from_lengths(np.ones((3, 2)), [1, 2])
    >>> Executor().run(program, feed={"x": rows}, fetch=[y])[0].values.ravel()
    array([3., 3., 3.])
    """

    __module__ = "lodcore"

    takes_names = True

    def __init__(self) -> None:
        super().__init__()
        self.reference = lambda: self  # its Variables keep the Program alive
        self.prepared: dict[Any, Any] = {}  # what Executors have prepared, by the results
        self._outside: dict[Variable, str] = {}  # the names of Variables that were not made here

    def check_open(self) -> None:
        """Raise if nothing can be recorded here."""
        if self.opened is not None:
            raise GraphError("Program: is open already")
        if self.closed:
            raise GraphError("Program: was left by an error while it was recorded; make another")

    @property
    def recording(self) -> bool:
        """Whether operators are recorded here, whatever their inputs."""
        return self.opened is not None

    # -- names ---------------------------------------------------------------------------------------------------------

    def add(self, variable: Variable, name: str | None, stem: str) -> None:
        """Set the name of a Variable; raise GraphError if the requested name is taken."""
        if name is None:
            super().add(variable, None, stem)
        else:
            self._claim(name, variable, f"{stem}: {name}: {TAKEN}")
            variable.name = name

    def check_name(self, where: str, name: Any) -> None:
        """Raise if a result cannot have a name, before anything is recorded."""
        super().check_name(where, name)
        if name in self.given_names:
            raise GraphError(f"{where}: {name}: {TAKEN}: {self.described(self.names[name])}")

    def _claim(self, name: str, variable: Variable, says: str) -> None:
        """Reserve a requested name; another Variable that has it by chance gets another one.

        Raises
        ------
        GraphError
            If the other Variable was given the name, too.
        """
        if name in self.given_names:
            raise GraphError(f"{says}: {self.described(self.names[name])}")
        before = self.names.get(name)
        self.given_names.add(name)
        self.names[name] = variable
        if before in self._outside:
            self._name_outside(before)
        elif before is not None:
            super().add(before, None, name)

    def described(self, variable: Variable) -> str:
        """Describe a Variable in text: its role in this Program, its name and its Spec."""
        kind = "data" if variable in set(self.feeds) else "parameter" if self.has_parameter(variable) else "result"
        return f"{kind} {self.name_of(variable)}: {spec_text(variable.spec)}"

    def name_of(self, variable: Variable) -> str:
        """Return the name of a Variable in this Program.

        Parameters
        ----------
        variable : Variable
            A Variable made outside of the Program without a name has one of its own here.

        Returns
        -------
        str
        """
        return self._outside.get(variable) or str(variable.name)

    def adopt(self, given: Variable) -> str:
        """Make a Variable that was made outside belong to the Program, under a name of its own; return that name."""
        home = given.home and given.home()
        if home is self or given in self._outside or not (home is None or self.shares(given)):
            return self.name_of(given)
        named = not isinstance(given.name, Unnamed) and (home is None or given.name in home.given_names)
        if named:
            says = f"Variable {given.name}: {spec_text(given.spec)}: the Program has another Variable of this name"
            self._claim(given.name, given, says)
            self._outside[given] = given.name
        else:
            self._name_outside(given)
        return self.name_of(given)

    def adopt_shared(self, given: Variable, name: str) -> None:
        """Make a Variable of another Program belong to this one, too, under a name that is free."""
        self.names[name], self._outside[given] = given, name

    def _name_outside(self, given: Variable) -> None:
        """Give an unnamed Variable from outside a name in this Program: `parameter_0`, `parameter_1`, ..."""
        known = given.name if isinstance(given.name, Unnamed) else Unnamed("parameter")
        stem = known.stem or str(known)
        name = next(name for j in itertools.count() if (name := f"{stem}_{j}") not in self.names)
        if known.stem is not None and known not in self.names:  # another Program has named it
            name = str(known)
        elif known is given.name and known.stem is None:
            given.name = Unnamed(name)
            given.name.stem = stem
        self.names[name], self._outside[given] = given, name

    # -- recording -----------------------------------------------------------------------------------------------------

    def shares(self, given: Any) -> bool:
        """Return whether something of another Block may be used here, too: a parameter of another Program."""
        if not isinstance(given, Variable):
            return False
        return given in self._outside or (given.block is not None and given in given.block.declared)

    def variable(self, given: Any, key: int | None = None) -> Variable:
        """Return the Variable that represents an object here."""
        met = isinstance(given, Variable) and given in self._outside
        return given if met else super().variable(given, key)

    def append(self, op: Op, arguments: dict[str, Any]) -> Operator:
        """Append an operator; compute it, too, if all its arguments have values."""
        given = [x for name in op.roles for x in _each(arguments[name]) if isinstance(x, Variable)]
        if any([x.held is None for x in given]):
            return super().append(op, arguments)
        made = self._computed(op, arguments)
        self.ops.append(made)
        return made

    def _computed(self, op: Op, arguments: dict[str, Any]) -> Operator:
        values = {name: _value(x) for name, x in arguments.items()}
        result = computing(computed, op, values)
        single = type(result) is not tuple
        outputs = [new_variable(None, one, None, self) for one in ([result] if single else result)]
        for out in outputs:
            self.add(out, None, op.__name__)
        return Operator(op, arguments, outputs, single)

    def update(self, variable: Variable, value: Any, fresh: bool = False) -> None:
        """Record the update of a parameter; `fresh` if nothing else refers to the value."""
        parameter = self.variable(variable)
        where = f"update: {self.name_of(parameter)}"
        if not self.has_parameter(parameter):
            raise GraphError(
                f"{where}: is not a parameter but {self.described(parameter)}; only parameters are updated"
            )
        value = update_value(f"{where}: value", parameter, value)
        value = self.known(value) if isinstance(value, Variable) else value
        self.ops.append(ParameterUpdate(parameter, value, fresh))

    def capture(self, given: Any) -> Variable:
        """Return the Variable that represents an outer object here."""
        captured = super().capture(given)
        if captured is given:
            self.adopt(given)
        return captured

    def var(self, name: str) -> Variable:
        """Return a Variable of this Program by name.

        Raises
        ------
        KeyError
            If the Program does not have the Variable.
        """
        found = self.names.get(name)
        if found is None or (found.home is not self.reference and found not in self._outside):
            raise KeyError(f"Program.var: name: is {name!r}; the Program has no Variable of this name")
        return found

    def has(self, variable: Variable) -> bool:
        """Return whether a Variable belongs to this Program: made in it, or met in it."""
        return variable.home is self.reference or variable in self._outside

    def variables(self) -> list[Variable]:
        """Return the Variables of this Program, in the order in which they were named."""
        return [v for v in self.names.values() if self.has(v)]

    @property
    def parameters(self) -> list[Variable]:
        """The Variables of this Program that hold values."""
        computed = {out for op in self.ops for out in op.outputs}
        return [v for v in self.variables() if v.has_value and v not in computed and v.spec.kind is not TensorArray]

    def has_parameter(self, variable: Variable) -> bool:
        """Return whether a Variable of this Program is a parameter: it has a value that nothing computes."""
        made = variable in self.declared or variable in self._outside
        return made and variable.has_value and variable.spec.kind is not TensorArray

    def __str__(self) -> str:
        from lodcore.graph.printing import program_text

        return program_text(self)

    def __repr__(self) -> str:
        return f"<Program of {len(self.ops)} operators>"

    def clone(self, for_test: bool = False) -> Program:
        """Return another Program with the same operators, on the same Variables.

        Parameters
        ----------
        for_test : bool, default False
            Whether to leave out the updates of parameters, what only these need (the gradients, the step of an
            optimizer), and dropout: the Program that uses what this one learns, when both run with one Scope.

        Returns
        -------
        Program

        Examples
        --------
        >>> from lodcore.graph import Executor, Program, data, parameter
        >>> with Program() as program:
        ...     w = parameter(1.0, "w")
        ...     y = data("x", (), "float64") * w
        ...     w.update(w + 1.0)
        >>> test = program.clone(for_test=True)
        >>> executor = Executor()
        >>> for _ in range(3):
        ...     _ = executor.run(program, feed={"x": 2.0})
        >>> float(executor.run(test, feed={"x": 2.0}, fetch=[y])[0])
        8.0
        """
        from lodcore.graph.cloning import operators_for_test

        for_test = flag("Program.clone: for_test", for_test)
        if self.closed or self.opened is not None:
            raise GraphError("Program.clone: is " + ("not complete" if self.closed else "open; leave it first"))
        made = Program()
        made.ops = operators_for_test(self.ops) if for_test else list(self.ops)
        made.feeds, made.casts, made.declared = list(self.feeds), set(self.casts), set(self.declared)
        made.given_names, made.counts = set(self.given_names), dict(self.counts)
        made.captures, made.versions = dict(self.captures), dict(self.versions)
        kept = {*made.feeds, *(x for op in made.ops for x in [*op.inputs, *op.outputs])}
        made.names = {name: v for name, v in self.names.items() if v in kept or not for_test}
        made._outside = {v: self.name_of(v) for v in made.names.values() if self.has(v)}
        return made

    def __copy__(self) -> Program:
        return self.clone()

    def __reduce__(self) -> str:
        raise TypeError("Program: cannot be pickled; lodcore.save keeps it, without pickles, and clone() copies it")

    def to_dot(self) -> str:
        """Return the Program as Graphviz source."""
        from lodcore.graph.printing import program_dot

        return program_dot(self)


def _each(x: Any) -> list[Any]:
    return x if type(x) is list else [x]


def _value(x: Any) -> Any:
    if type(x) is list:
        return [_value(one) for one in x]
    return x.held if isinstance(x, Variable) else x  # its own value, even if it represents another one after a loop
