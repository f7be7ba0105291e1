"""Programs: text and picture, feeding and fetching, shapes at recording, gradients as operators."""

import os
import re
import signal
import sys
import threading

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, GraphError, LoDError, LoDTensor, ShapeError, TensorArray, ops, vjp
from lodcore.graph import Executor, Program, VarArray, append_backward, data, parameter, while_loop
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import rows_of

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = lodcore.LoDTensor.from_lengths(np.arange(10.0).reshape(5, 2), [2, 0, 3])


def classifier():
    """Record a small network with a loss."""
    with Program() as program:
        x = data("x", (None, 2), "float64", num_levels=1)
        labels = data("labels", (None,), "int64")
        w = parameter(np.array([[1.0, 0.0, -1.0], [0.5, 0.0, 0.5]]), "w")
        b = parameter(np.zeros(3), "b")
        pooled = lodcore.sequence_pool(lodcore.tanh(x), "mean")
        scores = lodcore.add(lodcore.matmul(pooled, w), b)
        loss = ops.mean(lodcore.cross_entropy(scores, labels))
    return program, (x, labels, w, b, scores, loss)


def looped(steps=3):
    with Program() as program:
        x = data("x", (None, 2), "float64", num_levels=1)
        w = parameter(np.array([[0.5, 0.1], [0.2, 0.3]]), "w")
        states = TensorArray()
        loop = while_loop()
        with loop.loop():
            time, s = loop.step(), loop.loop_var(x)
            loop.break_if(lodcore.equal(time, steps))
            states.write(time, s)
            s.update(lodcore.tanh(lodcore.matmul(s, w)))
        loss = ops.sum(lodcore.mul(s, states.read(1)))
    return program, (x, w, s, loss)


# -- text and picture ------------------------------------------------------------------------------------------------


def test_str_of_a_program_lists_its_operators():
    program, (_, _, _, _, _, loss) = classifier()
    append_backward(loss)
    lines = [line for line in str(program).splitlines() if not line.startswith("    reduce_values = ")]
    assert lines == [
        "program:",
        "    data x: float64 (., 2), 1 level",
        "    data labels: int64 (.,)",
        "    parameter w: float64 (2, 3)",
        "    parameter b: float64 (3,)",
        "    tanh = tanh(x=x)  # float64 (., 2), 1 level",
        "    sequence_pool = sequence_pool(x=tanh, pool_type='mean', pad_value=0.0, level=-1)  # float64 (., 2)",
        "    matmul = matmul(x=sequence_pool, y=w)  # float64 (., 3)",
        "    add = add(x=matmul, y=b)  # float64 (., 3)",
        "    cross_entropy = cross_entropy(logits=add, labels=labels, label_smoothing=0.0, ignore_index=None)"
        "  # float64 (.,)",
        "    reduce_values@GRAD = ones(reduce_values)",
        "    cross_entropy@GRAD += reduce_values_grad(cross_entropy, reduce_values@GRAD)",
        "    add@GRAD += cross_entropy_grad(add, labels, cross_entropy@GRAD)",
        "    matmul@GRAD, b@GRAD += add_grad(matmul, b, add@GRAD)",
        "    sequence_pool@GRAD, w@GRAD += matmul_grad(sequence_pool, w, matmul@GRAD)",
        "    tanh@GRAD += sequence_pool_grad(tanh, sequence_pool@GRAD)",
        "    x@GRAD += tanh_grad(x, tanh@GRAD)",
    ]
    assert repr(program) == f"<Program of {len(program.ops)} operators>"


def test_str_of_a_program_with_a_loop_indents_its_body():
    program, _ = looped()
    text = str(program)
    for line in (
        "        loop step = 0, +1  # int64 ()",
        "        loop x_1 = x  # float64 (., 2), 1 level",
        "    array = tensor_array_new(size=None, dynamic=True, unstack_from=None, repeated=False)  # TensorArray",
        "        loop array_1 = array  # TensorArray",
        "        outer w_1 = w  # float64 (., 2)",
        "        break_if(equal)",
        "        tensor_array_write = tensor_array_write(ta=array_1, index=step, x=x_1, data_shared=True)",
        "        x_1.update(tanh)",
    ):
        assert line in text, text
    assert "array.update" not in text
    names = re.findall(r"^ {4}(\w+) = ", text, re.MULTILINE)
    assert len(set(names)) == len(names), "names differ in a Block"


def test_automatic_names_do_not_depend_on_which_is_read_first():
    program, (*_, loss) = classifier()
    other, _ = classifier()
    assert loss.name == "reduce_values"
    assert str(program) == str(other)


def parsed(dot):
    """Parse nodes, edges and clusters of a picture; reject anything else than dot."""
    lines = [line.strip() for line in dot.splitlines()]
    assert lines[0] == "digraph program {"
    assert sum(line.endswith("{") for line in lines) == sum(line == "}" for line in lines)
    nodes, edges, clusters = {}, [], 0
    for line in lines[1:]:
        if match := re.fullmatch(r'(n\d+) \[(shape=box, )?label="((?:[^"\\]|\\.)*)"\];', line):
            assert match[1] not in nodes
            nodes[match[1]] = match[3]
        elif match := re.fullmatch(r"(n\d+) -> (n\d+)( \[style=dashed\])?;", line):
            edges.append((match[1], match[2]))
        elif line.startswith("subgraph cluster_"):
            clusters += 1
        else:
            assert line == "}" or line.startswith(("node [", 'label="')), line
    assert {end for edge in edges for end in edge} <= nodes.keys()
    return nodes, [(nodes[a], nodes[b]) for a, b in edges], clusters


