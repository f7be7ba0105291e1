"""The table that generic tests of operators run over: a file a family, SAMPLES by the names of operators."""

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple


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
    """

    calls: Any
    expected: Callable[[dict[str, Any]], Any]
    smooth: Any
    errors: list[tuple[str, Any, str]]
    exact: bool = True
    dtypes: str = ""


def call(*args, **kwargs):
    """Make a Call."""
    return Call(args, kwargs)


SAMPLES = {
    name: samples
    for module in pkgutil.iter_modules(__path__)
    for name, samples in import_module(f"{__name__}.{module.name}").SAMPLES.items()
}
