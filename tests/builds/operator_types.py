"""Generates the types of all operators in two stubs of `lodcore.ops`, from their roles, annotations and docstrings.

Whether results have the dtype of the passed values is read from `tests.helpers.table_of_dtypes`.
The part of a stub before the mark is written by hand. A Variable is typed as its value.
"""

import inspect
import re
import sys
from pathlib import Path

from lodcore import ops
from lodcore.operators.elementwise import ElementwiseOp
from lodcore.operators.registry import Op
from lodcore.ops import public
from tests.helpers.dtypes_of_results import written

STUBS = {name: Path(ops.__file__).with_name(f"{name}.pyi") for name in ("public", "__init__")}
MARK = "# -- made by `make pages` of roles, annotations and docstrings\n"

#: The types of parameters without a role, by name.
BY_NAME = {
    "axis": "int | tuple[int, ...] | None",
    "axes": "tuple[int, ...] | None",
    "dtype": "npt.DTypeLike | None",
    "rng": "int | np.random.Generator",
    "shape": "int | tuple[int, ...]",
    "size": "int | _Index",
    "target_lod": "LoD | _Lists | None",
    "xs": "_Batches",
    "f": "Callable[..., object]",
}

#: The types of the words for results in docstrings.
RESULTS = {"LoDTensor": "LoDTensor", "ndarray": "_Array", "number": "_Number", "TensorArray": "TensorArray"}
RESULTS |= {"IndicesMap": "IndicesMap", "RankTable": "RankTable", "int64": "_Array", "list": "list[LoDTensor | _Array]"}

#: The types of values, and the dtypes of results that the table fixes for any input.
VALUES = {"_Nested", "_Dense", "_Plain", "_Rows", "_Element", "_Optional", "_Updates"}
FIXED = {"b1": "np.bool_", "i4": "np.int32", "i8": "np.int64"}


def stated(annotation):
    """Return the text of an annotation; functions have none where it would be Any."""
    return "Any" if annotation is inspect.Parameter.empty else str(annotation)


def dtypes_of(name):
    """Find the dtype of each result: "_S" is that of the values, "_F" is that if those are floats; "" is unknown."""
    rows = [row for call, row in written().items() if call.partition(" ")[0] == name]
    count = max((given.count(",") + 1 for row in rows for given in row.values()), default=0)
    found = []
    for k in range(count):
        given = [(of, all_.split(",")[k]) for row in rows for of, all_ in row.items() if all_ != "-" and "/" not in of]
        made = {dtype for _, dtype in given}
        own = {"?": "b1", "F": "c8", "D": "c16"}
        if len(made) == 1 and len(given) > 3 and made <= FIXED.keys():
            found.append(FIXED[made.pop()])
        elif len(given) > 1 and all(own.get(of, of) == dtype for of, dtype in given):
            found.append("_S" if any(of[0] not in "fFD" for of, _ in given) else "_F")
        else:
            floats = [of == dtype for of, dtype in given if of in ("f2", "f4", "f8")]
            found.append("_F" if len(floats) > 1 and all(floats) else "")
    return found


def with_dtypes(name, parameters, kind):
    """Return the overloads of a declaration with the dtype of the values, if a single parameter determines it."""
    dtypes = dtypes_of(name)
    deciding = {*VALUES, "LoDTensor", "_Batches", "_Rows | None = ..."}  # other arguments are converted to these
    required = [k for k, text in enumerate(parameters) if text.partition(": ")[2] in deciding]
    if len(required) != 1:
        dtypes = [dtype if dtype.startswith("np.") else "" for dtype in dtypes]
    results = kind[6:-1].split(", ") if kind.startswith("tuple[") and "..." not in kind else [kind]
    if len(dtypes) != len(results):
        return [(parameters, kind)]
    for k, dtype in enumerate(dtypes):
        if dtype:
            typed = results[k].replace("LoDTensor", f"LoDTensor[{dtype}]")
            results[k] = re.sub(r"\b_Array\b", f"npt.NDArray[{dtype}]", typed)
    made = f"tuple[{', '.join(results)}]" if kind.startswith("tuple[") else results[0]
    used = re.search(r"\b_[SF]\b", made)
    if not used:
        return [(parameters, made)]
    label, _, given = parameters[required[0]].partition(": ")
    forms = {"_Batches": "Sequence[_Of[{}]]", "LoDTensor": "LoDTensor[{}]", "_Plain": "npt.NDArray[{}]"}
    of = forms.get(given, "_Of[{}]").format(used[0])
    made = made.replace(f"LoDTensor[{used[0]}] | ", "") if given == "_Plain" else made
    if given == "_Nested" and used[0] == "_S":
        of = "_NestedOf[_S]"  # covers all arguments: a single overload is enough
    typed = [f"{label}: {of}" if k == required[0] else text for k, text in enumerate(parameters)]
    return [(typed, made)] if of == "_NestedOf[_S]" else [(typed, made), (parameters, kind)]


def sections(function):
    """Parse the types in a docstring: of each parameter, and of each result."""
    text = inspect.getdoc(function) or ""
    found = []
    for name in ("Parameters", "Returns"):
        section = re.search(rf"{name}\n-+\n(.*?)(?:\n\n[A-Z]\w+\n-+|\Z)", text, re.DOTALL)
        found.append(re.findall(r"^(\S.*)$", section[1], re.MULTILINE) if section else [])
    named = [line.partition(" : ") for line in found[0]]
    return {name.strip(): of for names, _, of in named for name in names.split(",")}, found[1]


