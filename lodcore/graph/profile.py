"""Where the time of a run went: by operator, and by what runs together."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any, NamedTuple

from lodcore.graph import engine

__all__ = ["Event", "Profile", "ProfileRow", "Watch"]


class Event(NamedTuple):
    """A call of an operator, or a part of one, in nanoseconds since the run began.

    Attributes
    ----------
    name : str
        The operator; with `_grad` for its backward pass.
    result : str
        The name of its first result, empty for parts of operators.
    group : str
        What it runs in: the Program, or the operator around it.
    start, stop : int
    own : int
        The time that is not spent in other events.
    """

    name: str
    result: str
    group: str
    start: int
    stop: int
    own: int


class ProfileRow(NamedTuple):
    """A row of the table of a Profile.

    Attributes
    ----------
    group : str
        The Program, or the operator in which others run: a loop, branches, the steps of a cell.
    operator : str
    calls : int
    seconds : float
        Without the time of operators that run inside, which have rows of their own.
    """

    group: str
    operator: str
    calls: int
    seconds: float


class Watch:
    """Measures the times of the calls in one thread."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._open: list[tuple[str, str, int]] = []
        self._inside = [0]  # the time of events inside each that is open, and of all outermost ones
        self._began = time.perf_counter_ns()

    def begin_call(self, operator: Any) -> None:
        """Note that a recorded operator begins."""
        steps = operator.arguments.get("loop")
        together = f" of {len(steps.ops)} operators" if hasattr(steps, "groups") else ""
        self.begin(f"{operator.name}{together}", str(operator.outputs[0].name) if operator.outputs else "")

    def begin(self, name: str, result: str) -> None:
        """Note that something begins."""
        self._inside.append(0)
        self._open.append((name, result, time.perf_counter_ns()))

    def end(self) -> None:
        """Note that what began last ends."""
        now = time.perf_counter_ns()
        name, result, start = self._open.pop()
        inside = self._inside.pop()
        self._inside[-1] += now - start
        around = self._open[-1] if self._open else ("program", "", 0)
        group = f"{around[0]} {around[1]}".rstrip()
        self.events.append(Event(name, result, group, start - self._began, now - self._began, now - start - inside))

    def __enter__(self) -> Watch:
        self._before = engine.watch(self)
        self._began = time.perf_counter_ns()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = (time.perf_counter_ns() - self._began) / 1e9
        engine.watch(self._before)


class Profile:
    """Where the time of a run of a Program went, as returned by `Executor.profile`; it prints as a table.

    Parameters
    ----------
    results : list
        The fetched values.
    events : list of Event
    seconds : float
        The time of the whole run.

    Attributes
    ----------
    rows : list of ProfileRow
        The rows of the table: one for each operator in each group, the longest time first.
    """

    __module__ = "lodcore.graph"

    def __init__(self, results: list[Any], events: list[Event], seconds: float) -> None:
        self.results, self.events, self.seconds = results, sorted(events, key=lambda event: event.start), seconds
        found: dict[tuple[str, str], list[int]] = {}
        for event in events:
            one = found.setdefault((event.group, event.name), [0, 0])
            one[0] += 1
            one[1] += event.own
        rows = [ProfileRow(*key, calls, own / 1e9) for key, (calls, own) in found.items()]
        self.rows = sorted(rows, key=lambda row: -row.seconds)

    @property
    def groups(self) -> dict[str, float]:
        """The seconds of the operators of each group, the longest time first."""
        found: dict[str, float] = {}
        for row in self.rows:
            found[row.group] = found.get(row.group, 0.0) + row.seconds
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def __str__(self) -> str:
        """Return two tables: the groups, and the operators in them."""
        rest = self.seconds - sum(self.groups.values())
        whole = ProfileRow("", "whole run", 1, self.seconds)
        groups = [ProfileRow("", group, 0, seconds) for group, seconds in self.groups.items()]
        groups.append(ProfileRow("", "outside of operators", 0, rest))
        return "\n".join(
            [*self._table("group", "", groups), "", *self._table("operator", "group", [*self.rows, whole])]
        )

    def _table(self, name: str, group: str, rows: list[ProfileRow]) -> list[str]:
        """Return rows as lines of text."""
        wide = max([len(name), *[len(row.operator) for row in rows]])
        calls = "calls" if group else ""
        lines = [f"{name:{wide}}  {'ms':>9}  {'share':>6}  {calls:>6}  {group}".rstrip()]
        for row in rows:
            share = 100 * row.seconds / self.seconds if self.seconds else 0.0
            count = str(row.calls) if row.calls else ""
            line = f"{row.operator:{wide}}  {1000 * row.seconds:9.3f}  {share:4.0f} %  {count:>6}  {row.group}"
            lines.append(line.rstrip())
        return lines

    def trace(self) -> dict[str, Any]:
        """Return the calls in the trace format of Chrome, for chrome://tracing and ui.perfetto.dev.

        Returns
        -------
        dict
            As `json.dump` writes it: complete events with times in microseconds, each with its group and result.
        """
        process, thread = os.getpid(), threading.get_ident() % 2**31
        events = [
            {
                "name": one.name,
                "cat": one.group,
                "ph": "X",
                "ts": one.start / 1000,
                "dur": (one.stop - one.start) / 1000,
                "pid": process,
                "tid": thread,
                "args": {"group": one.group, "result": one.result},
            }
            for one in self.events
        ]
        return {"traceEvents": events, "displayTimeUnit": "ms"}

    def save_trace(self, file: Any) -> None:
        """Write the trace to a file of JSON.

        Parameters
        ----------
        file : str, path, or file opened for writing text
        """
        text = json.dumps(self.trace(), indent=1)
        if hasattr(file, "write"):
            file.write(text)
            return
        with open(file, "w", encoding="utf-8") as opened:
            opened.write(text)
