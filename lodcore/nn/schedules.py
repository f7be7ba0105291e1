"""Learning rate schedules: functions of the number of steps taken so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from lodcore.operators.arguments import integer_of
from lodcore.operators.numbers import number_of

__all__ = ["SCHEDULES", "Schedule", "cosine_schedule", "inverse_root_schedule", "linear_schedule", "step_schedule"]


class Schedule:
    """A learning rate for each step, as data: files and pickles keep the function that made it, and its arguments.

    Parameters
    ----------
    make : callable
        The function that made it.
    numbers : tuple
        Its arguments.
    rate : callable
        The rate of a step; called with the numbers and the step.
    """

    __slots__ = ("_rate", "make", "numbers")

    def __init__(self, make: Callable[..., Schedule], numbers: tuple[float, ...], rate: Callable[..., float]) -> None:
        self.make, self.numbers, self._rate = make, numbers, rate

    def __call__(self, step: int) -> float:
        """Return the rate of a step, counted from 0."""
        return self._rate(*self.numbers, step)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.make, self.numbers

    def __repr__(self) -> str:
        return f"{self.make.__name__}{self.numbers}"


def linear_schedule(peak: float, num_steps: int, warmup_steps: int = 0, end: float = 0.0) -> Schedule:
    """Return a learning rate schedule that rises to a peak and decreases linearly.

    Parameters
    ----------
    peak : float
    num_steps : int
        The number of steps, warmup included, until the rate reaches the end.
    warmup_steps : int
        The number of steps in which the rate rises linearly; the last of them has the peak.
    end : float
        The rate from step `num_steps` on.

    Returns
    -------
    callable
        Maps the number of steps taken so far to the rate of the next one.

    Raises
    ------
    DTypeError, ValueError
        If a rate is not a number of 0 or more, or there are more warmup steps than steps.

    Examples
    --------
    >>> import lodcore
    >>> rate = lodcore.nn.linear_schedule(1.0, 6, warmup_steps=2)
    >>> [rate(step) for step in range(8)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """
    numbers = _checked("linear_schedule", peak, num_steps, warmup_steps, end)
    return Schedule(linear_schedule, numbers, _linear)


def cosine_schedule(peak: float, num_steps: int, warmup_steps: int = 0, end: float = 0.0) -> Schedule:
    """Return a learning rate schedule that rises to a peak and decreases along half a period of a cosine.

    Parameters
    ----------
    peak : float
    num_steps : int
        The number of steps, warmup included, until the rate reaches the end.
    warmup_steps : int
        The number of steps in which the rate rises linearly; the last of them has the peak.
    end : float
        The rate from step `num_steps` on.

    Returns
    -------
    callable
        Maps the number of steps taken so far to the rate of the next one.

    Raises
    ------
    DTypeError, ValueError
        If a rate is not a number of 0 or more, or there are more warmup steps than steps.

    References
    ----------
    I. Loshchilov, F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.

    Examples
    --------
    >>> import lodcore
    >>> rate = lodcore.nn.cosine_schedule(1.0, 6, warmup_steps=2, end=0.5)
    >>> [round(rate(step), 3) for step in range(8)]
    [0.5, 1.0, 1.0, 0.927, 0.75, 0.573, 0.5, 0.5]
    """
    numbers = _checked("cosine_schedule", peak, num_steps, warmup_steps, end)
    return Schedule(cosine_schedule, numbers, _cosine)


def inverse_root_schedule(peak: float, warmup_steps: int) -> Schedule:
    """Return a learning rate schedule that rises to a peak and decreases with the inverse root of the step number.

    Parameters
    ----------
    peak : float
    warmup_steps : int
        The number of steps in which the rate rises linearly, 1 or more; the last of them has the peak.

    Returns
    -------
    callable
        Maps the number of steps taken so far to the rate of the next one.

    Raises
    ------
    DTypeError, ValueError
        If the peak is not a number of 0 or more, or there is no warmup step.

    References
    ----------
    A. Vaswani and others, "Attention is all you need", NeurIPS 2017.

    Examples
    --------
    >>> import lodcore
    >>> rate = lodcore.nn.inverse_root_schedule(1.0, 4)
    >>> [rate(step) for step in (0, 1, 3, 15, 63)]
    [0.25, 0.5, 1.0, 0.5, 0.25]
    """
    where = "inverse_root_schedule"
    top = number_of(f"{where}: peak", peak, 0)
    return Schedule(inverse_root_schedule, (top, integer_of(f"{where}: warmup_steps", warmup_steps, 1)), _inverse_root)


def step_schedule(start: float, factor: float, every: int) -> Schedule:
    """Return a learning rate schedule that is multiplied by a factor after every `every` steps.

    Parameters
    ----------
    start : float
    factor : float
    every : int
        1 or more.

    Returns
    -------
    callable
        Maps the number of steps taken so far to the rate of the next one.

    Raises
    ------
    DTypeError, ValueError
        If start or factor is not a number of 0 or more, or `every` is below 1.

    Examples
    --------
    >>> import lodcore
    >>> rate = lodcore.nn.step_schedule(1.0, 0.5, 2)
    >>> [rate(step) for step in range(5)]
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """
    where = "step_schedule"
    numbers = number_of(f"{where}: start", start, 0), number_of(f"{where}: factor", factor, 0)
    return Schedule(step_schedule, (*numbers, integer_of(f"{where}: every", every, 1)), _steps)


# -- implementations, functions of the module so that schedules can be pickled -----------------------------------------


def _checked(where: str, peak: Any, num_steps: Any, warmup_steps: Any, end: Any) -> tuple[float, int, int, float]:
    """Check the arguments of a schedule with an end."""
    count = integer_of(f"{where}: num_steps", num_steps, 0)
    rising = integer_of(f"{where}: warmup_steps", warmup_steps, 0, count)
    return number_of(f"{where}: peak", peak, 0), count, rising, number_of(f"{where}: end", end, 0)


def _falling(
    shape: Callable[[float], float], peak: float, num_steps: int, warmup_steps: int, end: float, step: int
) -> float:
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    if step >= num_steps:
        return end
    return end + (peak - end) * shape((step - warmup_steps) / (num_steps - warmup_steps))


def _linear(*numbers: Any) -> float:
    return _falling(lambda part: 1 - part, *numbers)


def _cosine(*numbers: Any) -> float:
    return _falling(lambda part: (1 + math.cos(math.pi * part)) / 2, *numbers)


def _inverse_root(peak: float, warmup_steps: int, step: int) -> float:
    return peak * min((step + 1) / warmup_steps, math.sqrt(warmup_steps / (step + 1)))


def _steps(start: float, factor: float, every: int, step: int) -> float:
    try:
        return start * factor ** (step // every)
    except OverflowError:  # as a product of floats would be
        return math.inf if start else 0.0


#: The functions that make schedules, by name.
SCHEDULES = {make.__name__: make for make in (linear_schedule, cosine_schedule, inverse_root_schedule, step_schedule)}
