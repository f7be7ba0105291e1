"""Programs: Blocks that are recorded once and run on fed values."""

from __future__ import annotations

from typing import Any

from lodcore.base.dispatch import Opening
from lodcore.errors import GraphError
from lodcore.graph.arrays import new_variable
from lodcore.graph.block import NamedBlock, Operator, computed
from lodcore.graph.plan import computing
from lodcore.graph.variable import Variable
from lodcore.ops.registry import Op
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["Program"]


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

    takes_names = True

    def __init__(self) -> None:
        super().__init__()
        self.reference = lambda: self  # its Variables keep the Program alive
        self.plans: dict[Any, Any] = {}  # execution plans of Executors

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

    def add(self, variable: Variable, name: str | None, stem: str) -> None:
        """Set the name of a Variable; raise GraphError if the requested name is taken."""
        if name is not None and name in self.names:
            raise GraphError(f"{stem}: {name}: there is such a Variable in the Program already")
        super().add(variable, name, stem)

    def append(self, op: Op, arguments: dict[str, Any]) -> Operator:
        """Append an operator; compute it, too, if all its arguments have values."""
        given = [x for name in op.roles for x in _each(arguments[name]) if isinstance(x, Variable)]
        made = self._computed(op, arguments) if all(x.held is not None for x in given) else self.inferred(op, arguments)
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

    def capture(self, given: Any) -> Variable:
        """Return the Variable that represents an outer object here."""
        captured = super().capture(given)
        if captured is given and given.name not in self.names:
            self.names[given.name] = given
        return captured

    def var(self, name: str) -> Variable:
        """Return a Variable of this Program by name.

        Raises
        ------
        KeyError
            If the Program does not have the Variable.
        """
        found = self.names[name]
        if found.home not in (self.reference, None):
            raise KeyError(name)
        return found

    @property
    def parameters(self) -> list[Variable]:
        """The Variables of this Program that hold values."""
        computed = {out for op in self.ops for out in op.outputs}
        return [v for v in self.variables() if v.has_value and v not in computed and v.spec.kind is not TensorArray]

    def __str__(self) -> str:
        from lodcore.graph.text import program_text

        return program_text(self)

    def __repr__(self) -> str:
        return f"<Program of {len(self.ops)} operators>"

    def to_dot(self) -> str:
        """Return the Program as Graphviz source."""
        from lodcore.graph.text import program_dot

        return program_dot(self)


def _each(x: Any) -> list[Any]:
    return x if type(x) is list else [x]


def _value(x: Any) -> Any:
    if type(x) is list:
        return [_value(one) for one in x]
    return x.held if isinstance(x, Variable) else x  # its own value, even if it represents another one after a loop
