"""The plain text that the demo prints: headings, accuracies, bars, and the cost of padding."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "WIDTH",
    "Glyphs",
    "bar",
    "describe",
    "matrix_picture",
    "nested_padding_picture",
    "padding_picture",
    "print_heading",
    "progress_bar",
]

WIDTH = 78  # columns of a page


class Glyphs(NamedTuple):
    """The characters of pictures.

    Parameters
    ----------
    rule, solid, half, padding : str
        One column each; `half` is the left half of `solid`, or empty.
    """

    rule: str = "-"
    solid: str = "#"
    half: str = ""
    padding: str = "."

    @classmethod
    def for_encoding(cls, encoding: str | None) -> "Glyphs":
        """Return block characters if the encoding has them, and ASCII otherwise.

        Examples
        --------
        >>> Glyphs.for_encoding("ascii")
        Glyphs(rule='-', solid='#', half='', padding='.')
        """
        blocks = cls("\u2500", "\u2588", "\u258c", "\u00b7")
        try:
            "".join(blocks).encode(encoding or "ascii")
        except (LookupError, UnicodeEncodeError):
            return cls()
        return blocks


def print_heading(text: str, glyphs: Glyphs) -> None:
    """Print a heading with a rule up to the right margin."""
    print(f"\n{glyphs.rule * 2} {text} {glyphs.rule * (WIDTH - 4 - len(text))}\n")


def describe(accuracy: float, count: int) -> str:
    """Return the number and the percentage of correct results as text.

    Parameters
    ----------
    accuracy : float
        In percent.
    count : int

    Examples
    --------
    >>> describe(12.5, 16)
    ' 2 of 16 right   12.50 %'
    """
    return f"{round(accuracy / 100 * count):{len(str(count))}d} of {count} right   {accuracy:5.2f} %"


def bar(length: float, glyphs: Glyphs) -> str:
    """Draw a bar, `length` columns long to the nearest half, or to the nearest whole if there is no half.

    Examples
    --------
    >>> bar(4.2, Glyphs())
    '####'
    """
    if not glyphs.half:
        return glyphs.solid * round(length)
    halves = round(2 * length)
    return glyphs.solid * (halves // 2) + glyphs.half * (halves % 2)


def progress_bar(done: int, count: int, columns: int, glyphs: Glyphs) -> str:
    """Draw a progress bar in a number of columns.

    Examples
    --------
    >>> progress_bar(3, 4, 8, Glyphs())
    '[######..]'
    """
    solid = columns * done // count
    return f"[{glyphs.solid * solid}{glyphs.padding * (columns - solid)}]"


def matrix_picture(counts: NDArray[np.int64], glyphs: Glyphs) -> Sequence[str]:
    """Draw a matrix of counts, with rows and columns numbered from 1, and a character for zeros.

    Examples
    --------
    >>> for line in matrix_picture(np.array([[31, 0], [2, 7]]), Glyphs()):
    ...     print(line)
           1   2
      1   31   .
      2    2   7
    """
    width = max(3, len(str(counts.max()))) + 1
    numbers = range(1, len(counts) + 1)
    lines = [f"{'':4}" + "".join(f"{number:{width}}" for number in numbers)]
    for number, row in zip(numbers, counts.tolist(), strict=True):
        lines.append(f"{number:3} " + "".join(f"{count or glyphs.padding:>{width}}" for count in row))
    return lines


def padding_picture(lengths: NDArray[np.int64], num_bars: int, columns: int, glyphs: Glyphs) -> Sequence[str]:
    """Draw a sample of sequences, longest first, as they would lie in a padded batch.

    Parameters
    ----------
    lengths : int64 ndarray, shape (num_sequences,)
    num_bars : int
        The number of sequences to draw, with evenly spaced ranks, including the longest and the shortest.
    columns : int
        The number of columns per element of a sequence.
    glyphs : Glyphs

    Returns
    -------
    sequence of str
        One line per sequence.

    Examples
    --------
    >>> for line in padding_picture(np.array([2, 5, 3]), 3, 2, Glyphs()):
    ...     print(line)
     5 ##########
     3 ######....
     2 ####......
    """
    ranked = np.sort(lengths)[::-1]
    sample = ranked[np.linspace(0, len(ranked) - 1, num_bars).round().astype(np.int64)].tolist()
    return [
        f"{length:2d} {glyphs.solid * (columns * length)}{glyphs.padding * (columns * (sample[0] - length))}"
        for length in sample
    ]


def nested_padding_picture(documents: Sequence[Sequence[int]], glyphs: Glyphs) -> Sequence[str]:
    """Draw documents as they would lie in a batch that is padded on two levels.

    Parameters
    ----------
    documents : sequence of sequence of int
        The number of words of each sentence.
    glyphs : Glyphs

    Returns
    -------
    sequence of str
        One line per document, one column per word; sentences are a column apart.

    Examples
    --------
    >>> for line in nested_padding_picture([[3, 1], [2]], Glyphs()):
    ...     print(line)
    ### #..
    ##. ...
    """
    most = max(map(len, documents))
    longest = max(length for document in documents for length in document)
    return [
        " ".join(
            glyphs.solid * length + glyphs.padding * (longest - length)
            for length in [*document, *[0] * (most - len(document))]
        )
        for document in documents
    ]
