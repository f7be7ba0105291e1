"""Structures, constructors and padding at their limits: one more or less is refused, what is shared is read-only."""

import copy
import pickle

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # arguments are checked above the kernels

NAN = np.nan
LOD = LoD.from_lengths([1, 2])


class Sub(LoDTensor):
    """A subclass that adds nothing."""

    __slots__ = ()


class Kind(np.ndarray):
    """A subclass of arrays."""


#: Each constructor on the rows of two sequences, of one and of two.
MAKERS = {
    "LoDTensor": lambda kind, rows: kind(rows, LOD),
    "from_offsets": lambda kind, rows: kind.from_offsets(rows, [0, 1, 3]),
    "from_row_splits": lambda kind, rows: kind.from_row_splits(rows, [0, 1, 3]),
    "from_lengths": lambda kind, rows: kind.from_lengths(rows, [1, 2]),
    "from_segment_ids": lambda kind, rows: kind.from_segment_ids(rows, [0, 1, 1]),
}
COPIERS = {
    "from_starts_stops": lambda kind, rows: kind.from_starts_stops(rows, [0, 1], [1, 3]),
    "from_arrays": lambda kind, rows: kind.from_arrays([rows[:1], rows[1:]]),
    "from_padded": lambda kind, rows: kind.from_padded([rows[[0, 0]], rows[1:]], [1, 2]),
    "clone": lambda kind, rows: kind(rows, LOD).clone(),
    "to_packed": lambda kind, rows: kind(rows, LOD).to_packed(),
    "copy": lambda kind, rows: copy.copy(kind(rows, LOD)),
    "deepcopy": lambda kind, rows: copy.deepcopy(kind(rows, LOD)),
    "pickle": lambda kind, rows: pickle.loads(pickle.dumps(kind(rows, LOD))),
}


def unaligned(rows):
    """Return rows at an odd address."""
    data = bytearray(rows.nbytes + 1)
    made = np.frombuffer(data, rows.dtype, offset=1).reshape(rows.shape)
    made[...] = rows
    return made


@for_each("name", [*MAKERS, *COPIERS])
def test_constructors_keep_the_class_and_guard_what_they_share(name):
    make, rows = {**MAKERS, **COPIERS}[name], np.arange(3.0)
    for kind in (LoDTensor, Sub):
        x = make(kind, rows)
        assert type(x) is kind
        assert x.tolist() == [[0.0], [1.0, 2.0]]
        assert np.shares_memory(x.values, rows) == (name in MAKERS)
        assert x.values.flags.writeable == (name in COPIERS)
        if name in MAKERS:
            with pytest.raises(ValueError, match="read-only"):
                x[0] = 7.0
    assert rows.flags.writeable


@for_each("name", [*MAKERS, "from_starts_stops", "from_arrays", "from_padded"])
def test_rows_are_converted_to_native_aligned_contiguous_ones_of_their_own(name):
    rows = np.arange(1.0, 4.0)
    wide = np.zeros((3, 2))
    wide[:, 1] = rows
    for given in (
        rows.astype(">f8"),
        wide[:, 1],
        unaligned(rows),
        rows[::-1].copy()[::-1],
        unaligned(rows.astype(">f8")),
    ):
        x = {**MAKERS, **COPIERS}[name](LoDTensor, given)
        assert x.dtype == np.dtype("=f8")
        assert x.dtype.isnative
        assert x.values.flags.aligned
        assert x.values.flags.c_contiguous
        assert not np.shares_memory(x.values, given)
        x[0] = 9.0
        assert x.tolist() == [[9.0], [2.0, 3.0]]
        assert given.tolist() == [1.0, 2.0, 3.0]
    x = {**MAKERS, **COPIERS}[name](LoDTensor, rows.view(Kind))
    assert type(x.values) is np.ndarray
    assert type(x[1]) is np.ndarray


def test_lists_of_numbers_make_tensors_that_can_be_written_to():
    for name, make in MAKERS.items():
        x = make(LoDTensor, [1.0, 2.0, 3.0])
        x[1] = 0.0
        assert x.tolist() == [[1.0], [0.0, 0.0]], name


