"""Records: a field is a view that writes through, and an ordinary tensor for all operators."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import (
    DTypeError,
    Executor,
    LoDError,
    LoDTensor,
    Program,
    ShapeError,
    data,
    map_fn,
    sequence_shift,
    vjp,
)
from lodcore.operators.roles import spec_of
from lodcore.tensors import lod_tensor_body
from lodcore.testing.samples import bits
from tests.helpers.draw import lods
from tests.helpers.kept_memory import resident
from tests.helpers.tables import for_each

KINDS = {
    "packed": np.dtype([("a", "i1"), ("b", "f8"), ("c", "f4", (2,))]),  # fields are not aligned
    "aligned": np.dtype([("a", "i1"), ("b", "f8"), ("c", "f4", (2,))], align=True),
}


def records(lod, dtype):
    """Make records, and a plain tensor of each field."""
    n = lod.num_rows
    fields = {"a": np.arange(n) % 100, "b": np.arange(n) / 4, "c": np.arange(2.0 * n).reshape(n, 2)}
    rows = np.zeros(n, dtype)
    for name, field in fields.items():
        rows[name] = field
    return LoDTensor(rows, lod, share=True), {
        name: LoDTensor(field.astype(dtype[name].base), lod, share=True) for name, field in fields.items()
    }


drawn = st.tuples(lods(1, 3), st.sampled_from(sorted(KINDS)))


def assert_fields(x, plain):
    for name, wanted in plain.items():
        assert bits(x[name]) == bits(wanted), name
        assert np.array_equal(x.values[name], wanted.values), name


# -- writing -------------------------------------------------------------------------------------------------------


def writes(name, x, plain):
    """List assignments, each as a function of a tensor."""
    width = plain[name].values.shape[1:]
    mask = plain["b"] > 1
    most = max([0, *x.lengths.tolist()])
    return [
        lambda t: t.__setitem__(..., 5),
        lambda t: t.__setitem__(slice(None), t.with_values(np.full((t.num_rows, *width), 3, t.dtype))),
        lambda t: t.__setitem__(mask, 0),
        lambda t: t.__setitem__(slice(1, None), 7),
        lambda t: t.__setitem__(slice(None, None, 2), 8),
        lambda t: t.__setitem__(-1, 9) if len(t) else None,
        lambda t: t.__setitem__((-1, slice(0, 1)), 4) if len(t) else None,
        lambda t: t.__setitem__([0] if len(t) else [], 6),
        lambda t: t.__setitem__((slice(None), slice(1, most)), 2),
        lambda t: t.__setitem__((..., 1), 11) if width else None,
        lambda t: [sequence.__setitem__(slice(None), 12) for sequence in t],
        lambda t: np.add(t, 1, out=t),
    ]


@given(drawn, st.sampled_from("abc"), st.integers(0, 11))
def test_writes_to_a_field_change_the_records(given_, name, at):
    lod, kind = given_
    x, plain = records(lod, KINDS[kind])
    kept = x[name]
    for tensor in (x[name], plain[name]):
        writes(name, x, plain)[at](tensor)
    assert_fields(x, plain)
    assert bits(kept) == bits(plain[name])  # a view, also of writes through others


@given(drawn, st.sampled_from("abc"))
def test_a_field_is_assigned(given_, name):
    lod, kind = given_
    x, plain = records(lod, KINDS[kind])
    x[name] = 3
    plain[name][...] = 3
    assert_fields(x, plain)
    x[name] = plain[name] * 2
    plain[name][...] = plain[name] * 2
    assert_fields(x, plain)
    x[name] += 1
    plain[name][...] = plain[name] + 1
    assert_fields(x, plain)


@given(drawn)
def test_several_fields_are_records_of_them(given_):
    lod, kind = given_
    x, plain = records(lod, KINDS[kind])
    two = x[["b", "a"]]
    assert two.lod is x.lod
    assert two.dtype.names == ("b", "a")
    two["b"] = 7
    plain["b"][...] = 7
    assert_fields(x, plain)
    other, _ = records(lod, KINDS[kind])
    x[["a", "b"]] = other[["a", "b"]]
    assert_fields(x, {**plain, "a": other["a"].copy(), "b": other["b"].copy()})


def test_records_in_records():
    dtype = np.dtype([("i", "i1"), ("at", [("x", "f8"), ("y", "f8")])])
    x = LoDTensor.from_lengths(np.zeros(3, dtype), [1, 2]).copy()
    x["at"]["y"][x["i"] == 0] = 5
    x["at"]["x"] = lodcore.array([[1.0], [2.0, 3.0]])
    assert x["at"].tolist() == [[(1.0, 5.0)], [(2.0, 5.0), (3.0, 5.0)]]


@given(drawn, st.data())
def test_records_are_equal_where_all_fields_are(given_, data_):
    lod, kind = given_
    x, _ = records(lod, KINDS[kind])
    y = x.copy()
    rows = lod_tensor_body.writable_values(y)
    for name in "abc":
        chosen = data_.draw(st.lists(st.booleans(), min_size=lod.num_rows, max_size=lod.num_rows))
        rows[name][np.array(chosen, bool)] += 1
    wanted = np.array(
        [one.tolist() == other.tolist() for one, other in zip(x.values["c"], rows["c"], strict=True)], bool
    )
    wanted &= (x.values["a"] == rows["a"]) & (x.values["b"] == rows["b"])
    assert np.array_equal(wanted, x.values == rows)
    for found, values in (
        (x == y, wanted),
        (x != y, ~wanted),
        (np.equal(x, y), wanted),
        (lodcore.not_equal(y, x), ~wanted),
        (run_recorded(lambda x, y: x == y, x, y), wanted),
        (run_recorded(lambda x, y: x != y, x, y), ~wanted),
    ):
        assert bits(found) == bits(LoDTensor(values, lod))
        assert not lod.num_levels or found.lod is lod
    if lod.num_rows:
        assert bits(x == x.values[0]) == bits(LoDTensor(x.values == x.values[0], lod))
        assert x.values[0] in x


def run_recorded(function, *tensors):
    with Program() as program:
        y = function(*[data(f"x{j}", spec_of(x)) for j, x in enumerate(tensors)])
    return Executor().run(program, {f"x{j}": x for j, x in enumerate(tensors)}, [y])[0]


def test_comparisons_of_records_that_do_not_fit_raise_the_same_in_a_program():
    x, plain = records(lodcore.LoD.from_lengths([2, 1]), KINDS["packed"])
    for wrong in (
        lambda x: x == 3,
        lambda x: x == plain["a"],
        lambda x: x != LoDTensor(np.zeros(3, [("q", "f8")]), plain["a"].lod),
        lambda x: x < x,
    ):
        with pytest.raises(DTypeError) as eager:
            wrong(x)
        with pytest.raises(DTypeError) as recorded:
            run_recorded(wrong, x)
        assert str(eager.value) == str(recorded.value)
    with pytest.raises(ShapeError, match="with_values"):
        x == x.values  # noqa: B015


def test_one_sequence_of_a_field_is_a_view():
    x, _ = records(lodcore.LoD.from_lengths([2, 1]), KINDS["packed"])
    x["b"][0][1] = 9
    x[1]["b"] = 8
    x["b"][0:1][0][0] = 7
    assert x["b"].tolist() == [[7.0, 9.0], [8.0]]
    with pytest.raises(ValueError, match="read-only"):  # a copy for kernels: writes are never lost silently
        x["b"].values[0] = 1


# -- reading -------------------------------------------------------------------------------------------------------


@given(drawn, st.sampled_from("abc"))
def test_a_field_is_a_plain_tensor_to_all_others(given_, name):
    lod, kind = given_
    x, plain = records(lod, KINDS[kind])
    field, wanted = x[name], plain[name]
    assert type(field) is LoDTensor
    for f in (
        lambda t: t + 1,
        lambda t: t.sum(axis=-1),
        lambda t: lodcore.sequence_pool(t, "sum"),
        lambda t: lodcore.sequence_reverse(t),
        lambda t: lodcore.concat_batches([t, t]),
        lambda t: t[::-1],
        lambda t: t[1:],
        lambda t: t.flatten(),
        lambda t: t.to_padded() if t.num_levels == 1 else None,
        lambda t: pickle.loads(pickle.dumps(t)),
        lambda t: t.copy(),
        lambda t: list(t),
        lambda t: lodcore.gather_sequences(t, np.arange(len(t))[::-1]),
        lambda t: lodcore.TensorArray.unpack(t, 0)[0],
        lambda t: repr(t),
        lambda t: t.equals(wanted),
        lambda t: vjp(lambda t: t * 2, t)[1](np.ones(t.values.shape, t.dtype))[0],
    ):
        assert bits(f(field)) == bits(f(wanted))
    copied = field.copy()
    if copied.num_rows:
        copied[...] = 0
    assert_fields(x, plain)


def test_indices_by_fields_that_records_do_not_have_name_those_they_have():
    x, plain = records(lodcore.LoD.from_lengths([2, 1]), KINDS["packed"])
    before = x.values.copy()
    for key in ("d", ["a", "d"]):
        with pytest.raises(TypeError, match=r"'d'; the values have no such field, those are 'a', 'b', 'c'"):
            x[key]
        with pytest.raises(TypeError, match="'d'"):
            x[key] = 1
    with pytest.raises(TypeError, match="'a'; the values have no such field, fields are those of records"):
        plain["a"]["a"]
    for key in ("a", ["a", "b"]):
        for record in (lambda r, key=key: vjp(lambda r: r[key], r), lambda r, key=key: map_fn(lambda r: r[key], r)):
            with pytest.raises(TypeError, match="fields of a Variable are not recorded"):
                record(x)
    with pytest.raises(TypeError, match=r"order: is 'a'; lodcore.sort_by_key"):
        np.sort(x, order="a")
    with pytest.raises(TypeError, match="different fields"):
        x[["a", "a"]]
    with pytest.raises(LoDError, match="sequence 0"):
        x["b"] = lodcore.array([[1.0], [2.0, 3.0]])
    with pytest.raises(ShapeError):
        x["b"] = np.ones(2)
    with pytest.raises(DTypeError, match=r"1\.5"):
        x["a"] = 1.5
    assert np.array_equal(x.values, before)
    read_only = LoDTensor.from_lengths(np.zeros(3, KINDS["packed"]), [2, 1])
    for write in (
        lambda: read_only.__setitem__("a", 1),
        lambda: read_only["a"].__setitem__(0, 1),
        lambda: np.add(read_only["b"], 1, out=read_only["b"]),
    ):
        with pytest.raises(ValueError, match=r"read-only.*copy\(\)"):
            write()


@pytest.mark.parametrize("long", ["abc", ["a", "abc"], np.array([["a"], ["abc"]]), b"abc", b"\xff", 123])
def test_text_is_not_cut(long):
    x = LoDTensor.from_lengths(np.array([("a", 1), ("b", 2)], [("t", "U2"), ("a", "i4")]), [1, 1]).copy()
    for write in (
        lambda: x.__setitem__("t", long),
        lambda: x["t"].__setitem__(slice(None), long),
        lambda: sequence_shift(x["t"], 1, long),
    ):
        with pytest.raises((DTypeError, ShapeError)):
            write()
    assert x["t"].tolist() == [["a"], ["b"]]
    x["t"] = "cd"
    x["t"][x["a"] > 1] = "e"
    assert x["t"].tolist() == [["cd"], ["e"]]


def test_lists_of_tuples_are_records():
    """The result of `tolist` compares equal in every way, and `lodcore.array` converts it back."""
    rows = np.array([(1, 0.5), (2, 1.5), (3, 2.5)], [("a", "i4"), ("b", "f4")])
    x = LoDTensor.from_lengths(rows, [2, 0, 1])
    same, other = x.tolist(), [[(1, 0.5), (2, 9.5)], [], [(3, 2.5)]]
    assert (x == same).tolist() == [[True, True], [], [True]]
    assert (x == other).tolist() == [[True, False], [], [True]]
    assert (other != x).tolist() == [[False, True], [], [False]]
    assert x.equals(same)
    assert np.array_equal(x, same)
    assert not x.equals(other)
    assert not np.array_equal(x, other)
    assert lodcore.array(same, dtype=rows.dtype).equals(x)
    lodcore.testing.assert_equal(x, same)
    with pytest.raises(AssertionError, match=r"actual\[0\]\[1\]: is \(2, 1.5\); desired has \(2, 9.5\)"):
        lodcore.testing.assert_equal(x, other)


def make_fields():
    """Make a field of shared records, and a plain tensor with a copy of the same rows."""
    records = np.zeros((6,), [("a", "i2"), ("b", "f8"), ("c", "f4", (3,))])
    records["a"], records["b"] = np.arange(6), np.arange(6) / 2
    records["c"] = np.arange(18).reshape(6, 3)
    return records, LoDTensor(records, lodcore.LoD.from_lengths([2, 1], [1, 3, 2]), share=True)


READERS = {
    "tolist": lambda x: x.tolist(),
    "values": lambda x: x.values.tolist(),
    "gather": lambda x: lodcore.gather_sequences(x, [1, 0, 1]).tolist(),
    "gather of an inner level": lambda x: lodcore.gather_sequences(x, [2, 0], level=1).tolist(),
    "one": lambda x: x[1].tolist(),
    "slice": lambda x: x[0:1].tolist(),
    "inner slice": lambda x: x[:, :, 1:].tolist(),
    "list of positions": lambda x: x[[1, 0]].tolist(),
    "mask": lambda x: x[np.array([False, True])].tolist(),
    "mask of rows": lambda x: x[lodcore.LoDTensor(np.arange(6) % 2 == 0, x.lod)].tolist(),
    "iteration": lambda x: [one.tolist() for one in x],
    "sum": lambda x: x.sum(axis=2).tolist(),
    "mean": lambda x: x.mean(axis=2).tolist(),
    "max": lambda x: x.max(axis=2).tolist(),
    "argmin": lambda x: x.argmin(axis=2).tolist(),
    "std": lambda x: x.std(axis=2).tolist(),
    "sum over everything": lambda x: x.sum().tolist(),
    "plus": lambda x: (x + 1).tolist(),
    "minus itself": lambda x: (2 * x - x).tolist(),
    "sine": lambda x: np.sin(x).tolist(),
    "compared": lambda x: (x > 2).tolist(),
    "concatenated": lambda x: lodcore.concat_batches([x, x]).tolist(),
    "joined": lambda x: np.concatenate([x, x], axis=2).tolist(),
    "reversed": lambda x: lodcore.sequence_reverse(x).tolist(),
    "shifted": lambda x: lodcore.ops.sequence_shift(x, 1).tolist(),
    "sorted": lambda x: np.sort(x, axis=2).tolist(),
    "running sum": lambda x: np.cumsum(x, axis=2).tolist(),
    "steps": lambda x: [step.tolist() for step in lodcore.TensorArray.unpack(x, 1)[0]],
    "padded": lambda x: x.to_padded()[0].tolist(),
    "arrays": lambda x: [np.asarray(part).tolist() for part in x.flatten(0).to_arrays()],
    "flat": lambda x: x.flatten(0).tolist(),
    "cast": lambda x: x.astype("f8").tolist(),
    "copy": lambda x: x.copy().tolist(),
    "pickled": lambda x: pickle.loads(pickle.dumps(x)).tolist(),
    "array": lambda x: np.asarray(x.flatten(0)[1]).tolist(),
    "text": str,
    "equal": lambda x: x.equals(lodcore.LoDTensor(np.array(x.values), x.lod)),
    "where": lambda x: np.where(x > 1, x, 0).tolist(),
    "run": lambda x: lodcore.vjp(lambda y: y * 3, x)[0].tolist(),
}


@pytest.mark.parametrize("name", READERS)
@for_each("field", ["a", "b", "c"])
def test_a_field_shows_later_writes_to_its_records(name, field):
    records, x = make_fields()
    read, part = READERS[name], x[field]
    outcomes = []
    for _ in range(3):
        plain = LoDTensor(np.array(records[field]), x.lod)
        outcomes.append(read(plain))
        assert read(part) == outcomes[-1]
        records[field][...] = records[field][::-1].copy() * 2 + 1
    assert name == "equal" or outcomes[0] != outcomes[1]


@pytest.mark.parametrize("name", READERS)
def test_operators_read_changed_values_of_a_field(name):
    records, x = make_fields()
    for first in READERS.values():
        part = x["a"]
        READERS[name](part)
        first(part)
        records["a"][...] = records["a"][::-1].copy() * 3 % 17 + 1
        first(part)
        records["a"][...] = records["a"][::-1].copy() * 2 % 13 + 1
        assert READERS[name](part) == READERS[name](LoDTensor(np.array(records["a"]), x.lod))


def test_few_sequences_of_a_field_are_those_of_its_copy():
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 5, 60)
    records = np.zeros(lengths.sum(), [("a", "f4"), ("b", "i8", (2,)), ("c", [("d", "u1"), ("e", "f8")])])
    records["a"], records["c"]["d"] = rng.normal(size=len(records)), np.arange(len(records))
    records["b"] = rng.integers(0, 99, (len(records), 2))
    x = LoDTensor(records, lodcore.LoD.from_lengths([20, 0, 40], lengths), share=True)
    for name in records.dtype.names:
        field, plain = x[name], LoDTensor(np.ascontiguousarray(records[name]), x.lod)
        for call in (
            lambda x: x.gather([3, -1, 3, 0], level=1),
            lambda x: x[[1]],
            lambda x: x[:, ::9],
            lambda x: x[:, :, :1],
            lambda x: x[:, :0],
        ):
            found, wanted = call(field), call(plain)
            assert (found.lod, found.dtype) == (wanted.lod, wanted.dtype)
            np.testing.assert_array_equal(found.values, wanted.values)
    field = x["a"]
    records["a"] = 7
    assert set(field.gather([1, 2, 3, 4], level=1).values.tolist()) == {7.0}, "what was written is read"


@pytest.mark.parametrize("pool_type", ["first", "last"])
def test_first_and_last_rows_of_a_field_are_those_of_its_copy(pool_type):
    lengths = [9, 0, 30, 1, 0]  # few sequences, so that only their rows are read
    records = np.zeros(40, [("a", "f4"), ("b", "i8", (2,)), ("c", [("d", "u1"), ("e", "f8")]), ("t", "U3")])
    records["a"], records["b"][:, 1], records["c"]["d"], records["t"] = np.arange(4 * 40).reshape(4, 40)
    x = LoDTensor(records, lodcore.LoD.from_lengths([2, 0, 3], lengths), share=True)
    pad = {"a": 5.0, "b": [6, 7], "t": "-"}
    for name in records.dtype.names:
        field, plain = x[name], LoDTensor(np.ascontiguousarray(records[name]), x.lod)
        for options in ({}, {"level": 0}, *([{"pad_value": pad[name]}] if name in pad else [])):
            found, wanted = (one.pool(pool_type, **options) for one in (field, plain))
            assert bits(found) == bits(wanted), (name, options)
        out = np.ones_like(plain.values[:3])
        assert bits(field.pool(pool_type, level=0, out=out)) == bits(plain.pool(pool_type, level=0))
    field, (losses, back) = x["a"], vjp(lambda field: field.pool(pool_type), x["a"])
    assert bits(back(losses)[0]) == bits(vjp(lambda field: field.pool(pool_type), field.copy())[1](losses)[0])
    records["a"] = 7
    assert field.pool(pool_type).values.tolist() == [7, 0, 7, 7, 0], "what was written is read"
    with pytest.raises(ValueError, match="out: overlaps"):
        field.pool(pool_type, level=0, out=np.frombuffer(records.data, "f4", 3))


def test_first_rows_of_a_field_need_no_copy_of_all_rows():
    records = np.ones(2_000_000, [("a", "i1"), ("b", "f8")])
    field = LoDTensor(records, lodcore.LoD.from_lengths([1000] * 2000), share=True)["b"]
    before = resident()
    field.pool("first")
    assert resident() - before < field.values.nbytes / 2
