"""The gallery and the pictures of the site: each program runs and draws, and charts show what their tables say."""

import re
import runpy
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PROGRAMS = sorted(DOCS.glob("gallery/plot_*.py"))

pytestmark = pytest.mark.not_on_reference


@pytest.fixture
def pictures(monkeypatch):
    """Import what the extension of the site draws with."""
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    before = set(sys.modules)
    yield __import__("drawings")
    for name in set(sys.modules) - before & {"drawings", "trend"}:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem.removeprefix("plot_"))
def test_a_program_of_the_gallery_runs_and_draws_pictures_with_labels(program, tmp_path):
    """Each computes with real data for a second or two."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    try:
        runpy.run_path(str(program))
        figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
        assert len(figures) >= 2
        for figure in figures:
            assert all(axes.has_data() for axes in figure.axes)
            assert any(axes.get_title() for axes in figure.axes)
        figures[-1].savefig(tmp_path / "picture.png", dpi=20)
    finally:
        pyplot.close("all")


def test_gallery_has_six_programs_with_titles():
    assert [path.stem for path in PROGRAMS] == [
        f"plot_{job}" for job in ("clicks", "decoding", "documents", "own_cell", "packing", "trajectories")
    ]
    for path in PROGRAMS:
        assert re.match(r'"""\n[^\n]+\n=+\n\n', path.read_text(encoding="utf-8")), path.name


def drawn(svg):
    """Return the texts of a picture, and its rectangles by their class."""
    root = ElementTree.fromstring(svg)
    return [one.text for one in root.iter("text")], [one.get("class") for one in root.iter("rect")]


def test_the_picture_of_the_structure_shows_what_is_stored(pictures):
    said, boxes = drawn(pictures.structure())
    assert "lod.offsets(1) = [0, 3, 5, 5, 7, 8]" in said
    assert "lod.offsets(0) = [0, 2, 5]" in said
    assert said.count("purred") == 2
    assert (boxes.count("level0"), boxes.count("level1"), boxes.count("row")) == (2, 5, 16)


def test_the_chart_of_speed_has_a_bar_for_each_ratio_and_shows_losses_as_such(pictures):
    rows = pictures.table()
    assert len(rows) > 30
    said, boxes = drawn(pictures.speed(rows))
    assert [name for name, _ in rows if name not in said] == []
    ratios = [ratio for _, cells in rows for ratio, _ in cells]
    assert sum("loss" in kind for kind in boxes) == sum(ratio > 1 for ratio in ratios)
    assert sum("win" in kind for kind in boxes) == sum(ratio <= 1 for ratio in ratios)


def test_the_chart_of_the_trend_has_a_line_for_each_other(pictures):
    said, _ = drawn(pictures.development())
    assert sum("NumPy" in one for one in said) == sum("copy" in one for one in said) == 1


def test_the_first_page_charts_rows_that_the_table_of_speed_has(pictures):
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    chosen = [name.strip() for name in re.search(r"speed-chart::\n\n(.*?)\n```", page, re.S)[1].splitlines()]
    assert set(chosen) <= {name for name, _ in pictures.table()}
    assert any(ratio > 1 for name, cells in pictures.table() if name in chosen for ratio, _ in cells)