def parameter(function, one, said):
    """Return a parameter with its type."""
    role = getattr(function, "roles", {}).get(one.name)
    kind = re.sub(r"\bArray\b", "_Array", stated(one.annotation))
    choices = re.match(r"\{(\".*\")\}", said.get(one.name) or "")
    if role is not None:
        kind = f"_{role}"
    elif choices:
        kind = f"Literal[{choices[1]}]"
    elif "Any" in kind:
        kind = BY_NAME.get(one.name, "_Dense")
    if one.default is None and "None" not in kind:
        kind += " | None"
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    return f"{stars}{one.name}: {kind}" + (" = ..." if one.default is not one.empty else "")


def result(function, lines):
    """Return the type of a result."""
    kind = stated(inspect.signature(function).return_annotation)
    if "Any" not in kind:
        return re.sub(r"\bArray\b", "_Array", kind)
    entries = [line.partition(" : ") for line in lines] or [("LoDTensor or ndarray", "", "")]
    each = []
    for names, _, said in entries:
        words = re.findall(r"\w+", (said or names).partition(", shape")[0])
        words = [RESULTS[word] for word in words if word in RESULTS]
        one = " | ".join(dict.fromkeys(words)) or "LoDTensor | _Array"
        if names.startswith("tuple of n"):
            return "tuple[LoDTensor | _Array, ...]"
        if names.startswith("*"):
            return f"tuple[{', '.join([*each, *[one] * (one not in each)])}, *]"
        each += [one] * (len(names.split(",")) if said else 1)
    return each[0] if len(each) == 1 else f"tuple[{', '.join(each)}]"


def of_columns(parameters, results, several):
    """Return the overloads of a function of any number of columns, whose results follow the first one.

    Checkers cannot unpack a tuple of an unknown number of results of two types, so that up to three columns have
    overloads of their own. With `several`, the first result is a tuple if the first parameter is.
    """
    general = (parameters, f"tuple[{' | '.join(results)}, ...]")
    if len(results) == 1:
        return [general]
    at = next(j for j, text in enumerate(parameters) if text.startswith("*columns"))
    of, later = parameters[at].partition(": ")[2], ["*", *parameters[at + 1 :]] if parameters[at + 1 :] else []
    found = []
    for count in (1, 2, 3):
        given = [*parameters[:at], *(f"column_{j}: {of}" for j in range(count)), "/", *later]
        if several:
            keys = given[0].replace("_Dense", "tuple[Sequence[Any] | _Array, ...]")
            found.append(([keys, *given[1:]], f"tuple[tuple[_Array, ...], {', '.join(results[1:] * count)}]"))
        found.append((given, f"tuple[{', '.join([results[0], *results[1:] * count])}]"))
    return [*found, general]


def declaration(name, function):
    """Return the lines of one operator."""
    said, returned = sections(function)
    signature = inspect.signature(function)
    parameters = []
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in parameters and not any(x[0] == "*" for x in parameters):
            parameters.append("*")
        parameters.append(parameter(function, one, said))
    kind = result(function, returned)
    forms = [(parameters, kind)]
    if isinstance(function, ElementwiseOp):
        plain = [text.replace("_Dense", "_Plain") for text in parameters]  # of the overloads one matches, for any dtype
        tensor = [text.replace("_Dense", "LoDTensor") for text in parameters]
        count = range(len(parameters))
        forms = [([*plain[:k], tensor[k], *parameters[k + 1 :]], "LoDTensor") for k in count] + [(plain, kind)]
    elif "axis: int | tuple[int, ...] | None = ..." in parameters and ("_Number" in kind or not returned):
        whole = [text.replace(BY_NAME["axis"], "None") for text in parameters if not text.startswith("level: ")]
        whole = whole[:-1] if whole[-1] == "*" else whole
        forms = [(whole, "_Number"), (parameters, "LoDTensor | _Array")]
    elif kind.endswith(", *]"):
        forms = of_columns(parameters, kind[6:-4].split(", "), returned[0].endswith("or tuple of these"))
    forms = [form for given, kind in forms for form in with_dtypes(name, given, kind)]
    prefix = "@overload\n" if len(forms) > 1 else ""
    return "".join(f"{prefix}def {name}({', '.join(given)}) -> {kind}: ...\n" for given, kind in forms)


def declarations(stub):
    """Return the lines of the operators of one stub."""
    known = {name for name in vars(public) if name[0] != "_"}
    names = sorted(known if stub == "public" else set(ops.__all__) - known)
    functions = {name: getattr(ops, name) for name in names}
    return "".join(
        declaration(name, function)
        for name, function in functions.items()
        if isinstance(function, Op)
        or (inspect.isfunction(function) and function.__globals__["__name__"] not in BY_HAND)
    )


def stub_text(stub):
    """Return a stub: its hand-written beginning, and the operators."""
    return STUBS[stub].read_text(encoding="utf-8").partition(MARK)[0] + MARK + declarations(stub)


#: Files whose functions make operators and rules, and are typed by hand.
BY_HAND = {
    f"lodcore.operators.{name}" for name in ("arguments", "checking", "elementwise", "lod_rules", "registry", "roles")
}

if __name__ == "__main__":
    for name, path in STUBS.items():
        path.write_text(stub_text(name), encoding="utf-8")
        sys.stdout.write(f"{path}\n")
