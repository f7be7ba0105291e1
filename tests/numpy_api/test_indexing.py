"""Indexing compared with nested lists; assignment; Variables."""

import contextlib
import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, Spec, vjp
from lodcore.graph import Executor, Program, data, while_loop
from lodcore.tensors import lod_body
from reference import indexing as oracle
from tests.helpers.agree import same
from tests.helpers.draw import at_most, int64, lods, odd_forms, read_only
from tests.helpers.tables import for_each
from tests.samples.common import SEEDS

ROW_SHAPES = [(), (), (2,), (2, 3)]


def numbered(lod, row_shape, dtype=np.float64):
    """Make a LoDTensor whose numbers are their positions."""
    shape = (lod.num_rows, *row_shape)
    return LoDTensor(read_only(np.arange(np.prod(shape), dtype=dtype).reshape(shape)), lod)


# -- keys ----------------------------------------------------------------------------------------------------------


def bounds():
    return st.one_of(st.none(), st.integers(-5, 5))


def slices():
    return st.builds(slice, bounds(), bounds(), st.one_of(st.none(), st.integers(-3, 3).filter(bool)))


@st.composite
def first_keys(draw, x):
    """Draw an index of the first axis, or of some first axes: return it, and its form for nested lists."""
    form = draw(st.sampled_from(["int", "slice", "slice", "mask", "vector", "nested mask", "nested index"]))
    count = len(x)
    if form == "int":
        number = draw(st.integers(-count - 1, count))
        return draw(st.sampled_from([number, np.int8(number), np.array(number)])), number, 1
    if form == "slice":
        key = draw(slices())
        return key, key, 1
    if form == "mask":
        key = np.random.default_rng(draw(SEEDS)).random(count) < 0.5
        return draw(st.sampled_from([read_only(key), key.tolist()])), key.tolist(), 1
    if form == "vector":
        key = draw(st.lists(st.integers(-count, count - 1), max_size=5)) if count else []
        odd = draw(odd_forms(key)) if key else key
        return (odd if np.ndim(odd) == 1 else key), key, 1
    axis = draw(st.integers(1, x.num_levels))
    upper = lod_body.slice_levels(x.lod, 0, axis)
    random = np.random.default_rng(draw(SEEDS))
    if form == "nested mask":
        key = LoDTensor(read_only(random.random(upper.num_rows) < 0.6), upper)
        return key, oracle.Nested(key.tolist(), axis), axis + 1
    lengths = x.lod.lengths(axis - 1)
    sizes = np.where(lengths > 0, random.integers(0, 4, len(lengths)), 0)
    of = np.repeat(lengths, sizes)
    numbers = (random.random(len(of)) * 2 * of).astype(np.int64) - of
    offsets = [x.lod.offsets(k) for k in range(axis - 1)]
    key = LoDTensor.from_offsets(int64(numbers), *offsets, np.concatenate([[0], np.cumsum(sizes)]))
    return key, oracle.Nested(key.tolist(), axis), axis + 1


def is_after_a_slice(keys):
    """Return whether a slice follows a number, so that NumPy would put the axis of a vector first."""
    numbers = [k for k, key in enumerate(keys) if isinstance(key, int)]
    return bool(numbers) and any(isinstance(key, slice) for key in keys[numbers[0] :])


def is_separated(keys):
    """Return whether a slice follows a vector, which is paired with every number."""
    return list in map(type, keys) and isinstance(keys[-1], slice)


@st.composite
def indices(draw):
    """Draw a LoDTensor, an index of it, and its form for nested lists."""
    x = numbered(draw(lods(1, 3, 5)), draw(st.sampled_from(ROW_SHAPES)))
    first, plain, passed = draw(first_keys(x))
    keys, nested = [first], [plain]
    paired = passed == 1 and isinstance(plain, list)  # adjacent vectors are paired: see below
    for axis in range(passed, draw(st.integers(passed, x.ndim))):
        forms = ["int", "slice", "slice", "slice"]
        may_be_vector = axis == x.num_levels and not paired and axis > 0 and not is_after_a_slice(nested)
        forms += ["vector"] if may_be_vector else []
        if is_separated(nested):
            forms = ["slice"]  # another number would be refused
        form = draw(st.sampled_from(forms))
        if form == "slice":
            key = draw(slices())
        elif form == "int":
            key = draw(st.integers(-2, 1))
        else:
            key = draw(st.lists(st.integers(-2, 1), min_size=1, max_size=3))
        keys.append(np.array(key) if isinstance(key, list) else key)
        nested.append(key)
    dropped = draw(st.integers(0, 3)) == 0 and len(keys) == 1 and not isinstance(first, (list, tuple))
    return x, keys[0] if dropped else tuple(keys), nested


