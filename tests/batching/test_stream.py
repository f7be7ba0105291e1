"""Streams: a buffer that stays full, no item lost or kept forever, a warning about empty bins, and resuming."""

import copy
import itertools
import json
import pickle
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import DTypeError, LoDError
from lodcore.batching import batch_stream, pack_stream
from tests.helpers.plans import document_lengths
from tests.helpers.tables import for_each

STREAMS = [
    lambda source, budget, **named: pack_stream(source, budget, **named),
    lambda source, budget, **named: batch_stream(source, budget, **named),
    lambda source, budget, **named: batch_stream(source, budget, count="sum", **named),
]
pytestmark = pytest.mark.not_on_reference


@given(
    document_lengths(40),
    st.integers(12, 30),
    st.none() | st.integers(1, 4),
    st.integers(1, 9),
    st.sampled_from(STREAMS),
)
def test_streams_give_every_item_once_within_the_budget(lengths, budget, most, buffer, make):
    items = [(k,) * length for k, length in enumerate(lengths)]
    numbers = {id(item): k for k, item in enumerate(items)}
    stream = make(iter(items), budget, max_items=most, buffer=buffer)
    padded, seen = stream.settings()[1], []
    for bin in stream:
        sizes = [len(item) for item in bin]
        assert (max(sizes) * len(sizes) if padded else sum(sizes)) <= budget
        assert most is None or len(bin) <= most
        assert len(bin) > 0
        seen += [numbers[id(item)] for item in bin if item]
        assert stream.fill.waiting <= buffer
    assert sorted(seen) == [k for k, length in enumerate(lengths) if length]
    assert stream.fill.items == len(lengths)
    assert stream.fill.tokens == sum(lengths)
    assert stream.fill.tokens + stream.fill.padding == stream.fill.bins * budget


def test_the_buffer_stays_full():
    taken = 0

    def source():
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield [0] * 5

    stream = pack_stream(source(), 20, buffer=50)
    for k in range(1, 100):
        next(stream)
        assert taken == 50 + 4 * (k - 1)


def test_pack_stream_takes_the_oldest_document_before_the_buffer_turns_over():
    """A document that never fits well opens a bin as soon as it is the oldest."""
    lengths = [7] + [5] * 200
    stream = pack_stream(([k] * length for k, length in enumerate(lengths)), 10, buffer=20)
    assert 0 in [document[0] for document in next(stream)]


@pytest.mark.parametrize(
    ("make", "items", "wanted"),
    [
        (pack_stream, "aaaa b1 b2 ccc", "aaaa+b1 b2+ccc"),
        (pack_stream, "a1 a2 a3 a4 a5 a6 a7", "a1+a2+a3 a4+a5+a6 a7"),
        (pack_stream, "b1 aaaa cccc b2 b3", "b1+aaaa cccc+b2 b3"),
        (pack_stream, "a b c1 d1 eee f g fff h i", "a+eee+c1 b+fff+d1 f+g+h+i"),
        (batch_stream, "a1 a2 a3 a4 a5 a6 a7", "a1+a2+a3 a4+a5+a6 a7"),
        (batch_stream, "aaaa c1 c2 c3 c4 bbb ddd", "c1+c2+c3 bbb+ddd aaaa c4"),
    ],
)
def test_pack_stream_takes_the_oldest_of_equally_long_items(make, items, wanted):
    assert [one.split("+") for one in wanted.split()] == list(make(items.split(), 6))


@pytest.mark.parametrize(("buffer", "warns"), [(1, True), (1000, False)])
def test_a_warning_when_bins_stay_empty(buffer, warns):
    lengths = np.random.default_rng(0).lognormal(np.log(300), 1, 3000).astype(int).clip(1, 2048)
    stream = pack_stream((range(length) for length in lengths), 2048, buffer=buffer)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        count = sum(1 for _ in stream)
    assert (stream.fill.fill < 0.95) == warns
    assert [str(one.message)[:13] for one in caught] == ["pack_stream: "] * (2 * warns)  # after 100 and 1000
    assert count == stream.fill.bins
    if warns:
        assert "100 bins, " in str(caught[0].message)


@pytest.mark.parametrize(
    ("overflow", "want", "dropped"),
    [
        ("drop", [["aa"], ["bb"]], 1),
        ("truncate", [["aa"], ["ccc"], ["bb"]], 1),
        ("own_bin", [["aa"], ["ccccc"], ["bb"]], 0),
    ],
)
def test_pack_stream_drops_splits_or_refuses_what_is_longer_than_the_budget(overflow, want, dropped):
    stream = pack_stream(["aa", "ccccc", "bb"], 3, overflow=overflow)
    assert list(stream) == want
    assert stream.fill.dropped == dropped
    with pytest.raises(LoDError, match="pack_stream: source: item 1 has length 5; the budget is 3"):
        list(pack_stream(["aa", "ccccc", "bb"], 3))


