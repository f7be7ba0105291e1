"""Generators of random numbers from which operators draw, and their states."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.random import Generator

from lodcore.graph.block import Operator

__all__ = ["generators_of", "states_of", "with_generators"]


def generators_of(ops: Iterable[Any]) -> list[Generator]:
    """Return the Generators from which operators draw, even in bodies of loops and in branches; each once."""
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


def with_generators(ops: list[Any], sources: Mapping[Any, Generator]) -> list[Any]:
    """Return operators that draw from other Generators: `sources` maps those of the operators to them."""
    made = list(ops)
    for k, op in enumerate(ops):
        if isinstance(op, Operator) and any(isinstance(x, Generator) for x in op.arguments.values()):
            made[k] = copy.copy(op)
            made[k].arguments = {
                name: sources.get(x, x) if isinstance(x, Generator) else x for name, x in op.arguments.items()
            }
    return made


def states_of(generators: list[Generator]) -> list[Any]:
    """Return the states of Generators."""
    return [generator.bit_generator.state for generator in generators]
