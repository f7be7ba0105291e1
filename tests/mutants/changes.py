"""Small changes of a program's text that change its meaning: what a random defect is drawn from."""

import ast
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from tests.mutants.fragments import fragments, in_language

COMPARED = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">=", "=="),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<=", "=="),
    ast.Eq: ("!=", "<=", ">=", "<", ">"),
    ast.NotEq: ("==", "<", ">"),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
COMPUTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//", ast.Pow: "*"}
COMPUTED |= {ast.BitAnd: "|", ast.BitOr: "&", ast.LShift: ">>", ast.RShift: "<<"}
BOUNDS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult, ast.LShift, ast.RShift)
TWINS = [("min", "max"), ("any", "all"), ("minimum", "maximum"), ("argmin", "argmax"), ("zeros", "ones")]
TWINS += [("start", "stop"), ("left", "right"), ("add", "subtract"), ("first", "last"), ("append", "extend")]
OTHER_NAME = {one: other for pair in TWINS for one, other in (pair, pair[::-1])}
#: What is not a part of the meaning, or only a message: annotations, names for others, errors, docstrings.
LEFT_OUT = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
DECLARED = {"__all__", "__slots__", "TYPE_CHECKING"}


class Change(NamedTuple):
    """One change: the bytes from `start` to `stop` become `new`, in the function of that name."""

    start: int
    stop: int
    new: str
    function: str


def changes(text: str, ending: str = ".py") -> list[Change]:
    """List the changes that can be made to a program of Python, Cython or C, in the order of its text."""
    source = text.encode()
    if ending == ".py":
        starts = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]
        return sorted({Change(*found) for found in _of_tree(ast.parse(text), "module", source, starts, None)})
    found = set()
    for part in fragments(text, ending == ".h"):
        lines = [0, *itertools.accumulate(map(len, part.text.splitlines(keepends=True)))]
        for start, stop, new, name in _of_tree(part.tree, part.function, source, lines, part.places):
            found.add(Change(start, stop, in_language(new, ending), name))
    return sorted(found)


def _of_tree(tree: ast.AST, function: str, source: bytes, starts: list[int], places: list[int] | None):
    """Yield the changes of a tree: of a file with lines at `starts`, or of a part whose letters have `places`."""

    def span(first: ast.AST, last: ast.AST | None = None) -> tuple[int, int]:
        last = last or first
        start, stop = starts[first.lineno - 1] + first.col_offset, starts[last.end_lineno - 1] + last.end_col_offset
        if places is None:
            return start, stop
        stop = min(stop, len(places))  # without the body that was added to a condition
        before = places[start - 1] + 1 if start else places[start]  # with a cast, which the part has not
        blank = len(source[before : places[start]]) - len(source[before : places[start]].lstrip())
        return before + blank, places[stop - 1] + 1

    def text_of(part: ast.AST) -> str:
        return source[slice(*span(part))].decode()

    for node, name in _nodes(tree, function):
        for first, last, new in _replaced(node, text_of):
            yield *span(first, last), new, name


def changed(text: str, change: Change) -> str:
    """Return the program with a change."""
    source = text.encode()
    return (source[: change.start] + change.new.encode() + source[change.stop :]).decode()


