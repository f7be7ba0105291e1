"""Holds an implementation against a file of cases, see docs/conformance-suite.md. Needs NumPy, and nothing else.

    python read_cases.py CASES RESULTS

compares the results that a program wrote with the expected ones. In Python, write `run`, and call `hold`.
"""

import json
import sys
from collections import Counter

import numpy as np

__all__ = ["VERDICTS", "agree", "as_text", "hold", "judge", "nested", "read", "read_results", "size", "summary"]

#: What becomes of a case. Skipped: the implementation does not have it; refused: it has, and raises an error.
VERDICTS = ("right", "wrong", "refused", "crashed", "skipped")


def read(path):
    """List the cases of a file (`.npz`, or lines of JSON), with an ndarray in place of each `values`."""
    if str(path).endswith(".jsonl"):
        with open(path, encoding="utf-8") as file:
            cases = [json.loads(line) for line in file][1:]
        for case in cases:
            for part in ("arguments", "results", "cotangents", "gradients"):
                case[part] = from_text(case[part], part in ("arguments", "cotangents"))
        return cases
    with np.load(path, allow_pickle=False) as file:
        members = {name: file[name] for name in file.files}

    def resolve(entry):
        if "values" in entry and "dtype" in entry:  # not arguments, one of which may have this name
            dtype, start, shape = entry["values"]
            entry["values"] = members[dtype][start : start + int(np.prod(shape))].reshape(shape)
        return entry

    return json.loads(members["index.json"], object_hook=resolve)["cases"]


def from_text(thing, given=False):
    """Convert what is in a line of JSON: arrays in place of shapes and numbers; only given ones have float32."""
    if isinstance(thing, list):
        return [from_text(one, given) for one in thing]
    if not isinstance(thing, dict):
        return thing
    if "shape" not in thing or "dtype" not in thing:
        return {name: from_text(one, given) for name, one in thing.items()}
    real = thing["dtype"].startswith("float")
    numbers = [float(one) if real else int(one) for one in thing["values"]]  # nan, and long integers, are strings
    values = np.array(numbers, "float64" if real and not given else thing["dtype"]).reshape(thing["shape"])
    return {name: values if name == "values" else one for name, one in thing.items() if name != "shape"}


def as_text(thing):
    """Convert results or gradients to what JSON can express: the inverse of `from_text`."""
    if isinstance(thing, (list, tuple)):
        return [as_text(one) for one in thing]
    if not isinstance(thing, dict):
        return thing
    made = {name: as_text(one) for name, one in thing.items()}
    if isinstance(thing.get("values"), np.ndarray):
        numbers = thing["values"].ravel().tolist()
        made["shape"] = list(thing["values"].shape)
        made["values"] = [one if -(2**53) <= one <= 2**53 else str(one) for one in numbers]
    return made


def agree(got, want, tolerance):
    """Return whether a result or a gradient is as expected."""
    if isinstance(want, np.ndarray):
        allowed = tolerance * max(1.0, np.abs(want, where=np.isfinite(want), out=np.ones(want.shape)).max(initial=0.0))
        alike = isinstance(got, np.ndarray) and got.shape == want.shape
        return alike and np.allclose(got, want, rtol=0.0, atol=allowed, equal_nan=True)
    if isinstance(want, dict):
        alike = isinstance(got, dict) and got.keys() == want.keys()
        return alike and all(agree(got[name], want[name], tolerance) for name in want)
    if isinstance(want, list):
        alike = isinstance(got, (list, tuple)) and len(got) == len(want)
        return alike and all(map(agree, got, want, [tolerance] * len(want)))
    return got == want


def judge(case, answer):
    """Compare an answer (`{"results": ..., "gradients": ...}`, or `{"skipped": why}` and so on) with a case.

    Returns a verdict and what is to be said of it. None is the answer of a program that ended before. An answer without
    "gradients" is compared in its results only.
    """
    if answer is None:
        return "crashed", "no answer"
    for verdict in VERDICTS[2:]:
        if verdict in answer:
            return verdict, answer[verdict]
    for part in ("results", "gradients"):
        if part in answer and not agree(answer[part], case[part], case["tolerance"]):
            return "wrong", part
    return ("right", "") if "results" in answer else ("wrong", "results")


