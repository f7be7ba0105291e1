"""The trend: its milestones are commits that were measured on one machine, and its ratios follow from the results."""

import json

import pytest

from asv_benchmarks import trend


def test_every_milestone_was_measured_with_its_peer_and_floor():
    measured = trend.milestones()
    assert [trend.title(one) for one in measured] == list(trend.MILESTONES.values())
    against_peer, against_floor = (trend.ratios(measured, other) for other in (trend.PEER, trend.FLOOR))
    assert {name for name, _ in against_peer} == set(trend.OPERATIONS)
    assert set(against_floor) <= set(against_peer)
    for row in [*against_peer.values(), *against_floor.values()]:
        assert all(value > 0 for value in row)


def test_results_carry_no_path():
    for path in (trend.RESULTS / trend.MACHINE).glob("*.json"):
        assert "/" not in json.loads(path.read_text(encoding="utf-8")).get("python", ""), path
        assert "_bin_" not in path.name, path


def test_ratios_of_the_trend_are_lodcore_over_the_others():
    seconds = {("pad.Pad", "1"): {"lodcore": 1.0, "flat": 4.0}, ("lod.Slice", ""): {"lodcore": 1.0}}
    found = trend.ratios([trend.Milestone("c", 0, seconds), trend.Milestone("d", 1, {})], "flat")
    assert found == {("pad.Pad", "1"): [pytest.approx(0.25), None]}
    assert trend.label(("pad.Pad", "64")) == "pad, width 64"
