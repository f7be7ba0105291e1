"""Programs as text, and as pictures in the language of Graphviz."""

from __future__ import annotations

from typing import Any

from lodcore.graph.block import Block, Operator, text_of
from lodcore.graph.variable import spec_text
from lodcore.graph.while_loop import LoopVariable, WhileLoop

__all__ = ["program_dot", "program_text"]


def program_text(block: Any) -> str:
    """Write a Program for people: data, parameters, operators with what they give, bodies of loops indented."""
    lines = ["program:"]
    lines += [f"    data {v.name}: {spec_text(v.spec)}" for v in block.feeds]
    lines += [f"    parameter {v.name}: {spec_text(v.spec)}" for v in block.parameters]
    return "\n".join(lines + _operators(block, "    "))


def _operators(block: Block, indent: str) -> list[str]:
    lines = []
    for op in block.ops:
        if isinstance(op, Operator) and isinstance(op.arguments.get("loop"), WhileLoop):
            lines += _loop(op, indent)
        elif isinstance(op, Operator):
            results = "; ".join(spec_text(out.spec) for out in op.outputs)
            lines.append(f"{indent}{op!r}  # {results}")
        elif hasattr(op, "forward"):
            to = ", ".join(out.name for out in op.outputs)
            lines.append(f"{indent}{to} += {op.name}({', '.join(x.name for x in op.inputs)})")
        elif hasattr(op, "loss"):
            lines.append(f"{indent}{op.outputs[0].name} = {op.name}({op.loss.name})")
        else:
            lines.append(f"{indent}{op!r}")
    return lines


def _loop(op: Operator, indent: str) -> list[str]:
    """Write a loop: what goes from step to step, what comes from outside, the body."""
    loop: WhileLoop = op.arguments["loop"]
    inside = indent + "    "
    lines = [f"{indent}{', '.join(out.name for out in op.outputs)} = while_loop:"]
    for v, given in zip([*loop._carried, *loop._captured], op.arguments["inputs"], strict=True):
        role = "loop" if v in loop._carried else "outer"
        step = f", +{v.advance}" if isinstance(v, LoopVariable) and v.advance else ""
        lines.append(f"{inside}{role} {v.name} = {text_of(given)}{step}  # {spec_text(v.spec)}")
    return lines + _operators(loop.body, inside)


def program_dot(block: Any) -> str:
    """Draw a Program: boxes are operators, ellipses are Variables."""
    lines = ["digraph program {", "    node [fontname=sans];"]
    _draw(block, "    ", "", lines)
    return "\n".join([*lines, "}"])


def _draw(block: Block, indent: str, prefix: str, lines: list[str]) -> None:
    for v in block.variables():
        lines.append(f"{indent}{_quoted(prefix + v.name)} [label={_quoted(f'{v.name}: {spec_text(v.spec)}')}];")
    for at, op in enumerate(block.ops):
        name = op.op.__name__ if isinstance(op, Operator) else getattr(op, "name", type(op).__name__.lower())
        box = _quoted(f"{prefix}operator {at}")
        lines.append(f"{indent}{box} [shape=box, label={_quoted(name)}];")
        lines += [f"{indent}{_quoted(prefix + x.name)} -> {box};" for x in dict.fromkeys(op.inputs)]
        lines += [f"{indent}{box} -> {_quoted(prefix + out.name)};" for out in op.outputs]
        loop = op.arguments.get("loop") if isinstance(op, Operator) else None
        if isinstance(loop, WhileLoop):
            lines.append(f"{indent}subgraph {_quoted(f'cluster {prefix}{at}')} {{")
            lines.append(f"{indent}    label={_quoted('body of ' + name)};")
            _draw(loop.body, indent + "    ", f"{prefix}{at}/", lines)
            lines.append(f"{indent}}}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
