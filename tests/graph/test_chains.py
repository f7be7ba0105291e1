"""Chains of elementwise operators in a Program, together and one by one: the same bits, errors, warnings and Scopes."""

import hashlib
import io
import itertools
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor
from lodcore.graph import Executor, Program, append_backward, chains, data, parameter
from lodcore.graph.chain_groups import groups_of
from tests.helpers.paths import on_each_path

pytestmark = pytest.mark.not_on_reference  # the twin of the kernel is compared in tests/kernels

NEVER = 1 << 60
SEEDS = st.integers(0, 2**32)
ORDINARY = [0.5, -1.25, 3.0, -2.0, 1.0, 0.0, -0.0, 0.1]
EXTREME = [np.inf, -np.inf, np.nan, 1e38, -1e-38, 1e-45]
ONE = [lodcore.tanh, lodcore.sigmoid, lodcore.relu, lodcore.exp, np.negative, np.absolute, np.square, np.log1p, np.sqrt]
ONE += [np.sin, np.floor, np.sign, lambda x: x**2, lambda x: 1 / x, np.expm1]
TWO = [lodcore.add, lodcore.mul, lodcore.minus, lodcore.div, np.power, np.hypot]
# NumPy takes one of two zeros of unlike signs by its place in the array: at the end of it another one than before.
TWO += [lambda x, y, ufunc=ufunc: ufunc(x + 0.0, y + 0.0) for ufunc in (np.maximum, np.minimum, np.fmax)]
COMPARED = [lodcore.less_than, lodcore.greater_equal_than, lodcore.equal, lodcore.not_equal]


@pytest.fixture(autouse=True)
def together(monkeypatch):
    """Run chains together however few their numbers are."""
    allow(monkeypatch, 1)


def allow(monkeypatch, least):
    monkeypatch.setattr(chains, "LEAST", least)
    monkeypatch.setattr(chains, "LEAST_EVEN", least)
    monkeypatch.setattr(chains, "FEWEST_EVEN", 0)


class Drawn:
    """A random Program of elementwise operators, what it is fed, and what may be fetched."""

    def __init__(self, seed, values=ORDINARY, rows=None):
        self.random = random = np.random.default_rng(seed)
        self.dtype = np.dtype(random.choice(["f4", "f8"]))
        levels, self.values = int(random.integers(0, 3)), values
        self.width = [(), (1,), (3,), (16,), (2, 3)][random.integers(5)]
        lengths = [[2, 1], [3, 0, 4]][:levels]
        if levels == 1:
            lengths = [[3, 0, 5 if rows is None else rows]]
        rows = rows if rows and not levels else sum(lengths[-1]) if levels else int(random.choice([1, 2, 7, 40]))

        def fed():
            made = self.numbers((rows, *self.width))
            return LoDTensor.from_lengths(made, *lengths) if levels else made

        with Program() as self.program:
            shape = (None, *self.width)
            names = [f"x{k}" for k in range(2)]
            given = [data(name, shape, self.dtype, num_levels=levels) for name in names]
            self.feed = {name: fed() for name in names}
            lines = [parameter(self.numbers(self.width[-1:]), "w"), parameter(self.numbers(()), "s")]
            self.parameters = lines
            self.pool, self.truths, self.given = list(given), [], given
            for _ in range(random.integers(1, 9)):
                self.step(lines)
            self.made = self.pool[len(given) :]

    def numbers(self, shape):
        with np.errstate(all="ignore"):
            return self.random.choice(self.values, shape).astype(self.dtype)

    def pick(self, some):
        return some[self.random.integers(len(some))]

    def other(self, lines):
        return self.pick([self.pick(self.pool), self.pick(lines), 2, -0.5, self.dtype.type(1.5)])

    def step(self, lines):
        x, kind = self.pick(self.pool), self.random.random()
        if kind < 0.4:
            self.pool.append(self.pick(ONE)(x))
        elif kind < 0.8:
            pair = [x, self.other(lines)][:: self.pick([1, -1])]
            self.pool.append(self.pick(TWO)(*pair))
        else:
            self.truths.append(self.pick(COMPARED)(x, self.other(lines)))
            self.pool.append(lodcore.where(self.pick(self.truths), x, self.pick([self.pick(self.pool), 0.0])))

    def fetched(self):
        """Draw which results are fetched, and some bools."""
        some = [v for v in [*self.made, *self.truths] if self.random.random() < 0.4]
        return some or [self.made[-1]]


def run(monkeypatch, least, program, feed, fetch):
    """Run a Program with a new Executor; return results, warnings, and the text of an error."""
    allow(monkeypatch, least)
    program.prepared.clear()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = Executor().run(program, feed, fetch)
        except Exception as error:
            return type(error), str(error)
    return [bits(x) for x in found], sorted(str(one.message) for one in said)


