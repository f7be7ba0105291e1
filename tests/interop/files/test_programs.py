"""Programs in files: the same bits where their code is not, shared parts, versions, and operators of one's own."""

import io
import json
import subprocess
import sys
import threading
import types
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, Spec, TensorArray, nn, ops
from lodcore.errors import DTypeError, GraphError, LoDError
from lodcore.graph import Executor, Program, Scope, append_backward, data, parameter
from lodcore.interop.files.block_reader import agrees
from tests.helpers.processes import environment
from tests.helpers.programs_to_keep import MAKERS, ROWS, as_bytes, results, training
from tests.helpers.tables import for_each

OF_TODAY = Path(__file__).with_name("program_of_version_1.npz")

ELSEWHERE = """
import sys, lodcore
from lodcore.graph import Executor
for name in sys.argv[1:]:
    kept = lodcore.load(name)
    executor = Executor()
    found = [executor.run(kept["program"], kept["feed"], kept["fetch"]) for _ in range(2)]
    lodcore.save(name, found)
"""


def kept(tree, scope=None):
    """Return the bytes of a file."""
    file = io.BytesIO()
    lodcore.save(file, tree, scope)
    return file.getvalue()


def back(tree, scope=None, **options):
    """Save and load."""
    return lodcore.load(io.BytesIO(kept(tree, scope)), **options)


def changed(contents, change):
    """Return a file with another manifest."""
    archive, made = zipfile.ZipFile(io.BytesIO(contents)), io.BytesIO()
    manifest = json.loads(archive.read("lodcore.json"))
    change(manifest["tree"])
    with zipfile.ZipFile(made, "w") as other:
        for name in archive.namelist():
            other.writestr(name, json.dumps(manifest) if name == "lodcore.json" else archive.read(name))
    return io.BytesIO(made.getvalue())


@for_each("make", MAKERS)
def test_a_loaded_program_gives_the_same_bits_and_the_same_text(make):
    program, feed, fetch = make()
    made = back(program)
    lines = [[line for line in str(one).splitlines() if "Generator" not in line] for one in (program, made)]
    assert lines[0] == lines[1]
    assert results(made, feed, fetch) == results(program, feed, fetch)


def test_saved_program_runs_in_another_process(tmp_path):
    names = []
    for make in MAKERS:
        program, feed, fetch = make()
        names.append(str(tmp_path / f"{make.__name__}.npz"))
        lodcore.save(names[-1], {"program": program, "feed": feed, "fetch": fetch})
    subprocess.run([sys.executable, "-c", ELSEWHERE, *names], check=True, env=environment(), cwd=tmp_path)
    for make, name in zip(MAKERS, names, strict=True):
        program, feed, fetch = make()
        executor = Executor()
        found = [executor.run(program, feed, fetch) for _ in range(2)]
        assert [[as_bytes(x) for x in one] for one in lodcore.load(name)] == [
            [as_bytes(x) for x in one] for one in found
        ]


def test_several_threads_run_one_program_at_once():
    program, feed, fetch = MAKERS[2]()
    made, right, found = back(program), as_bytes(Executor().run(program, feed, fetch)[0]), []

    def run():
        found.append(as_bytes(Executor().run(made, feed, fetch)[0]))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [right] * 4


def test_a_program_saved_by_version_1_gives_the_results_saved_with_it():
    found = lodcore.load(OF_TODAY)
    for program, feed, fetch, right in found.values():
        executor = Executor()
        made = [executor.run(program, feed, fetch) for _ in range(2)]
        for one, other in zip(made, right, strict=True):
            for x, y in zip(one, other, strict=True):
                lodcore.testing.assert_allclose(x, y, rtol=1e-12)


def test_a_file_of_a_later_version_is_refused_with_a_sentence():
    def later(tree):
        tree["program"]["version"] = 2

    with pytest.raises(
        LoDError, match="program: has version 2; a later lodcore has written it; this one reads versions"
    ):
        lodcore.load(changed(kept(training()[0]), later))


