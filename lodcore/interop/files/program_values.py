"""The attributes of recorded operators as plain data: what is not a tree, but has one of a few fixed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.archives import dtype_of
from lodcore.base.dtypes import descr_of
from lodcore.base.naming import described
from lodcore.errors import DTypeError, GraphError, LoDError
from lodcore.graph.loops.var_array import VarArray
from lodcore.interop.files.generators import PLACES, generator_of, is_generator, seed_of
from lodcore.interop.files.program_operators import kind_of, name_of_kind
from lodcore.nn.optimizers import SGD, Adam, AdamW, Optimizer
from lodcore.nn.schedules import SCHEDULES, Schedule
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.rank_table import IndicesMap, RankTable, restore_map, restore_table
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import DenseTensor, Spec
from lodcore.tensors.tensor_array import TensorArray, restored

__all__ = ["ValueReader", "ValueWriter", "spec_of_text", "text_of_spec"]

#: The kinds of tensors of Specs by their names in a file.
KINDS: dict[str, type] = {
    "array": np.ndarray,
    "LoDTensor": LoDTensor,
    "SparseTensor": SparseTensor,
    "DenseTensor": DenseTensor,
    "TensorArray": TensorArray,
    "VarArray": VarArray,
    "RankTable": RankTable,
    "IndicesMap": IndicesMap,
    "LoD": LoD,
    "unknown": object,
    "int": int,
    "float": float,
    "complex": complex,
}
NAMES = {kind: name for name, kind in KINDS.items()}

#: The functions that make an object of checked parts, those of its pickle, which are saved.
PARTS: dict[str, Callable[..., Any]] = {
    "rank": RankTable,
    "rank_of_level": restore_table,
    "map": restore_map,
    "elements": restored,
}
PART_NAMES: dict[type, str] = {RankTable: "rank_of_level", IndicesMap: "map"}

OPTIMIZERS: dict[str, type[Optimizer]] = {one.__name__: one for one in (SGD, Adam, AdamW)}
SETTINGS = ("learning_rate", "momentum", "betas", "eps", "weight_decay")
INVALID = (GraphError, TypeError, ValueError, IndexError, KeyError)
LARGEST = 1 << 62
MOST_AXES = 64


def text_of_spec(where: str, spec: Spec) -> dict[str, Any]:
    """Return a Spec as JSON; raise DTypeError for a kind from outside that no module has by its name."""
    made: dict[str, Any] = {"dtype": descr_of(where, spec.dtype), "shape": list(spec.shape)}
    if spec.num_levels:
        made["levels"] = spec.num_levels
    if spec.kind is not (LoDTensor if spec.num_levels else np.ndarray):
        made["kind"] = NAMES.get(spec.kind) or name_of_kind(where, spec.kind)
    return made


def spec_of_text(where: str, given: Any, objects: bool = False) -> Spec:
    """Return the Spec of a description, whose parts are checked; `objects` if it may be of Python objects.

    A function of NumPy that is an operator may make them; a file has none.
    """
    if not isinstance(given, dict) or not given.keys() <= {"dtype", "shape", "levels", "kind"} or "shape" not in given:
        raise LoDError(f"{where}: is {described(given)}; dtype, shape, levels and kind of a Spec are needed")
    shape, levels = given["shape"], given.get("levels", 0)
    kind = given.get("kind", "LoDTensor" if levels else "array")
    good = isinstance(shape, list) and len(shape) <= MOST_AXES and type(levels) is int and 0 <= levels <= MOST_AXES
    if not good or not all(n is None or (type(n) is int and 0 <= n <= LARGEST) for n in shape):
        raise LoDError(f"{where}: has shape {described(shape)} and levels {described(levels)}; sizes are needed")
    found = KINDS.get(kind) if isinstance(kind, str) else None
    if found is None:
        found = kind_of(where, kind)
    made = np.dtype(object) if objects and given.get("dtype") == "|O" else dtype_of(where, given.get("dtype"))
    return Spec(tuple(shape), made, levels, found)


class ValueWriter:
    """A writer of attributes.

    Parameters
    ----------
    where : str
        The name of the function, for messages.
    packed : Packed
    node : callable
        Writes a tree at a path.
    """

    def __init__(self, where: str, packed: Any, node: Callable[[Any, tuple[str, ...]], Any]) -> None:
        self.where, self.packed, self._node = where, packed, node

    def write(self, x: Any, path: tuple[str, ...]) -> Any:
        """Return an attribute as JSON; raise DTypeError for what cannot be saved."""
        if x is None or type(x) in (bool, str, int) or (type(x) is float and math.isfinite(x)):
            return x  # JSON has all digits of a float
        if type(x) in (list, tuple):
            return {type(x).__name__: [self.write(one, (*path, str(j))) for j, one in enumerate(x)]}
        if type(x) is dict and all(type(key) in (str, int) for key in x):
            return {"dict": [[key, self.write(one, (*path, str(key)))] for key, one in x.items()]}
        if type(x) is slice:
            return {"slice": [self.write(one, path) for one in (x.start, x.stop, x.step)]}
        if x is Ellipsis:
            return {"ellipsis": True}
        if type(x) is Spec:
            return {"spec": text_of_spec(self._at(path), x)}
        if isinstance(x, np.dtype) or (isinstance(x, type) and (issubclass(x, np.generic) or x in NUMBERS)):
            return {"dtype": descr_of(self._at(path), np.dtype(x))}
        if isinstance(x, np.ufunc) and vars(np).get(name := str(getattr(x, "__name__", ""))) is x:
            return {"ufunc": name}
        if isinstance(x, LoD):
            return {"structure": self.packed.number(x)}
        if isinstance(x, (RankTable, IndicesMap, TensorArray)):
            return self._parts(x, path)
        if is_generator(x):
            return self.generator(x, path)
        if isinstance(x, Optimizer):
            return self.optimizer(x, path)
        if callable(x):
            name = getattr(x, "__qualname__", type(x).__name__)
            raise DTypeError(f"{self._at(path)}: is {name}, a function; the code of functions is not saved")
        return self._node(x, path)

    def _at(self, path: tuple[str, ...]) -> str:
        return f"{self.where}: {': '.join(path)}" if path else self.where

    def _parts(self, x: Any, path: tuple[str, ...]) -> Any:
        """Return an object as what it is made of."""
        function, parts, *_ = x.__reduce__()
        name = "rank" if function is RankTable else PART_NAMES.get(type(x), "elements")
        if name == "elements":
            if x.own_kind not in (TensorArray, VarArray):
                raise DTypeError(f"{self._at(path)}: is {x.own_kind.__name__}; TensorArrays and VarArrays can be saved")
            *given, rank, element = parts
            parts = *given, None if x.own_kind is TensorArray else "VarArray", rank, element
        return {name: [self.write(one, (*path, str(j))) for j, one in enumerate(parts)]}

    def generator(self, x: Any, path: tuple[str, ...]) -> Any:
        """Return a Generator with its state, or its number where it occurs again."""
        number, first = self.packed.number_of("generator", x.bit_generator)  # which Generators may share
        if not first:
            return {"generator": number}
        if type(x.bit_generator).__name__ not in PLACES:
            kind = type(x.bit_generator).__name__
            raise DTypeError(f"{self._at(path)}: draws from {kind}; {', '.join(PLACES)} of NumPy can be saved")
        made = {"generator": self.write(x.bit_generator.state, path)}
        seed = seed_of(self._at(path), x)
        return made if seed is None else {**made, "seed": self.write(seed, path)}

    def optimizer(self, x: Any, path: tuple[str, ...]) -> Any:
        """Return the class and the settings of an optimizer."""
        kind = type(x)
        if OPTIMIZERS.get(kind.__name__) is not kind:
            raise DTypeError(
                f"{self._at(path)}: is {kind.__name__}; {', '.join(OPTIMIZERS)} of lodcore.nn can be saved"
            )
        settings = {name: getattr(x, name) for name in SETTINGS if hasattr(x, name)}
        rate = settings.pop("learning_rate")
        made: dict[str, Any] = {"optimizer": kind.__name__, "settings": self.write(settings, path)}
        if not callable(rate):
            return {**made, "learning_rate": self.write(rate, path)}
        if not isinstance(rate, Schedule):
            name = getattr(rate, "__qualname__", type(rate).__name__)
            raise DTypeError(
                f"{self._at(path)}: learning_rate: is {name}; the code of functions is not saved, but numbers and "
                f"{', '.join(SCHEDULES)} of lodcore.nn"
            )
        return {**made, "schedule": rate.make.__name__, "numbers": self.write(list(rate.numbers), path)}


NUMBERS = (bool, int, float, complex)


class ValueReader:
    """A reader of attributes.

    Parameters
    ----------
    reader : Reader
        Of the trees of the file.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def read(self, where: str, node: Any, depth: int) -> Any:
        """Return the attribute of a description."""
        if depth > self._reader.deepest:
            raise LoDError(f"{where}: is nested more than {self._reader.deepest} deep")
        if node is None or type(node) in (bool, str, int, float):
            return node
        if not isinstance(node, dict) or not node:
            raise LoDError(f"{where}: is {described(node)}; a description is needed")
        kind, content = next(iter(node.items()))
        if kind == "optimizer":
            return self.optimizer(where, node, depth)
        if kind == "generator":
            return self.generator(where, node, depth)
        if len(node) > 1:
            return self._reader.read(node, depth)
        try:
            return self._made(where, kind, content, depth)
        except INVALID as error:
            if str(error).startswith(self._reader.where):
                raise
            raise LoDError(f"{where}: is not a valid {described(kind)}: {error}") from None

    def _made(self, where: str, kind: str, content: Any, depth: int) -> Any:
        if kind in ("list", "tuple", "slice", *PARTS) and isinstance(content, list):
            parts = [self.read(where, one, depth + 1) for one in content]
            if kind in PARTS:
                return self._of_parts(kind, parts)
            return parts if kind == "list" else tuple(parts) if kind == "tuple" else slice(*parts)
        if kind == "dict" and isinstance(content, list):
            return dict(self._entry(where, entry, depth) for entry in content)
        if kind == "ellipsis":
            return Ellipsis
        if kind == "spec":
            return spec_of_text(where, content)
        if kind == "dtype":
            return dtype_of(where, content)
        if kind == "ufunc":
            found = vars(np).get(content) if isinstance(content, str) else None
            if not isinstance(found, np.ufunc):
                raise LoDError(f"{where}: names {described(content)}, which is not a NumPy ufunc")
            return found
        if kind == "structure":
            return self._reader.lod(content)
        return self._reader.read({kind: content}, depth)

    def _entry(self, where: str, entry: Any, depth: int) -> tuple[Any, Any]:
        if not isinstance(entry, list) or len(entry) != 2 or type(entry[0]) not in (str, int):
            raise LoDError(f"{where}: has {described(entry)} in a dict; a key and a description are needed")
        return entry[0], self.read(where, entry[1], depth + 1)

    @staticmethod
    def _of_parts(kind: str, parts: list[Any]) -> Any:
        if PARTS[kind] is not restored:
            return PARTS[kind](*parts)
        items, source, size, limit, name, rank, element = parts
        if not isinstance(items, dict) or name not in (None, "VarArray"):
            raise LoDError("has no elements")
        return restored(VarArray if name else TensorArray, items, source, size, limit, rank, element)

    def generator(self, where: str, node: dict[str, Any], depth: int) -> Any:
        """Return the Generator of a state and a seed, or one that was read before."""
        content, known = node["generator"], self._reader.generators
        if type(content) is int:
            if not 0 <= content < len(known):
                raise LoDError(f"{where}: names generator {content}; {len(known)} are before it")
            return known[content]
        state, seed = (self.read(where, one, depth + 1) for one in (content, node.get("seed")))
        made = generator_of(where, state, seed)
        known.append(made)
        return made

    def optimizer(self, where: str, node: dict[str, Any], depth: int) -> Optimizer:
        """Return the optimizer of a class and settings, which it checks."""
        kind = node["optimizer"]
        if not isinstance(kind, str) or kind not in OPTIMIZERS:
            raise LoDError(f"{where}: names the optimizer {described(kind)}; {', '.join(OPTIMIZERS)} are known")
        try:
            settings = self.read(where, node.get("settings"), depth + 1)
            if "schedule" in node:
                rate = SCHEDULES[node["schedule"]](*self.read(where, node.get("numbers"), depth + 1))
            else:
                rate = self.read(where, node.get("learning_rate"), depth + 1)
                if not isinstance(rate, (int, float)):
                    raise TypeError(f"learning_rate: is {type(rate).__name__}; a number is needed")
            return OPTIMIZERS[kind](rate, **settings)
        except INVALID as error:
            if str(error).startswith(self._reader.where):
                raise
            raise LoDError(f"{where}: is not a valid {kind}: {error}") from None
