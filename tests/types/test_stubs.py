"""The types of the operators: the stubs agree with roles, annotations and docstrings."""

import ast
import inspect

import pytest

import lodcore
from lodcore import ops
from tests.builds.operator_types import STUBS, stub_text
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference
DECLARED = [
    node
    for path in STUBS.values()
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef)
]


@pytest.mark.parametrize("name", STUBS)
def test_stubs_are_up_to_date(name):
    assert STUBS[name].read_text(encoding="utf-8") == stub_text(name), "run `make pages`"


def test_every_operator_has_types():
    named = {node.name for node in DECLARED}
    made = {"Kind", "before", "check_operator", "elementwise_operator", "first_levels", "operator", "outer", "same_as"}
    functions = {name for name in ops.__all__ if isinstance(getattr(ops, name), ops.add.__class__.__mro__[1])}
    functions |= {name for name in ops.__all__ if inspect.isfunction(getattr(ops, name))}
    assert functions - made <= named
    assert {name for name in lodcore.__all__ if name in functions} <= named


@for_each("node", DECLARED)
def test_no_operator_takes_or_gives_just_anything(node):
    arguments = [*node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    kinds = [one.annotation for one in arguments if one is not None]
    assert None not in kinds
    assert "Any" not in {ast.unparse(kind) for kind in [*kinds, node.returns]}
