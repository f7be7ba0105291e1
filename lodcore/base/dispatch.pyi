from collections.abc import Callable, Iterable
from typing import Any, TypeVar, final

from typing_extensions import disjoint_base

__pyx_capi__: dict[str, Any]  # what other compiled modules call

_V = TypeVar("_V", bound=VariableBody)

OPENED: list[int]

class Symbol:
    def recorder(self) -> Any: ...
    def current(self) -> Any: ...
    def get(self) -> Any: ...

@disjoint_base
class VariableBody(Symbol):
    name: str
    held: Any
    home: Callable[[], Any] | None
    later: Any
    _spec: Any

def variable_of(kind: type[_V], name: str | None, value: Any, spec: Any, block: Any) -> _V: ...

class AtOnce:
    def record(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

AT_ONCE: AtOnce

def value_of(given: Any, op: Any = None) -> Any: ...

@disjoint_base
class ArrayBody:
    block: Any
    variable: Any
    wanted_name: str | None
    _items: Any
    _source: Any
    _size: Any
    _limit: Any
    _element: Any
    _rank: Any

def release_arrays(*lists: list[Any]) -> None: ...
def take_contents(arrays: list[Any], others: list[Any]) -> None: ...
def register_out(function: Callable[[Any, Any], Any]) -> None: ...
def recorder_of(given: Any) -> Any: ...
def recorder(given: Iterable[Any]) -> Any: ...

@disjoint_base
class Journal:
    def __enter__(self) -> None: ...
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None: ...

def note(array: Any) -> None: ...

OPS: dict[str, Any]

class Operators:
    def __getattr__(self, name: str) -> Any: ...

operators: Operators

@disjoint_base
class OpBody:
    other_names: dict[str, str] | None
    changes: bool
    writes: str | None
    with_residuals: Callable[..., Any] | None
    gradient: bool
    positional: int
    takes_out: bool
    @property
    def nested(self) -> type | None: ...
    def __init__(self, function: Callable[..., Any], batches: int, name: str, by_name: bool) -> None: ...
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def converts(self) -> bool: ...
    def look_at(
        self,
        expected: list[frozenset[type] | None],
        takes: list[Callable[[str, Any], Any] | None],
        nested: type,
        same_object: bool,
        first: bool,
    ) -> None: ...
    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None: ...
    def of_values(self, function: Callable[..., Any], values: list[Any], residuals: bool) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...

@disjoint_base
class BoundOp:
    @property
    def __func__(self) -> OpBody: ...
    @property
    def __self__(self) -> Any: ...
    @property
    def __wrapped__(self) -> Callable[..., Any]: ...
    def __new__(cls, function: OpBody, instance: Any) -> BoundOp: ...
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...

def open_block() -> Any: ...

@final
class recording:
    def __init__(self, block: Any) -> None: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, kind: Any = None, error: Any = None, trace: Any = None) -> None: ...

class Opening:
    opened: recording | None
    closed: bool
    captured_arrays: list[Any]
    def __enter__(self) -> Any: ...
    def __exit__(self, kind: Any, *rest: object) -> None: ...