def test_to_dot_of_a_program_has_a_node_for_each_operator():
    program, (*_, loss) = looped()
    append_backward(loss)
    nodes, edges, clusters = parsed(program.to_dot())
    assert clusters == 1
    assert ("x: float64 (., 2), 1 level", "while_loop") in edges
    assert ("matmul: float64 (., 2), 1 level", "tanh") in edges
    assert ("update", "x_1: float64 (., 2), 1 level") in edges
    assert ("while_loop_grad", "w@GRAD: float64 (2, 2)") in edges
    assert list(nodes.values()).count("break_if") == 1


def test_a_picture_with_strange_names():
    with Program() as program:
        lodcore.mul(data('a "b" \\ \n c', (2,)), 2.0)
    nodes, _, _ = parsed(program.to_dot())
    assert any(text.startswith('a \\"b\\" \\\\ \\n c: ') for text in nodes.values())
    assert 'a "b"' in str(program)


# -- feeding and fetching --------------------------------------------------------------------------------------------


def test_executor_run_returns_what_is_fetched_in_any_form():
    program, (x, labels, w, _, scores, loss) = classifier()
    run = Executor().run
    feed = {"x": X, labels: np.array([0, 1, 2])}
    found = run(program, feed, [scores, "w", loss, x, scores])
    pooled = lodcore.sequence_pool(lodcore.tanh(X), "mean")
    np.testing.assert_array_equal(found[0], pooled @ w.get())
    np.testing.assert_array_equal(found[1], w.get())
    assert found[3] is X
    np.testing.assert_array_equal(found[0], found[4])
    assert run(program, feed) == []
    np.testing.assert_array_equal(run(program, {"x": X}, [scores])[0], found[0], "labels are not on the way")


def test_executor_run_skips_operators_that_no_fetch_needs(monkeypatch):
    calls = []
    plain = lodcore.tanh.__wrapped__
    monkeypatch.setattr(lodcore.tanh, "__wrapped__", lambda x: calls.append(1) or plain(x))
    monkeypatch.setattr(lodcore.tanh, "on_arrays", None)
    with Program() as program:
        x = data("x", (2,), "float64")
        y = lodcore.mul(x, 2.0)
        z = lodcore.tanh(y)
    executor = Executor()
    executor.run(program, {"x": np.ones(2)}, [y])
    assert not calls
    executor.run(program, {"x": np.ones(2)}, [z])
    executor.run(program, {"x": np.ones(2)})
    assert len(calls) == 2
    assert set(executor.scope.local_var_names()) == {"x", "mul", "tanh"}
    np.testing.assert_array_equal(executor.scope.find_var("mul").get(), [2.0, 2.0])


def test_a_program_may_grow():
    with Program() as program:
        x = data("x", (2,), "float64")
        y = lodcore.mul(x, 2.0)
    executor = Executor()
    assert executor.run(program, {"x": np.ones(2)}, [y])[0].tolist() == [2, 2]
    assert executor.run(program, {"x": np.ones(2)}) == []
    z = lodcore.add(y, 1.0)  # later, on its Variables
    with program:
        w = lodcore.mul(np.ones(2), z)
    assert executor.run(program, {"x": np.ones(2)}, [z, w])[1].tolist() == [3, 3]
    assert executor.run(program, {"x": np.ones(2)}) == []
    assert executor.scope.find_var(w.name).get().tolist() == [3, 3], "what was recorded later runs, too"
    assert [op.name for op in program.ops] == ["mul", "add", "mul"]
    with pytest.raises(GraphError, match="is open already"), program, program:
        pass


@pytest.mark.parametrize("kind", [TensorArray, VarArray])
def test_results_of_methods_have_the_requested_names(kind):
    with Program():
        x, steps, rows = data("x", (None, 2), "float64", num_levels=1), kind(), kind()
        steps.unpack(x, 0)
        rows.unstack(data("dense", (3, 2), "float64"))
        calls = [
            (steps.read, 0),
            (steps.size,),
            (steps.sizes,),
            (rows.stack,),
            (rows.concat,),
            (steps.pack, 0, steps.rank),
        ]
        if kind is VarArray:
            calls.append((steps.pack, kind().segment(x)))
        for at, (method, *args) in enumerate(calls):
            assert method(*args, name=f"result {at}").name == f"result {at}"


def test_parameters_are_variables_that_nothing_computes():
    with Program() as program:
        w = parameter(np.ones(2), "w")
        doubled = w * 2.0  # computed at once
        array = TensorArray(name="a")
        array.write(0, w)
        pair = ops.add(doubled, data("x", (2,), "float64"))
    assert doubled.has_value
    assert not pair.has_value
    assert program.parameters == [w]


