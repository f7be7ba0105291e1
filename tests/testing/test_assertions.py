"""Assertions for users: equality of batches, in every way of testing it, and the first difference if they differ."""

import copy
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, Executor, LoD, LoDTensor, Program, data, vjp
from lodcore.operators.roles import spec_of
from lodcore.testing import assert_allclose, assert_equal
from tests.helpers.draw import lod_tensors, lods

BOTH = pytest.mark.parametrize("check", [assert_equal, assert_allclose])
NUMBERS = [np.int8, np.int64, np.float32, np.float64]


def numbers():
    return lodcore.array([[[1.0, 2.0], []], [[3.0], [4.0, 5.0]]])


def refused(check, actual, desired, says, **options):
    with pytest.raises(AssertionError, match="^" + re.escape(f"{check.__name__}: {says}")):
        check(actual, desired, **options)


# -- what is equal -------------------------------------------------------------------------------------------------


@BOTH
@given(lod_tensors(dtypes=NUMBERS, row_shapes=[(), (2,), (0,)]))
def test_a_tensor_equals_itself_and_its_lists(check, x):
    check(x, x)
    check(x, x.copy())
    check(x, x.tolist())
    check(x.tolist(), x)


@given(lod_tensors(dtypes=NUMBERS, row_shapes=[(), (2,)]), st.booleans(), st.data())
def test_equals_assert_equal_and_assert_allclose_agree(x, same, data_):
    """nan is special: `equals` treats nans as equal, NumPy does not."""
    assume(not np.isnan(x.values).any())
    other = x.copy()
    if not same and x.size:
        other.values.reshape(-1)[data_.draw(st.integers(0, x.size - 1))] = 77
        assume(not x.equals(other))
    lists = other.tolist()
    equal = same or not x.size
    assert x.equals(other) == x.equals(lists) == x.equals(tuple(lists)) == equal
    assert np.array_equal(x, other) == np.array_equal(x, lists) == np.array_equal(lists, x) == equal
    for every in (x == lists, lists == x, np.equal(x, lists), np.equal(lists, x)):
        assert every.lod is x.lod
        assert bool(every.all()) == equal
    for some in (x != lists, np.not_equal(lists, x)):
        assert bool(some.any()) != equal
    assert np.allclose(x, lists) == np.allclose(lists, x) == equal
    with Program() as program:
        found = data("x", spec_of(x)) == lists
    assert Executor().run(program, {"x": x}, [found])[0].equals(x == lists)
    assert vjp(lambda x: x == lists, x)[0].equals(x == lists)


@given(lods(1, 3), lods(1, 3))
def test_other_structures_are_not_equal(one, other):
    assume(one != other)
    x, y = (LoDTensor(np.ones(lod.num_rows), lod) for lod in (one, other))
    assume(x.tolist() != y.tolist())  # empty lists do not determine their levels
    assert not x.equals(y)
    assert not x.equals(y.tolist())
    assert not np.array_equal(x, y)
    assert not np.array_equal(x, y.tolist())
    for check in (assert_equal, assert_allclose):
        for desired in (y, y.tolist()):
            with pytest.raises(AssertionError, match=r"length|levels|sequences"):
                check(x, desired)


def test_equals_is_false_for_all_but_batches():
    x = lodcore.array([[1.0, 2.0], [3.0]])
    for other in (None, 3, "text", np.ones(3), [1.0, 2.0], [[1.0, 2.0], 3.0], [[None]], [["a", "b"], ["c"]], [[[1.0]]]):
        assert not x.equals(other)
        if not isinstance(other, str):
            assert not np.array_equal(x, other)
    assert x.equals([np.array([1.0, 2.0]), np.array([3.0])])
    wide = LoDTensor.from_lengths(np.arange(4.0).reshape(2, 2), [1, 1])
    assert wide.equals([[[0, 1]], [[2, 3]]])
    assert wide.equals([np.array([[0, 1]]), np.array([[2, 3]])])
    for narrow in ([[[0]], [[2]]], [[[0, 1]], [[2]]], [[[0, 1]], [[2, 3, 4]]], [[0], [2]]):
        assert not wide.equals(narrow)
        assert not np.array_equal(wide, narrow)
    assert (wide == [2, 3]).values.tolist() == [[False, False], [True, True]]  # one row for all, as in NumPy
    assert (wide == [[2, 3]]).values.tolist() == [[False, False], [True, True]]


