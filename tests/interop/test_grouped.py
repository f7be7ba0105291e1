"""Tables of groups: columns, lengths, filters, joins; without any library."""

import copy
import pickle
import weakref

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, ShapeError
from lodcore.interop import ArrowTable, Groups
from lodcore.interop.grouped_names import GROUPS
from lodcore.interop.tables import grouped
from tests.helpers.tables import for_each

USER = np.array(["b", "a", "b", "c", "b"])
TS = np.array([10, 11, 50, 7, 55])


def sessions():
    keys, ts, page = lodcore.group_by(USER, TS, np.array(list("xyxzz")), order="first")
    return Groups({"ts": ts, "page": page}, {"user": keys})


def test_columns_lengths_and_names():
    g = sessions()
    assert g["ts"].tolist() == [[10, 50, 55], [11], [7]]
    assert g["user"].tolist() == ["b", "a", "c"]
    assert (list(g), len(g), g.lengths.tolist()) == (["user", "ts", "page"], 3, [3, 1, 1])
    assert "ts" in g
    assert "when" not in g
    assert repr(g) == "Groups(3 groups of 5 rows by 'user': 'ts', 'page')"
    with pytest.raises(KeyError, match="'when' is none of 'user', 'ts', 'page'"):
        g["when"]


def test_filters_of_rows_and_of_groups():
    g = sessions()
    later = g[g["ts"] > 10]
    assert later["page"].tolist() == [["x", "z"], ["y"], []]
    assert later["user"].tolist() == ["b", "a", "c"]
    for index in (g.lengths > 1, slice(0, 1), [0], np.array([0])):
        assert (g[index]["user"].tolist(), g[index]["ts"].tolist()) == (["b"], [[10, 50, 55]])
    assert later[later.lengths > 0]["user"].tolist() == ["b", "a"]
    assert g[[2, 0]].with_columns(n=[1, 2])[::-1]["n"].tolist() == [2, 1]
    with pytest.raises(DTypeError, match=r"^Groups: index: has dtype float64; integers are needed"):
        g[g["ts"] * 1.0]
    with pytest.raises(LoDError, match=r"^Groups: mask: has 1 sequences at level 0; the table has 3"):
        g[lodcore.array([[True]])]
    with pytest.raises(DTypeError, match="Groups: is indexed by 3"):
        g[3]


def test_groups_of_several_keys_are_chosen_with_their_finer_ones():
    x = lodcore.array([[[1, 2], [3]], [[4]], [[5], [6], [7]]])
    g = Groups({"x": x}, {"user": ["a", "b", "c"], "day": np.arange(6)})
    assert g.lengths.tolist() == [2, 1, 3]
    some = g[[2, 0]]
    assert some["x"].tolist() == [[[5], [6], [7]], [[1, 2], [3]]]
    assert (some["user"].tolist(), some["day"].tolist()) == (["c", "a"], [3, 4, 5, 0, 1])
    deep = Groups({"x": x}, {"user": ["a", "b", "c"]})
    assert deep.lod.num_levels == 1


def test_the_first_row_of_each_group_is_named_where_groups_of_two_keys_change_places():
    outer, inner = np.array(list("ABBA")), np.array([1, 1, 2, 2])
    lod, order, firsts = grouped([outer, inner])
    assert lod.lengths(0).tolist() == [2, 2]
    assert order.tolist() == [0, 3, 1, 2]
    assert [first.tolist() for first in firsts] == [[0, 1], [0, 3, 1, 2]]