@for_each("dtype", [">f4", ">i2", ">c8", "f2", "i1"])
def test_array_and_conversions_with_a_dtype_of_another_byte_order_are_native(dtype):
    native = np.dtype(dtype).newbyteorder("=")
    rows = np.arange(3, dtype=">f8")
    for x in (
        lodcore.array([[1], [2, 3]], dtype),
        lodcore.array([rows, rows], dtype),
        lodcore.array(lodcore.array([[1.0]]), dtype),
        lodcore.array([lodcore.array([[1.0]])], dtype),
        LoDTensor.from_arrays([rows.astype("=f8")], dtype),
        LoDTensor.from_arrays([rows, rows], dtype),
        LoDTensor.from_arrays([], dtype),
        lodcore.array([[]], dtype),
    ):
        assert x.dtype == native
        assert x.dtype.isnative
    swapped = LoDTensor.from_arrays([rows, rows[1:]])
    assert swapped.dtype.isnative
    assert swapped.tolist() == [[0.0, 1.0, 2.0], [1.0, 2.0]]
    assert LoDTensor.from_arrays([rows.astype("=f4"), rows]).dtype == float


def test_from_arrays_with_out_uses_it_as_values():
    out = np.zeros(3)
    x = LoDTensor.from_arrays([np.ones(1), np.full(2, 2.0)], out=out)
    assert x.values is out
    assert out.tolist() == [1.0, 2.0, 2.0]
    assert LoDTensor.from_segment_ids([1.0], [0], num_sequences=3).tolist() == [[1.0], [], []]


# -- structures --------------------------------------------------------------------------------------------------------


def test_from_segment_ids_takes_2_to_20_sequences_more_than_rows_and_no_more():
    most = 2**20
    assert LoD.from_segment_ids([most - 1]).num_sequences() == most
    with pytest.raises(LoDError, match=f"ids: is {most} at row 1; 2 rows would make {most + 1} sequences"):
        LoD.from_segment_ids([0, most])
    count = 1_048_600  # more than 2**20, of which each hundred have a row
    ids = np.zeros(10486, int)
    ids[-1] = count - 1
    assert LoD.from_segment_ids(ids).num_sequences() == count
    with pytest.raises(LoDError, match="nearly all of them empty"):
        LoD.from_segment_ids(ids[1:])


def test_each_level_of_seven_is_dropped_and_composed():
    lengths = [[2], [1, 2], [2, 0, 1], [1, 2, 1], [0, 1, 1, 2], [2, 1, 0, 1], [1, 0, 2, 1]]
    lod = LoD.from_lengths(*lengths)
    for k in range(7):
        dropped = lod.drop(k)
        assert dropped.num_levels == 6
        for other in [*range(k), *range(k + 1, 7)]:
            assert dropped.row_offsets(other - (other > k)).tolist() == lod.row_offsets(other).tolist()
            assert lod.segment_ids(other).tolist() == dropped.segment_ids(other - (other > k)).tolist()
        assert lod.prefix(k + 1).num_rows == sum(lengths[k])
    assert lod.row_offsets(0).tolist() == [0, 4]
    assert lod.row_offsets(2).tolist() == [0, 3, 3, 4]
    assert lod.prefix(7) is lod
    assert lod.positions(2).tolist() == [0, 1, 2, 0]


