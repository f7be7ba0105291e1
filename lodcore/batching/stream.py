"""Packing and batching of items from an iterator of unknown length, with a bounded buffer."""

from __future__ import annotations

import warnings
import zlib
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from lodcore.batching.arguments import MOST, as_choice, as_count
from lodcore.batching.states import check_state, digest
from lodcore.errors import LoDError

__all__ = ["Stream", "StreamFill", "batch_stream", "pack_stream"]

T = TypeVar("T")

#: A stream warns if less than this part of its bins is filled.
ENOUGH = 0.95
#: An item starts the next batch when this many times the buffer size of items came after it.
PATIENCE = 4
#: The number of bins after which a stream first checks its fill; then after ten times as many each time.
FIRST_LOOK = 100

OVERFLOWS = ("error", "drop", "own_bin", "truncate")


class StreamFill(NamedTuple):
    """A report on the occupancy of the bins of a stream so far.

    Parameters
    ----------
    bins, items, tokens, padding : int
        Bins, items and tokens that were returned; padding is the remaining room.
    dropped : int
        Items that were left out or truncated because they were too long.
    waiting : int
        The number of items in the buffer.
    """

    bins: int
    items: int
    tokens: int
    padding: int
    dropped: int
    waiting: int

    @property
    def fill(self) -> float:
        """The part of the bins that is filled with tokens; 1.0 before the first bin."""
        room = self.tokens + self.padding
        return self.tokens / room if room else 1.0

    def __str__(self) -> str:
        return (
            f"{self.bins:,} bins, {100 * self.fill:.1f} % full: {self.items:,} items, {self.tokens:,} tokens; "
            f"{self.waiting} waiting, {self.dropped} dropped or cut"
        )