def test_arrays_from_outside_are_no_parameters():
    outside = TensorArray()
    outside.write(0, np.ones(2))
    with Program() as program:
        w = parameter(np.full(2, 3.0), "w")
        loss = ops.sum(lodcore.mul(outside.read(0), w))
        pairs = append_backward(loss)
    assert program.parameters == [w]
    assert [x for x, _ in pairs] == [w]
    assert Executor().run(program, fetch=[pairs[0][1]])[0].tolist() == [1, 1]


@for_each("count", [0, 2, 3])
def test_the_loss_is_one_number_when_it_runs(count):
    with Program() as program:
        loss = lodcore.mul(data("x", (None,), "f4"), parameter(np.full(1, 2, "f4"), "w"))
        ((_, gradient),) = append_backward(loss)
    assert Executor().run(program, {"x": np.full(1, 3, "f4")}, [gradient])[0].tolist() == [3]
    with pytest.raises(GraphError, match=rf"^append_backward: loss: has shape \({count},\); one number is needed$"):
        Executor().run(program, {"x": np.ones(count, "f4")}, [gradient])


@for_each(("declared", "given"), [("f4", ">f4"), (">f4", "f4"), ("i8", ">i8"), ("M8[s]", ">M8[s]"), ("U2", ">U2")])
def test_feeds_may_have_another_byte_order_than_the_data(declared, given):
    with Program() as program:
        x = data("x", (None,), declared)
        y = ops.index_values(x, [slice(None, None, -1)])
    fed = np.array([1, 2]).astype(given)
    (found,) = Executor().run(program, {"x": fed}, [y])
    np.testing.assert_array_equal(found, fed[::-1])
    assert found.dtype == y.spec.dtype


@for_each(("declared", "given"), [("f4", "f8"), ("i8", "i4"), ("f4", "f2"), ("f4", ">f8")])
def test_feeds_have_the_dtype_of_the_data(declared, given):
    with Program() as program:
        y = lodcore.mul(data("x", (None,), declared), 2)
    wrong = f"feed: x: has dtype {np.dtype(given)}; the Program needs {np.dtype(declared)}"
    with pytest.raises(DTypeError, match=wrong):
        Executor().run(program, {"x": np.ones(2, given)}, [y])
    assert Executor().run(program, {"x": np.ones(2, declared)}, [y])[0].tolist() == [2, 2]


def test_parameters_are_read_at_each_run():
    with Program() as program:
        w = parameter(np.ones(2), "w")
        y = lodcore.mul(w, 2.0)
    outside = lodcore.graph.Variable("v", np.array([1.0, 2.0]))
    with program:
        z = lodcore.add(y, outside)
    executor = Executor()
    assert executor.run(program, fetch=[y, z])[1].tolist() == [3, 4]
    w.set(np.array([5.0, 6.0]))
    outside.set(np.zeros(2))
    assert executor.run(program, fetch=[y, z])[1].tolist() == [10, 12]
    assert y.get().tolist() == [2, 2], "what it was when it was recorded"


@pytest.mark.parametrize(
    ("feed", "error", "says"),
    [
        ({}, GraphError, r"feed: x: float64 \(\., 2\), 1 level is not fed"),
        ({"y": X}, GraphError, "feed: y: the Program has no such data; it has x, labels"),
        ({"w": X}, GraphError, "feed: w: the Program has no such data"),
        ({5: X}, GraphError, "feed: 5: the Program has no such data"),
        ({"x": X.values}, LoDError, "feed: x: has 0 levels; the Program needs 1"),
        ({"x": lodcore.lod_append(X, lengths=[1] * 5)}, LoDError, "feed: x: has 2 levels"),
        ({"x": X.astype("float32")}, DTypeError, "feed: x: has dtype float32; the Program needs float64"),
        (
            {"x": LoDTensor(X.values[:, :1], X.lod)},
            ShapeError,
            r"feed: x: has values of shape \(5, 1\); the Program needs float64 \(\., 2\)",
        ),
        ({"x": LoDTensor(np.ones((5, 3)), X.lod)}, ShapeError, r"feed: x: has values of shape \(5, 3\)"),
        ({"x": "text"}, LoDError, "feed: x: has 0 levels"),
        ({"x": [[1.0], 2.0]}, ShapeError, "entry 1"),
        ({"x": X, "labels": [0.5, 1.0, 1.0]}, DTypeError, "feed: labels: has dtype float64; the Program needs int64"),
        ({"x": X, "labels": np.array([0, 1, 2], "int32")}, DTypeError, "feed: labels: has dtype int32"),
        ([("x", X)], DTypeError, "feed: is list; a dict"),
    ],
)
def test_executor_run_refuses_feeds_that_do_not_fit_the_data(feed, error, says):
    program, (*_, loss) = classifier()
    with pytest.raises(error, match=says):
        Executor().run(program, feed, [loss])


