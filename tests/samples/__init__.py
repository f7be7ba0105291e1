"""The one table that generic tests of operators run over: SAMPLES by the names of operators.

How calls are drawn, what they give and which are wrong is written here, a file a family. Cases for other
implementations and the call that is timed are part of the table, and written where they are used without it: cases know
no lodcore (`reference/cases`), and benchmarks run where no tests are (`asv_benchmarks/benchmarks/operators.py`).
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
    """What the generic tests need to know of an operator.

    Parameters
    ----------
    calls : strategy
        Draws valid calls (Call) of all kinds: dtypes, levels, depths, row shapes, empty sequences.
    expected : callable
        Takes the arguments by their names (defaults included) and gives the result as nested lists, computed by the
        oracle in `reference.ops`, which knows no offsets; a tuple for several results.
    smooth : strategy or None
        Draws calls whose derivative can be measured: float64, away from kinks and ties. None: there is no gradient.
    errors : list of (str, type, str)
        Wrong calls as text, what they raise, and a pattern for the message; names are those of `wrong_calls.things`.
    exact : bool
        Whether the result agrees with the oracle to the last bit, or about.
    dtypes : str
        A call of `tests.helpers.table_of_dtypes` that gives of each dtype what this operator gives, which then has no
        row there.
    cases : reference.case.Operator or None
        The same for other implementations; None where they are not held to it.
    small : callable or None
        Makes a small call (Sample) that computes: it is timed, run a million times, and given other dtypes.
    """

    calls: Any
    expected: Callable[[dict[str, Any]], Any]
    smooth: Any
    errors: list[tuple[str, Any, str]]
    exact: bool = True
    dtypes: str = ""
    cases: Any = None
    small: Callable[[], Sample] | None = None


def call(*args, **kwargs):
    """Make a Call."""
    return Call(args, kwargs)


def small_call(name):
    """Return what makes the small call of an operator, if there is one."""
    return (lambda: Sample(tuple(ARGUMENTS[name]()), KEYWORDS.get(name, {}))) if name in ARGUMENTS else None


SAMPLES = {
    name: samples._replace(cases=OPERATORS.get(name), small=small_call(name))
    for module in pkgutil.iter_modules(__path__)
    for name, samples in import_module(f"{__name__}.{module.name}").SAMPLES.items()
}
