"""Trees of arrays as plain data: the tree in JSON, and the arrays by name."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.dtypes import descr_of, is_native, native_dtype
from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.kinds import is_foreign
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.sparse_tensor import SparseTensor

__all__ = ["Packed", "Reader", "pack"]

Array = np.ndarray[Any, Any]
DEEPEST = 100  # nested containers; a deeper tree contains itself
PROGRAMS = frozenset(("program", "generator", "optimizer"))  # what needs more than tensors to be read
SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class Packed:
    """A tree as JSON, its arrays, and its structures.

    Attributes
    ----------
    where : str
        The name of the function, for messages.
    tree : dict
    arrays : dict of str to ndarray
    lods : list of LoD
        Each LoD once, even if several tensors share it.
    """

    def __init__(self, where: str) -> None:
        self.where = where
        self.tree: Any = None
        self.arrays: dict[str, Array] = {}
        self.lods: list[LoD] = []
        self.scope: Any = None  # from which the values of parameters are taken
        self.programs: list[Any] = []  # of each Program its number, and the names of its Variables
        self._numbers: dict[tuple[str, int], int] = {}  # of Programs and Generators
        self._kept: list[Any] = []  # these
        self._names: dict[Any, str] = {}
        self._used: set[str] = set()  # these in lower case
        self._lod_numbers: dict[int, int] = {}

    def name_of_rows(self, values: Array, path: tuple[str, ...]) -> str:
        """Return the name of the rows of a tensor, which others that share this memory have, too: nobody changes it."""
        return self.name(values, path, (values.ctypes.data, values.shape, values.dtype))

    def name(self, values: Array, path: tuple[str, ...], key: Any = None) -> str:
        """Return the name of an array, made from its path in the tree; one array has one name."""
        key = id(values) if key is None else key
        found = self._names.get(key)
        if found is not None:
            return found
        name = "/".join(path) or "values"
        if not all(SAFE_NAME.fullmatch(part) for part in path) or len(name) > 200 or self._taken(name):
            name = f"array_{len(self.arrays)}"
        while self._taken(name):
            name += "_"
        if values.dtype.names is not None:
            descr_of(located(self.where, path), values.dtype)
        self.arrays[name] = values
        self._used.add(name.lower())
        self._names[key] = name
        return name

    def _taken(self, name: str) -> bool:
        """Return whether a name is used already, ignoring case, since file systems may do so."""
        return name.lower() in self._used or name.startswith("offsets_")

    def number_of(self, what: str, x: Any) -> tuple[int, bool]:
        """Return the number of an object among those of its kind, and whether it is met for the first time."""
        found = self._numbers.get((what, id(x)))
        if found is not None:
            return found, False
        number = self._numbers[what, id(x)] = sum(kind == what for kind, _ in self._numbers)
        self._kept.append(x)
        return number, True

    def number(self, lod: LoD) -> int:
        """Return the number of a structure, assigning one if it is new."""
        if id(lod) not in self._lod_numbers:
            self._lod_numbers[id(lod)] = len(self.lods)
            self.lods.append(lod)
        return self._lod_numbers[id(lod)]


def pack(where: str, tree: Any, scope: Any = None) -> Packed:
    """Convert a tree to plain data.

    Parameters
    ----------
    where : str
        The name of the function, for messages.
    tree : LoDTensor, SparseTensor, ndarray, number, str, bytes, bool, None; dict, list or tuple of trees
        Also Programs, Generators and optimizers.
    scope : Scope, optional
        From which the values of the parameters of Programs are taken.

    Returns
    -------
    Packed
    """
    packed = Packed(where)
    packed.scope = None if scope is None else scope.snapshot()
    packed.tree = _node(where, packed, tree, (), 0)
    return packed


def located(where: str, path: tuple[str, ...]) -> str:
    """Return the name of a part of a tree, for messages."""
    return f"{where}: tree" + "".join(f"[{part}]" for part in path)


def _node(where: str, packed: Packed, tree: Any, path: tuple[str, ...], depth: int) -> Any:
    """Return a tree as JSON; add its arrays and structures to `packed`."""
    here = located(where, path)
    if depth > DEEPEST:
        raise LoDError(f"{where}: tree: is nested more than {DEEPEST} deep; does it contain itself?")
    kind = type(tree)
    if isinstance(tree, LoDTensor) and not is_foreign(kind):
        lod: Any = tree.lod
        return {"lodtensor": packed.name_of_rows(tree.values, path), "lod": packed.number(lod)}
    if isinstance(tree, SparseTensor):
        names = {"sparse": tree.values, "indices": tree.indices}
        return {key: packed.name(x, (*path, key)) for key, x in names.items()} | {"height": hex(tree.height)}
    if isinstance(tree, (np.ndarray, np.generic)):
        values = np.asarray(tree) if isinstance(tree, np.generic) else tree
        if isinstance(values, np.ma.MaskedArray) or values.dtype.hasobject:
            raise DTypeError(
                f"{here}: has dtype {values.dtype} and class {type(values).__name__}; "
                "ndarrays of numbers, dates or text can be saved"
            )
        if isinstance(tree, (np.str_, np.bytes_)) and len(values[()]) < len(tree):
            plain: Any = str if isinstance(tree, np.str_) else bytes
            raise DTypeError(
                f"{here}: is {plain(tree)!r} as {kind.__name__}, which an array keeps without NUL at the end; "
                f"{plain.__name__} can be saved"
            )
        return {"scalar" if isinstance(tree, np.generic) else "array": packed.name(np.asarray(values), path)}
    if kind is dict:
        for key in tree:
            if type(key) not in (str, int):
                raise DTypeError(f"{here}: has the key {key!r}; str and int can be saved")
        return {"dict": [[key, _node(where, packed, tree[key], (*path, str(key)), depth + 1)] for key in tree]}
    if kind in (list, tuple):
        return {kind.__name__: [_node(where, packed, part, (*path, str(k)), depth + 1) for k, part in enumerate(tree)]}
    if tree is None or kind in (bool, str):
        return {"plain": tree}
    if kind is int:
        return {"int": hex(tree)}
    if kind is float:
        return {"float": struct.pack("<d", tree).hex()}
    if kind is complex:
        return {"complex": struct.pack("<dd", tree.real, tree.imag).hex()}
    if kind is bytes:
        return {"bytes": tree.hex()}
    found = _of_program(where, packed, tree, path, depth)
    if found is not None:
        return found
    raise DTypeError(
        f"{here}: is {kind.__name__}; arrays, LoDTensors, SparseTensors, dicts, lists, tuples, numbers, text and None "
        "can be saved, and Programs, Generators of random numbers and optimizers"
    )


def _of_program(where: str, packed: Packed, tree: Any, path: tuple[str, ...], depth: int) -> Any:
    """Return a Program, a Generator or an optimizer as JSON; None for anything else."""
    from lodcore.interop.files.program_writer import written  # which needs the whole of lodcore.graph and lodcore.nn

    return written(where, packed, tree, path, lambda x, path: _node(where, packed, x, path, depth + 1))


class Reader:
    """A reader that rebuilds a tree from plain data.

    Parameters
    ----------
    where : str
        The names of function and file, for messages.
    array : callable
        Returns an array by name.
    lod : callable
        Returns a structure by number.
    """

    def __init__(self, where: str, array: Callable[[str], Array], lod: Callable[[int], LoD]) -> None:
        self.where, self.deepest = where, DEEPEST
        self.programs: list[Any] = []  # those that were read, with their Variables by name
        self.generators: list[Any] = []
        self._array, self._lod = array, lod
        self._arrays: dict[str, Array] = {}
        self._of_tensors: set[Any] = set()  # names of rows that a tensor has already
        self._lods: dict[int, LoD] = {}

    def array(self, name: Any) -> Array:
        """Return the array of a name, always the same object."""
        if not isinstance(name, str):
            raise LoDError(f"{self.where}: tree: names the array {described(name)}; a name is a str")
        if name not in self._arrays:
            self._arrays[name] = self._array(name)
        return self._arrays[name]

    def lod(self, number: Any) -> LoD:
        """Return the structure of a number, always the same object."""
        if type(number) is not int or number < 0:
            names = f"names the structure {described(number)}"
            raise LoDError(f"{self.where}: tree: {names}; a number of 0 or more is needed")
        if number not in self._lods:
            self._lods[number] = self._lod(number)
        return self._lods[number]

    def read(self, node: Any, depth: int = 0) -> Any:
        """Return the tree of a node."""
        if depth > DEEPEST:
            raise LoDError(f"{self.where}: tree: is nested more than {DEEPEST} deep")
        if not isinstance(node, dict):
            raise LoDError(f"{self.where}: tree: has {type(node).__name__} where a description is needed")
        if set(node) == {"lodtensor", "lod"}:
            return self._tensor(node)
        if set(node) == {"sparse", "indices", "height"}:
            return self._sparse(node)
        if not PROGRAMS.isdisjoint(node):
            from lodcore.interop.files.program_reader import read_part

            return read_part(self, node, depth)
        if len(node) != 1:
            raise LoDError(f"{self.where}: tree: has a description with {sorted(node)}; one entry says what it is")
        ((kind, content),) = node.items()
        if kind in ("dict", "list", "tuple") and isinstance(content, list):
            return self._container(kind, content, depth)
        if kind == "array":
            return self.array(content)
        if kind == "scalar":
            values = self.array(content)
            if values.ndim:
                raise LoDError(f"{self.where}: {content}: has shape {values.shape}; a single number is needed")
            return values[()]
        try:
            return self._value(kind, content)
        except (TypeError, ValueError, struct.error):
            raise LoDError(f"{self.where}: tree: has {kind!r} with {described(content)}, which is not valid") from None

    def _tensor(self, node: dict[str, Any]) -> LoDTensor:
        values, lod = self.array(node["lodtensor"]), self.lod(node["lod"])
        if not values.ndim or len(values) != lod.num_rows:
            raise LoDError(
                f"{self.where}: {node['lodtensor']}: has shape {values.shape}; its structure has {lod.num_rows} rows"
            )
        if not (values.flags.c_contiguous and is_native(values.dtype)):
            values = np.ascontiguousarray(values, native_dtype(values.dtype))
        elif node["lodtensor"] in self._of_tensors and values.flags.writeable:
            values = values.copy()
        self._of_tensors.add(node["lodtensor"])
        return lod_tensor_body.new_tensor(values, lod)

    def _sparse(self, node: dict[str, Any]) -> SparseTensor:
        values, indices = self.array(node["sparse"]), self.array(node["indices"])
        try:
            return SparseTensor(indices, values, int(node["height"], 16))
        except (TypeError, ValueError, IndexError) as error:
            raise LoDError(f"{self.where}: {node['sparse']}: is not a valid SparseTensor: {error}") from None

    def _container(self, kind: str, content: list[Any], depth: int) -> Any:
        if kind != "dict":
            parts = [self.read(part, depth + 1) for part in content]
            return tuple(parts) if kind == "tuple" else parts
        made = {}
        for entry in content:
            if not isinstance(entry, list) or len(entry) != 2 or type(entry[0]) not in (str, int):
                raise LoDError(
                    f"{self.where}: tree: has {described(entry)} in a dict; a key and a description are needed"
                )
            made[entry[0]] = self.read(entry[1], depth + 1)
        return made

    def _value(self, kind: str, content: Any) -> Any:
        if kind == "plain" and (content is None or isinstance(content, (bool, str))):
            return content
        if kind == "int":
            return int(content, 16)
        if kind == "float":
            return struct.unpack("<d", bytes.fromhex(content))[0]
        if kind == "complex":
            return complex(*struct.unpack("<dd", bytes.fromhex(content)))
        if kind == "bytes":
            return bytes.fromhex(content)
        raise ValueError
