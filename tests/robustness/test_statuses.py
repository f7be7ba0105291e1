"""The status of a kernel that reports invalid data is never ignored."""

import ast
import re
from pathlib import Path

import pytest

from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference

LODCORE = Path(__file__).parent.parent.parent / "lodcore"
#: The first words of the description of a status in a docstring.
STATUS = re.compile(r"Returns\n    -------\n    int\n        (The first|A position)")


def telling():
    """List the kernels that return a status."""
    found = set()
    for path in (LODCORE / "kernels").glob("*.pyx"):
        for part in re.split(r"\n(?=def )", path.read_text(encoding="utf-8"))[1:]:
            if STATUS.search(part.split("\n\n\n")[0]):
                name = part.removeprefix("def ").partition("(")[0]
                found.add(f"kernels.{path.stem}.{name}")
    return found


def returning():
    """List the kernels that return something, a status or a number, according to their stubs."""
    found = set()
    for path in (LODCORE / "kernels").glob("*.pyi"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and ast.unparse(node.returns) != "None":
                found.add(f"kernels.{path.stem}.{node.name}")
    return found


TELLING = telling()
RETURNING = returning()
#: Calls whose result is a count, which follows from the written offsets, too.
KNOWN = {
    "lodcore/graph/loops/ufunc_loops.py": {"kernels.machine.run_steps"},
    "lodcore/nn/beam_search.py": {"kernels.beam.select_best"},
    "lodcore/numpy_api/indexing.py": {"kernels.index.true_offsets"},
    "lodcore/ops/index/index.py": {"kernels.index.true_offsets"},
}
#: Kernels that are passed as values: their callers check the status, or the data was checked before.
PASSED_ON = {
    "lodcore/ops/networks/embedding.py": {"kernels.embedding.sum_bags", "kernels.embedding.best_bags"},  # by pool_bags
    "lodcore/ops/move/combine.py": {"kernels.combine.pair_ranges", "kernels.combine.product_ranges"},  # by Partners
}


def ignored(text):
    """List the calls in a Python file whose status is ignored, and kernels with a status that are passed as values."""
    tree = ast.parse(text)
    dropped = [
        ast.unparse(node.value.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in RETURNING
    ]
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    passed = {
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and id(node) not in called and ast.unparse(node) in TELLING
    }
    return dropped, passed


def test_kernels_that_return_a_status_are_known():
    assert {"kernels.gather.take_sequences", "kernels.embedding.take_rows"} <= TELLING
    assert "kernels.pool.sum_rows" not in TELLING


def test_kernels_that_return_a_status_are_among_those_that_return():
    assert TELLING <= RETURNING
    assert "kernels.group.number_keys" in RETURNING
    assert "kernels.pool.sum_rows" not in RETURNING
    assert not set().union(*KNOWN.values()) & TELLING


def test_ignored_finds_a_status_that_is_thrown_away():
    assert ignored("kernels.gather.take_sequences(a, b, c, d)\n")[0] == ["kernels.gather.take_sequences"]
    assert ignored("run(kernels.gather.take_sequences, a)\n")[1] == {"kernels.gather.take_sequences"}
    assert ignored("bad = kernels.gather.take_sequences(a, b, c, d)\n") == ([], set())


@for_each("path", sorted(LODCORE.rglob("*.py")))
def test_no_status_is_thrown_away(path):
    dropped, passed = ignored(path.read_text(encoding="utf-8"))
    name = str(path.relative_to(LODCORE.parent))
    assert set(dropped) == KNOWN.get(name, set())
    assert passed <= PASSED_ON.get(name, set())


@pytest.mark.parametrize("path", sorted(LODCORE.rglob("*.pyx")), ids=lambda path: str(path.relative_to(LODCORE)))
def test_no_status_is_thrown_away_in_compiled_code(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        found = re.match(r"\s*(kernels\.\w+\.\w+)\(", line)
        assert found is None or found.group(1) not in RETURNING, line
