"""Arrays, slots and maps are taken as they are where they are used: by loops that run later, other slots, and pack."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDError, LoDTensor, TensorArray, ops, vjp
from lodcore.graph import Executor, Program, VarArray, Variable, data, while_loop
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import check, every_way

pytestmark = pytest.mark.not_on_reference

ROWS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])


# -- loops that run later ----------------------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("writes", [True, False], ids=["written in the body", "read in the body"])
@pytest.mark.parametrize("kind", [TensorArray, VarArray])
def test_deferred_loop_sees_writes_made_before_its_call(way, writes, kind):
    def text(while_loop, x):
        array = kind()
        array.write(0, x[0])
        begin, loop = x[2], while_loop()
        with loop.loop(exec_immediately=False):
            t, s = loop.loop_var(0), loop.loop_var(begin)
            loop.break_if(t >= 2)
            if writes:
                array.write(0, array.read(0) * 2.0)
            s.update(s + array.read(0) * array.read(1))
        array.write(0, x[1])
        array.write(1, x[2] + 1.0)  # past what it was while it was recorded
        loop()
        first = s * 1.0
        array.write(1, x[0])
        loop()
        return first, s, array.stack()

    def meaning(x):
        found, array = [], [x[1], x[2] + 1.0]
        for last in (array[1], x[0]):
            array[1], s = last, x[2]
            for _ in range(2):
                array[0] = array[0] * 2.0 if writes else array[0]
                s = s + array[0] * array[1]
            found.append(s)
        return *found, np.stack(array)

    check(way, text, meaning, ROWS)


def test_program_with_a_deferred_loop_never_changes_the_outer_array():
    array = TensorArray()
    array.write(0, np.ones(2))
    with Program() as program:
        loop = while_loop()
        with loop.loop(exec_immediately=False):
            loop.break_if(loop.step() >= 2)
            array.write(0, array.read(0) * 2.0)
        array.write(0, data("x", (2,), "float64"))
        loop()
        loop()
        found = array.read(0)
    for _ in range(2):
        assert Executor().run(program, {"x": np.full(2, 3.0)}, [found])[0].tolist() == [48, 48]
    assert array.read(0).tolist() == [1, 1]


# -- slots -------------------------------------------------------------------------------------------------------------


@every_way
def test_slot_sees_a_write_through_another_slot_of_the_same_index(way):
    def text(while_loop, x):
        array = VarArray()
        array.write(0, x[0])
        one, other, total = array.get(0), array.get(0), x[0] * 0.0
        total = total + one  # read
        other.update(x[1])
        total = total + one * 10.0
        array.write(0, x[2])
        total = total + one * 100.0 + other * 100.0
        loop = while_loop()
        with loop.loop():
            t, s = loop.loop_var(0), loop.loop_var(total)
            loop.break_if(t >= 2)
            mine = array.get(0)
            first = mine + s
            array.get(0).update(first)
            s.update(mine * 1.0)
        return total, s, one * 1.0, array.stack()

    def meaning(x):
        total = x[0] + x[1] * 10.0 + x[2] * 200.0
        s, held = total, x[2]
        for _ in range(2):
            s = held = held + s
        return total, s, held, np.stack([held])

    check(way, text, meaning, ROWS)


def test_a_slot_is_recorded_once_for_each_version_of_its_array():
    with Program() as program:
        array = VarArray()
        slot = array.get(0)
        slot.update(data("x", (2,), "float64"))
        lodcore.add(slot, slot)
        lodcore.add(slot, 1.0)
        array.write(1, slot)
        lodcore.add(slot, 2.0)
    assert [op.name for op in program.ops].count("tensor_array_read") == 2


# -- pack --------------------------------------------------------------------------------------------------------------


X = LoDTensor.from_lengths(np.arange(10.0), [2, 1, 2], [1, 3, 0, 4, 2])
OTHERS = {
    "other order": LoDTensor.from_lengths(np.arange(10.0), [2, 1, 2], [3, 1, 0, 2, 4]),
    "other sequences": LoDTensor.from_lengths(np.arange(10.0), [3, 0, 2], [1, 3, 0, 4, 2]),
    "not sorted": X,
}


@for_each("other", [*OTHERS])
def test_pack_of_unpacked_steps_refuses_the_map_of_another_batch(other):
    steps, own = TensorArray.unpack(X, 1)
    _, indices_map = TensorArray.unpack(OTHERS[other], 1, sort_by_length=other != "not sorted")
    for wrong in (indices_map, indices_map.rank):
        with pytest.raises(
            LoDError, match="tensor_array_pack: indices_map: is of a batch other than that of the array"
        ):
            steps.pack(1, wrong)
    with pytest.raises(LoDError, match="is of a batch other than that of the array"), Program():
        steps.pack(1, indices_map)
    for right in (own, own.rank, TensorArray.unpack(X * 2.0, 1)[1]):
        assert steps.pack(1, right).tolist() == X.tolist()


def test_pack_of_computed_steps_takes_any_map_with_fitting_counts():
    steps, own = TensorArray.unpack(X, 1)
    _, other = TensorArray.unpack(OTHERS["other order"], 1)
    made = TensorArray()
    for t in range(len(steps)):
        made.write(t, steps.read(t) * 2.0)
    assert made.pack(1, own).tolist() == (X * 2.0).tolist()
    assert made.pack(1, other).lengths.tolist() == X.lengths.tolist()


@for_each("dtype", ["int32", "int64", ">i4"])
def test_pack_of_unpacked_steps_takes_the_positions_alone(dtype):
    steps, own = TensorArray.unpack(X, 1)
    places = own.values.astype(dtype)
    found, pullback = vjp(lambda x: TensorArray.unpack(x, 1)[0].pack(1, places), X)
    assert found.tolist() == X.tolist() == steps.pack(1, places).tolist()
    assert pullback(found)[0].tolist() == X.tolist()
    with Program() as program:
        y = TensorArray.unpack(data("x", (None,), "float64", num_levels=2), 1)[0].pack(1, data("map", (None,), "int32"))
    assert Executor().run(program, {"x": X, "map": own.values}, [y])[0].tolist() == X.tolist()
    with pytest.raises(LoDError, match="indices_map: has positions other than those of the array's steps"):
        steps.pack(1, places[::-1])
    made = TensorArray()
    made.write(0, np.ones(2))
    with pytest.raises(LoDError, match="has places only, and the array does not know the structure"):
        made.pack(1, places)


def test_pack_takes_a_map_in_a_variable_and_as_an_array():
    steps, own = TensorArray.unpack(X, 0)
    assert steps.pack(0, Variable("map", own)).tolist() == X.tolist()
    assert float(ops.sum(steps.pack(0, own.values).values)) == 45