def test_columns_are_added():
    g = sessions()
    more = g.with_columns(gap=g["ts"] * 2, n=g.lengths)
    assert more["gap"].tolist() == [[20, 100, 110], [22], [14]]
    assert more.per_group["n"].tolist() == [3, 1, 1]
    assert more[more["n"] > 1]["n"].tolist() == [3]
    assert list(g.columns) == ["ts", "page"]
    assert list(more.with_columns(n=g["ts"])) == ["user", "ts", "page", "gap", "n"]
    with pytest.raises(
        LoDError, match=r"^Groups.with_columns: x: sequence 0 of .* has length 1; that of the table has 3"
    ):
        g.with_columns(x=lodcore.array([[1], [2], [3]]))
    with pytest.raises(LoDError, match=r"^Groups.with_columns: x: has 2 levels; the table has 1"):
        g.with_columns(x=lodcore.array([[[1]], [[2]], [[3]]]))
    with pytest.raises(ValueError, match=r"^Groups.with_columns: k: is a key of the groups; another name is needed"):
        Groups({"v": lodcore.array([[1], [2]])}, {"k": [1, 2]}).with_columns(k=[3, 4])
    with pytest.raises(ShapeError, match=r"Groups.with_columns: x: has 2 entries; there are 3 groups"):
        g.with_columns(x=[1, 2])


def test_join_with_a_table_of_one_row_per_key_gives_one_row_a_group():
    g = sessions()
    users = {"user": ["c", "b", "a", "d"], "age": [30, 40, 50, 60]}
    assert g.join(users)["age"].tolist() == [40, 50, 30]
    assert g.join(lodcore.interop.ArrowTable({"user": np.array(["c", "b", "a"]), "n": np.arange(3)}))["n"].tolist() == [
        1, 2, 0,
    ]  # fmt: skip
    few = {"user": ["b", "c"], "age": [1, 2]}
    inner = g.join(few, on="user", how="inner")
    assert (inner["user"].tolist(), inner["age"].tolist(), inner.lengths.tolist()) == (["b", "c"], [1, 2], [3, 1])
    for other, named, error, says in (
        (few, {}, LoDError, r"group 1 \('a'\) has no row in other"),
        ({"user": ["b", "b"]}, {}, LoDError, "has 'b' more than once"),
        ({"name": ["b"]}, {}, KeyError, "has no column 'user'"),
        (few, {"on": "ts"}, KeyError, "the outermost key is 'user'"),
        (few, {"how": "outer"}, ValueError, "how: is 'outer'"),
    ):
        with pytest.raises(error, match=says):
            g.join(other, **named)


@for_each(
    ("mine", "theirs", "says"),
    [
        (np.array([7, 2**53 + 1]), [2.0**53], "has dtype float64; group 1 is 9007199254740993, which it does not hold"),
        (np.array([7, 2**63 - 1]), [7.0], "has dtype float64; group 1 is 9223372036854775807, which it"),
        (np.array([7, 2**64 - 1], "u8"), [7.0], "has dtype float64; group 1 is 18446744073709551615, which it"),
        (np.array([7, 2**24 + 1]), np.array([7], "f4"), [0]),
        (np.array([2.0**53, 7]), [7, 2**53 + 1], "is 9007199254740993 at row 1; the groups have float64, which does"),
        (np.array([2.0**53, 7]), np.array([2**53 + 1], "u8"), "is 9007199254740993 at row 0; the groups have float64"),
        (np.array([2**53, -(2**63)]), [-(2.0**63), 2.0**53], [1, 0]),
        (np.array([2.0**53, 7]), np.array([7, 2**53]), [1, 0]),
    ],
)
def test_join_of_integer_keys_with_floats_that_do_not_hold_them_raises(mine, theirs, says):
    groups = Groups({"v": lodcore.array([[1], [2]])}, {"k": mine})
    other = {"k": theirs, "age": np.arange(len(theirs))}
    if isinstance(says, list):  # the rows that are joined
        assert groups.join(other, how="inner")["age"].tolist() == says
        return
    with pytest.raises(DTypeError, match=rf"^Groups.join: other\['k'\]: {says}"):
        groups.join(other, how="inner")


def test_a_table_without_columns_or_rows():
    empty = Groups({"x": LoDTensor.from_lengths(np.zeros(0), [])}, {"k": np.zeros(0, int)})
    assert (len(empty), empty[empty["x"] > 0]["x"].tolist(), empty[:3]["k"].tolist()) == (0, [], [])
    with pytest.raises(LoDError, match=r"^Groups: columns: are none, so that lod is needed"):
        len(Groups({}, {"k": [1]}))


