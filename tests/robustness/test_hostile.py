"""Hostile arguments: some change while they are read, some have false attributes, some request too much memory."""

import threading
from contextlib import suppress

import numpy as np
import pytest

import lodcore
from lodcore import IndicesMap, LoD, LoDTensor, RankTable, ShapeError, TensorArray
from tests.helpers.tables import for_each
from tests.helpers.wrong_calls import run, things


@pytest.fixture
def names():
    return things()


# -- values given another shape in place ---------------------------------------------------------------------------

IN_PLACE = [
    "x.values.shape = (x.values.size,)",
    "x.values.shape = (1, *x.values.shape)",
    "x.values.dtype = np.uint8",
    "x.values.shape = (2, 2, 3)",
]
READERS = [
    *("list(x)", "x[0]", "x[1:]", "x.to_arrays()", "gather_sequences(x, [0, 1, 0])", "concat_batches([x, x])"),
    *("sequence_slice(x, 0, 1)", "TensorArray.unpack(x, 0)", "x.to_padded()", "x.clone()", "x.tolist()"),
    *("TensorArray.unpack(x, 0)[0].pack(0, the_map)", "reorder_by_rank(x, lod_rank_table(x))", "repr(x)"),
    *("x._repr_html_()", "x.flatten()", "array(x)", "TensorArray.unstack(x).concat()", "x.equals(x.clone())"),
    *("x.to_regular()", "TensorArray.unstack(x).stack()", "reader.concat()", "reader.stack()"),
    *("sequence_reverse(x)", "sequence_expand(x, x.lod)", "sequence_expand_as(x.values[:2], x)"),
    *("sequence_concat([x, x])", "sequence_pad(x)", "sequence_reshape(x, 1)", "split_by_mask(x, [True, False])"),
    *("merge_by_mask(x, x, [True, False] * 2)", "lod_reset(x, x)", "lod_append(x, lengths=[1] * 6)"),
    *("shrink_memory(x, 0, lod_rank_table(LoD.from_lengths([5] * len(x))))", "sequence_unpad(sequence_pad(x)[0], 1)"),
]


@pytest.mark.parametrize("change", IN_PLACE)
@for_each("reader", READERS)
@pytest.mark.parametrize("seen_before", [False, True])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # newer NumPy warns of setting a shape
def test_values_that_were_given_another_shape_in_place(change, reader, seen_before, names):
    """A reader raises, or returns a complete result; none reads or writes out of bounds."""
    x = names["x"] = LoDTensor(np.arange(12).reshape(6, 2), LoD.from_lengths([2, 4]), share=True)
    names["the_map"] = TensorArray.unpack(x, 0)[1]
    if seen_before:  # values that were read once may be cached
        run("gather_sequences(x, [0]), TensorArray.unpack(x, 0)", names)
    names["reader"] = TensorArray()
    names["reader"].write(0, x)
    exec(change, {"np": np}, names)
    with suppress(ShapeError):
        result = run(reader, names)
        if isinstance(result, LoDTensor):
            assert len(result.values) == result.num_rows


@pytest.mark.parametrize("name", ["values", "lod"])
def test_fields_cannot_be_replaced(name, names):
    with pytest.raises(AttributeError):
        setattr(names["flat"], name, getattr(names["x"], name))


def test_steps_that_were_given_another_shape_in_place(names):
    steps, indices_map = TensorArray.unpack(LoDTensor(np.arange(12).reshape(6, 2), LoD.from_lengths([2, 4])), 0)
    steps.pack(0, indices_map)
    buffer = steps.read(0)
    while isinstance(buffer.base, np.ndarray):
        buffer = buffer.base
    buffer.shape = (buffer.size,)
    packed = steps.pack(0, indices_map)
    assert len(packed.values) == packed.num_rows


# -- inconsistent lists ------------------------------------------------------------------------------------------------


class Liar(list):
    """A list that shows another content each time it is read as a whole."""

    def __init__(self, content, *others):
        super().__init__(content)
        self.others = list(others)

    def __iter__(self):
        return iter(self.others.pop()) if self.others else super().__iter__()


FLAT = np.zeros(10**5)
STRETCHED = np.broadcast_to(0.0, 10**5)  # the same number of bytes, but all of them share eight


@pytest.mark.parametrize("others", [[[STRETCHED]], [[FLAT, FLAT]], [[]], [[FLAT[:3]]], [[None]], [[[1]], [STRETCHED]]])
@pytest.mark.parametrize("make", [LoDTensor.from_arrays, lodcore.array])
def test_lists_that_change_between_two_looks(make, others):
    with suppress(ValueError, TypeError):
        made = make(Liar([FLAT], *others))
        assert len(made.values) == made.num_rows
        assert made.values.flags.c_contiguous