@pytest.mark.parametrize("lengths", [[], [[2, 0, 3]], [[1, 2], [2, 0, 3]]], ids=["dense", "1 level", "2 levels"])
@pytest.mark.parametrize("first", [5, None])
def test_every_size_of_a_feed_is_checked(first, lengths):
    """Those of inner axes, the number of axes, and that of rows if there are no levels."""
    right = (5, 2, 3, 4)
    with Program() as program:
        x = data("x", (None if lengths else first, *right[1:]), "float64", num_levels=len(lengths))
        y = lodcore.mul(x, 2.0)

    def fed(shape):
        return LoDTensor.from_lengths(np.ones(shape), *lengths) if lengths else np.ones(shape)

    assert (rows_of(Executor().run(program, {"x": fed(right)}, [y])[0]) == np.full(right, 2.0)).all()
    wrong = [(*right[:at], size, *right[at + 1 :]) for at in range(1, 4) for size in (0, 1, 5)]
    wrong += [right[:-1], (*right, 1)]
    wrong += [] if lengths or first is None else [(4, *right[1:]), (1, *right[1:])]
    for shape in wrong:
        dense_lists = [] if lengths or 0 in shape else [fed(shape).tolist()]  # lists end at an axis of size 0
        for value in [fed(shape), *dense_lists]:
            with pytest.raises(ShapeError, match=rf"feed: x: has values of shape {re.escape(str(shape))}"):
                Executor().run(program, {"x": value}, [y])


def test_executor_run_refuses_feeds_of_other_programs_and_feeds_given_twice():
    program, (x, labels, *_) = classifier()
    other, (x_of_other, *_) = classifier()
    with pytest.raises(GraphError, match="feed: x: the Program has no such data"):
        Executor().run(program, {x_of_other: X}, [x])
    with pytest.raises(GraphError, match="feed: labels: is fed twice"):
        Executor().run(program, {"labels": [1], labels: [2]}, [labels])
    with pytest.raises(GraphError, match="fetch: x: is of another Program"):
        Executor().run(program, {"x": X}, [x_of_other])
    assert other is not program


def test_what_a_clone_for_tests_lacks_cannot_be_fetched():
    with Program() as program:
        x, w = data("x", (), "float64"), parameter(1.0, "w")
        loss = x * w
        (gradient,) = append_backward(loss, parameters=[w])
        w.update(w - gradient)
    test = program.clone(for_test=True)
    assert Executor().run(test, {"x": 2.0}, [loss]) == [2.0]
    with pytest.raises(GraphError, match="fetch: w@GRAD: is left out of this clone, for tests"):
        Executor().run(test, {"x": 2.0}, [gradient])


def test_lists_are_fed_in_the_dtype_of_the_program():
    with Program() as program:
        x = data("x", (None,), "float32", num_levels=1)
        y = data("y", (), "float32")
        n = data("n", (None, 2), "int16")
    found = Executor().run(program, {"x": [[1], [2.5, 3]], "y": 2, "n": [[1, 2]]}, [x, y, n])
    assert [value.dtype for value in found] == [np.float32, np.float32, np.int16]
    assert found[0].tolist() == [[1], [2.5, 3]]
    assert Executor().run(program, {"x": [[], []], "n": [[1, 2]]}, [x])[0].dtype == np.float32
    for feed, says in [
        ({"n": [[1, 2**15]]}, "n: is 32768; int16 cannot hold it"),
        ({"y": 1e39}, "y: is 1e"),
        ({"x": [[1e39]]}, "x: "),
    ]:
        with pytest.raises(DTypeError, match=f"Executor.run: feed: {says}"):
            Executor().run(program, {"x": [[1.0]], "y": 1.0, "n": [[1, 2]], **feed}, [x, y, n])


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_empty_lists_are_fed_with_the_levels_of_the_program(levels):
    """They do not show how deep they would be."""
    with Program() as program:
        y = lodcore.mul(data("x", (None,), "float32", num_levels=levels), 2.0)
    for given in ([], [[], []], [[[]], []], [[[], [[]]]])[: levels + 1]:
        (found,) = Executor().run(program, {"x": given}, [y])
        assert (found.num_levels, len(found), found.num_rows, found.dtype) == (levels, len(given), 0, np.float32)
    with pytest.raises(LoDError, match=f"feed: x: has {levels + 1} levels; the Program needs {levels}"):
        Executor().run(program, {"x": lodcore.array([], num_levels=levels + 1)}, [y])


@pytest.mark.parametrize(
    ("fetch", "error", "says"),
    [
        (["nothing"], GraphError, "fetch: nothing: the Program has no such Variable"),
        (["equal"], GraphError, "fetch: equal: the Program has no such Variable"),
        ([5], GraphError, "fetch: is int; a Variable of the Program"),
        ([TensorArray()], GraphError, "fetch: is TensorArray"),
        ("x", DTypeError, "fetch: is str; a list"),
        (5, DTypeError, "fetch: is int; a list"),
        (None, DTypeError, "fetch: is NoneType; a list"),
    ],
)
def test_executor_run_refuses_to_fetch_what_the_program_does_not_have(fetch, error, says):
    program, _ = looped()
    with pytest.raises(error, match=says):
        Executor().run(program, {"x": X}, fetch)
    with pytest.raises(DTypeError, match="fetch: is Variable"):
        Executor().run(program, {"x": X}, program.feeds[0])
    with pytest.raises(DTypeError, match="program: is str"):
        Executor().run("program")


