"""Additive attention over a memory, whose scores are computed by a small network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore.base.articles import with_number
from lodcore.base.dispatch import Symbol
from lodcore.base.keywords import hinting
from lodcore.errors import LoDError
from lodcore.nn.layers import check_shape, check_sizes, check_width, dtype_for, even, parts_of
from lodcore.ops import (
    add,
    drop_level,
    matmul,
    mul,
    rows,
    sequence_expand,
    sequence_expand_as,
    sequence_matmul,
    sequence_pool,
    sequence_softmax,
    tanh,
    with_values,
)
from lodcore.tensors.from_lists import as_nested

__all__ = ["AdditiveAttention"]

Array = np.ndarray[Any, Any]


@hinting
@dataclass(frozen=True)
class AdditiveAttention:
    """Additive attention of one or several queries over the rows of each sequence: score @ tanh(query + key + bias).

    Parameters
    ----------
    n_query, n_memory : int
        The widths of the rows of queries and memory.
    n_hidden : int
        The width of the hidden layer.

    Raises
    ------
    DTypeError, ValueError
        If a size is not an integer, or below 0.

    Notes
    -----
    Parameters: `weight_query`, shape (n_query, n_hidden), `weight_memory`, shape (n_memory, n_hidden), `bias` and
    `score`, both of shape (n_hidden,).

    In a decoder, the memory is the same in every step: `keys = layer.keys(parameters, memory)` before the loop avoids
    repeating its product with `weight_memory`.

    References
    ----------
    D. Bahdanau, K. Cho, Y. Bengio, "Neural machine translation by jointly learning to align and translate", ICLR 2015.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> layer = lodcore.nn.AdditiveAttention(3, 2, 4)
    >>> parameters = layer.init(np.random.default_rng(0))
    >>> memory = lodcore.LoDTensor.from_lengths(np.ones((3, 2), np.float32), [1, 0, 2])
    >>> context, weights = layer(parameters, np.zeros((3, 3), np.float32), memory)
    >>> context
    array([[1., 1.],
           [0., 0.],
           [1., 1.]], dtype=float32)
    >>> weights
    LoDTensor(3 sequences of lengths 0..2, float32: [[1.], [], [0.5, 0.5]])
    """

    __module__ = "lodcore.nn"

    n_query: int
    n_memory: int
    n_hidden: int

    def __post_init__(self) -> None:
        check_sizes("AdditiveAttention", n_query=self.n_query, n_memory=self.n_memory, n_hidden=self.n_hidden)

    def init(self, rng: np.random.Generator, dtype: npt.DTypeLike = np.float32) -> dict[str, Array]:
        """Draw parameters.

        Parameters
        ----------
        rng : numpy.random.Generator
        dtype : dtype_like
            float32 or float64.

        Returns
        -------
        dict of ndarray
        """
        made = dtype_for("AdditiveAttention.init", rng, dtype)
        return {
            "weight_query": even(rng, self.n_query, self.n_hidden, made),
            "weight_memory": even(rng, self.n_memory, self.n_hidden, made),
            "bias": np.zeros(self.n_hidden, made),
            "score": (rng.standard_normal(self.n_hidden) / math.sqrt(self.n_hidden or 1)).astype(made),
        }

    def keys(self, parameters: Any, memory: Any) -> Any:
        """Multiply a memory by its weight; the result can be passed to calls.

        Parameters
        ----------
        parameters : dict
        memory : LoDTensor

        Returns
        -------
        LoDTensor
            Rows of shape (n_hidden,), with the LoD of the memory.
        """
        (weight,) = parts_of("AdditiveAttention.keys", parameters, "weight_memory")
        memory = _nested("AdditiveAttention.keys: memory", memory)
        check_width("AdditiveAttention.keys: memory", memory, self.n_memory)
        check_shape("AdditiveAttention.keys: weight_memory", weight, self.n_memory, self.n_hidden)
        return matmul(memory, weight)

    def __call__(self, parameters: Any, query: Any, memory: Any, values: Any = None, keys: Any = None) -> Any:
        """Compute the attention of queries over the rows of each sequence.

        Parameters
        ----------
        parameters : dict
        query : array_like or LoDTensor
            One row per sequence of the last level of the memory: shape (n, n_query), or a LoDTensor with all levels of
            the memory but the last. Or several: a LoDTensor with as many levels as the memory.
        memory : LoDTensor
            Rows of shape (n_memory,).
        values : LoDTensor, optional
            Must have the LoD of the memory; by default the memory.
        keys : LoDTensor, optional
            The result of `keys` for this memory, if it has been computed already.

        Returns
        -------
        context, weights
            As in `dot_attention`.
        """
        where = "AdditiveAttention"
        weight, bias, score = parts_of(where, parameters, "weight_query", "bias", "score")
        memory = _nested(f"{where}: memory", memory)
        check_width(f"{where}: query", query, self.n_query)
        check_shape(f"{where}: weight_query", weight, self.n_query, self.n_hidden)
        check_shape(f"{where}: bias", bias, self.n_hidden)
        check_shape(f"{where}: score", score, self.n_hidden)
        keys = self.keys(parameters, memory) if keys is None else keys
        asked = add(matmul(query, weight), bias)
        values = memory if values is None else values
        queried, levels = getattr(asked, "num_levels", 0), memory.num_levels
        if queried not in (0, levels - 1, levels):
            raise LoDError(
                f"{where}: query: has {with_number(queried, 'level')}; "
                f"memory has {levels}, and as many or one fewer are needed"
            )
        if queried < levels:
            hidden = tanh(add(keys, sequence_expand_as(rows(asked), keys)))
            weights = sequence_softmax(matmul(hidden, score))
            return sequence_pool(mul(values, weights), "sum"), weights
        hidden = tanh(_pairs(asked, keys, levels))
        weights = sequence_softmax(matmul(hidden, score))
        return sequence_matmul(weights, values), weights


def _nested(where: str, memory: Any) -> Any:
    """Return a LoDTensor, which may be given as nested lists."""
    return memory if isinstance(memory, Symbol) else as_nested(where, memory)


def _pairs(asked: Any, keys: Any, levels: int) -> Any:
    """Add each row of the queries to each row of the keys of its sequence, which adds a level."""
    every = sequence_matmul(asked[..., :0], keys[..., :0], transpose_y=True)  # the structure of the pairs
    flat_asked, flat_keys = asked, keys
    for _ in range(levels - 1):
        flat_asked, flat_keys = drop_level(flat_asked), drop_level(flat_keys)
    of_keys = with_values(every, rows(sequence_expand(flat_keys, flat_asked)))
    return add(of_keys, sequence_expand_as(rows(asked), every))
