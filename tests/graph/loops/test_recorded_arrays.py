"""TensorArrays in recordings: each is a value; VarArray, its slots, and reads before the first element."""

import copy
import gc
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, GraphError, LoDTensor, TensorArray, ops, vjp
from lodcore.graph import Executor, Program, VarArray, Variable, data, parameter, while_loop
from lodcore.graph.loops.frames import common_spec
from lodcore.operators.roles import NO_ELEMENTS
from lodcore.tensors.tensor_array import ArrayVersion
from tests.helpers.bodies import contents
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels of its own


# -- versions --------------------------------------------------------------------------------------------------------


@given(writes=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6)), max_size=30), reads=st.data())
def test_array_versions_are_unchanged_by_later_writes(writes, reads):
    start = TensorArray(unstack_from=np.arange(100, 103))
    versions = [ArrayVersion.of(start)]
    models = [{0: 100, 1: 101, 2: 102}]
    for number, (parent, at) in enumerate(writes):
        parent %= len(versions)
        versions.append(versions[parent].written(at, np.array(number)))
        models.append({**models[parent], at: number})
        if reads.draw(st.booleans()):
            look = reads.draw(st.integers(0, len(versions) - 1))
            assert held(versions[look]) == models[look]
    for version, model in zip(versions, models, strict=True):
        assert held(version) == model
        assert version.size() == max(model) + 1
    assert held(start) == models[0]


def held(array):
    return {at: int(value) for at, value in contents(array).items()}


def test_a_refused_write_changes_no_version():
    first = ArrayVersion.of(TensorArray(2, dynamic=False))
    second = first.written(0, 1.0)
    for at, value, error in [(2, 1.0, IndexError), (-1, 1.0, IndexError), (0, None, lodcore.DTypeError)]:
        with pytest.raises(error):
            second.written(at, value)
        assert [contents(first), contents(second)] == [{}, {0: 1.0}]


def test_many_versions_are_released():
    first = version = ArrayVersion.of(TensorArray())
    for at in range(100_000):
        version = version.written(at, at)
    assert first.size() == 0
    with pytest.raises(IndexError):
        first.read(0)
    assert version.read(99_999) == 99_999
    del first, version
    gc.collect()


# -- an array is a value -------------------------------------------------------------------------------------------


def test_overwritten_slots_in_a_loop_get_no_gradient():
    """Paddle adds the gradient of the overwritten value: 4 instead of 3 (y, then 3 y at one index)."""

    def f(y):
        array = TensorArray()
        loop = while_loop()
        with loop.loop():
            time = loop.step()
            loop.break_if(lodcore.equal(time, 3))
            array.write(0, y)
            array.write(0, lodcore.mul(y, lodcore.add(ops.cast(time, "float64"), 1.0)))
        return array.read(0)

    y, pullback = vjp(f, np.array(2.0))
    assert (float(y), float(pullback(1.0)[0])) == (6.0, 3.0)


def test_outer_array_written_under_vjp_holds_the_values():
    outside = TensorArray()
    outside.write(0, np.array(5.0))

    def f(x):
        outside.write(1, lodcore.mul(x, outside.read(0)))
        return outside.stack()

    y, pullback = vjp(f, np.array(2.0))
    np.testing.assert_array_equal(y, [5.0, 10.0])
    np.testing.assert_array_equal(outside.stack(), [5.0, 10.0])
    assert float(pullback([1.0, 1.0])[0]) == 5.0
    outside.write(0, np.array(7.0))  # the array is the user's again
    assert float(pullback([1.0, 1.0])[0]) == 5.0


def test_an_array_made_in_a_differentiated_function_holds_what_was_written():
    kept = []

    def f(x):
        made, segmented = TensorArray(), VarArray().segment(x)
        made.write(0, x)
        made.write(1, lodcore.mul(x, 2.0))
        made.write(0, lodcore.mul(x, 3.0))
        rows = TensorArray(unstack_from=x)
        rows.write(0, lodcore.mul(x[1], 5.0))
        kept.extend([made, segmented, rows])
        return made.read(1)

    vjp(f, np.array([1.0, 2.0]))
    assert [one.tolist() for one in kept[0]] == [[3.0, 6.0], [2.0, 4.0]]
    assert [float(one) for one in kept[1]] == [1.0, 2.0]
    assert [float(one) for one in kept[2]] == [10.0, 2.0]


