"""The interpreter of programs, on examples with known results."""

import numpy as np
import pytest

from reference.graph import values
from reference.graph.programs import run, run_until_error
from reference.graph.statements import (
    Ask,
    Break,
    Compute,
    Cond,
    Declare,
    Get,
    Loop,
    Make,
    MapFn,
    Program,
    Put,
    Read,
    Repeat,
    Run,
    Side,
    Unpack,
    Unstack,
    Update,
    Write,
    WrongUpdate,
)
from reference.graph.values import HOLE, Array, Element, GraphError, LoDError, Nested, Refused, ShapeError, Unsized

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

NUMBER = Element("float64", 0, ())
ROW = Element("float64", 0, (2,))


def count(steps, name="t", init=0):
    """Declare a counter, and break at a number of steps."""
    return Declare(name, init), Compute(f"stop at {name}", ">=", (name, steps)), Break(f"stop at {name}")


def results(*body, inputs=None, found, outside=()):
    """Run statements, and return the values of these names."""
    inputs = inputs or {}
    return run(Program(tuple(inputs), tuple(outside), body, tuple(found)), inputs)[0]


def nested(*lists):
    """Make a batch of one level, whose rows have no axes."""
    return Nested([np.array(part, float) for part in lists], 1, ())


# -- loops -----------------------------------------------------------------------------------------------------------


def test_reference_loop_updates_variables_at_once_so_that_they_swap():
    swap = Update("a", "b"), Update("b", "a")
    body = Loop("loop", (*count(3), Declare("a", 1.0), Declare("b", 2.0), *swap))
    assert results(body, found="abt") == [2.0, 1.0, 3]


def test_updates_before_a_break_of_a_loop_are_kept():
    declared = Declare("t", 0), Declare("before", 0.0), Declare("after", 0.0)
    first = Compute("one more", "+", ("before", 1.0)), Update("before", "one more")
    stop = Compute("stop", ">=", ("t", 2)), Break("stop")
    rest = Compute("one more", "+", ("after", 1.0)), Update("after", "one more")
    assert results(Loop("loop", (*declared, *first, *stop, *rest)), found=["t", "before", "after"]) == [2, 3.0, 2.0]


def test_reference_loop_advances_counters_by_their_steps():
    declared = [
        Declare("by two", 10, 2),
        Declare("still", 7, False),
        Declare("both", 1, 1),
        Declare("updated", 5),
        Declare("many", "pair"),
        Declare("one element", "single"),
    ]
    inside = [Compute("twice", "*", ("both", 2)), Update("both", "twice"), Update("updated", "updated")]
    loop = Loop("loop", (*count(3, init=None), *declared, *inside))
    found = [d.target for d in declared]
    inputs = {"pair": np.array([1, 2]), "single": np.array([4])}
    *numbers, many, one = results(loop, inputs=inputs, found=found)
    assert numbers == [16, 7, 15, 5], "1, 2 + 1, 6 + 1, 14 + 1"
    assert (many.tolist(), one.tolist()) == ([1, 2], [7])


def test_nested_loops_carry_arrays():
    inner = Loop("inner", (*count(2, "u"), Compute("at", "+", ("t", "u")), Write("a", "at", "v")))
    outer = Loop("outer", (*count(2), Compute("v", "float", ("t",)), inner))
    assert results(Make("a", element=NUMBER), outer, Ask("all", "stack", "a"), found=["all"])[0].tolist() == [0, 1, 1]


def test_an_array_made_in_a_body_is_empty_in_each_step():
    sizes = Make("a"), Write("a", "t", 1.0), Ask("size", "size", "a"), Update("last", "size")
    body = Loop("loop", (*count(3), Declare("last", 0), *sizes))
    assert results(body, found=["last"]) == [3]
    read_ahead = Loop("loop", (*count(2), Make("a"), Read("x", "a", 0), Write("a", 0, 1.0)))
    with pytest.raises(IndexError):
        results(read_ahead, found=[])


def test_loop_run_three_times_restarts_its_counter():
    inside = Read("x", "a", "t"), Compute("twice", "*", ("x", 2.0)), Compute("next", "+", ("t", 1))
    loop = Loop("loop", (*count(2), *inside, Write("a", "next", "twice")), runs=3)
    written = [Make("a", element=NUMBER), Write("a", 0, 1.0), loop, Ask("all", "stack", "a")]
    assert results(*written, found=["all"])[0].tolist() == [1, 2, 4]


