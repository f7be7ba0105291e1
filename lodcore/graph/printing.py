"""Programs as text, and as Graphviz source."""

from __future__ import annotations

from typing import Any

from lodcore.graph.block import Block, Operator, text_of
from lodcore.graph.chain_groups import groups_of
from lodcore.graph.gradients.learned import ParameterUpdate
from lodcore.graph.loops.body import LoopVariable
from lodcore.graph.loops.branches import Branches
from lodcore.graph.loops.while_loop import WhileLoop
from lodcore.graph.variable import Variable, spec_text
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["program_dot", "program_text"]


def program_text(program: Any) -> str:
    """Return a Program as text: data, parameters, operators with results, bodies of loops and branches indented."""
    lines = ["program:"]
    casts = {v: ", cast" for v in program.casts}
    lines += [f"    data {v.name}: {spec_text(v.spec)}{casts.get(v, '')}" for v in program.feeds]
    lines += [f"    parameter {program.name_of(v)}: {spec_text(v.spec)}" for v in program.parameters]
    arrays = [v for given, v in program.captures.values() if isinstance(given, TensorArray)]
    lines += [f"    array {v.name}: {v.get()!r}" for v in arrays]
    return "\n".join(lines + _operators(program, "    ", chains_in(program)))


#: How the operators of a chain run.
TOGETHER = "together, if rows are many"


def chains_in(program: Any) -> dict[Any, list[Operator]]:
    """Return the operators of each chain of a Program, by the first of them."""
    return {some[0]: some for some, _ in groups_of(program.ops)}


def _operators(block: Block, indent: str, chains: dict[Any, list[Operator]] | None = None) -> list[str]:
    lines = []
    inside, outer = set[Operator](), indent
    for op in block.ops:
        indent = outer + "    " * (op in inside)
        if chains and op in chains:
            inside, indent = set(chains[op]), outer + "    "
            lines.append(f"{outer}{TOGETHER}:")
        loop, branches, cell = _loop_of(op), _branches_of(op), _cell_of(op)
        if loop is not None:
            lines += _loop_text(op, loop, indent, block)
        elif cell is not None:
            lines += _cell_text(op, cell, indent, block)
        elif branches is not None:
            lines += _branches_text(op, branches, indent, block)
        elif isinstance(op, Operator):
            results = "; ".join(spec_text(out.spec) for out in op.outputs)
            lines.append(f"{indent}{op!r}  # {results}")
        elif isinstance(op, ParameterUpdate):
            lines.append(f"{indent}{op.text(block)}")
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


def _cell_of(op: Any) -> Any:
    """Return the steps of a cell, whose operators run together."""
    steps = op.arguments.get("loop") if isinstance(op, Operator) else None
    return steps if hasattr(steps, "groups") else None


def _cell_text(op: Operator, cell: Any, indent: str, block: Block) -> list[str]:
    """Return the steps of a cell as lines of text: what they read, and their operators as they run together."""
    results, inside = "; ".join(spec_text(out.spec) for out in op.outputs), indent + "    "
    lines = [f"{indent}{', '.join(out.name for out in op.outputs)} = {op.name}:  # {results}"]
    roles = ["input"] * len(cell.inputs) + ["state"] * len(cell.before) + ["outer"] * len(cell.outer)
    for role, v, given in zip(roles, _read_by(cell), op.arguments["inputs"], strict=True):
        lines.append(f"{inside}{role} {v.name} = {text_of(given, block)}  # {spec_text(v.spec)}")
    for how, ops in cell.groups:
        lines.append(f"{inside}{how}:")
        lines += [f"{inside}    {one!r}  # {'; '.join(spec_text(out.spec) for out in one.outputs)}" for one in ops]
    return lines


def _read_by(cell: Any) -> list[Any]:
    return [*cell.inputs, *cell.before, *cell.outer]


def _branches_of(op: Any) -> Branches | None:
    branches = op.arguments.get("branches") if isinstance(op, Operator) else None
    return branches if isinstance(branches, Branches) else None