def result_of(function, *args):
    """Return a result, or IndexError."""
    try:
        return function(*args)
    except IndexError:
        return IndexError


def plain(x):
    return x if x is IndexError else x.tolist()


@given(indices())
def test_indices_are_those_of_nested_lists(drawn):
    x, key, nested = drawn
    wanted = result_of(oracle.getitem, x.tolist(), nested)
    found = result_of(lambda: x[key])
    assert plain(found) == wanted
    assert found is IndexError or found.dtype == x.dtype


@given(indices())
def test_recorded_indices_are_eager_ones_with_their_gradient(drawn):
    x, key, _ = drawn
    eager = result_of(lambda: x[key])
    if eager is IndexError:
        with pytest.raises(IndexError):
            vjp(lambda x: x[key], x)
        return
    recorded, pullback = vjp(lambda x: x[key], x)
    assert plain(recorded) == plain(eager)
    assert type(recorded) is type(eager)
    cells = (eager.values if isinstance(eager, LoDTensor) else np.asarray(eager)).astype(np.int64)
    (gradient,) = pullback(np.ones(cells.shape))
    counts = np.bincount(cells.ravel(), minlength=x.values.size)
    assert gradient.values.ravel().tolist() == counts.tolist()
    assert gradient.lod is x.lod


@given(indices())
def test_indices_without_values_run_later(drawn):
    x, key, _ = drawn
    eager = result_of(lambda: x[key])
    with Program() as program:
        v = data("x", Spec((None, *x.values.shape[1:]), x.dtype, x.num_levels, LoDTensor))
        y = result_of(lambda: v[key])
    if y is IndexError:
        assert eager is IndexError
        return
    found = result_of(lambda: Executor().run(program, feed={"x": x}, fetch=[y])[0])
    assert plain(found) == plain(eager)


# -- assignment ----------------------------------------------------------------------------------------------------


def owned(x, dtype=np.float64):
    return LoDTensor(x.values.astype(dtype), x.lod, share=True)


@given(indices(), SEEDS, st.sampled_from(["number", "like it", "row"]))
def test_setitem_writes_the_cells_that_getitem_reads(drawn, seed, form):
    x, key, nested = drawn
    cells = result_of(oracle.getitem, x.tolist(), nested)
    target = owned(x)
    if cells is IndexError:
        with pytest.raises(IndexError):
            target[key] = 1
        assert same(target, x)
        return
    like = x[key]
    shape = np.shape(like.values if isinstance(like, LoDTensor) else like)
    random = np.random.default_rng(seed)
    values = random.integers(100, 200, shape if form == "like it" else shape[1:] if form == "row" else ()).astype(float)
    value = LoDTensor(values, like.lod) if form == "like it" and isinstance(like, LoDTensor) else values
    target[key] = value if form != "number" else int(values)
    wanted = x.values.ravel().tolist()
    for cell, number in zip(oracle.spread(cells), np.broadcast_to(values, shape).ravel().tolist(), strict=True):
        wanted[int(cell)] = number
    assert target.values.ravel().tolist() == wanted


def test_assignment_into_part_of_a_view_reaches_the_whole():
    x = lodcore.array([[[1, 2], [3]], [], [[4, 5, 6]]])
    x[0][1] = 9
    x[2, 0, ::2] = [7, 8]
    x[0, :, 0] += 10
    assert x.tolist() == [[[11, 2], [19]], [], [[7, 5, 8]]]


def test_assignment_of_an_overlapping_part_reads_it_first():
    x = lodcore.array([[1, 2, 3], [4, 5, 6]])
    x[0] = x[0][::-1]
    x[:, 1:] = x[:, :2]
    assert x.tolist() == [[3, 3, 2], [4, 4, 5]]


def test_a_range_is_an_index_as_a_list_of_its_integers_is():
    x = lodcore.array([[[1, 2], [3]], [[4], [5, 6], [7]]])
    two, none = range(1, -1, -1), range(0)
    for key, listed in (
        (two, [1, 0]),
        (none, []),
        ((slice(None), two), (slice(None), [1, 0])),
        ((two, two), ([1, 0], [1, 0])),
        ((0, two), (0, [1, 0])),
    ):
        found, wanted = x[key], x[listed]
        assert found.tolist() == wanted.tolist()
        assert found.dtype == wanted.dtype
    assert np.take(x, two, axis=1).tolist() == x[:, [1, 0]].tolist()
    written = lodcore.array([[1, 2], [3], [4]])
    written[range(0, 3, 2), 0] = 9
    assert written.tolist() == [[9, 2], [3], [9]]
    with pytest.raises(IndexError, match="2"):
        x[range(3)]
    with pytest.raises(IndexError, match=f"index: is {2**70} at position 0; int64 cannot hold that"):
        x[range(2**70, 2**70 + 1)]
    with Program():
        v, d = data("v", (None,), "int64", num_levels=2), data("d", (2, 3), "int64")
        assert [v[two].num_levels, d[:, range(2)].shape] == [2, (2, 2)]