WRONG = [
    ("LoD.from_lengths([1], [2], [1, 1, 1])", LoDError, r"lengths\[1\]: add up to 2; level 2 has 3 sequences"),
    ("LoD.from_lengths([1], [1], [2], [1])", LoDError, r"lengths\[2\]: add up to 2; level 3 has 1 sequences"),
    ("LoD.from_lengths([1], [1], [-1])", LoDError, r"lengths\[2\]: is -1 at position 0"),
    ("LoD.from_lengths([2], num_rows=0)", LoDError, r"lengths\[0\]: add up to 2; num_rows is 0"),
    ("LoD.from_offsets([0, 2], num_rows=0)", LoDError, r"offsets\[0\]: is 2 at position 1; .*the number of rows, 0"),
    ("LoD.from_offsets([0, 1], [0, 1], [0, 1, 2])", LoDError, r"offsets\[1\]: is 1 at position 1; .*level 2, 2"),
    ("LOD.append(lengths=[1, 1, 1, 1])", LoDError, "lengths: make 4 sequences; the last level counts 3"),
    ("LOD.append(offsets=[0, 1, 1, 2, 3])", LoDError, "offsets: make 4 sequences; the last level counts 3"),
    ("LOD.append(lengths=[1, 1])", LoDError, "lengths: make 2 sequences; the last level counts 3"),
    ("LOD.prefix(-1)", LevelError, "num_levels: is -1; 0 .. 1 is valid"),
    ("LOD.prefix(2)", LevelError, "num_levels: is 2; 0 .. 1 is valid"),
    ("LoDTensor.from_starts_stops([1, 2], [0], [1, 2])", ShapeError, "stops: has 2 entries; starts has 1"),
    ("LoDTensor.from_starts_stops([1, 2], [0, 0], [1])", ShapeError, "stops: has 1 entries; starts has 2"),
    ("LoDTensor.from_arrays([np.ones((2, 3)), np.ones((0, 4))])", ShapeError, r"arrays\[1\]: has rows of shape \(4,\)"),
    ("LoDTensor.from_arrays([np.ones((0, 3)), np.ones((2, 4))])", ShapeError, r"arrays\[1\]: has rows of shape \(4,\)"),
    ("LoDTensor(np.broadcast_to(0.0, (2**45,)), LOD)", MemoryError, "LoDTensor: values: the result has"),
    (
        "LoDTensor.from_lengths(np.broadcast_to(0.0, (2**45,)), [1])",
        MemoryError,
        "from_lengths: values: the result has",
    ),
    ("lodcore.array([[1.0], [2.0, None]])", DTypeError, r"obj\[1\]\[1\]: is None; write nan"),
    ("lodcore.array([[], [1.0], [None, 2.0]])", DTypeError, r"obj\[2\]\[0\]: is None; write nan"),
    ("lodcore.array([[[1.0], []], [[2.0, {}]]])", DTypeError, r"obj\[1\]\[0\]\[1\]: is {}; what is of type dict"),
    ("lodcore.array([['a', 'b'], ['c', 1]])", DTypeError, "value 3 is 1 among text"),
    ("lodcore.array([[b'a'], [b'b', 1.5]])", DTypeError, "value 2 is 1.5 among text"),
    ("lodcore.array([[b'a'], ['b']])", DTypeError, "value 0 is b'a' among text"),
    ("NUMBERS.to_padded(None)", DTypeError, "fill_value: is None; float64 cannot hold it"),
    ("NUMBERS.to_padded(np.array('1', object))", DTypeError, "fill_value: is array.*; float64 cannot hold it"),
    ("NUMBERS.to_padded(1j)", DTypeError, "fill_value: is 1j; float64 cannot hold it"),
    ("NUMBERS.to_padded([[0.0]])", ShapeError, r"fill_value: has shape \(1, 1\); a number or a row of shape \(\)"),
    (
        "PAIRS.to_padded([[0.0, 1.0]] * 3)",
        ShapeError,
        r"fill_value: has shape \(3, 2\); a number or a row of shape \(2,\)",
    ),
    (
        "PAIRS.to_padded([0.0, 1.0, 2.0])",
        ShapeError,
        r"fill_value: has shape \(3,\); a number or a row of shape \(2,\)",
    ),
    ("lodcore.array([[b'ab'], []]).to_padded(b'abc')", DTypeError, "fill_value: is b'abc'; .S2 cannot hold it"),
    (
        "lodcore.array([['ab'], []]).to_padded('abc')",
        DTypeError,
        "fill_value: is 'abc'; .U2 cannot hold it; x.ast.*'U3'. has",
    ),
    ("lodcore.array([[True], []]).to_padded(2)", DTypeError, "fill_value: is 2; bool cannot hold it"),
    ("LoDTensor.from_padded([[1, 2]], mask=[True])", ShapeError, r"mask: has shape \(1,\); dense has \(1, 2\)"),
    ("LoDTensor.from_padded([[1, 2]], mask=np.ones((1, 2)))", DTypeError, "mask: has dtype float64; bool, or integers"),
    ("LoDTensor.from_padded([[1, 2]], mask=[[1, 255]])", ValueError, r"mask: is 255 at position \(0, 1\); 0 or 1 is"),
    (
        "LoDTensor.from_padded(np.zeros((1, 2, 2)), lodcore.array([[1, 3]]))",
        LoDError,
        "is 3 at position 1 of level 1; .* 2 rows",
    ),
    (
        "LoDTensor.from_padded(np.zeros((1, 1, 2)), lodcore.array([[1, 1]]))",
        LoDError,
        "is 2 at position 0 of level 0; .* 1 lines",
    ),
    ("NUMBERS.__reduce__()[0](np.ones(3), 5)", DTypeError, "lod: is int; a LoD is needed"),
    ("bool(lodcore.array([[]]))", ValueError, "the truth value of several values, or of none, is ambiguous"),
    (
        "LoDTensor(np.zeros(5002), MANY).to_regular()",
        ShapeError,
        "sequence 5000 of level 0 has length 2, the first one 1",
    ),
]
NUMBERS = lodcore.array([[1.5], [2.0, 3.0]])
PAIRS = LoDTensor(np.arange(6.0).reshape(3, 2), LOD)
MANY = LoD.from_lengths(np.append(np.ones(5000, int), 2))