def test_saved_program_has_the_values_of_the_scope_and_continues_training_from_them():
    program, feed, fetch = training()
    executor = Executor()
    for _ in range(3):
        executor.run(program, feed)
    made = back(program, executor.scope)
    assert np.array_equal(made.var("w").get(), executor.scope.find_var("w").get())
    assert not np.array_equal(made.var("w").get(), program.var("w").get())
    assert results(made, feed, fetch) == [
        *[as_bytes(executor.run(program, feed, fetch)[0]) for _ in range(2)],
        *[as_bytes(executor.scope.get(v)) for v in program.parameters],
    ]
    assert np.array_equal(back(program).var("w").get(), program.var("w").get())
    with pytest.raises(DTypeError, match="save: scope: is Executor; a Scope is needed, such as that of an Executor"):
        lodcore.save(io.BytesIO(), program, executor)


def test_saved_program_has_of_each_parameter_the_value_of_the_innermost_scope_that_has_one():
    program = training()[0]
    outer = Executor().scope
    inner = outer.new_scope()
    w, b = program.var("w"), program.var("b")
    for scope, v, number in ((outer, w, 1.0), (outer, b, 2.0), (inner, w, 3.0)):
        scope.set(v, np.full_like(v.get(), number))
    for scope, numbers in ((outer, (1.0, 2.0)), (inner, (3.0, 2.0))):
        made = back(program, scope)
        for v, number in zip((w, b), numbers, strict=True):
            assert np.array_equal(scope.get(v), np.full_like(v.get(), number))
            assert np.array_equal(made.var(v.name).get(), scope.get(v))


def test_programs_of_one_tree_share_their_parameters_and_generators():
    program, feed, fetch = training()
    made = back({"train": program, "test": program.clone(for_test=True), "again": program})
    assert made["again"] is made["train"]
    assert made["test"].var("w") is made["train"].var("w")
    executor, other = Executor(), Executor()
    for one, runs in ((executor, made), (other, {"train": program, "test": program.clone(for_test=True)})):
        one.run(runs["train"], feed)
        one.found = one.run(runs["test"], feed, fetch)[0]
    assert executor.found == other.found


def test_pruning_for_a_fetch_runs_all_updates_and_a_clone_for_test_has_none():
    program, feed, _ = training()
    made = back(program)
    executor = Executor()
    executor.run(made, feed, ["tanh"])
    assert not np.array_equal(executor.scope.find_var("w").get(), made.var("w").get())
    use = back(program.clone(for_test=True), executor.scope)
    assert "update" not in str(use)
    assert [v.name for v in use.parameters] == ["w", "b"]


def test_loaded_program_records_further_operators():
    made = back(training()[0])
    with made:
        lodcore.mul(made.var("tanh"), 2.0, name="twice")
    one, other = Executor().run(made, {"x": ROWS}, ["tanh", "twice"])
    assert np.array_equal(one.values * 2, other.values)
    with pytest.raises(GraphError, match="there is such a Variable in the Program already"), made:
        data("x", ())


def test_loaded_generators_and_optimizers_continue_from_their_states():
    for kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64):
        rng = np.random.Generator(kind(3))
        rng.integers(10, size=5, dtype=np.uint32)
        made = back({"rng": rng, "again": [rng]})
        assert made["rng"] is made["again"][0]
        assert np.array_equal(made["rng"].standard_normal(9), rng.standard_normal(9))
    for optimizer in (
        nn.SGD(0.1, 0.9),
        nn.AdamW(nn.inverse_root_schedule(0.1, 4)),
        nn.Adam(nn.step_schedule(1, 0.5, 2)),
    ):
        assert repr(back(optimizer)).partition(" at 0x")[0] == repr(optimizer).partition(" at 0x")[0]


