"""Gradients of a step of a beam search: from selected scores back to the candidates that were selected."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore.operators.operands import Array, rows_of

__all__ = ["back_to_candidates", "of_form"]


def back_to_candidates(d: Array, out: Any, values: Array, ids: Any, ended: Array) -> tuple[Array, Array]:
    """Return the gradients of the scores of prefixes that had ended, and of the candidates of all others.

    Parameters
    ----------
    d : ndarray
        One entry per selected continuation.
    out : tuple
        The result of the step.
    values : ndarray, shape (n_prefixes, k)
        The scores of the candidates, those of the prefixes included.
    ids : array_like or None
        The ids of the candidates.
    ended : ndarray of bool
        One entry per prefix.
    """
    parents = out[2].astype(np.int64)
    of_before, of_values = np.zeros(len(values), values.dtype), np.zeros_like(values)
    over = ended[parents]
    np.add.at(of_before, parents[over], d[over])
    at = np.flatnonzero(~over)
    selected = parents[at]
    ids_of = None if ids is None else np.asarray(rows_of(ids))[selected]
    possible = _possible(out[0].values.reshape(-1)[at], out[1].values.reshape(-1)[at], values[selected], ids_of)
    np.add.at(of_values, (selected, _each_once(selected, possible)), d[at])
    return of_before, of_values


def of_form(given: Any, gradient: Array) -> Array:
    """Return a gradient with one entry per prefix in the shape of what was given: one entry each, or one for all."""
    shape = np.shape(given)
    return (gradient if math.prod(shape) == len(gradient) else gradient.sum()).reshape(shape)


def _possible(kept_ids: Array, kept_scores: Array, values: Array, ids: Array | None) -> list[list[int]]:
    """Return the columns of the candidates that each selected one may be: those of its id and its score."""
    if ids is None:
        return [[column] for column in kept_ids.tolist()]
    score = kept_scores[:, None]
    equal = (ids == kept_ids[:, None]) & ((values == score) | (np.isnan(values) & np.isnan(score)))
    return [np.flatnonzero(row).tolist() for row in equal]


def _each_once(parents: Array, columns: list[list[int]]) -> Array:
    """Choose columns so that no candidate of a prefix is selected twice: the first that is possible."""
    taken: set[tuple[int, int]] = set()
    found = np.empty(len(columns), np.int64)
    for j, (parent, possible) in enumerate(zip(parents.tolist(), columns, strict=True)):
        found[j] = next((c for c in possible if (parent, c) not in taken), possible[0])
        taken.add((parent, found.item(j)))
    return found
