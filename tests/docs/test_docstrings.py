"""Docstrings of public names: no type is called Any, and errors that happen first are listed first."""

import inspect
import re

import pytest

import lodcore
from lodcore import batching, graph, interop, nn, ops, testing
from lodcore.operators.registry import OPS
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (lodcore, ops, nn, batching, graph, interop, testing)
    for name in dir(module)
    if not name.startswith("_") and callable(getattr(module, name))
}
REFUSED = "If a tensor is a SparseTensor; its `to_dense()` makes an array."


def sections(doc):
    """Return the lines of the sections of a docstring, by their titles."""
    parts = re.split(r"^(\w+)\n-+\n", doc, flags=re.M)
    return {title: text.strip("\n").splitlines() for title, text in zip(parts[1::2], parts[2::2], strict=True)}


@for_each("name", sorted(PUBLIC))
def test_no_type_is_any(name):
    found = sections(inspect.getdoc(PUBLIC[name]) or "")
    for title in ("Parameters", "Attributes", "Returns", "Yields"):
        heads = [line for line in found.get(title, ()) if line and not line.startswith(" ")]
        assert not [head for head in heads if re.search(r"\bAny\b", head)]


def stated(function):
    """Return the annotations of a function, or of the operator of a function."""
    signature = inspect.signature(function)
    known = [one.annotation for one in signature.parameters.values()] + [signature.return_annotation]
    return [str(one) for one in known if one is not signature.empty]


#: What help shows: operators, functions of the packages, and methods of their classes.
SHOWN = [OPS[name] for name in {*OPS} & {*ops.__all__}]
SHOWN += [getattr(module, name) for module in (lodcore, nn, graph, batching, interop) for name in module.__all__]
SHOWN += [
    one
    for kind in SHOWN
    if inspect.isclass(kind)
    for name, one in inspect.getmembers(kind)
    if name[0] != "_" and inspect.isroutine(one) and str(getattr(one, "__module__", "")).startswith("lodcore")
]


def test_signatures_in_help_do_not_contain_any():
    shown = [one for one in SHOWN if inspect.isroutine(one) or type(one).__name__.endswith("Op")]
    assert len(shown) > 400
    assert not sorted({one.__qualname__ for one in shown if "Any" in stated(one)})


@for_each("name", sorted({*OPS} & {*ops.__all__}))
def test_refusal_of_sparse_tensors_is_the_last_error_in_docstrings(name):
    lines = sections(inspect.getdoc(OPS[name]))["Raises"]
    errors = [line.strip() for line in lines if line.startswith(" ")]
    assert REFUSED not in errors[:-1]


def test_docstring_of_an_operator_without_errors_gets_the_refusal_of_sparse_tensors():
    @ops.operator(x=ops.Nested)
    def plain(x):
        """Return the rows.

        Examples
        --------
        >>> 1
        1
        """
        return x.values

    assert sections(inspect.getdoc(plain))["Raises"] == ["DTypeError", f"    {REFUSED}", ""][:2]
