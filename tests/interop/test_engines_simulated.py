"""The simulation of a cluster compared with bounds on paper, and the page with its table."""

import io
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_benchmarks.engines import simulate
from asv_benchmarks.engines.simulate import Cluster, Corpus, on_paper

pytestmark = pytest.mark.not_on_reference

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/beyond-one-machine.md"
CORPUS = Corpus(rows=1_000_000, rows_per_task=1000)
CALM = Cluster(spread=0.0, deaths=0.0)


def test_one_worker_takes_the_sum_of_all_parts():
    found = simulate.simulate(CORPUS, replace(CALM, workers=1))
    paper = on_paper(CORPUS, replace(CALM, workers=1))
    assert found["seconds"] == pytest.approx(sum(paper.values()))
    assert (found["done"], found["repeated"]) == (1000, 0)


@pytest.mark.parametrize(
    ("bound", "changed"),
    [
        ("workers", {"workers": 10, "rows_per_second": 1e4}),
        ("scheduler", {"workers": 500, "tasks_per_second": 50.0}),
        ("store", {"workers": 500, "store": 1e7}),
    ],
)
def test_simulated_seconds_are_those_of_the_busiest_part(bound, changed):
    cluster = replace(CALM, **changed)
    paper = on_paper(CORPUS, cluster)
    assert max(paper, key=paper.get) == bound
    assert simulate.simulate(CORPUS, cluster)["seconds"] == pytest.approx(paper[bound], rel=0.05)


@given(
    st.integers(1, 3_000_000),
    st.integers(1000, 100_000),
    st.integers(1, 200),
    st.floats(1e3, 1e6),
    st.floats(1.0, 1e4),
    st.floats(1e6, 1e11),
    st.integers(0, 9),
)
def test_simulated_run_takes_no_less_than_the_bounds_on_paper(rows, rows_per_task, workers, rate, tasks, store, seed):
    corpus = Corpus(rows=rows, rows_per_task=rows_per_task)
    cluster = replace(CALM, workers=workers, rows_per_second=rate, tasks_per_second=tasks, store=store)
    found, paper = simulate.simulate(corpus, cluster, seed), on_paper(corpus, cluster)
    assert max(paper.values()) <= found["seconds"] * (1 + 1e-9)
    longest = min(rows, rows_per_task) / rate
    assert found["seconds"] <= (sum(paper.values()) + longest) * (1 + 1e-9)
    assert found["done"] == corpus.tasks


@given(st.integers(1, 50), st.floats(1.0, 200.0), st.integers(0, 9))
def test_simulated_workers_that_die_lose_and_repeat_no_result(workers, deaths, seed):
    cluster = Cluster(workers=workers, rows_per_second=1e3, deaths=deaths, restart=5.0)
    corpus = Corpus(rows=200_500, rows_per_task=1000)
    found = simulate.simulate(corpus, cluster, seed)
    assert found["done"] == 201
    calm = simulate.simulate(corpus, replace(cluster, deaths=0.0), seed)
    assert found["repeated"] > 0 or found["seconds"] == pytest.approx(calm["seconds"], rel=0.2)


def test_deaths_are_seen_and_cost_time():
    corpus, cluster = Corpus(rows=500_000, rows_per_task=1000), Cluster(workers=4, rows_per_second=1e3, spread=0.0)
    calm, rough = (simulate.simulate(corpus, replace(cluster, deaths=deaths)) for deaths in (0.0, 200.0))
    assert rough["repeated"] > 10
    assert rough["seconds"] > 1.1 * calm["seconds"]


def test_the_page_shows_what_the_simulation_prints():
    printed = io.StringIO()
    with redirect_stdout(printed):
        simulate.main()
    assert f"```text\n{printed.getvalue()}```" in PAGE.read_text(encoding="utf-8")