def test_errors_of_a_run_name_the_operator():
    with Program() as program:
        x = data("x", (None,), "float64")
        y = lodcore.mul(x, data("y", (None,), "float64"))
    with pytest.raises(ShapeError, match="mul: shapes"):
        Executor().run(program, {"x": np.ones(2), "y": np.ones(3)}, [y])


@for_each("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_an_exception_while_it_is_recorded_closes_it(error):
    array, program, made = TensorArray(), Program(), []

    def fails():
        with program:
            made.append(data("x", (2,)))
            array.write(0, np.ones(2))
            raise error

    with pytest.raises(error):
        fails()
    (x,) = made
    assert array.size() == 0
    assert array.block is None
    assert array.variable is None
    array.write(0, 1.0)
    with pytest.raises(GraphError, match="Variable x: was made in a Block that is closed"):
        lodcore.mul(x, 2.0)
    for wrong in (lambda: Executor().run(program), lambda: program.__enter__()):
        with pytest.raises(GraphError, match="left by an error"):
            wrong()


def test_variables_with_values_compute_at_once():
    array = TensorArray()
    with Program() as program:
        w = parameter(np.ones(2), "w")
        y = lodcore.mul(w, 2.0)
        array.write(0, y)
        assert y.get().tolist() == [2, 2]
        assert float(ops.sum(y).get()) == 4.0
    assert array.size() == 0, "a Program leaves what is outside alone"
    assert len(program.ops) == 3


def test_a_program_opened_within_another_records_its_own_operators():
    with Program() as outer:
        x = data("x", (2,), "float64")
        with Program() as inner:
            y = data("x", (2,), "float64")
            lodcore.mul(y, 2.0)
        lodcore.mul(x, 3.0)
    assert [len(program.ops) for program in (outer, inner)] == [1, 1]


# -- shapes while it is recorded ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x, d: lodcore.matmul(x, np.ones((3, 2))), ShapeError, "matmul: x, y: have"),
        (lambda x, d: lodcore.matmul(x, 2), ShapeError, "matmul: x, y: have"),
        (lambda x, d: lodcore.matmul(x, "two"), (DTypeError, ShapeError), "matmul: "),
        (lambda x, d: lodcore.sequence_expand(x, 5), DTypeError, "sequence_expand: y: is int; a LoDTensor"),
        (lambda x, d: lodcore.concat_batches(x), DTypeError, "concat_batches: xs: is LoDTensor; a list is needed"),
        (lambda x, d: lodcore.sequence_concat(d), DTypeError, "sequence_concat: xs: is ndarray; a list is needed"),
        (lambda x, d: ops.concat_values(x, 0), DTypeError, "concat_values: xs: is LoDTensor; a list is needed"),
        (lambda x, d: ops.index_values(x, 5), DTypeError, "index_values: keys: is int; a list is needed"),
        (lambda x, d: lodcore.sequence_conv(5, d, 1), (DTypeError, LoDError), "sequence_conv: "),
        (lambda x, d: lodcore.add(x, np.ones(3)), ShapeError, "add: y: has length 3 on axis 2"),
        (lambda x, d: lodcore.matmul(d, x), LoDError, "matmul: y: has levels"),
        (lambda x, d: lodcore.sequence_pool(d, "sum"), DTypeError, "x: is ndarray; a LoDTensor"),
        (lambda x, d: lodcore.sequence_pool(x, "sum", level=1), LoDError, "level: is 1; there is 1 level"),
        (lambda x, d: TensorArray.unpack(d, 0), DTypeError, "x: is ndarray; a LoDTensor"),
        (lambda x, d: TensorArray.unpack(x, 1), LoDError, "level"),
        (lambda x, d: lodcore.tensor_array_unstack(d, 5), ShapeError, "axis"),
        (lambda x, d: lodcore.tensor_array_stack(TensorArray.unstack(d), 7), ShapeError, "axis"),
        (lambda x, d: lodcore.tensor_array_concat(TensorArray.unstack(d), 7), ShapeError, "axis"),
        (lambda x, d: lodcore.mul(x), TypeError, "argument"),
        (lambda x, d: lodcore.mul(x, d, 5, 6), TypeError, "argument"),
        (lambda x, d: lodcore.mul(x, z=d), TypeError, "argument"),
        (lambda x, d: lodcore.mul(x, None), DTypeError, "mul"),
        (lambda x, d: lodcore.mul(x, [[1], [1, 2]]), ShapeError, "mul: y: is nested unevenly"),
        (lambda x, d: lodcore.mul(x, np.array([None])), DTypeError, "mul: y: has dtype object"),
        (lambda x, d: lodcore.sequence_reverse(x, out=np.ones((5, 2))), GraphError, "out: a recorded result"),
    ],
)
def test_wrong_calls_raise_while_they_are_recorded(call, error, says):
    with Program():
        x, dense = data("x", (None, 2), "float64", num_levels=1), data("d", (None, 2), "float64")
        with pytest.raises(error, match=says):
            call(x, dense)