def test_the_state_of_a_generator_that_would_be_read_past_its_end_is_refused():
    for kind, key in ((np.random.MT19937, ["state", "pos"]), (np.random.Philox, ["buffer_pos"])):

        def forge(tree, key=key):
            at = tree["generator"]
            for name in key:
                at = at["dict"]
                number = [one[0] for one in at].index(name)
                at = at[number] if name == key[-1] else at[number][1]
            at[1] = 10**6

        with pytest.raises(LoDError, match=f"generator: {kind.__name__}: {key[-1]} is 1000000; 0 .. "):
            lodcore.load(changed(kept(np.random.Generator(kind(0))), forge))


def seeded(kind, draws=2):
    """Return a Generator that has drawn numbers and spawned children, and is a child itself."""
    child = np.random.SeedSequence([5, 2**70], spawn_key=(3,), pool_size=8, n_children_spawned=2).spawn(1)[0]
    rng = np.random.Generator(kind(child))
    rng.random(draws)
    rng.spawn(3)
    return rng


def numbers_of_children(rng):
    """Return numbers that the next children draw, and the Generator itself."""
    return [one.random() for one in (*rng.spawn(2), *rng.spawn(1)[0].spawn(1), rng)]


def test_loaded_generators_spawn_the_same_children_in_files_folders_and_programs(tmp_path):
    for kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64):
        expected = numbers_of_children(seeded(kind))
        for name in ("one.npz", "folder.lod"):
            lodcore.save(tmp_path / name, {"rng": seeded(kind)})
            made = lodcore.load(tmp_path / name)["rng"]
            state = seeded(kind).bit_generator.seed_seq.state
            assert made.bit_generator.seed_seq.state == {**state, "n_children_spawned": 3}
            assert numbers_of_children(made) == expected
    with Program() as program:
        nn.dropout(data("x", (None,), "float64"), 0.5, seeded(np.random.PCG64))
    (op,) = [op for op in back(program).ops if "rng" in op.arguments]
    assert numbers_of_children(op.arguments["rng"]) == numbers_of_children(seeded(np.random.PCG64))
    nested = [[[1], [2, 3]]] if np.lib.NumpyVersion(np.__version__) < "2.5.0" else []  # which refuses it
    for entropy in (None, 0, np.int64(7), (1, 2), *nested, np.arange(4, dtype=np.uint32), [], 2**4000):
        rng = np.random.default_rng(entropy)
        assert numbers_of_children(back(rng)) == numbers_of_children(rng)


def test_a_loaded_generator_without_a_known_seed_spawns_children_of_its_state():
    class Other(np.random.SeedSequence):
        pass

    def older(tree):
        del tree["seed"]

    rngs = [np.random.default_rng(seed) for seed in (1, 2)]
    made = [lodcore.load(changed(kept(rng), older)) for rng in (*rngs, rngs[0])]
    made.append(back(np.random.Generator(np.random.PCG64(Other(1)))))
    numbers = [numbers_of_children(rng) for rng in made]
    assert numbers[0] == numbers[2] == numbers[3]
    assert not set(numbers[0]) & set(numbers[1])
    assert [row[-1] for row in numbers[:2]] == [rng.random() for rng in rngs]
    legacy = np.random.Generator(np.random.RandomState(0)._bit_generator)  # which has no seed
    assert back(legacy).random() == legacy.random()


def test_generators_that_share_a_state_share_it_after_loading():
    bits = np.random.PCG64(3)
    one, other = back([np.random.Generator(bits), np.random.Generator(bits)])
    rng = np.random.default_rng(3)
    assert [one.random(), other.random()] == [rng.random(), rng.random()]


