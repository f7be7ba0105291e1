"""Shrink a program that fails, as long as it fails in the same way."""

import itertools
from dataclasses import replace

import numpy as np

from reference.graph import statements as p
from reference.graph.names import check
from reference.graph.values import GraphError, Nested, Refused
from tests.helpers.meanings import meaning
from tests.helpers.programs_in_every_way import Disagreement, check_program


def shrink(program, feeds, fixed, error, tries=400):
    """Remove one part after the other, as long as the program still fails in that way."""
    best = (program, feeds, fixed, error)
    tries_left, forbidden = [tries], forbidden_name(program)
    changed = True
    while changed:
        changed, at = False, 0
        while tries_left[0] > 0 and (candidate := next(itertools.islice(smaller(*best[:2]), at, None), None)):
            found = fails_like(*candidate, fixed, error, forbidden, tries_left)
            if found is None:
                at += 1
            else:
                best, changed = (*candidate, fixed, found), True
        changed = changed and tries_left[0] > 0
    return best


def forbidden_name(program):
    """Return the name for which a program is invalid, or None."""
    try:
        check(program)
    except (GraphError, Refused) as error:
        return error.args[0]
    return None


def fails_like(program, feeds, fixed, error, forbidden, tries_left):
    """Run a candidate; return its error if it is of the same kind."""
    if tries_left[0] <= 0:
        return None
    try:
        well_formed(program, forbidden)
        meanings = [meaning(program, feed) for feed in feeds]
    except Exception:
        return None
    if not all(found.is_smooth for found in meanings):
        return None
    tries_left[0] -= 1
    try:
        check_program(program, feeds, fixed, meanings, (error.way.split()[0],))
    except Disagreement as found:
        return found if found.kind == error.kind else None
    return None


def well_formed(program, forbidden):
    """Raise if an array is read before any element is known, or if a name is wrong that was not before."""
    if forbidden_name(program) != forbidden:
        raise ValueError(forbidden)
    known = {name for name, array in program.outside if array.slots}
    check_known(program.body, known)


def check_known(body, known):
    slots = {}
    for s in body:
        if isinstance(s, p.Write):
            known.add(s.array)
        elif isinstance(s, p.Get):
            slots[s.target] = s.array
            if s.boot is not None:
                known.add(s.array)
        elif isinstance(s, p.Put):
            known.add(slots.get(s.slot))
        elif isinstance(s, (p.Unstack, p.Unpack)):
            known.add(s.target)
        elif (isinstance(s, p.Read) and s.default is None and s.array not in known) or (
            isinstance(s, p.Ask) and s.question not in ("size", "sizes") and s.array not in known
        ):
            raise ValueError(s.array)
        elif isinstance(s, p.Cond) and len(s.body) != 2:
            raise ValueError(s.targets)
        elif isinstance(s, p.WITH_BODIES):
            check_known(s.body, known)


def smaller(program, feeds):
    """Yield programs, and feeds, that are smaller by one part."""
    if len(feeds) > 1:
        yield from ((program, [feed]) for feed in feeds)
    for at in range(len(program.results)):
        if len(program.results) > 1:
            yield replace(program, results=program.results[:at] + program.results[at + 1 :]), feeds
    for body in smaller_body(program.body):
        yield replace(program, body=body), feeds
    for at in range(len(program.outside)):
        yield replace(program, outside=program.outside[:at] + program.outside[at + 1 :]), feeds
    for name in program.inputs:
        inputs = tuple(other for other in program.inputs if other != name)
        yield replace(program, inputs=inputs), [{k: v for k, v in feed.items() if k != name} for feed in feeds]
    for number, feed in enumerate(feeds):
        for name, value in feed.items():
            for less in smaller_value(value):
                same = [
                    {**other, name: less} if at == number or len(feeds) == 1 else other
                    for at, other in enumerate(feeds)
                ]
                yield program, same


def smaller_value(value):
    if isinstance(value, Nested) and len(value) > 1:
        yield value.made(value.sequences[:-1], value.num_levels)
        yield value.made(value.sequences[1:], value.num_levels)
    elif isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[0] > 1 and value.shape != (2, 2):
        yield value[:1]


def smaller_body(body):
    """Yield bodies with one statement fewer, or with a smaller one."""
    for size in (4, 2, 1):
        for at in reversed(range(0, len(body) - size + 1)):
            yield body[:at] + body[at + size :]
    for at, s in enumerate(body):
        if isinstance(s, p.WITH_BODIES):
            for inside in smaller_body(s.body):
                yield (*body[:at], replace(s, body=inside), *body[at + 1 :])
        if isinstance(s, p.Repeat):
            yield (*body[:at], *s.body, *body[at + 1 :])
        for other in simpler(s):
            yield (*body[:at], other, *body[at + 1 :])


def simpler(s):
    """Yield simpler versions of a statement."""
    if isinstance(s, p.Loop):
        if s.runs is not None:
            yield replace(s, runs=None)
        if s.runs == 2:
            yield replace(s, runs=1)
    if isinstance(s, p.MapFn) and len(s.targets) > 1:
        for at in range(len(s.targets)):
            fields = {name: getattr(s, name)[at : at + 1] for name in ("targets", "results", "elements", "stacked")}
            yield replace(s, **fields)
    if isinstance(s, p.Write) and s.how != "write":
        yield replace(s, how="write")
    if isinstance(s, p.Read) and s.how not in ("read", "default"):
        yield replace(s, how="read" if s.default is None else "default")
    if isinstance(s, p.Compute) and s.function in ("greater_equal_than", "equal", "=="):
        yield replace(s, function=">=")
    if (
        isinstance(s, p.Compute)
        and s.arguments
        and isinstance(s.arguments[-1], str)
        and s.function in (">=", "equal", "==")
    ):
        yield from (replace(s, arguments=(s.arguments[0], number)) for number in (1, 2))
    if isinstance(s, p.Compute) and s.function in (">=", "equal", "==") and s.arguments[-1] in (2, 3, 4):
        yield replace(s, arguments=(s.arguments[0], s.arguments[-1] - 1))
    if isinstance(s, p.Make) and (s.size is not None or s.kind != "TensorArray"):
        yield replace(s, size=None, dynamic=True)
        yield replace(s, kind="TensorArray")
    if isinstance(s, p.Declare) and s.init is None:
        yield replace(s, init=0)
    if isinstance(s, p.Unpack) and s.how != "unpack":
        yield replace(s, how="unpack")
    if isinstance(s, p.Unstack) and s.how != "unstack":
        yield replace(s, how="unstack")