def test_lists_of_batches_that_change(names):
    x = names["flat"]
    for others in ([[x, names["x"]]], [[]], [[x, x, x], [x]]):
        with suppress(ValueError, TypeError):
            joined = lodcore.concat_batches(Liar([x, x], *others))
            assert len(joined.values) == joined.num_rows


def test_an_index_that_changes_the_tensor(names):
    x = names["wide"]

    class Sly:
        def __index__(self):
            x.values.shape = (10,)
            return 0

    with suppress(ShapeError):
        assert len(x[Sly()]) == 2
    with suppress(ShapeError):
        assert len(x[Sly() :].values) == 5


# -- parts that are assembled by a caller ------------------------------------------------------------------------------

WRONG_MAPS = [
    lambda lod: IndicesMap(lod, 0, np.array([0, 1, 10**9]), np.array([0, 2, 4, 5])),
    lambda lod: IndicesMap(lod, 0, np.array([0, 0, 0]), np.array([0, 2, 4, 5])),
    lambda lod: IndicesMap(lod, 0, np.array([0, -1, 2]), np.array([0, 2, 4, 5])),
    lambda lod: IndicesMap(lod, 0, np.array([2, 0, 1]), np.array([0, 10**9, 4, 5])),
    lambda lod: IndicesMap(lod, 0, np.array([2, 0, 1]), np.array([0, 5])),
    lambda lod: IndicesMap(lod, 5, np.array([2, 0, 1]), np.array([0, 2, 4, 5])),
    lambda lod: IndicesMap(LoD.from_lengths([10**9, 5]), 0, np.array([2, 0, 1]), np.array([0, 2, 4, 5])),
]


@pytest.mark.parametrize("make", WRONG_MAPS, ids=range(len(WRONG_MAPS)))
def test_maps_put_together_by_hand(make, names):
    """Errors are found when the map is made, or when it is used."""

    def use():
        indices_map = make(names["flat"].lod)
        indices_map.tolist()
        names["steps"].pack(0, indices_map)

    with pytest.raises((ValueError, TypeError, IndexError)):
        use()


@pytest.mark.parametrize(
    ("name", "part"),
    [("lod", LoD.from_offsets([0, 10**9, 10**9 + 2, 10**9 + 5])), ("lod", None), ("level", 1), ("level", 10**9)],
)
def test_parts_of_a_map_cannot_be_replaced(name, part, names):
    with pytest.raises(AttributeError):
        setattr(names["steps_map"], name, part)
    assert names["steps"].pack(0, names["steps_map"]).equals(names["flat"])


@pytest.mark.parametrize("name", ["indices", "lengths"])
def test_parts_of_a_table_cannot_be_replaced(name, names):
    with pytest.raises(AttributeError):
        setattr(names["table"], name, np.array([10**9, 0, 1]))
    with pytest.raises(ValueError, match="read-only"):
        getattr(names["table"], name)[0] = 7


@pytest.mark.parametrize("indices", [[0, 1, 3], [0, 1, -4], [0, 0, 0], [0, 1], [[0, 1, 2]]])
def test_tables_put_together_by_hand(indices, names):
    with suppress(ValueError, TypeError, IndexError):
        table = RankTable(np.array(indices), np.array([2, 1, 0]))
        for x in (names["flat"], names["rows"][:3]):
            assert len(lodcore.reorder_by_rank(x, table)) == 3


# -- other threads -------------------------------------------------------------------------------------------------

GARBAGE = [-1, 5, 1999, 2000, 10**5, 2**62, 2**63 - 1, -(2**63)]
COUNT = 2000  # sequences of two rows


@pytest.fixture(scope="module")
def writer():
    """Yield a vector of indices to which another thread continuously writes garbage and valid numbers."""
    vector = np.zeros(COUNT, np.int64)
    done = threading.Event()

    def write():
        random = np.random.default_rng(0)
        garbage = np.array(GARBAGE)
        while not done.is_set():
            vector[:] = 1
            vector[random.integers(0, COUNT, 3)] = random.choice(garbage, 3)
            vector.sort()
            vector[:] = np.arange(COUNT)

    thread = threading.Thread(target=write)
    thread.start()
    yield vector
    done.set()
    thread.join()


