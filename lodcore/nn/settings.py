"""Learning rate schedules as data: which function made them, of which numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from lodcore.nn.schedules import cosine_schedule, inverse_root_schedule, linear_schedule, step_schedule

__all__ = ["SCHEDULES", "settings_of"]

#: The functions that make schedules, by name.
SCHEDULES: dict[str, Callable[..., Callable[[int], float]]] = {
    "linear_schedule": linear_schedule,
    "cosine_schedule": cosine_schedule,
    "inverse_root_schedule": inverse_root_schedule,
    "step_schedule": step_schedule,
}

#: What these return without the numbers: the function of a `functools.partial`, and its first arguments.
MADE: list[tuple[str, Any, tuple[Any, ...]]] = [
    (name, made.func, made.args[:1] if callable(made.args[0]) else ())  # type: ignore[attr-defined]
    for name, made in (
        ("linear_schedule", linear_schedule(1.0, 1)),
        ("cosine_schedule", cosine_schedule(1.0, 1)),
        ("inverse_root_schedule", inverse_root_schedule(1.0, 1)),
        ("step_schedule", step_schedule(1.0, 1.0, 1)),
    )
]


def settings_of(rate: Any) -> tuple[str, tuple[Any, ...]] | None:
    """Return the name of the function that made a schedule, and its arguments; None for any other function."""
    if type(rate) is not functools.partial or rate.keywords:
        return None
    for name, function, first in MADE:
        if rate.func is function and rate.args[: len(first)] == first:
            return name, rate.args[len(first) :]
    return None