def _branches_text(op: Operator, branches: Branches, indent: str, block: Block) -> list[str]:
    """Return branches as lines of text: for each of them the outer values, the body, and the results."""
    inputs, inside = op.arguments["inputs"], indent + " " * 8
    condition = f"({text_of(inputs[0], block)})" if branches.decides else ""
    lines = [f"{indent}{', '.join(out.name for out in op.outputs)} = cond{condition}:"]
    for branch in branches.each:
        lines.append(f"{indent}    {branch.name}:")
        for v, place in branch.places.items():
            lines.append(f"{inside}outer {v.name} = {text_of(inputs[place], block)}  # {spec_text(v.spec)}")
        lines += [*_operators(branch.body, inside), f"{inside}return {', '.join(v.name for v in branch.results)}"]
    return lines


def program_dot(program: Any) -> str:
    """Return a Program as Graphviz source: boxes are operators, ellipses Variables, frames loops and branches."""
    lines = ["digraph program {", "    node [fontname=sans];"]
    _draw(program, "    ", lines, {}, chains_in(program))
    return "\n".join([*lines, "}"])


def _draw(
    block: Block, indent: str, lines: list[str], nodes: dict[Any, str], chains: dict[Any, list[Operator]] | None = None
) -> None:
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
        if chains and op in chains:
            lines += [f"{indent}subgraph cluster_chain{len(nodes)} {{", f"{indent}    label={_quoted(TOGETHER)};"]
            for one in chains[op]:
                nodes[one] = f"n{len(nodes)}"
                lines.append(f"{indent}    {nodes[one]} [shape=box, label={_quoted(one.name)}];")
            lines.append(f"{indent}}}")
        box = node(op, op.name, "shape=box, ")
        lines += [f"{indent}{variable(x)} -> {box};" for x in dict.fromkeys(op.inputs)]
        lines += [f"{indent}{box} -> {variable(out)};" for out in op.outputs]
        if hasattr(op, "variable"):  # an update
            lines.append(f"{indent}{box} -> {variable(op.variable)};")
        for title, body, given, results in _bodies_of(op):
            place = title.partition(" ")[0].removeprefix("body")
            lines += [f"{indent}subgraph cluster_{box}{place} {{", f"{indent}    label={_quoted(title)};"]
            _draw(body, indent + "    ", lines, nodes)
            lines.append(f"{indent}}}")
            for v, x in given:
                if isinstance(x, Variable):
                    lines.append(f"{indent}{variable(x)} -> {nodes.get(v) or variable(v)} [style=dashed];")
            for v, out in results:
                lines.append(f"{indent}{variable(v)} -> {variable(out)} [style=dashed];")


class Ops(Block):
    """Some operators of a body."""

    def __init__(self, ops: list[Any]) -> None:
        super().__init__()
        self.ops = ops


Pairs = list[tuple[Any, Any]]


def _bodies_of(op: Any) -> list[tuple[str, Block, Pairs, Pairs]]:
    """List the bodies of an operator: title, Block, the Variables with what they represent, results with Variables."""
    loop, branches, cell = _loop_of(op), _branches_of(op), _cell_of(op)
    if cell is not None:
        read = list(zip(_read_by(cell), op.arguments["inputs"], strict=True))
        made = list(zip(cell.outputs, op.outputs, strict=False))
        drawn: list[tuple[str, Block, Pairs, Pairs]] = []
        for how, ops in cell.groups:
            drawn.append((f"{how} of {op.name}", Ops(ops), [], []))
        return [*drawn[:-1], (*drawn[-1][:2], read, made)]
    if loop is not None and loop.steps is not None:
        given = zip([*loop.steps.carried, *loop.steps.captured], op.arguments["inputs"], strict=True)
        return [(f"body of {op.name}", loop.body, list(given), [])]
    found: list[tuple[str, Block, Pairs, Pairs]] = []
    for branch in [] if branches is None else branches.each:
        pairs = [(v, op.arguments["inputs"][place]) for v, place in branch.places.items()]
        results = list(zip(branch.results, op.outputs, strict=True))
        found.append((f"{branch.name} of {op.name}", branch.body, pairs, results))
    return found


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
