"""LoD: constructors, queries, parts and combinations."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import LoD, LoDError
from reference.nested import flatten
from reference.ops import levels as oracle
from reference.ops.gather import concat_batches, gather_sequences
from tests.helpers.agree import assert_lod, from_the_first, numbered, offsets_of
from tests.helpers.draw import indices, levels, lods, odd_forms
from tests.helpers.tables import for_each


@st.composite
def lods_with_level(draw, min_levels=1):
    """Draw a LoD and a level of it, which may be counted from the last."""
    lod = draw(lods(min_levels))
    return lod, draw(st.integers(-lod.num_levels, lod.num_levels - 1))


def lengths_of(offsets):
    return [stop - start for start, stop in pairwise(offsets)]


# -- constructors ------------------------------------------------------------------------------------------------------


@given(st.data())
def test_all_makers_agree(data):
    offsets = data.draw(levels())
    lod = LoD.from_offsets(*(data.draw(odd_forms(level)) for level in offsets))
    assert offsets_of(lod) == offsets
    assert lod.num_rows == offsets[-1][-1]
    lengths = [lengths_of(level) for level in offsets]
    assert LoD.from_lengths(*(data.draw(odd_forms(level)) for level in lengths)) == lod
    assert LoD.from_lengths(*lengths, num_rows=lod.num_rows) == lod
    ids = oracle.segment_ids(numbered(lod), lod.num_levels - 1, lod.num_levels)
    by_ids = LoD.from_segment_ids(data.draw(odd_forms(ids)) if ids else ids, lod.num_sequences(-1))
    assert offsets_of(by_ids) == offsets[-1:]
    by_last_id = LoD.from_segment_ids(ids)
    assert by_last_id.lengths().tolist() == lengths[-1][: max(ids, default=-1) + 1]


@given(lods(min_levels=1))
def test_row_offsets_give_the_structure_back_up_to_empty_sequences_at_boundaries(lod):
    absolute = [lod.row_offsets(k) for k in range(lod.num_levels)]
    back = LoD.from_row_offsets(*absolute)
    assert (back.num_levels, back.num_rows) == (lod.num_levels, lod.num_rows)
    assert [back.row_offsets(k).tolist() for k in range(lod.num_levels)] == [level.tolist() for level in absolute]
    if all(lod.lengths(k).all() for k in range(1, lod.num_levels)):
        assert back == lod


@given(st.integers(0, 5))
def test_lod_without_levels_has_only_rows(rows):
    lod = LoD.from_offsets(num_rows=rows)
    assert (lod.num_levels, lod.num_rows) == (0, rows)
    assert lod == LoD.from_lengths(num_rows=np.int8(rows))
    assert lod != LoD.from_offsets(num_rows=rows + 1)


def test_one_bad_offset_at_any_position():
    """Offsets are copied and checked eight at a time, the last ones one by one."""
    for count in (2, 7, 8, 9, 16, 17, 40):
        good = 3 * np.arange(count)
        np.testing.assert_array_equal(LoD.from_offsets(good).offsets(), good)
        for bad in range(1, count):
            for value in {good[bad - 1] - 1, -1, -(2**63)}:
                offsets = good.copy()
                offsets[bad] = value
                with pytest.raises(LoDError, match=f"falls at position {bad} "):
                    LoD.from_offsets(offsets)


def test_makers_of_lods_copy_offsets_and_ids():
    mine = np.array([0, 2, 3])
    lod = LoD.from_offsets(mine)
    mine[:] = 9
    assert lod.offsets().tolist() == [0, 2, 3]
    ids = np.array([0, 0, 2])
    lod = LoD.from_segment_ids(ids)
    ids[:] = 9
    assert lod.offsets().tolist() == [0, 2, 2, 3]


# -- queries -----------------------------------------------------------------------------------------------------------


@given(lods_with_level())
def test_lod_answers_questions_about_any_level(drawn):
    lod, level = drawn
    nested, k = numbered(lod), from_the_first(level, lod)
    found = oracle.sequences(nested, k)
    rows_of = [oracle.sequences(sequence, lod.num_levels - k - 1) for sequence in found]
    assert lod.num_sequences(level) == len(found)
    assert lod.lengths(level).tolist() == [len(sequence) for sequence in found]
    assert lengths_of(lod.offsets(level).tolist()) == [len(sequence) for sequence in found]
    assert lengths_of(lod.row_offsets(level).tolist()) == [len(rows) for rows in rows_of]
    assert lod.segment_ids(level).tolist() == oracle.segment_ids(nested, k, lod.num_levels)
    assert lod.positions(level).tolist() == oracle.positions(nested, k, lod.num_levels)
    for answer in (lod.offsets, lod.lengths, lod.row_offsets, lod.segment_ids, lod.positions):
        assert (answer(level).dtype, answer(level).ndim) == (np.int64, 1)


@given(lods_with_level(), st.sampled_from(["segment_ids", "positions"]))
def test_answers_a_row_can_be_written_into_out(drawn, name):
    lod, level = drawn
    out = np.full(lod.num_rows, -7)
    answer = getattr(lod, name)(level, out=out)
    assert answer is out
    assert answer.tolist() == getattr(lod, name)(level).tolist()


@given(lods_with_level())
def test_writes_to_returned_arrays_do_not_change_the_lod(drawn):
    lod, level = drawn
    before = offsets_of(lod)
    for fresh in (lod.lengths(level), lod.segment_ids(level), lod.positions(level)):
        assert fresh.flags.writeable
        fresh[:] = -5
    handed = lod.offsets(level)
    handed.shape = (-1, 1)
    assert offsets_of(lod) == before


@pytest.mark.parametrize("make", [LoD.from_offsets, LoD.from_row_offsets])
@pytest.mark.parametrize("given_levels", [([0, 2, 5],), ([0, 1, 2], [0, 1, 2]), ([0, 1], [0, 1], [0, 1])])
def test_offsets_of_a_lod_never_become_writable(make, given_levels):
    made = make(*given_levels)
    relatives = [made, made.take([0]), made.slice(0, 1), made.concat(made), made.append(lengths=[1] * made.num_rows)]
    relatives += [lod for lod in [made.drop(0), *made.split()] if lod.num_levels]
    for lod in relatives:
        for level in range(lod.num_levels):
            held = lod.offsets(level)
            while isinstance(held, np.ndarray):
                assert not held.flags.writeable
                with pytest.raises(ValueError, match="WRITEABLE"):
                    held.setflags(write=True)
                with pytest.raises(ValueError, match="read-only"):
                    held[0] = 1
                held = held.base
            assert memoryview(held).readonly


# -- derived LoDs ------------------------------------------------------------------------------------------------------


@given(lods(min_levels=1))
def test_split_gives_each_outermost_sequence(lod):
    parts = lod.split()
    nested = numbered(lod)
    assert len(parts) == len(nested)
    for part, sequence in zip(parts, nested, strict=True):
        assert_lod(part, sequence, lod.num_levels - 1)


@given(lods_with_level(), st.data())
def test_lod_take_is_the_selection_of_nested_lists(drawn, data):
    lod, level = drawn
    k = from_the_first(level, lod)
    index = data.draw(indices(lod.num_sequences(level)))
    taken = lod.take(data.draw(odd_forms(index)) if index else index, level)
    assert_lod(taken, gather_sequences(numbered(lod), index, k), lod.num_levels - k)


@given(lods_with_level(), st.none() | st.integers(-12, 12), st.none() | st.integers(-12, 12))
def test_lod_slice_is_the_slice_of_nested_lists(drawn, start, stop):
    lod, level = drawn
    k = from_the_first(level, lod)
    found = oracle.sequences(numbered(lod), k)
    assert_lod(lod.slice(start, stop, level), found[start:stop], lod.num_levels - k)


@given(st.integers(1, 4).flatmap(lambda n: st.lists(lods(n, n), min_size=1, max_size=4)))
def test_lod_concat_joins_nested_lists(batches):
    joined = batches[0].concat(*batches[1:])
    assert_lod(joined, concat_batches([numbered(lod) for lod in batches]), batches[0].num_levels)


@given(lods(min_levels=0), st.data())
def test_lod_append_adds_a_level_below(lod, data):
    lengths = data.draw(st.lists(st.integers(0, 3), min_size=lod.num_rows, max_size=lod.num_rows))
    longer = lod.append(lengths=data.draw(odd_forms(lengths)) if lengths else lengths)
    assert_lod(longer, oracle.append(numbered(lod), [[0] * n for n in lengths], lod.num_levels), lod.num_levels + 1)
    assert lod.append(offsets=longer.offsets(-1)) == longer
    if lod.num_levels:
        assert longer.drop(-1).num_levels == lod.num_levels
        ones = lod.append(lengths=[1] * lod.num_rows)
        assert ones.drop(-1) == lod


@given(lods_with_level())
def test_lod_drop_removes_a_level(drawn):
    lod, level = drawn
    k = from_the_first(level, lod)
    fewer = lod.drop(level)
    assert_lod(fewer, oracle.drop(numbered(lod), k), lod.num_levels - 1)
    assert fewer.num_rows == lod.num_rows


# -- equality ------------------------------------------------------------------------------------------------------


@given(lods(min_levels=0), lods(min_levels=0))
def test_lods_are_equal_and_hash_alike_if_their_offsets_are_equal(a, b):
    twin = LoD.from_offsets(*offsets_of(a), num_rows=a.num_rows)
    assert a == twin
    assert hash(a) == hash(twin) == hash(a)
    parts = (a.num_levels, a.num_rows, offsets_of(a)), (b.num_levels, b.num_rows, offsets_of(b))
    assert (a == b) == (parts[0] == parts[1])
    assert (a != b) == (parts[0] != parts[1])
    assert len({a, twin}) == 1
    assert a != offsets_of(a)
    assert a != flatten(numbered(a), a.num_levels)


@given(lods(min_levels=1))
def test_a_part_of_a_lod_equals_one_made_of_its_own(lod):
    part = lod.drop(0)
    fresh = LoD.from_offsets(*offsets_of(part), num_rows=part.num_rows)
    assert part == fresh
    assert hash(part) == hash(fresh)


def test_copy_and_deepcopy_return_the_lod_itself():
    lod = LoD.from_lengths([2, 1])
    assert copy.copy(lod) is lod
    assert copy.deepcopy([lod, lod])[1] is lod


def test_a_lod_has_no_attributes_of_its_own():
    lod = LoD.from_lengths([2, 1])
    with pytest.raises(AttributeError):
        lod.color = 1
    with pytest.raises(AttributeError):
        lod.num_rows = 5
    with pytest.raises(TypeError, match="from_offsets"):
        LoD([0, 1])


def test_lods_that_differ_in_their_last_offsets_are_not_equal():
    same = [2] * 20
    first, second = LoD.from_lengths([*same, 1, 3]), LoD.from_lengths([*same, 3, 1])
    assert first != second
    assert first == LoD.from_lengths([*same, 1, 3])


@pytest.mark.parametrize(
    "made",
    [
        lambda lod: lod.drop(1),
        lambda lod: lod.drop(0),
        lambda lod: lod.take([1, 0]),
        lambda lod: lod.slice(0, 1),
        lambda lod: lod.concat(lod),
        lambda lod: lod.split()[0],
    ],
)
def test_offsets_of_derived_lods_stay_read_only(made):
    lod = made(LoD.from_lengths([2, 1], [2, 0, 3]))
    for level in range(lod.num_levels):
        offsets = lod.offsets(level)
        for held in (offsets, offsets.base):
            with pytest.raises((ValueError, AttributeError)):
                held.setflags(write=True)


@pytest.mark.parametrize(
    ("ids", "count", "says"),
    [
        ([0], 0, "ids: is 0 at row 0; there are no sequences"),
        ([3], 2, r"ids: is 3 at row 0; 0 .. 1 is valid"),
        ([0, -1], None, "ids: is -1 at row 1"),
        ([1, 0], 2, "ids: is 0 at row 1, after 1; ids never fall"),
        ([0, 2**60], None, "ids: is 1152921504606846976 at row 1; 2 rows would make 1152921504606846977 sequences"),
        ([2**63 - 1], None, "ids: is 9223372036854775807 at row 0; 1 rows would make 9223372036854775808 sequences"),
    ],
)
def test_ids_that_are_refused(ids, count, says):
    with pytest.raises(LoDError, match=says):
        LoD.from_segment_ids(ids, count)


LENGTHS = [[2, 1], [1, 2, 1], [3, 1, 1, 2], [2, 1, 3, 4, 1, 1, 2]]


@for_each(("num_levels", "level", "more"), [(n, k, more) for n in (2, 3, 4) for k in range(n - 1) for more in (-1, 1)])
def test_lengths_of_levels_that_do_not_add_up_are_refused(num_levels, level, more):
    """Each pair of levels is compared, however many there are, by every constructor."""
    lengths = [np.array(sizes) for sizes in LENGTHS[-num_levels:]]
    offsets = [np.append(0, np.cumsum(sizes)) for sizes in lengths]
    rows = [offsets[-1]]
    for sizes in reversed(offsets[:-1]):
        rows.insert(0, rows[0][sizes])
    for made in (LoD.from_lengths(*lengths), LoD.from_offsets(*offsets), LoD.from_row_offsets(*rows)):
        assert [made.lengths(k).tolist() for k in range(num_levels)] == LENGTHS[-num_levels:]
    lengths[level], offsets[level], rows[level] = lengths[level].copy(), offsets[level].copy(), rows[level].copy()
    lengths[level][0] += more
    offsets[level][-1] += more
    rows[level][-1] += more
    for make, levels_ in ((LoD.from_lengths, lengths), (LoD.from_offsets, offsets), (LoD.from_row_offsets, rows)):
        with pytest.raises(LoDError):
            make(*levels_)


def test_lod_of_forty_levels_answers_for_each():
    """Levels below the first few are found by the list of their positions."""
    lengths = [[2], *[[1, 2] if k % 2 == 0 else [1, 0, 1] for k in range(40)]]
    lod = LoD.from_lengths(*lengths)
    assert [lod.lengths(k).tolist() for k in range(41)] == lengths
    assert [lod.num_sequences(k) for k in range(-41, 0)] == list(map(len, lengths))
    assert lod == lod.take([0]) == lod.slice(0, 1) == LoD.from_lengths(*lengths)
    assert [lod.drop(0)] == lod.split() == [LoD.from_lengths(*lengths[1:])]
    assert lod.drop(0).prefix(20) == LoD.from_lengths(*lengths[1:21])
    assert hash(lod.prefix(20)) == hash(LoD.from_lengths(*lengths[:20]))
    assert (lod.drop(-1).num_rows, lod.num_sequences(-1)) == (2, 3)


def test_slices_of_slices_of_lods_have_the_offsets_of_lists():
    """Whether their offsets are written when they are cut, when they are read, or never."""
    lengths = np.arange(3000) % 4
    outer = LoD.from_lengths([1000, 0, 2000], lengths).drop(0)
    both = LoD.from_lengths(np.full(1500, 2), lengths)
    for lod, step in ((outer, 7), (both, 5)):
        part, wanted = lod, [lod.lengths(k) for k in range(lod.num_levels)]
        for turn in range(150):
            before, part = part, part.slice(step, part.num_sequences() - turn % 2)
            first, stop = int(wanted[0][:step].sum()), int(wanted[0][: len(wanted[0]) - turn % 2].sum())
            wanted = [wanted[0][step : len(wanted[0]) - turn % 2], *(below[first:stop] for below in wanted[1:])]
            assert part.num_rows == wanted[-1].sum()
            if turn % 10 == 0:
                assert [part.lengths(k).tolist() for k in range(part.num_levels)] == [one.tolist() for one in wanted]
                assert part == before.slice(step, before.num_sequences() - turn % 2)