def test_reference_loop_refuses_more_than_max_steps():
    for steps, limit in [(5, 5), (4, 5), (0, 0)]:
        assert results(Loop("loop", count(steps), max_steps=limit), found="t") == [steps]
    with pytest.raises(GraphError):
        results(Loop("loop", count(6), max_steps=5), found="t")


def test_variables_that_are_given():
    """They have their own names in the body, and other values than before."""
    given = (Declare("s", "x"), Declare("u", 3))
    inside = Compute("y", "+", ("x", "s")), Update("s", "y"), Compute("after", "*", ("u", 1))
    loop = Loop("loop", (*count(2), *inside), given=given)
    assert results(loop, inputs={"x": np.float64(1.0)}, found="su") == [4.0, 5]


def test_reference_repeat_runs_its_body_for_each_number():
    again = Repeat("k", 3, (Write("a", "k", "h"), Compute("h", "*", ("h", 2.0))))
    body = Make("a", element=NUMBER), Compute("h", "+", (1.0, 0.0)), again, Ask("all", "stack", "a")
    assert results(*body, found=["all"])[0].tolist() == [1, 2, 4]


# -- branches --------------------------------------------------------------------------------------------------------


def sides():
    """Write the part and return it twice, or write a number and return the part's reverse."""
    twice = Write("a", 0, "part"), Compute("both", "+", ("part", "part"))
    turned = Write("a", 1, "part"), Compute("turned", "reverse", ("part",))
    return Side("part", twice, ("both",)), Side("part", turned, ("turned",))


def test_reference_cond_runs_one_branch_only():
    for chosen, wanted, size in ((True, [[2, 4], [], [6]], 1), (False, [[2, 1], [], [3]], 2)):
        made = Make("a"), Cond(("y",), "c", "x", sides()), Ask("n", "size", "a")
        inputs = {"c": np.bool_(chosen), "x": nested([1, 2], [], [3])}
        y, n = results(*made, inputs=inputs, found=["y", "n"])
        assert [part.tolist() for part in y.sequences] == wanted
        assert n == size


def test_a_mask_divides_and_merges_at_any_level():
    inputs = {"mask": np.array([True, False, False]), "x": nested([1, 2], [3, 4], [])}
    made = Make("a"), Cond(("y",), "mask", "x", sides()), Read("at 1", "a", 1)
    y, part = results(*made, inputs=inputs, found=["y", "at 1"])
    assert [one.tolist() for one in y.sequences] == [[2, 4], [4, 3], []]
    assert [one.tolist() for one in part.sequences] == [[3, 4], []]
    inputs["x"] = Nested([nested([1, 2]), nested(), nested([3, 4], [5, 6])], 2, ())
    made = Make("a"), Cond(("y",), "mask", "x", sides(), level=1), Read("at 1", "a", 1)
    y, part = results(*made, inputs=inputs, found=["y", "at 1"])
    assert [[one.tolist() for one in inner.sequences] for inner in y.sequences] == [[[2, 4]], [], [[4, 3], [6, 5]]]
    assert [len(inner) for inner in part.sequences] == [0, 0, 2]
    rows = {"mask": np.array([[False], [True]]), "x": np.array([[1.0, 2.0], [3.0, 4.0]])}
    doubled = Side("part", (Compute("both", "+", ("part", "part")),), ("both",)), Side("part", (), ("part",))
    assert results(Cond(("y",), "mask", "x", doubled), inputs=rows, found=["y"])[0].tolist() == [[1, 2], [6, 8]]


# -- arrays ----------------------------------------------------------------------------------------------------------


def test_holes_and_fixed_sizes():
    assert results(Make("a", size=2), Write("a", 4, 1.0), Ask("n", "size", "a"), found="n") == [5]
    for wrong in [
        (Make("a", size=2), Read("x", "a", 0)),
        (Make("a"), Read("x", "a", -1)),
        (Make("a"), Write("a", 1, 1.0), Ask("x", "stack", "a")),
        (Make("a", size=2, dynamic=False), Write("a", 2, 1.0)),
        (Make("a"), Read("x", "a", 0, 0.5)),
        (Make("a"), Write("a", -1, 1.0)),
    ]:
        with pytest.raises(IndexError):
            results(*wrong, found=[])
    assert results(Make("a"), Read("x", "a", -3, 0.5), found="x") == [0.5]


