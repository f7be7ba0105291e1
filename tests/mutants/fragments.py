"""The parts of compiled files that can be read as Python: conditions, assignments, calls and returned values.

A part is rewritten until Python can parse it (`a->b` as `a.b`, `!x` as `not x`, casts left out), with a note from which
byte of the file each of its characters comes, so that a change of the rewritten part is one of the file.
"""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

#: What is no part of a meaning: comments, and docstrings.
COMMENT = re.compile(r'#[^\n]*|""".*?"""', re.DOTALL)
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
CAST = r"<\w[\w ]*\**\??>\s?(?=[\w(&\"'])"
C_CAST = (
    r"\((?:const )?(?:u?int\d*_t|double|float|CELL|PLACE|KEY|COUNT|void|int|unsigned|Py_ssize_t)(?: \*+)?\)(?=[\w(&*-])"
)
#: What Python writes otherwise, and how.
CYTHON = [(CAST, ""), (r"(?<=[(,=\s])&(?=\w)", "")]
C = [
    (C_CAST, ""),
    (r"&&", " and "),
    (r"\|\|", " or "),
    (r"!(?!=)", " not "),
    (r"->", "."),
    (r"(?<=[\w)])(?:\+\+|--)", ""),
]
C += [(r"(?<=[(,=\s])[&*](?=\w)", ""), (r"\b(\d[\da-fx.]*?)[uUlLf]+\b", r"\1"), (r"\\$", "")]
WORDS = [(r"\bTrue\b", "1"), (r"\bFalse\b", "0"), (r"\band\b", "&&"), (r"\bor\b", "||"), (r"\bnot\b ?", "!")]
WORDS += [(r"^pass$", ""), (r"(?<!/)//(?!/)", "/"), (r"^return None$", ""), (r"\bNone\b", "0")]
#: Lines of Cython that compute nothing.
OTHERS = "cdef|ctypedef|def|cpdef|class|with|try|except|from|import|cimport|raise|@"
#: Where parts of a line stand: `test` is followed by a body, `value` is what a declared variable begins with.
LINES = [
    re.compile(r"^\s*(?:el)?(?P<test>if .*):$", re.DOTALL),
    re.compile(r"^\s*(?P<test>while .*|for .*):$", re.DOTALL),
    re.compile(r"^\s*cdef [^(=]*?\w = (?P<value>.*)$", re.DOTALL),
    re.compile(rf"^\s*(?P<whole>(?!{OTHERS})\w.*[^:])$", re.DOTALL),
]
C_LINES = [
    re.compile(r"\bfor \([^;]*; (?P<value>[^;]*); (?P<whole>[^;]*)\)"),
    re.compile(r"\b(?:if|while) \((?P<value>.*)\)[\s{\\]*$"),
    re.compile(r"\breturn (?P<value>[^;]*);"),
    re.compile(r"^\s*(?:const |static )*[\w ]+?[ *]+\w+ = (?P<value>[^;]*);"),
    re.compile(r"(?:^|\) |else )\s*(?P<whole>[\w*][^;{}=]* [-+*/|&^]?= [^;{}]*|\w+\([^;{}]*\));"),
]


class Fragment(NamedTuple):
    """A tree, the text that it was parsed from, and for each character of this text its byte in the file."""

    tree: ast.AST
    text: str
    places: list[int]
    function: str


def fragments(text: str, is_c: bool) -> Iterator[Fragment]:
    """Yield the parts of a compiled file that Python can parse."""
    bare = (C_COMMENT if is_c else COMMENT).sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    function, at = "module", 0
    for line in _c_lines(bare) if is_c else _logical_lines(bare):
        if found := re.match(r"(?:c?p?def |LODCORE_|static |BODY|#define )?.*?(\w+)\(", line):
            function = found[1] if not line[0].isspace() else function
        elif found := re.match(r"(?:cdef )?class (\w+)", line):
            function = found[1]
        for pattern in C_LINES if is_c else LINES:
            if found := pattern.search(line.rstrip()):
                for name, part in found.groupdict().items():
                    if part and (made := _parsed(part, at + found.start(name), name, is_c)):
                        yield Fragment(*made, function)
                if not is_c:
                    break
        at += len(line)


def in_language(new: str, ending: str) -> str:
    """Return the text that is put into a file, in the language of the file."""
    for pattern, other in WORDS if ending == ".h" else [(r"\bNone\b", "0")]:
        new = re.sub(pattern, other, new)
    return new


def _parsed(part: str, start: int, name: str, is_c: bool) -> tuple[ast.AST, str, list[int]] | None:
    """Rewrite a part and parse it; None if Python cannot."""
    blank = len(part) - len(part.lstrip())
    now, places = part[blank:], list(range(start + blank, start + len(part)))
    for pattern, other in C if is_c else CYTHON:
        for found in reversed(list(re.finditer(pattern, now))):
            first, last, new = *found.span(), found.expand(other)
            now = now[:first] + new + now[last:]
            places[first:last] = [places[last - 1]] * len(new)
    try:
        if name == "value":
            return ast.parse(f"({now})", mode="eval"), f"({now}", [start - 1, *places]
        return ast.parse(now + ": pass" * (name == "test")), now, places
    except (SyntaxError, ValueError):
        return None


def _c_lines(text: str) -> list[str]:
    """List the lines of C, each with those that it is continued in."""
    found = [""]
    for line in text.splitlines(keepends=True):
        found[-1] += line
        if found[-1].count("(") <= found[-1].count(")"):
            found.append("")
    return found


def _logical_lines(text: str) -> list[str]:
    """List the lines of Cython, each with those that it is continued in."""
    found, depth = [""], 0
    for line in text.splitlines(keepends=True):
        found[-1] += line
        outside = re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', "", line)
        depth += sum(map(outside.count, "([{")) - sum(map(outside.count, ")]}"))
        if depth <= 0:
            found.append("")
            depth = 0
    return found
