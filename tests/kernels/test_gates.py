"""The gates of recurrent networks and their steps, on the way there and back; sigmoid and tanh, and every path."""

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
from tests.helpers.paths import on_each_path

REALS = [np.dtype("f4"), np.dtype("f8")]
KINDS = st.integers(0, 3)


class Batch:
    """Steps of a batch, and arrays that fit: numbers of any size, a few of them odd.

    Parameters
    ----------
    sizes : list of int
        Lengths of sequences.
    width : int
    dtype : dtype
    seed : int
    odd : bool
        Whether there are nan and infinities.
    """

    def __init__(self, sizes, width, dtype, seed, odd=False):
        longest = max(sizes, default=0)
        self.steps = read_only(int64(running_sum(sum(size > t for size in sizes) for t in range(longest))))
        self.rows, self.width, self.dtype = int(self.steps[-1]), width, dtype
        self.states = int(self.steps[1]) if longest else 0
        self.random, self.odd = np.random.default_rng(seed), odd

    def array(self, *shape, scale=1.0):
        """Make an array that kernels may write."""
        made = self.random.standard_normal(shape) * scale
        if self.odd:
            made[self.random.random(shape) < 0.02] = self.random.choice([np.nan, np.inf, -np.inf, 100.0, -1e30])
        return made.astype(self.dtype)

    def given(self, *shape, scale=1.0):
        """Make an array that is read."""
        return read_only(self.array(*shape, scale=scale))

    def maybe(self, *shape):
        """Make an array that is read, or an empty one."""
        return self.given(*shape) if self.random.random() < 0.5 else self.none(len(shape))

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
    """Make the arguments of both ways of a LSTM; without products, of the gates alone."""
    rows, width, states = batch.rows, batch.width, batch.states
    wide = 3 if projection else width
    inner = batch.array(rows, width)
    weights = [batch.weight(wide, 4 * width), batch.weight(width, wide) if projection else batch.none()]
    back = [batch.weight(4 * width, wide), batch.weight(wide, width) if projection else batch.none()]
    if not product:
        weights = back = [batch.none(), batch.none()]
    peepholes, boot_cell = batch.maybe(3 * width), batch.maybe(states, width)
    there = [
        *weights, batch.maybe(4 * width), peepholes, *kinds, clip, batch.maybe(states, wide), boot_cell,
        batch.array(rows, 4 * width, scale=2.0), batch.array(rows, width), inner,
        batch.array(rows, wide) if projection else inner,
    ]  # fmt: skip
    d_inner = batch.array(rows, width)
    way_back = [
        *back, peepholes, *kinds, clip, boot_cell, batch.given(rows, 4 * width), batch.given(rows, width),
        batch.maybe(rows, width), d_inner, batch.array(rows, wide) if projection else d_inner,
        batch.array(states, width), batch.array(rows, 4 * width),
        batch.array(states, wide) if batch.random.random() < 0.5 else np.empty((0, wide), batch.dtype),
    ]  # fmt: skip
    return there, way_back


def gru(batch, kinds, origin, product=True):
    """Make the arguments of both ways of a GRU."""
    rows, width, states = batch.rows, batch.width, batch.states
    weights = [batch.weight(width, 2 * width), batch.weight(width, width)]
    back = [batch.weight(2 * width, width), batch.weight(width, width)]
    if not product:
        weights = back = [batch.none(), batch.none()]
    boot = batch.maybe(states, width)
    there = [
        *weights, batch.maybe(3 * width), *kinds, origin, boot, batch.array(rows, 3 * width, scale=2.0),
        batch.array(states, width), batch.array(rows, width),
    ]  # fmt: skip
    d_boot = batch.array(states if len(boot) else 0, width)
    way_back = [
        *back, *kinds, origin, boot, batch.given(rows, 3 * width), batch.given(rows, width), batch.array(rows, width),
        batch.array(rows, width), batch.array(rows, 3 * width), d_boot,
    ]  # fmt: skip
    return there, way_back


def close(name, batch, *arguments):
    """Compare a kernel with its twin where products are rounded."""
    found = {}
    for side, package in (("kernel", kernels), ("twin", type("Twins", (), {"gates": twin}))):
        found[side] = call(package, name, arguments, lambda *given: [x for x in given if isinstance(x, np.ndarray)])[1]
    for one, other in zip(found["kernel"], found["twin"], strict=True):
        dtype = np.int64 if len(one) == batch.steps.nbytes and one == batch.steps.tobytes() else batch.dtype
        near = 1e-4 if batch.dtype == np.float32 else 1e-11
        np.testing.assert_allclose(np.frombuffer(one, dtype), np.frombuffer(other, dtype), rtol=near, atol=near)