@for_each(("call", "error", "says"), WRONG)
def test_constructors_beyond_their_limits_raise(call, error, says):
    with pytest.raises(error, match=says):
        eval(call)


def test_array_takes_lists_of_64_levels_and_no_more():
    nested = [[1.0]]
    for _ in range(63):
        nested = [nested]
    assert lodcore.array(nested).num_levels == 64
    with pytest.raises(LoDError, match="has more than 64 levels"):
        lodcore.array([nested])
    assert lodcore.array([["ab"], []]).to_padded().tolist() == [["ab"], ["0"]]
    assert lodcore.array([[b"ab"], []]).to_padded().tolist() == [[b"ab"], [b"0"]]
    for before in ([], [[]], [[], [[]]]):
        inner = [*before]
        inner.append(inner)
        with pytest.raises((LoDError, ShapeError), match=r"does (a list|it) contain itself"):
            lodcore.array([[], inner])


def test_truth_and_equality_of_one_value():
    for value in (0.0, 0, False):
        assert not lodcore.array([[value]])
    assert lodcore.array([[NAN]])
    pair = LoDTensor.from_lengths(np.array([(1, NAN), (2, 0.5)], "i4,f8"), [2])
    assert pair.equals(pair.copy())
    whole = LoDTensor.from_lengths(np.array([(1, 2.0), (3, 4.0)], "i4,f8"), [1, 1])
    assert whole.equals([[(1, 2.0)], [(3, 4.0)]])
    assert not whole.equals([[(1, 2.0)], [(3, 5.0)]])
    days = lodcore.array([[np.datetime64("NaT", "s"), np.datetime64(0, "s")]])
    assert days.equals([[np.datetime64("NaT", "s"), np.datetime64("1970-01-01")]])
    assert lodcore.array([[1], [2]], "i1").equals([[1.0], [2.0]])
    assert not lodcore.array([[1], [2]], "i1").equals([[1.5], [2.0]])
    assert not lodcore.array([[1], [2]], "i1").equals([[257], [2]])
    wide = LoDTensor.from_lengths(np.zeros((0, 2, 3)), [0, 0])
    assert wide.equals([[], []])
    assert wide.equals(LoDTensor.from_lengths(np.zeros((0, 2, 3)), [0, 0]))
    assert not days.equals([[np.datetime64("NaT", "s"), np.datetime64("1970-01-02")]])
    assert PAIRS.equals([[[0, 1]], [[2, 3], [4, 5]]])
    for other in (
        [[[0, 1]], [[2], [3, 4, 5]]],
        [[[0, 1]], [[2, 3, 4], [5]]],
        [[[0, 1]], [[2, 3, 4, 5]]],
        [[[0]], [[1]]],
    ):
        assert not PAIRS.equals(other)
    cubes = LoDTensor.from_lengths(np.arange(8).reshape(2, 2, 2), [1, 1])
    assert cubes.equals([[[[0, 1], [2, 3]]], [[[4, 5], [6, 7]]]])
    assert not cubes.equals([[[[0, 1], [2, 3]]], [[[4], [5, 6, 7]]]])