def bits(x):
    """Return type, structure and bytes of a tensor, with one nan."""
    rows = np.asarray(x.values if isinstance(x, LoDTensor) else x)
    lod = [x.lod.offsets(level).tolist() for level in range(x.num_levels)] if isinstance(x, LoDTensor) else None
    plain = rows if rows.dtype == bool else np.where(np.isnan(rows), rows.dtype.type(np.nan), rows)
    return type(x), lod, rows.dtype, rows.shape, plain.tobytes()


def agree(monkeypatch, program, feed, fetch):
    found, wanted = (run(monkeypatch, least, program, feed, fetch) for least in (1, NEVER))
    assert found == wanted
    return found


@given(SEEDS)
def test_results_and_warnings_are_those_of_the_operators_one_by_one(seed):
    with pytest.MonkeyPatch.context() as monkeypatch:
        drawn = Drawn(seed)
        agree(monkeypatch, drawn.program, drawn.feed, drawn.fetched())
        drawn = Drawn(seed, ORDINARY + EXTREME)
        fetched = drawn.fetched()
        agree(monkeypatch, drawn.program, drawn.feed, fetched)
        with np.errstate(all="ignore"):
            agree(monkeypatch, drawn.program, drawn.feed, fetched)
        with np.errstate(all="raise"):
            agree(monkeypatch, drawn.program, drawn.feed, fetched)


@given(SEEDS)
def test_gradients_are_those_of_the_operators_one_by_one(seed):
    with pytest.MonkeyPatch.context() as monkeypatch:
        drawn = Drawn(seed)
        with drawn.program:
            loss = lodcore.ops.sum(drawn.made[-1])
            if seed % 2:
                loss = loss + lodcore.ops.sum(drawn.pick(drawn.made) * 2.0)
            gradients = append_backward(loss, parameters=[*drawn.given, *drawn.parameters[: seed % 3]])
        inner = [f"{v.name}@GRAD" for v in drawn.made if f"{v.name}@GRAD" in drawn.program.names]
        some = [name for name in inner if drawn.random.random() < 0.3]
        for fetch in ([loss, *gradients], gradients[:1], [*some, *gradients], []):
            agree(monkeypatch, drawn.program, drawn.feed, fetch)
            with np.errstate(all="ignore"):
                agree(monkeypatch, drawn.program, drawn.feed, fetch)


@given(SEEDS)
def test_scopes_show_all_values(seed):
    with pytest.MonkeyPatch.context() as monkeypatch, np.errstate(all="ignore"):
        drawn, shown = Drawn(seed), []
        for least in (1, NEVER):
            allow(monkeypatch, least)
            drawn.program.prepared.clear()
            executor = Executor()
            executor.run(drawn.program, drawn.feed, [drawn.made[-1]])
            (record,) = executor.scope.kids
            shown.append({name: bits(record.find_var(name).get()) for name in record.local_var_names()})
        assert shown[0] == shown[1]


@given(SEEDS)
def test_saved_programs_and_clones_have_the_same_results(seed):
    with pytest.MonkeyPatch.context() as monkeypatch, np.errstate(all="ignore"):
        drawn = Drawn(seed)
        fetched = [drawn.made[-1]]
        want = run(monkeypatch, NEVER, drawn.program, drawn.feed, fetched)
        assert run(monkeypatch, 1, drawn.program.clone(for_test=True), drawn.feed, fetched) == want
        file = io.BytesIO()
        lodcore.save(file, drawn.program)
        file.seek(0)
        assert run(monkeypatch, 1, lodcore.load(file), drawn.feed, [fetched[0].name]) == want


@given(SEEDS)
def test_threads_give_the_same_bits(seed):
    with pytest.MonkeyPatch.context() as monkeypatch, np.errstate(all="ignore"):
        drawn = Drawn(seed, rows=2000)
        want = run(monkeypatch, NEVER, drawn.program, drawn.feed, [drawn.made[-1]])
        monkeypatch.setattr(lodcore.base.threads, "WIDE", 1)
        lodcore.set_num_threads(3)
        try:
            assert run(monkeypatch, 1, drawn.program, drawn.feed, [drawn.made[-1]]) == want
        finally:
            lodcore.set_num_threads(1)