def test_operators_with_constants_before_variables_keep_the_order_of_arguments():
    """Arguments are in the order of the operator's parameters, wherever the Variable is."""
    with Program() as program:
        pad = data("pad", (), "float64")
        n = data("n", (), "int64")
        y = lodcore.sequence_pool(X, "sum", pad)
        z = lodcore.mul(2.0, pad)
        r = TensorArray(unstack_from=np.arange(3.0)).read(n)
    found = Executor().run(program, {"pad": 7.0, "n": 1}, [y, z, r])
    np.testing.assert_array_equal(found[0], lodcore.sequence_pool(X, "sum", 7.0))
    assert found[1:] == [14.0, 1.0]
    assert list(program.ops[0].arguments) == ["x", "pool_type", "pad_value", "level"]
    assert program.ops[0].attrs["pool_type"] == "sum"


# -- gradients as operators --------------------------------------------------------------------------------------------


def test_gradients_of_append_backward_equal_those_of_vjp():
    for (program, (*_, loss)), function in [(classifier(), small), (looped(), small_loop)]:
        feed = {"x": X} | ({"labels": np.array([0, 1, 2])} if function is small else {})
        pairs = append_backward(loss)
        assert [v.name for v, _ in pairs] == [v.name for v in program.parameters]
        names = ["x@GRAD", *(d.name for _, d in pairs)]
        assert names[1:] == [f"{v.name}@GRAD" for v, _ in pairs]
        found = Executor().run(program, feed, [loss, *names])
        value, pullback = vjp(function, X, *[v.get() for v, _ in pairs])
        assert float(value) == float(found[0])
        for one, other in zip(found[1:], pullback(1.0), strict=True):
            assert type(one) is type(other)
            np.testing.assert_array_equal(rows_of(one), rows_of(other))


def test_gradients_of_single_precision_have_the_bits_of_vjp():
    random = np.random.default_rng(0)
    x = random.normal(size=(40, 3)).astype(np.float32)
    for f in (
        lambda x: ops.mean(lodcore.tanh(x * x)),
        lambda x: lodcore.mul(ops.sum(ops.exp(x)), np.float32(1 / 3)),
        lambda x: ops.sum(ops.sqrt(x * x + np.float32(0.1))) / 7,
    ):
        with Program() as program:
            append_backward(f(data("x", (40, 3), "float32")))
        (found,) = Executor().run(program, {"x": x}, ["x@GRAD"])
        value, pullback = vjp(f, x)
        (wanted,) = pullback(1.0)
        assert value.dtype == found.dtype == wanted.dtype == np.float32
        np.testing.assert_array_equal(found, wanted)


def small(x, w, b):
    scores = lodcore.add(lodcore.matmul(lodcore.sequence_pool(lodcore.tanh(x), "mean"), w), b)
    return ops.mean(lodcore.cross_entropy(scores, np.array([0, 1, 2])))


def small_loop(s, w):
    states = []
    for _ in range(3):
        states.append(s)
        s = lodcore.tanh(lodcore.matmul(s, w))
    return ops.sum(lodcore.mul(s, states[1]))


def test_gradients_that_are_not_fetched_are_not_computed(monkeypatch):
    program, (*_, loss) = classifier()
    append_backward(loss)
    seen = []
    matmul, tanh = lodcore.matmul, lodcore.tanh
    of_matmul, of_tanh = matmul.vjp_rule, tanh.vjp_rule

    def seen_matmul(d, x, y, needs):
        seen.append(list(needs))
        return of_matmul(d, x, y, needs)

    def seen_tanh(d, out):
        seen.append("tanh")
        return of_tanh(d, out)

    monkeypatch.setattr(matmul, "only_rule", matmul.prepared_rule(seen_matmul))
    monkeypatch.setattr(tanh, "only_rule", tanh.prepared_rule(seen_tanh))
    feed = {"x": X, "labels": np.array([0, 1, 2])}
    for fetch, wanted in [
        (["w@GRAD"], [[False, True]]),
        (["x@GRAD"], [[True, False], "tanh"]),
        (["b@GRAD"], []),
        (["x@GRAD", "w@GRAD"], [[True, True], "tanh"]),
        ([loss], []),
        ([], [[True, True], "tanh"]),
    ]:
        seen.clear()
        Executor().run(program, feed, fetch)
        assert seen == wanted, fetch


def test_gradients_of_intermediate_variables_can_be_fetched():
    program, (_, _, _, _, scores, loss) = classifier()
    append_backward(loss)
    feed = {"x": X, "labels": np.array([0, 1, 2])}
    found = Executor().run(program, feed, ["add@GRAD", "tanh@GRAD", scores, "reduce_values@GRAD"])
    one_hot = np.eye(3)
    np.testing.assert_allclose(found[0], (lodcore.softmax(found[2]) - one_hot) / 3)
    assert found[1].lod is X.lod, "a gradient has the type of what it belongs to"
    assert found[3] == 1.0