def test_arrow_table_with_masks_has_nulls_at_masked_rows():
    x = lodcore.array([[1, 2], [], [3]])
    mask = lodcore.array([[True, False], [], [True]])
    wide = LoDTensor(np.arange(6.0).reshape(3, 2), x.lod)
    inner = LoDTensor(np.array([[True, True], [False, True], [True, True]]), x.lod)
    times = LoDTensor(np.array([1, "NaT", 3], "M8[s]"), x.lod)
    last = LoDTensor(np.array([True, True, False]), x.lod)
    columns, masks = {"x": x, "w": wide, "t": times, "f": np.arange(3)}, {"x": mask, "w": inner, "t": last}
    table = ArrowTable(columns, {**masks, "f": np.array([True, False, True])})
    found, present = lodcore.from_arrow(table, nulls="mask")
    assert present["x"][-1].tolist() == [True, False, True]
    assert present["w"][-1].tolist() == inner.values.tolist()
    assert present["t"][-1].tolist() == [True, False, False]
    assert present["f"][-1].tolist() == [True, False, True]
    assert found["x"].values[[0, 2]].tolist() == [1, 3]
    with pytest.raises(LoDError, match=r"masks\['y'\]: there is no such column"):
        ArrowTable({"x": x}, {"y": mask})
    with pytest.raises(LoDError, match=r"masks\['x'\]: has a different structure from its column"):
        ArrowTable({"x": x}, {"x": mask[:2]})
    with pytest.raises(DTypeError, match=r"masks\['x'\]: has dtype int64; bools are needed"):
        ArrowTable({"x": x}, {"x": x})


@pytest.mark.parametrize("name", ["v", "total", "l"])
def test_a_joined_table_may_not_have_a_column_of_the_groups(name):
    lod = lodcore.LoD.from_offsets([0, 1, 2], [0, 2, 3])
    groups = Groups({"v": LoDTensor(np.arange(3), lod)}, {"k": [1, 2], "l": [5, 6]}, {"total": np.zeros(2)})
    with pytest.raises(ValueError, match=rf"^Groups.join: other\['{name}'\]: is a column of the groups, too; another"):
        groups.join({"k": [1, 2], name: [3, 4]})
    assert groups.join({"k": [1, 2], "w": [3, 4]})["w"].tolist() == [3, 4]


def test_an_empty_list_of_keys_is_refused():
    with pytest.raises(ValueError, match=r"^lodcore.from_arrow: by: is empty; the name of a column is needed, or None"):
        lodcore.from_arrow(ArrowTable({"a": np.array([1])}), by=[])


A, B = lodcore.array([[1], [2, 3]]), lodcore.array([[1, 2], [3]])
WRONG_GROUPS = [
    (
        ({"x": A, "y": B}, {"k": [7, 8]}),
        LoDError,
        r"columns\['y'\]: sequence 0 of .* has length 2; that of 'x' has 1",
    ),
    (({"x": A}, {"k": [7, 8, 9]}), LoDError, r"keys\['k'\]: has 3 entries; there are 2 groups"),
    (({"x": A}, {"k": [7, 8]}, {"z": [1, 2, 3]}), LoDError, r"per_group\['z'\]: has 3 entries; there are 2 groups"),
    (({"x": A}, {"x": [7, 8]}), ValueError, "'x': is the name of two columns"),
    (({"x": A}, {"k": [7, 8]}, {"x": [1, 2]}), ValueError, "'x': is the name of two columns"),
    (({"x": A}, {"k": [7, 8]}, {"k": [1, 2]}), ValueError, "'k': is the name of two columns"),
    (({"x": [[1], [2]]}, {"k": [7, 8]}), DTypeError, r"columns\['x'\]: is list; a LoDTensor is needed"),
    (([A], {"k": [7, 8]}), DTypeError, "columns: is list; a dict is needed"),
    (({"x": A}, {"k": 5}), ShapeError, r"keys\['k'\]: has no axis"),
    (({"x": A}, {"k": [7, 8]}, None, None, None, [0, 1]), DTypeError, "lod: is list; a LoD is needed"),
    (
        ({"x": A}, {"k": [7, 8]}, None, None, None, B.lod),
        LoDError,
        r"columns\['x'\]: sequence 0 of level 0 has length 1; that of lod has 2",
    ),
]