def test_sequences_are_unstacked_along_their_first_axis_only():
    for x in (NUMBERS, PAIRS, lodcore.array([[[1], []]])):
        for axis in range(-x.ndim - 1, x.ndim + 1):
            if axis in (0, -x.ndim):
                assert lodcore.TensorArray.unstack(x, axis).size() == len(x)
                continue
            with pytest.raises(ShapeError, match=f"axis: is {axis}; a LoDTensor is cut along axis 0"):
                lodcore.TensorArray.unstack(x, axis)


# -- padding -----------------------------------------------------------------------------------------------------------


@for_each(
    ("lengths", "says"),
    [
        ([[4, 5], [1]], "is 5 at position 1 of level 1; a line has 4 rows"),
        ([[4, 0, 4], [6]], "is 6 at position 3 of level 1; a line has 4 rows"),
        ([[1, 1], [4, 4, 4, 4]], "is 4 at position 1 of level 0; a line has 3 lines"),
        ([[1], [4], [1]], "has 3 entries; dense has 2 lines"),
    ],
)
def test_from_padded_refuses_lengths_beyond_the_lines(lengths, says):
    with pytest.raises(LoDError, match=says):
        LoDTensor.from_padded(np.zeros((2, 3, 4)), lodcore.array(lengths))


@for_each("length", [1, 127, 128, 129, 199, 256, 300])
def test_from_padded_takes_masks_of_long_lines(length):
    for left in (False, True):
        x = LoDTensor.from_lengths(np.arange(length + 1), [1, length])
        _, mask = x.to_padded(side="left" if left else "right", return_mask=True)
        assert mask.sum(axis=1).tolist() == [1, length]
        assert mask[0, -1 if left else 0]


@for_each("levels", [1, 2, 3])
def test_from_padded_of_several_levels_inverts_to_padded(levels):
    x = lodcore.array([[[[1, 2], []], [[3]]], [], [[[]], [[4], [5, 6], [7]]]])
    for side in ("right", "left"):
        dense, mask = x.to_padded(-1, side, levels=levels, return_mask=True)
        part = x if levels == 3 else x.flatten(0) if levels == 2 else x.flatten(0).flatten(0)
        assert LoDTensor.from_padded(dense, part.num(-1) if levels > 1 else part.lengths, side=side).equals(part)
        assert dense[mask].tolist() == [1, 2, 3, 4, 5, 6, 7]
        assert (dense[~mask] == -1).all()


def test_masks_of_many_axes_make_as_many_levels():
    mask = np.zeros((2, 1, 2, 2, 3), bool)
    mask[0, 0, 1, 0, :2] = mask[1, 0, 0, 1, 2] = True
    dense = np.arange(24).reshape(mask.shape)
    assert LoDTensor.from_padded(dense, mask=mask).tolist() == [[[[], [[6, 7]]]], [[[[], [17]]]]]
    assert LoDTensor.from_padded(dense, mask=mask, side="left").tolist() == [[[[[6, 7], []]]], [[[[17]], []]]]
    for shape in ((2, 0), (2, 0, 3), (2, 3, 0), (0, 2, 2), (2, 2, 0, 2)):
        empty = LoDTensor.from_padded(np.zeros(shape), mask=np.zeros(shape, bool))
        assert empty.num_levels == len(shape) - 1
        assert empty.tolist() == [[] for _ in range(shape[0])]


# -- tables, maps, arrays and sparse tensors ---------------------------------------------------------------------------


def test_tables_of_an_order_that_is_no_swap():
    table = lodcore.RankTable([1, 2, 0], [3, 2, 1])
    assert table.lod.lengths().tolist() == [1, 3, 2]
    assert table.level == 0
    assert [table.count_longer(step) for step in range(4)] == [3, 2, 1, 0]
    nested = lodcore.array([[[1], [2, 3]], [[4, 5, 6]]])
    ranked = lodcore.lod_rank_table(nested, 1)
    for table in (ranked, pickle.loads(pickle.dumps(ranked)), copy.copy(ranked)):
        assert (table.level, table.indices_map.level) == (1, 1)
        assert table.indices_map.tolist() == [3, 1, 0, 4, 2, 5]
        assert table.lod == nested.lod
    steps, given = lodcore.TensorArray.unpack(nested, 1, sort_by_length=False)
    for each in (given, pickle.loads(pickle.dumps(given))):
        assert (each.level, each.rank.level) == (1, 1)
        assert each.tolist() == [0, 1, 3, 2, 4, 5]
        assert not each.rank.falls
        assert [each.rank.count_longer(step) for step in range(4)] == [3, 2, 1, 0]
    assert steps.pack(1, given).equals(nested)