def test_augmented_assignment_to_a_name_makes_a_new_tensor():
    x = lodcore.array([[1, 2], []])
    y = x
    y += 1
    assert (x.tolist(), y.tolist()) == ([[1, 2], []], [[2, 3], []])


# -- Variables as indices ------------------------------------------------------------------------------------------


def test_variables_as_indices():
    x = lodcore.array([[1.0, 2.0, 3.0], [], [4.0, 5.0]])
    index, mask = np.array([2, 0, 2]), np.array([True, False, True])

    def f(x, index, mask):
        return x[index], x[mask], x[x > 2], x[index, -1], x[:, 0:1], x[mask][:, 0]

    recorded, pullback = vjp(f, x, index, mask)
    for one, eager in zip(recorded, f(x, index, mask), strict=True):
        assert plain(one) == plain(eager)
    gradient = pullback(*[np.ones_like(getattr(y, "values", y)) for y in recorded])
    assert gradient[0].tolist() == [[4, 2, 4], [], [6, 6]]
    assert gradient[1:] == (None, None)


def test_dense_variables_have_indices_of_numpy():
    w = np.arange(12.0).reshape(3, 4)
    ids = np.array([[0, 2], [2, 2]])

    def f(w, ids):
        return w[ids], w[1], w[:, 1:3], w[None, ..., 0], w[w > 5], w[ids, 1]

    recorded, pullback = vjp(f, w, ids)
    for one, eager in zip(recorded, f(w, ids), strict=True):
        assert one.tolist() == eager.tolist()
    (gradient, _) = pullback(*map(np.ones_like, recorded))
    wanted = np.zeros((3, 4))
    for key in (ids, 1, (slice(None), slice(1, 3)), (None, ..., 0), w > 5, (ids, 1)):
        np.add.at(wanted, key, 1)
    assert gradient.tolist() == wanted.tolist()


@pytest.mark.parametrize("key", ["y", "y, y", "0, y", "..., y", "y > 0"])
def test_dense_variables_refuse_indices_with_levels_and_name_what_takes_them(key):
    y, table = lodcore.array([[0, 1], [2]]), np.arange(9.0).reshape(3, 3)
    says = r"^index: has levels, and the indexed array has none; lookup_table\(table, x\) .*x.with_values\(table\["
    with pytest.raises(TypeError, match=says):
        lodcore.value_and_grad(lambda t: lodcore.ops.sum(eval(f"t[{key}]", {"t": t, "y": y})))(table)
    _, gradient = lodcore.value_and_grad(lambda t: lodcore.ops.sum(y.with_values(t[y.values, y.values])))(table)
    np.testing.assert_array_equal(gradient, np.eye(3))


def test_one_number_of_each_row_is_taken_by_integers_with_the_same_levels():
    x, y = LoDTensor.from_lengths(np.arange(9.0).reshape(3, 3), [2, 1]), lodcore.array([[0, 2], [1]])
    for call in (lambda: x[:, :, y], lambda: np.take_along_axis(x, y, axis=2)):
        with pytest.raises(TypeError, match=r"ops.index_values\(\w+, \[slice\(None\), y.values\], paired=True\)"):
            call()
    found = lodcore.ops.index_values(x, [slice(None), y.values], paired=True)
    assert found.tolist() == [[0.0, 5.0], [7.0]]


def test_loop_counters_as_indices():
    x = lodcore.array([[1.0, 2.0, 3.0], [5.0], [4.0, 5.0]])

    def f(x):
        loop = while_loop()
        with loop.loop():
            t = loop.loop_var(np.array(0))
            total = loop.loop_var(np.array(0.0))
            loop.break_if(lodcore.greater_equal_than(t, 3))
            total.update(total + x[t][0] * lodcore.ops.sum(x[t]) + lodcore.ops.sum(x[t:, 0]))
        return total

    y, pullback = vjp(f, x)
    assert float(y) == 6 + 25 + 36 + (1 + 5 + 4) + (5 + 4) + 4
    assert pullback(1.0)[0].tolist() == [[6 + 1 + 1, 1, 1], [10 + 2], [4 + 9 + 3, 4]]


