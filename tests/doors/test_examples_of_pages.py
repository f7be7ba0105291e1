"""The examples of pages that doctest does not run, since they need other libraries: each line, and what it promises."""

import itertools
import re

import numpy as np
import pytest

import lodcore
from lodcore.batching import batches
from tests.helpers.libraries import MARKS, imported
from tests.helpers.pages import code_of

duckdb, pandas, polars = (imported(name) for name in ("duckdb", "pandas", "polars"))
pyarrow, parquet, loaders = (imported(name) for name in ("pyarrow", "pyarrow.parquet", "torch.utils.data"))
pytestmark = MARKS


def examples(page):
    """Return the examples of a page that doctest does not run."""
    return [one for one in code_of(f"docs/{page}") if ">>>" not in one]


@pytest.fixture
def names(tmp_path, monkeypatch):
    """The names that examples have, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return {"np": np, "lodcore": lodcore, "pa": pyarrow, "pq": parquet, "pl": polars, "duckdb": duckdb}


def test_lists_of_arrow_and_parquet(names):
    assert pyarrow.array([1]).type == "int64"
    files, nulls = examples("how-to/arrow-and-parquet.md")
    exec(files, names)
    assert names["columns"]["words"].tolist() == [[1, 2], [], [3]]
    assert names["columns"]["words"].lod is names["columns"]["weights"].lod
    assert names["column"].to_pylist() == [[1, 2], [], [3]]
    exec(nulls, names)
    promised = re.findall(r"(?m)^(lodcore\S.*?) +# (\[\[.*\]\]):", nulls)
    assert len(promised) == 2
    for call, lists in promised:
        assert eval(call, names).tolist() == eval(lists)
    assert names["x"].lengths.tolist() == [2, 0, 1]
    assert [mask.tolist() for mask in names["masks"]] == [[True, False, True]] * 2


def test_arrow_in_and_out(names):
    example, _, _ = examples("doors.md")
    lines, last = example.split("\n\n")
    first, *others = lines.splitlines()
    full = {"array": pyarrow.array([[1, 2], [], [3]]), "table": pyarrow.table({"x": [[1], []], "y": [[2], []]})}
    lacking = {"array": pyarrow.array([[1, 2], None, [3]])}
    with pytest.raises(ValueError, match="sequence 1 of level 0 is null"):
        exec(first, names | lacking)
    for line in [first, *others]:
        exec(line, names | (lacking if "nulls" in line else full))
    x = lodcore.array([[1, 2], [3]])
    names |= {"ids": np.array([7, 8]), "x": x, "words": x}
    *_, made = last.strip().splitlines()
    exec(last, names)
    tables = eval(made, names)
    assert tables[0].to_pydict() == tables[1].to_dict(as_series=False) == {"id": [7, 8], "words": [[1, 2], [3]]}
    assert tables[2].fetchall() == [(7, [1, 2]), (8, [3])]


def test_groups_of_data_frames(names):
    _, example, _ = examples("doors.md")
    assert pandas.DataFrame({"x": [1]}).size == 1
    clicks = polars.DataFrame({"user": [1, 2, 1, 1], "ts": [0, 3600, 7200, 10], "page": ["a", "b", "c", "d"]})
    names |= {"clicks": clicks, "users": polars.DataFrame({"user": [2, 1], "age": [20, 10]}), "start": 5}
    exec(example, names)
    assert names["g"]["hour"].tolist() == [[0, 2, 0], [1]]
    assert (names["g"]["age"].tolist(), names["g"]["n"].tolist()) == ([10, 20], [3, 1])
    assert eval("g[g['ts'] > start]", names)["ts"].tolist() == [[7200, 10], [3600]]


def test_files(names):
    *_, example = examples("doors.md")
    x = lodcore.array([[1, 2], [3]])
    names |= {"x": x, "weights": np.ones(2), "more": x}
    exec(example, names)
    assert names["x"].tolist() == [[1, 2], [3], [1, 2], [3]]
    with np.load("batch.npz") as file:
        assert any(np.array_equal(file[name], x.values) for name in file.files)


def test_batches_of_a_loader(names):
    assert loaders.DataLoader
    (example,) = examples("how-to/batches-by-budget.md")
    lengths = np.random.default_rng(0).integers(1, 900, 60)
    seen = []
    body = "        seen.append(x.lengths.tolist())\n"
    exec(example + body, names | {"lengths": lengths, "batches": batches, "seen": seen})
    assert all(sum(one) <= 4000 for one in seen)
    assert sorted(itertools.chain(*seen)) == sorted(np.repeat(lengths, 3).tolist())
