"""The gates of recurrent networks and their steps, in the forward and the backward pass; sigmoid, tanh, every path."""

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from reference.kernels import gates as twin
from tests.helpers.against_twin import agree, call
from tests.helpers.draw import int64, lengths, read_only, running_sum
from tests.helpers.matrices import packed
from tests.helpers.tables import for_each

REALS = [np.dtype("f4"), np.dtype("f8")]
KINDS = st.integers(0, 3)


class Batch:
    """Steps of a batch, some rows of which belong to no sequence, and arrays of random numbers, a few of them unusual.

    Parameters
    ----------
    sizes : list of int
        The lengths of the sequences.
    width : int
    dtype : dtype
    seed : int
    odd : bool
        Whether there are nan and infinities.
    """

    def __init__(self, sizes, width, dtype, seed, odd=False):
        longest = max(sizes, default=0)
        self.steps = read_only(int64(running_sum(sum(size > t for size in sizes) for t in range(longest))))
        self.random, self.odd = np.random.default_rng(seed), odd
        self.stride = int(self.random.choice([1, -1]))
        before = int(self.random.integers(0, 3))  # rows of no sequence
        firsts = np.cumsum([before, *sizes])[:-1] if sizes else np.zeros(0, int)
        firsts = firsts if self.stride == 1 else firsts + np.array(sizes, int) - 1
        by_length = [k for k in np.argsort(-np.array(sizes, int), kind="stable") if sizes[k]]
        self.starts = read_only(int64(firsts[by_length]))
        self.rows, self.width, self.dtype = sum(sizes) + before + int(self.random.integers(0, 2)), width, dtype
        self.states = len(by_length)
        self.where = self.steps, self.starts, self.stride

    def array(self, *shape, scale=1.0):
        """Make an output array."""
        made = self.random.standard_normal(shape) * scale
        if self.odd:
            made[self.random.random(shape) < 0.02] = self.random.choice([np.nan, np.inf, -np.inf, 100.0, -1e30])
        return made.astype(self.dtype)

    def given(self, *shape, scale=1.0):
        """Make an input array."""
        return read_only(self.array(*shape, scale=scale))

    def maybe(self, *shape):
        """Make an input array, or an empty one."""
        return self.given(*shape) if self.random.random() < 0.5 else self.none(len(shape))

    def wanted(self, *shape):
        """Make an output array, or one without rows."""
        return self.array(*shape) if self.random.random() < 0.5 else np.empty((0, shape[1]), self.dtype)

    def none(self, ndim=1):
        return read_only(np.empty((0, self.width)[-ndim:] if ndim == 2 else (0,), self.dtype))

    def weight(self, depth, columns):
        """Make a packed matrix that keeps states bounded."""
        return read_only(packed(self.array(depth, columns, scale=0.3 / math.sqrt(max(depth, 1)))))


@st.composite
def batches(draw, widths=(1, 2, 3, 8, 16, 17, 33, 0), odd=False):
    sizes = draw(lengths(None, 6, 4))
    sizes = [min(size, 6) for size in sizes]
    wanted = odd and draw(st.booleans())
    return Batch(
        sizes, draw(st.sampled_from(widths)), draw(st.sampled_from(REALS)), draw(st.integers(0, 2**32)), wanted
    )


def lstm(batch, kinds, clip, product=True, projection=False):
    """Make the arguments of both passes of an LSTM; without products, of the gates only."""
    rows, width, states = batch.rows, batch.width, batch.states
    wide = 3 if projection else width
    weights = [batch.weight(wide, 4 * width), batch.weight(width, wide) if projection else batch.none()]
    back = [batch.weight(4 * width, wide), batch.weight(wide, width) if projection else batch.none()]
    if not product:
        weights = back = [batch.none(), batch.none()]
    peepholes, booted = batch.maybe(3 * width), bool(batch.random.random() < 0.5)
    there = [
        *weights, batch.maybe(4 * width), peepholes, *kinds, clip, booted, batch.array(states, wide),
        batch.array(states, width), batch.array(states, 4 * width), batch.array(rows, 4 * width, scale=2.0),
        batch.wanted(rows, width), batch.array(rows if projection else 0, width), batch.wanted(rows, wide),
    ]  # fmt: skip
    way_back = [
        *back, peepholes, *kinds, clip, batch.maybe(states, width), batch.given(rows, 4 * width),
        batch.given(rows, width), batch.maybe(rows, wide), batch.maybe(rows, width), booted, batch.array(states, wide),
        batch.array(states, width), batch.array(states, 4 * width), batch.array(rows if projection else 0, wide),
        batch.array(rows, 4 * width),
    ]  # fmt: skip
    return there, way_back