@pytest.mark.not_on_reference
def test_a_variable_is_not_written_to():
    def f(x):
        x[0] = 1
        return x

    with pytest.raises(TypeError, match="where"):
        vjp(f, lodcore.array([[1.0]]))

    def g(x):
        y = lodcore.array([[1.0]])
        y[0] = x[0]
        return y

    with pytest.raises(TypeError, match="recorded"):
        vjp(g, lodcore.array([[1.0]]))


# -- pinned examples -----------------------------------------------------------------------------------------------


def test_views_share_and_copies_do_not():
    x = lodcore.array([[1, 2, 3], [], [4, 5]])
    for key in (0, slice(1, None), slice(None), ..., (slice(None), slice(None))):
        got = x[key]
        assert np.may_share_memory(got.values if isinstance(got, LoDTensor) else got, x.values) or not len(got)
    for key in ([0, 2], x > 1, (slice(None), slice(0, 1)), slice(None, None, -1)):
        assert not np.may_share_memory(x[key].values, x.values)


# -- assignment by a nested mask -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mask", "value", "error", "says"),
    [
        ([[True], [False], [True, False]], 0, LoDError, "mask: sequence 0 of level 0 has length 1"),
        ([[True, False], [], [True, False]], 0, LoDError, "mask: sequence 0 of level 0 has length 2"),
        ([[[True], [True]], [], [[True, False]]], 0, IndexError, "there are 2 axes"),
        ([[True, False, True], [], [True, False]], [[1, 2], [], []], LoDError, "value"),
        ([[True, False, True], [], [True, False]], [[1], [2], [3]], LoDError, "value"),
        ([[True, False, True], [], [True, False]], [[[1], [2]], [], [[3]]], LoDError, "value: has 2 levels"),
    ],
)
def test_refused_assignment_by_a_mask_writes_nothing(mask, value, error, says):
    x = lodcore.array([[1, 2, 3], [], [4, 5]])
    with pytest.raises(error, match=says):
        x[lodcore.array(mask)] = lodcore.array(value) if isinstance(value, list) else value
    assert x.tolist() == [[1, 2, 3], [], [4, 5]]


#: Keys of the five rows in three sequences: all kinds of assignment.
KEYS = {
    "mask": lambda: lodcore.array([[True, False, True], [], [True, False]]),
    "ellipsis": lambda: ...,
    "all": lambda: slice(None),
    "slice": lambda: slice(0, 2),
    "sequence": lambda: 0,
    "sequences": lambda: [2, 0],
    "chosen sequences": lambda: np.array([True, False, False]),
    "of each sequence": lambda: (slice(None), slice(0, 1)),
    "entries": lambda: lodcore.array([[0, 2], [], [1]]),
    "entry": lambda: (2, 0),
    "in a sequence": lambda: (0, [0, 2]),
}
#: The dtype written to, a value that it cannot hold, and one that it can.
CANNOT = [
    *[("i8", 0.5, 3.0), ("i8", np.nan, 2.0), ("i8", np.uint64(2**63), np.uint64(7)), ("i8", np.inf, -1.0)],
    *[("i4", 2**31, 5), ("i1", 300, -128), ("u1", -1, 255), ("u8", -1.0, 4.0), ("?", 2, 1), ("?", 0.5, 0.0)],
    *[("f8", 1j, 2.5), ("f4", 1e300, 0.1), ("f2", 1e6, 3.0), ("i8", "7", 7), ("U1", "ab", "c"), ("S2", b"abc", b"b")],
]


@pytest.mark.parametrize("key", KEYS)
def test_values_that_do_not_fit_the_dtype_are_refused(key):
    """As one number and as one per row, of which the last does not fit: nothing is written."""
    for dtype, wrong, right in CANNOT:
        x = LoDTensor.from_lengths(np.array(["0", "1", "0", "1", "1"]).astype("i1").astype(dtype), [3, 0, 2])
        cells = x[KEYS[key]()]
        for value in (wrong, right):
            rows = np.full(np.shape(getattr(cells, "values", cells)), value)
            rows.flat[:-1] = "0" if rows.dtype.kind in "US" else 0
            for form in (value, LoDTensor(rows, cells.lod) if isinstance(cells, LoDTensor) else rows):
                target = x.copy()
                if value is wrong:
                    with pytest.raises(DTypeError, match=r"assignment: value: (is|has dtype) "):
                        target[KEYS[key]()] = form
                    assert target.equals(x)
                else:
                    target[KEYS[key]()] = form
                    found, wanted = target[KEYS[key]()], np.broadcast_to(value if form is value else rows, rows.shape)
                    assert getattr(found, "values", found).tolist() == wanted.astype(dtype).tolist()


