"""Pictures of lengths and occupancy, with matplotlib: axes, labels, bins, and errors."""

import pytest

import lodcore
from lodcore import LoD
from lodcore.errors import LoDError

pyplot = pytest.importorskip("matplotlib.pyplot")
pytestmark = pytest.mark.not_on_reference

X = lodcore.array([[1.0, 2.0, 3.0], [], [4.0, 5.0]])
HEAVY = LoD.from_lengths([0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 900])


@pytest.fixture(autouse=True)
def _no_window():
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def heights(axes):
    """Return how many sequences each bar counts, by the lengths that it spans."""
    bars = [(bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in axes.patches]
    return [(left, right, int(height)) for left, right, height in bars if height]


@pytest.mark.parametrize("x", [X, X.lod, [[1], [], [2, 3]], lodcore.array([[1] * n for n in (1, 5, 900)]), []])
def test_pictures_of_batches_are_drawn(x, tmp_path):
    axes = lodcore.plot_lengths(x)
    axes.figure.savefig(tmp_path / "lengths.png", dpi=20)
    assert axes.get_xlabel() == "length of a sequence, in rows"
    axes = lodcore.plot_occupancy(x, 2)
    axes.figure.savefig(tmp_path / "occupancy.png", dpi=20)
    assert len(axes.lines) == 2


def test_lengths_of_a_heavy_tail_have_a_logarithmic_axis_and_a_bar_for_empty_sequences():
    axes = lodcore.plot_lengths(HEAVY, unit="clicks")
    assert axes.get_xscale() == "log"
    found = heights(axes)
    assert sum(height for *_, height in found) == 11
    assert found[-1][2] == 3  # the empty ones, left of all others
    assert found[-1][1] <= min(left for left, *_ in found[:-1])
    for length in HEAVY.lengths(0)[3:]:
        assert sum(left < length < right for left, right, _ in found) == 1
    said = [text.get_text() for text in axes.get_legend().get_texts()]
    assert said == ["median 2 clicks", "99 % up to 810.4 clicks", "3 empty"]
    assert axes.get_title() == "11 sequences, 916 clicks in all"


def test_the_scale_of_lengths_can_be_chosen():
    assert lodcore.plot_lengths(X).get_xscale() == "linear"
    assert lodcore.plot_lengths(HEAVY, scale="linear").get_xscale() == "linear"
    assert lodcore.plot_lengths(X, scale="log").get_xscale() == "log"
    assert lodcore.plot_lengths([[], []], scale="log").get_xscale() == "linear"  # nothing has a logarithm
    for scale in ("linear", "log"):
        found = heights(lodcore.plot_lengths(HEAVY, scale=scale, bins=4))
        assert sum(height for *_, height in found) == 11
        assert (
            sum(height for *_, height in heights(lodcore.plot_lengths(HEAVY, scale=scale, bins=[0.5, 2.5, 1e3]))) >= 8
        )
    with pytest.raises(ValueError, match="plot_lengths: scale: is 'logarithmic'; 'auto', 'linear', 'log' are possible"):
        lodcore.plot_lengths(X, scale="logarithmic")


def test_axes_of_the_caller_are_drawn_in_and_bad_arguments_are_refused():
    _, axes = pyplot.subplots()
    assert lodcore.plot_lengths(X.lod, axes=axes, bins=3) is axes
    assert lodcore.plot_occupancy(X.lod, axes=axes) is axes
    with pytest.raises(ValueError, match="batch_size: is 0"):
        lodcore.plot_occupancy(X, 0)
    with pytest.raises(LoDError, match="has no level"):
        lodcore.plot_lengths(LoD.from_offsets(num_rows=3))
