"""The comparison with other libraries names benchmarks that exist."""

import re
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "asv_benchmarks"


def operations():
    """List the operations of the table, as "file.Class"."""
    text = (BENCHMARKS / "peers/run.py").read_text(encoding="utf-8")
    (table,) = re.findall(r"^OPERATIONS = \{(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    return re.findall(r'^ +"(\w+\.\w+)":', table, re.MULTILINE)


@pytest.mark.parametrize("operation", operations())
def test_every_operation_of_the_peers_is_a_benchmark_of_lodcore(operation):
    name, kind = operation.split(".")
    text = (BENCHMARKS / f"benchmarks/{name}.py").read_text(encoding="utf-8")
    assert re.search(rf"^class {kind}\(", text, re.MULTILINE)


@pytest.mark.parametrize("peer", sorted(path.name for path in (BENCHMARKS / "peers").glob("with_*.py")))
def test_a_peer_names_operations_of_the_table(peer):
    named = re.findall(
        r'^ +"(\w+\.[A-Z]\w*)":', (BENCHMARKS / "peers" / peer).read_text(encoding="utf-8"), re.MULTILINE
    )
    assert named
    assert {*named} <= {*operations()}
