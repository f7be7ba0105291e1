"""Pages: the code that they show, and numbers in them that differ between machines."""

import re
from pathlib import Path

__all__ = ["check_page", "code_of"]

ROOT = Path(__file__).resolve().parents[2]
NUMBER = r"\d[\d.,]*(e-\d+)?"
#: What the marks in a page stand for: a number, a number of a table or its zero, a bar, any text.
MARKS = {" #": rf" *{NUMBER}", " @": rf" *({NUMBER}|·)", "=": "█*[▉-▏]? *", "~": ".+"}


def check_page(printed, path):
    """Check that each printed line is that of the page."""
    wanted, found = Path(path).read_text("utf-8").splitlines(), printed.splitlines()
    for number, (line, one) in enumerate(zip(wanted, found, strict=False), 1):
        parts = re.split("( [#@]|[=~])", line)
        assert re.fullmatch("".join(MARKS.get(part) or re.escape(part) for part in parts), one), (number, one, line)
    assert found[len(wanted) :] == wanted[len(found) :]


def code_of(page):
    """Return the examples in Python that a page of the repository shows, in their order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