class Stream(Generic[T]):
    """An iterator of bins or batches, which are lists of items, made by `pack_stream` or `batch_stream`.

    Before each bin, the buffer is filled from the source. No item waits forever: the item that has waited longest
    starts a bin. A batch consists of waiting items of similar length, chosen for the best fill, unless four times the
    buffer size of items came after the oldest item, which then is in the next batch.

    Attributes
    ----------
    fill : StreamFill
        The report on the occupancy so far.
    """

    def __init__(
        self,
        source: Iterable[T],
        budget: int,
        *,
        padded: bool,
        max_items: int,
        overflow: str,
        buffer: int,
        length: Callable[[T], int],
        name: str,
    ) -> None:
        self._source = iter(source)
        self._budget, self._padded, self._most = budget, padded, max_items
        self._overflow, self._size, self._length, self._name = overflow, buffer, length, name
        self._waiting: dict[int, tuple[int, T]] = {}  # by number, and so in order of arrival
        self._by_length: list[tuple[int, int]] = []  # lengths and numbers, sorted
        self._look_after = FIRST_LOOK
        self._lengths = 0  # a checksum of the lengths of all items taken
        self._taken = self._bins = self._items = self._tokens = self._padding = self._dropped = 0

    @property
    def fill(self) -> StreamFill:
        """The report on the occupancy so far."""
        counts = self._bins, self._items, self._tokens, self._padding, self._dropped
        return StreamFill(*counts, len(self._waiting))

    def __iter__(self) -> Iterator[list[T]]:
        return self

    def __next__(self) -> list[T]:
        self._refill()
        if not self._waiting:
            raise StopIteration
        number, (length, _) = next(iter(self._waiting.items()))
        chosen = self._neighbours(length, number) if self._padded else self._best_fit(length, number)
        lengths = [self._waiting[one][0] for one in chosen]
        bin = [self._waiting.pop(one)[1] for one in chosen]
        used = sum(lengths)
        self._bins += 1
        self._items += len(bin)
        self._tokens += used
        self._padding += max(self._budget - used, 0)
        if self._bins == self._look_after:
            self._look_after *= 10
            if self.fill.fill < ENOUGH:
                advice = "a larger buffer, or a larger budget, fills them better"
                warnings.warn(f"{self._name}: {self.fill}; {advice}", stacklevel=2)
        return bin

    def _refill(self) -> None:
        """Read items from the source until the buffer is full."""
        while len(self._waiting) < self._size:
            try:
                item = next(self._source)
            except StopIteration:
                return
            self._enter(item)

    def _enter(self, item: T) -> None:
        """Add an item to the buffer."""
        number, length = self._taken, self._measured(item)
        if length > self._budget:
            if self._overflow == "error":
                raise LoDError(
                    f"{self._name}: source: item {number} has length {length}; the budget is {self._budget}: choose "
                    "overflow='drop', 'truncate' or 'own_bin'"
                )
            if self._overflow != "own_bin":
                self._dropped += 1
                if self._overflow == "drop":
                    return
                item, length = item[: self._budget], self._budget  # type: ignore[index]
        self._waiting[number] = length, item
        insort(self._by_length, (length, number))

    def _measured(self, item: T) -> int:
        """Return the length of the next item, which is taken by that."""
        length = as_count(f"{self._name}: length of item {self._taken}", self._length(item), 0)
        self._lengths = zlib.crc32(length.to_bytes(8, "little"), self._lengths)
        self._taken += 1
        return length

    def _best_fit(self, length: int, number: int) -> list[int]:
        """Choose items by their sum: the oldest one, then repeatedly the longest that still fits."""
        self._by_length.pop(bisect_left(self._by_length, (length, number)))
        chosen, room = [number], self._budget - length
        while len(chosen) < self._most:
            place = bisect_right(self._by_length, (room, MOST)) - 1
            if place < 0:
                break
            longest = self._by_length[place][0]
            length, number = self._by_length.pop(
                bisect_left(self._by_length, (longest, -1))
            )  # the oldest of equally long ones
            chosen.append(number)
            room -= length
        return chosen

    def _neighbours(self, length: int, number: int) -> list[int]:
        """Choose items by the longest times their number: the fullest run of the waiting items sorted by length.

        If the oldest item has waited too long, the run must contain it.
        """
        sizes = np.array([size for size, _ in self._by_length])
        last = np.arange(len(sizes))
        counts = np.minimum(np.maximum(self._budget // np.maximum(sizes, 1), 1), self._most)
        first = np.maximum(last + 1 - counts, 0)
        before = np.append(0, np.cumsum(sizes))
        held = before[last + 1] - before[first]
        if self._taken - number > PATIENCE * self._size:
            place = bisect_left(self._by_length, (length, number))
            held[(first > place) | (last < place)] = -1
        best = int(held.argmax())
        low, high = int(first[best]), best + 1
        chosen = [one for _, one in self._by_length[low:high]]
        del self._by_length[low:high]
        return chosen

    def state_dict(self) -> dict[str, Any]:
        """Return the current state: the number of items read, the waiting items, the fill, and checksums.

        Returns
        -------
        dict
            Numbers, and the list of the numbers of waiting items, which is not longer than the buffer.
        """
        counts = {name: getattr(self, f"_{name}") for name in COUNTS}
        return {**counts, "waiting": list(self._waiting), "lengths": self._lengths, "digest": self._digest()}

    def _digest(self) -> str:
        return digest(self._budget, self._padded, self._most, self._overflow, self._size)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from the state of another stream of the same source; nothing may have been read from this one.

        The source, which must yield the same items again, is read up to that point.

        Parameters
        ----------
        state : mapping
            The result of `state_dict`.

        Raises
        ------
        ValueError
            If an entry is missing, this stream has other settings or has been started already, or the source is
            shorter or its items have other lengths.
        """
        where = f"{self._name}: load_state_dict"
        what = "is that of a stream with another budget, count, max_items, overflow or buffer"
        check_state(where, state, (*COUNTS, "waiting", "lengths"), {"digest": self._digest()}, what)
        if self._taken:
            raise ValueError(f"{where}: {self._taken} items are taken from the source already; a new stream is needed")
        waiting = set(state["waiting"])
        for number in range(state["taken"]):
            try:
                item = next(self._source)
            except StopIteration:
                raise ValueError(f"{where}: source: ends after {number} items; {state['taken']} were taken") from None
            if number in waiting:
                self._enter(item)
            else:
                self._measured(item)
        if self._lengths != state["lengths"]:
            raise ValueError(f"{where}: source: its first {state['taken']} items have other lengths than those taken")
        for name in COUNTS:
            setattr(self, f"_{name}", state[name])
        while self._look_after <= self._bins:
            self._look_after *= 10


#: The numbers of a state.
COUNTS = ("taken", "bins", "items", "tokens", "padding", "dropped")


def pack_stream(
    source: Iterable[T],
    budget: int,
    max_items: int | None = None,
    overflow: str = "error",
    buffer: int = 1000,
    length: Callable[[Any], int] = len,
) -> Stream[T]:
    """Pack items into bins as they arrive from a source of unknown length.

    Parameters
    ----------
    source : iterable
        The documents: arrays, lists, or any objects that have a length.
    budget : int
        The maximum number of tokens per bin.
    max_items : int, optional
        The maximum number of documents per bin.
    overflow : {"error", "drop", "truncate", "own_bin"}
        How to treat a document that is longer than the budget; see `pack_plan`.
    buffer : int
        The maximum number of waiting documents; a larger buffer gives fuller bins. It is filled before each bin.
    length : callable
        A function that counts the tokens of a document.

    Returns
    -------
    Stream
        An iterator of lists of documents. `fill` reports their occupancy; below 95 % it warns.

    Raises
    ------
    LoDError
        During iteration, if a document is longer than the budget and `overflow` is "error".
    ValueError, DTypeError
        If an argument is out of range.

    Examples
    --------
    >>> from lodcore.batching import pack_stream
    >>> stream = pack_stream(["four", "to", "a", "seven..", "three", "to"], budget=8)
    >>> list(stream)
    [['four', 'to', 'to'], ['a', 'seven..'], ['three']]
    >>> print(stream.fill)
    3 bins, 87.5 % full: 6 items, 21 tokens; 0 waiting, 0 dropped or cut
    """
    return _stream("pack_stream", source, budget, "sum", max_items, overflow, buffer, length)


def batch_stream(
    source: Iterable[T],
    max_tokens: int,
    count: str = "padded",
    max_items: int | None = None,
    overflow: str = "error",
    buffer: int = 1000,
    length: Callable[[Any], int] = len,
) -> Stream[T]:
    """Make batches within a budget, of items of similar length, as items arrive.

    Parameters
    ----------
    source : iterable
    max_tokens : int
        The budget of a batch.
    count : {"padded", "sum"}
        Whether the budget counts the longest item of a batch times the number of items, or the sum of their lengths.
    max_items : int, optional
        The maximum number of items per batch.
    overflow : {"error", "drop", "truncate", "own_bin"}
        How to treat an item that is longer than the budget; see `pack_plan`.
    buffer : int
        The maximum number of waiting items. It is filled before each batch.
    length : callable
        A function that counts the tokens of an item.

    Returns
    -------
    Stream
        An iterator of lists of items. `fill` reports their occupancy; below 95 % it warns.

    Raises
    ------
    LoDError
        During iteration, if an item is longer than the budget and `overflow` is "error".
    ValueError, DTypeError
        If an argument is out of range.

    Examples
    --------
    >>> from lodcore.batching import batch_stream
    >>> list(batch_stream(["four", "to", "a", "seven..", "three", "to"], max_tokens=8))
    [['seven..'], ['to', 'four'], ['three'], ['a', 'to']]
    """
    return _stream("batch_stream", source, max_tokens, count, max_items, overflow, buffer, length)


def _stream(
    name: str, source: Iterable[T], budget: int, count: str, max_items: int | None, overflow: str, buffer: int,
    length: Callable[[T], int],
) -> Stream[T]:  # fmt: skip
    """Check the arguments; return the stream."""
    return Stream(
        source,
        as_count(f"{name}: budget" if name == "pack_stream" else f"{name}: max_tokens", budget),
        padded=as_choice(f"{name}: count", count, ("padded", "sum")) == "padded",
        max_items=MOST if max_items is None else as_count(f"{name}: max_items", max_items),
        overflow=as_choice(f"{name}: overflow", overflow, OVERFLOWS),
        buffer=as_count(f"{name}: buffer", buffer),
        length=length,
        name=name,
    )