@for_each("make", [pack_stream, batch_stream])
def test_a_truncated_item_is_measured_again(make):
    stream = make(["a b c", "d", "e f"], 2, overflow="truncate", length=lambda text: len(text.split()))
    assert sorted(text for texts in stream for text in texts) == ["a ", "d", "e f"]
    assert (stream.fill.items, stream.fill.tokens, stream.fill.dropped) == (3, 4, 1)
    stream = make([[5, 1], [9, 9], [1, 1, 1]], 4, overflow="truncate", length=sum)
    with pytest.raises(LoDError, match=f"^{make.__name__}: source: item 0 still has length 6 with its first 4 entries"):
        next(stream)
    for item, kind in (({1, 2, 3}, "a set"), ({"a": 1, "b": 2, "c": 3}, "a dict")):
        stream = make([item, [4]], 2, overflow="truncate")
        with pytest.raises(
            DTypeError, match=f"^{make.__name__}: source: item 0 is {kind}, of which no first 2 entries"
        ):
            next(stream)


@given(
    document_lengths(40),
    st.integers(0, 12),
    st.integers(1, 9),
    st.sampled_from(STREAMS),
    st.sampled_from(["drop", "truncate", "own_bin"]),
    st.integers(2, 14),
)
def test_a_stream_goes_on_from_a_loaded_state(lengths, steps, buffer, make, overflow, budget):
    def source():
        return ([k] * length for k, length in enumerate(lengths))

    stream, fresh = (make(source(), budget, buffer=buffer, overflow=overflow) for _ in range(2))
    for _ in range(steps):
        next(stream, None)
    state = json.loads(json.dumps(stream.state_dict()))
    fresh.load_state_dict(state)
    assert fresh.fill == stream.fill
    assert fresh.state_dict() == stream.state_dict()
    assert list(fresh) == list(stream)
    assert fresh.fill == stream.fill
    with pytest.raises(ValueError, match="a new stream is needed" if lengths else "missing"):
        fresh.load_state_dict(state if lengths else {})


@pytest.mark.parametrize("overflow", ["drop", "truncate", "own_bin"])
@pytest.mark.parametrize("steps", range(5))
def test_state_of_a_stream_continues_every_count(overflow, steps):
    items = ["aaaaaaaaaaaa", "bb", "", "cccc", "ddddd", "eee", "f"]
    stream, fresh = (pack_stream(items, 4, overflow=overflow, buffer=2) for _ in range(2))
    for _ in range(steps):
        next(stream, None)
    fresh.load_state_dict(stream.state_dict())
    assert fresh.fill == stream.fill
    assert list(fresh) == list(stream)
    assert fresh.fill.dropped == {"drop": 2, "truncate": 2, "own_bin": 0}[overflow]


def test_a_length_that_reads_its_own_stream_is_refused():
    def length(item):
        if item in again:
            again.remove(item)
            next(stream)
        return 1

    again = {0, 3}
    stream, found = pack_stream(range(6), 2, buffer=2, length=length), []
    for _ in range(2):  # the first item, then, after a bin, the fourth
        with pytest.raises(RuntimeError, match="pack_stream: its source, length or warning reads the stream itself"):
            next(stream)
        found += next(stream)
    found += [item for items in stream for item in items]
    assert found == list(range(6))  # nothing is lost, or returned twice


def test_load_state_dict_of_a_stream_refuses_sources_that_end_sooner_or_differ():
    stream = pack_stream([[1]] * 9, 3, buffer=4)
    next(stream)
    state = stream.state_dict()
    with pytest.raises(ValueError, match="source: ends after 2 items; 4 were taken"):
        pack_stream([[1]] * 2, 3, buffer=4).load_state_dict(state)
    with pytest.raises(ValueError, match="waiting missing"):
        pack_stream([[1]] * 9, 3).load_state_dict({name: state[name] for name in state if name != "waiting"})
    fresh = pack_stream([[1]] * 9, 3, buffer=4)
    for name in state.keys() - {"digest"}:
        for wrong in (None, "1", 0.5, -1, 2**63, np.array([None])):
            with pytest.raises((ValueError, TypeError), match=f"load_state_dict: {name}"):
                fresh.load_state_dict(state | {name: [wrong] if name == "waiting" and wrong != -1 else wrong})
    fresh.load_state_dict(state)  # of a wrong state, nothing is kept
    assert fresh.state_dict() == state


