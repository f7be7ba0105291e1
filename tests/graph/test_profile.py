"""Where the time of a run went: each call once, in its group, as a table and as a trace."""

import io
import json

import numpy as np
import pytest

import lodcore
from lodcore import nn
from lodcore.graph import Executor, Profile, Program, append_backward, data, engine, parameter, while_loop

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = lodcore.LoDTensor.from_lengths(np.arange(10, dtype=np.float32).reshape(5, 2) / 9, [3, 2])


def recorded():
    """A loop, and the steps of a cell, with gradients."""
    with Program() as program:
        x, w = data("x", (None, 2), "float32", num_levels=1), parameter(np.eye(2, dtype=np.float32))

        def cell(w, x, h):
            h = lodcore.tanh(x @ w[:, ::1] + h)
            return h, h

        outputs, _ = nn.dynamic_rnn(cell, w, x, parameter(np.zeros((2, 2), np.float32)))
        whole = lodcore.ops.sum(outputs)
        loop = while_loop()
        with loop.loop():
            total = loop.loop_var(whole)
            loop.break_if(loop.step() >= 3)
            total.update(lodcore.sigmoid(total))
        gradient = append_backward(total + 0.0, parameters=w)
    return program, [total, gradient]


@pytest.mark.skipif(not lodcore.kernels.matrix.is_fast(), reason="nothing is compiled without fused products")
def test_executor_profile_gives_the_results_of_run_and_lists_every_call_once():
    program, fetch = recorded()
    wanted = Executor().run(program, {"x": X}, fetch)
    profile = Executor().profile(program, {"x": X}, fetch)
    assert isinstance(profile, Profile)
    for one, other in zip(profile.results, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    calls = {(row.operator, row.group.split()[0]): row.calls for row in profile.rows}
    assert calls["sigmoid", "while_loop"] == 3
    assert calls["greater_equal_than", "while_loop"] == 4
    assert calls["sigmoid_grad", "while_loop_grad"] == 3
    assert calls["reduce_values", "program"] == calls["while_loop", "program"] == 1
    assert all(row.seconds >= 0 for row in profile.rows)
    assert sum(row.seconds for row in profile.rows) <= profile.seconds
    assert sum(profile.groups.values()) == pytest.approx(sum(row.seconds for row in profile.rows))
    lines = str(profile).splitlines()
    assert len(lines) == len(profile.groups) + 2 + 1 + len(profile.rows) + 2
    assert lines[-1].split()[:2] == ["whole", "run"]


@pytest.mark.skipif(not lodcore.kernels.matrix.is_fast(), reason="nothing is compiled without fused products")
def test_a_compiled_cell_is_a_group_of_its_parts():
    program, fetch = recorded()
    profile = Executor().profile(program, {"x": X}, fetch)
    (cell,) = [row.operator for row in profile.rows if row.operator.startswith("recurrence of")]
    parts = {row.operator for row in profile.rows if row.group.startswith(cell)}
    assert {"steps", "products for all rows", "pack matrices", "index_values"} == parts
    parts = {row.operator for row in profile.rows if row.group.startswith("recurrence_grad")}
    assert {"steps", "gradients of matrices"} <= parts
    text = str(program)
    places = [text.index(word) for word in ("once:", "index_values(", "at once:", "matmul(", "in each step:", "tanh(")]
    assert places == sorted(places)
    drawing = program.to_dot()
    assert drawing.count("together in each step of recurrence") == 1
    assert drawing.count("{") == drawing.count("}")


def test_a_trace_has_nested_events(tmp_path):
    program, fetch = recorded()
    profile = Executor().profile(program, {"x": X}, fetch)
    text = io.StringIO()
    profile.save_trace(text)
    profile.save_trace(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == json.loads(text.getvalue())
    events = json.loads(text.getvalue())["traceEvents"]
    assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)
    around = [event for event in events if event["name"] == "while_loop"][-1]
    inside = [event for event in events if event["cat"] == f"while_loop {around['args']['result']}"]
    assert len(inside) == 7
    for event in inside:
        assert around["ts"] <= event["ts"] <= event["ts"] + event["dur"] <= around["ts"] + around["dur"] + 1e-6
        assert event["ph"] == "X"


def test_errors_name_profile_and_end_the_watch():
    program, fetch = recorded()
    with pytest.raises(lodcore.GraphError, match=r"^Executor\.profile: feed: y: "):
        Executor().profile(program, {"y": X}, fetch)
    wrong = lodcore.LoDTensor.from_lengths(np.zeros((3, 2), np.float32), [1, 1, 1])
    with pytest.raises(lodcore.LoDError):  # states for two sequences
        Executor().profile(program, {"x": wrong}, fetch)
    assert engine.watch(None) is None