def digest():
    """Hash the results and gradients of some Programs."""
    found = hashlib.sha256()
    with pytest.MonkeyPatch.context() as monkeypatch, np.errstate(all="ignore"):
        for seed in range(40):
            drawn = Drawn(seed)
            for exact in (run(monkeypatch, least, drawn.program, drawn.feed, drawn.made) for least in (1, NEVER)):
                found.update(repr(exact).encode())
            assert run(monkeypatch, 1, drawn.program, drawn.feed, drawn.made) == exact
    return found.hexdigest()


@pytest.mark.beyond_the_rules
def test_every_path_agrees_with_numpy():
    """Instruction sets differ in what NumPy's ufuncs return, so each is compared with the operators one by one."""
    on_each_path("tests.graph.test_chains", "digest")


def chain(rows=50, width=4, dtype="f4", levels=1):
    """Record tanh(x * w + b), and its gradient."""
    random = np.random.default_rng(0)
    with Program() as program:
        x = data("x", (None, width), dtype, num_levels=levels)
        w, b = (parameter(random.normal(size=width).astype(dtype), name) for name in "wb")
        y = lodcore.tanh(x * w + b)
    given = random.normal(size=(rows, width)).astype(dtype)
    return program, {"x": LoDTensor.from_lengths(given, [rows // 2, rows - rows // 2]) if levels else given}, y, (w, b)


def counted(program, monkeypatch, feed, fetch):
    """Return how many chains run together."""
    done = []
    together = chains.Chain.together

    def watched(self, frame):
        found = together(self, frame)
        done.append(found)
        return found

    monkeypatch.setattr(chains.Chain, "together", watched)
    program.prepared.clear()
    Executor().run(program, feed, fetch)
    monkeypatch.setattr(chains.Chain, "together", together)
    return sum(done)


def test_a_chain_runs_together_only_from_a_number_of_numbers_on(monkeypatch):
    program, feed, y, _ = chain()
    assert counted(program, monkeypatch, feed, [y]) == 1
    monkeypatch.setattr(chains, "LEAST", 200)
    assert counted(program, monkeypatch, feed, [y]) == 1
    monkeypatch.setattr(chains, "LEAST", 201)
    assert counted(program, monkeypatch, feed, [y]) == 0


def test_chains_are_sought_at_the_first_run_with_many_numbers(monkeypatch):
    """The numbers are fed, or computed by operators; every later run uses the chains."""
    with Program() as program:
        x = data("x", (None, 1), "f8")
        y = lodcore.tanh(lodcore.matmul(x, np.ones((1, 50))) * 2.0 + 1.0)
    looked = []
    chains_of = chains.chains_of
    monkeypatch.setattr("lodcore.graph.executor.chains_of", lambda *given: looked.append(1) or chains_of(*given))
    allow(monkeypatch, 100)
    for rows, count in ((1, 0), (3, 1), (1, 1), (3, 1), (200, 1)):
        Executor().run(program, {"x": np.ones((rows, 1))}, [y])
        assert len(looked) == count
    program.prepared.clear()
    Executor().run(program, {"x": np.ones((200, 1))}, [y])
    assert len(looked) == 2


def test_a_chain_makes_only_the_results_that_are_read(monkeypatch):
    program, feed, y, _ = chain()
    executor, frames = Executor(), []
    completed = chains.Chain.looked
    monkeypatch.setattr(chains.Chain, "looked", lambda self, frame: (frames.append(frame), completed(self, frame))[1])
    executor.run(program, feed, [y])
    assert executor.scope.kids[0].local_var_names() == ["x", "w", "b", "mul", "add", "tanh"]
    assert sum(isinstance(x, LoDTensor) for x in frames[0]) == 2


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(lambda x: x[:, ::2], id="gaps"),
        pytest.param(lambda x: np.asfortranarray(x[:, :4]), id="by columns"),
        pytest.param(lambda x: x[:0, :4], id="empty"),
        pytest.param(lambda x: x[:1, :4], id="one row"),
        pytest.param(lambda x: np.frombuffer(b"0" + x[:, :4].tobytes(), "f4", offset=1).reshape(-1, 4), id="unaligned"),
    ],
)
def test_rows_in_unusual_memory_have_the_same_results(monkeypatch, given):
    program, _, y, _ = chain(levels=0)
    agree(monkeypatch, program, {"x": given(np.random.default_rng(1).normal(size=(6, 8)).astype("f4"))}, [y])


def test_sequences_with_equal_structures_that_are_not_the_same(monkeypatch):
    with Program() as program:
        x, z = (data(name, (None, 4), "f8", num_levels=1) for name in "xz")
        y = (x * 2.0 - z) * z
    rows = np.random.default_rng(1).normal(size=(6, 4))
    feed = {name: LoDTensor.from_lengths(rows, [2, 4]) for name in "xz"}
    assert counted(program, monkeypatch, feed, [y]) == 1
    (found,) = Executor().run(program, feed, [y])
    assert found.lod is feed["x"].lod or found.lod == feed["x"].lod
    feed["z"] = LoDTensor.from_lengths(rows, [3, 3])
    kind, says = agree(monkeypatch, program, feed, [y])
    assert kind is lodcore.LoDError
    assert says.startswith("minus: ")


def test_rows_that_broadcast_run_one_by_one(monkeypatch):
    with Program() as program:
        x, z = (data(name, (None, None), "f8") for name in "xz")
        y = (x + z) * z
    rows = np.random.default_rng(1).normal(size=(6, 4))
    for other in (rows, rows[:1].copy(), rows[:, :1].copy(), rows[:5].copy()):
        agree(monkeypatch, program, {"x": rows, "z": other}, [y])


def test_get_of_a_deferred_value_raises_after_its_feed_was_changed():
    program, feed, y, _ = chain(levels=0)
    executor = Executor()
    executor.run(program, feed, [y])
    feed["x"][0] += 1
    (record,) = executor.scope.kids
    assert set(record.local_var_names()) == {"x", "w", "b", "mul", "add", "tanh"}
    assert isinstance(record.find_var("tanh").get(), np.ndarray)
    with pytest.raises(lodcore.GraphError, match=r"^Scope: mul: is computed on access"):
        record.find_var("mul").get()


def test_all_values_are_kept_where_scopes_are(monkeypatch):
    program, feed, y, _ = chain(levels=0)
    executor = Executor()
    executor.run(program, feed, [y], keep_scopes=True)
    feed["x"][0] += 1
    assert executor.scope.kids[0].find_var("mul").get().shape == (50, 4)


def test_a_gradient_needs_its_own_memory(monkeypatch):
    """Two gradients that are one array are given as two."""
    with Program() as program:
        x, z = (data(name, (None, 4), "f8") for name in "xz")
        loss = lodcore.ops.sum((x + z) * 2.0)
        gradients = append_backward(loss, parameters=[x, z])
    rows = np.ones((3, 4))
    one, other = Executor().run(program, {"x": rows, "z": rows.copy()}, gradients)
    assert not np.shares_memory(one, other)


@pytest.mark.parametrize("ids", [[0, 2, 2], []])
def test_gradients_of_a_table_that_a_chain_computes_and_others_only_look_up(monkeypatch, ids):
    """The gradient of the table is sparse."""
    with Program() as program:
        w, x = parameter(np.linspace(-1, 1, 20).reshape(5, 4), "w"), data("x", (None, 4), "f8")
        rows = lodcore.lookup_table(lodcore.tanh(x * w + 1.0), data("ids", (None,), "i8"))
        gradients = append_backward(lodcore.ops.sum(rows * rows), parameters=[w, x])
    feed = {"x": np.ones((5, 4)), "ids": np.array(ids, int)}
    assert counted(program, monkeypatch, feed, gradients) == 1
    found, _ = agree(monkeypatch, program, feed, gradients)
    assert [one[0] for one in found] == [np.ndarray] * 2


def test_user_defined_operator_is_not_part_of_a_chain(monkeypatch):
    calls = []

    @lodcore.ops.elementwise_operator
    def clipped(x):
        calls.append(type(x))
        return np.minimum(x, 0.5)

    with Program() as program:
        x = data("x", (None, 4), "f8")
        y = clipped(x * 2.0 + 1.0) * 3.0 - 1.0
    calls.clear()
    assert counted(program, monkeypatch, {"x": np.ones((3, 4))}, [y]) == 2
    assert calls == [np.ndarray]


def test_training_in_a_program_has_the_same_parameters(monkeypatch):
    found = []
    for least in (1, NEVER):
        allow(monkeypatch, least)
        program, feed, y, (w, b) = chain()
        with program:
            loss = lodcore.ops.sum(y * y)
            d_w, d_b = append_backward(loss, parameters=[w, b])
            w.update(w - 0.1 * d_w)
            b.update(b - 0.1 * d_b)
        executor = Executor()
        losses = [executor.run(program, feed, [loss])[0] for _ in range(3)]
        found.append([np.asarray(losses).tobytes(), executor.scope.get(w).tobytes(), executor.scope.get(b).tobytes()])
    assert found[0] == found[1]


def test_groups_are_neighbours_that_share_rows():
    with Program() as program:
        x, z = (data(name, (None, 4), "f8") for name in "xz")
        w = parameter(np.ones((4, 4)), "w")
        a = x * 2.0 + 1.0
        c = z * 3.0 - 1.0
        d = lodcore.matmul(a, w) * 2.0 + a
        lodcore.ops.cast(d, "f4") * 2.0
        (x * 2.0).sum()
        e = c + a
        e * e
    names = [[op.outputs[0].name for op in ops] for ops, _ in groups_of(program.ops)]
    assert names == [["mul", "add"], ["mul_1", "minus"], ["mul_2", "add_1"], ["add_2", "mul_5"]]


def lines_that_run(f):
    """Count the lines of Python that a call runs, each round of a loop anew."""
    count, before = 0, sys.gettrace()

    def trace(frame, event, arg):
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        f()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("shown", [str, Program.to_dot, lambda program: list(groups_of(program.ops))])
def test_a_long_chain_is_found_and_shown_in_linear_time(shown):
    """4 times the operators: at most 5 times the lines, where what is quadratic takes 16."""
    counts = []
    for size in (50, 50, 200):  # the first call loads modules
        with Program() as program:
            y = data("x", (None,), "f8") * parameter(np.ones(1), "w")
            for _ in range(size):
                y = lodcore.tanh(y * 1.1)
            append_backward(lodcore.ops.sum(y))
        counts.append(lines_that_run(lambda program=program: shown(program)))
    assert counts[2] <= 5 * counts[1]


def test_one_number_for_each_row_ends_a_chain(monkeypatch):
    """Its neighbours still run together."""
    with Program() as program:
        x, scale = data("x", (None, 4), "f8"), data("scale", (None, 1), "f8")
        y = lodcore.tanh((x * 2.0 + 1.0) * scale * 3.0 - 1.0)
    names = [[op.outputs[0].name for op in ops] for ops, _ in groups_of(program.ops)]
    assert names == [["mul", "add"], ["mul_2", "minus", "tanh"]]
    feed = {"x": np.ones((5, 4)), "scale": np.arange(5.0).reshape(5, 1)}
    assert counted(program, monkeypatch, feed, [y]) == 2
    agree(monkeypatch, program, feed, [y])


def test_str_and_to_dot_of_a_program_show_chains():
    program, _, y, _ = chain()
    with program:
        lodcore.ops.sum(y)
    lines = str(program).splitlines()
    at = lines.index("    together, if rows are many:")
    assert [line.split(" = ")[0] for line in lines[at + 1 :]] == [
        *["        mul", "        add", "        tanh", "    reduce_values"]
    ]
    picture = program.to_dot().splitlines()
    at = picture.index('        label="together, if rows are many";')
    assert all(f'label="{name}"' in line for name, line in zip(["mul", "add", "tanh"], picture[at + 1 :], strict=False))
    assert picture[at + 4] == "    }"


def test_a_profile_names_chains():
    program, feed, y, (w, b) = chain()
    with program:
        loss = lodcore.ops.sum(y)
        gradients = append_backward(loss, parameters=[w, b])
    profile = Executor().profile(program, feed, [loss, *gradients])
    names = {row.operator: row.calls for row in profile.rows}
    assert names["chain of 3 operators"] == names["chain of 3 operators_grad"] == 1
    assert not {"mul", "add", "tanh", "tanh_grad"} & names.keys()


def test_memory_that_is_missing_is_named_as_without_chains(monkeypatch):
    program, feed, y, _ = chain()

    def empty(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(chains.np, "empty", empty)
    assert counted(program, monkeypatch, feed, [y]) == 0


def test_pairs_of_operators_agree(monkeypatch):
    """Each operator of one operand behind each other, on numbers that are not ordinary, too."""
    rows = np.array([*ORDINARY, *EXTREME] * 3, "f4").reshape(-1, 1)
    with Program() as program:
        x = data("x", (None, 1), "f4")
        results = [second(first(x)) for first, second in itertools.product(ONE, ONE)]
    with np.errstate(all="ignore"):
        for result in results:
            agree(monkeypatch, program, {"x": rows}, [result])


def test_chain_with_a_number_that_overflows_the_dtype_warns_in_every_run(monkeypatch):
    """NumPy warns where 1e300 becomes a float32, in each call; a program that was compiled once would not."""
    rows = np.array(ORDINARY, "f4").reshape(-1, 1)
    with Program() as program:
        x = data("x", (None, 1), "f4")
        results = [lodcore.tanh(x - 1e300), lodcore.where(x > 0, 1e300, x) + 1.0]
    for result in results:
        executor = Executor()
        for _ in range(2):
            with pytest.warns(RuntimeWarning, match="overflow encountered in cast") as found:
                executor.run(program, {"x": rows}, [result])
            assert len(found) == 1
    for result in results:
        agree(monkeypatch, program, {"x": rows}, [result])