def test_assert_equal_and_assert_allclose_take_nan_as_equal_to_nan():
    x = lodcore.array([[np.nan, 1.0], [2.0]])
    assert_equal(x, x.copy())
    assert_equal(x, x.tolist())
    assert_allclose(x, x.copy())
    assert x.equals(x.tolist())
    assert not np.array_equal(x, x.tolist())
    assert np.array_equal(x, x.tolist(), equal_nan=True)
    refused(assert_allclose, x, x.copy(), "actual[0][0]: is nan; desired has nan (1 of 3 rows differ", equal_nan=False)
    refused(assert_equal, x, [[1.0, 1.0], [2.0]], "actual[0][0]: is nan; desired has 1.0")


KINDS_OF_NAN = {  # values of each kind, of which the first is nan or NaT: it equals itself, and no other
    "float": np.array([np.nan, 1.0]),
    "half": np.array([np.nan, 1.0], np.float16),
    "complex": np.array([complex(0, np.nan), 1j]),
    "date": np.array(["NaT", "2020-01-01"], "M8[D]"),
    "instant": np.array(["NaT", "2020-01-01"], ">M8[ns]"),
    "duration": np.array(["NaT", 3], "m8[s]"),
    "record": np.array([(np.nan, "NaT"), (1.0, "2020-01-01")], [("a", "f4"), ("b", "M8[D]")]),
    "rows of records": np.array([([np.nan, 0.0],), ([1.0, 2.0],)], [("a", "f8", (2,))]),
    "records of records": np.array([(("NaT",),), ((3,),)], [("a", [("b", "m8[s]")])]),
}


@pytest.mark.parametrize("kind", KINDS_OF_NAN)
def test_assert_equal_distinguishes_every_kind_of_nan(kind):
    values = KINDS_OF_NAN[kind]
    for rows in (values, np.stack([values, values], axis=1)):
        for make in (lambda rows: LoDTensor.from_lengths(rows, [1, 1]), lambda rows: rows):
            assert_equal(make(rows), make(rows.copy()))
            for wrong, at in ((rows[[1, 1]], 0), (rows[[0, 0]], 1), (rows[::-1], 0)):
                with pytest.raises(AssertionError, match=rf"^assert_equal: actual\[{at}\]"):
                    assert_equal(make(rows), make(wrong))
    assert LoDTensor.from_lengths(values, [2]).equals(LoDTensor.from_lengths(values.copy(), [2]))


# -- what differs --------------------------------------------------------------------------------------------------


@BOTH
def test_the_first_sequence_that_differs_is_named(check):
    x = numbers()
    changed = x.copy()
    changed[1, 1, 0] = 7.0
    refused(check, x, changed, "actual[1][1][0]: is 4.0; desired has 7.0 (1 of 5 rows differ")
    refused(check, x, changed.tolist(), "actual[1][1][0]: is 4.0; desired has 7.0")
    refused(check, x, [[[1, 2], []], [[3], [4]]], "actual[1][1]: has length 2; desired has 1")
    refused(check, x, [[[1, 2]], [[3], [4, 5]]], "actual[0]: has length 2; desired has 1")
    refused(check, x, [[[1, 2], [], []], [[3]]], "actual[0]: has length 2; desired has 3")
    refused(check, x, [[[1], [2]], [[3, 4], [5]]], "actual[0][0]: has length 2; desired has 1")
    refused(check, x, [*x.tolist(), []], "actual: has 2 sequences; desired has 3, and desired[2] is more")
    refused(check, x, x[:1], "actual: has 2 sequences; desired has 1, and actual[1] is more")
    refused(check, x, x.flatten(), "actual: has 2 levels; desired has 1")
    refused(check, x, x.values, "actual: is sequences; desired is a dense array")
    wide = LoDTensor(np.arange(10.0).reshape(5, 2), x.lod)
    refused(check, wide, wide + np.array([0, 1]), "actual[0][0][0][1]: is 1.0; desired has 2.0 (5 of 5 rows differ")
    refused(check, wide, wide[..., :1], "actual: has rows of shape (2,); desired has (1,)")
    refused(check, np.ones(2), np.array([1.0, 2.0]), "actual[1]: is 1.0; desired has 2.0 (1 of 2 values differ")
    refused(check, np.ones(2), np.ones(3), "actual: has shape (2,); desired has (3,)")
    refused(check, [[1], [2, 3]], [[1], [2, 4]], "actual[1][1]: is 3; desired has 4")