@for_each("name", ["offsets", "indices", "lengths", "order", "steps", "values", "sparse"])
def test_read_only_properties_return_a_new_view_each_time(name):
    nested = lodcore.array([[1], [2, 3]])
    owner = {
        "offsets": nested.lod,
        "indices": lodcore.lod_rank_table(nested),
        "lengths": lodcore.lod_rank_table(nested),
    }
    given = owner.get(name, lodcore.TensorArray.unpack(nested, 0)[1])
    if name == "sparse":
        given, name = lodcore.SparseTensor([1, 0], np.ones((2, 1)), 3), "indices"
    one, other = (
        (given.offsets(), given.offsets()) if name == "offsets" else (getattr(given, name), getattr(given, name))
    )
    assert one is not other
    assert np.shares_memory(one, other)
    for view in (one, other):
        with pytest.raises(ValueError, match=r"WRITEABLE|writeable|writable"):
            view.setflags(write=True)


def test_sparse_and_dense_tensors_are_arrays_of_a_dtype():
    sparse = lodcore.SparseTensor([1, 1], [[1.5], [2.25]], 3)
    assert np.asarray(sparse, "f4").dtype == np.float32
    assert np.asarray(sparse, "i8").tolist() == [[0], [3], [0]]
    assert np.asarray(lodcore.DenseTensor([1.5]), "i4").dtype == np.int32
    assert np.array(lodcore.DenseTensor([1.5]), "f4").dtype == np.float32
    with pytest.raises(ShapeError, match=r"the other has shape \(3, 2\); \(3, 1\) is needed"):
        sparse + lodcore.SparseTensor([0], np.ones((1, 2)), 3)
    with pytest.raises(DTypeError, match="have dtype datetime64"):
        lodcore.SparseTensor([0], np.array(["2000-01-01"], "M8[D]"), 2)


class Steps(lodcore.TensorArray):
    """A subclass of arrays."""


def test_makers_of_a_tensor_array_subclass_keep_its_class_and_elements():
    nested = lodcore.array([[1.0], [2.0, 3.0]])
    assert type(Steps.unstack(nested)) is Steps
    assert type(Steps.unpack(nested, 0)[0]) is Steps
    steps = Steps()
    steps[0] = nested
    cloned = steps.clone()
    assert type(cloned) is Steps
    assert not np.shares_memory(cloned.read(0).values, nested.values)
    cloned[0] = nested[:1]
    cloned[1] = nested
    assert (len(steps), steps.read(0)) == (1, steps.read(0))
    assert steps.read(0).equals(nested)
    for axis in (-3, 2):
        with pytest.raises(ShapeError, match=f"axis: is {axis}; the tensor has 2 axes"):
            lodcore.TensorArray.unstack(np.zeros((2, 3)), axis)


@for_each("index", [True, np.True_, np.array(True), np.array([True]), np.array([1, 0]), 1.0, np.array([], int), "1"])
def test_slots_that_are_no_integers(index):
    steps = lodcore.TensorArray(3)
    for call in (lambda: steps.read(index), lambda: steps.write(index, 1.0), lambda: lodcore.TensorArray(index)):
        with pytest.raises(DTypeError, match="an integer, or an array of one, is needed"):
            call()
    with pytest.raises(IndexError, match=r"index: is 2, a hole; the size is 3$"):
        steps.read(2)
    with pytest.raises(IndexError, match=r"index: is 3; the size is 3$"):
        steps.read(3)


def test_recorded_arrays_of_a_fixed_size_and_of_numbers():
    with lodcore.Program():
        fixed = lodcore.TensorArray(2, dynamic=False)
        fixed[1] = 0.5
        with pytest.raises(IndexError, match="index: is 2; the size is fixed at 2"):
            fixed[2] = 0.5
    loop = lodcore.while_loop()
    kept = lodcore.TensorArray()
    with loop.loop():
        step = loop.step()
        loop.break_if(step >= 3)
        kept.write(step, step * 1.5)
    assert kept.stack().tolist() == [0.0, 1.5, 3.0]


