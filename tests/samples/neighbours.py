"""Samples of differences, shifts, windows, accumulation and moving averages."""

import numpy as np

from lodcore import DTypeError, LevelError, LoDTensor
from reference.ops import neighbours as oracle
from tests.helpers.agree import from_the_first
from tests.helpers.draw import composite, sampled_from
from tests.samples import Samples, call
from tests.samples.common import batches, level_of, smooth_batches
from tests.samples.sort import by, distinct, tensors, texts

NUMBERS = batches(["f8", "f4", "f2", "i8", "i2", "u1", "?"])


@composite
def diff_calls(draw, drawn):
    return draw(sampled_from([call(draw(drawn)), call(draw(drawn), draw(sampled_from([0, 1, 2, 5, 2**70])))]))


def differences(arguments):
    """Compute `expected` of `sequence_diff`."""
    x, n = arguments["x"], min(int(arguments["n"]), 60)

    def subtract(one, other):
        if x.dtype.kind == "b":
            return one != other
        with np.errstate(all="ignore"):
            return (np.array([one], x.dtype) - np.array([other], x.dtype))[0].item()

    return oracle.sequence_diff(x.tolist(), n, subtract, x.num_levels, x.values.shape[1:])


@composite
def shift_calls(draw, drawn):
    x, n = draw(drawn), draw(sampled_from([0, 1, -1, 2, -3, 2**70, -(2**70), np.int8(1)]))
    calls = [call(x), call(x, n), call(x, n, level=level_of(draw, x))]
    if x.dtype.kind in "iuf":
        calls.append(call(x, n, 3, level_of(draw, x)))
    return draw(sampled_from(calls))


def shifted(arguments):
    """Compute `expected` of `sequence_shift`."""
    x, fill, n = arguments["x"], arguments["fill"], int(arguments["n"])
    row = np.zeros(x.values.shape[1:], x.dtype)
    row[...] = fill if x.dtype.kind not in "SUMm" else "" if x.dtype.kind in "SU" else "NaT"
    return oracle.sequence_shift(x.tolist(), n, row.tolist(), from_the_first(arguments["level"], x.lod), x.num_levels)


@composite
def window_calls(draw, drawn):
    x = draw(drawn)
    return draw(sampled_from([call(x, 2), call(x, 1, 2), call(x, np.int8(3), 2), call(x, 2**70), call(x, 2, 2**70)]))


@composite
def accumulate_calls(draw, drawn, ufuncs=(np.maximum, np.minimum, np.add, np.multiply)):
    x = draw(drawn)
    return call(x, draw(sampled_from(ufuncs)), level_of(draw, x))


def accumulated(arguments):
    """Compute `expected` of `sequence_accumulate`, with the ufunc itself."""
    x, ufunc = arguments["x"], arguments["ufunc"]
    dtype = ufunc.accumulate(np.ones(2, x.dtype)).dtype

    def function(one, other):
        with np.errstate(all="ignore"):
            return ufunc(np.array([one], dtype), np.array([other], dtype))[0].item()

    level = from_the_first(arguments["level"], x.lod)
    source = LoDTensor(x.values.astype(dtype), x.lod).tolist()
    return oracle.sequence_accumulate(source, function, level, x.num_levels, x.values.shape[1:])


@composite
def average_calls(draw, drawn):
    x, alpha = draw(drawn), draw(sampled_from([0.5, 0.1, 1, np.float32(0.25)]))
    return draw(sampled_from([call(x, alpha), call(x, alpha, False), call(x, alpha, True, level_of(draw, x))]))


