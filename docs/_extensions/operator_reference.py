"""The directive `operator-reference`: the operators of a table of `operators.md`, from docstrings and the registry."""

import inspect
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from numpydoc.docscrape_sphinx import SphinxDocString
from sphinx.application import Sphinx
from sphinx.util.nodes import nested_parse_with_titles

from lodcore.operators.registry import OPS

DOCS = Path(__file__).resolve().parents[1]


def cells(line: str) -> list[str]:
    """Split a row of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables() -> dict[str, list[list[str]]]:
    """Read the tables of operators, by the heading before each."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in (DOCS / "operators.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ").split(":")[0]
        elif line.startswith("| `"):
            found.setdefault(heading, []).append(cells(line))
    return found


def empty_sequences() -> dict[str, list[str]]:
    """Read the results for empty sequences from the page on them, by the operator that a call names."""
    found: dict[str, list[str]] = {}
    for line in (DOCS / "empty-sequences.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `") and (named := re.match(r"`(?:lodcore|x)\.(\w+)\(", cells(line)[0])):
            call, gives, *_ = cells(line)
            for name in (named[1], f"sequence_{named[1]}"):
                if name in OPS:
                    found.setdefault(name, []).append(f"{call} gives {gives}")
    return found


def described(name: str, row: list[str], empty: dict[str, list[str]]) -> str:
    """Write the section of one operator, in reStructuredText."""
    doc = SphinxDocString(inspect.getdoc(OPS[name]), config={})
    example = [line for line in doc["Examples"] if line.strip() != ">>> import lodcore"]
    facts = [("Acts on", row[1]), ("LoD of the result", row[2]), ("Gradient", row[3])]
    if name in empty:
        facts.append(("Empty sequences", "; ".join(empty[name])))
    signature = re.sub(r": '[^']*'| -> .*", "", str(inspect.signature(OPS[name])))
    lines = [name, "-" * len(name), "", " ".join(doc["Summary"]), ""]
    lines += [".. code-block:: pycon", "", *(f"    {line}" for line in example), ""]
    lines += [f":{fact}: {said.replace('`', '``')}" for fact, said in facts]
    doc["Signature"] = f"{name}{signature}"
    doc["Summary"], doc["Examples"] = [], []
    return "\n".join([*lines, "", str(doc).strip(), "", ""])


class OperatorReference(Directive):
    """Sections of all operators of one table."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        empty = empty_sequences()
        text = "\n".join(described(row[0].strip("`"), row, empty) for row in tables()[self.arguments[0]])
        content = StringList(text.splitlines(), source="operator-reference")
        parent = nodes.section()
        parent.document = self.state.document
        nested_parse_with_titles(self.state, content, parent)
        return list(parent.children)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("operator-reference", OperatorReference)
    return {"parallel_read_safe": True}