def test_elements_of_different_shapes():
    with pytest.raises(ShapeError):
        Array([np.ones(2), np.ones(3)]).stack()
    assert Array([np.ones(2), np.ones(3)]).concat().shape == (5,)
    assert Array([np.ones((2, 1)), np.ones((2, 3))]).concat(1).shape == (2, 4)
    with pytest.raises(ShapeError):
        Array([np.ones((2, 1)), np.ones((2, 3))]).concat(0)
    assert Array([np.ones((2, 1)), np.ones((3, 1))]).sizes().tolist() == [2, 3]


def test_reference_array_of_no_elements_knows_shape_and_dtype():
    assert Array(element=NUMBER).stack().shape == (0,)
    assert Array(element=ROW).stack().shape == (0, 2)
    unknown = Element("float64", 0, (None, 2))
    assert Array(element=unknown).stack() == Unsized((0, None, 2), "float64")
    assert Array(element=unknown).concat().shape == (0, 2)
    batches = Array(element=Element("float64", 1, (None, 2)))
    assert batches.stack() == Nested([], 2, (2,))
    assert batches.concat() == Nested([], 1, (2,))


def test_slots_are_references():
    body = [Make("a"), Get("slot", "a", 0), Put("slot", 2.0), Compute("x", "+", ("slot", 1.0))]
    body += [Put("slot", 5.0), Compute("y", "+", ("slot", 1.0)), Get("before", "a", -1, 7.0)]
    body += [Compute("z", "+", ("before", 1.0)), Get("hole", "a", 3)]
    assert results(*body, found="xyz") == [3.0, 6.0, 8.0]
    with pytest.raises(IndexError):
        results(*body, Compute("w", "+", ("hole", 1.0)), found=[])


def test_reference_loop_writes_to_arrays_from_outside():
    array = Array([np.float64(1.0), HOLE])
    program = Program((), (("outer", array),), (Write("outer", 1, 2.0),), ())
    assert run(program, {})[1]["outer"].slots == [1.0, 2.0]
    assert array.slots == [1.0, HOLE], "the program's own is as it was"


# -- sequences -------------------------------------------------------------------------------------------------------

SENTENCES = nested([1, 2], [], [3, 4, 5], [6])
DOCUMENTS = Nested([nested([1], [2, 3]), nested(), nested([4], [], [5, 6])], 2, ())


def lists(value):
    return [lists(part) for part in value.sequences] if isinstance(value, Nested) else value.tolist()


def test_reference_unpack_and_pack_are_inverse():
    steps, made = values.unpack(SENTENCES, 0, True)
    assert [lists(step) for step in steps.slots] == [[3, 1, 6], [4, 2], [5]]
    assert lists(values.pack(steps, 0, made)) == lists(SENTENCES)
    steps, made = values.unpack(SENTENCES, 0, False)
    assert [lists(step) for step in steps.slots] == [[1, 3, 6], [2, 4], [5]]
    assert lists(values.pack(steps, 0, made)) == lists(SENTENCES)


def test_steps_of_documents():
    steps, made = values.unpack(DOCUMENTS, 0, True)
    assert [lists(step) for step in steps.slots] == [[[4], [1]], [[], [2, 3]], [[5, 6]]]
    assert lists(values.pack(steps, 0, made)) == lists(DOCUMENTS)
    steps, made = values.unpack(DOCUMENTS, 1, True)
    assert [lists(step) for step in steps.slots] == [[2, 5, 1, 4], [3, 6]]
    packed = values.pack(steps, 1, made)
    assert lists(packed) == lists(DOCUMENTS)
    with pytest.raises(LoDError):
        values.pack(steps, 0, made)
    with pytest.raises(LoDError):
        values.pack(Array(steps.slots[:1], True, steps.element), 1, made)


def test_reference_shrink_keeps_the_states_of_longer_sequences():
    _, made = values.unpack(SENTENCES, 0, True)
    state = values.reorder(np.array([1.0, 2, 3, 4]), made)
    assert state.tolist() == [3, 1, 4, 2]
    assert values.shrink(state, 0, made).tolist() == [3, 1, 4]
    assert values.shrink(values.shrink(state, 0, made), 1, made).tolist() == [3, 1]
    assert values.shrink(state, 3, made).tolist() == []
    _, made = values.unpack(SENTENCES, 0, False)
    state = np.array([1.0, 2, 3, 4])
    assert values.shrink(state, 0, made).tolist() == [1, 3, 4]
    assert values.shrink(values.shrink(state, 0, made), 1, made).tolist() == [1, 3]
    assert values.shrink(values.shrink(state, 1, made), 2, made).tolist() == [3]
    with pytest.raises(LoDError):
        values.shrink(state[:1], 1, made)