def test_load_state_dict_of_a_stream_refuses_states_of_other_streams():
    def made(make=pack_stream, budget=6, items=("aaa", "bb", "c", "dddd") * 3, **named):
        return make(items, budget, **{"buffer": 4} | named)

    stream = made()
    next(stream)
    state = stream.state_dict()
    for named in (
        {"make": batch_stream},
        {"budget": 7},
        {"max_items": 2},
        {"overflow": "drop"},
        {"buffer": 5},
    ):
        with pytest.raises(ValueError, match="state: is that of a stream with another budget, count, max_items"):
            made(**named).load_state_dict(state)
    with pytest.raises(ValueError, match="source: its first 4 items have different lengths"):
        made(items=("aaa", "bb", "cc", "dddd") * 3).load_state_dict(state)
    fresh = made()
    fresh.load_state_dict(state)
    assert list(fresh) == list(stream)


def test_fill_of_a_stream_is_updated_with_each_bin():
    stream = pack_stream(["aaa", "bb", "c"] * 10, 6)
    assert stream.fill.fill == 1.0
    fills = [stream.fill.fill for _ in stream]
    assert fills[-1] == 60 / (10 * 6)
    assert "10 bins, 100.0 % full: 30 items, 60 tokens" in str(stream.fill)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: pack_stream([], 0), ValueError, "pack_stream: budget: is 0"),
        (lambda: batch_stream([], 0), ValueError, "batch_stream: max_tokens: is 0"),
        (lambda: batch_stream([], 3, count="x"), ValueError, "count: is 'x'"),
        (lambda: pack_stream([], 3, overflow="split"), ValueError, "overflow: is 'split'"),
        (lambda: pack_stream([], 3, buffer=0), ValueError, "buffer: is 0"),
        (lambda: next(pack_stream([1], 3, length=lambda item: 1.5)), DTypeError, "length of item 0: is 1.5"),
        (lambda: next(pack_stream([1], 3, length=lambda item: -1)), ValueError, "length of item 0: is -1"),
    ],
)
def test_wrong_calls_of_streams_name_argument_and_value(call, error, says):
    with pytest.raises(error, match=says):
        call()


# -- tables


@for_each(
    ("make", "overflow", "most"),
    itertools.product(STREAMS, ("drop", "truncate", "own_bin"), (None, 1, 2, 3)),
)
def test_every_stream_keeps_its_limits(make, overflow, most):
    lengths = [3, 8, 0, 5, 9, 2, 8, 1, 0, 12, 7, 5, 5, 3, 1, 1, 1, 1, 1, 1, 1, 4] * 3
    for buffer in (1, 3, 50):
        stream = make(([k] * n for k, n in enumerate(lengths)), 8, max_items=most, overflow=overflow, buffer=buffer)
        padded, bins = stream.settings()[1], list(stream)
        for bin in bins:
            sizes = [len(item) for item in bin]
            used = max(sizes) * len(sizes) if padded else sum(sizes)
            assert used <= 8 or (overflow == "own_bin" and len(bin) == 1)
            assert len(bin) <= (most or 99)
        held = [min(n, 8) if overflow == "truncate" else n for n in lengths if n <= 8 or overflow != "drop"]
        used = [sum(map(len, bin)) for bin in bins]
        long = sum(n > 8 for n in lengths)
        assert stream.fill == (len(bins), len(held), sum(held), sum(max(8 - n, 0) for n in used),
                               long if overflow != "own_bin" else 0, 0)  # fmt: skip


def test_the_item_that_waited_longest_is_in_the_next_batch():
    """A lone long item among many short ones, of which the next ones always fill a batch."""
    for buffer in (5, 8, 9):
        items = [[0] * 7] + [[k] * 2 for k in range(1, 400)]
        when = next(k for k, batch in enumerate(batch_stream(items, 8, buffer=buffer)) if batch[0][0] == 0)
        # four fill a batch, and one batch is returned before the buffer is filled again
        assert 4 * buffer < buffer + 4 * when <= 4 * buffer + 8
        shorter = [[0]] + [[k] * 4 for k in range(1, 400)]
        when = next(k for k, batch in enumerate(batch_stream(shorter, 8, buffer=buffer)) if [0] in batch)
        assert 4 * buffer < buffer + 2 * when <= 4 * buffer + 4