def test_assert_equal_names_the_place_of_a_difference_at_every_depth():
    random = np.random.default_rng(0)
    for _ in range(50):
        counts, lengths = 3, []
        for _ in range(random.integers(1, 5)):
            lengths.append(random.integers(0, 4, counts))
            counts = int(lengths[-1].sum())
        if not counts:
            continue
        x = LoDTensor.from_lengths(np.arange(counts), *lengths)
        at = random.integers(counts)
        changed = x.copy()
        changed.values[at] = -1
        with pytest.raises(AssertionError) as caught:
            assert_equal(x, changed)
        place = re.match(r"assert_equal: (actual[\[\]0-9]+): is (\d+); desired has -1", str(caught.value))
        assert eval(place[1], {"actual": x.tolist()}) == int(place[2]) == at


def paths(lists, num_levels, before=()):
    """List the places of the sequences of every level in nested lists."""
    places = [(*before, j) for j in range(len(lists))]
    inner = [paths(lists[path[-1]], num_levels - 1, path) for path in places] if num_levels > 1 else []
    return sum(inner, places)


def at(lists, path):
    for j in path:
        lists = lists[j]
    return lists


PLACES = [
    (1, [[1], [2, 3], [], [4]]),
    (2, [[[1], [2]], [[3], [4]], [], [[], [5, 6]]]),
    (3, [[[[1], []], [[2]]], [], [[], [[3, 4], [5]]], [[[6]]]]),
]


@BOTH
@pytest.mark.parametrize(("num_levels", "lists"), PLACES)
def test_assert_equal_names_the_sequence_of_another_length(num_levels, lists, check):
    """One sequence of any level has one entry more, or one less."""
    x = lodcore.array(lists, num_levels=num_levels)
    found = paths(lists, num_levels)
    assert len(found) == [4, 10, 15][num_levels - 1]
    for path in found:
        other = copy.deepcopy(lists)
        length = len(at(lists, path))
        at(other, path).append([] if len(path) < num_levels else 7)
        y = lodcore.array(other, num_levels=num_levels)
        place = "".join(f"[{j}]" for j in path)
        refused(check, x, y, f"actual{place}: has length {length}; desired has {length + 1}")
        refused(check, y, x, f"actual{place}: has length {length + 1}; desired has {length}")


def test_assert_equal_names_dtypes_that_differ():
    x = numbers()
    refused(assert_equal, x, x.astype(np.float32), "actual: has dtype float64; desired has float32")
    assert_equal(x, x.astype(np.float32), check_dtype=False)
    assert_equal(x, x.astype(int).tolist())
    assert_allclose(x, x.astype(np.float32))
    refused(assert_allclose, x, x.astype(int), "actual: has dtype float64; desired has int64", check_dtype=True)
    text = lodcore.array([["a"], ["b"]])
    assert_equal(text, [["a"], ["b"]])
    refused(assert_equal, text, [["a"], ["c"]], "actual[1][0]: is b; desired has c")
    refused(assert_equal, text, [[1], [2]], "actual[0][0]: is a; desired has 1")
    with pytest.raises(DTypeError, match="assert_allclose: actual: has dtype <U1; numbers are needed"):
        assert_allclose(text, text)


