"""Directives that draw: `structure-picture`, `speed-chart` from docs/performance.md, and `trend-chart`.

What they draw is SVG in the page itself, in the colours of the theme, light or dark.
"""

import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parent))

import drawings


class Picture(Directive):
    """The drawing of the structure."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", drawings.structure(), format="html")]


class SpeedChart(Directive):
    """The ratios of docs/performance.md as bars: of all operations, or of those that the content lists."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        rows = dict(drawings.table())
        missing = [name for name in self.content if name not in rows]
        if missing:
            raise self.error(f"docs/performance.md has no row {missing[0]!r}")
        chosen = list(self.content) or list(rows)
        return [nodes.raw("", drawings.speed([(name, rows[name]) for name in chosen]), format="html")]


class TrendChart(Directive):
    """The mean of all rows of the trend, by milestone."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", drawings.development(), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("structure-picture", Picture)
    app.add_directive("speed-chart", SpeedChart)
    app.add_directive("trend-chart", TrendChart)
    return {"parallel_read_safe": True}
