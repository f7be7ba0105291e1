"""Programs from plain data: nothing in a file is trusted, and no operator is called while it is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError
from lodcore.graph.block import Operator
from lodcore.graph.gradients.cotangents import differentiable_spec
from lodcore.graph.gradients.gradient_operators import GradientOperator, Seed
from lodcore.graph.gradients.learned import ParameterUpdate, check_update
from lodcore.graph.loops.body import Body
from lodcore.graph.program import Program
from lodcore.graph.variable import Variable, spec_text
from lodcore.interop.files.block_reader import INVALID, BlockReader, agrees, dict_of, list_of
from lodcore.interop.files.program_values import ValueReader
from lodcore.interop.files.program_writer import VERSION
from lodcore.operators.roles import spec_of
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import Tensor
from lodcore.tensors.tensor_array import ArrayVersion, TensorArray

__all__ = ["read_part"]


def read_part(reader: Any, node: dict[str, Any], depth: int) -> Any:
    """Return the Program, Generator or optimizer of a description.

    Parameters
    ----------
    reader : Reader
        Of the trees of the file.
    node : dict
    depth : int
        How deep the description stands in its tree.
    """
    where = f"{reader.where}: tree"
    if "generator" in node:
        return ValueReader(reader).generator(f"{where}: generator", node, depth)
    if "optimizer" in node:
        return ValueReader(reader).optimizer(f"{where}: optimizer", node, depth)
    content, known = node["program"], reader.programs
    if type(content) is int:
        if not 0 <= content < len(known):
            raise LoDError(f"{where}: names Program {content}; {len(known)} are before it")
        return known[content][0]
    return ProgramReader(reader, content, depth).read()


class ProgramReader(BlockReader):
    """A reader of a Program."""

    block: Program

    def __init__(self, reader: Any, content: Any, depth: int) -> None:
        self.reader, self.file = reader, reader.where
        self.values, self._content = ValueReader(reader), content
        self.inner: list[Variable] = []  # of bodies
        self.bodies: list[Body] = []  # kept alive while their Variables are made
        self._begun: dict[Seed, set[Variable]] = {}  # the gradients that operators have added to
        super().__init__(self, Program(), f"{reader.where}: program", depth)

    def located(self, where: str, error: Exception) -> Exception:
        """Return an error that names the file and the place."""
        if not str(error).startswith(self.file):
            return LoDError(f"{where}: is not valid: {error}")
        return error if isinstance(error, (LoDError, DTypeError)) else LoDError(str(error))

    def check_depth(self, where: str, depth: int) -> None:
        """Raise if bodies are nested too deep."""
        if depth > self.reader.deepest:
            raise LoDError(f"{where}: is nested more than {self.reader.deepest} deep")

    def read(self) -> Program:
        """Return the Program."""
        where, content = self.where, self._content
        version = dict_of(where, content, "version")["version"]
        if version != VERSION or type(version) is not int:
            later = type(version) is int and version > VERSION
            says = "a later lodcore has written it; this one" if later else "this lodcore"
            raise LoDError(f"{where}: has version {described(version)}; {says} reads versions up to {VERSION}")
        program = self.block
        for key, entry in dict_of(f"{where}: variables", content.get("variables")).items():
            try:
                self._declared(f"{where}: {str(key)[:60]}", key, dict_of(where, entry, "is", "spec"))
            except INVALID as error:
                raise self.located(f"{where}: {str(key)[:60]}", error) from None
        self.read_ops(content)
        for v in self.inner:  # which nothing that is recorded later may have
            program.names.setdefault(v.name, v)
        program.given_names.update(v.name for v in [*program.feeds, *program.declared])
        self.reader.programs.append((program, self.found))
        return program

    def _declared(self, where: str, key: str, entry: dict[str, Any]) -> None:
        program, what = self.block, entry["is"]
        if what not in ("data", "parameter", "array"):
            raise LoDError(f"{where}: is {described(what)}; data, a parameter or an array is needed")
        if "shared" in entry:
            made = self.add(where, key, {}, self._shared(where, entry["shared"]))
            program.adopt_shared(made, key)
        elif what == "data":
            made = self.made(where, key, entry)
        else:
            made = self._with_value(where, key, entry)
        if what == "data":
            program.feeds.append(made)
            if entry.get("cast") is True:
                program.casts.add(made)
        elif what == "parameter":
            if not made.has_value:
                raise LoDError(f"{where}: is a parameter, and has no value")
            program.declared.add(made)

    def _with_value(self, where: str, key: str, entry: dict[str, Any]) -> Variable:
        """Return a parameter, or an array, with the value of the file."""
        value = self.values.read(where, entry.get("value"), self.depth)
        if entry["is"] == "array":
            if not isinstance(value, TensorArray):
                raise LoDError(f"{where}: has {type(value).__name__}; a TensorArray is needed")
            made = self.made(where, key, entry, ArrayVersion.of(value))
            self.block.captures[id(value)] = value, made
        else:
            if not isinstance(value, (Tensor, np.generic, int, float, complex)):
                raise LoDError(f"{where}: has a value of {type(value).__name__}; a tensor is needed")
            made = self.made(where, key, entry, value)
        stored, found = made.spec, spec_of(value)
        if not agrees(stored, found):
            raise LoDError(f"{where}: is {spec_text(found)}; its Spec says {spec_text(stored)}")
        return made

    def _shared(self, where: str, place: Any) -> Variable:
        """Return a Variable of an earlier Program of the file."""
        known = self.reader.programs
        good = isinstance(place, list) and len(place) == 2 and type(place[0]) is int and 0 <= place[0] < len(known)
        if not good or not isinstance(place[1], str) or place[1] not in known[place[0]][1]:
            raise LoDError(f"{where}: is shared with {described(place)}, which is not there")
        return known[place[0]][1][place[1]]  # type: ignore[no-any-return]

    def of_program(self, block: BlockReader, where: str, entry: dict[str, Any]) -> Any:
        """Return an entry that only a Program has; None for any other."""
        if block is not self:
            return None
        if "update" in entry:
            variable, value = self.variable(where, entry["update"]), self.tensor(where, entry.get("value"))
            if not self.block.has_parameter(variable):
                raise LoDError(f"{where}: {variable.name}: is not a parameter")
            check_update(where, variable.spec, value.spec if isinstance(value, Variable) else spec_of(value))
            return ParameterUpdate(variable, value, entry.get("fresh") is True)
        if "backward" in entry:
            return self._seed(where, entry)
        if "gradient" in entry:
            return self._gradient(where, entry)
        return None

    def _seed(self, where: str, entry: dict[str, Any]) -> Seed:
        loss = self.variable(where, entry["backward"])
        gradient_of = {}
        for pair in list_of(f"{where}: gradients", entry.get("gradients")):
            key, one = list_of(where, pair)
            x = self.variable(where, key)
            made = self.made(where, dict_of(where, one, "var", "spec")["var"], one)
            shown = made.spec._replace(kind=x.spec.kind) if made.spec.kind is SparseTensor else made.spec
            if not differentiable_spec(x.spec) or not agrees(shown, x.spec):
                raise LoDError(f"{where}: {made.name}: is {spec_text(made.spec)}; {key} is {spec_text(x.spec)}")
            gradient_of[x] = made
        apart = [self.variable(where, key) for key in list_of(where, entry.get("apart"))]
        missing = [x.name for x in (loss, *apart) if x not in gradient_of]
        if missing:
            raise LoDError(f"{where}: has no gradient of {missing[0]}")
        return Seed(loss, gradient_of, apart)

    def _gradient(self, where: str, entry: dict[str, Any]) -> GradientOperator:
        ops = self.block.ops
        places = [entry["gradient"], entry.get("of")]
        if not all(type(at) is int and 0 <= at < len(ops) for at in places):
            raise LoDError(f"{where}: is of operators {described(places)}; {len(ops)} are before it")
        forward, seed = (ops[at] for at in places)
        if not isinstance(forward, Operator) or not isinstance(seed, Seed) or not forward.op.gradient:
            raise LoDError(f"{where}: operator {places[0]} has no gradient")
        begun = self._begun.setdefault(seed, set(seed.outputs))
        if not any(seed.gradient_of.get(out) in begun for out in forward.outputs):
            raise LoDError(f"{where}: no gradient before it is that of a result of operator {places[0]}")
        made = GradientOperator(forward, seed)
        begun.update(made.outputs)
        return made