def test_rows_of_a_mask_take_a_tensor_of_their_structure():
    x = lodcore.array([[1, 2, 3], [], [4, 5]])
    x[lodcore.array([[True, False, True], [], [True, False]])] = lodcore.array([[7, 8], [], [9]])
    assert x.tolist() == [[7, 2, 8], [], [9, 5]]
    deep = lodcore.array([[[1, 2], [3]], []])
    deep[deep > 1] = lodcore.array([[[7], [8]], []])
    assert deep.tolist() == [[[1, 7], [8]], []]
    wide = LoDTensor.from_lengths(np.zeros((3, 2)), [1, 2]).copy()
    wide[lodcore.array([[True], [False, True]])] = [1.0, 2.0]
    wide[lodcore.array([[False], [True, False]])] = np.array([[5.0, 6.0]])
    assert wide.values.tolist() == [[1.0, 2.0], [5.0, 6.0], [1.0, 2.0]]


# -- vectors of integers in one index are paired, as in NumPy ----------------------------------------------------------

TOGETHER = [slice(None), slice(0, 2), [1, 0, 1], [0], 1, -1]
EVEN = [(1, (3, 4, 5)), (1, (3, 4, 2, 3)), (2, (3, 2, 4, 3)), (2, (2, 3, 2))]


def even(num_levels, shape):
    """Make a LoDTensor of sequences of equal lengths, and the same array."""
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    counts = [int(np.prod(shape[:k])) for k in range(1, num_levels + 1)]
    lengths = [[shape[k]] * count for k, count in enumerate(counts, 1)]
    return LoDTensor.from_lengths(array.reshape(-1, *shape[num_levels + 1 :]).copy(), *lengths), array


def regular(x):
    return np.asarray(x.to_regular() if isinstance(x, LoDTensor) else x)


@pytest.mark.parametrize(("num_levels", "shape"), EVEN)
def test_vectors_and_integers_follow_the_rule_of_numpy(num_levels, shape):
    """Read and written; combinations that NumPy transposes are refused."""
    x, array = even(num_levels, shape)
    refused = seen = 0
    for count in range(2, len(shape) + 1):
        for keys in itertools.product(TOGETHER, repeat=count):
            try:
                wanted = array[keys]
            except IndexError:  # an axis is too short
                continue
            try:
                found = regular(x[keys])
            except TypeError as error:
                refused += "separated" in str(error)
                continue
            seen += 1
            assert found.shape == wanted.shape, keys
            assert (found == wanted).all(), keys
            y, copied = x.clone(), array.copy()
            y[keys] = copied[keys] = -1
            np.testing.assert_array_equal(y.values.ravel(), copied.ravel(), str(keys))
    assert seen > 10 * refused


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("masks", [False, True])
def test_vectors_of_all_lengths_give_the_result_or_the_error_of_numpy(levels, masks):
    """All lengths of vectors on all axes, the first of which may be a mask: NumPy's result, or its error."""
    x, array = even(levels, (3, 4, 5))
    for sizes in itertools.product([None, 0, 1, 2, 3], repeat=3):
        vectors = [np.arange(size or 0) for size in sizes]
        if masks:
            vectors[0] = np.isin(np.arange(len(array)), vectors[0])
        keys = tuple(slice(None) if size is None else one for size, one in zip(sizes, vectors, strict=True))
        try:
            wanted = array[keys]
        except IndexError:
            with pytest.raises((IndexError, TypeError), match=r"shape mismatch|separated"):
                x[keys]
            continue
        try:
            found = x[keys]
        except TypeError as error:
            assert "separated" in str(error), sizes  # noqa: PT017  the outcome is compared below
            continue
        np.testing.assert_array_equal(regular(found).reshape(wanted.shape), wanted, str(sizes))


FRONTS = [(slice(None), slice(None)), (slice(1, None), slice(0, 2)), (slice(None), -1)]
TABLE = np.array([[0, 1], [2, 0], [3, 3]])


@pytest.mark.parametrize("front", FRONTS)
@for_each("keys", [(TABLE, [0, 5]), ([0, 3], TABLE), (TABLE, 4), (TABLE, [1]), ([2], TABLE), (TABLE, TABLE + 2)])
def test_vectors_of_axes_of_rows_may_have_several_axes_as_in_numpy(front, keys):
    x, array = even(1, (2, 3, 4, 6))
    keys = (*front, *keys)
    np.testing.assert_array_equal(regular(x[keys]), array[keys])
    y, copied = x.clone(), array.copy()
    y[keys] = copied[keys] = -1
    np.testing.assert_array_equal(y.values, copied.reshape(6, 4, 6))
    with pytest.raises(IndexError, match="shape mismatch"):
        x[(*front, TABLE, np.arange(3))]


