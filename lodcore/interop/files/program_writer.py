"""Programs as plain data: their Variables by name, and their operators in order, with the bodies of loops and branches.

A Block is written as a dict of

- "variables": by name, each with its Spec and what it is here: "data", "parameter", "array", or in a body "carried" or
  "captured"; results of operators are named where they are made;
- "ops": in order; an operator is `{"op": name, "in": arguments, "out": results}`. Variables among the arguments are
  `{"var": name}`, everything else is as in `program_values`. What is not an operator has a form of its own: "update",
  "next", "break_if", "backward", "gradient";
- "versions": the last version of each array that was written to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lodcore.errors import DTypeError, GraphError
from lodcore.graph.block import Block, Operator
from lodcore.graph.gradients.gradient_operators import GradientOperator, Seed
from lodcore.graph.gradients.learned import ParameterUpdate
from lodcore.graph.loops.body import Body, Break, LoopVariable, Update
from lodcore.graph.loops.branches import Branches
from lodcore.graph.loops.while_loop import WhileLoop
from lodcore.graph.program import Program
from lodcore.graph.variable import Variable
from lodcore.interop.files.generators import is_generator
from lodcore.interop.files.program_operators import name_of
from lodcore.interop.files.program_values import ValueWriter, text_of_spec
from lodcore.nn.cell_steps import CellSteps
from lodcore.nn.optimizers import Optimizer
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["VERSION", "written"]

VERSION = 1

Node = Callable[[Any, tuple[str, ...]], Any]


def written(where: str, packed: Any, given: Any, path: tuple[str, ...], node: Node) -> Any:
    """Return a Program, a Generator or an optimizer as JSON; None for anything else.

    Parameters
    ----------
    where : str
        The name of the function, for messages.
    packed : Packed
    given : object
    path : tuple of str
        Of the object in its tree.
    node : callable
        Writes a tree at a path.
    """
    if isinstance(given, Program):
        return ProgramWriter(where, packed, given, path, node).written()
    values = ValueWriter(where, packed, node)
    if is_generator(given):
        return values.generator(given, path)
    return values.optimizer(given, path) if isinstance(given, Optimizer) else None


class BlockWriter:
    """A writer of the operators of a Block.

    Parameters
    ----------
    program : ProgramWriter
    block : Block
    path : tuple of str
        Where the Block stands, for messages and for the names of arrays.
    """

    def __init__(self, program: ProgramWriter, block: Block, path: tuple[str, ...]) -> None:
        self.program, self.block, self.path = program, block, path
        self.where = ": ".join([program.base, *path])
        self.keys: dict[Variable, str] = {}
        self.places: dict[int, int] = {}  # of each operator its number in the Block
        self._taken: set[str] = set()
        self.variables: dict[str, dict[str, Any]] = {}

    def key(self, v: Variable) -> str:
        """Return the name of a Variable of the Block in the file, a new one if it has none."""
        if v not in self.keys:
            name = made = self.block.name_of(v)
            count = 1
            while made in self._taken or not self.names(made, v):
                count += 1
                made = f"{name}#{count}"
            self.keys[v] = made
            self._taken.add(made)
        return self.keys[v]

    def names(self, name: str, v: Variable) -> bool:
        """Return whether a name may be that of a Variable in the file."""
        return True

    def known(self, v: Variable) -> str:
        """Return the name of a Variable that was declared, or made by an earlier operator."""
        if v not in self.keys:
            raise GraphError(
                f"{self.where}: reads Variable {v.name}, which nothing before it makes; it cannot be saved"
            )
        return self.keys[v]

    def declare(self, v: Variable, what: str, **more: Any) -> str:
        """Add a Variable that no operator makes."""
        key = self.key(v)
        self.variables[key] = {"is": what, **self.spec(key, v), **more}
        return key

    def spec(self, key: str, v: Variable) -> dict[str, Any]:
        """Return the Spec of a Variable, and its name if that is another one in the file."""
        name = self.block.name_of(v)
        named = {} if name == key else {"name": name}
        spec: Spec = v.spec
        return {"spec": text_of_spec(f"{self.where}: {key}", spec), **named}

    def argument(self, x: Any, path: tuple[str, ...]) -> Any:
        """Return an argument: a Variable by name, a list of these, or a value."""
        if isinstance(x, Variable):
            return {"var": self.known(x)}
        if type(x) is list:
            return {"list": [self.argument(one, (*path, str(j))) for j, one in enumerate(x)]}
        if isinstance(x, WhileLoop):
            return {"loop": self._loop(x, path)}
        if isinstance(x, Branches):
            return {"branches": self._branches(x, path)}
        if isinstance(x, CellSteps):
            return {"cell": self._cell(x, path)}
        return self.program.values.write(x, path)

    # -- operators -----------------------------------------------------------------------------------------------------

    def ops(self) -> list[Any]:
        """Return the operators."""
        return [self._op(op, number) for number, op in enumerate(self.block.ops)]

    def _op(self, op: Any, number: int) -> dict[str, Any]:
        path = (*self.path, f"{op.name}_{number}")
        if isinstance(op, Operator):
            return self._operator(op, path)
        if isinstance(op, ParameterUpdate):
            made = {"update": self.known(op.variable), "value": self.argument(op.value, (*path, "value"))}
            return {**made, "fresh": True} if op.fresh else made
        if isinstance(op, Update):
            made = {"next": self.known(op.variable), "value": self.argument(op.value, (*path, "value"))}
            return {**made, "written": True} if op.written else made
        if isinstance(op, Break):
            return {"break_if": self.argument(op.condition, (*path, "condition"))}
        if isinstance(op, Seed):
            pairs = [[self.known(x), self._result(d)] for x, d in op.gradient_of.items()]
            return {
                "backward": self.known(op.loss),
                "gradients": pairs,
                "apart": [self.known(x) for x in op.inputs[1:]],
            }
        if isinstance(op, GradientOperator):
            return {"gradient": self._place(op.forward), "of": self._place(op.seed)}
        raise DTypeError(f"{': '.join([self.program.base, *path])}: is {type(op).__name__}, which cannot be saved")

    def _place(self, op: Any) -> int:
        """Return the number of an operator in the Block."""
        if len(self.places) != len(self.block.ops):
            self.places = {id(one): number for number, one in enumerate(self.block.ops)}
        found = self.places.get(id(op))
        if found is None:
            raise GraphError(f"{self.where}: the gradient of {op.name}, which is not there; it cannot be saved")
        return found

    def _operator(self, op: Operator, path: tuple[str, ...]) -> dict[str, Any]:
        made = {
            "op": name_of(": ".join([self.program.base, *path]), op.op),
            "in": {name: self.argument(x, (*path, name)) for name, x in op.arguments.items()},
            "out": [self._result(v) for v in op.outputs],
        }
        more = {"tuple": None if op.single else True, "caller": op.caller, "words": op.words}
        return {**made, **{name: x for name, x in more.items() if x}}

    def _result(self, v: Variable) -> dict[str, Any]:
        key = self.key(v)
        return {"var": key, **self.spec(key, v)}

    def versions(self) -> list[list[str]]:
        """Return the last version of each array that was written to."""
        pairs = self.block.versions.items()
        return [[self.keys[v], self.keys[last]] for v, last in pairs if v in self.keys and last in self.keys]

    # -- bodies --------------------------------------------------------------------------------------------------------

    def written(self) -> dict[str, Any]:
        """Return the Block, whose Variables that no operator makes are declared."""
        ops, versions = self.ops(), self.versions()
        made: dict[str, Any] = {"variables": self.variables, "ops": ops}
        return {**made, "versions": versions} if versions else made

    def _loop(self, loop: WhileLoop, path: tuple[str, ...]) -> dict[str, Any]:
        assert loop.steps is not None
        body = BlockWriter(self.program, loop.body, path)
        for v in loop.steps.carried:
            body.declare(v, "carried", **_counter(v))
        for v in loop.steps.captured:
            body.declare(v, "captured")
        options: dict[str, Any] = {
            "max_steps": loop.max_steps,
            "recompute": bool(loop.recompute),
            "keeps_shapes": loop.keeps_shapes,
        }
        if loop.body.repetition != Body.repetition:
            options["repetition"] = loop.body.repetition
        return {**options, **body.written()}

    def _branches(self, branches: Branches, path: tuple[str, ...]) -> dict[str, Any]:
        each = []
        for branch in branches.each:
            body = BlockWriter(self.program, branch.body, (*path, branch.name))
            for v, place in branch.places.items():
                body.declare(v, "captured", input=place)
            made = body.written()
            each.append({"name": branch.name, **made, "results": [body.known(v) for v in branch.results]})
        return {"decides": bool(branches.decides), "each": each}

    def _cell(self, steps: CellSteps, path: tuple[str, ...]) -> dict[str, Any]:
        """Return the operators of a cell, which is compiled anew where it is loaded."""
        block = Body(None)
        block.ops = list(steps.ops)
        body = BlockWriter(self.program, block, path)
        for what, variables in (("input", steps.inputs), ("state", steps.before), ("captured", steps.outer)):
            for v in variables:
                body.declare(v, what)
        made = body.written()
        ends = {
            name: [body.argument(v, path) for v in each]
            for name, each in (("outputs", steps.outputs), ("next", steps.behind))
        }
        return {"level": int(steps.level), "is_reverse": bool(steps.is_reverse), **made, **ends}


def _counter(v: Variable) -> dict[str, Any]:
    """Return how a loop variable advances."""
    if not isinstance(v, LoopVariable):
        return {}
    counter = v.counter
    made = {"advance": counter.advance, "is_one": counter.is_one, "number": counter.number}
    return {"counter": {name: x if x is None or isinstance(x, bool) else int(x) for name, x in made.items()}}


class ProgramWriter(BlockWriter):
    """A writer of a Program, with the values of its parameters."""

    def __init__(self, where: str, packed: Any, program: Program, path: tuple[str, ...], node: Node) -> None:
        self.program_given, self._packed = program, packed
        self.values = ValueWriter(where, packed, node)
        self._node = node
        self.base = where
        super().__init__(self, program, path)

    def written(self) -> dict[str, Any]:
        """Return the Program as JSON."""
        program, where = self.program_given, self.where
        if program.closed or program.opened is not None:
            raise GraphError(f"{where}: Program: is {'not complete' if program.closed else 'open; leave it first'}")
        number, first = self._packed.number_of("program", program)
        if not first:
            return {"program": number}
        made = {out for op in program.ops for out in op.outputs}
        for v in program.feeds:
            if not self._shared(v, "data", number):
                self.declare(v, "data", **({"cast": True} if v in program.casts else {}))
        known = set(program.feeds)
        for v in program.variables():
            if v.held is not None and v not in made and v not in known and not self._shared(v, "parameter", number):
                self._value(v)
        self._packed.programs.append((number, self.keys))
        return {"program": {"version": VERSION, **super().written()}}

    def names(self, name: str, v: Variable) -> bool:
        """Return whether a name may be that of a Variable: not if a fetch by name finds another one."""
        found = self.program_given.names.get(name)
        return found is None or found is v or not self.program_given.has(found)

    def _value(self, v: Variable) -> None:
        """Declare a Variable with its value: that of the Scope, if one is given."""
        key, scope = self.key(v), self._packed.scope
        if isinstance(v.held, TensorArray):
            self.declare(v, "array", value=self.values.write(v.held, (*self.path, key)))
            return
        value = v.held if scope is None else scope.get(v)
        self.declare(v, "parameter", value=self._node(value, (*self.path, key)))

    def _shared(self, v: Variable, what: str, number: int) -> bool:
        """Declare a Variable that an earlier Program of the file has, too; return whether there is one."""
        for other, keys in self._packed.programs:
            if v in keys:
                self.declare(v, what, shared=[other, keys[v]])
                return True
        return False
