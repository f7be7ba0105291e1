"""Inputs of attention, compared with their definition on lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import DTypeError, LoD, LoDError, LoDTensor, ShapeError
from lodcore.batching import AttentionInputs, attention_inputs, cu_seqlens
from reference.batching import attention_inputs as meaning
from tests.helpers.tables import for_each

BINS = st.lists(st.lists(st.lists(st.integers(1, 99), max_size=5), max_size=4), max_size=4)


def packed_of(bins):
    lengths = [len(bin) for bin in bins], [len(one) for bin in bins for one in bin]
    values = [token for bin in bins for one in bin for token in one]
    return LoDTensor(np.array(values, np.int64), LoD.from_lengths(*(np.array(one, np.int64) for one in lengths)))


@given(
    BINS, st.integers(0, 4), st.booleans(), st.sampled_from([0, 2]), st.sampled_from(["segment", "none"]), st.booleans()
)
def test_attention_inputs_equal_their_definition_on_lists(bins, more, shift, start, tail, own_labels):
    packed = packed_of(bins)
    labels = packed + 1000 if own_labels else packed
    length = max([sum(map(len, bin)) for bin in bins], default=0) + more
    short = [sum(map(len, bin)) < length for bin in bins]
    named = {"shift_labels": shift, "pad_id": -7, "position_start": start, "tail": tail, "ignore_index": -1}
    if tail == "none" and any(short[:-1]):
        with pytest.raises(ValueError, match=r"bin [0-2] is not full"):
            attention_inputs(packed, length, labels=labels, **named)
        return
    made = attention_inputs(packed, length, labels=labels if own_labels else None, **named)
    want = meaning.attention_inputs(bins, length, labels.tolist(), shift, -1, -7, start, tail == "segment")
    for got, rows in zip(made[:5], want[:5], strict=True):
        assert got.shape == (len(bins), length)
        assert got.tolist() == rows
    assert made.cu_seqlens.tolist() == want[5]
    assert made.cu_seqlens.dtype == np.int32
    assert made.max_seqlen == want[6]
    assert type(made.max_seqlen) is int
    for causal in (True, False):
        assert made.mask(causal).tolist() == [meaning.mask(row, causal) for row in want[4]]


@given(BINS)
def test_attention_inputs_without_a_length_join_all_bins_to_one_row(bins):
    packed = packed_of(bins)
    made = attention_inputs(packed)
    documents = [one for bin in bins for one in bin]
    want = meaning.attention_inputs([documents], packed.num_rows, [documents], False, -100, 0, 0, True)
    assert [one.tolist() for one in made[:5]] == [list(one) for one in want[:5]]
    ends, longest = cu_seqlens(packed)
    assert ends.tolist() == made.cu_seqlens.tolist() == want[5]
    assert longest == made.max_seqlen == want[6]
    assert (ends.dtype, type(longest)) == (np.int32, int)


def test_a_stable_number_of_segments():
    made = attention_inputs([[[1, 2], [3]]], num_segments=5)
    assert made.cu_seqlens.tolist() == [0, 2, 3, 3, 3, 3]
    assert attention_inputs([[[1, 2], [3]]], 5, tail="none", num_segments=2).cu_seqlens.tolist() == [0, 2, 3]
    with pytest.raises(LoDError, match="num_segments: is 2; there are 3 segments"):
        attention_inputs([[[1, 2], [3]]], 5, num_segments=2)


@pytest.mark.parametrize(
    ("tail", "causal", "segments", "wanted"),
    [
        ("segment", True, [0, 1, 1, 2, 2], ["1....", ".1...", ".11..", "...1.", "...11"]),
        ("segment", False, [0, 1, 1, 2, 2], ["1....", ".11..", ".11..", "...11", "...11"]),
        ("none", True, [0, 1, 1, -1, -1], ["1....", ".1...", ".11..", ".....", "....."]),
        ("none", False, [0, 1, 1, -1, -1], ["1....", ".11..", ".11..", ".....", "....."]),
    ],
)
def test_mask_of_a_padded_tail_is_open_only_if_the_tail_is_a_segment(tail, causal, segments, wanted):
    """Rows of a bin that is full, of one that is not, and of one without documents."""
    bins = [[[1, 2], [3, 4, 5]], [[6], [7, 8]]]
    made = attention_inputs(packed_of(bins), 5, tail=tail)
    assert made.seq_idx.tolist() == [[0, 0, 1, 1, 1], segments]
    full = (
        ["11...", "11...", "..111", "..111", "..111"] if not causal else ["1....", "11...", "..1..", "..11.", "..111"]
    )
    for row, lines in zip(made.mask(causal), [full, wanted], strict=True):
        assert ["".join(".1"[one] for one in line.astype(int)) for line in row] == lines
    empty = attention_inputs(packed_of([[]]), 2, tail=tail).mask(causal)
    assert empty.astype(int).tolist() == [[[0, 0], [0, 0]]] if tail == "none" else [[[1, 1 - causal], [1, 1]]]


def test_attention_inputs_take_ids_of_another_byte_order():
    packed = LoDTensor(np.array([1, 2, 3], ">u2"), LoD.from_lengths([1], [3]))
    assert attention_inputs(packed).input_ids.tolist() == [[1, 2, 3]]


VAST = np.broadcast_to(np.int32(0), (2**20, 2**20))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: attention_inputs([[1, 2]]), LoDError, "packed: has 1 level"),
        (lambda: attention_inputs([[[1.5]]]), DTypeError, "packed: has dtype float64"),
        (
            lambda: attention_inputs(LoDTensor(np.ones((2, 2), int), LoD.from_lengths([1], [2]))),
            ShapeError,
            "packed: has rows",
        ),
        (
            lambda: attention_inputs([[np.array([1, 2**63], np.uint64)]]),
            ValueError,
            "packed: is 9223372036854775808 at position 1; int64 cannot hold that",
        ),
        (
            lambda: attention_inputs([[[1]]], labels=[[np.array([2**64 - 1], np.uint64)]]),
            ValueError,
            "labels: is 18446744073709551615 at position 0; int64 cannot hold that",
        ),
        (lambda: attention_inputs([[[1, 2]]], 1), LoDError, "length: is 1; bin 0 has 2 tokens"),
        (lambda: attention_inputs([[[1, 2]]], -1), ValueError, "length: is -1"),
        (lambda: attention_inputs([[[1, 2]]], labels=[[[1]]]), LoDError, "labels: have a different structure"),
        (lambda: attention_inputs([[[1, 2]]], tail="pad"), ValueError, "tail: is 'pad'"),
        (lambda: attention_inputs([[[1, 2]]], library="jax"), ValueError, "library: is 'jax'"),
        (lambda: attention_inputs([[[1, 2]]], pad_id=1.5), DTypeError, "pad_id: is 1.5"),
        (lambda: attention_inputs([[[1, 2]]], ignore_index=2**63), ValueError, "ignore_index: is"),
        (lambda: attention_inputs([[[1, 2]]], pad_id=2**62 + 1), ValueError, r"pad_id: is \d+; -2\*\*62 .. 2\*\*62"),
        (lambda: attention_inputs([[[1, 2]]], pad_id=-(2**62) - 1), ValueError, "pad_id: is -"),
        (lambda: attention_inputs([[[1, 2]]], 2**60), OverflowError, "length: is .* in 1 rows; int32 counts to"),
        (lambda: attention_inputs([[[1, 2]], [[3]]], 2**30), OverflowError, "in 2 rows; int32 counts to"),
        (lambda: AttentionInputs(*[np.zeros((2**21, 1))] * 6, 0)._replace(seq_idx=VAST).mask(), MemoryError, "mask"),
        (lambda: cu_seqlens(LoDTensor(np.arange(3), LoD.from_offsets(num_rows=3))), LoDError, "has no levels"),
        (lambda: cu_seqlens(LoD.from_offsets([0, 2**31])), OverflowError, "int32 holds"),
    ],
)
def test_wrong_calls_of_attention_inputs_name_argument_and_value(call, error, says):
    with pytest.raises(error, match=says):
        call()


# -- isolation


# -- tables


@for_each("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", ">i2", ">u4", ">i8"])
def test_attention_inputs_take_the_greatest_and_least_ids_of_a_dtype(dtype):
    info = np.iinfo(dtype)
    values = np.array([info.max, info.min, 1, info.max], dtype)
    packed = LoDTensor(values, LoD.from_lengths([1, 1], [3, 1]))
    made = attention_inputs(packed, 3)
    assert made.input_ids.tolist() == [[info.max, info.min, 1], [info.max, 0, 0]]
    made = attention_inputs(LoDTensor(np.arange(4), packed.lod), 3, labels=packed, shift_labels=np.True_)
    assert made.labels.tolist() == [[info.min, 1, -100], [-100] * 3]
    assert (made.input_ids.dtype, made.labels.dtype, made.segment_ids.dtype) == (np.int64, np.int64, np.int32)


@for_each("name", ["pad_id", "ignore_index", "position_start"])
def test_pad_id_ignore_index_and_position_start_fill_their_places_and_have_limits(name):
    """One document of two tokens in a row of four; the setting is seen at the places where it must be."""
    for number in (-(2**62), -101, -1, 0, 5, 2**62, np.int8(3), np.array(4)):
        made = attention_inputs([[[7, 8]]], 4, **{name: number})
        n = int(number)
        assert made.input_ids.tolist() == [[7, 8, *([n] * 2 if name == "pad_id" else [0, 0])]]
        first = n if name == "ignore_index" else -100
        assert made.labels.tolist() == [[first, 8, first, first]]
        start = n if name == "position_start" else 0
        assert made.position_ids.tolist()[0][:2] == [start, start + 1]
    for number in (2**62 + 1, -(2**62) - 1):
        with pytest.raises(ValueError, match=rf"attention_inputs: {name}: is {number}; -2\*\*62"):
            attention_inputs([[[7, 8]]], 4, **{name: number})
    with pytest.raises(DTypeError, match=f"attention_inputs: {name}: is 0.5"):
        attention_inputs([[[7, 8]]], 4, **{name: 0.5})


@for_each("labels", [[[[1, 2]], [[3]]], [[[1], [2, 3]]], [[[1], [2], [3]]], [[[1, 2], [3], []]], [[[1, 2], [3]], []]])
def test_labels_have_the_structure_of_the_tokens(labels):
    """All have as many tokens."""
    with pytest.raises(LoDError, match="labels: have a different structure from packed"):
        attention_inputs([[[1, 2], [3]]], labels=labels)


def test_ids_are_integers():
    lod = LoD.from_lengths([1], [2])
    for dtype in ("?", "f4", "f8", "c16", "S1", "U1", "M8[s]", "m8[s]"):
        for named in ({"packed": dtype}, {"packed": "i8", "labels": dtype}):
            given_ = {name: LoDTensor(np.zeros(2, kind), lod) for name, kind in named.items()}
            with pytest.raises(DTypeError, match=f"attention_inputs: {[*named][-1]}: has dtype .*; token ids are"):
                attention_inputs(**given_)


@for_each("count", [4, 5, 7])
def test_cu_seqlens_of_missing_segments_repeat_the_last_end(count):
    """Also if the last segment is padding, and if there is no segment."""
    bins = [[[5, 6, 7], [8, 9]], [[3]]]
    more = [0] * (count - 4)
    assert attention_inputs(bins, 6, num_segments=count + 1).cu_seqlens.tolist() == [0, 3, 5, 6, 7, 12] + [12] * len(
        more
    )
    assert attention_inputs(bins, num_segments=count).cu_seqlens.tolist() == [0, 3, 5, 6, 6, *[6] * len(more)]


def test_segments_of_many_bins():
    for count in (2, 3, 9):
        full = [[[1], [2, 3]]] * count
        made = attention_inputs([*full[:-1], [[4]]], 3, tail="none", num_segments=2 * count + 1)
        ends = [k for j in range(count - 1) for k in (3 * j, 3 * j + 1)] + [3 * count - 3] + [3 * count - 2] * 3
        assert made.cu_seqlens.tolist() == ends
        for short in range(count - 1):
            with pytest.raises(ValueError, match=f"bin {short} is not full"):
                attention_inputs([[[4]] if k == short else full[0] for k in range(count)], 3, tail="none")
        for bad in range(count):
            with pytest.raises(LoDError, match=f"length: is 3; bin {bad} has 4 tokens"):
                attention_inputs([[[1, 2, 3], [4]] if k == bad else full[0] for k in range(count)], 3)
        assert len(attention_inputs(full, 3, num_segments=2 * count).cu_seqlens) == 2 * count + 1
        with pytest.raises(LoDError, match=f"num_segments: is {2 * count - 1}; there are {2 * count} segments"):
            attention_inputs(full, 3, num_segments=2 * count - 1)


def test_offsets_of_the_last_level():
    for packed in ([[1, 2], [], [3]], [[[1, 2], []], [[3]]], [[[[1, 2], [], [3]]], []]):
        ends, longest = cu_seqlens(packed)
        assert (ends.tolist(), longest) == ([0, 2, 2, 3], 2)


# -- isolation: leaks of every kind
