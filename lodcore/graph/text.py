"""Programs as text, and as Graphviz source."""

from __future__ import annotations

from typing import Any

from lodcore.graph.block import Block, Operator, text_of
from lodcore.graph.body import LoopVariable
from lodcore.graph.variable import Variable, spec_text
from lodcore.graph.while_loop import WhileLoop
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["program_dot", "program_text"]


def program_text(program: Any) -> str:
    """Return a Program as text: data, parameters, operators with their results, indented bodies of loops."""
    lines = ["program:"]
    casts = {v: ", cast" for v in program.casts}
    lines += [f"    data {v.name}: {spec_text(v.spec)}{casts.get(v, '')}" for v in program.feeds]
    lines += [f"    parameter {program.name_of(v)}: {spec_text(v.spec)}" for v in program.parameters]
    arrays = [v for given, v in program.captures.values() if isinstance(given, TensorArray)]
    lines += [f"    array {v.name}: {v.get()!r}" for v in arrays]
    return "\n".join(lines + _operators(program, "    "))


def _operators(block: Block, indent: str) -> list[str]:
    lines = []
    for op in block.ops:
        loop = _loop_of(op)
        if loop is not None:
            lines += _loop_text(op, loop, indent, block)
        elif isinstance(op, Operator):
            results = "; ".join(spec_text(out.spec) for out in op.outputs)
            lines.append(f"{indent}{op!r}  # {results}")
        elif not getattr(op, "written", False):
            lines.append(f"{indent}{op!r}")
    return lines


def _loop_of(op: Any) -> WhileLoop | None:
    loop = op.arguments.get("loop") if isinstance(op, Operator) else None
    return loop if isinstance(loop, WhileLoop) else None


def _loop_text(op: Operator, loop: WhileLoop, indent: str, block: Block) -> list[str]:
    """Return a loop as lines of text: carried values, outer values, and the body."""
    assert loop.steps is not None
    inside = indent + "    "
    options = [f"max_steps={loop.max_steps}"] * (loop.max_steps is not None) + ["recompute=True"] * loop.recompute
    how = f"({', '.join(options)})" if options else ""
    lines = [f"{indent}{', '.join(out.name for out in op.outputs)} = while_loop{how}:"]
    roles = ["loop"] * len(loop.steps.carried) + ["outer"] * len(loop.steps.captured)
    variables = [*loop.steps.carried, *loop.steps.captured]
    for role, v, given in zip(roles, variables, op.arguments["inputs"], strict=True):
        counter = str(v.counter) if isinstance(v, LoopVariable) else ""
        step = f", {counter}" if counter else ""
        lines.append(f"{inside}{role} {v.name} = {text_of(given, block)}{step}  # {spec_text(v.spec)}")
    return lines + _operators(loop.body, inside)


def program_dot(program: Any) -> str:
    """Return a Program as Graphviz source: boxes are operators, ellipses Variables, frames bodies of loops."""
    lines = ["digraph program {", "    node [fontname=sans];"]
    _draw(program, "    ", lines, {})
    return "\n".join([*lines, "}"])


def _draw(block: Block, indent: str, lines: list[str], nodes: dict[Any, str]) -> None:
    def node(thing: Any, text: str, look: str = "") -> str:
        if thing not in nodes:
            nodes[thing] = f"n{len(nodes)}"
            lines.append(f"{indent}{nodes[thing]} [{look}label={_quoted(text)}];")
        return nodes[thing]

    def variable(x: Variable) -> str:
        return node(x, f"{block.name_of(x)}: {spec_text(x.spec)}")

    for v in block.feeds:
        variable(v)
    for op in block.ops:
        box = node(op, op.name, "shape=box, ")
        lines += [f"{indent}{variable(x)} -> {box};" for x in dict.fromkeys(op.inputs)]
        lines += [f"{indent}{box} -> {variable(out)};" for out in op.outputs]
        if hasattr(op, "variable"):  # an update
            lines.append(f"{indent}{box} -> {variable(op.variable)};")
        loop = _loop_of(op)
        if loop is not None and loop.steps is not None:
            lines += [f"{indent}subgraph cluster_{box} {{", f"{indent}    label={_quoted('body of ' + op.name)};"]
            _draw(loop.body, indent + "    ", lines, nodes)
            lines.append(f"{indent}}}")
            for v, given in zip([*loop.steps.carried, *loop.steps.captured], op.arguments["inputs"], strict=True):
                if isinstance(given, Variable):
                    lines.append(f"{indent}{variable(given)} -> {nodes.get(v) or variable(v)} [style=dashed];")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
