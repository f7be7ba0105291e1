"""The comparison of an implementation with a file of cases, see docs/conformance-suite.md: write your own `run`."""

import json
import math

import numpy as np

__all__ = ["agree", "hold", "read"]


def read(path):
    """List the cases of a file: the entries of `index.json`, with an ndarray in place of each reference to numbers."""
    with np.load(path, allow_pickle=False) as file:
        members = {name: file[name] for name in file.files}

    def resolve(entry):
        if "values" in entry and "dtype" in entry:  # not arguments, one of which may have this name
            dtype, start, shape = entry["values"]
            entry["values"] = members[dtype][start : start + math.prod(shape)].reshape(shape)
        return entry

    return json.loads(members["index.json"], object_hook=resolve)["cases"]


def agree(got, want, tolerance):
    """Return whether a result or a gradient is as expected."""
    if isinstance(want, np.ndarray):
        allowed = tolerance * max(1.0, np.abs(want, where=np.isfinite(want), out=np.ones(want.shape)).max(initial=0.0))
        return got.shape == want.shape and np.allclose(got, want, rtol=0.0, atol=allowed, equal_nan=True)
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(agree(got[name], want[name], tolerance) for name in want)
    if isinstance(want, list):
        return len(got) == len(want) and all(map(agree, got, want, [tolerance] * len(want)))
    return got == want


def hold(path, run):
    """Run every case; `run(operator, arguments, cotangents)` returns results and gradients in the form of the file."""
    for number, case in enumerate(read(path)):
        results, gradients = run(case["operator"], case["arguments"], case["cotangents"])
        for name, got in (("results", results), ("gradients", gradients)):
            if not agree(got, case[name], case["tolerance"]):
                raise AssertionError(f"case {number}: {name} are {got}, which is not as expected: {case}")