def test_gradients_of_variables_that_several_operators_read_are_sums():
    """A gradient is complete after the last of them, whether it is fetched or read."""
    with Program() as program:
        x, w = data("x", (2,), "float64"), parameter(np.array([1.0, 2.0]), "w")
        hidden = lodcore.mul(x, w, name="hidden")
        loss = ops.sum(hidden * hidden) + ops.sum(lodcore.mul(x, hidden)) + ops.sum(x * 3.0) + ops.sum(w)
        ((_, d_w),) = append_backward(loss)
        stepped = lodcore.minus(w, lodcore.mul(d_w, 0.5))
    x, w = np.array([2.0, 3.0]), np.array([1.0, 2.0])
    d_hidden = 2 * x * w + x
    wanted = {"x@GRAD": d_hidden * w + x * w + 3, "w@GRAD": d_hidden * x + 1, "hidden@GRAD": d_hidden}
    for names in (["x@GRAD"], ["w@GRAD"], ["hidden@GRAD"], ["x@GRAD", "hidden@GRAD", "w@GRAD"]):
        for found, name in zip(Executor().run(program, {"x": x}, names), names, strict=True):
            np.testing.assert_allclose(found, wanted[name], rtol=1e-12)
    np.testing.assert_allclose(Executor().run(program, {"x": x}, [stepped])[0], w - wanted["w@GRAD"] / 2, rtol=1e-12)


def test_gradients_may_be_computed_with():
    with Program() as program:
        x = data("x", (None, 2), "float64", num_levels=1)
        w = parameter(np.array([1.0, 2.0]), "w")
        ((_, gradient),) = append_backward(ops.sum(lodcore.mul(x, w)))
        stepped = lodcore.minus(w, lodcore.mul(gradient, 0.5))
        pooled = lodcore.sequence_pool(program.var("x@GRAD"), "sum")
    found = Executor().run(program, {"x": X}, [stepped, pooled])
    np.testing.assert_array_equal(found[0], [1.0, 2.0] - 0.5 * X.values.sum(0))
    np.testing.assert_array_equal(found[1], [[2, 4], [0, 0], [3, 6]])


def test_gradients_of_unused_parameters_are_zeros():
    with Program() as program:
        w, unused = parameter(np.ones(2), "w"), parameter(np.ones(2), "unused")
        first = TensorArray()
        first.write(0, lodcore.mul(unused, 2.0))
        first.write(0, w)
        loss = ops.sum(first.read(0))
        pairs = append_backward(loss)
    assert {v.name for v, _ in pairs} == {"w", "unused"}
    found = dict(zip([v.name for v, _ in pairs], Executor().run(program, {}, [d for _, d in pairs]), strict=True))
    assert found["w"].tolist() == [1, 1]
    assert found["unused"].tolist() == [0, 0], "it was overwritten"


def test_append_backward_of_two_losses_gives_the_gradients_of_each():
    with Program() as program:
        w = parameter(np.array([1.0, 2.0]), "w")
        first, second = ops.sum(lodcore.mul(w, w)), ops.sum(lodcore.mul(w, 3.0))
        ((_, a),) = append_backward(first)
        ((_, b),) = append_backward(second)
        ((_, c),) = append_backward(ops.sum(lodcore.mul(lodcore.mul(w, w), w)) + first)
        ((_, d),) = append_backward(second)
    assert [one.name for one in (a, b, c, d)] == ["w@GRAD", "w@GRAD_1", "w@GRAD_2", "w@GRAD_3"]
    found = Executor().run(program, {}, [a, b, a, c, d])
    assert [value.tolist() for value in found] == [[2, 4], [3, 3], [2, 4], [5, 16], [3, 3]]
    assert not np.shares_memory(found[0], found[2])


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (lambda w: lodcore.mul(w, 2.0), r"has shape \(2,\); one number"),
        (lambda w: ops.cast(ops.sum(w), "int64"), "has dtype int64; a real number"),
        (lambda w: ops.sum(ops.cast(w, "int64")), "has dtype int64"),
        (lambda w: ops.sum(lodcore.mul(w, 1j)), "has dtype complex128; a real number"),
        (lambda w: data("square", (None, None), "float64"), r"has shape \(None, None\); one number"),
        (lambda w: data("levels", (1,), "float64", num_levels=1), r"has shape \(None, 1\); one number"),
        (lambda w: lodcore.mul(1.0, 2.0), "depends on no parameter and no data of real numbers"),
        (lambda w: 5.0, "is not a Variable of a Program"),
        (lambda w: parameter(1), "has dtype int64; a real number"),
    ],
)
def test_losses_that_have_no_gradient(loss, says):
    with Program():
        w = parameter(np.ones(2), "w")
        with pytest.raises(GraphError, match=f"append_backward: loss: .*{says}"):
            append_backward(loss(w))


def test_gradients_of_gradients_are_refused():
    with Program():
        w = parameter(np.ones(2), "w")
        ((_, gradient),) = append_backward(ops.sum(lodcore.mul(w, w)))
        with pytest.raises(GraphError, match="depends on w@GRAD; gradients of gradients are not supported"):
            append_backward(ops.sum(lodcore.mul(gradient, gradient)))


def test_operators_without_gradient_stop_it():
    with Program() as program:
        w = parameter(np.array([1.0, 2.0]), "w")
        loss = ops.sum(lodcore.mul(w, ops.cast(lodcore.greater_than(w, 1.5), "float64")))
        ((_, gradient),) = append_backward(loss)
    assert Executor().run(program, {}, [gradient])[0].tolist() == [0, 1]


