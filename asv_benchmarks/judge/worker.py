"""Answers cases with one library, in a process of its own: worker.py NAME CASES RESULTS FIRST; run.py starts it."""

import importlib
import json
import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "reference")]
LONGEST = 60  # seconds of a case; then the process is killed

import read_cases


def answer_of(operators, case):
    """Call what stands for the operator."""
    if case["operator"] not in operators:
        return {"skipped": "no such operator"}
    try:
        results, gradients = operators[case["operator"]](case["arguments"], case["cotangents"])
    except NotImplementedError as error:
        return {"skipped": str(error) or "not implemented"}
    except Exception as error:
        return {"refused": "{}: {}".format(type(error).__name__, brief(str(error)))}
    answer = {"results": results}
    if case["gradients"] is not None and gradients is not NotImplemented:
        answer["gradients"] = {name: gradients.get(name) for name in case["gradients"]}
    return answer


def brief(message):
    """The message of an error, without the stack that Paddle puts before it."""
    message = message.rpartition("Error Message Summary:")[2]
    return message.replace("-" * 20, "").strip("- \n")[:400]


def main():
    name, cases, results, first = sys.argv[1:]
    os.dup2(2, 1)  # what libraries print
    adapter = importlib.import_module("on_" + name)
    with open(results, "a", encoding="utf-8") as file:
        if first == "0":
            print(json.dumps({"format": "lodcore results 1", "version": adapter.VERSION}), file=file, flush=True)
        for number, case in enumerate(read_cases.read(cases)):
            if number < int(first):
                continue
            signal.alarm(LONGEST)
            line = {"case": number}
            line.update(read_cases.as_text(answer_of(adapter.OPERATORS, case)))
            print(json.dumps(line, default=repr), file=file, flush=True)


if __name__ == "__main__":
    main()
