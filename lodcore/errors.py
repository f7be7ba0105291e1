"""The errors of lodcore.

One form for all messages: ``<where>: <argument>: <what is>; <what must be>``, with position and value.
"""

__all__ = ["BatchError", "DTypeError", "GraphError", "LevelError", "LoDError", "ShapeError"]


class LoDError(ValueError):
    """An error of structure: offsets, lengths or levels are invalid, or two structures differ."""


class LevelError(LoDError, IndexError):
    """An error for a level that does not exist."""


class ShapeError(ValueError):
    """An error of shape: that of values is invalid, or two shapes do not match."""


class DTypeError(TypeError):
    """An error of dtype: it is not supported, or the argument is of a kind without a dtype."""


class GraphError(RuntimeError):
    """An error of recording or running a program."""


class BatchError(RuntimeError):
    """An error in the computation of a batch of rows.

    Attributes
    ----------
    path : str or None
        The file of the failing rows, if it is known.
    rows : (int, int)
        The range of the failing rows: the first, and one after the last.
    """

    path: str | None = None
    rows: tuple[int, int] = (0, 0)
