"""The speed of lodcore from milestone to milestone, compared with a peer and a floor, from the results of asv.

    python trend.py --hashes > milestones.txt      # the commits that asv measures, in this folder
    asv run HASHFILE:milestones.txt --machine NAME --bench "$(python trend.py --bench)"
    python trend.py                                # the tables of docs/trend.md, as text

Milliseconds of two runs cannot be compared, but ratios within a run can: each figure is the time of lodcore divided by
that of NumPy's idiom on flat arrays (the peer), or of a plain copy of the same rows (the floor), in the same run.
"""

import argparse
import itertools
import json
import math
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parent / "results"
MACHINE = "two-core-xeon"
#: The measured commits, and the contribution of each.
MILESTONES = {
    "fd2905a": "the first operators, with gradients",
    "ec5a11e": "loops that are recorded and compiled",
    "b84dcf7": "recurrent layers, packing, and other libraries",
    "ba34ced": "beam search, neighbours and windows",
    "9e2a513": "functions of record batches, and faster small calls",
    "d1f1974": "kernels in Cython, and bags in registers",
    "fc0c94b": "chains of operators, and cells of one's own, in one pass",
}
#: The benchmarks of the README, with its order and labels.
OPERATIONS = {
    "gather.Permute": "gather sequences, in another order",
    "softmax.Softmax": "softmax within each sequence",
    "pool.Pool": "sum of each sequence",
    "expand.Reverse": "reverse each sequence",
    "rank_table.Unpack": "unpack into steps, for a recurrent network",
    "pad.Pad": "pad",
    "embedding.Bag": "rows of a table, summed by sequence",
    "lod.Slice": "slice `x[a:b]`",
}
OURS, PEER, FLOOR = "lodcore", "flat", "copy"
DISTRIBUTION = "nlp"


class Milestone(NamedTuple):
    """A measured commit: its date in milliseconds, and seconds by benchmark, width and way."""

    commit: str
    date: int
    seconds: dict[tuple[str, str], dict[str, float]]


def pattern() -> str:
    """Return the regular expression that selects these benchmarks for asv."""
    names = "|".join(name.replace(".", r"\.") for name in OPERATIONS)
    return rf"^({names})\.time_call\('({OURS}|{PEER}|{FLOOR})', '{DISTRIBUTION}'"


def read(path: Path) -> Milestone:
    """Read the results of one commit."""
    content = json.loads(path.read_text(encoding="utf-8"))
    columns = content["result_columns"]
    seconds: dict[tuple[str, str], dict[str, float]] = {}
    for name in OPERATIONS:
        entry = dict(zip(columns, content["results"].get(f"{name}.time_call", []), strict=False))
        for (way, distribution, *width), value in zip(
            itertools.product(*entry.get("params") or []), entry.get("result") or [], strict=False
        ):
            if distribution.strip("'") == DISTRIBUTION and value is not None and not math.isnan(value):
                seconds.setdefault((name, width[0] if width else ""), {})[way.strip("'")] = value
    return Milestone(content["commit_hash"], content["date"], seconds)


def milestones(machine: str = MACHINE) -> list[Milestone]:
    """Read all milestones that were measured on a machine, the oldest first."""
    found = [read(path) for path in (RESULTS / machine).glob("*.json") if path.name != "machine.json"]
    return sorted(
        (one for one in found if any(one.commit.startswith(key) for key in MILESTONES)), key=lambda one: one.date
    )


def title(milestone: Milestone) -> str:
    """Return the contribution of a milestone."""
    return next(text for key, text in MILESTONES.items() if milestone.commit.startswith(key))


def ratios(measured: list[Milestone], other: str) -> dict[tuple[str, str], list[float | None]]:
    """Divide the times of lodcore by those of another way: a list per operation and width, None if not measured."""
    keys = [key for key in dict.fromkeys(itertools.chain.from_iterable(one.seconds for one in measured))]
    order = list(OPERATIONS)
    found: dict[tuple[str, str], list[float | None]] = {}
    for key in sorted(keys, key=lambda key: (order.index(key[0]), float(key[1] or 0))):
        row = [one.seconds.get(key, {}) for one in measured]
        found[key] = [ways[OURS] / ways[other] if OURS in ways and other in ways else None for ways in row]
    return {key: row for key, row in found.items() if any(value is not None for value in row)}


def label(key: tuple[str, str]) -> str:
    """Return the label of an operation and a width."""
    return OPERATIONS[key[0]] + (f", width {key[1]}" if key[1] else "")


def main() -> None:
    """Print the hashes, the regular expression, or the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hashes", action="store_true", help="print the commits, one per line")
    parser.add_argument("--bench", action="store_true", help="print the regular expression of the benchmarks")
    options = parser.parse_args()
    if options.hashes:
        print("\n".join(MILESTONES))
    elif options.bench:
        print(pattern())
    else:
        measured = milestones()
        for other in (PEER, FLOOR):
            print(f"lodcore / {other}: " + ", ".join(one.commit[:7] for one in measured))
            for key, row in ratios(measured, other).items():
                cells = ["    -" if value is None else f"{value:5.2f}" for value in row]
                print(f"  {label(key):56}" + "  ".join(cells))


if __name__ == "__main__":
    main()