def test_real_numbers_without_gradient_stop_it():
    with Program() as program:
        w = parameter(np.array([1.0, 2.0]), "w")
        loss = ops.sum(lodcore.mul(w, ops.full_like(w, 3.0)))
        ((_, gradient),) = append_backward(loss)
    assert "full_like_grad" not in str(program)
    assert Executor().run(program, {}, [gradient])[0].tolist() == [3, 3]


def test_no_update_is_lost_where_several_threads_run_a_program_in_one_scope():
    with Program() as program:
        count = parameter(np.zeros(1), "count")
        count.update(count + 1.0)
    executor, found, threads, runs = Executor(), [], 4, 100
    start = threading.Barrier(threads)

    def add():
        start.wait()
        for _ in range(runs):
            found.extend(executor.run(program, {}, [count])[0].tolist())

    workers = [threading.Thread(target=add) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(found) == list(range(threads * runs))
    assert executor.scope.get(count).tolist() == [threads * runs]


def called_within(function):
    """Record an operator that calls a function when it runs; return its result."""

    @ops.operator(x=ops.Dense, differentiable=False)
    def calling(x):
        function()
        return x + 0.0

    calling.define_infer(lambda x: x)
    return calling(data("x", (None,), "f8"))


def counting(names):
    """Return a Program that adds 1, 2, ... to parameters with these names, and the parameters."""
    with Program() as program:
        counts = [parameter(np.zeros(()), name) for name in names]
        for j, count in enumerate(counts):
            count.update(count + float(j + 1))
    return program, counts


def test_a_save_and_a_run_beside_updates_see_all_of_a_run_or_nothing(tmp_path):
    program, counts = counting("abcdef")
    with Program() as reading:
        values = [count + 0.0 for count in counts]
    executor, is_over = Executor(), threading.Event()
    executor.run(program)

    def train():
        while not is_over.is_set():
            executor.run(program)

    before = sys.getswitchinterval()
    worker = threading.Thread(target=train)
    sys.setswitchinterval(1e-5)
    try:
        worker.start()
        for _ in range(60):
            lodcore.save(tmp_path / "program", program, executor.scope)
            loaded = lodcore.load(tmp_path / "program")
            for found in ([loaded.var(name).get() for name in "abcdef"], executor.run(reading, {}, values)):
                assert [float(x) for x in found] == [found[0] * (j + 1) for j in range(6)]
    finally:
        is_over.set()
        worker.join()
        sys.setswitchinterval(before)


def test_what_is_set_or_erased_during_a_run_stays():
    program, (one, two, three) = counting("abc")
    executor = Executor()
    executor.run(program)

    def change():
        executor.scope.set(one, np.float64(100))
        executor.scope.erase("b")

    with Program() as changing:
        for count in (one, two, three):
            count.update(count + 1.0)
        seen = called_within(change)
    executor.run(changing, {"x": np.zeros(2)}, [seen])
    assert [float(executor.scope.get(x)) for x in (one, two, three)] == [100, 0, 4]


def test_a_run_that_updates_cannot_be_a_part_of_another_one():
    program, (count,) = counting("a")
    executor, found = Executor(), []

    def run_again():
        with pytest.raises(GraphError, match=r"Executor.run: scope: is updated by an enclosing run that has not ended"):
            executor.run(program)
        found.append(Executor().run(program, {}, [count]))

    with Program() as outer:
        count.update(count + 1.0)
        seen = called_within(run_again)
    executor.run(outer, {"x": np.zeros(2)}, [seen])
    assert found
    executor.run(program)
    assert float(executor.scope.get(count)) == 2


@pytest.mark.parametrize("count", [2, 3])
def test_runs_in_threads_that_would_wait_for_each_other_are_refused(count):
    """Each runs a Program in the next one's Scope. The last to wait is refused; the others come to their ends."""
    inner, (total,) = counting("a")
    executors, ends = [Executor() for _ in range(count)], []
    all_began = threading.Barrier(count)

    def work(j):
        def run_in_the_next():
            all_began.wait(60)
            try:
                executors[(j + 1) % count].run(inner)
                ends.append("ran")
            except GraphError as error:
                ends.append(str(error))

        with Program() as outer:
            total.update(total + 100.0)
            seen = called_within(run_in_the_next)
        executors[j].run(outer, {"x": np.zeros(2)}, [seen])

    workers = [threading.Thread(target=work, args=(j,), daemon=True) for j in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert sorted(ends) == [
        "Executor.run: scope: is updated by a run in another thread, which waits for a Scope that this thread updates",
        *["ran"] * (count - 1),
    ]
    assert sorted(float(executor.scope.get(total)) for executor in executors) == [100.0, *[101.0] * (count - 1)]


def test_a_child_runs_in_a_scope_that_a_thread_of_its_parent_was_updating():
    program, (count,) = counting("a")
    executor, begun, may_end = Executor(), threading.Event(), threading.Event()

    def wait():
        begun.set()
        may_end.wait(60)

    with Program() as slow:
        count.update(count + 1.0)
        seen = called_within(wait)
    worker = threading.Thread(target=lambda: executor.run(slow, {"x": np.zeros(2)}, [seen]))
    worker.start()
    begun.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that waits for ever
        executor.run(program)
        os._exit(int(float(executor.scope.get(count)) != 1))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    may_end.set()
    worker.join()
    assert float(executor.scope.get(count)) == 1
