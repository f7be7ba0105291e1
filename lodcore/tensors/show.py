"""Short text and HTML representations, structure first."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.tensors import lod_body

if TYPE_CHECKING:
    from lodcore.tensors.lod_body import LoDBody
    from lodcore.tensors.lod_tensor_body import LoDTensorBody

__all__ = ["lod_text", "tensor_html", "tensor_text"]

WIDTH = 76  # characters of content before it is cut
MOST_LENGTHS = 10  # number of lengths shown of each level of a LoD that is too long to be drawn


class _Writer:
    """A buffer of pieces of text, up to the width of a line."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.size = 0
        self.cut = False  # whether text was left out

    @property
    def full(self) -> bool:
        return self.size > WIDTH

    def add(self, piece: str) -> None:
        self.pieces.append(piece)
        self.size += len(piece)


def _write(out: _Writer, lod: LoDBody, level: int, start: int, stop: int, row: Any, gap: str) -> None:
    """Write the elements `start` to `stop` of a level (rows below the last), with all brackets closed."""
    for i in range(start, stop):
        if out.full:
            out.cut = True
            out.add("..." if not gap else f"{gap}..." if i > start else "...")
            return
        if i > start and (gap or level < lod.num_levels):
            out.add(gap or " ")
        if level == lod.num_levels:
            out.add(row(i))
            continue
        offsets = lod_body.offsets_view(lod, level)
        out.add("[")
        _write(out, lod, level + 1, offsets[i], offsets[i + 1], row, gap)
        out.add("]")


def _content(lod: LoDBody, row: Any, gap: str) -> tuple[str, bool]:
    """Return the elements that fit in a line as text, and whether these are all."""
    out = _Writer()
    count = lod.num_sequences(0) if lod.num_levels else lod.num_rows
    _write(out, lod, 0, 0, count, row, gap)
    return "".join(out.pieces), not out.cut


def lod_text(lod: LoDBody) -> str:
    """Draw a LoD: an x for each row, brackets for each sequence."""
    if not lod.num_levels:
        return f"LoD(0 levels, {lod.num_rows} rows)"
    if not lod.num_sequences(0):
        return f"LoD(0 sequences, {with_number(lod.num_levels, 'level')})"
    drawn, whole = _content(lod, lambda i: "x", "")
    return f"LoD({drawn})" if whole else f"LoD({_lengths_text(lod)})"


def _lengths_text(lod: LoDBody) -> str:
    """Describe a LoD that is too long to be drawn: numbers of sequences, and the first lengths of each level."""
    parts = _level_texts(lod)
    for j, level in enumerate(_shown(lod.num_levels)):
        lengths = np.diff(lod.offsets(level))
        if len(lengths) and lengths.min() < lengths.max():
            first = ", ".join(map(str, lengths[:MOST_LENGTHS].tolist()))
            parts[j] += f": {first}{', ...' * (len(lengths) > MOST_LENGTHS)}"
    return _joined(parts, lod.num_levels)


def _cut(text: str, size: int = WIDTH) -> str:
    return text if len(text) <= size else f"{text[:size]}..."


def _row_text(values: np.ndarray[Any, Any], i: int) -> str:
    row = values[i]
    if values.ndim > 2 and row.size > 64:
        first = ", ".join(str(number) for number in row.flat[:6])
        return _cut(f"{'[' * row.ndim}{first}, ...{']' * row.ndim}")
    if values.ndim > 1:
        with np.printoptions(threshold=6, edgeitems=2, precision=4, linewidth=10**6):
            return _cut(" ".join(np.array2string(row, separator=", ").split()))
    if values.dtype.kind == "f":
        number = float(row)
        whole = abs(number) < 1e15 and number == int(number)
        return f"{number:.0f}." if whole else f"{number:.6g}"  # as NumPy formats floats
    if values.dtype.kind in "US":
        return _cut(repr(row.item()))
    return _cut(str(row))


def _shown(depth: int) -> list[int]:
    """Return the levels that are shown: all, or the first and last two of very many."""
    return list(range(depth)) if depth <= 6 else [0, 1, depth - 2, depth - 1]


def _counts(lod: LoDBody) -> str:
    """Describe the numbers and lengths of sequences, level by level."""
    if not lod.num_levels:
        return f"{lod.num_rows} row{'s' * (lod.num_rows != 1)}"
    return _joined(_level_texts(lod), lod.num_levels)


def _level_texts(lod: LoDBody) -> list[str]:
    """Return a description of the number and lengths of sequences of each shown level."""
    parts = []
    for level in _shown(lod.num_levels):
        lengths = np.diff(lod.offsets(level))
        count = f"{len(lengths)} sequence{'s' * (len(lengths) != 1)}"
        if not len(lengths):
            parts.append(count)
        elif lengths.min() == lengths.max():
            parts.append(f"{count} of length {lengths[0]}")
        else:
            parts.append(f"{count} of lengths {lengths.min()}..{lengths.max()}")
    return parts


def _joined(parts: list[str], depth: int) -> str:
    if depth > 6:
        parts.insert(2, f"... {depth - 4} levels ...")
    return " / ".join(parts)


def tensor_text(x: LoDTensorBody) -> str:
    """Describe a LoDTensor: structure, shape of a row and dtype, then the values that fit in a line."""
    row_shape = f", rows of shape {x.values.shape[1:]}" if x.values.ndim > 1 else ""
    content, _ = _content(x.lod, lambda i: _row_text(x.values, i), ", ")
    return f"LoDTensor({_counts(x.lod)}{row_shape}, {_cut(str(x.values.dtype))}: [{content}])"


def _histogram(lengths: np.ndarray[Any, Any]) -> str:
    """Return a histogram of lengths as a small SVG."""
    low, high = int(lengths.min()), int(lengths.max())
    bins = min(24, high - low + 1)
    counts, edges = np.histogram(lengths, bins=bins, range=(low, high + 1))
    bars = []
    for k, count in enumerate(counts):
        height = round(40 * int(count) / max(1, int(counts.max())), 1)
        first, last = int(np.ceil(edges[k])), int(np.ceil(edges[k + 1])) - 1
        bars.append(
            f'<rect x="{k * 10}" y="{40 - height}" width="9" height="{height}" fill="#4878a8">'
            f"<title>length {first}..{last}: {count}</title></rect>"
        )
    return f'<svg width="{bins * 10}" height="40" role="img" aria-label="lengths">{"".join(bars)}</svg>'


def _shape(x: LoDTensorBody) -> tuple[int | None, ...]:
    return (len(x), *(None,) * x.lod.num_levels, *x.values.shape[1:])


def tensor_html(x: LoDTensorBody) -> str:
    """Return a LoDTensor as HTML: a summary, a histogram of the lengths of each level, the first values."""
    summary = f"shape {_cut(str(_shape(x)))}, {_cut(str(x.values.dtype))}, {x.values.nbytes:,} bytes"
    parts = [f"<div><b>LoDTensor</b> {html.escape(summary)}</div>"]
    for level in _shown(x.lod.num_levels):
        lengths = x.lod.lengths(level)
        if not len(lengths):
            parts.append(f"<div>level {level}: no sequences</div>")
            continue
        text = (
            f"level {level}: {len(lengths):,} sequences, lengths min {lengths.min()}, "
            f"median {np.median(lengths):g}, max {lengths.max()}, {int((lengths == 0).sum()):,} empty"
        )
        parts.append(f"<div>{text}</div>{_histogram(lengths)}")
    content, _ = _content(x.lod, lambda i: _row_text(x.values, i), ", ")
    parts.append(f"<pre>[{html.escape(content)}]</pre>")
    return "".join(parts)
