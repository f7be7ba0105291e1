"""Samples of quantiles."""

from lodcore import DTypeError, LevelError, ShapeError
from reference.ops import quantiles as oracle
from tests.helpers.agree import from_the_first
from tests.helpers.draw import composite, integers, sampled_from
from tests.samples import Samples, call
from tests.samples.common import batches, full_batches

METHODS = sorted(oracle.METHODS)
CHANCES = [0.5, 0, 1.0, 0.3, [0.1, 0.75], (0.25, 0.5, 0.5), []]


@composite
def quantile_calls(draw, drawn):
    x = draw(drawn)
    level = draw(integers(-x.num_levels, x.num_levels - 1))
    method = draw(sampled_from(METHODS if x.dtype.kind == "f" else ["linear", "weibull", "midpoint"]))
    q = draw(sampled_from(CHANCES))
    return draw(sampled_from([call(x, q), call(x, q, method, level), call(x, q, method, level, True)]))


def quantiles(arguments):
    """Compute `expected`."""
    x, given = arguments["x"], dict(arguments)
    given["level"] = from_the_first(given["level"], x.lod)
    del given["x"]
    return oracle.sequence_quantile(x.tolist(), **given, num_levels=x.num_levels, row_shape=x.values.shape[1:])


COSTS = """
lodcore.sequence_quantile(x, [0.1, 0.9])
"""
SAMPLES = {
    "sequence_quantile": Samples(
        quantile_calls(batches(["f8", "f4", "f2", "i8", "i4", "u1", "?"])),
        quantiles,
        quantile_calls(full_batches()),
        [
            ("sequence_quantile(flat, 0.5, level=1)", LevelError, "level: is 1; there is 1 level"),
            ("sequence_quantile(flat, 1.5)", ValueError, "q: is 1.5 at position 0; 0 .. 1"),
            ("sequence_quantile(flat, [0.5, np.nan])", ValueError, "q: is nan at position 1; 0 .. 1"),
            ("sequence_quantile(flat, 'a')", DTypeError, "q: has dtype <U1"),
            ("sequence_quantile(flat, [[0.5]])", ShapeError, r"q: has shape \(1, 1\)"),
            ("sequence_quantile(flat, [[0.5], 1])", ShapeError, "q: is nested unevenly"),
            ("sequence_quantile(flat, 0.5, 'best')", ValueError, "method: is 'best'; one of"),
            (
                "sequence_quantile(flat, 0.5, 'lower')",
                ValueError,
                "x: sequence 1 of level 0 is empty; int64 has no nan",
            ),
            ("sequence_quantile([['a']], 0.5)", DTypeError, "x: has dtype <U1"),
            ("sequence_quantile(rows, 0.5)", DTypeError, "x: .*ndarray"),
            ("sequence_quantile(wide, [0.5, 2.0, -1.0])", ValueError, "q: is 2.0 at position 1; 0 .. 1"),
            (
                "sequence_quantile(array([[[1], []], [[]]]), 0.5, 'lower')",
                ValueError,
                "sequence 1 of level 1 is empty; int64",
            ),
        ],
        exact=False,
    ),
}
