"""Every operator where functions have kinks: at negative numbers, zeros of both signs, ties, nan and infinities.

Results and gradients are compared with those of the oracle; its gradient is computed by its own code, run on numbers
that carry their derivatives.
"""

import numpy as np
import pytest

from reference.case import drawn
from reference.cases import OPERATORS
from reference.draw import FLAVOURS, Seeded
from reference.read_cases import hold
from tests.helpers.run_cases import as_file, run

SEEDS = range(6)
#: Operators for which the oracle's result for numbers that are not finite differs, and why that is acceptable.
WEIGHTS = "a state of zeros is not multiplied with weights, so nan and infinities in them do no harm"
ORDER = "products of infinities and zeros depend on the order in which they are computed"
UNLIKE = {
    "kinks": {},
    "kinks and nan": {
        **dict.fromkeys(["dynamic_gru", "dynamic_lstm", "gru_layer", "lstm_layer", "simple_layer"], WEIGHTS),
        "cast": "nan is no integer",
        "sequence_conv": ORDER,
        "sequence_searchsorted": "rows with nan in any place are in no order",
    },
    "kinks and infinities": {
        **dict.fromkeys(["dynamic_gru", "dynamic_lstm", "gru_layer", "lstm_layer", "simple_layer"], WEIGHTS),
        **dict.fromkeys(["layer_norm", "sequence_accumulate", "sequence_conv", "sequence_var"], ORDER),
        "cast": "infinities are not integers",
        "cross_entropy": "the oracle takes the logarithm of 0, whose derivative is infinite",
    },
}


class AtKinks(Seeded):
    """Choices that a seed determines, of numbers of one flavour."""

    def __init__(self, seed, flavour):
        super().__init__(seed)
        self.flavour = flavour

    def choice(self, options):
        options = list(options)
        named = all(isinstance(option, str) and option in FLAVOURS for option in options)
        return self.flavour if named and options != ["cotangent"] else super().choice(options)


@pytest.mark.twins
@pytest.mark.parametrize(
    ("flavour", "name"),
    [(flavour, name) for flavour, unlike in UNLIKE.items() for name in sorted(OPERATORS.keys() - unlike.keys())],
)
def test_operators_and_gradients_at_kinks_equal_the_oracle(flavour, name):
    with np.errstate(all="ignore"):
        hold(as_file([drawn(OPERATORS[name], AtKinks(seed, flavour)) for seed in SEEDS]), run)
