"""Writes the types of the methods of LoDTensors by dtype, the end of `lodcore/tensors/typed_methods.pyi`.

Names and parameters are those of `lodcore/tensors/methods.py`; the table here has the results, by the dtype of x.
"""

import ast
from pathlib import Path

from lodcore import tensors

DECLARED = Path(tensors.__file__).with_name("methods.py")
STUB = DECLARED.with_name("typed_methods.pyi")
MARK = "# -- made by `make pages` of the declarations in `methods.py`\n"
WIDTH = 120

OPERATORS = {
    "Arithmetic[S]": "add sub mul matmul floordiv mod pow lshift rshift",
    "Division[S]": "truediv",
    "Bitwise[S]": "and or xor",
}

#: The types of operators, which have overloads by the dtype of the other operand.
BY_OPERAND = {f"__{r}{name}__": kind for kind, names in OPERATORS.items() for name in names.split() for r in ("", "r")}

KEPT, INT = "LoDTensor[S]", "LoDTensor[np.int64]"

#: The results of methods that have one for all dtypes of x.
PLAIN = {
    "tuple[LoDTensor, LoDTensor]": "__divmod__ __rdivmod__",
    "LoDTensor[np.bool_]": "__lt__ __le__ __gt__ __ge__ __eq__ __ne__",
    KEPT: "__neg__ __pos__ __invert__ __round__ copy round expand_as reverse gather",
    INT: "positions segment_ids",
    "LoDTensor": "per_sequence",
    "LoDTensor[S] | npt.NDArray[S]": "expand",
    f"tuple[{KEPT}, {INT}]": "topk",
}

#: The results of reductions: of all values, and along axes.
REDUCED = {
    ("Scalar", "Rows"): "sum prod mean var std any all argmax argmin",
    ("S", "LoDTensor[S] | npt.NDArray[S]"): "max min",
}
ALL_VALUES = {"axis": "None", "keepdims": "No", "level": None}
FLOAT, COMPLEX = {"self": "TypedMethods[Float]"}, {"self": "TypedMethods[np.complexfloating[Any]]"}

#: For each overload the parameters that have another type, None for those that are left out, and the result.
OVERLOADS = {
    **{name: [({}, result)] for result, names in PLAIN.items() for name in names.split()},
    **{
        name: [(ALL_VALUES, to_one), ({}, along)]
        for (to_one, along), names in REDUCED.items()
        for name in names.split()
    },
    "__abs__": [(COMPLEX, "LoDTensor"), ({}, KEPT)],
    "astype": [({"dtype": "type[T] | np.dtype[T]"}, "LoDTensor[T]"), ({}, "LoDTensor")],
    "with_values": [({"v": "npt.NDArray[T]"}, "LoDTensor[T]"), ({}, "LoDTensor")],
    "pool": [(FLOAT, "LoDTensor[Float] | npt.NDArray[Float]"), ({}, "Rows")],
    "softmax": [(FLOAT, "LoDTensor[Float]"), ({}, "LoDTensor")],
    "logsumexp": [(FLOAT, "LoDTensor[Float] | npt.NDArray[Float]"), ({}, "Rows")],
}

#: Shorter or narrower types of parameters than those declared.
NARROWER = {"npt.DTypeLike | None": "DType", "npt.NDArray[Any] | None": "Array | None"}


def parameters_of(function, others):
    """Return the parameters of a method, some of which have other types, or none: these are left out."""
    given = function.args
    defaults = [None] * (len(given.args) - len(given.defaults)) + given.defaults
    found, star = [], ["*"]
    pairs = [(one, default, False) for one, default in zip(given.args, defaults, strict=True)]
    pairs += [(one, default, True) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    for one, default, by_name in pairs:
        kind = others.get(one.arg, "" if one.annotation is None else ast.unparse(one.annotation))
        if kind is None:
            continue
        kind = "PoolType" if one.arg == "pool_type" else NARROWER.get(kind, kind)
        found += star if by_name else []
        star = [] if by_name else star
        text = f"{one.arg}: {kind}" if kind else one.arg
        found.append(text if default is None else f"{text} = {ast.unparse(default)}".replace("'", '"'))
    return found


def declaration(name, parameters, result):
    """Return the lines of a declaration, as `ruff format` writes them."""
    whole = f"    def {name}({', '.join(parameters)}) -> {result}: ..."
    if len(whole) <= WIDTH:
        return [whole]
    inner = f"        {', '.join(parameters)}"
    several = [inner] if len(inner) <= WIDTH else [f"        {one}," for one in parameters]
    return [f"    def {name}(", *several, f"    ) -> {result}: ..."]


def stub_text():
    """Return the stub: what is written by hand, and the methods."""
    (declared,) = [one for one in ast.parse(DECLARED.read_text("utf-8")).body if isinstance(one, ast.ClassDef)]
    lines = ["class TypedMethods(TensorMethods, Generic[S]):"]
    for function in declared.body:
        name = getattr(function, "name", "")
        if name in BY_OPERAND:
            lines.append(f"    {name}: {BY_OPERAND[name]}")
        overloads = OVERLOADS.get(name, [])
        for others, result in overloads:
            lines += ["    @overload"] * (len(overloads) > 1)
            lines += declaration(name, parameters_of(function, others), result)
    by_hand = STUB.read_text("utf-8").partition(MARK)[0]
    return by_hand + MARK + "\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    STUB.write_text(stub_text(), encoding="utf-8")
