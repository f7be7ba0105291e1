"""Counts the answers of a library, keeps them in results.json, and writes the page of them all."""

import json
import re
from collections import Counter
from pathlib import Path

from asv_benchmarks.judge import explained
from reference import read_cases
from reference.cases import OPERATORS

HERE = Path(__file__).resolve().parent
KEPT = HERE / "results.json"
VERDICTS = ("right", "wrong", "refused", "crashed")
LONGEST = 240  # characters of an argument or a result on the page


# -- results.json ------------------------------------------------------------------------------------------------------


def keep(name, cases, path):
    """Put the answers of a library into results.json."""
    answers = read_cases.read_results(path, len(cases))
    with path.open(encoding="utf-8") as file:
        version = json.loads(file.readline())["version"]
    counts, groups, cannot = {}, {}, Counter()
    for number, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        verdict, why = read_cases.judge(case, answer)
        counts.setdefault(case["operator"], Counter())[verdict] += 1
        if verdict == "skipped" and why != "no such operator":
            cannot[case["operator"], why] += 1
        if verdict in VERDICTS[1:]:
            what = difference(case, answer, why) if verdict == "wrong" else plain(why)
            groups.setdefault((case["operator"], verdict, what), []).append(number)
    kept = load()
    kept["cases"] = dict(Counter(case["operator"] for case in cases))
    kept["implementations"][name] = {
        "version": version,
        "counts": {operator: dict(found) for operator, found in counts.items() if set(found) != {"skipped"}},
        "cannot": [[*key, count] for key, count in sorted(cannot.items())],
        "differences": [described(cases, answers, *group) for group in sorted(groups.items())],
    }
    KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def load():
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {"cases": {}, "implementations": {}}


def described(cases, answers, key, numbers):
    """A difference: its operator, what it is, how often, and its smallest case."""
    operator, verdict, what = key
    number = min(numbers, key=lambda number: read_cases.size(cases[number]))
    case, answer = cases[number], answers[number]
    found = {"operator": operator, "verdict": verdict, "what": what, "count": len(numbers)}
    found["size"] = read_cases.size(case)
    found["call"] = [f"{name}={short(one)}" for name, one in case["arguments"].items()]
    if verdict == "wrong":
        part = "gradients" if what.startswith("gradient") else "results"
        found["expected"], found["got"] = short(case[part]), short(answer.get(part))
    else:
        part = answer[verdict] if answer else "no answer"
        found["expected"], found["got"] = short(case["results"]), f"{verdict}: {plain(part)}"
    return found


def short(thing):
    text = read_cases.nested(thing)
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def plain(message):
    """The first line of a message, without what differs from run to run."""
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    line = re.sub(r"\{\{.*?\}\}|0x\w+|/\S+/|\bj\d+\b", "", line)
    return re.sub(r"\s+", " ", line)[:200]


def difference(case, answer, part):
    """Say in what an answer differs: dtype, structure, values or gradients; with nan, or with empty sequences."""
    got, want = answer.get(part), case[part]
    word = "gradient" if part == "gradients" else "result"
    tolerance = max(case["tolerance"], 1e-4)
    if read_cases.agree(without(got, "dtype"), without(want, "dtype"), tolerance):
        return f"{word}: dtype" if shapes(got, "dtype") != shapes(want, "dtype") else f"{word}: precision"
    if not read_cases.agree(shapes(got), shapes(want), 0.0):
        return f"{word}: structure"
    return f"{word}: values{marks(case)}"


def without(thing, key):
    if isinstance(thing, (list, tuple)):
        return [without(one, key) for one in thing]
    if not isinstance(thing, dict):
        return thing
    return {name: without(one, key) for name, one in thing.items() if name != key}


def shapes(thing, *also):
    """The structure of results: shapes in place of values, and what is named."""
    if isinstance(thing, (list, tuple)):
        return [shapes(one, *also) for one in thing]
    if not isinstance(thing, dict):
        return thing
    found = {name: shapes(one, *also) for name, one in thing.items() if name != "dtype" or name in also}
    return found | ({"values": list(thing["values"].shape)} if hasattr(thing.get("values"), "shape") else {})