@pytest.mark.parametrize(("given", "error", "says"), WRONG_GROUPS)
def test_parts_that_do_not_belong_together_are_refused(given, error, says):
    with pytest.raises(error, match=f"^Groups: {says}"):
        Groups(*given)


@pytest.mark.parametrize(
    "key", [0, np.int64(1), (slice(None), slice(1)), ["x", 1], [0.5], [[True], [True, False]], None]
)
def test_an_index_that_chooses_no_groups_is_refused(key):
    with pytest.raises(DTypeError, match=r"^Groups: is indexed by .*; a name, a slice, a mask or an array of numbers"):
        Groups({"x": A}, {"k": [7, 8]})[key]


def test_a_mask_of_another_structure_is_refused():
    with pytest.raises(LoDError, match=r"^Groups: mask: sequence 0 of level 0 has length 2; that of the table has 1"):
        Groups({"x": A}, {"k": [7, 8]})[lodcore.array([[True, False], [True]])]


def test_groups_with_more_keys_than_levels_are_chosen():
    groups = Groups({"x": A}, {"k": np.array([7, 8]), "l": np.array([5.0, 6.0])})
    assert groups[1:]["l"].tolist() == groups[[False, True]]["l"].tolist() == [6.0]
    assert len(groups[[]]) == 0
    deep = LoDTensor(np.arange(3), lodcore.LoD.from_offsets([0, 1, 2], [0, 2, 3]))
    of_two = Groups({"x": deep}, {"k": [7, 8], "l": [1, 2], "m": [3, 4]})
    assert of_two[1:]["m"].tolist() == [4]


@pytest.mark.parametrize(
    ("other", "error", "says"),
    [
        ({"k": [7, 8], "q": [1, 2, 3]}, LoDError, r"other\['q'\]: has 3 entries; 'k' has 2"),
        ({"k": [7, 8], "q": [1]}, LoDError, r"other\['q'\]: has 1 entries; 'k' has 2"),
        ({"k": [7, 8], 1: [1, 2]}, DTypeError, r"other\[1\]: has no text as its name"),
    ],
)
def test_a_joined_table_with_uneven_columns_or_without_names_is_refused(other, error, says):
    with pytest.raises(error, match=f"^Groups.join: {says}"):
        Groups({"x": A}, {"k": [7, 8]}).join(other)


def test_lists_are_arrays_per_group():
    groups = Groups({"x": A}, {"k": [7, 8]}, {"age": [30, 40]})
    assert groups[[1, 0]]["age"].tolist() == [40, 30]
    assert groups.join({"k": [8], "q": [1]}, how="inner")["age"].tolist() == [40]


def test_a_dict_of_groups_has_all_columns():
    groups = Groups({"x": A}, {"k": [7, 8]}, {"age": [30, 40]})
    for one in (groups, pickle.loads(pickle.dumps(groups)), copy.copy(groups), copy.deepcopy(groups)):
        found = dict(one)
        assert list(found) == list(one) == ["k", "x", "age"]
        assert found["x"].equals(A)
        assert {**one}["age"].tolist() == [30, 40]
        assert isinstance(one.keys, dict)
        assert list(one.keys) == ["k"]
    changed = groups.with_columns(y=A * 2)
    assert list(dict(changed)) == ["k", "x", "y", "age"]
    assert list(dict(groups)) == ["k", "x", "age"]
    assert type(pickle.loads(pickle.dumps(groups.keys))) is dict
    alone = weakref.ref(changed)
    keys = changed.keys
    del changed
    assert alone() is None
    assert keys() == ["k"]