def test_a_network_over_sentences():
    """Running over each sentence separately gives the same as the steps."""
    body = [
        Unpack("steps", "map", "x"),
        Compute("first", "reorder_by_rank", ("boot", "map")),
        Ask("n", "size", "steps"),
        Make("states", element=Element("float64", 0, (None,))),
        Loop(
            "loop",
            (
                *count("n"),
                Declare("h", "first"),
                Compute("before", "shrink_memory", ("h", "t", "map")),
                Read("row", "steps", "t"),
                Compute("half", "*", ("before", 0.5)),
                Compute("after", "+", ("half", "row")),
                Update("h", "after"),
                Write("states", "t", "after"),
            ),
        ),
        Ask("all", "pack", "states", (0, "map")),
    ]
    (found,) = results(*body, inputs={"x": SENTENCES, "boot": np.array([1.0, 2, 3, 4])}, found=["all"])
    wanted = []
    for rows, h in zip(lists(SENTENCES), [1, 2, 3, 4], strict=True):
        wanted.append([h := h * 0.5 + row for row in rows])
    assert lists(found) == wanted


def test_map_fn_in_map_fn():
    inner = MapFn(("sums",), "document", "part", (Compute("s", "sum", ("part",)),), ("s",), (NUMBER,), (True,))
    most = Element("float64", 0, (None,))
    outer = MapFn(("all",), "x", "document", (inner,), ("sums",), (most,), (False,))
    assert lists(results(outer, inputs={"x": DOCUMENTS}, found=["all"])[0]) == [[1, 5], [], [4, 0, 11]]
    rows = MapFn(("all",), "x", "row", (Compute("y", "*", ("row", 2.0)),), ("y",), (ROW,), (True,))
    assert results(rows, inputs={"x": np.ones((3, 2))}, found=["all"])[0].tolist() == [[2, 2]] * 3
    assert results(rows, inputs={"x": np.ones((0, 2))}, found=["all"])[0].shape == (0, 2)


def test_functions_of_sequences():
    body = [
        Compute("a", "pool mean", ("x",)),
        Compute("b", "reverse", ("x",)),
        Compute("c", "concat_batches", ("x", "x")),
        Compute("d", "element", ("x", 2)),
        Compute("e", "*", ("x", "x")),
        Unstack("array", "x"),
        Ask("f", "sizes", "array"),
    ]
    found = results(*body, inputs={"x": SENTENCES}, found="abcdef")
    assert [lists(value) for value in found] == [
        [1.5, 0, 4, 6],
        [[2, 1], [], [5, 4, 3], [6]],
        lists(SENTENCES) * 2,
        [3, 4, 5],
        [[1, 4], [], [9, 16, 25], [36]],
        [2, 0, 3, 1],
    ]
    pooled = values.pool(lambda part: np.sum(part, axis=0), DOCUMENTS)
    assert lists(pooled) == [[1, 5], [], [4, 0, 11]]


# -- programs without a meaning ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ((Loop("loop", (*count(0), Compute("x", "+", (1.0, 1.0)))), Compute("y", "+", ("x", 1.0))), "x"),
        ((Loop("loop", (*count(0), Make("a"))), Write("a", 0, 1.0)), "a"),
        ((Loop("loop", (Declare("t", 0),)),), "loop"),
        ((Loop("loop", (*count(0), Compute("x", "+", (1.0, 1.0)), Declare("v", "x"))),), "x"),
        ((Loop("loop", (*count(0), Declare("s", 0.0), Loop("inner", (*count(0, "u"), Update("s", 1.0))))),), "s"),
        ((Compute("x", "+", (1.0, 1.0)), Update("x", 1.0)), "x"),
        ((Loop("loop", (*count(0), Declare("s", 0.0), WrongUpdate("s", 1.0))),), "s"),
    ],
)
def test_reference_refuses_invalid_programs(body, name):
    """They are refused, also if the loop has no iterations."""
    with pytest.raises(GraphError, match=f"^{name}$"):
        results(*body, found=[])


