"""What the site draws: the structure, bars of speed, and lines of the trend, as SVG in the colours of the theme."""

import html
import math
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import lodcore

DOCS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(DOCS.parent / "asv_benchmarks"))

import trend  # noqa: E402

WIDTH = 420  # of a drawing, in units of about a pixel on a phone
DOCUMENTS = [[["the", "cat", "sat"], ["it", "purred"]], [[], ["nobody", "saw"], ["it"]]]


def text(x: float, y: float, said: object, kind: str = "", anchor: str = "middle") -> str:
    """Write a text at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{html.escape(str(said))}</text>'


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Draw a rounded box."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" rx="4" class="{kind}"/>'


def line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    """Draw a straight line."""
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" class="{kind}"/>'


def drawing(parts: Sequence[str], height: float, label: str) -> str:
    """Put parts into a picture that scales with the page."""
    return (
        f'<svg class="drawn" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{html.escape(label)}">'
        + "".join(parts)
        + "</svg>"
    )


def structure() -> str:
    """Draw documents of sentences of words, and below them the one array and the offsets that store them."""
    x = lodcore.array(DOCUMENTS)
    documents, sentences = x.lod.offsets(0).tolist(), x.lod.offsets(1).tolist()
    words = x.values.tolist()
    left, step, room = 4.0, 48.0, 28.0  # room where a sentence is empty

    def start(word: int, empty: int = 0) -> float:
        """Return where a word begins, behind the empty sentences before it."""
        before = sum(a == b and (a < word or (a == word and empty)) for a, b in pairwise(sentences))
        return left + step * word + room * before

    parts = []
    for j, (first, last) in enumerate(pairwise(documents)):
        begin, end = start(sentences[first]), start(sentences[last], 0)
        parts += [box(begin, 20, end - begin - 4, 28, "level0"), text((begin + end - 4) / 2, 39, f"document {j}")]
    for j, (first, last) in enumerate(pairwise(sentences)):
        begin = start(first, first != last)
        end = begin + room if first == last else start(last)
        parts.append(box(begin, 54, end - begin - 4, 28, "level1"))
        parts.append(text((begin + end - 4) / 2, 73, f"sentence {j}" if last - first > 1 else j))
    for j, word in enumerate(words):
        parts += [box(start(j, 1), 88, step - 4, 28, "row"), text(start(j, 1) + step / 2 - 2, 107, word, "row")]
    parts += [text(left, 12, "what it means", "said", "start"), text(left, 142, "what is stored", "said", "start")]
    wide = (WIDTH - 2 * left) / len(words)
    for j, word in enumerate(words):
        parts += [box(left + wide * j, 150, wide, 28, "row"), text(left + wide * (j + 0.5), 169, word, "row")]
    for y, name, offsets in ((196, "lod.offsets(1)", sentences), (216, "lod.offsets(0)", documents)):
        parts.append(text(left, y, f"{name} = {offsets}", "code", "start"))
    return drawing(
        parts, 224, "Two documents of sentences of words, stored as one array of words and two lists of offsets"
    )


def table(columns: int = 2) -> list[tuple[str, list[tuple[float, str]]]]:
    """Read the ratios to the fastest peer from docs/performance.md: an operation, and a ratio and a peer per width."""
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    head = page.index("| operation | width 1 |")
    found = []
    for row in page[head : page.index("\n\n", head)].splitlines()[2:]:
        name, *cells = (cell.strip().replace("**", "") for cell in row.strip("|").split("|"))
        measured = [re.match(r"([\d.]+) (\w+)", cell) for cell in cells[:columns]]
        found.append((name.replace("`", ""), [(float(one[1]), one[2]) for one in measured if one]))
    return found


def speed(rows: list[tuple[str, list[tuple[float, str]]]]) -> str:
    """Draw ratios as bars that begin at 1, on a logarithmic axis: to the left what is faster, to the right losses."""
    low = min(ratio for _, cells in rows for ratio, _ in cells) / 1.1
    high = max(max(ratio for _, cells in rows for ratio, _ in cells), 2) * 1.3
    left, right = 8, WIDTH - 66

    def at(ratio: float) -> float:
        return left + (right - left) * math.log(ratio / low) / math.log(high / low)

    parts, y = [], 30.0
    for name, cells in rows:
        parts.append(text(left, y, name, "name", "start"))
        for width, (ratio, peer) in zip((1, 64), cells, strict=False):
            y += 15
            kind = ("loss" if ratio > 1 else "win") + (" wide" if width == 64 else "")
            begin, end = sorted((at(1), at(ratio)))
            parts.append(box(begin, y - 9, max(end - begin, 1.5), 10, kind))
            parts.append(text(max(end, at(1)) + 5, y, f"{ratio:g} {peer}", "said", "start"))
        y += 22
    ticks = [tick for tick in (0.05, 0.1, 0.2, 0.5, 1, 2, 5) if low <= tick <= high]
    grid = [
        part
        for tick in ticks
        for part in (line(at(tick), 16, at(tick), y - 16, "grid"), text(at(tick), 11, tick, "said"))
    ]
    return drawing([*grid, *parts], y - 12, "Time of lodcore divided by that of the fastest other library")


def development() -> str:
    """Draw the geometric mean of all operations of the trend, for each milestone, against NumPy and against a copy."""
    measured = trend.milestones()
    series = {}
    for other, name in (("flat", "NumPy's idiom"), ("copy", "a plain copy")):
        rows = [row for row in trend.ratios(measured, other).values() if all(row)]
        columns = zip(*rows, strict=True)
        series[name] = [math.exp(sum(map(math.log, column)) / len(rows)) for column in columns]
    low = min(min(values) for values in series.values()) / 1.3
    high = max(max(values) for values in series.values()) * 1.3
    height, left, right = 210, 40, WIDTH - 40

    def place(j: int, value: float) -> tuple[float, float]:
        y = 16 + (height - 46) * math.log(high / value) / math.log(high / low)
        return left + (right - left) * j / max(len(measured) - 1, 1), y

    parts = []
    for tick in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20):
        if low <= tick <= high:
            y = place(0, tick)[1]
            parts += [line(left, y, right, y, "grid"), text(left - 6, y + 4, tick, "said", "end")]
    for j, one in enumerate(measured):
        parts.append(text(place(j, 1)[0], height - 8, one.commit[:7] if len(measured) < 7 else j + 1, "said"))
    for kind, (name, values) in zip(("first", "second"), series.items(), strict=True):
        points = [place(j, value) for j, value in enumerate(values)]
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{kind}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="{kind}"/>' for x, y in points]
        parts.append(text(right + 6, points[-1][1] + 4, f"{values[-1]:.2f}", "said", "start"))
        parts.append(text(left + 6, points[0][1] - 9, f"time of lodcore / {name}", "said", "start"))
    return drawing(parts, height, "Mean ratio of the time of lodcore to NumPy's and to that of a copy, by milestone")
