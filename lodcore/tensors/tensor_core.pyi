from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from lodcore.tensors.core import LoDBody
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

def register(tensor: type[LoDTensor]) -> None: ...

@disjoint_base
class LoDTensorBody:
    @property
    def values(self) -> npt.NDArray[Any]: ...
    @property
    def lod(self) -> LoD: ...
    @property
    def offsets(self) -> npt.NDArray[np.int64]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def _rows(self) -> Any: ...  # a typed memoryview
    def _take(
        self,
        where: str,
        level: int,
        ranges: npt.NDArray[np.int64],
        size: int,
        out: npt.NDArray[Any] | None = None,
        upper: list[npt.NDArray[np.int64]] | None = None,
    ) -> LoDTensor: ...
    def _gather(
        self,
        where: str,
        level: int,
        index: npt.ArrayLike,
        out: npt.NDArray[Any] | None = None,
        upper: list[npt.NDArray[np.int64]] | None = None,
    ) -> LoDTensor: ...

def new_tensor(values: npt.NDArray[Any], lod: LoDBody) -> LoDTensor: ...
def new_of_class(cls: type[Any], values: npt.NDArray[Any], lod: LoDBody) -> Any: ...

@disjoint_base
class Sequences:
    def __new__(cls, x: LoDTensorBody) -> Sequences: ...
    def __iter__(self) -> Sequences: ...
    def __length_hint__(self) -> int: ...
    def __next__(self) -> Any: ...

def alike(tensors: list[Any]) -> tuple[list[npt.NDArray[Any]], list[LoD]] | None: ...