def test_gradients_go_back_through_an_array_as_it_was():
    """It is overwritten, by elements of other sizes, before the pullback is called."""
    for f in (lambda ta: ta.concat(), lambda ta: lodcore.mul(ta.read(0), 2.0), lambda ta: [ta.read(0), ta.size()]):
        array, same = TensorArray(), TensorArray()
        for one in (array, same):
            one.write(0, np.ones(2))
            one.write(1, np.ones(3))
        (y, pullback), (_, of_same) = vjp(f, array), vjp(f, same)
        array.write(0, np.ones(5))
        array.write(2, np.ones(1))
        d = [np.arange(1.0, 3), None] if isinstance(y, list) else [np.arange(1.0, 1 + np.size(y))]
        found, wanted = ([one.tolist() for one in back(*d)[0]] for back in (pullback, of_same))
        assert found == wanted


def test_arrays_of_variables_and_of_feeds_are_never_written_to():
    array = TensorArray()
    array.write(0, np.array(1.0))
    with Program() as program:
        fed = data("fed", lodcore.Spec((), np.dtype(float), 0, TensorArray))
        for given, name in ((fed, "one"), (Variable("v", array), "other")):
            lodcore.tensor_array_write(given, 0, np.array(5.0))
            lodcore.tensor_array_write(given, 1, np.array(6.0))
            lodcore.mul(lodcore.tensor_array_read(given, 0), 2.0, name=name)
    executor = Executor()
    for _ in range(2):
        found = executor.run(program, {"fed": array}, ["one", "other"])
        assert [float(one) for one in found] == [10, 10]
        assert contents(array) == {0: 1.0}


def test_array_in_a_scope_is_a_copy():
    arrays = TensorArray(name="kept"), TensorArray()
    for array in arrays:
        array.write(0, np.array(1.0))
    with Program() as program:
        held = lodcore.tensor_array_read(Variable("held", arrays[1]), 0)
        y = lodcore.mul(arrays[0].read(0), lodcore.mul(held, 2.0))
    executor = Executor()
    for _ in range(2):
        assert float(executor.run(program, {}, [y])[0]) == 2
        for name in ("kept", "held"):
            executor.scope.find_var(name).get().write(0, np.array(7.0))
    assert [contents(array) for array in arrays] == [{0: 1.0}] * 2


def test_a_function_that_fails_leaves_arrays_as_they_were():
    outside = TensorArray()

    def f(x):
        outside.write(0, x)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        vjp(f, 1.0)
    assert outside.size() == 0
    outside.write(0, 2.0)
    assert outside.read(0) == 2.0
    with pytest.raises(IndexError, match=r"^while_loop: step 0: tensor_array_read: index"):
        fill(outside, 3, lambda time: outside.read(7))
    assert contents(outside) == {0: 2.0}


@pytest.mark.parametrize("fails", range(4))
@pytest.mark.parametrize("kind", [TensorArray, VarArray])
def test_a_failing_nested_vjp_undoes_array_writes_at_every_depth(kind, fails):
    """Three nested vjps write one array each; one fails after the vjps within it, or (3) none does."""
    arrays = [kind() for _ in range(3)]
    for array in arrays:
        array.write(0, -1.0)

    def f(depth, x):
        arrays[depth].write(0, x + depth)
        arrays[depth].write(2, x)
        if depth < 2:
            inside(depth + 1)
        if depth == fails:
            raise ZeroDivisionError
        return x

    def inside(depth):
        try:
            vjp(lambda x: f(depth, x), 1.0)
        except ZeroDivisionError:
            assert depth == fails

    inside(0)
    found = [{at: float(value) for at, value in contents(array).items()} for array in arrays]
    assert found == [{0: 1.0 + depth, 2: 1.0} if depth < fails else {0: -1.0} for depth in range(3)]


