"""Blocks of operators from plain data: those of Programs, of loops and of branches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from lodcore.base.contexts import end_variables
from lodcore.base.memory import as_size
from lodcore.base.naming import described
from lodcore.errors import GraphError, LoDError
from lodcore.graph.block import NamedBlock, Operator, inferred_specs
from lodcore.graph.loops.array_versions import new_variable
from lodcore.graph.loops.body import (
    WHEN_IT_RUNS,
    Body,
    Break,
    Counter,
    LoopVariable,
    Update,
    changes,
    size_of,
    spec_in_body,
)
from lodcore.graph.loops.branches import COND, Branch, BranchBody, Branches
from lodcore.graph.loops.while_loop import RUN, WhileLoop
from lodcore.graph.variable import Variable, spec_text
from lodcore.interop.files.program_operators import operator_of
from lodcore.interop.files.program_values import spec_of_text
from lodcore.nn.cell_steps import RUN as RECURRENCE
from lodcore.nn.cell_steps import CellSteps
from lodcore.operators.registry import Op
from lodcore.operators.roles import spec_of
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["INVALID", "BlockReader", "agrees", "dict_of", "list_of"]

#: The operators with bodies, the arguments that have these, and their classes.
BODIES: list[tuple[Op, str, type]] = [
    (RUN, "loop", WhileLoop),
    (RECURRENCE, "loop", CellSteps),
    (COND, "branches", Branches),
]

INVALID = (GraphError, TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError, RecursionError)


def dict_of(where: str, given: Any, *needed: str) -> dict[str, Any]:
    """Return a dict of a file that has some entries."""
    if not isinstance(given, dict) or not given.keys() >= set(needed):
        raise LoDError(f"{where}: is {described(given)}; a description with {', '.join(needed)} is needed")
    return given


def list_of(where: str, given: Any) -> list[Any]:
    """Return a list of a file."""
    if not isinstance(given, list):
        raise LoDError(f"{where}: is {described(given)}; a list is needed")
    return given


def agrees(stored: Spec, found: Spec) -> bool:
    """Return whether a Spec of a file is possible, where a shape rule has found another one."""
    if not WHEN_IT_RUNS.isdisjoint((stored.kind, found.kind)):
        return True
    if stored.kind is not found.kind or stored.num_levels != found.num_levels or stored.dtype != found.dtype:
        return stored.kind is found.kind is TensorArray and np.dtype(np.void) in (stored.dtype, found.dtype)
    pairs = zip(stored.shape, found.shape, strict=False)
    return len(stored.shape) == len(found.shape) and all(None in pair or pair[0] == pair[1] for pair in pairs)


class BlockReader:
    """A reader of the operators of a Block.

    Parameters
    ----------
    program : ProgramReader
        Has the names of the Program, and reads values.
    block : NamedBlock
        The Block that gets them.
    where : str
        The place, for messages.
    depth : int
        How deep it stands in the file.
    """

    def __init__(self, program: Any, block: NamedBlock, where: str, depth: int) -> None:
        self.program, self.block, self.where, self.depth = program, block, where, depth
        self.found: dict[str, Variable] = {}
        program.check_depth(where, depth)

    def variable(self, where: str, key: Any) -> Variable:
        """Return the Variable of a name, which was declared, or made by an earlier operator."""
        if not isinstance(key, str) or key not in self.found:
            raise LoDError(f"{where}: names Variable {described(key)}, which nothing before it makes")
        return self.found[key]

    def add(self, where: str, key: Any, entry: dict[str, Any], made: Variable) -> Variable:
        """Add a Variable under its name."""
        name = entry.get("name", key)
        if not isinstance(key, str) or not isinstance(name, str):
            raise LoDError(f"{where}: has the name {described(name)}; a str is needed")
        if key in self.found:
            raise LoDError(f"{where}: Variable {described(key)}: occurs twice")
        self.found[key] = made
        made.name = name
        if self is not self.program:
            self.program.inner.append(made)
            return made
        self.program.block.names[key] = made  # of two of the same name, the other has another key
        return made

    def made(self, where: str, key: Any, entry: Any, value: Any = None) -> Variable:
        """Make a Variable of a description."""
        entry = dict_of(where, entry, "spec")
        spec = spec_of_text(f"{where}: spec", entry["spec"])
        return self.add(where, key, entry, new_variable(None, value, spec, self.block))

    def argument(self, where: str, node: Any) -> Any:
        """Return an argument."""
        if isinstance(node, dict) and len(node) == 1:
            ((kind, content),) = node.items()
            if kind == "var":
                return self.variable(where, content)
            if kind == "list":
                return [self.argument(f"{where}[{j}]", one) for j, one in enumerate(list_of(where, content))]
            if kind == "loop":
                return self._loop(where, content)
            if kind == "branches":
                return self._branches(where, content)
            if kind == "cell":
                return self._cell(where, content)
        return self.program.values.read(where, node, self.depth)

    # -- operators -----------------------------------------------------------------------------------------------------

    def read_ops(self, content: dict[str, Any]) -> None:
        """Read all operators."""
        for number, entry in enumerate(list_of(f"{self.where}: ops", content.get("ops"))):
            name = entry.get("op", next(iter(entry), "")) if isinstance(entry, dict) else ""
            where = f"{self.where}: operator {number} ({name[:60] if isinstance(name, str) else described(name)})"
            try:
                self.block.ops.append(self._op(where, dict_of(where, entry)))
            except INVALID as error:
                raise self.program.located(where, error) from None
        for pair in list_of(f"{self.where}: versions", content.get("versions", [])):
            base, last = [self.variable(f"{self.where}: versions", key) for key in list_of(self.where, pair)]
            self.block.versions[base] = last

    def _op(self, where: str, entry: dict[str, Any]) -> Any:
        if "op" in entry:
            return self._operator(where, entry)
        if "next" in entry and isinstance(self.block, Body):
            return self._next(where, entry)
        if "break_if" in entry and isinstance(self.block, Body):
            condition = self.tensor(where, entry["break_if"])
            spec = condition.spec if isinstance(condition, Variable) else spec_of(condition)
            if spec.num_levels or spec.kind is TensorArray or size_of(spec) not in (1, None):
                raise LoDError(f"{where}: is {spec_text(spec)}; one element is needed")
            return Break(condition)
        found = self.program.of_program(self, where, entry)
        if found is None:
            raise LoDError(f"{where}: is {described(entry)}, which is not an operator here")
        return found

    def tensor(self, where: str, node: Any) -> Any:
        """Return a Variable, or a constant tensor."""
        found = self.argument(where, node)
        if not isinstance(found, (Variable, Tensor, TensorArray, np.generic)):
            raise LoDError(f"{where}: is {type(found).__name__}; a tensor is needed")
        return found

    def _next(self, where: str, entry: dict[str, Any]) -> Update:
        variable = self.variable(where, entry["next"])
        value = self.tensor(where, entry.get("value"))
        spec = value.spec if isinstance(value, Variable) else spec_of(value)
        if changes(variable.spec, spec) and not agrees(variable.spec, spec):
            raise LoDError(f"{where}: is {spec_text(spec)}; {variable.name} is {spec_text(variable.spec)}")
        written = entry.get("written") is True
        if not written and not isinstance(variable, LoopVariable):
            raise LoDError(f"{where}: Variable {variable.name}: is not a loop variable")
        return Update(variable, value, written)

    def _operator(self, where: str, entry: dict[str, Any]) -> Operator:
        op = operator_of(where, entry["op"])
        given = dict_of(where, entry.get("in"), *(name for name in op.parameters if name not in op.defaults))
        if not given.keys() <= set(op.parameters):
            raise LoDError(
                f"{where}: has {', '.join(map(str, given))[:80]}; {', '.join(op.parameters)} are its parameters"
            )
        arguments = {  # a file may be older than a parameter that has a default
            name: self.argument(f"{where}: {name}", given[name]) if name in given else op.defaults[name]
            for name in op.parameters
        }
        self._check_bodies(where, op, arguments)
        arguments = {name: self.block.argument(op, name, x) for name, x in arguments.items()}
        made = Operator(op, arguments, [], entry.get("tuple") is not True)
        made.caller, made.words = _names_in_errors(where, entry)
        outs = list_of(f"{where}: out", entry.get("out"))
        stored = [spec_of_text(f"{where}: out", dict_of(where, one, "var", "spec")["spec"], True) for one in outs]
        self._check_specs(where, made, stored)
        for one, spec in zip(outs, stored, strict=True):
            made.outputs.append(self.add(where, one["var"], one, new_variable(None, None, spec, self.block)))
        if isinstance(arguments.get("loop"), WhileLoop):
            end_variables(arguments["loop"].variables, made.outputs)
        return made

    def _check_specs(self, where: str, op: Operator, stored: list[Spec]) -> None:
        """Infer the Specs of the results anew, and compare."""
        if op.single and len(stored) != 1:
            raise LoDError(f"{where}: has {len(stored)} results; one is needed")
        if not op.inputs or not op.op.has_infer:
            return
        found = inferred_specs(op.op, op.arguments)
        if isinstance(found, Spec) is not op.single:
            raise LoDError(f"{where}: returns {'one tensor' if isinstance(found, Spec) else 'a tuple'}")
        each = [found] if isinstance(found, Spec) else list(found)
        if len(each) != len(stored):
            raise LoDError(f"{where}: has {len(stored)} results; {len(each)} are needed")
        for one, other in zip(stored, each, strict=True):
            if not agrees(one, other):
                raise LoDError(f"{where}: has the result {spec_text(one)}; it makes {spec_text(other)}")

    # -- bodies --------------------------------------------------------------------------------------------------------

    def _check_bodies(self, where: str, op: Op, arguments: dict[str, Any]) -> None:
        """Check that loops and branches are where they belong, and that they fit their inputs."""
        for name, x in arguments.items():
            at = next(((one, other) for one, other, kind in BODIES if isinstance(x, kind)), None)
            wanted = next((other for one, other, _ in BODIES if op is one), None)
            if (at is not None and at != (op, name)) or (at is None and name == wanted):
                raise LoDError(f"{where}: {name}: is {type(x).__name__}, which does not belong here")
        if all(op is not one for one, _, _ in BODIES):
            return
        inputs = arguments["inputs"]
        if type(inputs) is not list:
            raise LoDError(f"{where}: inputs: is {type(inputs).__name__}; a list is needed")
        specs = [x.spec if isinstance(x, Variable) else spec_of(x) for x in inputs]
        if op is RUN:
            steps = arguments["loop"].steps
            places = dict(enumerate([*steps.carried, *steps.captured]))
            if len(places) != len(specs):
                raise LoDError(f"{where}: inputs: has {len(specs)} entries; the loop takes {len(places)}")
            pairs = [(v, j) for j, v in places.items()]
        elif op is RECURRENCE:
            steps = arguments["loop"]
            pairs = [(v, j) for j, v in enumerate([*steps.inputs, *steps.before, *steps.outer])]
            if len(pairs) != len(specs) or any(specs[j].dtype != v.spec.dtype for v, j in pairs):
                raise LoDError(f"{where}: inputs: do not fit the cell, which takes {len(pairs)}")
            for v, j in pairs[: len(steps.inputs) + len(steps.before)]:
                if specs[j].shape[1:] != v.spec.shape[1:] or None in specs[j].shape[1:]:
                    raise LoDError(f"{where}: inputs[{j}]: is {spec_text(specs[j])}; {v.name} is {spec_text(v.spec)}")
            pairs = pairs[len(steps.inputs) + len(steps.before) :]
        else:
            branches = arguments["branches"]
            pairs = [(v, j) for branch in branches.each for v, j in branch.places.items()]
            if branches.decides and (not specs or specs[0].kind is TensorArray):
                raise LoDError(f"{where}: inputs: has no condition")
        for v, j in pairs:
            if j >= len(specs):
                raise LoDError(f"{where}: inputs: has {len(specs)} entries; Variable {v.name} is entry {j}")
            if not agrees(spec_in_body(specs[j]), spec_in_body(v.spec)):
                raise LoDError(f"{where}: inputs[{j}]: is {spec_text(specs[j])}; {v.name} is {spec_text(v.spec)}")

    def _body(self, where: str, body: Body, content: dict[str, Any]) -> tuple[BlockReader, list[tuple[Variable, Any]]]:
        """Return the reader of a body, and its Variables that no operator makes, with their descriptions."""
        inner = BlockReader(self.program, body, where, self.depth + 1)
        self.program.bodies.append(body)
        declared = []
        for key, entry in dict_of(f"{where}: variables", content.get("variables")).items():
            here = f"{where}: {str(key)[:60]}"
            entry = dict_of(here, entry, "is", "spec")
            if entry["is"] == "carried" and "counter" in entry:
                spec, counter = spec_of_text(f"{here}: spec", entry["spec"]), _counter(here, entry["counter"])
                v: Variable = LoopVariable(body, None, spec, counter)
                inner.add(here, key, entry, v)
            else:
                v = inner.made(here, key, entry)
            declared.append((v, entry))
        return inner, declared

    def _loop(self, where: str, content: Any) -> WhileLoop:
        content = dict_of(where, content, "variables", "ops")
        max_steps, recompute, shapes = (content.get(name) for name in ("max_steps", "recompute", "keeps_shapes"))
        if max_steps is not None and (type(max_steps) is not int or as_size(max_steps) is None):
            raise LoDError(f"{where}: max_steps: is {described(max_steps)}; an integer of 0 or more is needed")
        body = Body(None, shapes is True)
        repetition = content.get("repetition", body.repetition)
        if type(repetition) is not str:
            raise LoDError(f"{where}: repetition: is {described(repetition)}; a text is needed")
        body.repetition = repetition
        inner, declared = self._body(where, body, content)
        inner.read_ops(content)
        if not any(isinstance(op, Break) for op in body.ops):
            raise LoDError(f"{where}: has no break_if; it would never end")
        body.closed = True
        carried = [v for v, entry in declared if entry["is"] == "carried"]
        captured = [v for v, entry in declared if entry["is"] != "carried"]
        options = {"max_steps": max_steps, "recompute": recompute is True, "keeps_shapes": shapes is True}
        return WhileLoop.of_body(body, carried, captured, **options)

    def _cell(self, where: str, content: Any) -> CellSteps:
        """Return the steps of a cell, compiled anew; operator by operator if that cannot be done here."""
        content = dict_of(where, content, "level", "is_reverse", "variables", "ops", "outputs", "next")
        level = content["level"]
        if type(level) is not int or not 0 <= level < 100:
            raise LoDError(f"{where}: level: is {described(level)}; a level is needed")
        body = Body(None, True)
        inner, declared = self._body(where, body, content)
        inner.read_ops(content)
        body.closed = True
        outputs, behind = [
            [inner.tensor(where, one) for one in list_of(where, content[name])] for name in ("outputs", "next")
        ]
        of = {what: [v for v, entry in declared if entry["is"] == what] for what in ("input", "state", "captured")}
        if not of["input"] or len(behind) != len(of["state"]) or len(declared) != sum(map(len, of.values())):
            raise LoDError(f"{where}: has inputs, states and results that do not belong together")
        outer = of["captured"]
        made = CellSteps.of(
            SimpleNamespace(
                ops=body.ops,
                inputs=of["input"],
                before=of["state"],
                outputs=outputs,
                behind=behind,
                level=level,
                is_reverse=content["is_reverse"] is True,
                body=SimpleNamespace(captures={j: (v, v) for j, v in enumerate(outer)}),
            ),
            False,
        )
        if made is None or made.outer != outer:
            raise LoDError(f"{where}: has outer objects that do not belong to its operators")
        return made

    def _branches(self, where: str, content: Any) -> Branches:
        content = dict_of(where, content, "decides", "each")
        decides, each = content["decides"] is True, []
        entries = list_of(f"{where}: each", content["each"])
        if len(entries) != 1 + decides:
            raise LoDError(f"{where}: has {len(entries)} branches; {1 + decides} are needed")
        for entry in entries:
            entry = dict_of(where, entry, "name", "variables", "ops", "results")
            name = str(entry["name"])[:60]
            here = f"{where}: {name}"
            body = BranchBody(None)
            body.repeats = self.block.repeats
            inner, declared = self._body(here, body, entry)
            inner.read_ops(entry)
            body.closed = True
            results = [inner.variable(f"{here}: results", key) for key in list_of(here, entry["results"])]
            branch = Branch(name, body, results)
            for v, one in declared:
                place = one.get("input")
                if type(place) is not int or place < 0:
                    raise LoDError(f"{here}: {v.name}: is input {described(place)}; a number of 0 or more is needed")
                branch.places[v] = place
            each.append(branch)
        specs = [[v.spec for v in branch.results] for branch in each]
        for other in specs[1:]:
            if len(other) != len(specs[0]) or not all(map(agrees, specs[0], other)):
                raise LoDError(f"{where}: its branches have different results")
        return Branches.of_each(each, decides)


def _counter(where: str, given: Any) -> Counter:
    """Return how a loop variable advances."""
    given = dict_of(f"{where}: counter", given, "advance", "is_one", "number")
    advance, is_one, number = given["advance"], given["is_one"], given["number"]
    if is_one not in (True, False, None) or type(number) is not int or not isinstance(advance, (bool, int, type(None))):
        raise LoDError(f"{where}: counter: is {described(given)}")
    counter = Counter(advance, is_one)
    counter.number = number
    return counter


def _names_in_errors(where: str, entry: dict[str, Any]) -> tuple[str | None, dict[str, str] | None]:
    """Return the name of the function that recorded an operator, and names of its arguments, for messages."""
    caller, words = entry.get("caller"), entry.get("words")
    if not (caller is None or isinstance(caller, str)):
        raise LoDError(f"{where}: caller: is {described(caller)}; a str is needed")
    if words is not None and not (isinstance(words, dict) and all(isinstance(word, str) for word in words.values())):
        raise LoDError(f"{where}: words: is {described(words)}; a dict of str is needed")
    return caller, words