def test_assert_equal_compares_records():
    x = LoDTensor.from_lengths(np.array([(1, 2.0), (3, np.nan)], [("a", "i4"), ("b", "f8")]), [1, 1])
    assert_equal(x, x.copy())
    other = x.copy()
    other["a"] = 1
    refused(assert_equal, x, other, "actual[1][0]: is (3, nan); desired has (1, nan) (1 of 2 rows differ, in 1 of 2")


@given(st.floats(0, 1e-3), st.floats(0, 1e-3), st.floats(0, 2e-3))
def test_tolerances_are_those_of_numpy(rtol, atol, off):
    x = lodcore.array([[1.0], [2.0, 3.0]])
    y = x.copy()
    y[1, 1] = 3.0 + off

    def passes(check, a, b):
        try:
            check(a, b, rtol=rtol, atol=atol)
        except AssertionError:
            return False
        return True

    assert passes(assert_allclose, x, y) == passes(np.testing.assert_allclose, x.values, y.values)


@pytest.mark.parametrize(
    "make", [np.array, lambda v: lodcore.array([v]), lambda v: [v], tuple], ids=["array", "batch", "lists", "tuple"]
)
@pytest.mark.parametrize(
    ("actual", "desired", "options", "passes"),
    [
        ([2.0], [1.0], {"rtol": 0.6}, False),  # of 1.0, not of 2.0
        ([1.0], [2.0], {"rtol": 0.6}, True),
        ([-2.0], [-1.0], {"rtol": 0.6}, False),
        ([-1.0], [-2.0], {"rtol": 0.6}, True),
        ([0.0], [1.0], {"rtol": 1.0}, True),
        ([1.0], [0.0], {"rtol": 1.0}, False),
        ([1.0], [0.0], {"rtol": 0.0, "atol": 1.0}, True),
        ([3.0], [1.0], {"rtol": 1.0, "atol": 0.5}, False),
        ([2.5], [1.0], {"rtol": 1.0, "atol": 0.5}, True),
        ([np.inf], [1.0], {"rtol": 10.0}, False),
        ([1.0], [np.inf], {"rtol": 10.0}, False),
        ([-np.inf], [np.inf], {"rtol": 10.0}, False),
        ([np.inf], [np.inf], {}, True),
        ([1.0, np.nan], [1.0, 1.0], {"rtol": 10.0}, False),
        ([1.0 + 1e-8], [1.0], {}, True),
        ([1.0 + 1e-6], [1.0], {}, False),
    ],
)
def test_the_tolerance_is_relative_to_what_is_desired(actual, desired, options, passes, make):
    if passes:
        assert_allclose(make(actual), make(desired), **options)
        return
    with pytest.raises(AssertionError, match=r"^assert_allclose: actual.* within rtol"):
        assert_allclose(make(actual), make(desired), **options)


def test_assert_equal_and_assert_allclose_of_other_objects_raise():
    x = numbers()
    for wrong, says in ((None, "NoneType"), (object(), "object"), ([[None]], "None"), ([[1], 2], "one kind")):
        for check in (assert_equal, assert_allclose):
            with pytest.raises((TypeError, ValueError), match=says):
                check(x, wrong)
    with Program():
        variable = data("x", spec_of(x))
        with pytest.raises(DTypeError, match=r"actual: is a Variable; give its value, actual\.get\(\)"):
            assert_equal(variable, x)
    assert_equal(LoDTensor(np.ones(2), LoD.from_offsets(num_rows=2)), np.ones(2))