def test_sequences_of_any_length_and_their_gradient():
    x = lodcore.LoDTensor.from_lengths(np.arange(12.0).reshape(6, 2), [2, 4])
    assert x[[1, 0], [3, -1], [0, 1]].tolist() == [10.0, 3.0]
    assert x[[1, 0], 1, [0, 1]].tolist() == [6.0, 3.0]
    assert x[:, [0, 1], [1, 0]].tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert x[[1, 0], :, [0, 1]].tolist() == [[4.0, 6.0, 8.0, 10.0], [1.0, 3.0]]
    for keys in (([1, 0], [3, -1], [0, 1]), ([1, 0], 1, [0, 1])):
        value, pullback = vjp(lambda a, keys=keys: a[keys], x)
        (gradient,) = pullback(np.array([2.0, 3.0]))
        assert (gradient.values * x.values).sum() == (value * [2.0, 3.0]).sum()


@pytest.mark.parametrize("size", [0, 1, 2, 4, 5])
def test_a_mask_beside_vectors_has_one_entry_per_sequence(size):
    x = lodcore.array([[1, 2], [4], [5]])
    for true in ([], [0], [0, 1]):
        mask = np.zeros(size, bool)
        if len(true) > size:
            continue
        mask[true] = True
        for vector in ([0] * len(true), [0], np.zeros(len(true), int)):
            with pytest.raises((IndexError, lodcore.ShapeError), match=r"mask: has|shape mismatch"):
                x[mask, np.array(vector, int)]
            with pytest.raises((IndexError, lodcore.ShapeError), match=r"mask: has|shape mismatch"):
                x[mask]
    assert x[np.array([True, False, True]), np.array([1, 0])].tolist() == [2, 5]


def test_a_mask_with_one_true_entry_broadcasts_with_a_vector_also_under_vjp():
    x = lodcore.LoDTensor.from_lengths(np.arange(12.0).reshape(4, 3), [2, 2])
    mask = np.array([True, False])
    for key, wanted in (((mask, [0, 1]), [[0, 1, 2], [3, 4, 5]]), ((mask, 0, [0, 1]), [0, 1])):
        found, pullback = vjp(lambda x, key=key: x[key], x)
        assert found.tolist() == x[key].tolist() == wanted
        (gradient,) = pullback(np.ones(found.shape))
        assert gradient.values.sum() == np.size(wanted)


@for_each("step", [-(2**63), -(2**63) + 1, -(2**70), -3, -1, 2, 2**62, 2**63 - 1, 2**63, 2**70])
def test_steps_of_any_size(step):
    """As slices of lists, of sequences and of their elements."""
    x = lodcore.array([[1, 2, 3, 4], [], [5], [6, 7]])
    listed = x.tolist()
    for start, stop in itertools.product((None, 0, 2, -1, -(2**70), 2**70), (None, 1, -1, 2**70)):
        assert x[start:stop:step].tolist() == listed[start:stop:step]
        assert x[:, start:stop:step].tolist() == [one[start:stop:step] for one in listed]


FORWARD = [  # calls with a vector, and another one that is written into it before the backward pass
    (lambda x, v: lodcore.gather_sequences(x, v), [2, 0, 2], [0, 0, 1]),
    (lambda x, v: lodcore.gather_sequences(x, v, -1), [2, 0], [0, 0]),
    (lambda x, v: lodcore.ops.select_by_mask(x, v), [True, False, True], [True, True, False]),
    (lambda x, v: lodcore.ops.select_by_mask(x, x.with_values(v)), [True, False, False, True, False], [True] * 5),
    (lambda x, v: lodcore.ops.pick_along(x[[0, 2]], v, 1), [1, 2], [0, 0]),
    (lambda x, v: lodcore.ops.take_of_each(x[[0, 2]], v, 1), [1, -1], [0, 0]),
    (lambda x, v: lodcore.sequence_slice(x, v, 1 - (x.lengths == 0)), [1, 0, 2], [0, 0, 0]),
    (lambda x, v: lodcore.sequence_slice(x, 0, v), [1, 0, 2], [0, 0, 0]),
    (lambda x, v: lodcore.sequence_roll(x, v), [1, 0, 2], [0, 0, 0]),
    (lambda x, v: lodcore.sequence_repeat(x, v), [1, 0, 2, 3, 1], [0, 0, 0, 0, 7]),
    (lambda x, v: lodcore.split_by_mask(x, v)[0], [True, False, True], [True, True, False]),
]


