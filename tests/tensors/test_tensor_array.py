"""TensorArray: unpack and pack compared with their oracles; stack, concat and sizes of written elements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import IndicesMap, LoD, LoDError, LoDTensor, TensorArray
from lodcore.graph.loops.array_versions import ArrayVariable
from lodcore.operators.registry import OPS
from reference.ops import tensor_arrays as oracle
from reference.ops.gather import concat_batches
from reference.ops.levels import sequences
from tests.helpers.agree import assert_lod, assert_rows, from_the_first, numbered, same, same_memory
from tests.helpers.draw import lod_tensors, values


@st.composite
def unpacked(draw):
    """Draw a LoDTensor, a level, whether to sort, and the result of unpack."""
    x = draw(lod_tensors())
    level = draw(st.integers(-x.num_levels, x.num_levels - 1))
    by_length = draw(st.booleans())
    return x, level, by_length, *TensorArray.unpack(x, level, sort_by_length=by_length)


# -- unpack and pack -----------------------------------------------------------------------------------------------


@given(unpacked())
def test_unpack_makes_the_steps_of_the_oracle(drawn):
    x, level, by_length, steps, _ = drawn
    k = from_the_first(level, x.lod)
    wanted = oracle.unpack(numbered(x.lod), k, by_length)
    assert steps.size() == len(steps) == len(wanted)
    assert steps.sizes().tolist() == [len(step) for step in wanted]
    for t, step in enumerate(steps):
        assert_rows(step, wanted[t], x.num_levels - k - 1, x.values)
        array = step.values if isinstance(step, LoDTensor) else step
        assert not array.flags.writeable
        assert not np.may_share_memory(array, x.values)
    out = np.zeros_like(x.values)
    again, _ = TensorArray.unpack(x, level, by_length, out=out)
    for t, step in enumerate(again):
        assert_rows(step, wanted[t], x.num_levels - k - 1, x.values)
        array = step.values if isinstance(step, LoDTensor) else step
        assert array.nbytes == 0 or np.shares_memory(array, out)
        assert not array.flags.writeable
    assert out.flags.writeable


@given(unpacked())
def test_indices_map_of_unpack_is_that_of_the_oracle(drawn):
    x, level, by_length, _, indices_map = drawn
    k = from_the_first(level, x.lod)
    wanted = oracle.indices_map(numbered(x.lod), k, by_length)
    assert indices_map.tolist() == wanted == list(indices_map)
    assert indices_map.shape == (len(wanted),) == (len(indices_map),)
    assert np.asarray(indices_map).dtype == indices_map.dtype == np.int32
    assert not indices_map.values.flags.writeable
    assert indices_map.clone().tolist() == wanted
    assert indices_map.lod is x.lod
    assert indices_map.level == k


@given(unpacked())
def test_pack_after_unpack_is_the_identity(drawn):
    x, level, _, steps, indices_map = drawn
    assert same(steps.pack(level, indices_map), x)
    assert same(steps.pack(from_the_first(level, x.lod), indices_map), x)
    rewritten = TensorArray()
    for t, step in enumerate(steps):
        rewritten.write(t, step, data_shared=False)
    if rewritten.size():  # without steps the dtype is unknown
        assert same(rewritten.pack(level, indices_map), x)
    else:
        with pytest.raises(
            ValueError, match="tensor_array_pack: the array is empty, and nothing is known of its elements"
        ):
            rewritten.pack(level, indices_map)
    for ta in [steps, rewritten][: 1 + rewritten.size()]:
        out = np.zeros_like(x.values)
        packed = ta.pack(level, indices_map, out=out)
        assert same_memory(packed.values, out)
        assert same(packed, x)


@given(unpacked(), st.data())
def test_pack_takes_steps_of_other_widths_dtypes_and_levels(drawn, data):
    """Other widths, dtypes and finer levels are restored, if the numbers of elements agree."""
    x, level, by_length, steps, indices_map = drawn
    k = from_the_first(level, x.lod)
    if not steps.size():
        return
    count = len(indices_map)
    finer = LoD.from_lengths(np.arange(count) % 3) if data.draw(st.booleans()) else None
    fresh = data.draw(values(n_rows=count if finer is None else finer.num_rows))
    source = fresh if finer is None else LoDTensor(fresh, finer)
    starts = np.cumsum([0, *steps.sizes()])
    made = TensorArray(steps.size(), dynamic=False)
    for t in reversed(range(steps.size())):
        made.write(t, source[starts[t] : starts[t + 1]])
    elements = list(range(count)) if finer is None else numbered(finer)
    wanted_steps = [elements[starts[t] : starts[t + 1]] for t in range(steps.size())]
    packed = made.pack(level, indices_map)
    wanted = oracle.pack(wanted_steps, numbered(x.lod), k, by_length)
    assert_rows(packed, wanted, k + 1 + (finer is not None), fresh)


def test_an_unpack_shares_the_steps_of_x_with_nobody():
    x = LoDTensor(np.arange(6.0), LoD.from_lengths([1, 3, 2]), share=True)
    steps, indices_map = TensorArray.unpack(x, 0)
    x.values[:] = -1
    assert list(map(list, steps)) == [[1.0, 4.0, 0.0], [2.0, 5.0], [3.0]]
    assert steps.pack(0, indices_map).tolist() == [[0.0], [1.0, 2.0, 3.0], [4.0, 5.0]]


def test_overwritten_and_grown_steps():
    steps, indices_map = TensorArray.unpack([[1, 2, 3], [], [4]], 0)
    steps.write(1, [20])
    assert list(map(list, steps)) == [[1, 4], [20], [3]]
    assert steps.pack(0, indices_map).tolist() == [[1, 20, 3], [], [4]]
    assert steps.sizes().tolist() == [2, 1, 1]
    steps.write(3, [0])
    with pytest.raises(lodcore.LoDError, match="4"):
        steps.pack(0, indices_map)


# -- other ways to fill an array -----------------------------------------------------------------------------------


@given(lod_tensors())
def test_unstack_of_sequences(x):
    ta = TensorArray.unstack(x)
    assert ta.size() == len(x)
    for element, sequence in zip(ta, numbered(x.lod), strict=True):
        assert_rows(element, sequence, x.num_levels - 1, x.values)
        array = element.values if isinstance(element, LoDTensor) else element
        assert not array.flags.writeable
        assert array.nbytes == 0 or np.shares_memory(array, x.values)
    if x.num_levels == 1:
        assert ta.sizes().tolist() == x.lengths.tolist()
    else:
        assert ta.sizes().tolist() == [len(sequence) for sequence in numbered(x.lod)]
    if len(x):
        assert_rows(ta.concat(), concat_batches(numbered(x.lod)), x.num_levels - 1, x.values)
    if x.num_levels > 1 and len(x):
        assert same(ta.stack(), x)


def test_concat_and_stack_of_sequences():
    a, b = lodcore.array([[1], [2, 3]]), lodcore.array([[], [4], [5]])
    ta = TensorArray()
    ta.write(0, a)
    ta.write(1, b)
    assert ta.concat().tolist() == [[1], [2, 3], [], [4], [5]]
    assert ta.stack().tolist() == [[[1], [2, 3]], [[], [4], [5]]]
    assert ta.sizes().tolist() == [2, 3]
    assert not np.may_share_memory(ta.concat().values, a.values)
    wide = LoDTensor(np.arange(6).reshape(3, 2), a.lod)
    ta = TensorArray()
    ta.write(0, wide)
    ta.write(1, LoDTensor(wide.values + 10, a.lod))
    for axis in (1, -1):
        assert ta.concat(axis).values.tolist() == [[0, 1, 10, 11], [2, 3, 12, 13], [4, 5, 14, 15]]
        assert_lod(ta.concat(axis).lod, [[0], [1, 2]], 1)
    assert ta.stack(1).values.tolist() == [[[0, 1], [10, 11]], [[2, 3], [12, 13]], [[4, 5], [14, 15]]]
    assert ta.stack(-1).values.tolist() == np.stack([wide.values, wide.values + 10], -1).tolist()
    assert ta.stack(1).lod is a.lod


# -- written elements --------------------------------------------------------------------------------------------------


def test_write_shares_or_copies():
    ta = TensorArray()
    mine = np.arange(3)
    x = LoDTensor(np.arange(3.0), LoD.from_lengths([3]), share=True)
    ta.write(0, mine)
    ta.write(1, mine, data_shared=False)
    ta.write(2, x)
    ta.write(3, x, data_shared=False)
    mine[0] = x.values[0] = 9
    assert ta.read(0) is mine
    assert ta.read(1).tolist() == [0, 1, 2]
    assert ta.read(2) is x
    assert ta.read(3).tolist() == [[0.0, 1.0, 2.0]]


@pytest.mark.parametrize("number", [1, np.int8(1), np.uint64(1), np.array(1), np.array([1]), np.array([[1]], np.uint8)])
def test_an_index_is_any_integer(number):
    ta = TensorArray(3)
    ta.write(number, [1, 2])
    assert ta.read(number).tolist() == [1, 2]


def test_stacks_of_an_untouched_array_copy_nothing():
    dense = np.arange(6).reshape(3, 2)
    ta = TensorArray.unstack(dense)
    assert np.shares_memory(ta.stack(), dense)
    assert not ta.stack().flags.writeable
    steps, _ = TensorArray.unpack([[1, 2], [3]], 0)
    assert np.shares_memory(steps.concat(), steps.read(0))
    assert not steps.concat().flags.writeable
    wide = np.arange(12.0).reshape(3, 2, 2)
    joined = TensorArray.unstack(wide).concat()
    assert np.shares_memory(joined, wide)
    assert not joined.flags.writeable
    assert joined.tolist() == wide.reshape(6, 2).tolist()
    other = TensorArray.unstack(wide, 1).concat()  # whose steps do not follow each other
    assert other.tolist() == np.concatenate([wide[:, 0], wide[:, 1]]).tolist()
    (gradient,) = lodcore.vjp(lambda x: TensorArray.unstack(x).concat(), wide)[1](joined)
    assert gradient.tolist() == wide.tolist()
    assert TensorArray.unstack(np.ones((2, 0, 3))).concat().shape == (0, 3)


def test_size_of_an_array_made_of_a_source():
    assert TensorArray(4, unstack_from=[1, 2]).size() == 4
    fixed = TensorArray(dynamic=False, unstack_from=[1, 2])
    fixed.write(1, 7)
    assert list(fixed) == [1, 7]
    with pytest.raises(IndexError, match="2"):
        fixed.write(2, 7)


def test_repr_of_tensor_arrays_counts_elements_and_holes():
    assert repr(TensorArray()) == "TensorArray(empty)"
    ta = TensorArray(3)
    ta.write(1, [0])
    assert repr(ta) == "TensorArray(3 elements, 2 of them holes)"
    assert repr(TensorArray.unstack([7])) == "TensorArray(1 element)"
    _, indices_map = TensorArray.unpack([[1, 2], [3]], 0)
    assert repr(indices_map) == "IndicesMap(level 0, 2 steps: [0, 2, 1])"
    assert isinstance(indices_map, IndicesMap)


@given(lod_tensors(min_levels=2))
def test_sequences_of_steps_are_those_of_x(x):
    """Nothing is lost or duplicated by conversion to steps and back."""
    steps, _ = TensorArray.unpack(x, 0, sort_by_length=False)
    elements = [len(inner) for inner in sequences(numbered(x.lod), 1)]
    assert sorted(elements) == sorted(
        len(inner) for step in steps for inner in (step if isinstance(step, LoDTensor) else [])
    )


def test_unstack_of_other_byte_orders_and_subclasses_gives_plain_arrays():
    swapped = TensorArray.unstack(np.arange(3, dtype=">i4"))
    assert swapped.stack().dtype == np.dtype("=i4")
    numbers = np.arange(3)
    element = TensorArray.unstack(numbers).read(1)
    assert type(element) is np.ndarray
    assert element.shape == ()
    assert np.shares_memory(element, numbers)


def test_stack_and_concat_after_a_write_have_the_new_element():
    rows = np.arange(6.0).reshape(3, 2)
    for x in (rows, LoDTensor.from_lengths(rows, [1, 1, 1])):
        steps = TensorArray.unstack(x) if x is rows else TensorArray.unpack(x, 0)[0]
        whole = steps.concat(0) if isinstance(x, LoDTensor) else steps.stack(0)
        np.testing.assert_array_equal(whole, rows)
        steps.write(0, steps.read(0) + 10.0)
        whole = steps.concat(0) if isinstance(x, LoDTensor) else steps.stack(0)
        np.testing.assert_array_equal(whole[0], rows[0] + 10.0)
        np.testing.assert_array_equal(rows[0], [0.0, 1.0])


@pytest.mark.parametrize(("level", "other"), [(0, 1), (1, 0)])
def test_pack_at_another_level_than_that_of_the_map(level, other):
    x = lodcore.array([[[1.0], [2.0]], [[3.0], [4.0]]])
    steps, indices_map = TensorArray.unpack(x, level)
    with pytest.raises(LoDError, match=rf"level: is {other}; the map is of level {level}"):
        steps.pack(other, indices_map)


# -- methods ---------------------------------------------------------------------------------------------------------

METHODS = {
    "write": "tensor_array_write",
    "read": "tensor_array_read",
    "size": "tensor_array_size",
    "sizes": "tensor_array_sizes",
    "stack": "tensor_array_stack",
    "concat": "tensor_array_concat",
    "pack": "tensor_array_pack",
    "__getitem__": "tensor_array_read",
    "__setitem__": "tensor_array_write",
}


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", METHODS)
def test_methods_are_operators(name):
    """Methods attached by name: of arrays, of recorded arrays, and with one docstring."""
    operator = OPS[METHODS[name]]
    assert getattr(TensorArray, name) is getattr(ArrayVariable, name) is operator
    assert getattr(TensorArray(), name).__doc__ == operator.__doc__


@pytest.mark.not_on_reference
@pytest.mark.parametrize("name", ["unstack", "unpack"])
def test_makers_are_operators(name):
    operator = OPS[f"tensor_array_{name}"]
    for method in (getattr(TensorArray, name), getattr(TensorArray(), name)):
        assert method.__wrapped__ is operator
        assert method.__doc__ == operator.__doc__


@pytest.mark.not_on_reference
def test_write_returns_none_and_takes_the_element_as_value():
    array = TensorArray()
    assert array.write(0, value=np.arange(2)) is None
    assert array.write(index=1, value=np.arange(3), data_shared=False) is None
    assert [element.tolist() for element in array] == [[0, 1], [0, 1, 2]]
    with pytest.raises(TypeError):
        array.write(0, np.arange(2), x=np.arange(2))
    with pytest.raises(TypeError):
        array.write(0, value=np.arange(2), x=np.arange(3))


def test_clones_share_nothing():
    """Also elements that were not written, and are views of the initial content."""
    dense, ragged = np.arange(6.0).reshape(3, 2), lodcore.array([[1.0], [2.0, 3.0], []])
    for ta in (TensorArray(unstack_from=dense), TensorArray(unstack_from=ragged), TensorArray.unpack(ragged, 0)[0]):
        ta.write(0, ta.read(0) + 1)
        other = ta.clone()
        for one, mine in zip(other, ta, strict=True):
            one, mine = (getattr(x, "values", x) for x in (one, mine))
            assert one.tolist() == mine.tolist()
            assert one.nbytes == 0 or not np.shares_memory(one, mine)
            assert one.flags.writeable
    known = TensorArray(unstack_from=dense)
    assert not np.shares_memory(known.clone().read(1), dense)


def test_sizes_along_every_axis():
    """Elements with levels have axes of known length before and after the ragged ones."""
    steps, wide = TensorArray(), LoDTensor.from_lengths(np.zeros((3, 4)), [1, 2])
    steps.write(0, wide)
    steps.write(1, wide[:1])
    assert steps.sizes().tolist() == steps.sizes(-3).tolist() == [2, 1]
    assert steps.sizes(2).tolist() == steps.sizes(-1).tolist() == [4, 4]
    for axis in (1, -2, 3, -4):
        with pytest.raises(
            IndexError, match=rf"tensor_array_sizes: axis: is {axis}; element 0 has shape \(2, None, 4\)"
        ):
            steps.sizes(axis)


@pytest.mark.parametrize(
    ("element", "stacked", "joined"),
    [
        ((), [(0,), (0,)], []),
        ((2,), [(0, 2), (2, 0)], [(0,)]),
        ((2, 3), [(0, 2, 3), (2, 0, 3), (2, 3, 0)], [(0, 3), (2, 0)]),
    ],
)
def test_arrays_of_no_elements_whose_shape_is_known(element, stacked, joined):
    ta = TensorArray(unstack_from=np.zeros((0, *element), np.float32))
    for axis, shape in enumerate(stacked[: len(element) + 1]):
        for at in (axis, axis - len(element) - 1):
            assert (ta.stack(at).shape, ta.stack(at).dtype) == (shape, np.float32)
    for axis, shape in enumerate(joined):
        for at in (axis, axis - len(element)):
            assert (ta.concat(at).shape, ta.concat(at).dtype) == (shape, np.float32)
    empty = TensorArray(unstack_from=lodcore.array([[[1]]])[:0])
    assert (empty.stack().num_levels, empty.concat().num_levels) == (2, 1)
    assert (empty.stack(1).shape, empty.stack(-1).shape) == ((0, None, 0), (0, None, 0))


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -2])
def test_gradients_of_arrays_along_every_axis(axis):
    """Of elements that are stacked, joined, and cut; elements that nobody reads have a gradient of zeros."""
    x = np.sin(np.arange(24.0)).reshape(2, 3, 4)
    halves = [x, x[..., ::-1].copy()]

    found, back = lodcore.vjp(lambda *xs: lodcore.tensor_array_stack(array_of(xs), axis), *halves)
    d = np.cos(np.arange(found.size)).reshape(found.shape)
    for one, wanted in zip(back(d), np.moveaxis(d, axis, 0), strict=True):
        np.testing.assert_array_equal(one, wanted)
    if axis < 3:
        found, back = lodcore.vjp(lambda *xs: lodcore.tensor_array_concat(array_of(xs), axis), *halves)
        d = np.cos(np.arange(found.size)).reshape(found.shape)
        for one, wanted in zip(back(d), np.split(d, 2, axis), strict=True):
            np.testing.assert_array_equal(one, wanted)
        steps = x.shape[axis]
        read = sorted({0, steps - 1})

        def some(x):
            cut = lodcore.tensor_array_unstack(x, axis)
            return [cut.read(at) for at in read][-1] + cut.read(0)

        found, back = lodcore.vjp(some, x)
        wanted = np.zeros_like(x)
        for at in (read[-1], 0):
            np.moveaxis(wanted, axis, 0)[at] += 1
        np.testing.assert_array_equal(back(np.ones_like(found))[0], wanted)


def array_of(xs):
    """Write elements one after another."""
    array = TensorArray()
    for at, x in enumerate(xs):
        array.write(at, x)
    return array


def test_a_size_is_a_number_beside_what_is_unstacked():
    with pytest.raises(lodcore.DTypeError, match="TensorArray: size: is LoDTensor"):
        TensorArray(lodcore.array([[1], [2, 3]]), unstack_from=np.ones(2))


def test_an_array_has_the_given_name():
    assert (TensorArray().name, TensorArray(name="steps").name) == ("array", "steps")