def test_a_mask_of_finer_groups_chooses_them_with_their_keys():
    values = lodcore.array([[[1, 2], [3]], [[4], [], [5, 6]], []])
    g = Groups({"v": values, "w": values * 2}, {"a": ["x", "y", "z"], "b": [1, 2, 3, 4, 5]}, {"n": [7, 8, 9]})
    mask = g["v"].sum(axis=2) > 3
    chosen = g[mask]
    assert chosen["v"].tolist() == [[], [[4], [5, 6]], []]
    assert chosen["w"].lod == chosen.lod
    assert [chosen[name].tolist() for name in ("a", "b", "n")] == [["x", "y", "z"], [3, 5], [7, 8, 9]]
    keys_alone = Groups({}, g.keys, lod=g.lod)[mask]
    assert (keys_alone["b"].tolist(), keys_alone.lod) == ([3, 5], chosen.lod)
    assert g[g["v"] > 2]["b"].tolist() == [1, 2, 3, 4, 5]
    for wrong, says in (
        (mask[:, :1], "mask: sequence 0 of level 0 has length 1; that of the table has 2"),
        (lodcore.array([[[[True]]]]), "index: has 3 levels; the table has 2"),
    ):
        with pytest.raises(LoDError, match=f"^Groups: {says}"):
            g[wrong]


def test_a_list_of_names_chooses_columns_and_keeps_all_keys():
    times = lodcore.array([[30, 10], [20]])
    masks = {"t": lodcore.array([[True, False], [True]])}
    kept = {"t": ("zone", "UTC"), "k": ("zone", "UTC"), "s": ("decimal", 2, None)}
    g = Groups({"t": times, "s": times * 2, "u": times}, {"k": [7, 8]}, {"n": [1, 2], "m": [3, 4]}, masks, kept)
    some = g[["u", "n", "k", "t"]]
    assert (list(some), list(some.columns), list(some.per_group)) == (["k", "u", "t", "n"], ["u", "t"], ["n"])
    assert some["t"] is g["t"]
    assert (some.masks, some.kept) == (g.masks, {name: kept[name] for name in "tk"})
    assert (list(g[["m"]]), g[["k"]].lod) == (["k", "m"], g.lod)
    with pytest.raises(KeyError, match="'when' is none of 'k', 't', 's', 'u', 'n', 'm'"):
        g[["t", "when"]]


def test_a_nested_index_takes_the_rows_of_all_columns_with_their_masks():
    g = Groups(
        {"t": lodcore.array([[30, 10, 20], [], [2, 1]]), "s": lodcore.array([["a", "b", "c"], [], ["d", "e"]])},
        {"k": [7, 8, 9]},
        {"n": [1, 2, 3]},
        {"s": lodcore.array([[True, False, True], [], [False, True]])},
    )
    in_order = g[np.argsort(g["t"], axis=1)]
    assert in_order["t"].tolist() == [[10, 20, 30], [], [1, 2]]
    assert in_order["s"].tolist() == [["b", "c", "a"], [], ["e", "d"]]
    assert in_order.masks["s"].tolist() == [[False, True, True], [], [True, False]]
    assert [in_order[name].tolist() for name in "kn"] == [[7, 8, 9], [1, 2, 3]]
    assert g[lodcore.array([[-1, -1], [], []])]["s"].tolist() == [["c", "c"], [], []]
    assert g[lodcore.array([[], [], []])].lengths.tolist() == [0, 0, 0]
    with pytest.raises(IndexError, match=r"^Groups: index 2 is out of bounds for sequence 2 of level 0 with length 2"):
        g[lodcore.array([[0], [], [2]])]
    with pytest.raises(LoDError, match=r"^Groups: index: has 2 sequences; the table has 3"):
        g[lodcore.array([[0], [0]])]


def test_a_nested_index_of_finer_groups_takes_them_with_their_keys():
    values = lodcore.array([[[1, 2], [3]], [[4], [], [5, 6]], []])
    g = Groups({"v": values}, {"a": ["x", "y", "z"], "b": [1, 2, 3, 4, 5]})
    taken = g[lodcore.array([[1, 0], [2], []])]
    assert taken["v"].tolist() == [[[3], [1, 2]], [[5, 6]], []]
    assert (taken["a"].tolist(), taken["b"].tolist()) == (["x", "y", "z"], [2, 1, 5])
    assert g[np.argsort(-g["v"], axis=2)]["v"].tolist() == [[[2, 1], [3]], [[4], [], [6, 5]], []]
    alone = Groups({}, g.keys, lod=g.lod)[lodcore.array([[1, 0], [2], []])]
    assert (alone["b"].tolist(), alone.lod) == ([2, 1, 5], taken.lod)