def test_a_tensor_of_another_dtype_or_depth():
    x = lodcore.array([[1.5]], "f4")
    assert lodcore.array(x, "f8").dtype == np.float64
    assert lodcore.array(x, "f2").dtype == np.float16
    for levels in (0, 65, -1, "1", 1.0):
        with pytest.raises(LoDError, match=r"num_levels: is .*; 1 .. 64 is valid"):
            lodcore.array([[1.0]], num_levels=levels)
    cells = np.empty((1, 2), object)
    cells[0, 0] = cells[0, 1] = [1]
    with pytest.raises(DTypeError, match="obj: is ndarray; a list of sequences is needed"):
        lodcore.array(cells)


def test_arrays_of_a_fixed_size_keep_it_when_they_are_filled():
    for size, entries in ((2, 2), (3, 2), (3, 0)):
        steps = lodcore.TensorArray(size, dynamic=False)
        steps.unstack(np.arange(float(entries)))
        assert len(steps) == size
        with pytest.raises(IndexError, match=f"index: is {size}; the size is fixed at {size}"):
            steps[size] = 1.0
        steps[size - 1] = 7.0
        assert steps.read(size - 1) == 7.0
        for kept in (copy.copy(steps), pickle.loads(pickle.dumps(steps)), steps.clone()):
            assert len(kept) == size
            with pytest.raises(IndexError, match=f"the size is fixed at {size}"):
                kept[size] = 1.0


def test_a_table_and_a_map_of_the_same_order_are_interchangeable():
    x = lodcore.array([[1.0], [2.0, 3.0], [4.0]])
    table = lodcore.lod_rank_table(x)
    steps, order = lodcore.TensorArray.unpack(x, 0)
    for given in (table, order):
        assert steps.pack(0, given).equals(x)
        assert lodcore.reorder_by_rank(x, given).tolist() == [[2.0, 3.0], [1.0], [4.0]]
        assert lodcore.shrink_memory(np.arange(3.0), 1, given).tolist() == [0.0]
    for call in (lambda: steps.pack(0, [1, 0, 2]), lambda: lodcore.reorder_by_rank(x, [1, 0, 2])):
        with pytest.raises(DTypeError, match=r"is list; an? (RankTable|IndicesMap) or an? (RankTable|IndicesMap)"):
            call()


def test_snapshots_and_specs_of_elements():
    steps = lodcore.TensorArray()
    steps[0] = 1.0
    kept = steps.snapshot()
    steps[1], steps[0] = 2.0, 5.0
    assert (len(kept), kept.read(0).item()) == (1, 1.0)
    kept[2] = 3.0
    assert [float(one) for one in steps] == [5.0, 2.0]
    assert kept.element_spec() == lodcore.Spec((), np.dtype(float))
    nested = lodcore.array([[[1], [2]], [[3]]], "i2")
    for written, spec in (
        (np.zeros((2, 3), "f4"), lodcore.Spec((None, 3), np.dtype("f4"))),
        (nested, lodcore.Spec((None,), np.dtype("i2"), 2, LoDTensor)),
    ):
        one = lodcore.TensorArray()
        one[3] = written
        assert one.element_spec() == spec
    for source, spec in (
        (np.zeros((2, 3, 4)), lodcore.Spec((3, 4), np.dtype(float))),
        (np.zeros(2, "i4"), lodcore.Spec((), np.dtype("i4"))),
        (nested, lodcore.Spec((None,), np.dtype("i2"), 1, LoDTensor)),
        (nested.flatten(), lodcore.Spec((None,), np.dtype("i2"))),
    ):
        assert lodcore.TensorArray.unstack(source).element_spec() == spec


def test_tensors_of_ndarray_subclasses_hold_plain_arrays():
    given = np.arange(3.0).view(Kind)
    assert type(lodcore.DenseTensor(given).values) is np.ndarray
    assert type(lodcore.SparseTensor([0, 1, 2], given, 3).values) is np.ndarray
    assert type(lodcore.TensorArray.unstack(given[:, None]).read(0)) is np.ndarray
    steps = lodcore.TensorArray()
    steps[0] = given
    assert type(steps.read(0)) is np.ndarray