def gru(batch, kinds, origin, product=True):
    """Make the arguments of both passes of a GRU."""
    rows, width, states = batch.rows, batch.width, batch.states
    weights = [batch.weight(width, 2 * width), batch.weight(width, width)]
    back = [batch.weight(2 * width, width), batch.weight(width, width)]
    if not product:
        weights = back = [batch.none(), batch.none()]
    boot = batch.maybe(states, width)
    there = [
        *weights, batch.maybe(3 * width), *kinds, origin, len(boot) > 0, batch.array(states, width),
        batch.array(states, 3 * width), batch.array(rows, 3 * width, scale=2.0), batch.array(rows, width),
    ]  # fmt: skip
    way_back = [
        *back, *kinds, origin, boot, batch.given(rows, 3 * width), batch.given(rows, width), batch.given(rows, width),
        len(boot) > 0, batch.array(states, width), batch.array(states, 3 * width), batch.array(rows, width),
        batch.array(rows, 3 * width),
    ]  # fmt: skip
    return there, way_back


def simple(batch, kind, product=True):
    """Make the arguments of both passes of a network with one activation."""
    rows, width, states = batch.rows, batch.width, batch.states
    weight, booted = batch.weight(width, width) if product else batch.none(), bool(batch.random.random() < 0.5)
    there = [
        weight, batch.maybe(width), kind, booted, batch.array(states, width), batch.array(states, width),
        batch.array(rows, width),
    ]  # fmt: skip
    way_back = [
        weight, kind, batch.given(rows, width), batch.given(rows, width), booted, batch.array(states, width),
        batch.array(states, width), batch.array(rows, width),
    ]  # fmt: skip
    return there, way_back


def close(name, batch, *arguments):
    """Compare a kernel with its twin where products are rounded."""
    found = {}
    for side, package in (("kernel", kernels), ("twin", type("Twins", (), {"gates": twin}))):
        found[side] = call(package, name, arguments, lambda *given: [x for x in given if isinstance(x, np.ndarray)])[1]
    for one, other in zip(found["kernel"], found["twin"], strict=True):
        numbers = [array.tobytes() for array in (batch.steps, batch.starts)]
        dtype = np.int64 if one in numbers else batch.dtype
        near = 2e-4 if batch.dtype == np.float32 else 1e-11
        np.testing.assert_allclose(np.frombuffer(one, dtype), np.frombuffer(other, dtype), rtol=near, atol=near)


