"""The types of operators and kernels: stubs agree with roles, annotations and docstrings, and with declarations."""

import ast
import inspect

import pytest

import lodcore
from lodcore import ops
from tests.builds import kernel_types, method_types
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


def test_stub_of_methods_is_up_to_date():
    assert method_types.STUB.read_text(encoding="utf-8") == method_types.stub_text(), "run `make pages`"


def test_every_method_in_the_table_of_types_is_declared():
    text = method_types.DECLARED.read_text(encoding="utf-8")
    assert all(f"def {name}(" in text for name in [*method_types.OVERLOADS, *method_types.BY_OPERAND])


@pytest.mark.skipif(not any(kernel_types.KERNELS.glob("*.pyx")), reason="lodcore is installed without its sources")
def test_stubs_and_lists_of_kernels_are_up_to_date():
    for file, made in kernel_types.derived():
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        assert text == made, f"{file.name}: run `make pages`"


def test_stub_of_a_kernel_has_dtypes_fused_types_none_and_results_of_its_text(tmp_path):
    path = tmp_path / "family.pyx"
    path.write_text(
        "ctypedef fused real:\n    float\n    double\n\n"
        "def take(\n    const real[:, ::1] x not None, const unsigned char[::1] mask, bint last, arrays,\n"
        "    real[::1] out not None,\n):\n"
        '    """Take.\n\n    Parameters\n    ----------\n    arrays : list of n ndarrays\n\n'
        '    Returns\n    -------\n    (int, bool)\n    """\n',
        encoding="utf-8",
    )
    declared = kernel_types.stub_text(path).partition("def ")[2]
    assert declared.split("(", 1)[1].replace("\n", "").replace("    ", " ").strip() == (
        "x: npt.NDArray[_Real], mask: npt.NDArray[np.uint8] | None, last: bool, arrays: Sequence[npt.NDArray[Any]],"
        " out: npt.NDArray[_Real],) -> tuple[int, bool]: ..."
    )
    assert '_Real = TypeVar("_Real", np.float32, np.float64)' in kernel_types.stub_text(path)


def test_every_operator_has_types():
    named = {node.name for node in DECLARED}
    made = {"Kind", "before", "check_operator", "elementwise_operator", "first_levels", "level_of", "operator", "outer"}
    functions = {name for name in ops.__all__ if isinstance(getattr(ops, name), ops.add.__class__.__mro__[1])}
    functions |= {name for name in ops.__all__ if inspect.isfunction(getattr(ops, name))}
    assert functions - made - {"same_as"} <= named
    assert {name for name in lodcore.__all__ if name in functions} <= named


@for_each("node", DECLARED)
def test_no_operator_takes_or_gives_just_anything(node):
    arguments = [*node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    kinds = [one.annotation for one in arguments if one is not None]
    assert None not in kinds
    assert "Any" not in {ast.unparse(kind) for kind in [*kinds, node.returns]}
