"""Programs of `reference.graph.programs` as Python text that calls lodcore: a person can read what is run."""

import numpy as np

from reference.graph import statements as p
from reference.graph.values import HOLE, Nested

HEADER = """\
import numpy as np
import lodcore
from lodcore import LoDTensor, TensorArray, ops
from lodcore.graph import VarArray, map_fn, while_loop
"""

CALLS = {
    "add": "lodcore.add({}, {})",
    "+": "{} + {}",
    "minus": "lodcore.minus({}, {})",
    "-": "{} - {}",
    "mul": "lodcore.mul({}, {})",
    "*": "{} * {}",
    "%": "{} % {}",
    "tanh": "lodcore.tanh({})",
    "sigmoid": "lodcore.sigmoid({})",
    "matmul": "lodcore.matmul({}, {})",
    "@": "{} @ {}",
    "sum": "ops.sum({})",
    "mean": "ops.mean({})",
    "sum of rows": "ops.sum({}, axis=0)",
    "float": 'ops.cast({}, "float64")',
    "pool sum": 'lodcore.sequence_pool({}, "sum")',
    "pool mean": 'lodcore.sequence_pool({}, "mean")',
    "pool last": 'lodcore.sequence_pool({}, "last")',
    "reverse": "lodcore.sequence_reverse({})",
    "concat_batches": "lodcore.concat_batches([{}, {}])",
    "lengths": "{}.lengths",
    "lengths in order": "{}.lengths",
    "lod_lengths": "lodcore.lod_lengths({})",
    "lengths of level": "lodcore.lod_lengths({}, level={})",
    "first column": "{}[:, 0]",
    "element": "{}[{}]",
    "equal": "lodcore.equal({}, {})",
    "==": "{} == {}",
    "greater_equal_than": "lodcore.greater_equal_than({}, {})",
    ">=": "{} >= {}",
    "greater_than": "lodcore.greater_than({}, {})",
    ">": "{} > {}",
    "less_than": "lodcore.less_than({}, {})",
    "logical_or": "lodcore.logical_or({}, {})",
    "logical_and": "lodcore.logical_and({}, {})",
    "logical_not": "lodcore.logical_not({})",
    "lod_rank_table": "lodcore.lod_rank_table({})",
    "reorder_by_rank": "lodcore.reorder_by_rank({}, {})",
    "rank of steps": "{}.rank",
    "boot": "{}.boot({})",
    "shrink_memory": "lodcore.shrink_memory({}, {}, {})",
}


def as_python(program):
    """Write a program: a function `make` that creates the arrays from outside, and the function of the inputs."""
    arrays = [line for name, array in program.outside for line in outside(name, array)]
    names = "".join(f'"{name}": {name}, ' for name, _ in program.outside)
    inside = [*arrays, "", f"def f({', '.join(program.inputs)}):", *indented(lines(program.body))]
    inside += [f"    return [{', '.join(program.results)}]", "", f"return f, {{{names}}}"]
    return "\n".join([HEADER, "", "def make(recompute=False):", *indented(inside), ""])


def indented(text):
    return [f"    {line}" if line else line for line in text or ["pass"]]


def lines(statements):
    """Write statements."""
    return [line for statement in statements for line in WRITTEN[type(statement)](statement)]


