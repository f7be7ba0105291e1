"""Import of optional libraries at first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["axes_to_draw_in", "library"]


def library(module: str, extra: str, where: str) -> Any:
    """Import a library; raise an error with the installation command if it is missing.

    Parameters
    ----------
    module : str
    extra : str
        The extra of lodcore that installs it.
    where : str
        The name of the function that needs it, for the message.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If the library cannot be imported; the message names the extra.
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ImportError(
            f'{where}: needs {name}, which cannot be imported ({error}); pip install "lodcore[{extra}]"', name=name
        ) from error


def axes_to_draw_in(where: str, axes: Any) -> Any:
    """Return the given matplotlib axes, or new ones."""
    pyplot = library("matplotlib.pyplot", "plots", where)
    return pyplot.subplots()[1] if axes is None else axes
