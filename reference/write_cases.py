"""Draws cases for every operator until each corner case is covered, and writes them; see docs/conformance-suite.md."""

import io
import json
import tempfile
import textwrap
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from reference.case import drawn
from reference.cases import OPERATORS
from reference.draw import FLOATS, Seeded
from reference.dtypes import wrapped
from reference.tensors import Dense, Map, Ragged, Steps, Structure, Table

__all__ = ["draw_cases", "report", "write", "write_release"]

FORMAT = "lodcore cases 1"
PATIENCE = 4000  # draws before a corner case that is not covered is given up
NEVER = (1980, 1, 1, 0, 0, 0)  # the time of all files in the archive, so that a seed determines every byte


def draw_cases(seed=0, count=40, names=None):
    """Draw cases of operators.

    Parameters
    ----------
    seed : int
    count : int
        The number of cases per operator; there are more if corner cases are still missing.
    names : list of str, optional
        Names of operators; by default all.

    Returns
    -------
    list of Case

    Raises
    ------
    LookupError
        If a corner case that the cases of an operator must cover was not drawn.
    RuntimeError
        If an oracle raises; the message names its operator.
    """
    found = []
    for name in sorted(OPERATORS) if names is None else names:
        operator = OPERATORS[name]
        source = Seeded(f"{seed} {name}")  # so that other operators do not affect the cases of this one
        missing = set(operator.must)
        kept = 0
        for _ in range(PATIENCE):
            if kept >= count and not missing:
                break
            try:
                case = drawn(operator, source)
            except Exception as error:
                raise RuntimeError(f"cases: {name}: the oracle raises {error!r}") from error
            if kept < count or case.corners & missing:
                found.append(case)
                missing -= case.corners
                kept += 1
        if missing:
            raise LookupError(f"cases: {name}: no case hits {', '.join(sorted(missing))}")
    return found


def report(found):
    """Return how many cases cover each corner case, operator by operator; required ones are marked with a star."""
    lines = []
    for name in dict.fromkeys(case.operator for case in found):
        own = [case for case in found if case.operator == name]
        hits = Counter(corner for case in own for corner in case.corners)
        counted = [f"{corner}{'*' * (corner in OPERATORS[name].must)} {hits[corner]}" for corner in sorted(hits)]
        listed = textwrap.fill(", ".join(one.replace(" ", "~") for one in counted), 110)  # no break inside
        lines += [f"{name}: {len(own)} cases", textwrap.indent(listed.replace("~", " "), "    ")]
    return "\n".join(lines)


class Pools:
    """The numbers of all tensors, consecutively, in one array per dtype."""

    def __init__(self):
        self.numbers = {}

    def add(self, numbers, dtype, shape):
        """Append numbers; return what says where they are."""
        pool = self.numbers.setdefault(dtype, [])
        start = len(pool)
        pool.extend(wrapped(number, dtype) for number in numbers)
        return {"values": [dtype, start, list(shape)]}


class Inline:
    """The numbers of a tensor in their place; those that not every reader of JSON takes are strings."""

    def add(self, numbers, dtype, shape):
        """Return shape and numbers."""
        kind = float if dtype in FLOATS else int
        plain = [kind(wrapped(number, dtype)) for number in numbers]
        return {"shape": list(shape), "values": [one if -(2**53) <= one <= 2**53 else str(one) for one in plain]}


def encoded(thing, pools, computed):
    """Convert an argument or a result to what JSON can express; `computed` floats are kept in double precision."""
    again = lambda one: encoded(one, pools, computed)  # noqa: E731
    if isinstance(thing, (Dense, Ragged)):
        numbers = thing.numbers()
        shape = thing.shape if isinstance(thing, Dense) else (len(thing.rows), *thing.row_shape)
        dtype = "float64" if computed and thing.dtype in FLOATS else thing.dtype
        made = {"dtype": thing.dtype, **pools.add(numbers, dtype, shape)}
        if isinstance(thing, Dense):
            return {"kind": "dense", **made}
        return {"kind": "ragged", **made, "lod": thing.offsets}
    if isinstance(thing, Structure):
        return {"kind": "lod", "lod": thing.offsets, "num_rows": thing.num_rows}
    if isinstance(thing, Steps):
        return {"kind": "array", "elements": [again(one) for one in thing.elements]}
    if isinstance(thing, Map):
        return {"kind": "map", "of": again(thing.source), "level": thing.level, "indices": thing.indices}
    if isinstance(thing, Table):
        return {"kind": "table", "indices": thing.indices, "lengths": thing.lengths}
    if isinstance(thing, (list, tuple)):
        return [again(one) for one in thing]
    return thing


def entry(case, pools):
    """Describe a case in the index."""

    def each(things, computed):
        return {name: encoded(thing, pools, computed) for name, thing in things.items()}

    return {
        "operator": case.operator,
        "arguments": each(case.arguments, False),
        "results": encoded(case.results, pools, True),
        "cotangents": encoded(case.cotangents, pools, False),
        "gradients": None if case.gradients is None else each(case.gradients, True),
        "tolerance": case.tolerance,
        "corners": sorted(case.corners),
    }


def write(path, found, seed=0):
    """Write cases to a file: `index.json`, and one flat array per dtype; or, to a .jsonl file, a line per case."""
    if str(path).endswith(".jsonl"):
        lines = [{"case": number, **entry(case, Inline())} for number, case in enumerate(found)]
        text = [json.dumps(line, allow_nan=False) + "\n" for line in [{"format": FORMAT, "seed": seed}, *lines]]
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(text)
        return
    pools = Pools()
    index = {"format": FORMAT, "seed": seed, "cases": [entry(case, pools) for case in found]}
    members = {"index.json": (json.dumps(index, allow_nan=False) + "\n").encode()}
    for dtype in sorted(pools.numbers):
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.array(pools.numbers[dtype], np.dtype(dtype).newbyteorder("<")))
        members[f"{dtype}.npy"] = buffer.getvalue()
    write_archive(path, members)


def write_archive(path, members):
    """Write a zip file, the same bytes every time."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, NEVER), content, zipfile.ZIP_DEFLATED)


def write_release(path, found, seed=0):
    """Write what users of the wheel need to compare their own implementation: cases, reader, page and example."""
    members = {}
    with tempfile.TemporaryDirectory() as folder:
        for made in (Path(folder) / "cases.npz", Path(folder) / "cases.jsonl"):
            write(made, found, seed)
            members[made.name] = made.read_bytes()
    top = Path(__file__).parents[1]
    for name in ("reference/read_cases.py", "docs/conformance-suite.md", "docs/reverse.c"):
        members[Path(name).name] = (top / name).read_bytes()
    write_archive(path, {f"lodcore-cases/{name}": content for name, content in members.items()})