@for_each("kind", [TensorArray, VarArray])
def test_a_failure_takes_back_all_that_calls_within_have_written(kind):
    """Two vjps within a third write the same array, one after the other, before the third fails."""
    array, other = kind(), kind()
    array.write(0, -1.0)

    def fails(x):
        for k in range(3):
            vjp(lambda x, k=k: (array.write(k, x + k), other.write(0, x), x)[-1], 1.0)
            assert [float(value) for value in contents(array).values()][k] == 1.0 + k
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            vjp(fails, 1.0)
        assert {at: float(value) for at, value in contents(array).items()} == {0: -1.0}
        assert contents(other) == {}


def test_arrays_as_inputs_and_results():
    given = TensorArray(unstack_from=np.array([1.0, 2.0, 3.0]))
    given.write(4, np.array(5))

    def f(array):
        array.write(1, lodcore.mul(array.read(0), 10.0))
        array.write(6, array.read(2))
        return array

    y, pullback = vjp(f, given)
    assert contents(given) == {0: 1.0, 1: 2.0, 2: 3.0, 4: 5}, "the input stays"
    assert contents(y) == {0: 1.0, 1: 10.0, 2: 3.0, 4: 5, 6: 3.0}
    y.write(0, np.zeros(9))  # the result is the user's
    (d,) = pullback([1.0, 1.0, None, None, None, None, 7.0])
    assert contents(d) == {0: 11.0, 1: 0.0, 2: 7.0}
    assert d.size() == given.size()
    assert all(value.dtype == np.float64 for value in contents(d).values())
    cotangent = TensorArray(7)
    cotangent.write(6, 2.0)
    assert contents(pullback(cotangent)[0]) == {0: 0.0, 1: 0.0, 2: 2.0}
    for wrong in ([1.0], 1.0, [np.ones(2)] * 7):
        with pytest.raises((lodcore.ShapeError, lodcore.DTypeError), match=r"pullback: cotangents\[0\]"):
            pullback(wrong)


def test_gradients_of_arrays_of_batches():
    x = lodcore.array([[[1.0], [2.0, 3.0]], [], [[4.0]]])

    def f(x):
        array = TensorArray.unstack(x)
        return lodcore.mul(array.read(0), 3.0), array

    (_, array), pullback = vjp(f, x)
    assert [len(element) for element in array] == [2, 0, 1]
    (d,) = pullback(None, [None, None, lodcore.array([[5.0]])])
    assert d.tolist() == [[[0.0], [0.0, 0.0]], [], [[5.0]]]
    (d,) = pullback(np.ones(3), None)
    assert d.tolist() == [[[3.0], [3.0, 3.0]], [], [[0.0]]]
    (d,) = vjp(lambda a: a.read(0), TensorArray.unstack(x))[1](np.ones(3))
    assert [element.tolist() for element in d] == [[[1.0], [1.0, 1.0]], [], [[0.0]]]
    assert d.read(0).lod == x[0].lod


def test_read_of_a_hole_or_past_the_end_is_an_index_error():
    array = TensorArray(2)
    array.write(1, np.array(1.0))
    for at, says in [(0, "index: is 0, a hole"), (2, "index: is 2; the size is 2"), (-1, "index: is -1")]:
        with pytest.raises(IndexError, match=says):
            vjp(lambda x, at=at: lodcore.mul(x, array.read(at)), 1.0)
        loop = while_loop()
        with pytest.raises(IndexError, match=f"^while_loop: step 0: tensor_array_read: {says}"), loop.loop():
            loop.break_if(lodcore.equal(array.read(loop.loop_var(at)), 0.0))
    with pytest.raises(IndexError, match="stack: index: is 0, a hole"):
        vjp(lambda x: array.stack(), 1.0)
    fixed = TensorArray(1, dynamic=False)
    with pytest.raises(IndexError, match=r"^while_loop: step 1: tensor_array_write: index: .*fixed at 1"):
        fill(fixed, 3)
    assert contents(fixed) == {}


def fill(array, count, then=lambda time: None):
    loop = while_loop()
    with loop.loop():
        time = loop.step()
        loop.break_if(lodcore.equal(time, count))
        array.write(time, ops.cast(time, "float64"))
        then(time)


@pytest.mark.parametrize("index", [np.array([1]), np.int8(1), np.array([[1]]), True])
def test_indices_of_one_element(index):
    array = TensorArray(unstack_from=np.array([5.0, 6.0]))
    loop = while_loop()
    with loop.loop():
        loop.break_if(lodcore.equal(loop.step(), 1))
        at = loop.loop_var(np.asarray(index, np.int64))
        array.write(at, lodcore.mul(array.read(at), 2.0))
    np.testing.assert_array_equal(array.stack(), [5.0, 12.0])


