"""PackPlan: the assignment of documents to bins, its application to tensors, and its inverse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from lodcore.base.articles import there_are, with_number
from lodcore.base.memory import integer
from lodcore.base.naming import call_named, with_arguments
from lodcore.batching.applied_plans import pack_documents, unpack_documents
from lodcore.batching.limits import Int64, as_rank, sealed
from lodcore.batching.reports.pack_report import PackReport, pack_report
from lodcore.batching.stored import arrays_of_plan, checked_arrays, read_arrays, write_arrays
from lodcore.ops import gather_sequences
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["PackPlan", "Pieces", "plan_of_pieces"]


class Pieces(NamedTuple):
    """Pieces of documents.

    Parameters
    ----------
    documents : int64, shape (m,), or None
        The document of each piece; None if every document is one piece, in order.
    starts, sizes : int64, shape (m,), or None
        The first token of each piece, and its number of tokens; None for all tokens.
    """

    documents: Int64 | None
    starts: Int64 | None
    sizes: Int64 | None

    def sizes_of(self, lengths: Int64) -> Int64:
        """Count the tokens of each piece."""
        if self.sizes is not None:
            return self.sizes
        return lengths if self.documents is None else lengths[self.documents]

    def joined(self, documents: Int64) -> Pieces:
        """Append whole documents to pieces without starts."""
        assert self.documents is not None
        return Pieces(np.concatenate([self.documents, documents]), None, None)

    def taken(self, index: Int64) -> Pieces:
        """Return pieces by their numbers."""
        documents = index if self.documents is None else self.documents[index]
        starts, sizes = (None if one is None else one[index] for one in (self.starts, self.sizes))
        return Pieces(documents, starts, sizes)


class PackPlan:
    """The assignment of documents, or pieces of documents, to bins.

    `pack_plan` makes one. `plan[b]` returns the numbers of the documents in bin b, and a plan is iterable, so that it
    can be a `batch_sampler`, too.

    Attributes
    ----------
    lengths : int64, shape (num_documents,)
        The lengths of the planned documents, in tokens.
    budget : int
        The maximum number of tokens per bin.
    method : str
    max_items : int or None
    multiple_of, shards : int
    is_part : bool
        Whether this is a result of `take` or `shard`.
    documents, starts, sizes : int64, shape (number of pieces,)
        The document of each piece, its first token in the document, and its number of tokens, bin by bin. Read-only.
    lod : LoD
        The LoD of the packed documents: bins, pieces, tokens.

    Examples
    --------
    >>> from lodcore.batching import pack_plan
    >>> plan = pack_plan([3, 1, 5, 2], budget=6)
    >>> len(plan), plan[1]
    (2, array([0, 3, 1]))
    >>> plan.lod
    LoD([[xxxxx]] [[xxx] [xx] [x]])
    """

    __module__ = "lodcore.batching"

    __slots__ = (
        "_bins", "_inverse", "_lod", "_pieces",
        "budget", "is_part", "lengths", "max_items", "method", "multiple_of", "shards",
    )  # fmt: skip

    lengths: Int64
    budget: int
    method: str
    max_items: int | None
    multiple_of: int
    shards: int
    is_part: bool
    _pieces: Pieces
    _bins: LoD
    _lod: LoD | None
    _inverse: Int64 | None

    def __init__(self) -> None:
        raise TypeError("PackPlan: use pack_plan, PackPlan.load or PackPlan.from_arrays")

    # -- properties ----------------------------------------------------------------------------------------------------

    @property
    def num_documents(self) -> int:
        """The number of planned documents, including those left out."""
        return len(self.lengths)

    @property
    def num_bins(self) -> int:
        """The number of bins."""
        return int(self._bins.num_sequences())

    @property
    def documents(self) -> Int64:
        """The document of each piece, bin by bin."""
        assert self._pieces.documents is not None
        return self._pieces.documents

    @property
    def starts(self) -> Int64:
        """The first token of each piece in its document."""
        if self._pieces.starts is None:
            return sealed(np.zeros(len(self.documents), np.int64))
        return self._pieces.starts

    @property
    def sizes(self) -> Int64:
        """The number of tokens of each piece."""
        if self._pieces.sizes is None:
            self._pieces = self._pieces._replace(sizes=sealed(self.lengths[self.documents]))
        assert self._pieces.sizes is not None
        return self._pieces.sizes

    @property
    def bins(self) -> LoD:
        """The LoD of bins of pieces, with one level."""
        return self._bins

    @property
    def lod(self) -> LoD:
        """The LoD of bins of pieces of tokens, which is that of packed documents."""
        if self._lod is None:
            self._lod = LoD.from_offsets(self._bins.offsets(), LoD.from_lengths(self.sizes).offsets())
        return self._lod

    @property
    def is_cut(self) -> bool:
        """Whether pieces may be parts of documents."""
        return self._pieces.starts is not None

    @property
    def places(self) -> Int64:
        """The numbers of the pieces in the order of the documents, and within a document in that of its tokens."""
        if self._inverse is None:
            if self.is_whole:
                inverse = np.empty(len(self.documents), np.int64)
                inverse[self.documents] = np.arange(len(self.documents))
            else:
                inverse = np.lexsort((self.starts, self.documents))
            self._inverse = sealed(inverse)
        return self._inverse

    @property
    def is_whole(self) -> bool:
        """Whether every document is in a bin of this plan as one piece with all its tokens."""
        if self.is_cut or len(self.documents) != self.num_documents:
            return False
        return not self.is_part or len(np.unique(self.documents)) == self.num_documents  # bins may repeat

    def report(self) -> PackReport:
        """Report the occupancy of the bins, the distance from the least number of bins, and what was dropped or split.

        Returns
        -------
        PackReport

        Examples
        --------
        >>> from lodcore.batching import pack_plan
        >>> report = pack_plan([3, 9, 5, 2], budget=6, overflow="truncate").report()
        >>> report.num_bins, report.lower_bound, report.dropped
        (3, 3, array([[1, 6, 9]]))
        >>> print(report)
        4 documents, 16 tokens packed into 3 bins of 6: 88.9 % full, 2 tokens of padding
        bins: at least 3 are needed, 0 more than that
        dropped: 3 tokens of 1 document: document 1 tokens 6 .. 8
        """
        return pack_report(self)

    def __len__(self) -> int:
        return self.num_bins

    def __getitem__(self, bin: int) -> Int64:
        """Return the numbers of the documents in a bin."""
        number = integer("PackPlan: bin", bin)
        if not -self.num_bins <= number < self.num_bins:
            raise IndexError(f"PackPlan: bin: is {number}; {there_are(self.num_bins, 'bin')}")
        offsets = self._bins.offsets()
        number %= self.num_bins
        return self.documents[offsets[number] : offsets[number + 1]]

    def __iter__(self) -> Iterator[Int64]:
        return (self[bin] for bin in range(self.num_bins))

    def __repr__(self) -> str:
        room = self.num_bins * self.budget
        full = f", {100 * int(self.sizes.sum()) / room:.1f} % full" if room else ""
        return (
            f"PackPlan({with_number(self.num_documents, 'document')} in {with_number(self.num_bins, 'bin')} of "
            f"{self.budget} tokens{full})"
        )

    # -- parts ---------------------------------------------------------------------------------------------------------

    def take(self, bins: Any) -> PackPlan:
        """Return some of the bins, in any order, as a plan of the same documents.

        Parameters
        ----------
        bins : array_like of integers
            Numbers of bins; negative ones count from the end.

        Returns
        -------
        PackPlan
            `undo` returns documents in other bins as empty.

        Raises
        ------
        IndexError
            If a bin does not exist.
        """
        numbers = LoDTensor(np.arange(len(self.documents)), self._bins)
        places = call_named("PackPlan.take", with_arguments, {"index": "bins"}, gather_sequences, numbers, bins)
        found = {name: getattr(self, name) for name in PackPlan.__slots__ if not name.startswith("_")}
        found["is_part"] = True
        return plan_of_pieces(pieces=self._pieces.taken(places.values), bins=places.lod, **found)

    def shard(self, rank: int) -> PackPlan:
        """Return the bins of one shard: every `shards`-th bin, starting with bin `rank`.

        Parameters
        ----------
        rank : int
            0 .. shards - 1.

        Returns
        -------
        PackPlan
            All shards have the same number of bins.

        Examples
        --------
        >>> from lodcore.batching import pack_plan
        >>> plan = pack_plan([3, 1, 5, 2, 6], budget=6, shards=2)
        >>> [plan.shard(rank).num_bins for rank in range(2)]
        [2, 2]
        """
        first = as_rank("PackPlan.shard", rank, self.shards, "shards")
        return self.take(np.arange(first, self.num_bins, self.shards))

    # -- tensors -------------------------------------------------------------------------------------------------------

    def apply(self, x: Any) -> LoDTensor:
        """Pack documents with any content into bins of documents (or pieces of them).

        Parameters
        ----------
        x : LoDTensor or nested lists
            Its outermost sequences are the planned documents. Documents may have further levels; only documents with
            one level can be divided into pieces.

        Returns
        -------
        LoDTensor
            Has one more level than x. Gradients are passed to x.

        Raises
        ------
        LoDError
            If a document does not have the planned length; the message names the first one.
        """
        return pack_documents(self, x)

    def undo(self, y: Any) -> Any:
        """Restore the documents in their order: the inverse of `apply`, also for the output of a network.

        Parameters
        ----------
        y : LoDTensor, nested lists or ndarray
            Bins of documents with any content: rows of another width or dtype, other numbers of rows, further levels.
            Or bins with one row per document. Or an ndarray with one row per packed token, in their order.

        Returns
        -------
        LoDTensor, or ndarray if y has one row per document
            The documents in their original order. Pieces of a document are joined; tokens that were left out are
            missing, and a dropped document is empty. Gradients are passed to y.

        Raises
        ------
        LoDError
            If y has other bins, or one row per document although documents are not whole.

        Examples
        --------
        >>> from lodcore.batching import pack_plan
        >>> plan = pack_plan([3, 1, 5, 2], budget=4, overflow="split")
        >>> packed = plan.apply([[1, 2, 3], [4], [5, 6, 7, 8, 9], [10, 11]])
        >>> packed.tolist()
        [[[5, 6, 7, 8]], [[1, 2, 3], [4]], [[10, 11], [9]]]
        >>> plan.undo(packed * 10).tolist()
        [[10, 20, 30], [40], [50, 60, 70, 80, 90], [100, 110]]
        """
        return unpack_documents(self, y)

    # -- as arrays -----------------------------------------------------------------------------------------------------

    def to_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the plan as plain arrays, from which `from_arrays` restores it.

        Returns
        -------
        dict of str to ndarray
        """
        return arrays_of_plan(self)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> PackPlan:
        """Make a plan from plain arrays, which are checked.

        Parameters
        ----------
        arrays : mapping of str to array_like
            The result of `to_arrays`.

        Returns
        -------
        PackPlan

        Raises
        ------
        LoDError, ValueError
            If an array is missing, or a piece leaves its document, overlaps another, or overfills its bin.
        """
        fields = checked_arrays("PackPlan.from_arrays", arrays)
        pieces = Pieces(fields.pop("documents"), fields.pop("starts"), fields.pop("sizes"))
        return plan_of_pieces(kind=cls, pieces=pieces, **fields)

    def save(self, file: Any) -> None:
        """Write the plan to an .npz file of plain arrays; an existing file is replaced atomically, or kept.

        Parameters
        ----------
        file : str, path or file
        """
        write_arrays(file, self.to_arrays())

    @classmethod
    def load(cls, file: Any) -> PackPlan:
        """Read a plan from an .npz file, which is checked; nothing is unpickled.

        Parameters
        ----------
        file : str, path or file

        Returns
        -------
        PackPlan
        """
        return call_named("PackPlan.load: file", cls.from_arrays, read_arrays(file))  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_arrays, (self.to_arrays(),)


def plan_of_pieces(*, pieces: Pieces, bins: LoD, kind: type[PackPlan] = PackPlan, **fields: Any) -> PackPlan:
    """Make a plan from valid pieces and bins."""
    plan = kind.__new__(kind)
    for one in pieces:
        if one is not None:
            sealed(one)
    plan._pieces, plan._bins, plan._lod, plan._inverse = pieces, bins, None, None
    plan.is_part = False
    for name, value in fields.items():
        setattr(plan, name, value)
    return plan