WRONG_SEEDS = [
    (lambda seed: seed.pop(), "seed: is {.*; a dict of entropy, n_children_spawned, pool_size, spawn_key is needed"),
    (lambda seed: seed[0].__setitem__(1, None), "seed: entropy: has None; integers of 0 or more and at most 4096 bits"),
    (lambda seed: seed[0].__setitem__(1, -1), "seed: entropy: has -1; integers"),
    (lambda seed: seed[0].__setitem__(1, {"int": "f" * 99_999}), "seed: entropy: has a long int; integers"),
    (lambda seed: seed[0].__setitem__(1, {"list": [0] * 99_999}), "seed: entropy: has 99999 numbers; 65536 is"),
    (lambda seed: seed[1].__setitem__(1, 3), "seed: spawn_key: is 3; a list is needed"),
    (lambda seed: seed[1].__setitem__(1, {"list": ["x"]}), "seed: spawn_key: has 'x'; integers"),
    (lambda seed: seed[2].__setitem__(1, 2**31), r"seed: pool_size: is 2147483648; 4 \.\. 64 is needed"),
    (lambda seed: seed[2].__setitem__(1, True), "seed: pool_size: is True; 4"),
    (lambda seed: seed[3].__setitem__(1, 2**32), r"seed: n_children_spawned: is 4294967296; 0 \.\. 4294967295 is"),
]


def test_a_wrong_seed_of_a_generator_is_refused():
    contents = kept(np.random.default_rng(1))
    for change, says in WRONG_SEEDS:
        with pytest.raises(LoDError, match=f"^lodcore.load: file: tree: generator: {says}"):
            lodcore.load(changed(contents, lambda tree, change=change: change(tree["seed"]["dict"])))
    for node in (3, [], {"list": []}, {"generator": 0}, {"dict": 3}):
        with pytest.raises(LoDError, match="load: file: tree: "):
            lodcore.load(changed(contents, lambda tree, node=node: tree.update(seed=node)))
    with pytest.raises(LoDError, match=r"^lodcore.save: rng: seed: pool_size: is 65; 4 \.\. 64 is needed"):
        kept({"rng": np.random.default_rng(np.random.SeedSequence(1, pool_size=65))})


def test_a_wrong_generator_of_an_operator_is_refused_with_the_place_of_the_operator():
    def forge(tree):
        (rng,) = [op["in"]["rng"] for op in tree["program"]["ops"] if "rng" in op["in"]]
        rng["seed"] = 3

    with Program() as program:
        nn.dropout(data("x", (None,), "float64"), 0.5, np.random.default_rng(1))
    with pytest.raises(LoDError, match=r"file: program: operator \d+ \(dropout\): rng: seed: is 3; a dict of entropy"):
        lodcore.load(changed(kept(program), forge))


@for_each(
    ("node", "says"),
    [
        ({"slice": [1, 2, 3, 4]}, "dtype: is not a valid 'slice': slice expected at most 3 arguments, got 4"),
        ({"map": [1]}, "dtype: is not a valid 'map': "),
        ({"dict": [[1, 2, 3]]}, r"dtype: has \[1, 2, 3\] in a dict; a key and a description are needed"),
        ({"ufunc": "array"}, "dtype: names 'array', which is not a NumPy ufunc"),
        ({"list": [{"ufunc": 3}]}, r"dtype\[0\]: names 3, which is not a NumPy ufunc"),
        ({"dtype": "zz"}, "dtype: has no dtype 'zz'"),
        ([1], "dtype: is .*; a description is needed"),
    ],
)
def test_a_wrong_argument_of_an_operator_is_refused_with_the_place_of_the_operator(node, says):
    with Program() as program:
        ops.cast(data("x", (None,), "float64"), "f4")

    def forge(tree):
        (op,) = [op for op in tree["program"]["ops"] if "dtype" in op["in"]]
        op["in"]["dtype"] = node

    with pytest.raises((LoDError, DTypeError), match=rf"^lodcore.load: file: program: operator \d+ \(cast\): {says}"):
        lodcore.load(changed(kept(program), forge))


def test_a_generator_in_generators_without_end_is_refused():
    def forge(tree):
        for _ in range(400):
            tree["generator"] = {"generator": tree["generator"]}

    with pytest.raises(LoDError, match="generator: is nested more than 100 deep"):
        lodcore.load(changed(kept(np.random.default_rng(1)), forge))