def test_arrays_are_no_loop_variables():
    with pytest.raises(Refused, match=r"^a$"):
        results(Make("a"), Loop("loop", (*count(0), Declare("s", "a"))), found=[])


# -- at the limits -----------------------------------------------------------------------------------------------------


def test_indices_before_the_first_element():
    array = Array([1.0])
    for call in (lambda: array.read(-1), lambda: array.write(-1, 2.0), lambda: Array([1.0], False).write(1, 2.0)):
        with pytest.raises(IndexError):
            call()
    assert array.slots == [1.0]
    boots = Get("slot", "a", 0, 9.0), Compute("x", "float", ("slot",)), Read("y", "a", 0, 9.0), Read("z", "a", -1, 9.0)
    assert results(Make("a"), Write("a", 0, 1.0), *boots, found="xyz") == [1.0, 1.0, 9.0]


def test_joined_refuses_more_than_500_sequences():
    assert len(values.joined(np.zeros(300), np.zeros(200))) == 500
    with pytest.raises(OverflowError):
        values.joined(np.zeros(300), np.zeros(201))


def test_entries_of_sequences_that_continue():
    made = values.rank(nested([0, 0, 0], [0, 0, 0], [0], [0]))
    for x, step, wanted in (([5.0, 6, 7], 1, [5, 6]), ([5.0, 6, 7, 8], 0, [5, 6, 7, 8]), ([5.0, 6], 2, [5, 6])):
        assert values.shrink(np.array(x), step, made).tolist() == wanted
    mixed = values.rank(nested([0], [0, 0, 0], [0, 0]), sort=False)
    for x, step, wanted in (([5.0, 6, 7], 1, [6, 7]), ([6.0, 7], 1, [6, 7]), ([6.0, 7], 2, [6])):
        assert values.shrink(np.array(x), step, mixed).tolist() == wanted
    with pytest.raises(IndexError):
        values.shrink(np.zeros(4), -1, made)
    short = values.rank(nested([0, 0], [0, 0], [0]))
    for x, step, order in ((1, 1, made), (5, 0, made), (1, 1, mixed), (1, 1, short), (2, 0, short)):
        with pytest.raises(LoDError):
            values.shrink(np.zeros(x), step, order)


def test_each_run_begins_with_the_arrays_as_they_are_then():
    inside = Read("x", "a", 0), Compute("more", "+", ("x", 1.0))
    for put in ((Write("a", 0, "more"),), (Get("slot", "a", 0), Put("slot", "more"))):
        loop = Loop("loop", (*count(1), *inside, *put), runs=3)
        assert results(Make("a"), Write("a", 0, 1.0), loop, Read("y", "a", 0), found="y") == [4.0]
    never = Loop("never", (*count(1, "u"), Write("a", 0, 5.0)), runs=0)
    later = Loop("later", (*count(1), never), runs=0)
    changed = Write("a", 0, 2.0), Run("later", ("t",)), Read("y", "a", 0)
    assert results(Make("a"), Write("a", 0, 1.0), later, *changed, found="y") == [2.0]


def test_reference_loop_keeps_the_dtype_of_floats_and_does_not_count_them():
    declared = Declare("half", "half of one"), Declare("real", "half of one")
    loop = Loop("loop", (*count(2), *declared, Update("real", 3)))
    half, real = results(loop, inputs={"half of one": np.float64(0.5)}, found=["half", "real"])
    assert (half, real, real.dtype) == (0.5, 3.0, "float64")


def test_errors_carry_the_failing_statement():
    wrong = Read("x", "a", 7)
    for body in (wrong, Loop("loop", (*count(1), wrong)), Repeat("k", 2, (wrong,))):
        with pytest.raises(IndexError) as caught:
            results(Make("a"), body, found=[])
        assert caught.value.statement is wrong
    with pytest.raises(GraphError, match="unknown"):
        results(Make("a"), Read("x", "a", 0, "unknown"), found=[])
    twice = Program((), (("a", Array([1.0])),), (Write("a", 0, 2.0), Write("a", -1, 3.0)), ())
    assert run_until_error(twice, {})["a"].slots == [2.0]
    inside = Write("a", 0, 2.0), wrong
    for body in (Loop("loop", (*count(1), *inside)), MapFn(("y",), "rows", "row", inside, ("x",), (NUMBER,), (True,))):
        program = Program(("rows",), (("a", Array([1.0])),), (body,), ())
        assert run_until_error(program, {"rows": np.zeros(2)})["a"].slots == [1.0]
