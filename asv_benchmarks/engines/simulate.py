"""Simulates a thousand workers: `python -m asv_benchmarks.engines.simulate` prints the table of the how-to.

One scheduler hands out tasks one after the other; tasks read from one store, compute, and write to it. The scheduler
and the store are queues: requests wait while they are busy. Workers die and come back. With the rates that `measure.py`
measured, the simulation determines the time of a corpus, which cannot be shorter than the total time of the busiest of
workers, scheduler and store.
"""

import heapq
import random
from dataclasses import dataclass, replace

__all__ = ["Cluster", "Corpus", "on_paper", "simulate"]


@dataclass(frozen=True)
class Corpus:
    """The work to do.

    Parameters
    ----------
    rows : int
    bytes_in, bytes_out : float
        Bytes per row, read and written.
    rows_per_task : int
    """

    rows: int = 1_000_000_000
    bytes_in: float = 91.0
    bytes_out: float = 42.0
    rows_per_task: int = 16 * 16384

    @property
    def tasks(self):
        """Number of tasks."""
        return -(-self.rows // self.rows_per_task)

    @property
    def bytes(self):
        """Bytes read and written in total."""
        return self.rows * (self.bytes_in + self.bytes_out)


@dataclass(frozen=True)
class Cluster:
    """The workers, the scheduler and the store.

    Parameters
    ----------
    workers : int
    rows_per_second : float
        The rate of one worker, as measured with the engine.
    tasks_per_second : float
        The rate at which the scheduler hands out and collects tasks, as measured.
    store : float
        Bytes per second that all workers together read and write.
    spread : float
        Tasks take between 1 - spread and 1 + spread of their time.
    deaths : float
        How often a worker dies per hour; its current task is repeated.
    restart : float
        Seconds until a dead worker is replaced.
    """

    workers: int = 2
    rows_per_second: float = 560_000.0
    tasks_per_second: float = 585.0
    store: float = 10e9
    spread: float = 0.1
    deaths: float = 0.01
    restart: float = 20.0


def on_paper(corpus, cluster):
    """Compute the minimum number of seconds for which workers, scheduler and store are busy."""
    return {
        "workers": corpus.rows / (cluster.rows_per_second * min(cluster.workers, corpus.tasks)),
        "scheduler": corpus.tasks / cluster.tasks_per_second,
        "store": corpus.bytes / cluster.store,
    }


def simulate(corpus, cluster, seed=0):
    """Run all tasks.

    Returns
    -------
    The `seconds`, and the numbers of tasks that were `done` and `repeated`.
        `seconds`, the number of tasks that were `done` and of those that were `repeated`.
    """
    draw = random.Random(seed)
    todo = [corpus.rows_per_task] * (corpus.tasks - 1) + [corpus.rows - (corpus.tasks - 1) * corpus.rows_per_task]
    todo.reverse()
    events = [(0.0, worker, "ask", 0) for worker in range(cluster.workers)]
    heapq.heapify(events)
    scheduler = store = end = 0.0
    done = repeated = 0
    idle = []
    while events:
        now, worker, what, rows = heapq.heappop(events)
        if what == "ask":
            if not todo:
                idle.append(worker)
                continue
            rows = todo.pop()
            scheduler = max(now, scheduler) + 1 / cluster.tasks_per_second
            heapq.heappush(events, (scheduler, worker, "read", rows))
        elif what == "read":
            store = max(now, store) + rows * corpus.bytes_in / cluster.store
            seconds = rows / cluster.rows_per_second * draw.uniform(1 - cluster.spread, 1 + cluster.spread)
            death = draw.expovariate(cluster.deaths / 3600) if cluster.deaths else float("inf")
            if death < seconds:
                heapq.heappush(events, (store + death, worker, "die", rows))
            else:
                heapq.heappush(events, (store + seconds, worker, "write", rows))
        elif what == "die":
            repeated += 1
            todo.append(rows)
            heapq.heappush(events, (now + cluster.restart, worker, "ask", 0))
            while idle:
                heapq.heappush(events, (now, idle.pop(), "ask", 0))
        elif what == "write":
            store = max(now, store) + rows * corpus.bytes_out / cluster.store
            heapq.heappush(events, (store, worker, "end", rows))
        else:
            done += 1
            end = max(end, now)
            heapq.heappush(events, (now, worker, "ask", 0))
    return {"seconds": end, "done": done, "repeated": repeated}


def table(corpus, cluster, counts=(1, 2, 10, 100, 1000, 10_000)):
    """Format a table by numbers of workers."""
    lines = [f"{corpus.rows:,} rows, {corpus.tasks:,} tasks of {corpus.rows_per_task:,}", ""]
    lines += [
        f"{'workers':>8}{'busy: workers':>15}{'scheduler':>11}{'store':>9}{'simulated':>11}  bound by   efficiency"
    ]
    for count in counts:
        chosen = replace(cluster, workers=count)
        paper, seconds = on_paper(corpus, chosen), simulate(corpus, chosen)["seconds"]
        busiest = max(paper, key=paper.get)
        share = corpus.rows / cluster.rows_per_second / count / seconds
        busy = f"{paper['workers']:>13,.1f} s{paper['scheduler']:>9,.1f} s{paper['store']:>7,.0f} s"
        lines.append(f"{count:>8,}{busy}{seconds:>9,.1f} s  {busiest:<9}{share:>12.1%}")
    return "\n".join(lines)


def main():
    """Print the tables."""
    print(table(Corpus(), Cluster()))
    print()
    print(table(Corpus(rows=1_000_000_000_000, rows_per_task=1024 * 16384), Cluster(), (100, 1000, 10_000)))


if __name__ == "__main__":
    main()
