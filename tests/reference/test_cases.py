"""The file of cases for other implementations, and the comparison of lodcore with it."""

import ast
import copy
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore.graph  # whose operators are registered
from lodcore.operators.registry import OPS
from reference import write_cases
from reference.case import drawn
from reference.cases import OPERATORS
from reference.read_cases import agree, hold, read
from reference.tensors import leaves
from reference.write_cases import draw_cases, report, write
from tests.helpers.draw import Drawn, at_most
from tests.helpers.run_cases import as_file, run

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(OPERATORS)
REGISTERED = sorted(OPS)  # before examples of docstrings register theirs
WITHIN = {
    "checked",
    "last_of_steps",
    "dropout",  # it draws random numbers
    "lod_lengths",
    "lod_num",
    "lod_positions",
    "lod_segment_ids",
    "map_fn_results",
    "map_fn_size",
    "num_rows",
    "numpy_call",  # NumPy itself is what it computes
    "sample_places",
    "structure_of",
    "tensor_array_fill",
    "tensor_array_new",
    "tensor_array_rank",
    "zero_states",
}  # operators that occur only within others, and those that no file can represent
OTHERS = {"while_loop"}  # has cases and is not an operator
FEW = 6  # cases per operator, plus those for missing corner cases
ALONE = """
import runpy, sys
from tests.helpers.draw import at_most
sys.modules["lodcore"] = sys.modules["tests"] = sys.modules["hypothesis"] = None
runpy.run_module("reference", run_name="__main__")
"""

not_on_reference = pytest.mark.not_on_reference


@pytest.fixture(scope="module")
def found():
    return draw_cases(count=FEW)


@pytest.fixture(scope="module")
def path(found, tmp_path_factory):
    name = tmp_path_factory.mktemp("cases") / "cases.npz"
    write(name, found)
    return name


def test_lodcore_agrees_with_the_file(path):
    hold(path, run)


@pytest.mark.parametrize("name", NAMES)
@at_most(10)
@given(st.data())
def test_lodcore_agrees_with_what_hypothesis_draws(name, data):
    hold(as_file([drawn(OPERATORS[name], Drawn(data.draw))]), run)


@not_on_reference
def test_every_operator_has_cases():
    assert lodcore.graph.Program
    assert "map_fn_results" in REGISTERED
    assert sorted(set(REGISTERED) - set(OPERATORS) - WITHIN) == []


@not_on_reference
def test_cases_have_gradients_for_all_operators_that_do():
    with_gradient = {name for name in REGISTERED if OPS[name].gradient} - WITHIN
    assert with_gradient == {name for name in NAMES if OPERATORS[name].gradient} - OTHERS


@not_on_reference
@pytest.mark.parametrize(
    "name",
    [
        *("row_conv", "sequence_concat", "sequence_conv", "sequence_enumerate", "sequence_expand_as", "sequence_pool"),
        *("sequence_reverse", "sequence_scatter", "sequence_slice", "sequence_softmax"),
    ],
)
def test_cases_of_operators_with_a_level_cover_each_level_of_three(name):
    assert {"depth 3", "level 0", "level 1", "level 2"} <= OPERATORS[name].must


# -- the file ------------------------------------------------------------------------------------------------------


