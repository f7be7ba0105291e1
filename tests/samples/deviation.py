"""Samples of variances and standard deviations."""

from lodcore import DTypeError, LevelError
from reference.ops import deviation as oracle
from tests.helpers.draw import composite, integers, sampled_from
from tests.samples import Samples, call
from tests.samples.common import batches, full_batches
from tests.samples.sort import by


@composite
def calls(draw, drawn, ddofs=(0, 1, 0.5, -1)):
    x = draw(drawn)
    ddof, level = draw(sampled_from(ddofs)), draw(integers(-x.num_levels, x.num_levels - 1))
    return draw(sampled_from([call(x), call(x, ddof), call(x, ddof, level)]))


def errors(name):
    """List the wrong calls that both operators share."""
    return [
        (f"{name}(flat, level=1)", LevelError, "level: is 1; there is 1 level"),
        (f"{name}(flat, 'a')", DTypeError, "ddof: is 'a'; a number"),
        (f"{name}(flat, True)", DTypeError, "ddof: is True; a number"),
        (f"{name}([['a']])", DTypeError, "x: has dtype <U1"),
        (f"{name}(LoDTensor(np.zeros(5, complex), flat.lod))", DTypeError, "x: has dtype complex128"),
        (f"{name}(rows)", DTypeError, "x: .*ndarray"),
    ]


NUMBERS = batches(["f8", "f4", "i8", "u1", "?"])
SAMPLES = {
    "sequence_var": Samples(
        calls(NUMBERS),
        by(oracle.sequence_var, "ddof"),
        calls(full_batches([(), (2,)]), [0, -1]),
        errors("sequence_var"),
        exact=False,
    ),
    "sequence_std": Samples(
        calls(NUMBERS),
        by(oracle.sequence_std, "ddof"),
        calls(full_batches([(), (2,)]), [0, -1]),
        errors("sequence_std"),
        exact=False,
    ),
}
