"""Packing and batching of items from an iterator of unknown length, with a bounded buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, NoReturn, SupportsIndex, TypeVar

from lodcore.base import buffers
from lodcore.base.articles import with_article
from lodcore.base.keywords import hinting
from lodcore.batching.iterators import StreamBody
from lodcore.batching.limits import MOST, as_choice, as_count
from lodcore.batching.sampler_states import check_state, digest
from lodcore.errors import DTypeError
from lodcore.operators.arguments import function_of

__all__ = ["Stream", "StreamFill", "batch_stream", "pack_stream"]

T = TypeVar("T")

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


StreamFill.__module__ = "lodcore.batching"


class Stream(StreamBody, Generic[T]):
    """An iterator of bins or batches, which are lists of items; made by `pack_stream` or `batch_stream`.

    Before each bin, the buffer is filled from the source. No item waits forever: the item that has waited longest
    starts a bin. A batch consists of waiting items of similar length, chosen for the best fill, unless four times as
    many items as the buffer holds came after the oldest item, which then is in the next batch.

    An error in `next`, including one of the source or of `length`, loses no item: those that were read and not returned
    are kept for the next call. So, with overflow "error", an item that is too long stays where it is: every further
    call raises the same error, and waiting items are not returned. Several threads may share a stream; each bin is
    returned to one of them. `copy.deepcopy` and `pickle` copy the source, too, if it can be copied, as the iterator of
    a list can; `state_dict` needs no copy.

    Attributes
    ----------
    fill : StreamFill
        The report on the occupancy so far.
    """

    __module__ = "lodcore.batching"

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
        self.begin(iter(source), budget, padded, max_items, overflow, buffer, length, name, StreamFill)
        self._name = name

    @property
    def fill(self) -> StreamFill:
        """The report on the occupancy so far."""
        (_, bins, items, tokens, padding, dropped), waiting, _ = self.counts()
        return StreamFill(bins, items, tokens, padding, dropped, len(waiting))

    def __iter__(self) -> Iterator[list[T]]:
        return self

    def __copy__(self) -> NoReturn:
        raise TypeError(
            f"{self._name}: copy: would take items from the same source; copy.deepcopy, or load_state_dict of a new "
            "stream with the state_dict of this one, is needed"
        )

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        check_copied(self._name, self.source)
        return super().__reduce_ex__(protocol)

    def state_dict(self) -> dict[str, Any]:
        """Return the current state: the number of items read, the waiting items, the fill, and checksums.

        Returns
        -------
        dict
            Numbers, and the list of the numbers of waiting items, which is not longer than the buffer.
        """
        counts, waiting, lengths = self.counts()
        return {**dict(zip(COUNTS, counts, strict=True)), "waiting": waiting, "lengths": lengths, "digest": self._key()}

    def _key(self) -> str:
        return digest(*self.settings())

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
        check_state(where, state, (*COUNTS, "waiting", "lengths"), {"digest": self._key()}, what)
        counts = tuple([as_count(f"{where}: {name}", state[name], 0) for name in COUNTS])
        waiting = buffers.as_int64(state["waiting"], f"{where}: waiting", ValueError)
        taken, _, items, _, _, dropped = counts
        outside = ((waiting < 0) | (waiting >= taken)).any()
        if outside or len(set(waiting.tolist())) < max(len(waiting), taken - items - dropped):
            raise ValueError(
                f"{where}: waiting: is {waiting.tolist()}; different numbers below {taken}, of what is taken but in no "
                "bin, are needed"
            )
        self.read_again(counts, set(waiting.tolist()), as_count(f"{where}: lengths", state["lengths"], 0), where)


def check_copied(where: str, source: Iterator[Any]) -> None:
    """Raise if an iterator, or one that it takes items from, cannot be copied."""
    try:
        parts = source.__reduce_ex__(4)
    except TypeError as error:
        kind = with_article(type(source).__name__)
        raise TypeError(
            f"{where}: source: is {kind}, which cannot be copied; load_state_dict of a new stream with the state_dict "
            "of this one is needed"
        ) from error
    for part in parts[1]:
        if isinstance(part, Iterator):
            check_copied(where, part)


#: The numbers of a state, in the order of `counts`.
COUNTS = ("taken", "bins", "items", "tokens", "padding", "dropped")


@hinting
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


@hinting
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
        The maximum number of waiting items. It is filled before each batch, which takes time in proportion to it.
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
    function_of(f"{name}: length", length)
    if getattr(source, "ndim", None) == 0 or not any(hasattr(source, name) for name in ("__iter__", "__getitem__")):
        raise DTypeError(f"{name}: source: is {type(source).__name__}; an iterable of items is needed")
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