SHARED = LoDTensor(np.arange(2.0 * COUNT), LoD.from_lengths([2] * COUNT))
WITHIN = LoDTensor(SHARED.values, LoD.from_lengths([COUNT // 2] * 2, [2] * COUNT))
SHARED_STEPS = TensorArray.unpack(SHARED, 0)
READING = {
    "from_offsets": lambda vector: LoD.from_offsets(vector),
    "from_lengths": lambda vector: LoD.from_lengths(vector),
    "from_segment_ids": lambda vector: LoD.from_segment_ids(vector),
    "from_segment_ids, counted": lambda vector: LoD.from_segment_ids(vector, COUNT),
    "from_row_offsets": lambda vector: LoD.from_row_offsets(vector, vector),
    "take": lambda vector: SHARED.lod.take(vector),
    "append": lambda vector: LoD.from_offsets(num_rows=COUNT).append(lengths=vector),
    "gather_sequences": lambda vector: lodcore.gather_sequences(SHARED, vector),
    "sequence_slice": lambda vector: lodcore.sequence_slice(SHARED, vector, vector),
    "from_starts_stops": lambda vector: LoDTensor.from_starts_stops(SHARED.values, vector, vector),
    "from_padded": lambda vector: LoDTensor.from_padded(np.zeros((COUNT, 3)), vector),
    "sequence_unpad": lambda vector: lodcore.sequence_unpad(np.zeros((COUNT, 3)), vector),
    "sequence_mask": lambda vector: lodcore.sequence_mask(vector, 4),
    "split_by_mask": lambda vector: lodcore.split_by_mask(SHARED, vector.view(bool)[:COUNT])[0],
    "split_by_mask, rows": lambda vector: lodcore.split_by_mask(WITHIN, vector.view(bool)[:COUNT], 1)[1],
    "merge_by_mask": lambda vector: lodcore.merge_by_mask(SHARED[:1000], SHARED[1000:], vector.view(bool)[:COUNT]),
    "mask": lambda vector: LoDTensor.from_padded(np.zeros((COUNT, 8)), mask=vector.view(bool).reshape(COUNT, 8)),
    "restored map": lambda vector: SHARED_STEPS[0].pack(0, rebuilt_map(vector)),
    "made map": lambda vector: SHARED_STEPS[0].pack(0, IndicesMap(SHARED.lod, 0, vector, SHARED_STEPS[1].steps)),
    "written steps": lambda vector: written(vector).pack(0, TensorArray.unpack([[1]] * COUNT, 0)[1]),
    "array": lambda vector: lodcore.array([vector, vector]),
}


def rebuilt_map(order):
    restore, (lod, level, _) = SHARED_STEPS[1].__reduce__()
    return restore(lod, level, order)


def written(value):
    ta = TensorArray()
    ta.write(0, value)
    return ta


@pytest.mark.parametrize("name", READING)
def test_reads_of_memory_that_another_thread_writes_do_not_crash(name, writer):
    """A call raises a proper error or returns a complete result."""
    for _ in range(60):
        with suppress(ValueError, TypeError, IndexError, MemoryError):
            made = READING[name](writer)
            if isinstance(made, LoDTensor):
                assert len(made.values) == made.num_rows
                made = made.lod
            for level in range(made.num_levels if isinstance(made, LoD) else 0):
                offsets = made.offsets(level)
                assert offsets[0] == 0
                assert (offsets[1:] >= offsets[:-1]).all()


def test_another_thread_gives_values_another_shape():
    """Indexing checks the shape that it uses."""
    x = LoDTensor(np.arange(12).reshape(6, 2), LoD.from_lengths([2, 4]))
    values, done = x.values, threading.Event()

    def reshape():
        while not done.is_set():
            values.shape = (12,)
            values.shape = (6, 2)

    thread = threading.Thread(target=reshape)
    thread.start()
    try:
        for _ in range(2000):
            with suppress(ShapeError):
                assert len(x[1]) == 4
            with suppress(ShapeError):
                lodcore.gather_sequences(x, [1, 0, 1, 1])
            with suppress(ShapeError):
                TensorArray.unpack(x, 0)
    finally:
        done.set()
        thread.join()


class Fickle:
    """A number with another value in each conversion, and arbitrary comparisons."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __index__(self):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def __lt__(self, other):
        return False

    __le__ = __gt__ = __ge__ = __eq__ = __lt__
    __hash__ = None


@pytest.mark.parametrize("level", [0, 1])
def test_masks_with_bytes_other_than_0_and_1_count_as_true(level):
    x = lodcore.array([[[1], []], [[2, 3]]])
    count = x.lod.num_sequences(level)
    mask = np.array([2, 0, 255][:count], np.uint8).view(bool)
    sides = lodcore.split_by_mask(x, mask, level)
    assert sides[0].lod.num_sequences(level) == count - 1
    assert lodcore.merge_by_mask(*sides, mask, level).equals(x)


@pytest.mark.parametrize("answers", [(0, 0), (5, 0), (3, -1), (4, 2**62)])
@pytest.mark.parametrize(
    "call",
    [
        "flat.to_padded(length=liar)",
        "flat.to_padded(multiple_of=liar)",
        "sequence_pad(flat, maxlen=liar)",
        "sequence_mask([1, 2], liar)",
        "sequence_reshape(wide, liar)",
        "shrink_memory(flat, liar, table)",
    ],
)
def test_calls_survive_numbers_that_change_their_value(call, answers, names):
    names["liar"] = Fickle(*answers)
    with suppress(ValueError, IndexError, MemoryError, lodcore.DTypeError):
        run(call, names)
