"""The errors of lodcore.

One form for all messages: ``<where>: <argument>: <what is>; <what must be>``, with position and value.
"""

__all__ = ["BatchError", "DTypeError", "GraphError", "LevelError", "LoDError", "ShapeError"]


class LoDError(ValueError):
    """The structure (offsets, lengths, levels) is wrong, or two structures do not agree."""


class LevelError(LoDError, IndexError):
    """There is no such level."""


class ShapeError(ValueError):
    """The shape of values is wrong, or two shapes do not agree."""


class DTypeError(TypeError):
    """The dtype is wrong, or the argument is of a kind that has no dtype."""


class GraphError(RuntimeError):
    """A program was recorded or run in a way that has no meaning."""


class BatchError(RuntimeError):
    """A batch of rows could not be computed.

    Attributes
    ----------
    path : str or None
        The file of the rows that fail, where it is known.
    rows : (int, int)
        The first of them, and one more than the last.
    """

    path: str | None = None
    rows: tuple[int, int] = (0, 0)
