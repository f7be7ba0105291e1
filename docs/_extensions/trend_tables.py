"""The directive `speed-trend`: the tables of `asv_benchmarks/trend.py`, with a line graph for each row."""

import datetime
import math
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "asv_benchmarks"))

import trend

WIDTH, HEIGHT, LEAST = 96, 24, 2  # the size of a line graph in pixels, and the minimum factor of its scale


def line(row: list[float | None]) -> str:
    """Draw a row on a logarithmic scale; down is faster."""
    known = [(at, math.log(value)) for at, value in enumerate(row) if value]
    low, high = min(y for _, y in known), max(y for _, y in known)
    span, middle = max(high - low, math.log(LEAST)), (low + high) / 2
    step = (WIDTH - 8) / max(len(row) - 1, 1)
    points = [(4 + at * step, HEIGHT / 2 - (y - middle) / span * (HEIGHT - 8)) for at, y in known]
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    last = f'<circle cx="{points[-1][0]:.1f}" cy="{points[-1][1]:.1f}" r="2.5" fill="currentColor"/>'
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="from {row[known[0][0]]:.2f} to '
        f'{row[known[-1][0]]:.2f}"><polyline points="{drawn}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
        f"{last}</svg>"
    )


def table(other: str) -> list[str]:
    """Write one table in HTML: a row per operation, a column per milestone, and a line graph."""
    measured = trend.milestones()
    heads = "".join(f'<th scope="col"><code>{one.commit[:7]}</code></th>' for one in measured)
    lines = [
        '<div class="pst-scrollable-table-container"><table class="table">',
        f'<thead><tr><th scope="col">operation</th>{heads}<th scope="col">trend</th></tr></thead><tbody>',
    ]
    for key, row in trend.ratios(measured, other).items():
        cells = "".join(f"<td>{'n/a' if value is None else f'{value:.2f}'}</td>" for value in row)
        name = trend.label(key).replace("`", "")
        lines.append(f'<tr><th scope="row">{name}</th>{cells}<td>{line(row)}</td></tr>')
    return [*lines, "</tbody></table></div>"]


class SpeedTrend(Directive):
    """The table of ratios to the peer or to the floor, or, without an argument, the list of milestones."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        if self.arguments:
            return [nodes.raw("", "\n".join(table(self.arguments[0])), format="html")]
        text = []
        for one in trend.milestones():
            day = datetime.datetime.fromtimestamp(one.date / 1000, datetime.timezone.utc)
            text.append(f"- ``{one.commit[:7]}``, {day:%d %B %Y, %H:%M}: {trend.title(one)}")
        parent = nodes.section()
        self.state.nested_parse(StringList(text, source="speed-trend"), 0, parent)
        return list(parent.children)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("speed-trend", SpeedTrend)
    return {"parallel_read_safe": True}