def answer_of(run, case, skip):
    """Run a case: an error is an answer, too."""
    if case["operator"] in skip:
        return {"skipped": "as asked"}
    try:
        results, gradients = run(case["operator"], case["arguments"], case["cotangents"])
    except NotImplementedError as error:
        return {"skipped": str(error)}
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    return {"results": results} if gradients is NotImplemented else {"results": results, "gradients": gradients}


def hold(path, run, skip=()):
    """Run every case, print a summary, and raise an AssertionError with it if an answer is not as expected.

    `run(operator, arguments, cotangents)` returns results and gradients in the form of the file, or NotImplemented in
    place of gradients; NotImplementedError skips a case, and `skip` has names of operators.
    """
    cases = read(path)
    report(cases, [answer_of(run, case, skip) for case in cases])


def report(cases, answers):
    """Print a summary, and raise an AssertionError with it if an answer is not as expected."""
    text, failed = summary(cases, answers)
    if failed:
        raise AssertionError(f"{failed} of {len(cases)} cases are not as expected\n{text}")
    print(text)


def summary(cases, answers):
    """Return a table with a line per operator, then the smallest case of each kind of failure; and the failures."""
    counts, smallest = {}, {}
    for number, (case, answer) in enumerate(zip(cases, answers)):
        verdict, why = judge(case, answer)
        counts.setdefault(case["operator"], Counter())[verdict] += 1
        kind = case["operator"], verdict, why if verdict == "wrong" else ""
        if verdict not in ("right", "skipped") and (kind not in smallest or size(case) < size(smallest[kind][1])):
            smallest[kind] = number, case, answer, why
    counts["in all"] = sum(counts.values(), Counter())
    lines = [f"{'operator':<24}" + "".join(f"{verdict:>9}" for verdict in VERDICTS)]
    lines += [f"{name:<24}" + "".join(f"{found[verdict]:>9}" for verdict in VERDICTS) for name, found in counts.items()]
    for (operator, verdict, _), (number, case, answer, why) in smallest.items():
        lines += ["", f"case {number}, {operator}: {verdict}: {why}"]
        lines += [f"    {name} = {nested(one)}" for name, one in case["arguments"].items()]
        if verdict == "wrong":
            lines += [f"    expected {nested(case[why])}", f"    not      {nested(answer.get(why))}"]
    return "\n".join(lines), sum(counts["in all"][verdict] for verdict in ("wrong", "refused", "crashed"))


def size(case):
    """Return how large the arguments of a case are, to find the smallest of several."""
    return len(json.dumps(as_text(case["arguments"])))


def nested(thing):
    """Convert a tensor to text: nested lists and the dtype."""
    if isinstance(thing, (list, tuple)):
        return f"[{', '.join(map(nested, thing))}]"
    if not isinstance(thing, dict):
        return repr(thing)
    if not isinstance(thing.get("values"), np.ndarray):
        return "{" + ", ".join(f"{name}: {nested(one)}" for name, one in thing.items()) + "}"
    lists = thing["values"].tolist()
    for offsets in reversed(thing.get("lod", [])):
        lists = [lists[start:stop] for start, stop in zip(offsets, offsets[1:])]
    rows = "" if thing["values"].ndim < 2 else f", rows of shape {thing['values'].shape[1:]}"
    return f"{lists} ({thing['dtype']}{rows if thing['kind'] == 'ragged' else ''})"


def read_results(path, count):
    """List the answers of a file of results, one per case, None where there is none."""
    answers = [None] * count
    with open(path, encoding="utf-8") as file:
        for line in list(file)[1:]:
            if line.endswith("\n"):  # the last line of a program that was killed
                answer = from_text(json.loads(line))
                answers[answer.pop("case")] = answer
    return answers


if __name__ == "__main__":
    try:
        report(read(sys.argv[1]), read_results(sys.argv[2], len(read(sys.argv[1]))))
    except AssertionError as error:
        raise SystemExit(str(error)) from None