@pytest.mark.not_on_reference
class TestTwins:
    """Exactly for gates only, step by step or all at once; approximately if there are products."""

    @given(batches(odd=True), st.tuples(KINDS, KINDS, KINDS), st.sampled_from([np.inf, np.inf, 0.5]))
    def test_lstm(self, batch, kinds, clip):
        there, back = lstm(batch, kinds, clip, product=False)
        last = len(batch.steps) - 1
        first = int(batch.random.integers(0, last + 1))
        agree("gates.lstm_steps", *batch.where, first, last, *there)
        agree("gates.lstm_steps_back", *batch.where, first, last, *back)

    @given(batches(odd=True), st.tuples(KINDS, KINDS), st.booleans(), st.integers(0, 2))
    def test_gru(self, batch, kinds, origin, stage):
        there, back = gru(batch, kinds, origin, product=False)
        last = len(batch.steps) - 1
        agree("gates.gru_steps", *batch.where, 0, last, stage, *there)
        agree("gates.gru_steps_back", *batch.where, 0, last, stage or 1, *back)

    @given(batches(odd=True), KINDS)
    def test_simple(self, batch, kind):
        there, back = simple(batch, kind, product=False)
        last = len(batch.steps) - 1
        agree("gates.simple_steps", *batch.where, 0, last, *there)
        agree("gates.simple_steps_back", *batch.where, 0, last, *back)

    @given(batches(), st.sampled_from([np.inf, 0.5]), st.booleans())
    def test_lstm_with_products(self, batch, clip, projection):
        there, back = lstm(batch, (0, 1, 1), clip, projection=projection)
        last = len(batch.steps) - 1
        close("gates.lstm_steps", batch, *batch.where, 0, last, *there)
        close("gates.lstm_steps_back", batch, *batch.where, 0, last, *back)

    @given(batches(), st.booleans())
    def test_gru_with_products(self, batch, origin):
        there, back = gru(batch, (0, 1), origin)
        last = len(batch.steps) - 1
        close("gates.gru_steps", batch, *batch.where, 0, last, 0, *there)
        close("gates.gru_steps_back", batch, *batch.where, 0, last, 0, *back)

    @given(batches())
    def test_simple_with_products(self, batch):
        there, back = simple(batch, 1)
        last = len(batch.steps) - 1
        close("gates.simple_steps", batch, *batch.where, 0, last, *there)
        close("gates.simple_steps_back", batch, *batch.where, 0, last, *back)

    def test_a_projection_to_width_0(self):
        """Cells have unobservable states: the steps differ only in their inputs."""
        batch = Batch([3, 1], 4, np.dtype("f8"), 0)
        there, back = lstm(batch, (0, 1, 1), np.inf, product=False, projection=True)

        def narrow(arguments):
            wide = [isinstance(x, np.ndarray) and x.shape[1:] == (3,) for x in arguments]
            return [np.empty((len(x), 0)) if one else x for x, one in zip(arguments, wide, strict=True)]

        agree("gates.lstm_steps", *batch.where, 0, 3, *narrow(there))
        agree("gates.lstm_steps_back", *batch.where, 0, 3, *narrow(back))