def said(value):
    """Write a name or a number."""
    if isinstance(value, str):
        return value
    if isinstance(value, Nested):
        return tensor(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return f"np.array({value.tolist()})"
    return repr(value.item() if isinstance(value, (np.ndarray, np.generic)) else value)


def tensor(x):
    """Write a LoDTensor."""
    from reference.graph.values import rows

    lengths = ", ".join(str(x.lengths(level)) for level in range(x.num_levels))
    values = rows(x)
    return f"LoDTensor.from_lengths(np.array({values.tolist()}).reshape{values.shape}, {lengths})"


def outside(name, array):
    """Write the creation of an array from outside."""
    if array.dynamic:
        made = [f"{name} = TensorArray()"]
    else:
        made = [f"{name} = TensorArray(size={len(array.slots)}, dynamic=False)"]
    return made + [f"{name}.write({at}, {element(value)})" for at, value in enumerate(array.slots) if value is not HOLE]


def element(value):
    return tensor(value) if isinstance(value, Nested) else f"np.array({np.asarray(value).tolist()})"


def compute(s):
    call = CALLS[s.function]
    return [f"{s.target} = {call.format(*map(said, s.arguments))}"]


def make(s):
    options = [] if s.size is None else [f"size={said(s.size)}"]
    options += [] if s.dynamic else ["dynamic=False"]
    return [f"{s.target} = {s.kind}({', '.join(options)})"]


UNSTACKED = {
    "unstack": "TensorArray.unstack({x})",
    "unstack_from": "TensorArray(unstack_from={x})",
    "instance": "TensorArray().unstack({x})",
    "segment": "VarArray().segment({x})",
    "operator": "lodcore.tensor_array_unstack({x})",
}


def unstack(s):
    return [f"{s.target} = {UNSTACKED[s.how].format(x=s.x)}"]


def unpack(s):
    if s.how == "instance":
        made = [f"{s.target} = TensorArray()"]
        return [*made, f"{s.rank} = {s.target}.unpack({s.x}, {s.level}, sort_by_length={s.sort})[1]"]
    if s.how == "segment":
        made = [f"{s.target} = VarArray().segment({s.x}, level={s.level}, sort_by_length={s.sort})"]
        return [*made, f"{s.rank} = {s.target}.rank"]
    call = "lodcore.tensor_array_unpack" if s.how == "operator" else "TensorArray.unpack"
    return [f"{s.target}, {s.rank} = {call}({s.x}, {s.level}, sort_by_length={s.sort})"]


WRITES = {
    "write": "{array}.write({index}, {value})",
    "copy": "{array}.write({index}, {value}, data_shared=False)",
    "[]": "{array}[{index}] = {value}",
    "update": "{array}.update({index}, {value})",
    "slot": "{array}.get({index}).update({value})",
    "operator": "lodcore.tensor_array_write({array}, {index}, {value})",
}
READS = {
    "read": "{array}.read({index})",
    "[]": "{array}[{index}]",
    "operator": "lodcore.tensor_array_read({array}, {index})",
    "default": "{array}.read({index}, {default})",
    "keyword": "{array}.read({index}, default={default})",
}


def write(s):
    return [WRITES[s.how].format(array=s.array, index=said(s.index), value=said(s.value))]


def read(s):
    call = READS[s.how].format(array=s.array, index=said(s.index), default=said(s.default))
    return [f"{s.target} = {call}"]


def get(s):
    boot = "" if s.boot is None else f", {said(s.boot)}"
    return [f"{s.target} = {s.array}.get({said(s.index)}{boot})"]


def ask(s):
    return [f"{s.target} = {s.array}.{s.question}({', '.join(map(said, s.arguments))})"]


def declared(loop):
    def write_declaration(s):
        if s.init is None:
            return [f"{s.target} = {loop}.step()"]
        advance = "" if s.advance is None else f", advance={s.advance}"
        return [f"{s.target} = {loop}.loop_var({said(s.init)}{advance})"]

    return write_declaration


def loop(s):
    options = ["recompute=recompute"]
    options += [f"loop_vars=[{', '.join(said(given.init) for given in s.given)}]"] if s.given else []
    options += [] if s.max_steps is None else [f"max_steps={s.max_steps}"]
    text = [f"{s.name} = while_loop({', '.join(options)})"]
    text += [f"with {s.name}.{s.opened_by}({'' if s.runs is None else 'exec_immediately=False'}):"]
    inside = [f"{given.target} = {s.name}.loop_vars[{number}]" for number, given in enumerate(s.given)]
    text += indented(inside + in_loop(s.name, s.body))
    return text + [f"{s.name}()"] * (s.runs or 0)


def in_loop(name, body):
    """Write the statements of a body, which may declare variables and break."""
    text = []
    for s in body:
        if isinstance(s, p.Declare):
            text += declared(name)(s)
        elif isinstance(s, p.Break):
            text.append(f"{name}.break_if({said(s.condition)})")
        elif isinstance(s, p.Repeat):
            text += [f"for {s.counter} in range({s.times}):", *indented(in_loop(name, s.body))]
        else:
            text += WRITTEN[type(s)](s)
    return text


def map_fn(s):
    text = [f"def {s.targets[0]}_of({s.parameter}):", *indented(lines(s.body))]
    text.append(f"    return {', '.join(map(said, s.results))}")
    return [*text, f"{', '.join(s.targets)} = map_fn({s.targets[0]}_of, {s.x})"]


def cond(s):
    if s.how == "IfElse":
        text = [f"ie_of_{s.targets[0]} = lodcore.IfElse({s.condition}, level={s.level})"]
        for block, side in zip(("true_block", "false_block"), s.body, strict=True):
            inside = [f"{side.parameter} = ie_of_{s.targets[0]}.input({s.x})", *lines(side.body)]
            inside.append(f"ie_of_{s.targets[0]}.output({', '.join(map(said, side.results))})")
            text += [f"with ie_of_{s.targets[0]}.{block}():", *indented(inside)]
        return [*text, f"{', '.join(s.targets)}, = ie_of_{s.targets[0]}()"]
    text = []
    for when, side in zip(("true", "false"), s.body, strict=True):
        text += [f"def {s.targets[0]}_if_{when}({side.parameter}):", *indented(lines(side.body))]
        text.append(f"    return [{', '.join(map(said, side.results))}]")
    functions = f"{s.targets[0]}_if_true, {s.targets[0]}_if_false"
    return [*text, f"{', '.join(s.targets)}, = lodcore.cond({s.condition}, {functions}, {s.x}, level={s.level})"]


WRITTEN = {
    p.Compute: compute,
    p.Make: make,
    p.Unstack: unstack,
    p.Unpack: unpack,
    p.Write: write,
    p.Read: read,
    p.Get: get,
    p.Put: lambda s: [f"{s.slot}.update({said(s.value)})"],
    p.Ask: ask,
    p.Update: lambda s: [f"{s.variable}.update({said(s.value)})"],
    p.WrongUpdate: lambda s: [f"{s.variable}.update({said(s.value)})"],
    p.Loop: loop,
    p.Run: lambda s: [f"{s.loop}()"],
    p.MapFn: map_fn,
    p.Cond: cond,
    p.Repeat: lambda s: [f"for {s.counter} in range({s.times}):", *indented(lines(s.body))],
}