def _nodes(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    """Yield the nodes that have a meaning when the program runs, with the names of their functions."""
    if isinstance(node, LEFT_OUT) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in DECLARED:
        return
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id in DECLARED:
        return
    yield node, function
    inside = function
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        inside = node.name if function == "module" else f"{function}.{node.name}"
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list", "bases", "type_params"):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    yield from _nodes(part, inside)


def _replaced(node: ast.AST, text_of) -> Iterator[tuple[ast.AST, ast.AST, str]]:
    """Yield replacements of a node: the first and the last part that is replaced, and the new text."""
    match node:
        case ast.Compare(left, [op], [right]):
            for other in COMPARED[type(op)]:
                yield node, node, f"{_whole(left, text_of)} {other} {_whole(right, text_of)}"
            yield node, node, "True"
            yield node, node, "False"
            for sign in "-+" if isinstance(right, (ast.Name, ast.Attribute)) and isinstance(op, BOUNDS) else "":
                yield right, right, f"{text_of(right)} {sign} 1"
            if (
                isinstance(op, (ast.In, ast.NotIn))
                and isinstance(right, ast.Constant)
                and len(right.value) in range(2, 7)
            ):
                for j in range(len(right.value)):  # kinds of dtypes
                    yield right, right, repr(right.value[:j] + right.value[j + 1 :])
        case ast.Compare(left, signs, others):
            texts = [_whole(part, text_of) for part in (left, *others)]
            for j, sign in enumerate(signs):
                for other in COMPARED[type(sign)]:
                    yield others[j - 1] if j else left, others[j], f"{texts[j]} {other} {texts[j + 1]}"
        case ast.BinOp(left, op, right):
            if type(op) in COMPUTED:
                yield node, node, f"{_whole(left, text_of)} {COMPUTED[type(op)]} {_whole(right, text_of)}"
            yield node, node, _whole(left, text_of)
            yield node, node, _whole(right, text_of)
            if isinstance(op, ORDERED):
                between = {ast.MatMult: "@", ast.Sub: "-", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
                sign = between.get(type(op)) or ("<<" if isinstance(op, ast.LShift) else ">>")
                yield node, node, f"{_whole(right, text_of)} {sign} {_whole(left, text_of)}"
        case ast.BoolOp(op, values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield node, node, word.join(_whole(value, text_of) for value in values)
            kept = " and " if isinstance(op, ast.And) else " or "
            for j in range(len(values)):
                yield node, node, kept.join(_whole(value, text_of) for k, value in enumerate(values) if k != j)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield node, node, _whole(operand, text_of)
        case ast.Constant(bool() as value):
            yield node, node, str(not value)
        case ast.Constant(int() as value):
            yield node, node, str(value + 1)
            yield node, node, str(value - 1)
        case ast.Constant(float() as value) if value == value:
            yield node, node, str(value * 2)
        case ast.IfExp(test, body, orelse):
            yield node, node, _whole(body, text_of)
            yield node, node, _whole(orelse, text_of)
        case ast.If(test) | ast.While(test):
            yield test, test, "False"
            if isinstance(node, ast.If):
                yield test, test, "True"
            if isinstance(test, (ast.Name, ast.Attribute, ast.Call)):
                yield test, test, f"not {text_of(test)}"
        case ast.Call(ast.Name("range"), args) if args:
            for sign in "-+":
                yield args[-1], args[-1], f"{text_of(args[-1])} {sign} 1"
        case ast.Call(ast.Attribute(value), [], []):
            yield node, node, text_of(value)
        case ast.Call(_, [one], []) if not isinstance(one, (ast.Starred, ast.GeneratorExp)):
            yield node, node, _whole(one, text_of)
            if isinstance(one, ast.Name):
                yield one, one, "None"
        case ast.Call(_, args, keywords):
            if len(args) > 1 and not any(isinstance(one, ast.Starred) for one in args[:2]):
                yield args[0], args[1], f"{text_of(args[1])}, {text_of(args[0])}"
            for one in args:
                if isinstance(one, (ast.Name, ast.Attribute)):
                    yield one, one, "None"
            given = [*args, *(one.value for one in keywords)]
            names = [f"{one.arg}=" for one in keywords if one.arg]
            if len(given) > 1 and len(names) == len(keywords):
                texts = [f"{name}{text_of(one)}" for name, one in zip([""] * len(args) + names, given, strict=True)]
                for j in range(max(len(args) - 1, 0), len(given)):  # the last argument, or one that has a name
                    yield node, node, f"{text_of(node.func)}({', '.join(texts[:j] + texts[j + 1 :])})"
        case ast.Subscript(value, index, ast.Load()):
            yield node, node, text_of(value)
            if not isinstance(index, (ast.Constant, ast.Slice, ast.Tuple)):
                yield index, index, "0"
        case ast.Slice(first, last, None):
            if first and last:
                yield node, node, f"{text_of(first)}:"
            if last:
                yield node, node, f":{text_of(last)}"
            if first:
                yield node, node, ":" if last is None else f":{text_of(last)}"
        case ast.Attribute(value, "T", ast.Load()):
            yield node, node, text_of(value)
        case ast.comprehension(ifs=[test, *_]):
            yield test, test, "True"
        case ast.Tuple(elements, ast.Load()) if len(elements) > 2:
            yield node, node, f"({', '.join(map(text_of, elements[:-1]))})"
        case ast.List(elements, ast.Load()) if len(elements) > 1:
            yield node, node, f"[{', '.join(map(text_of, elements[:-1]))}]"
        case ast.Name(name) | ast.Attribute(attr=name) if name in OTHER_NAME and isinstance(node.ctx, ast.Load):
            yield node, node, text_of(node).removesuffix(name) + OTHER_NAME[name]
        case _:
            pass
    if isinstance(node, (ast.Expr, ast.AugAssign)) or (
        isinstance(node, ast.Assign)
        and (isinstance(node.targets[0], (ast.Attribute, ast.Subscript)) or _is_read(node.targets[0], node.value))
    ):
        yield node, node, "pass"
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield node, node, "return None"
    if isinstance(node, (ast.Break, ast.Continue)):
        yield node, node, "pass"
    if isinstance(node, ast.AugAssign):
        yield node, node, f"{text_of(node.target)} = {text_of(node.value)}"
        if type(node.op) in COMPUTED:
            yield node, node, f"{text_of(node.target)} {COMPUTED[type(node.op)]}= {text_of(node.value)}"
    if isinstance(node, ast.AnnAssign) and node.value and _is_read(node.target, node.value):
        yield node, node, "pass"


def _is_read(target: ast.AST, value: ast.AST) -> bool:
    """Return whether a value is made of what its target was before."""
    return any(isinstance(part, ast.Name) and part.id == getattr(target, "id", None) for part in ast.walk(value))


def _whole(node: ast.AST, text_of) -> str:
    """Return the text of an operand, in parentheses if it has parts."""
    simple = isinstance(node, (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript, ast.List, ast.Tuple))
    return text_of(node) if simple and not isinstance(node, ast.Tuple) else f"({text_of(node)})"
