"""Beam search, greedy search and sampling with any network that computes the log probabilities of the next token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_article
from lodcore.base.keywords import hinting
from lodcore.base.memory import check_size, unharmed
from lodcore.errors import DTypeError, ShapeError
from lodcore.graph.trees import tree_leaves, tree_map
from lodcore.nn.token_sampling import real_of, sampling_of
from lodcore.operators.arguments import choice_of, function_of, integer_of
from lodcore.ops import gather_sequences
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["BeamSearchDecoder", "BeamSearchResult"]

Array = np.ndarray[Any, Any]
Step = Callable[[Array, Any], tuple[Any, Any]]
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
ROUNDING = 1e-3  # tolerance by which a log probability may exceed 0
MOST = 2**31 - 1


class BeamSearchResult(NamedTuple):
    """The result of a search.

    Attributes
    ----------
    tokens : LoDTensor of int64
        Sources, hypotheses, tokens; the best hypothesis comes first. The start token is not included; the end token is
        included unless the hypothesis was cut at the maximum length.
    scores : LoDTensor
        Sources, hypotheses: the log probability of the hypothesis divided by its length penalty.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.nn import BeamSearchResult
    >>> found = BeamSearchResult(lodcore.array([[[3, 1], [2]]]), lodcore.array([[-0.5, -1.0]]))
    >>> found.tokens[0]
    LoDTensor(2 sequences of lengths 1..2, int64: [[3, 1], [2]])
    """

    tokens: LoDTensor
    scores: LoDTensor


BeamSearchResult.__module__ = "lodcore.nn"


@hinting
class BeamSearchDecoder:
    """A search for the most probable sequences that a network generates step by step.

    Parameters
    ----------
    step : callable
        ``log_probs, state = step(ids, state)``: a function of the last token of each branch, int64 of shape
        (n_branches,), and the state of each branch. It returns the log probabilities of the next token, float32 or
        float64 of shape (n_branches, n_tokens), and the next state. A state is a tree of arrays, or LoDTensors, with
        one row (sequence) per branch.
    beam_size : int
        The maximum number of branches per source.
    start_id : int
        The token before the first one.
    end_id : int
        The token that ends a hypothesis; with a number that is not a token, such as -1, no hypothesis ends before
        `max_length`.
    max_length : int
        The maximum number of tokens of a hypothesis, including its end token. A branch of this length is a hypothesis
        even without an end token.
    min_length : int
        The minimum number of tokens of a hypothesis, including its end token.
    length_penalty : float
        The exponent of the penalty by which log probabilities are divided; 0 disables it, greater exponents favour
        longer hypotheses.
    num_results : int
        The number of hypotheses returned per source, if there are that many.
    allowed : array_like of bool, or callable, optional
        The tokens that may come next: a mask of shape (n_tokens,) or (n_sources, n_tokens), or a function
        ``allowed(ids, sources, length)`` of the last token of each branch, the number of its source, and the number of
        its tokens, which returns a mask of shape (n_branches, n_tokens).
    normalization : {"gnmt", "length"}
        The penalty of a hypothesis of n tokens: ``((5 + n) / 6) ** length_penalty``, or ``n ** length_penalty``. The
        latter with an exponent of 1 is the mean log probability.
    temperature, top_k, top_p : float, int, float, optional
        If one of them is given, tokens are drawn at random: each source has `beam_size` branches, each of which draws
        its next token from the probabilities to the power of ``1 / temperature``, restricted to the `top_k` most
        probable tokens, and to the fewest most probable tokens whose total probability is at least `top_p`.
    seed : int, optional
        The seed of the random numbers; equal seeds give equal results.

    Raises
    ------
    DTypeError, ValueError
        If an argument is not a number, or out of range.

    Notes
    -----
    In each step, the `beam_size` best continuations of the open branches of each source are selected, as by
    `lodcore.beam_search`. Those that end are added to the pool of finished hypotheses. An open branch is continued as
    long as it can win: as long as its score, if all further tokens were certain, would exceed the worst of the
    `num_results` best scores of the pool. So stopping never misses a better hypothesis. Finished branches and sources
    leave the batch, and each step computes only with the remaining ones.

    Equal hypotheses are in the order in which they were finished; those that finish in one step, in the order of
    the branches. With a beam as wide as the number of hypotheses, the search is exhaustive; with a beam of 1, it is
    greedy.

    States are reordered with one gather per leaf. Large data of a source need not be in the state: store the number of
    the source in the state, and look the data up in the step.

    Examples
    --------
    Search a bigram model of three tokens, in which 0 is the end token:

    >>> import numpy as np
    >>> from lodcore import nn
    >>> table = np.log(np.array([[1.0, 1e-9, 1e-9], [0.1, 0.3, 0.6], [0.5, 0.4, 0.1]]))
    >>> decoder = nn.BeamSearchDecoder(
    ...     lambda ids, state: (table[ids], state), beam_size=2, start_id=1, end_id=0, max_length=5, num_results=2
    ... )
    >>> result = decoder(None, num_sources=1)
    >>> result.tokens.tolist()
    [[[2, 0], [2, 1, 2, 0]]]
    >>> np.exp(result.scores.values).round(3).tolist()
    [0.3, 0.072]
    """

    __module__ = "lodcore.nn"

    def __init__(
        self,
        step: Step,
        beam_size: int,
        start_id: int,
        end_id: int,
        max_length: int,
        min_length: int = 0,
        length_penalty: float = 0.0,
        num_results: int = 1,
        allowed: Any = None,
        *,
        normalization: str = "gnmt",
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
    ) -> None:
        where = "BeamSearchDecoder"
        self.step = function_of(f"{where}: step", step)
        self.beam_size = integer_of(f"{where}: beam_size", beam_size, 1, MOST)
        self.start_id = integer_of(f"{where}: start_id", start_id, -(2**63), 2**63 - 1)
        self.end_id = integer_of(f"{where}: end_id", end_id, -(2**63), 2**63 - 1)
        self.max_length = integer_of(f"{where}: max_length", max_length, 1)
        self.min_length = integer_of(f"{where}: min_length", min_length, 0, self.max_length)
        self.length_penalty = real_of(f"{where}: length_penalty", length_penalty)
        if not np.isfinite(self.length_penalty):
            raise ValueError(f"{where}: length_penalty: is {length_penalty}; a finite number is needed")
        self.num_results = integer_of(f"{where}: num_results", num_results, 1, MOST)
        self.allowed = allowed if allowed is None or callable(allowed) else _mask(f"{where}: allowed", allowed).copy()
        self.normalization = choice_of(f"{where}: normalization", normalization, ("gnmt", "length"))
        self.sampling = sampling_of(where, temperature, top_k, top_p)
        if seed is not None:
            if self.sampling is None:
                raise ValueError(f"{where}: seed: is given, but nothing is drawn; give temperature, top_k or top_p")
            seed = integer_of(f"{where}: seed", seed, 0)
        self.seed = seed

    def penalty(self, length: int) -> float:
        """Return the length penalty, by which the log probability of a hypothesis of this length is divided."""
        return float(((5 + length) / 6 if self.normalization == "gnmt" else length) ** self.length_penalty)

    def __call__(self, state: Any, num_sources: int) -> BeamSearchResult:
        """Search from the first states of the sources.

        Parameters
        ----------
        state : tree
            The first state of each source: arrays with `num_sources` rows, LoDTensors with as many sequences, or None.
        num_sources : int

        Returns
        -------
        BeamSearchResult

        Raises
        ------
        ShapeError
            If a state does not have one row per source, or a result of `step` not one per branch.
        DTypeError
            If log probabilities are not float32 or float64, or a mask does not have dtype bool.
        ValueError
            If a log probability is nan, or above 0.

        Examples
        --------
        >>> import numpy as np
        >>> from lodcore import nn
        >>> def countdown(ids, state):
        ...     log_probs = np.full((len(ids), 4), -np.inf)
        ...     log_probs[np.arange(len(ids)), state] = 0
        ...     return log_probs, np.maximum(state - 1, 0)
        >>> nn.BeamSearchDecoder(countdown, 2, 0, 0, max_length=9)(np.array([3, 1]), 2).tokens.tolist()
        [[[3, 2, 1, 0]], [[1, 0]]]
        """
        search = _Search(self, integer_of("BeamSearchDecoder: num_sources", num_sources, 0, MOST), state)
        for length in range(1, self.max_length + 1):
            if not len(search.ids):
                break
            search.advance(length)
        return search.results()


class _Search:
    """The open branches, the selections of all steps, and the pool of finished hypotheses."""

    def __init__(self, decoder: BeamSearchDecoder, num_sources: int, state: Any) -> None:
        self.decoder, self.num_sources = decoder, num_sources
        _check_state(state, num_sources, "sources")
        sources = np.arange(num_sources)
        self.random = None if decoder.sampling is None else np.random.default_rng(decoder.seed)
        if decoder.sampling is not None and decoder.beam_size > 1:
            check_size("BeamSearchDecoder: beam_size", num_sources, decoder.beam_size, 8)
            sources = sources.repeat(decoder.beam_size)
            state = _gathered(state, sources)
        self.state = state
        self.sources = sources
        self.slots = np.arange(len(sources))  # the original numbers of the branches, for drawing
        self.ids = np.full(len(sources), decoder.start_id)
        self.scores: Array | None = None
        self.items = np.full(len(sources), -1)  # the last selected item of each branch
        self.num_items = 0
        self.tokens: list[Array] = []
        self.parents: list[Array] = []
        self.pool: list[tuple[Array, Array, Array]] = []  # sources, scores, items
        self.best = self._none_yet()

    def _none_yet(self) -> Array | None:
        """Return the array of the best scores of each source, decreasing; None if a pool never has enough of them."""
        decoder = self.decoder
        if decoder.num_results > decoder.beam_size * decoder.max_length:
            return None
        check_size("BeamSearchDecoder: num_results", self.num_sources, decoder.num_results, 8)
        return np.full((self.num_sources, decoder.num_results), -np.inf)

    def advance(self, length: int) -> None:
        """Compute the step after which branches have `length` tokens."""
        decoder = self.decoder
        made = decoder.step(self.ids, self.state)
        if not isinstance(made, (tuple, list)) or len(made) != 2:
            raise DTypeError(
                f"BeamSearchDecoder: step: returned {with_article(type(made).__name__)}; a pair of log probabilities "
                "and the next state is needed"
            )
        log_probs, state = made
        log_probs = _log_probs(log_probs, len(self.ids))
        _check_state(state, len(self.ids), "branches")
        if self.scores is None:
            self.scores = np.zeros(len(self.ids), log_probs.dtype)
        forbidden = self._forbidden(log_probs.shape[1], length)
        tokens, scores, parents = (self._best if decoder.sampling is None else self._drawn)(log_probs, forbidden)
        possible = scores > -np.inf
        if not possible.all():
            tokens, scores, parents = tokens[possible], scores[possible], parents[possible]
        sources = self.sources[parents]
        items = np.arange(self.num_items, self.num_items + len(tokens))
        self.num_items += len(tokens)
        self.tokens.append(tokens)
        self.parents.append(self.items[parents])
        ended = tokens == decoder.end_id if length < decoder.max_length else np.ones(len(tokens), bool)
        if ended.any():
            final = scores[ended].astype(np.float64) / decoder.penalty(length)
            self.pool.append((sources[ended], final, items[ended]))
            if self.best is not None:
                unharmed(kernels.beam.note_best(final, sources[ended], self.best))
        open_ = ~ended
        if length < decoder.max_length and self.best is not None:
            open_ &= self._may_win(scores, length) > self.best[sources, -1]
        if open_.all():
            self.sources, self.scores, self.ids, self.items = sources, scores, tokens, items
        else:
            self.sources, self.scores, self.ids, self.items = sources[open_], scores[open_], tokens[open_], items[open_]
            parents = parents[open_]
        stays = len(parents) == len(log_probs) and bool((parents == np.arange(len(parents))).all())
        self.slots = self.slots if stays else self.slots[parents]
        self.state = state if stays or not len(parents) else _gathered(state, parents)

    def _may_win(self, scores: Array, length: int) -> Array:
        """Compute the best score that each branch can reach: without further loss, at the best remaining length."""
        decoder, exact = self.decoder, scores.astype(np.float64)
        soonest = max(length + 1, decoder.min_length)
        return np.maximum(exact / decoder.penalty(soonest), exact / decoder.penalty(decoder.max_length))

    def _forbidden(self, n_tokens: int, length: int) -> Array | None:
        """Return the mask of forbidden tokens, shape (n_tokens,) or (n_branches, n_tokens); None if all are allowed."""
        decoder = self.decoder
        forbidden = None
        if decoder.allowed is not None:
            mask = decoder.allowed
            if callable(mask):
                mask = _mask("BeamSearchDecoder: allowed", mask(self.ids, self.sources, length - 1))
                rows, needed = len(self.ids), "branches"
            else:
                rows, needed = self.num_sources, "sources"
            if mask.shape not in ((n_tokens,), (rows, n_tokens)):
                raise ShapeError(
                    f"BeamSearchDecoder: allowed: has shape {mask.shape}; ({n_tokens},) is needed, or "
                    f"({rows}, {n_tokens}), one row for each of the {needed}"
                )
            forbidden = ~mask
            if mask.ndim == 2 and needed == "sources":
                forbidden = forbidden[self.sources]
        if length < decoder.min_length and 0 <= decoder.end_id < n_tokens:
            forbidden = np.zeros(n_tokens, bool) if forbidden is None else forbidden.copy()
            forbidden[..., decoder.end_id] = True
        return forbidden

    def _best(self, log_probs: Array, forbidden: Array | None) -> tuple[Array, Array, Array]:
        """Select the best continuations of each source; return their tokens, scores, and previous branches."""
        before = self.scores
        assert before is not None  # there has been a step
        scores = log_probs + before[:, None]
        if forbidden is not None:
            scores[np.broadcast_to(forbidden, scores.shape)] = -np.inf
        offsets = np.zeros(self.num_sources + 1, np.int64)
        counts = np.bincount(self.sources, minlength=self.num_sources)
        np.cumsum(counts, out=offsets[1:])
        beam_size, n = self.decoder.beam_size, len(scores)
        room = int(np.minimum(counts * scores.shape[1], beam_size).sum())  # the number selected if nothing has ended
        tokens, kept, parents = buffers.new_int64(room), np.empty(room, scores.dtype), np.empty(room, np.int32)
        open_ids, per_branch = np.zeros(n, np.int64), buffers.new_int64(n + 1)
        kernels.beam.select_best(
            open_ids, before, None, scores, offsets, beam_size, -1, tokens, kept, parents, per_branch
        )
        return tokens, kept, parents.astype(np.int64)

    def _drawn(self, log_probs: Array, forbidden: Array | None) -> tuple[Array, Array, Array]:
        """Draw one continuation of each branch."""
        decoder = self.decoder
        if forbidden is not None:
            log_probs = np.where(forbidden, log_probs.dtype.type(-np.inf), log_probs)
        assert self.random is not None
        assert decoder.sampling is not None
        chances = self.random.random(self.num_sources * decoder.beam_size)[self.slots]
        tokens = decoder.sampling.draw(log_probs, chances)
        branches = np.arange(len(tokens))
        return tokens, self.scores + log_probs[branches, tokens], branches

    def results(self) -> BeamSearchResult:
        """Return the best hypotheses of each source."""
        dtype = FLOATS[0] if self.scores is None else self.scores.dtype
        found = [np.concatenate(x) for x in zip(*self.pool, strict=True)] if self.pool else [np.zeros(0, int)] * 3
        order = np.lexsort((-found[1], found[0]))
        sources, scores, items = (x[order] for x in found)
        starts = np.searchsorted(sources, np.arange(self.num_sources + 1))
        kept = np.arange(len(sources)) - starts[sources] < self.decoder.num_results
        counts = np.minimum(np.diff(starts), self.decoder.num_results)
        hypotheses = np.zeros(self.num_sources + 1, np.int64)
        np.cumsum(counts, out=hypotheses[1:])
        scores, ends = scores[kept].astype(dtype), items[kept].astype(np.int64)
        nothing = np.zeros(0, np.int64)
        tokens = np.concatenate([nothing, *self.tokens])
        parents = np.concatenate([nothing, *self.parents])
        offsets = buffers.new_offsets(len(ends) + 1)
        kernels.beam.measure_ways(tokens, parents, ends, self.decoder.end_id, offsets)
        written = buffers.new_int64(offsets.item(len(ends)))
        kernels.beam.write_ways(tokens, None, parents, ends, offsets, self.decoder.end_id, written, None)
        return BeamSearchResult(
            lod_tensor_body.new_tensor(written, lod_body.make_lod([hypotheses, offsets], len(written))),
            lod_tensor_body.new_tensor(scores, lod_body.make_lod([hypotheses], len(scores))),
        )


# -- arguments ---------------------------------------------------------------------------------------------------------


def _mask(where: str, given: Any) -> Array:
    mask = np.asarray(given)
    if mask.dtype != bool:
        raise DTypeError(f"{where}: has dtype {mask.dtype}; bool is needed")
    if mask.ndim not in (1, 2):
        raise ShapeError(f"{where}: has shape {mask.shape}; one or two axes are needed")
    return mask


def _log_probs(given: Any, n_branches: int) -> Array:
    """Return checked log probabilities of the next tokens."""
    where = "BeamSearchDecoder: step: log probabilities"
    if isinstance(given, LoDTensor):
        raise DTypeError(f"{where}: is a LoDTensor; a dense array is needed, one row per branch")
    found = np.asarray(given)
    if found.dtype not in FLOATS:
        raise DTypeError(f"{where}: has dtype {found.dtype}; float32 or float64 is needed")
    if found.ndim != 2 or len(found) != n_branches or not 0 < found.shape[1] <= MOST:
        raise ShapeError(f"{where}: has shape {found.shape}; ({n_branches}, n_tokens) is needed, one row per branch")
    if not found.max() <= ROUNDING:
        branch, token = (int(x[0]) for x in np.nonzero(~(found <= ROUNDING)))
        raise ValueError(f"{where}: is {found[branch, token]} at branch {branch}, token {token}; 0 or less is needed")
    return found


def _check_state(state: Any, count: int, of: str) -> None:
    """Check that a state has one row per branch."""
    for leaf in tree_leaves(state):
        if leaf is None:
            continue
        if not hasattr(leaf, "shape") and not hasattr(leaf, "__array__"):
            raise DTypeError(
                f"BeamSearchDecoder: state: has {with_article(type(leaf).__name__)}; arrays or LoDTensors are needed"
            )
        rows = len(leaf) if isinstance(leaf, LoDTensor) else np.shape(leaf)[0] if np.ndim(leaf) else None
        if rows != count:
            shape = leaf.shape if isinstance(leaf, LoDTensor) else np.shape(leaf)
            raise ShapeError(f"BeamSearchDecoder: state: has shape {shape}; there are {count} {of}, one row each")


def _gathered(state: Any, index: Array) -> Any:
    """Gather rows of all leaves of a state."""

    def gather(leaf: Any) -> Any:
        if type(leaf) is np.ndarray:
            return leaf.take(index, 0)
        if leaf is None:
            return None
        return gather_sequences(leaf, index) if isinstance(leaf, LoDTensor) else np.asarray(leaf).take(index, 0)

    return tree_map(gather, state)