def test_write_of_a_list_stores_a_dense_array():
    eager, recorded = TensorArray(), TensorArray()
    eager.write(0, [1.0, 2.0])
    loop = while_loop()
    with loop.loop():
        recorded.write(loop.step(), [1.0, 2.0])
        loop.break_if(True)
    np.testing.assert_array_equal(eager.read(0), recorded.read(0), strict=True)


def test_array_recorded_in_one_vjp_is_refused_in_another():
    array = TensorArray()

    def f(x):
        array.write(0, x)
        return vjp(lambda y: lodcore.mul(array.read(0), y), 2.0)[0]

    with pytest.raises(GraphError, match="cannot be mixed"):
        vjp(f, 1.0)
    assert array.size() == 0


# -- VarArray ------------------------------------------------------------------------------------------------------


def test_slots_are_read_when_they_are_used():
    states = VarArray()
    slot = states.get(0)
    assert "Slot(0 of VarArray(empty))" in repr(slot)
    with pytest.raises(IndexError, match="size is 0"):
        lodcore.mul(slot, 2.0)
    slot.update(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(lodcore.mul(slot, 2.0), [2.0, 4.0])
    np.testing.assert_array_equal(lodcore.mul(2.0, y=slot), [2.0, 4.0])
    np.testing.assert_array_equal(np.asarray(slot), [1.0, 2.0])
    slot.update(np.array([3.0, 4.0]))
    np.testing.assert_array_equal(lodcore.mul(slot, 2.0), [6.0, 8.0])
    assert lodcore.concat_batches([lodcore.array([[1.0]]), lodcore.array([[2.0]])]).num_rows == 2
    states.update(0, [5.0])
    np.testing.assert_array_equal(states.get(0).get(), [5.0])
    assert int(states.size()) == 1
    np.testing.assert_array_equal(states.concat(), [5.0])
    np.testing.assert_array_equal(states.stack(), [[5.0]])


def test_inner_loop_reads_an_element_written_by_the_outer_step():
    array, seen = TensorArray(), []
    outer = while_loop()
    with outer.loop():
        step = outer.step()
        outer.break_if(lodcore.greater_equal_than(step, 3))
        array.write(step, np.ones((2, 4), np.float32))
        inner = while_loop()
        with inner.loop():
            inner.break_if(lodcore.greater_equal_than(inner.step(), 1))
            seen.append(array.read(step))
    assert [(x.dtype, x.shape) for x in seen] == [(np.float32, (None, 4))]
    assert array.size() == 3


def test_a_slot_is_read_anew_in_each_block():
    states = VarArray()
    states.update(0, 3.0)
    slot = states.get(0)
    loop = while_loop()
    with loop.loop():
        loop.break_if(lodcore.greater_than(slot, 0.0))
    assert float(lodcore.mul(slot, 2.0)) == 6.0
    assert float(vjp(lambda x: lodcore.mul(x, slot), 2.0)[1](1.0)[0]) == 3.0


def test_get_uses_boot_at_negative_indices_only():
    states, boot = VarArray(), np.array([7.0])
    for at in (-1, -3, np.int8(-1), np.array([-1])):
        np.testing.assert_array_equal(states.get(at, boot).get(), boot)
    for at in (0, 5):
        with pytest.raises(IndexError):
            states.get(at, boot).get()
    with pytest.raises(IndexError, match="index: is -1"):
        states.get(-1).get()
    for at in (1.5, np.array([1, 2]), "0"):
        with pytest.raises((lodcore.DTypeError, lodcore.ShapeError, TypeError, ValueError), match="index"):
            states.get(at, boot).get()


def test_slots_without_cotangent_count_as_zeros():
    x = np.arange(6.0).reshape(3, 2)
    (d,) = vjp(lambda x: VarArray().segment(x).get(1), x)[1](np.ones(2))
    np.testing.assert_array_equal(d, [[0, 0], [1, 1], [0, 0]])
    nested = lodcore.array([[1.0, 2.0, 3.0], [4.0], []])
    (d,) = vjp(lambda x: VarArray().segment(x).get(1), nested)[1](np.ones(1))
    assert d.tolist() == [[0.0, 1.0, 0.0], [0.0], []]


def test_segmented_sequences_are_packed_back_to_the_batch():
    x = lodcore.array([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    for sort in (True, False):
        steps = VarArray().segment(x, sort_by_length=sort)
        outputs = VarArray()
        for t in range(int(steps.size())):
            outputs.update(t, lodcore.mul(steps.get(t), 2.0))
        assert outputs.pack(steps).tolist() == [[2.0, 4.0], [], [6.0, 8.0, 10.0]]
    with pytest.raises(GraphError, match="was not made of a LoDTensor"):
        outputs.pack(VarArray().segment(np.ones((2, 2))))
    nested = lodcore.array([[[1.0], [3.0, 5.0]], [], [[4.0]]])
    for level, order, longest in [(0, [0, 1, 2], [0, 2, 1]), (1, [0, 1, 2], [1, 0, 2])]:
        for sort in (True, False):
            steps = VarArray().segment(nested, level, sort)
            assert steps.rank.indices.tolist() == (longest if sort else order)
            for one in (
                steps,
                steps.clone(),
                copy.copy(steps),
                copy.deepcopy(steps),
                pickle.loads(pickle.dumps(steps)),
            ):
                assert one.level == level
                assert one.pack(one).tolist() == nested.tolist()
    for x, size in [([[1], [2, 3]], 2), (np.ones((3, 2)), 3), (lodcore.DenseTensor([1]), 1)]:
        assert VarArray().segment(x).size() == size


def test_asarray_of_a_slot_under_vjp_is_refused():
    def f(x):
        steps = VarArray().segment(x)
        return np.asarray(steps.get(0))

    with pytest.raises(GraphError, match="would leave the recorded operators and lose the gradient"):
        vjp(f, np.ones((2, 2)))


def test_a_var_array_may_be_a_result():
    def f(x):
        steps = VarArray().segment(x)
        steps.update(0, lodcore.mul(steps.get(1), 3.0))
        return steps

    y, pullback = vjp(f, np.array([[1.0], [2.0]]))
    assert contents(y) == {0: 6.0, 1: 2.0}
    np.testing.assert_array_equal(pullback([np.ones(1), np.ones(1)])[0], [[0], [4.0]])


# -- in Programs -----------------------------------------------------------------------------------------------------


def test_array_operators_are_recorded_as_they_run():
    x = lodcore.array([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    with Program() as program:
        v = data("x", (None,), "float64", num_levels=1)
        steps, indices_map = TensorArray.unpack(v, 0)
        found = [steps.size(), steps.sizes(), steps.read(1), steps.concat(), steps.pack(0, indices_map)]
        found += [TensorArray.unstack(v).read(0), lodcore.tensor_array_stack(TensorArray.unstack(np.eye(2)))]
    eager, indices_map = TensorArray.unpack(x, 0)
    wanted = [eager.size(), eager.sizes(), eager.read(1), eager.concat(), eager.pack(0, indices_map), x[0], np.eye(2)]
    for one, other in zip(Executor().run(program, {"x": x}, found), wanted, strict=True):
        assert one.equals(other) if isinstance(one, LoDTensor) else np.array_equal(one, other)
    assert lodcore.tensor_array_read(eager, -1, x) is x


def states_of(x, h_0):
    steps, indices_map = lodcore.tensor_array_unpack(x, 0)
    table, states = lodcore.lod_rank_table(x), TensorArray()
    first = lodcore.reorder_by_rank(h_0, table)
    loop = while_loop()
    with loop.loop():
        time = loop.loop_var(0)
        h = loop.loop_var(first)
        loop.break_if(lodcore.greater_equal_than(time, lodcore.tensor_array_size(steps)))
        step = lodcore.matmul(lodcore.tensor_array_read(steps, time), np.ones((2, 3), np.float32))
        state = lodcore.tanh(lodcore.add(step, lodcore.shrink_memory(h, time, table)))
        h.update(state)
        lodcore.tensor_array_write(states, time, state)
    return lodcore.tensor_array_pack(states, 0, indices_map)


@pytest.mark.parametrize("lengths", [[], [0], [0, 0, 0]])
def test_states_of_a_loop_without_steps_keep_their_width(lengths):
    """A Program runs on a batch without rows: the states are empty, but have their width."""
    with Program() as program:
        x = data("x", (None, 2), np.float32, 1)
        last = lodcore.sequence_pool(states_of(x, data("h", (None, 3), np.float32)), "last", 7.0)
        scores = lodcore.matmul(last, np.ones((3, 1), np.float32))
    batch = LoDTensor.from_lengths(np.zeros((0, 2), np.float32), lengths)
    h_0 = np.zeros((len(lengths), 3), np.float32)
    fed = Executor().run(program, {"x": batch, "h": h_0}, [last, scores])
    assert [found.tolist() for found in fed] == [[[7.0] * 3] * len(lengths), [[21.0]] * len(lengths)]
    states, pullback = vjp(states_of, batch, h_0)
    assert states.values.shape == (0, 3)
    assert states.dtype == np.float32
    assert states.lod == batch.lod
    d_x, d_h = pullback(states)
    assert d_x.values.shape == (0, 2)
    assert d_h.tolist() == h_0.tolist()


# -- what is given ----------------------------------------------------------------------------------------------------


def test_an_array_is_made_of_a_lod_tensor():
    """The explicit constructor of the design of TensorArray."""
    x = lodcore.array([[1.0, 2.0], [], [3.0]])
    assert [part.tolist() for part in TensorArray(x)] == x.tolist()
    assert [part.get().tolist() for part in (VarArray(x).get(at) for at in range(3))] == x.tolist()
    with Program() as program:
        made = TensorArray(data("x", (None,), "float64", num_levels=1))
        size, first = made.size(), made.read(0)
    assert [np.asarray(one).tolist() for one in Executor().run(program, {"x": x}, [size, first])] == [3, [1, 2]]
    (d,) = vjp(lambda x: TensorArray(x).read(2) * 2.0, x)[1](np.ones(1))
    assert d.tolist() == [[0, 0], [], [2]]


def test_sizes_and_indices_refuse_strings():
    steps = TensorArray(unstack_from=np.arange(3.0))

    def recorded(call):
        with Program():
            call(TensorArray(unstack_from=data("x", (None,))))

    for way in (lambda call: call(steps), recorded):
        for says, call in (
            ("tensor_array_read: default: is 'r'; a tensor or a number", lambda ta: ta.read(0, "r")),
            ("tensor_array_read: default: is 'r'; a tensor or a number", lambda ta: ta.read(-1, default="r")),
            ("tensor_array_write: data_shared: is 'r'; True or False", lambda ta: ta.write(0, 1.0, "r")),
        ):
            with pytest.raises(DTypeError, match=says):
                way(call)
    with pytest.raises(DTypeError, match="tensor_array_read: default: is 'boot'"):
        VarArray(unstack_from=np.arange(3.0)).get(0, "boot").get()
    with pytest.raises(DTypeError, match="parameter: value: is 'weights'; a value is needed, and its name is `name`"):
        parameter("weights")


def test_recording_refuses_an_index_that_is_no_integer():
    with Program():
        x, t = data("x", (None,), "float64"), data("t", (), "float64")
        array, (_, rank) = TensorArray(unstack_from=x), TensorArray.unpack(data("y", (None,), num_levels=1), 0)
        for wrong in ("t", 0.5, t, x, np.float32(1)):
            for call in (
                lambda wrong=wrong: array.read(wrong),
                lambda wrong=wrong: array.write(wrong, x),
                lambda wrong=wrong: lodcore.shrink_memory(x, wrong, rank),
            ):
                with pytest.raises(DTypeError, match=r": (index|step): .*; an integer, or an array of one, is needed"):
                    call()


@pytest.mark.parametrize(("one", "other", "kind"), [((3,), (), object), ((), (3,), object), ((3,), (4,), np.ndarray)])
def test_elements_of_other_numbers_of_axes_have_no_common_spec(one, other, kind):
    specs = [lodcore.Spec(shape, np.dtype(float)) for shape in (one, other)]
    assert common_spec(*specs).kind is kind
    assert common_spec(specs[0], NO_ELEMENTS) == specs[0] == common_spec(NO_ELEMENTS, specs[0])