@pytest.mark.not_on_reference
@for_each("seed", range(8))
def test_gates_run_step_by_step_equal_a_single_call(seed):
    """Steps that run one by one have the results of a single call, in both directions of time."""
    for name, make, stage in [
        ("lstm", lambda batch: lstm(batch, (0, 1, 1), 0.5, projection=False), []),
        ("lstm", lambda batch: lstm(batch, (0, 1, 1), np.inf, projection=True), []),
        ("gru", lambda batch: gru(batch, (0, 1), seed % 3 == 0), [0]),
        ("simple", lambda batch: simple(batch, 1), []),
    ]:
        made = []
        for _ in range(2):
            batch = Batch([3, 0, 1, 4, 3], [2, 5, 9][seed % 3], REALS[seed % 2], seed)
            made.append(make(batch))
        for back in (0, 1):
            function = getattr(kernels.gates, f"{name}_steps" + back * "_back")
            function(*batch.where, 0, 4, *stage, *made[0][back])
            for t in (3, 2, 1, 0) if back else (0, 1, 2, 3):
                function(*batch.where, t, t + 1, *stage, *made[1][back])
            for one, other in zip(made[0][back], made[1][back], strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.not_on_reference
@for_each(
    ("steps", "starts", "stride", "n_rows", "fits"),
    [
        ([0, 2, 3], [0, 2], 1, 3, True),
        ([0, 2, 3], [2, 0], 1, 3, False),
        ([0, 2, 3], [1, 2], -1, 3, True),
        ([0, 2, 3], [0, 2], -1, 3, False),
        ([0, 3, 5, 6], [0, 3, 5], 1, 6, True),
        ([0, 3, 5, 6], [0, 5, 3], 1, 6, False),
        ([0, 3, 5, 6], [4, 0, 5], 1, 6, False),
        ([0, 3, 5, 6], [2, 4, 5], -1, 6, True),
        ([0, 3, 5, 6], [5, 0, 2], -1, 6, False),
        ([0, 3, 5, 6], [1, 4, 5], -1, 6, False),
        ([0, 3, 5, 6], [2, 4, 6], -1, 6, False),
        ([0, 3, 5, 6], [2, 4, -1], -1, 6, False),
        ([0, 1, 2], [0, 2], 1, 3, False),
        ([0, 2, 4], [0], 1, 4, False),
        ([0, 1, 3], [0, 2], 1, 4, False),
        ([0, 2, 2], [0, 2], 1, 4, False),
        ([1, 3, 4], [0, 2], 1, 4, False),
        ([0, 2, 3], [0, 2], 0, 3, False),
    ],
)
def test_steps_stay_in_the_batch(steps, starts, stride, n_rows, fits):
    for width in (1, 3):
        states, rows, none = np.zeros((2, len(starts), width)), np.zeros((4, n_rows, width)), np.zeros(0)
        call = [int64(steps), int64(starts), stride, 0, len(steps) - 1, none, none, 1, False, *states, rows[0]]
        back = [*call[:6], 1, *rows[:2], False, *states, rows[2]]
        for function, arguments in ((kernels.gates.simple_steps, call), (kernels.gates.simple_steps_back, back)):
            if fits:
                function(*arguments)
                continue
            with pytest.raises(ValueError, match="belong together"):
                function(*arguments)


@pytest.mark.not_on_reference
@for_each("width", [2, 3, 4, 5])
def test_states_of_another_width_need_a_projection(width):
    for projection in (False, True):
        batch = Batch([3, 1], 4, np.dtype("f8"), 0)
        there, back = lstm(batch, (0, 1, 1), np.inf, product=False, projection=projection)
        states, rows = (np.zeros((n, width)) for n in (batch.states, batch.rows))
        there[9], there[15], back[10], back[13] = states, rows[:0], rows[:0], states.copy()
        back[16] = rows if projection else rows[:0]
        for function, given_arrays in ((kernels.gates.lstm_steps, there), (kernels.gates.lstm_steps_back, back)):
            if projection or width == 4:
                function(*batch.where, 0, 3, *given_arrays)
                continue
            with pytest.raises(ValueError, match="belong together"):
                function(*batch.where, 0, 3, *given_arrays)


SIZES = st.sampled_from([0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 40])
NUMBERS = [0.0, -0.0, 1.0, -1.5, 30.0, -30.0, 88.5, -88.5, 89.5, -89.5, 710.5, -710.5, np.inf, -np.inf, np.nan, -1e-40]


class TestSigmoid:
    @given(SIZES, st.sampled_from(REALS), st.integers(0, 2**32))
    def test_has_the_bits_of_the_twin(self, count, dtype, seed):
        random = np.random.default_rng(seed)
        x = np.where(random.random(count) < 0.5, random.choice(NUMBERS, count), random.normal(0, 4, count))
        agree("gates.sigmoid", read_only(x.astype(dtype)), np.empty(count, dtype))

    def test_may_be_written_where_the_numbers_are(self):
        for dtype in REALS:
            x = np.linspace(-9, 9, 37).astype(dtype)
            wanted = np.empty_like(x)
            kernels.gates.sigmoid(x, wanted)
            kernels.gates.sigmoid(x, x)
            assert x.tobytes() == wanted.tobytes()


class TestActivations:
    """The twin is compared with the mathematics; compiled gates have the bits of the twin."""

    @pytest.mark.parametrize("real", [np.float32, np.float64])
    @pytest.mark.parametrize("kind", [0, 1])
    def test_are_within_their_bounds(self, real, kind):
        random = np.random.default_rng(5)
        exact = [lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0, math.tanh][kind]
        for x in [*random.normal(size=400), *random.normal(size=200) * 1e-4, *random.uniform(-30, 30, 200)]:
            x = real(x)
            with np.errstate(all="ignore"):
                got = twin._act(kind, x)
            assert type(got) is real
            assert abs(float(got) - exact(float(x))) <= 4 * abs(float(np.spacing(real(exact(float(x))))))

    @pytest.mark.parametrize("real", [np.float32, np.float64])
    def test_activations_at_zero_infinity_and_nan(self, real):
        with np.errstate(all="ignore"):
            for x, sigmoid, tanh in [(0, 0.5, 0), (np.inf, 1, 1), (-np.inf, 0, -1), (1e30, 1, 1), (-1e30, 0, -1)]:
                assert (twin._act(0, real(x)), twin._act(1, real(x))) == (sigmoid, tanh)
            assert all(np.isnan(twin._act(kind, real(np.nan))) for kind in range(4))
            assert (twin._act(2, real(-1)), twin._act(2, real(2)), twin._act(3, real(-1))) == (0, 2, -1)


def digest():
    """Compute all gates on seeded numbers of all kinds of shapes, and hash the results."""
    found = hashlib.sha256()
    for seed in range(200):
        random = np.random.default_rng(seed)
        sizes = random.integers(0, 5, random.integers(1, 6)).tolist()
        width = int(random.choice([1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64]))
        batch = Batch(sizes, width, REALS[seed % 2], seed, odd=seed % 3 == 0)
        kinds = [int(kind) for kind in random.integers(0, 4, 3)] if seed % 4 == 0 else [0, 1, 1]
        last = len(batch.steps) - 1
        for name, (there, back), stage in [
            ("lstm", lstm(batch, kinds, 0.7 if seed % 5 == 0 else np.inf, product=False), []),
            ("gru", gru(batch, kinds[1:], bool(seed % 2), product=False), [1]),
            ("gru", gru(batch, kinds[1:], bool(seed % 2), product=False), [2]),
        ]:
            getattr(kernels.gates, f"{name}_steps")(*batch.where, 0, last, *stage, *there)
            getattr(kernels.gates, f"{name}_steps_back")(*batch.where, 0, last, *stage, *back)
            for array in (*there, *back):
                if isinstance(array, np.ndarray):
                    found.update(array.tobytes())
        x = random.choice([*NUMBERS, *random.normal(0, 4, 16)], 67).astype(batch.dtype)
        kernels.gates.sigmoid(x, x)
        found.update(x.tobytes())
    return found.hexdigest()


def test_arrays_that_do_not_belong_together():
    batch = Batch([3, 1], 2, np.dtype("f8"), 0)
    last = len(batch.steps) - 1
    calls = [
        (kernels.gates.lstm_steps, [], lstm(batch, (0, 1, 1), np.inf)[0]),
        (kernels.gates.lstm_steps_back, [], lstm(batch, (0, 1, 1), np.inf)[1]),
        (kernels.gates.lstm_steps, [], lstm(batch, (0, 1, 1), np.inf, projection=True)[0]),
        (kernels.gates.gru_steps, [0], gru(batch, (0, 1), False)[0]),
        (kernels.gates.gru_steps_back, [0], gru(batch, (0, 1), False)[1]),
        (kernels.gates.simple_steps, [], simple(batch, 1)[0]),
        (kernels.gates.simple_steps_back, [], simple(batch, 1)[1]),
    ]
    steps, starts, stride = batch.where
    beyond = starts.copy()
    beyond[0] = batch.rows - 2 if stride == 1 else 1  # the longest has three rows
    for function, stage, arguments in calls:
        for others in (int64([0, 1, 4]), int64([0, 2]), int64([]), int64([0, 2, 2, 4]), int64([1, 2, 3, 4])):
            stop = min(max(len(others) - 1, 0), last)
            with pytest.raises(ValueError, match="belong together"):
                function(others[:-1] if len(others) == 2 else others, starts, stride, 0, stop, *stage, *arguments)
        for others in (beyond, int64([-1, 0]), int64([0, batch.rows]), starts[:1], int64([0, 1, 2])):
            with pytest.raises(ValueError, match="belong together"):
                function(steps, others, stride, 0, last, *stage, *arguments)
        for first, stop, by in ((-1, last, 1), (0, last + 1, 1), (2, 1, 1), (0, last, 0), (0, last, 2)):
            with pytest.raises(ValueError, match="belong together"):
                function(steps, starts, by * stride, first, stop, *stage, *arguments)
        for at, array in enumerate(arguments):
            if isinstance(array, np.ndarray):
                other = np.zeros((batch.rows + 1, array.shape[1] + 1)) if array.ndim == 2 else np.zeros(5)
                with pytest.raises(ValueError, match="belong together"):
                    function(*batch.where, 0, last, *stage, *arguments[:at], other, *arguments[at + 1 :])