@for_each(("call", "given", "written"), FORWARD)
def test_writes_to_index_vectors_after_the_forward_pass_change_no_gradient(call, given, written):
    x = LoDTensor.from_lengths(np.arange(10.0).reshape(5, 2), [2, 0, 3])
    for rows in (x, x.with_values(x.values[:, 0])):  # wide rows, and those that are copied one by one
        found = []
        for change in (False, True):
            vector = np.array(given)
            result, back = lodcore.vjp(lambda x, v=vector: call(x, v), rows)
            if change:
                vector[...] = written
            d = np.arange(1.0, 1.0 + np.size(result.values if isinstance(result, LoDTensor) else result))
            found.append(back(d.reshape(getattr(result, "values", result).shape))[0].values.tolist())
        assert found[0] == found[1]


@for_each("shape", [(), (1,), (2,), (1, 1), (1, 2), (2, 1), (2, 2)])
def test_assignment_by_a_mask_broadcasts_values_as_numpy(shape):
    values = np.arange(10.0, 10 + np.prod(shape, dtype=int)).reshape(shape)
    x, wanted = lodcore.LoDTensor.from_lengths(np.zeros((3, 2)), [2, 1]).copy(), np.zeros((3, 2))
    wanted[[True, False, True]] = values
    rows = lodcore.LoDTensor.from_lengths(values, [1, 1]) if values.ndim == 2 and len(values) == 2 else values
    x[lodcore.array([[True, False], [True]])] = rows
    assert x.values.tolist() == wanted.tolist()


def test_what_no_number_equals_is_not_in_a_tensor():
    """As for NumPy's arrays."""
    x = lodcore.array([[1, 2], [], [3]])
    assert 2 in x
    for other in (4, "a", np.str_("a"), None, {}, object()):
        assert other not in x
        assert other not in x.values.tolist()


@pytest.mark.parametrize("place", [0, -1, "each"])
def test_elements_of_long_sequences_are_taken_without_the_others(place):
    """3,000 copies of the sequences would take gigabytes."""
    lengths, index = np.array([200_000, 100_000]), np.arange(3000) % 2
    x = LoDTensor.from_lengths(np.arange(300_000), lengths)
    places = np.arange(3000) * 7 if place == "each" else place
    tracemalloc.start()
    found = x[index, places]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    starts, stops = np.array([0, 200_000])[index], np.array([200_000, 300_000])[index]
    np.testing.assert_array_equal(found, stops - 1 if place == -1 else starts + places)
    assert peak < 2**22