@for_each(
    "call",
    [
        np.asarray,
        np.sort,
        np.exp,
        lambda g: np.concatenate([g, g]),
        lambda g: np.ones(2) + g,
        lambda g: g["v"] + g,
        lodcore.relu,
    ],
)
def test_a_table_is_no_array_of_its_names(call):
    with pytest.raises(DTypeError, match=r"g\['column'\] is a column of it, lodcore.to_pandas\(g\) a table of pandas"):
        call(Groups({"v": A}, {"k": [7, 8]}))


def test_attributes_that_a_table_does_not_have_say_what_to_use():
    g = Groups({"v": A}, {"k": [7, 8]}, {"n": [1, 2]})
    for name, says in (
        ("agg", "; use g['column'].mean(axis=-1); and g['column'].sum(axis=-1) and the like"),
        ("median", "; use lodcore.sequence_median(x), where x = g['column']"),
        ("v", "; use g['v']"),
        ("k", "; use g['k']"),
        ("n", "; use g['n']"),
        ("medain", ""),
    ):
        with pytest.raises(AttributeError) as caught:
            getattr(g, name)
        assert str(caught.value) == f"'Groups' object has no attribute '{name}'{says}"
        assert not hasattr(g, name)


def test_nobody_writes_to_the_memory_of_the_caller():
    keys, weights, v = np.array([7, 8]), np.array([5.0, 6.0]), lodcore.array([[1], [2]])
    g = Groups({"v": v}, {"k": keys}, {"w": weights}).with_columns(x=weights, y=[1, 2])
    for name in "kwxy":
        with pytest.raises(ValueError, match="read-only"):
            g[name][0] = -1
    assert np.shares_memory(g["x"], weights)
    keys[0], weights[0] = 1, 2  # the caller may
    assert (keys.flags.writeable, g["k"].tolist(), g["x"].tolist()) == (True, [1, 8], [2.0, 6.0])


@for_each(
    ("masks", "error", "says"),
    [
        ({"v": lodcore.array([[1], [2]])}, DTypeError, "has dtype int64; bools are needed"),
        ({"v": lodcore.array([[True, True]])}, LoDError, "has a different structure from its column"),
        ({"v": np.array([True, True])}, LoDError, "has a different structure from its column"),
        ({"q": lodcore.array([[True], [True]])}, LoDError, "there is no such column"),
        ({"k": lodcore.array([[True], [True]])}, LoDError, "there is no such column"),
    ],
)
def test_a_mask_that_does_not_fit_its_column_is_refused(masks, error, says):
    (name,) = masks
    with pytest.raises(error, match=rf"^Groups: masks\['{name}'\]: {says}"):
        Groups({"v": lodcore.array([[1], [2]])}, {"k": [7, 8]}, masks=masks)
    with pytest.raises(DTypeError, match=r"^Groups: masks: is int; a dict is needed"):
        Groups({"v": lodcore.array([[1], [2]])}, {"k": [7, 8]}, masks=5)


@for_each("name", sorted(GROUPS))
def test_the_replacements_named_for_an_attribute_of_a_table_of_groups_run(name):
    column = lodcore.array([[3.0, 1.0], [2.0]])
    g = Groups({"column": column, "other": column * 2}, {"key": ["b", "a"]})
    assert not hasattr(g, name)
    found = {"g": g, "np": np, "lodcore": lodcore, "n": 1, "f": np.cumsum, "other": {"key": ["a", "b"], "age": [1, 2]}}
    code = GROUPS[name].partition(";")[0]
    compile(code, name, "eval")
    if not any(one in code for one in ("from_pandas", "to_")):
        eval(code, found)
