"""Generators of random numbers from which operators draw: their states, and drawing the same numbers again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from numpy.random import Generator

from lodcore.graph.block import Operator

__all__ = ["drawing_again", "generators_of", "states_of"]


def generators_of(ops: Iterable[Any]) -> list[Generator]:
    """Return the Generators from which operators draw, also in the bodies of loops and in branches; each once."""
    found: dict[int, Generator] = {}
    for op in ops:
        for given in op.arguments.values() if isinstance(op, Operator) else ():
            inner = [given] if isinstance(given, Generator) else generators_of(_ops_inside(given))
            found.update({id(generator): generator for generator in inner})
    return list(found.values())


def _ops_inside(given: Any) -> Iterable[Any]:
    """Return the operators in the body of a loop, or in branches; nothing for any other argument."""
    bodies = getattr(given, "bodies", None)
    return [] if bodies is None else [op for body in bodies for op in body.ops]


def states_of(generators: list[Generator]) -> list[Any]:
    """Return the states of Generators."""
    return [generator.bit_generator.state for generator in generators]


@contextlib.contextmanager
def drawing_again(generators: list[Generator], states: list[Any]) -> Iterator[None]:
    """Let Generators draw from earlier states, and restore their present states afterwards."""
    now = states_of(generators)
    try:
        for generator, state in zip(generators, states, strict=True):
            generator.bit_generator.state = state
        yield
    finally:
        for generator, state in zip(generators, now, strict=True):
            generator.bit_generator.state = state