COSTS = """
lodcore.sequence_moving_average(x, 0.5)
lodcore.sequence_accumulate(x, np.maximum)
lodcore.sliding_window(x, 3)
"""
SAMPLES = {
    "sequence_diff": Samples(
        diff_calls(NUMBERS),
        differences,
        diff_calls(distinct()),
        [
            ("sequence_diff(flat, -1)", ValueError, "n: is -1; 0 or more"),
            ("sequence_diff(flat, 1.0)", DTypeError, "n: is 1.0"),
            ("sequence_diff([['a']])", DTypeError, "x: has dtype <U1"),
            ("sequence_diff(rows)", DTypeError, "x: .*ndarray"),
        ],
    ),
    "sequence_shift": Samples(
        shift_calls(tensors() | texts()),
        shifted,
        shift_calls(distinct()),
        [
            ("sequence_shift(flat, 1.0)", DTypeError, "n: is 1.0"),
            ("sequence_shift(flat, 1, 1.5)", DTypeError, "fill: is 1.5; int64 cannot hold it"),
            ("sequence_shift(wide.astype('f4'), 1, -1e39)", DTypeError, r"fill: is -1e\+39; float32 cannot hold it"),
            ("sequence_shift(flat, 1, 'a')", DTypeError, "fill: has dtype <U1"),
            ("sequence_shift(flat, 1, [1, 2])", DTypeError, r"fill: has shape \(2,\)"),
            ("sequence_shift(flat, level=1)", LevelError, "level: is 1; there is 1 level"),
            ("sequence_shift(rows)", DTypeError, "x: .*ndarray"),
            ("sequence_shift(wide, 1, [[1.0, 2.0]])", DTypeError, r"fill: has shape \(1, 2\)"),
            ("sequence_shift(wide, 1, [1.0])", DTypeError, r"fill: has shape \(1,\)"),
        ],
    ),
    "sliding_window": Samples(
        window_calls(tensors() | texts()),
        lambda a: oracle.sliding_window(a["x"].tolist(), int(a["size"]), int(a["step"]), a["x"].num_levels),
        window_calls(distinct()),
        [
            ("sliding_window(flat, 0)", ValueError, "size: is 0; 1 or more"),
            ("sliding_window(flat, 1, 0)", ValueError, "step: is 0; 1 or more"),
            ("sliding_window(flat, 1.5)", DTypeError, "size: is 1.5"),
            ("sliding_window(rows, 1)", DTypeError, "x: .*ndarray"),
        ],
    ),
    "sequence_accumulate": Samples(
        accumulate_calls(NUMBERS, (np.maximum, np.minimum, np.add, np.multiply, np.fmax, np.hypot, np.logical_or)),
        accumulated,
        accumulate_calls(distinct()),
        [
            ("sequence_accumulate(flat, np.sin)", DTypeError, "ufunc: is <ufunc 'sin'>"),
            ("sequence_accumulate(flat, max)", DTypeError, "ufunc: is <built-in"),
            (
                "sequence_accumulate(flat, np.frompyfunc(max, 2, 1))",
                DTypeError,
                "ufunc: makes dtype object; Python objects have no fixed size",
            ),
            ("sequence_accumulate(flat, np.divmod)", DTypeError, "ufunc: is <ufunc 'divmod'>"),
            ("sequence_accumulate([['a']], np.maximum)", DTypeError, "x: has dtype <U1"),
            ("sequence_accumulate(flat, np.maximum, 1)", LevelError, "level: is 1; there is 1 level"),
            ("sequence_accumulate(rows, np.maximum)", DTypeError, "x: .*ndarray"),
        ],
        exact=False,
    ),
    "sequence_moving_average": Samples(
        average_calls(NUMBERS),
        lambda arguments: by(oracle.sequence_moving_average, "alpha", "adjust")(
            {**arguments, "alpha": float(arguments["alpha"])}  # a number of float32 is exact, sums with it are not
        ),
        average_calls(smooth_batches()),
        [
            ("sequence_moving_average(flat, 0)", ValueError, "alpha: is 0; above 0"),
            ("sequence_moving_average(flat, 1.5)", ValueError, "alpha: is 1.5"),
            ("sequence_moving_average(flat, 'a')", DTypeError, "alpha: is 'a'"),
            ("sequence_moving_average([['a']], 0.5)", DTypeError, "x: has dtype <U1"),
            ("sequence_moving_average(flat, 0.5, level=1)", LevelError, "level: is 1; there is 1 level"),
            ("sequence_moving_average(flat, np.nan)", ValueError, "alpha: is nan; above 0"),
        ],
        exact=False,
    ),
}
