"""The error of an import from a source folder in which nothing is compiled."""

import sys
from pathlib import Path


def explained(error: ModuleNotFoundError) -> ImportError:
    """Return the error of an import, with advice if a compiled module of lodcore is missing.

    Parameters
    ----------
    error : ModuleNotFoundError
        The error of the import system.

    Returns
    -------
    ImportError
        An error that names the folder and says how to build it, or `error` if another module is missing.
    """
    folder = Path(__file__).parents[2]
    if not folder.joinpath(*(error.name or "").split(".")).with_suffix(".pyx").exists():
        return error
    return ImportError(
        f"lodcore: {error.name} is not compiled for {sys.implementation.cache_tag} in the source folder {folder}; run "
        "`make build/built` or `pip install -e .` there, or leave the folder to import an installed lodcore",
        name=error.name,
    )