# -- operators of one's own --------------------------------------------------------------------------------------------

SOURCE = """
from lodcore.ops import Nested, operator

@operator(x=Nested)
def doubled(x):
    return x.values * 2

@doubled.define_infer
def _(x):
    return x
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a module with an operator."""
    name = "operators_of_a_test"
    (tmp_path / f"{name}.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def test_an_operator_of_ones_own_is_taken_from_a_module_that_is_imported_or_named(module):
    doubled = __import__(module).doubled
    with Program() as program:
        doubled(data("x", (None,), "float64", num_levels=1), name="y")
    contents = kept(program)
    assert f'"op": "{module}:doubled"' in zipfile.ZipFile(io.BytesIO(contents)).read("lodcore.json").decode()
    del sys.modules[module]
    with pytest.raises(LoDError, match=f"needs the operator 'doubled' of module '{module}', which is not imported"):
        lodcore.load(io.BytesIO(contents))
    assert module not in sys.modules
    made = lodcore.load(io.BytesIO(contents), operators=[module])
    assert Executor().run(made, {"x": [[1.0], [2.0]]}, ["y"])[0].tolist() == [[2.0], [4.0]]

    def other(tree):
        tree["program"]["ops"][0]["op"] = f"{module}:Nested"

    with pytest.raises(LoDError, match="which is a Role there"):
        lodcore.load(changed(contents, other))
    with pytest.raises(ModuleNotFoundError, match=r"operators: there is no module 'nowhere.at_all' where Python"):
        lodcore.load(io.BytesIO(contents), operators=["nowhere.at_all"])
    with pytest.raises(DTypeError, match="load: operators: is str; a list of names of modules is needed"):
        lodcore.load(io.BytesIO(contents), operators=module)


def test_a_file_makes_no_module_import_anything():
    lazy = types.ModuleType("lazy_module_of_a_test")
    lazy.__getattr__ = lambda name: pytest.fail(f"{name} was imported")
    with Program() as program:
        lodcore.tanh(data("x", ()))

    def name(tree):
        tree["program"]["ops"][0]["op"] = "lazy_module_of_a_test:operator"

    sys.modules[lazy.__name__] = lazy
    try:
        with pytest.raises(LoDError, match="'lazy_module_of_a_test:operator', which is not defined there"):
            lodcore.load(changed(kept(program), name))
    finally:
        del sys.modules[lazy.__name__]


def test_save_of_a_program_with_unsupported_parts_names_them():
    @ops.operator(x=ops.Nested)
    def inner(x):
        return x.values

    def with_inner():
        with Program() as program:
            x = data("x", (None,), num_levels=1)
            x.block.append(inner, {"x": lodcore.array([[1]])})
        return program

    class Own(nn.Adam):
        pass

    opened = Program()
    cases = [
        (
            training(lambda step: 0.1)[0],
            "optimizer_step_[0-9]+: optimizer: learning_rate: is .*<lambda>; the code of fun",
        ),
        (
            training(0.1, Own)[0],
            "optimizer_step_[0-9]+: optimizer: is Own; SGD, Adam, AdamW of lodcore.nn can be saved",
        ),
        (with_inner(), "inner_0: operator .*inner of module .*: is not found there by its name"),
        ({"a": [print]}, r"tree\[a\]\[0\]: is builtin_function_or_method; arrays"),
    ]
    for program, says in cases:
        with pytest.raises(DTypeError, match=says):
            lodcore.save(io.BytesIO(), program)
    with opened, pytest.raises(GraphError, match="Program: is open; leave it first"):
        lodcore.save(io.BytesIO(), opened)


# -- hostile files -----------------------------------------------------------------------------------------------------


def nodes(node, path=()):
    """Yield the paths of all parts of a manifest."""
    yield path
    for key, part in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from nodes(part, (*path, key))


def loaded(file):
    """Return what is in a file, or the text of the error that refuses it."""
    try:
        return lodcore.load(file), None
    except (LoDError, DTypeError) as error:
        return None, str(error)


ODD = [None, -1, 2**62, 10**30, 1.5, "", "x", "while_loop", [], {}, {"var": "x"}, {"list": []}, {"generator": 0}]


@pytest.mark.parametrize("make", MAKERS)
def test_a_changed_file_is_refused_or_runs_to_a_result_or_an_error(make):
    program, feed, fetch = make()
    contents, random = kept(program), np.random.default_rng(0)
    archive = zipfile.ZipFile(io.BytesIO(contents))
    paths = list(nodes(json.loads(archive.read("lodcore.json"))["tree"]))[2:]
    for j in random.choice(len(paths), 60):

        def change(tree, path=paths[j]):
            for key in path[:-1]:
                tree = tree[key]
            if random.random() < 0.3:
                del tree[path[-1]]
            else:
                tree[path[-1]] = ODD[random.integers(len(ODD))]

        made, said = loaded(changed(contents, change))
        assert isinstance(made, Program) or said.startswith("lodcore.load: file: ")
        if said is None:
            with suppress(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RuntimeError):
                Executor().run(made, feed, fetch)


def step_of(ops):
    """Return the step of the optimizer."""
    return next(op for op in ops if op.get("op") == "optimizer_step")


CHANGES = [
    (lambda ops: ops[0]["in"].pop("x"), r"operator 0 \(matmul\): is .*; a description with x, y is needed"),
    (
        lambda ops: ops[0].update(op="eval"),
        r"operator 0 \(eval\): names the operator 'eval', which this lodcore does not",
    ),
    (lambda ops: ops[0]["in"].update(x={"var": "tanh"}), r"\(matmul\): x: names Variable 'tanh', which nothing before"),
    (
        lambda ops: ops[0]["out"][0]["spec"].update(dtype="<f4"),
        r"\(matmul\): has the result float32 .*; it makes float64",
    ),
    (
        lambda ops: ops[0]["out"][0]["spec"].update(shape=[None, 4]),
        r"has the result float64 \(., 4\).*; it makes .*3\)",
    ),
    (lambda ops: ops[-1].update(update="tanh"), "tanh: is not a parameter"),
    (lambda ops: ops[-1].update(value={"var": "tanh"}), "is float64 .*; the parameter is int64"),
    (
        lambda ops: ops.remove(next(op for op in ops if "gradient" in op)),
        r"no gradient before it is that of a result of operator [0-9]+",
    ),
    (
        lambda ops: step_of(ops)["in"].update(optimizer=3),
        r"\(optimizer_step\): .*optimizer: is int; an optimizer is needed",
    ),
    (
        lambda ops: step_of(ops)["in"]["gradients"]["list"].pop(),
        r"\(optimizer_step\): .*gradients: has 1 entries; parameters or states have other numbers",
    ),
    (
        lambda ops: ops[0]["in"].update(y={"loop": {}}),
        r"\(matmul\): y: is {}; a description with variables, ops is need",
    ),
    (lambda ops: ops[0].update(caller=3), "operator 0 .*: caller: is 3; a str is needed"),
    (lambda ops: ops[0].update(words="x"), "operator 0 .*: words: is 'x'; a dict of str is needed"),
    (lambda ops: ops[0].update(words={"x": None}), "operator 0 .*: words: is {'x': None}; a dict of str is needed"),
]


def test_an_error_names_the_file_the_operator_and_the_argument():
    contents = kept(training()[0])
    for change, says in CHANGES:
        with pytest.raises((LoDError, DTypeError), match=f"^lodcore.load: file: program: .*({says})"):
            lodcore.load(changed(contents, lambda tree, change=change: change(tree["program"]["ops"])))


def test_errors_in_a_loaded_program_name_the_function_that_was_recorded():
    with Program() as program:
        x, y = data("x", (None,), "float64"), data("y", (None,), "float64")
        calls = [np.average(x, weights=y), np.gradient(x), nn.mean_squared_error(x, y)]
    loaded = lodcore.load(io.BytesIO(kept(program)))
    for call, length, begins in zip(
        calls, (3, 1, 3), ("average: ", "numpy.gradient: f: ", "mean_squared_error: "), strict=True
    ):
        texts = []
        for each, fetch in ((program, call), (loaded, call.name)):
            with pytest.raises(lodcore.ShapeError, match=f"^{begins}") as caught:
                Executor().run(each, {"x": np.ones(length), "y": np.ones(2)}, [fetch])
            texts.append(str(caught.value))
        assert texts[0] == texts[1]


def test_a_file_that_is_older_than_an_optional_parameter_of_an_operator_is_read_with_its_default():
    with Program() as program:
        ops.drop_level(data("x", (None,), "float64", num_levels=2), 1)
    contents, feed = kept(program), {"x": [[[1.0], [2.0, 3.0]], []]}

    def older(tree):
        del tree["program"]["ops"][0]["in"]["count"]

    def later(tree):
        tree["program"]["ops"][0]["in"]["unknown"] = {"int": "1"}

    fetch = [program.ops[0].outputs[0].name]
    assert results(lodcore.load(changed(contents, older)), feed, fetch) == results(program, feed, fetch)
    with pytest.raises(LoDError, match=r"operator 0 \(drop_level\): has .*unknown; x, level, count are its parameters"):
        lodcore.load(changed(contents, later))


def test_a_parameter_that_two_programs_share_and_a_scope_inside_another():
    w = parameter(2.0, "w")
    with Program() as one:
        y = data("x", (), "float64") * w
    with Program() as other:
        w.update(w + 1.0)
    scope = Scope()
    executor = Executor()
    executor.run(other, scope=scope)
    made = back([one, other], scope)
    assert float(Executor().run(made[0], {"x": 2.0}, [y.name])[0]) == 6.0
    assert made[0].var("w") is made[1].var("w")


def test_gradients_in_a_loaded_program_are_those_of_the_saved_one():
    with Program() as program:
        x = data("x", (None,), "float64", num_levels=1)
        loss = lodcore.ops.sum(lodcore.sequence_softmax(x) * x)
        append_backward(loss)
    feed = {"x": [[1.0, 2.0], [], [3.0, 4.0, 5.0]]}
    assert results(back(program), feed, ["x@GRAD"]) == results(program, feed, ["x@GRAD"])


def test_results_of_pooled_dates_for_empty_sequences_are_those_before_saving():
    with Program() as program:
        x = data("x", (None,), "M8[D]", num_levels=1)
        ops.sequence_pool(x, "last", name="last")
        ops.sequence_pool(x - x, "max", name="longest")
    feed = {"x": LoDTensor.from_lengths(np.array(["2020-01-01"], "M8[D]"), [1, 0])}
    before, after = (Executor().run(one, feed, ["last", "longest"]) for one in (program, back(program)))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_specs_of_a_file_agree_with_those_of_rules():
    """An array whose elements are not known yet, and has no dtype, may have any; nothing else may differ."""
    of_array, of_tensor = (
        Spec((None,), np.dtype(np.void), 0, TensorArray),
        Spec((None,), np.dtype(np.void), 0, np.ndarray),
    )
    known = of_array._replace(dtype=np.dtype("f4"))
    assert agrees(of_array, known)
    assert agrees(known, of_array)
    assert agrees(known, known)
    for one, other in [
        (known, of_array._replace(dtype=np.dtype("f8"))),
        (of_tensor, known),
        (of_array, of_tensor._replace(dtype=np.dtype("f4"))),
        (of_tensor, of_tensor._replace(dtype=np.dtype("f4"))),
        (known, known._replace(num_levels=1, kind=LoDTensor)),
        (known, known._replace(shape=(None, 2))),
        (known._replace(shape=(3,)), known._replace(shape=(4,))),
    ]:
        assert not agrees(one, other)
        assert not agrees(other, one)