def test_a_stream_from_a_loaded_state_warns_at_the_same_number_of_bins():
    def stream():
        return pack_stream(([0] * 6 for _ in range(1200)), 10, buffer=1)

    for stop, texts in ((0, ["100 bins", "1,000 bins"]), (99, ["100 bins", "1,000 bins"]), (100, ["1,000 bins"]),
                        (101, ["1,000 bins"]), (999, ["1,000 bins"]), (1000, [])):  # fmt: skip
        first, second = stream(), stream()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(stop):
                next(first)
            before = len(caught)
            second.load_state_dict(first.state_dict())
            assert len(list(second)) == 1200 - stop
        assert [str(one.message).partition(", ")[0] for one in caught[before:]] == [f"pack_stream: {t}" for t in texts]


@pytest.mark.parametrize("make", STREAMS)
def test_an_error_loses_no_item(make):
    items = [(k,) * (k % 5) for k in range(40)]
    calls = itertools.count()

    def length(item):
        if next(calls) % 3 == 0:
            raise KeyError("once")
        return len(item)

    stream, found = make(iter(items), 8, buffer=4, length=length), []
    while True:
        try:
            found.append(next(stream))
        except KeyError:
            continue
        except StopIteration:
            break
    assert sorted(itertools.chain(*found)) == sorted(items)
    assert found == list(make(iter(items), 8, buffer=4))


def test_a_warning_that_is_an_error_loses_no_bin():
    items = [(k,) * 5 for k in range(250)]
    wanted, found = [[item] for item in items], []
    stream = pack_stream(iter(items), 9, buffer=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="pack_stream: 100 bins"):
            found.extend(stream)
        found.extend(stream)
    assert sorted(itertools.chain(*found)) == sorted(itertools.chain(*wanted))
    assert stream.fill.bins == 250


def test_pack_stream_refuses_an_item_that_is_too_long_each_time():
    stream = pack_stream(iter(["aa", "ccccc", "bb"]), 3, buffer=1)
    assert next(stream) == ["aa"]
    for _ in range(2):
        with pytest.raises(LoDError, match="item 1 has length 5"):
            next(stream)
    assert stream.state_dict()["taken"] == 1


def test_threads_share_a_stream():
    items = [(k,) * (k % 7) for k in range(3000)]
    stream, found = pack_stream((item for item in items), 8, buffer=16), []
    threads = [threading.Thread(target=lambda: found.extend(stream)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(itertools.chain(*found)) == sorted(items)
    assert stream.fill.items == 3000


@pytest.mark.parametrize("make", STREAMS)
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_copied_stream_advances_independently(make, steps):
    stream = make([(k,) * (k % 5) for k in range(40)], 8, buffer=4)
    for _ in range(steps):
        next(stream)
    copies = [copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))]
    wanted, state = list(stream), stream.state_dict()
    for copied in copies:
        assert list(copied) == wanted
        assert copied.state_dict() == state


def test_streams_that_cannot_be_copied_name_their_source():
    source = ((k,) for k in range(4))
    stream = pack_stream(source, 8)
    with pytest.raises(TypeError, match=r"^pack_stream: copy: would take items from the same source; .* state_dict"):
        copy.copy(stream)
    for call in (copy.deepcopy, pickle.dumps):
        for one in (stream, pack_stream(map(list, source), 8)):
            with pytest.raises(
                TypeError, match=r"^pack_stream: source: is a generator, which cannot be copied; .*state"
            ):
                call(one)
    assert list(stream) == [[(k,) for k in range(4)]]


def test_a_state_that_could_not_be_loaded_spoils_the_stream():
    stream, fresh = (pack_stream(iter(["a", "b", "c"]), 1, buffer=1) for _ in range(2))
    next(stream), next(stream)
    fresh.load_state_dict(stream.state_dict())
    assert list(fresh) == [["c"]]
    bad = pack_stream(iter(["a"]), 1, buffer=1)
    for says in ("source: ends after 1 items", "was left by an error before"):
        with pytest.raises(ValueError, match=says):
            bad.load_state_dict(stream.state_dict())
    with pytest.raises(ValueError, match="load_state_dict was left by an error; a new stream is needed"):
        next(bad)


@pytest.mark.parametrize("waiting", [[], [1], [99, 3], [-1, 3], [1, 1], [1, 4]])
def test_waiting_items_that_the_counts_contradict_are_refused(waiting):
    items = ["a" * size for size in (3, 1, 4, 1, 5, 9, 2, 6)]
    stream = batch_stream(items, 10, buffer=4)
    next(stream)
    state = stream.state_dict()
    assert state["waiting"] == [1, 3]
    with pytest.raises(ValueError, match="load_state_dict: waiting: is"):
        batch_stream(items, 10, buffer=4).load_state_dict({**state, "waiting": waiting})
    again = batch_stream(items, 10, buffer=4)
    again.load_state_dict(state)
    assert list(again) == list(stream)
