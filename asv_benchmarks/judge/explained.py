"""What is written by hand on the page of the judge: its text, and (in reasons.json) why each difference is one."""

import json
import re
from pathlib import Path
from typing import NamedTuple

KINDS = {
    "ours": "A defect here",
    "theirs": "A defect there",
    "convention": "Another convention",
    "limit": "Not supported there",
    "open": "Not explained yet",
}

TITLES = {
    "awkward": "awkward",
    "fbgemm": "FBGEMM",
    "lodcore": "lodcore",
    "paddle": "PaddlePaddle",
    "tensorflow": "TensorFlow",
    "thinc": "thinc",
    "torch": "PyTorch",
}

HEAD = """\
# The judge: other libraries, held against the definition

The [conformance suite](conformance-suite.md) defines what lodcore's operators compute: {cases} cases of {operators}
operators, whose results come from plain Python on nested lists. Here other libraries with ragged, jagged or LoD
tensors answer the same cases, as far as they can express them, and so does lodcore. `make judge` makes this page:
each library runs in a process and an environment of its own, and where it ends the process, that is the result.
Nothing is timed here; [Performance](performance.md) does that."""

COLUMNS = """\
A library can *express* a case if it has the operator, with the case's level, dtype and attributes, as one of its own
functions or as a short composition of them; its adapter in `asv_benchmarks/judge` says how, and for which cases it
cannot. A case is *right* if results, dtypes and structure, and the gradients where the library has them, are as
expected; *wrong* if it returns something else; it *refuses* if it raises an error, and *crashes* if it ends the
process. Wrong does not mean that the library is at fault: it may follow another convention. Each difference is listed
below with its smallest case. So far, none has shown a defect of lodcore; what we have learnt about conventions is in
[Coming from](coming-from/index.md)."""

WORDS = {
    "awkward": """\
Arrays of any depth. Gradients are not compared: awkward has none with its NumPy backend. For a reduction
of all rows below a coarser level, the levels between are flattened first.""",
    "fbgemm": """\
Jagged operators on rows and offsets or lengths, with one level here. Gradients are compared where an operator has
them.""",
    "paddle": """\
The LoD operators of the last release that had them all, as static programs with their gradients. A row without axes
is a row of one column there. Python 3.7 runs it.""",
    "tensorflow": """\
Ragged tensors of any depth, with gradients by `GradientTape`. Operands of different dtypes cannot be expressed, since
TensorFlow never promotes. For a reduction of all rows below a coarser level, the levels between are merged first.""",
    "thinc": """\
The functions of `NumpyOps` on rows and lengths, with their backward functions.""",
    "torch": """\
Jagged nested tensors (`torch.nested`, `layout=torch.jagged`) with autograd, and packed sequences: one ragged axis.""",
}


class Reason(NamedTuple):
    """Why answers differ: those of a library whose operator, verdict and difference fit the patterns."""

    library: str
    operator: str
    verdict: str
    what: str
    kind: str
    title: str
    text: str


#: The first that fits is the one.
REASONS = [Reason(**row) for row in json.loads(Path(__file__).with_name("reasons.json").read_text(encoding="utf-8"))]


def explanation(library, difference):
    """Find why a difference is one."""
    for reason in REASONS:
        if (
            reason.library == library
            and re.fullmatch(reason.operator, difference["operator"])
            and re.fullmatch(reason.verdict, difference["verdict"])
            and re.search(reason.what, difference["what"])
        ):
            return reason
    title = f"{difference['operator']}: {difference['what']}"
    return Reason(library, difference["operator"], difference["verdict"], "", "open", title, "")
