"""Libraries that are imported when a door to them is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["library"]


def library(module: str, extra: str, where: str) -> Any:
    """Import a library, or say how to install it.

    Parameters
    ----------
    module : str
    extra : str
        The extra of lodcore that installs it.
    where : str
        Who needs it, for the message.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        Naming the extra.
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ImportError(
            f'{where}: needs {name}, which cannot be imported ({error}); pip install "lodcore[{extra}]"', name=name
        ) from error