@pytest.mark.not_on_reference
class TestTwins:
    """Of gates alone to the bit, of one step after the other or of all at once; about, where there are products."""

    @given(batches(odd=True), st.tuples(KINDS, KINDS, KINDS), st.sampled_from([np.inf, np.inf, 0.5]))
    def test_lstm(self, batch, kinds, clip):
        there, back = lstm(batch, kinds, clip, product=False)
        last = len(batch.steps) - 1
        first = int(batch.random.integers(0, last + 1))
        agree("gates.lstm_steps", batch.steps, first, last, *there)
        agree("gates.lstm_steps_back", batch.steps, first, last, *back)

    @given(batches(odd=True), st.tuples(KINDS, KINDS), st.booleans(), st.integers(0, 2))
    def test_gru(self, batch, kinds, origin, stage):
        there, back = gru(batch, kinds, origin, product=False)
        last = len(batch.steps) - 1
        agree("gates.gru_steps", batch.steps, 0, last, stage, *there)
        agree("gates.gru_steps_back", batch.steps, 0, last, stage or 1, *back)

    @given(batches(odd=True), KINDS)
    def test_simple(self, batch, kind):
        rows, width, last = batch.rows, batch.width, len(batch.steps) - 1
        bias, boot = batch.maybe(width), batch.maybe(batch.states, width)
        agree("gates.simple_steps", batch.steps, 0, last, batch.none(), bias, kind, boot, batch.array(rows, width))
        arrays = batch.given(rows, width), batch.array(rows, width), batch.array(rows, width)
        agree("gates.simple_steps_back", batch.steps, 0, last, batch.none(), kind, *arrays, batch.array(0, width))

    @given(batches(), st.sampled_from([np.inf, 0.5]), st.booleans())
    def test_lstm_with_products(self, batch, clip, projection):
        there, back = lstm(batch, (0, 1, 1), clip, projection=projection)
        last = len(batch.steps) - 1
        close("gates.lstm_steps", batch, batch.steps, 0, last, *there)
        close("gates.lstm_steps_back", batch, batch.steps, 0, last, *back)

    @given(batches(), st.booleans())
    def test_gru_with_products(self, batch, origin):
        there, back = gru(batch, (0, 1), origin)
        last = len(batch.steps) - 1
        close("gates.gru_steps", batch, batch.steps, 0, last, 0, *there)
        close("gates.gru_steps_back", batch, batch.steps, 0, last, 0, *back)

    @given(batches(), st.booleans())
    def test_simple_with_products(self, batch, booted):
        rows, width, last = batch.rows, batch.width, len(batch.steps) - 1
        weight, states = batch.weight(width, width), batch.states
        arguments = weight, batch.maybe(width), 1, batch.maybe(states, width), batch.array(rows, width)
        close("gates.simple_steps", batch, batch.steps, 0, last, *arguments)
        arrays = batch.given(rows, width), batch.array(rows, width), batch.array(rows, width)
        d_boot = batch.array(states if booted else 0, width)
        close("gates.simple_steps_back", batch, batch.steps, 0, last, weight, 1, *arrays, d_boot)


class TestActivations:
    """The twin against the mathematics; compiled gates have the bits of the twin."""

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
    def test_at_the_ends(self, real):
        with np.errstate(all="ignore"):
            for x, sigmoid, tanh in [(0, 0.5, 0), (np.inf, 1, 1), (-np.inf, 0, -1), (1e30, 1, 1), (-1e30, 0, -1)]:
                assert (twin._act(0, real(x)), twin._act(1, real(x))) == (sigmoid, tanh)
            assert all(np.isnan(twin._act(kind, real(np.nan))) for kind in range(4))
            assert (twin._act(2, real(-1)), twin._act(2, real(2)), twin._act(3, real(-1))) == (0, 2, -1)


def digest():
    """Compute all gates on seeded numbers of all kinds of shapes, and hash what they write."""
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
            if name == "lstm":
                getattr(kernels.gates, f"{name}_steps")(batch.steps, 0, last, *stage, *there)
            getattr(kernels.gates, f"{name}_steps_back")(batch.steps, 0, last, *stage, *back)
            for array in (*there, *back):
                if isinstance(array, np.ndarray):
                    found.update(array.tobytes())
    return found.hexdigest()


@pytest.mark.not_on_reference
def test_every_path_has_the_same_bits():
    assert set(on_each_path("tests.kernels.test_gates", "digest").values()) == {digest()}


def test_arrays_that_do_not_belong_together():
    batch = Batch([3, 1], 2, np.dtype("f8"), 0)
    last = len(batch.steps) - 1
    calls = [
        (kernels.gates.lstm_steps, [0, last], lstm(batch, (0, 1, 1), np.inf)[0]),
        (kernels.gates.lstm_steps_back, [0, last], lstm(batch, (0, 1, 1), np.inf)[1]),
        (kernels.gates.gru_steps, [0, last, 0], gru(batch, (0, 1), False)[0]),
        (kernels.gates.gru_steps_back, [0, last, 0], gru(batch, (0, 1), False)[1]),
    ]
    a, none = batch.array(batch.rows, 2), batch.none()
    calls.append((kernels.gates.simple_steps, [0, last], [none, none, 1, batch.none(2), a]))
    calls.append((kernels.gates.simple_steps_back, [0, last], [none, 1, a, a.copy(), a.copy(), batch.array(0, 2)]))
    for function, numbers, arguments in calls:
        for steps in (int64([0, 1, batch.rows]), int64([0, 2]), int64([]), int64([0, 2, 2, batch.rows])):
            with pytest.raises(ValueError, match="belong together"):
                function(steps, 0, max(len(steps) - 1, 0), *numbers[2:], *arguments)
        for first, stop in ((-1, last), (0, last + 1), (2, 1)):
            with pytest.raises(ValueError, match="belong together"):
                function(batch.steps, first, stop, *numbers[2:], *arguments)
        for at, array in enumerate(arguments):
            if isinstance(array, np.ndarray) and array.ndim == 2:
                other = np.zeros((batch.rows + 1, array.shape[1] + 1))
                with pytest.raises(ValueError, match="belong together"):
                    function(batch.steps, *numbers, *arguments[:at], other, *arguments[at + 1 :])
            elif isinstance(array, np.ndarray):
                with pytest.raises(ValueError, match="belong together"):
                    function(batch.steps, *numbers, *arguments[:at], np.zeros(5), *arguments[at + 1 :])
