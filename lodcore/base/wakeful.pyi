from typing import Generic, TypeVar

from typing_extensions import disjoint_base

_Item = TypeVar("_Item")

@disjoint_base
class WakefulQueue(Generic[_Item]):
    def put(self, item: _Item) -> None: ...
    def get(self) -> _Item: ...
