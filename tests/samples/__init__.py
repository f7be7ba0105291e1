"""The table over which generic tests of operators run: SAMPLES by the names of operators.

The files, one per family, define how calls are drawn, their results, and wrong calls. Cases for other implementations
and the timed call are part of the table, but defined where they are used without it: cases do not import lodcore
(`reference/ops`), and benchmarks run without the tests (`asv_benchmarks/benchmarks/operators.py`).
"""

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from asv_benchmarks.benchmarks.operators import ARGUMENTS, KEYWORDS
from lodcore.testing.samples import Sample
from reference.cases import OPERATORS


class Call(NamedTuple):
    """A call of an operator: tensors are read-only."""

    args: tuple
    kwargs: dict


class Samples(NamedTuple):
    """The information that generic tests need about an operator.

    Parameters
    ----------
    calls : strategy
        Draws valid calls (Call) of all kinds: dtypes, levels, depths, row shapes, empty sequences.
    expected : callable
        Takes the arguments by their names (defaults included) and returns the result as nested lists, computed by the
        oracle in `reference.ops`, which does not use offsets; a tuple for several results.
    smooth : strategy or None
        Draws calls whose derivative can be measured: float64, away from kinks and ties. None if there is no gradient.
    errors : list of (str, type, str)
        Wrong calls as text, their errors, and patterns for the messages; names are those of `wrong_calls.things`.
    exact : bool
        Whether the result agrees with the oracle exactly, or approximately.
    cases : reference.case.Operator or None
        The same for other implementations; None if they need not have the operator.
    small : callable or None
        Makes a small call (Sample), which is timed, run a million times, and run with other dtypes.
    """

    calls: Any
    expected: Callable[[dict[str, Any]], Any]
    smooth: Any
    errors: list[tuple[str, Any, str]]
    exact: bool = True
    cases: Any = None
    small: Callable[[], Sample] | None = None


def call(*args, **kwargs):
    """Make a Call."""
    return Call(args, kwargs)


def small_call(name):
    """Return the function that makes the small call of an operator, if there is one."""
    return (lambda: Sample(tuple(ARGUMENTS[name]()), KEYWORDS.get(name, {}))) if name in ARGUMENTS else None


FILES = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
SAMPLES = {
    name: samples._replace(cases=OPERATORS.get(name), small=small_call(name))
    for file in FILES
    for name, samples in file.SAMPLES.items()
}
#: Calls whose costs are counted, of the names that `tests.robustness.costly_calls` describes.
COSTS = [text for file in FILES for text in getattr(file, "COSTS", "").splitlines() if text]