#: What differs, and the end of the message: of how many rows, in how many sequences.
COUNTED = [
    ([[1, 2], [3], [4, 5]], [[1, 0], [3], [0, 5]], "(2 of 5 rows differ, in 2 of 3 sequences)"),
    ([[1, 2], [3], [4, 5]], [[1, 2], [0], [0, 0]], "(3 of 5 rows differ, in 2 of 3 sequences)"),
    ([[1, 2], [], [4, 5]], [[0, 0], [], [4, 5]], "(2 of 4 rows differ, in 1 of 3 sequences)"),
    ([[], [1], [], [2]], [[], [0], [], [0]], "(2 of 2 rows differ, in 2 of 4 sequences)"),
    ([[[1], [2]], [[3, 4]]], [[[0], [0]], [[3, 4]]], "(2 of 4 rows differ, in 1 of 2 sequences)"),
    ([[[1], [2]], [[3, 4], []], [[5]]], [[[0], [0]], [[0, 0], []], [[5]]], "(4 of 5 rows differ, in 2 of 3 sequences)"),
    ([[[[1]], [[2]]], [[[3], [4]]]], [[[[0]], [[0]]], [[[3], [4]]]], "(2 of 4 rows differ, in 1 of 2 sequences)"),
]


@BOTH
def test_rows_and_sequences_that_differ_are_counted(check):
    for actual, desired, says in COUNTED:
        for one, other in ((actual, desired), (desired, actual)):
            with pytest.raises(AssertionError, match=r"rows differ") as caught:
                check(lodcore.array(one), lodcore.array(other))
            said = str(caught.value).replace(" within rtol 1e-07, atol 0", "")
            assert said.endswith(says)


def test_records_are_compared_field_by_field():
    fields = [("a", "i4"), ("b", "f8"), ("c", "U2")]
    rows = np.array([(1, 2.0, "x"), (3, np.nan, "y")], fields)
    x = LoDTensor.from_lengths(rows, [1, 1])
    for name, value in (("a", 7), ("b", 7.0), ("c", "z")):
        changed = rows.copy()
        changed[name][1] = value
        other = LoDTensor.from_lengths(changed, [1, 1])
        for one, another in ((x, other), (other, x)):
            with pytest.raises(
                AssertionError, match=r"actual\[1\]\[0\]: is .* \(1 of 2 rows differ, in 1 of 2 sequences"
            ):
                assert_equal(one, another)
    renamed = LoDTensor.from_lengths(rows.astype([("a", "i4"), ("d", "f8"), ("c", "U2")]), [1, 1])
    refused(assert_equal, x, renamed, "actual[0][0]: is (1, 2.", check_dtype=False)


def test_values_of_different_kinds_are_not_equal():
    dates = np.array(["1970-01-02", "1970-01-03"], "M8[D]")
    for one, other in ((dates, np.array([1, 2])), (dates, np.array([1.0, 2.0])), (np.array(["1"]), np.array([1]))):
        for actual, desired in ((one, other), (other, one)):
            refused(assert_equal, actual, desired, "actual[0]: is", check_dtype=False)
    for actual, desired, side in ((dates, np.ones(2), "actual"), (np.ones(2), dates, "desired")):
        with pytest.raises(DTypeError, match=f"assert_allclose: {side}: has dtype datetime64.D.; numbers are needed"):
            assert_allclose(actual, desired)


@BOTH
def test_lists_on_both_sides_and_dense_tensors(check):
    check([[1], []], [[1], []])
    check([[1, 2], [3]], [(1, 2), (3,)])
    refused(check, [[], [1]], [[], [1, 2]], "actual[1]: has length 1; desired has 2")
    check([1, 2], (1, 2))
    check(lodcore.DenseTensor([1.0, 2.0]), np.array([1.0, 2.0]))
    check([1.0, 2.0], lodcore.DenseTensor([1.0, 2.0]))
    refused(
        check,
        lodcore.DenseTensor([1.0]),
        lodcore.DenseTensor([2.0]),
        "actual[0]: is 1.0; desired has 2.0 (1 of 1 values",
    )
    long = [[1]] * 5
    refused(
        check, lodcore.array([[1, 2], [3], [], [4], [5]]), lodcore.array(long), "actual[0]: has length 2; desired has 1"
    )
    for wrong in (lambda: 0, {1: 2}, np.array([None])):
        with pytest.raises((TypeError, ValueError)):
            check([1.0], wrong)
