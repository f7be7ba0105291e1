from collections.abc import Callable, Iterator
from typing import Any

from typing_extensions import disjoint_base

END: object

@disjoint_base
class Stepping:
    def __next__(self) -> Any: ...

@disjoint_base
class StreamBody:
    source: Iterator[Any]
    def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...
    def begin(
        self,
        source: Iterator[Any],
        budget: int,
        padded: bool,
        most: int,
        overflow: str,
        size: int,
        length: Callable[[Any], int],
        name: str,
        report: Callable[..., Any],
    ) -> None: ...
    def settings(self) -> tuple[Any, ...]: ...
    def counts(self) -> tuple[tuple[int, int, int, int, int, int], list[int], int]: ...
    def __next__(self) -> Any: ...
    def read_again(self, counts: tuple[int, ...], waiting: set[int], lengths: int, where: str) -> None: ...
    def __getstate__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: tuple[Any, ...]) -> None: ...