def marks(case):
    """Corner cases of the arguments that often are the cause."""
    if {"nan", "infinite"} & set(case["corners"]):
        return ", with nan or infinity"
    empty = {"no sequences", "only empty sequences", "first empty", "last empty", "no rows", "one giant"}
    return ", with empty sequences" if empty & set(case["corners"]) else ""


# -- the page ----------------------------------------------------------------------------------------------------------


def families():
    """The family of each operator: the file of its cases."""
    return {name: operator.draw.__module__.rpartition(".")[2] for name, operator in OPERATORS.items()}


def text():
    """The page."""
    kept = load()
    family = families()
    libraries = {name: one for name, one in kept["implementations"].items() if name != "lodcore"}
    parts = [explained.HEAD.format(cases=f"{sum(kept['cases'].values()):,}", operators=len(kept["cases"]))]
    parts += ["\n".join(overview(kept)), explained.COLUMNS]
    for name in sorted(libraries, key=lambda name: explained.TITLES[name].lower()):
        parts += [f"## {explained.TITLES[name]} {libraries[name]['version']}", explained.WORDS[name]]
        parts += ["\n".join(by_family(libraries[name], kept["cases"], family))]
        parts += differences(name, libraries[name])
    return "\n\n".join(part for part in parts if part) + "\n"


def overview(kept):
    yield "| implementation | can express | right | wrong | refuses | crashes |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, one in sorted(kept["implementations"].items(), key=lambda pair: explained.TITLES[pair[0]].lower()):
        total = sum((Counter(found) for found in one["counts"].values()), Counter())
        expressed = sum(total[verdict] for verdict in VERDICTS)
        cells = " | ".join(f"{total[verdict]:,}" for verdict in VERDICTS)
        share = f"{expressed:,} of {sum(kept['cases'].values()):,}"
        yield f"| {explained.TITLES[name]} {one['version']} | {share} | {cells} |"


def by_family(one, cases, family):
    """Lines of a table: for each family, how many cases can be expressed, and what becomes of them."""
    yield "| family | operators | can express | right | wrong | refuses | crashes |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name in sorted({family[operator] for operator in one["counts"]}):
        operators = [operator for operator in one["counts"] if family[operator] == name]
        total = sum((Counter(one["counts"][operator]) for operator in operators), Counter())
        expressed = sum(total[verdict] for verdict in VERDICTS)
        if expressed:
            used = [f"`{o}`" for o in operators if any(one["counts"][o].get(verdict) for verdict in VERDICTS)]
            cells = " | ".join(f"{total[verdict]}" for verdict in VERDICTS)
            count = sum(cases[operator] for operator in cases if family[operator] == name)
            yield f"| {name} | {', '.join(used)} | {expressed} of {count} | {cells} |"


def differences(name, one):
    """Sections: each difference that has an explanation of its own, with its smallest case."""
    groups = {}
    for found in one["differences"]:
        groups.setdefault(explained.explanation(name, found), []).append(found)
    order = {kind: place for place, kind in enumerate(explained.KINDS)}
    for reason in sorted(groups, key=lambda reason: (order[reason.kind], -sum(f["count"] for f in groups[reason]))):
        found = groups[reason]
        smallest = min(found, key=lambda one: (one["size"], one["operator"]))
        count = sum(one["count"] for one in found)
        operators = ", ".join(f"`{operator}`" for operator in sorted({one["operator"] for one in found}))
        lines = [
            f"**{explained.KINDS[reason.kind]}: {reason.title}** ({count} case{'s' * (count > 1)} of {operators})",
            "",
            reason.text,
            "",
        ]
        lines += ["```text", f"{smallest['operator']}({', '.join(smallest['call'])})"]
        lines += [f"expected  {smallest['expected']}", f"got       {smallest['got']}", "```"]
        yield "\n".join(line.rstrip() for line in lines)
