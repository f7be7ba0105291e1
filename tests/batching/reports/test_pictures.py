"""Pictures of packing plans, and how full bins are."""

import pytest

from lodcore import DTypeError
from lodcore.batching import batches, fills, pack_plan, show_bins


def test_show_bins_draws_the_bins():
    plan = pack_plan([3, 9, 6, 2], 10, overflow="own_bin")
    lines = show_bins(plan, width=10).splitlines()
    assert lines == [
        "before: 4 rows of 10, 50.0 % full",
        "|###.......|",
        "|#########.|",
        "|######....|",
        "|##........|",
        "after: 3 rows of 10, 66.7 % full",
        "|#########.|",
        "|######===.|",
        "|##........|",
    ]
    short = show_bins(plan, width=10, rows=1).splitlines()
    assert [line for line in short if line.startswith("...")] == ["... 3 more", "... 2 more"]
    assert show_bins(pack_plan([], 5)) == "before: 0 rows of 5\nafter: 0 rows of 5"
    assert show_bins(pack_plan([20], 5, overflow="own_bin"), width=5).splitlines()[-1] == "|#####|"
    many = show_bins(pack_plan([5] * 20, 5)).splitlines()  # by default 8 rows of 60 characters
    assert many[1:10] == ["|" + "#" * 60 + "|"] * 8 + ["... 12 more"]


def test_fills_are_the_shares_of_the_budget():
    assert fills(pack_plan([3, 9, 6, 2], 10)).tolist() == [0.9, 0.9, 0.2]
    plan = batches([2, 2, 2, 2, 2], 4, shuffle=False, world_size=2)
    assert fills(plan).tolist() == [1.0, 1.0, 0.5, 0.0]
    for call in (fills, show_bins):
        with pytest.raises(DTypeError, match=f"{call.__name__}: plan: is int"):
            call(3)


def test_show_bins_with_pieces_in_any_bin():
    """Pieces of a document are shown in their order; exactly as many rows as there are need no further line."""
    plan = pack_plan([4, 9, 2], 4, overflow="split")
    plan = plan.take(range(plan.num_bins)[::-1])
    assert plan.starts[plan.documents == 1].tolist() == [8, 4, 0]
    for rows in (plan.num_bins, 5, 3):
        lines = show_bins(plan, width=8, rows=rows).splitlines()
        assert sum(line.startswith("...") for line in lines) == (rows < 5) + (rows < plan.num_bins)
    lines = show_bins(plan, width=8).splitlines()
    assert lines[1:6] == ["|########|", "|########|", "|########|", "|##......|", "|####....|"]


def test_show_bins_stays_within_the_width():
    assert show_bins(pack_plan([20, 3], 5, overflow="own_bin"), width=10).splitlines()[1:3] == [
        "|##########|",
        "|######....|",
    ]
    line = show_bins(pack_plan([1] * 7, 7, "in_order"), width=10).splitlines()[-1]
    assert line == "|#==#==#==#|"  # ends at 1, 3, 4, 6, 7, 9 and 10
    line = show_bins(pack_plan([3, 4, 3, 4], 14, "in_order"), width=5).splitlines()[-1]
    assert line == "|#=##=|"  # ends at 1.07, 2.5 (rounded to even), 3.57 and 5