@pytest.mark.parametrize("place", [0, -1, "each"])
@pytest.mark.parametrize("levels", [1, 2])
def test_gradients_of_elements_of_long_sequences_are_made_without_the_others(place, levels):
    lengths, index = np.array([60_000, 40_000]), np.arange(3000) % 2
    x = LoDTensor.from_lengths(np.arange(100_000.0), *([[2, 0], lengths] if levels == 2 else [lengths]))
    places = np.arange(3000) * (7 if levels == 1 else 0) if place == "each" else place
    if levels == 2:
        index, places = np.zeros(4, np.int64), places[:4] if place == "each" else place
    calls = lambda x: lodcore.sum(x[index, places])  # noqa: E731
    tracemalloc.start()
    gradient = lodcore.value_and_grad(calls)(x)[1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    wanted = np.zeros(100_000)
    if levels == 1:
        stops = np.array([60_000, 100_000])[index]
        np.add.at(wanted, stops - 1 if place == -1 else stops - lengths[index] + places, 1.0)
        assert peak < 2**23
    else:
        wanted[slice(60_000, None) if place == -1 else slice(60_000)] = 4.0
    np.testing.assert_array_equal(gradient.values, wanted)


@pytest.mark.parametrize("keys", [np.s_[:, :, 5], np.s_[:, :, [0, 5]]])
def test_errors_of_the_axes_of_rows_count_those_of_the_tensor(keys):
    x = LoDTensor.from_lengths(np.zeros((2, 3)), [2])
    for call in (lambda: x[keys], lambda: vjp(lambda x: x[keys], x)):
        with pytest.raises(IndexError, match="index 5 is out of bounds for axis 2 with size 3"):
            call()


def test_slices_of_long_sequences_that_are_chosen_often_are_cut_first():
    x = LoDTensor.from_lengths(np.arange(100_000.0), [60_000, 40_000])
    index = np.arange(3000) % 2
    tracemalloc.start()
    found = x[index, 5:15:2]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22
    assert found.lengths.tolist() == [5] * 3000
    np.testing.assert_array_equal(found[:2].values, [5, 7, 9, 11, 13, 60005, 60007, 60009, 60011, 60013])
    np.testing.assert_array_equal(found.values.reshape(-1, 10), np.tile(found[:2].values, (1500, 1)))


@at_most(200)
@given(lods(), st.data())
def test_elements_are_the_same_whether_the_others_are_taken_or_not(lod, draw):
    row_shape = draw.draw(st.sampled_from([(), (2,), (2, 3)]))
    x = LoDTensor(np.arange(lod.num_rows * int(np.prod(row_shape))).reshape(lod.num_rows, *row_shape), lod)
    count = draw.draw(st.integers(0, 4))
    vectors = st.lists(st.integers(-3, 2), min_size=count, max_size=count).map(lambda found: np.array(found, "i2"))
    bounds = st.none() | st.integers(-3, 3)
    slices = st.builds(slice, bounds, bounds, st.sampled_from([None, 1, 2, -1]))
    keys = draw.draw(vectors), *draw.draw(st.lists(vectors | st.integers(-2, 2) | slices, max_size=2))
    found = []
    for small in (-1, 2**62):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("lodcore.numpy_api.few_elements.SMALL", small)
            try:
                one = x[keys]
                found.append((type(one), one.dtype, one.shape, one.tolist()))
            except (IndexError, TypeError) as error:
                found.append((type(error), str(error)))
    assert found[0] == found[1]
    with contextlib.suppress(IndexError, TypeError):  # vectors around a slice are not recorded
        recorded = vjp(lambda x: x[keys], x)[0]
        assert (type(recorded), recorded.dtype, recorded.shape, recorded.tolist()) == found[0]


GRID = LoDTensor.from_lengths(np.arange(108.0).reshape(9, 3, 4), [3, 4, 2])
UNEVEN = LoDTensor.from_lengths(np.arange(27.0).reshape(9, 3), [2, 1], [2, 4, 3])
EVEN = LoDTensor.from_lengths(np.arange(42.0).reshape(14, 3), [2, 2], [4, 4, 3, 3])
SEVERAL = [
    *((GRID, keys) for keys in (np.s_[:, [0, 1], [1, 0]], np.s_[:, [0, 1], [1, 0], [2, 3]], np.s_[[0, 1], :, [1, 0]])),
    *((GRID, keys) for keys in (np.s_[[0, 2], :, [1, 0], [3, 1]], np.s_[:, [1, 0], 2], np.s_[:, [-1, 0], [1, -1]])),
    *((GRID, keys) for keys in (np.s_[[0, 2], :2, [1, 2]], np.s_[[0], :, [1, 2]])),
    *((UNEVEN, keys) for keys in (np.s_[:, :, [0, 1], [1, 0]], np.s_[[0, 1], :, :, [1, 0]], np.s_[[0, 1], :, [0, 1]])),
    *((UNEVEN, keys) for keys in (np.s_[[1, 0], :, [0, -1], [1, 2]], np.s_[[0, 1], [0, 0], :, [1, 2]])),
    *((EVEN, keys) for keys in (np.s_[:, [0, 1], [1, 0]], np.s_[:, [1, 0], [1, 0], [0, 2]], np.s_[[0, 1], :, [1, 2]])),
]


@for_each(("x", "keys"), SEVERAL)
def test_several_vectors_around_sequences_are_recorded(x, keys):
    wanted = x[keys]
    found, pullback = vjp(lambda x: x[keys], x)
    with Program() as program:
        made = data("x", (None, *x.values.shape[1:]), "f8", num_levels=x.num_levels)[keys]
    (run,) = Executor().run(program, {"x": x}, [made])
    for one in (found, run):
        assert (type(one), one.tolist()) == (type(wanted), wanted.tolist())
        assert getattr(one, "lod", None) == getattr(wanted, "lod", None)
    d = np.sin(np.arange(np.size(getattr(wanted, "values", wanted)))).reshape(
        np.shape(getattr(wanted, "values", wanted))
    )
    (gradient,) = pullback(d)
    assert np.vdot(gradient.values, x.values) == pytest.approx(np.vdot(d, getattr(wanted, "values", wanted)))
    with pytest.raises(TypeError, match="a Variable is one of several vectors"), Program():
        data("x", (None, 3, 4), "f8", num_levels=1)[:, np.array([0, 1]), data("k", (2,), "i8")]
