"""The form of arguments and results that adapters share; see docs/conformance-suite.md. Runs on Python 3.7, too."""

import numpy as np


def unable(reason):
    """Say that the library has no way to express a case."""
    raise NotImplementedError(reason)


def is_tensor(thing):
    return isinstance(thing, dict) and thing.get("kind") in ("dense", "ragged")


def is_ragged(thing):
    return isinstance(thing, dict) and thing.get("kind") == "ragged"


def dense(values):
    """Describe an array."""
    values = np.asarray(values)
    return {"kind": "dense", "dtype": values.dtype.name, "values": values}


def ragged(values, *levels):
    """Describe a batch: rows, and the offsets of each level."""
    lod = [np.asarray(level).tolist() for level in levels]
    return {**dense(values), "kind": "ragged", "lod": lod}


def depth(x):
    return len(x["lod"]) if is_ragged(x) else 0


def level_of(x, level):
    """Return a level, counted from the first."""
    return level % depth(x)


def row_lengths(x, level):
    """The number of rows in each sequence of a level."""
    k = level_of(x, level)
    offsets = np.array(x["lod"][k])
    for finer in x["lod"][k + 1 :]:
        offsets = np.array(finer)[offsets]
    return np.diff(offsets)


def dtypes(*things):
    """The dtypes of tensors, also of those in lists."""
    flat = [one for thing in things for one in (thing if isinstance(thing, list) else [thing])]
    return {one["dtype"] for one in flat if is_tensor(one)}


def one_dtype(*things):
    """Refuse to express operands of several dtypes, for a library that does not promote."""
    if len(dtypes(*things)) > 1:
        unable("operands of different dtypes")


def only(x, *names):
    """Refuse to express dtypes that the library's documentation excludes."""
    if x["dtype"] not in names:
        unable("rows of {}".format(x["dtype"]))


def one_level(*things):
    for x in things:
        if is_ragged(x) and depth(x) > 1:
            unable("more than one level")


def some_batch(arguments):
    """Leave out calls of dense arrays alone: they say nothing of nested sequences."""
    if not any(map(is_ragged, arguments.values())):
        unable("dense arrays alone")