@not_on_reference
def test_case_file_holds_a_json_index_and_plain_arrays(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist()[0] == "index.json"
    with np.load(path, allow_pickle=False) as file:
        pools = {name: file[name] for name in file.files if name != "index.json"}
    assert all(pool.dtype == np.dtype(name).newbyteorder("<") and pool.ndim == 1 for name, pool in pools.items())


@not_on_reference
def test_one_seed_gives_one_file(path, tmp_path):
    """All cases are drawn once more, in plain Python, which takes seconds."""
    again = tmp_path / "again.npz"
    write(again, draw_cases(count=FEW))
    assert again.read_bytes() == path.read_bytes()


@not_on_reference
def test_another_seed_gives_other_cases():
    one, other = (draw_cases(seed=seed, count=FEW, names=["add", "sequence_pool"]) for seed in (0, 1))
    assert repr(one) != repr(other)


@not_on_reference
def test_cases_of_an_operator_do_not_depend_on_the_others(found):
    chosen = draw_cases(count=FEW, names=["add", "sequence_pad"])
    assert list(map(repr, chosen)) == [repr(case) for case in found if case.operator in ("add", "sequence_pad")]


@not_on_reference
def test_reference_runs_without_lodcore(tmp_path):
    name = tmp_path / "alone.npz"
    command = [sys.executable, "-c", ALONE, "cases", str(name), "--count=1", "--operator=sequence_pad"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sequence_pad: ")
    assert "one giant* " in done.stdout
    assert {case["operator"] for case in read(name)} == {"sequence_pad"}


@not_on_reference
def test_corners_are_counted(found):
    for name in NAMES:
        corners = [case.corners for case in found if case.operator == name]
        assert len(corners) >= FEW
        for corner in OPERATORS[name].must:
            assert any(corner in hit for hit in corners)
    printed = f"\n{report(found)}"
    assert all(f"\n{name}: " in printed for name in NAMES)


@not_on_reference
def test_more_cases_hit_more_corners(found):
    """A case after the first ones covers a corner that those before it do not."""
    for name in NAMES:
        missing = set(OPERATORS[name].must)
        for number, case in enumerate(case for case in found if case.operator == name):
            assert number < FEW or case.corners & missing, name
            missing -= case.corners
        assert not missing


@not_on_reference
def test_cases_have_nonzero_cotangents_and_the_tolerance_of_their_dtype(found):
    for case in found:
        cotangents = leaves(list(case.cotangents))
        assert all(number != 0 for cotangent in cotangents for number in cotangent.numbers()), case.operator
        used = {tensor.dtype for tensor in leaves([*case.arguments.values(), *case.results])}
        reals = {"float64": 1e-10, "float32": 1e-4}
        most = max((reals[dtype] for dtype in used & set(reals)), default=0.0)
        assert case.tolerance == (0.0 if OPERATORS[case.operator].exact else most), case.operator


@not_on_reference
def test_a_corner_that_is_not_hit_is_an_error(monkeypatch):
    monkeypatch.setattr(write_cases, "PATIENCE", 50)
    monkeypatch.setattr(OPERATORS["add"], "must", {"depth 1", "depth 5", "a corner nobody knows"})
    with pytest.raises(LookupError, match="add: no case hits a corner nobody knows, depth 5"):
        draw_cases(count=1, names=["add"])


@not_on_reference
def test_an_oracle_that_raises_is_named(monkeypatch):
    monkeypatch.setattr(OPERATORS["add"], "compute", lambda **arguments: [][0])
    with pytest.raises(RuntimeError, match="add: the oracle raises IndexError"):
        draw_cases(count=1, names=["add"])


# -- the reader ----------------------------------------------------------------------------------------------------


def tensors_in(thing):
    """List the entries of tensors."""
    if isinstance(thing, dict) and "values" in thing and "dtype" in thing:  # not arguments, one of which has this name
        return [thing]
    inside = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else []
    return [tensor for one in inside for tensor in tensors_in(one)]


def wrong_ways(tensor):
    """Damage a tensor in every way that must be detected."""
    if tensor["values"].size:
        values = tensor["values"].copy()
        values.flat[-1] = not values.flat[-1] if values.dtype == bool else 7 if values.flat[-1] != 7 else 8
        yield {**tensor, "values": values}
        yield {**tensor, "values": np.where(np.isnan(tensor["values"]), 0, np.nan)}
    yield {**tensor, "values": tensor["values"][None]}
    yield {**tensor, "dtype": "int16"}
    yield {**tensor, "kind": "another"}
    if "lod" in tensor:
        yield {**tensor, "lod": [*tensor["lod"], [0]]}
        yield {**tensor, "lod": [[0, *tensor["lod"][0]], *tensor["lod"][1:]]}


@not_on_reference
@pytest.mark.parametrize("part", ["results", "gradients"])
def test_reader_finds_every_difference_from_a_case(path, part):
    for case in read(path)[::7]:
        want = case[part]
        assert agree(copy.deepcopy(want), want, 0.0)
        for place, tensor in enumerate(tensors_in(want)):
            for wrong in wrong_ways(tensor):
                spoiled = copy.deepcopy(want)
                target = tensors_in(spoiled)[place]
                target.update(wrong)
                assert not agree(spoiled, want, case["tolerance"]), (wrong, tensor)


@pytest.mark.parametrize(
    ("got", "want", "tolerance", "fits"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0, True),
        ([1.0, 2.0000001], [1.0, 2.0], 0.0, False),
        ([1.0, 2.0000001], [1.0, 2.0], 1e-6, True),
        ([1.0, 1000.05], [1.0, 1000.0], 1e-4, True),  # relative to the largest number
        ([1.05, 1000.0], [1.0, 1000.0], 1e-4, True),
        ([1.2, 1000.0], [1.0, 1000.0], 1e-4, False),
        ([1.05, np.inf], [1.0, np.inf], 1e-4, False),  # but not relative to infinity
        ([np.nan], [np.nan], 0.0, True),
        ([np.inf], [-np.inf], 1.0, False),
        ([], [], 0.0, True),
    ],
)
@not_on_reference
def test_agree_compares_within_the_tolerance(got, want, tolerance, fits):
    assert agree(np.array(got), np.array(want), tolerance) == fits


# -- the oracles ---------------------------------------------------------------------------------------------------


@not_on_reference
@pytest.mark.parametrize("path", sorted((ROOT / "reference/ops").glob("*.py")), ids=lambda path: path.stem)
def test_oracles_work_on_numbers_with_derivatives(path):
    """Functions come from `reference.reals`, those of `math` take integers; no number becomes a float."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    used = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not {name for name in used if name.startswith("math.")} - {"math.prod", "math.gcd", "math.nan", "math.inf"}
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert "float" not in called
