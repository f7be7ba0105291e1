"""Structure as results: prefixes, indices, positions and reset offsets, compared with nested lists."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LevelError, LoD, LoDTensor, ops
from lodcore.graph import vjp
from tests.helpers.agree import numbered
from tests.helpers.draw import lod_tensors
from tests.helpers.recorded import assert_recorded
from tests.helpers.tables import for_each

ANY = lod_tensors(1, 3, [np.dtype("i8"), np.dtype("U2")], [(), (2,)], 5)


# -- structure -----------------------------------------------------------------------------------------------------


@given(ANY, st.data())
def test_prefix_keeps_the_first_levels(x, data):
    count = data.draw(st.integers(0, x.num_levels))
    part = x.lod.prefix(count)
    assert part.num_levels == count
    assert [part.offsets(k).tolist() for k in range(count)] == [x.lod.offsets(k).tolist() for k in range(count)]
    assert part.num_rows == (x.lod.num_sequences(count) if count < x.num_levels else x.num_rows)
    assert x.lod.prefix(x.num_levels) is x.lod


@pytest.mark.parametrize(("count", "error"), [(3, LevelError), (-1, LevelError), (1.0, DTypeError), (True, DTypeError)])
def test_lod_prefix_refuses_a_number_of_levels_out_of_range(count, error):
    with pytest.raises(error, match=r"LoD.prefix: num_levels: is"):
        LoD.from_lengths([1], [2]).prefix(count)


@given(ANY, st.data())
def test_index_along_an_axis_gives_the_positions_of_rows(x, data):
    axis = data.draw(st.integers(0, x.num_levels))
    places = []

    def walk(entry, depth, path):
        if depth == 0:
            places.append(path[axis])
            return
        for at, inner in enumerate(entry):
            walk(inner, depth - 1, [*path, at])

    walk(numbered(x.lod), x.num_levels + 1, [])
    found = lodcore.lod_index(x, axis)
    assert found.lod is x.lod
    assert found.values.tolist() == places
    assert_recorded(lambda x: lodcore.lod_index(x, axis), x)


# -- keys ----------------------------------------------------------------------------------------------------------


STRUCTURAL = {  # operators that change the structure only: the result shares the values
    "rows_to_level": lodcore.ops.rows_to_level,
    "sequence_unflatten": lambda x: lodcore.sequence_unflatten(x, [1, 1, 2, 1]),
    "lod_reset": lambda x: lodcore.lod_reset(x, target_lod=[[0, 5]]),
    "with_values": lambda x: ops.with_values(LoD.from_lengths([1, 4]), x.values),
    "drop_level": lambda x: ops.drop_level(ops.insert_level(x, 0), 0),
    "insert_level": lambda x: ops.insert_level(x, 0),
    "flatten": lambda x: ops.insert_level(x, 0).flatten(0),
    "sequence_chunk": lambda x: lodcore.sequence_chunk(x, 2),
    "slice_along": lambda x: ops.slice_along(x, 1, 3),
}


@for_each(("name", "dtype"), itertools.product(STRUCTURAL, ["<f8", ">f8", ">i2", "?", "U3", ">M8[s]", "c8"]))
def test_values_that_are_shared_keep_dtype_and_byte_order(name, dtype):
    x = LoDTensor(np.arange(10).reshape(5, 2).astype(dtype), LoD.from_lengths([2, 0, 3]))
    found = STRUCTURAL[name](x)
    assert found.dtype == x.dtype
    assert found.dtype.byteorder == x.dtype.byteorder
    assert np.shares_memory(found.values, x.values)


@pytest.mark.parametrize("join", [lodcore.concat_batches, lodcore.sequence_concat, ops.sequence_interleave])
def test_batches_in_a_tuple_keep_their_order(join):
    xs = [LoDTensor.from_lengths(np.arange(3) + 10 * j, [j % 2 + 1, 2 - j % 2]) for j in range(3)]
    recorded = vjp(lambda *xs: join(xs), *xs)[0]
    assert join(tuple(xs)).tolist() == join(xs).tolist() == recorded.tolist()
    assert join(tuple(xs)).tolist()[0][:1] == [0]
    if join is lodcore.concat_batches:
        assert join(tuple(xs)).tolist() == [[0], [1, 2], [10, 11], [12], [20], [21, 22]]


# -- other functions of NumPy ------------------------------------------------------------------------------------------


LENGTHS = [3, 0, 1, 4]


def cut(values, lengths=LENGTHS):
    """Split rows into those of each sequence."""
    return np.split(values, np.cumsum(lengths)[:-1])


@pytest.mark.not_on_reference
def test_lod_reset_takes_offsets_as_lists_tuples_arrays_or_a_lod():
    x, one, two = np.arange(5), [0, 2, 5], [[0, 1, 2], [0, 2, 5]]
    forms = [one, tuple(one), np.array(one), np.array(one)[:, None], LoD.from_offsets(one)]
    forms += [[one], (one,), [tuple(one)], [np.array(one)], np.array([one])]
    for form in forms:
        assert lodcore.lod_reset(x, target_lod=form).tolist() == [[0, 1], [2, 3, 4]]
    for form in (two, tuple(two), [tuple(level) for level in two], [np.array(level) for level in two], np.array(two)):
        assert lodcore.lod_reset(x, target_lod=form).tolist() == [[[0, 1]], [[2, 3, 4]]]


@pytest.mark.not_on_reference
def test_the_number_of_rows_is_an_int64_of_numpy_as_it_is_recorded():
    with lodcore.Program() as program:
        recorded = lodcore.num_rows(lodcore.data("x", (None,), "float64", num_levels=1))
    x = lodcore.array([[1.0, 2.0], [], [3.0]])
    found = [lodcore.num_rows(one) for one in (x, x.tolist(), x.values, [[1], [2, 3]])]
    for one in (*found, lodcore.Executor().run(program, {"x": x}, [recorded])[0]):
        assert type(one) is np.int64
        assert one == 3


@pytest.mark.not_on_reference
def test_argwhere_among_many_sequences_equals_a_loop():
    lengths = np.arange(300) % 3
    values = np.arange(lengths.sum()) % 4 // 3
    x = LoDTensor.from_lengths(values, np.full(100, 3), lengths)
    wanted = [
        [j // 3, j % 3, t] for j, part in enumerate(cut(values, lengths)) for t, value in enumerate(part) if value
    ]
    assert ops.argwhere(x).tolist() == wanted


@pytest.mark.not_on_reference
def test_lod_reset_in_a_program_has_the_levels_of_the_lod():
    with lodcore.Program():
        x = lodcore.data("x", (None,), num_levels=1)
        levels = [lodcore.lod_reset(x, y).num_levels for y in (LoD.from_offsets(num_rows=3), LoD.from_lengths([1, 2]))]
    assert levels == [0, 1]
