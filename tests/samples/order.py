"""Samples of sorting positions."""

from reference.ops import order as oracle
from tests.samples import Samples
from tests.samples.sort import by, errors, sort_calls, tensors, texts

SAMPLES = {
    "sequence_argsort": Samples(
        sort_calls(tensors() | texts()),
        by(oracle.sequence_argsort, "descending"),
        None,
        errors("sequence_argsort"),
    ),
}
