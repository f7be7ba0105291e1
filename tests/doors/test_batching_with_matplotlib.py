"""Plots of occupancy."""

import matplotlib as mpl
import numpy as np
import pytest

from lodcore.batching import batches, fills, pack_plan, plot_occupancy
from tests.helpers.libraries import MARKS

pytestmark = MARKS
mpl.use("agg")


@pytest.mark.parametrize("plan", [pack_plan([3, 9, 6, 2], 10), batches([3, 9, 6, 2], 10), pack_plan([], 4)])
def test_a_plot_shows_all_bins(plan):
    from matplotlib import pyplot

    ax = plot_occupancy(plan)
    found = fills(plan)
    (area,) = ax.collections
    heights = area.get_paths()[0].vertices[:, 1].max(initial=0)
    assert heights == pytest.approx(found.max(initial=0))
    mean = ax.lines[0].get_ydata()[0]
    assert mean == pytest.approx(found.mean() if len(found) else 1.0)
    assert ax.get_xlabel().endswith(", fullest first")
    ax.figure.canvas.draw()
    assert np.asarray(ax.figure.canvas.buffer_rgba()).std() > 0
    other = pyplot.figure().add_subplot()
    assert plot_occupancy(plan, other) is other
    pyplot.close("all")
