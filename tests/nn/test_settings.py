"""The numbers that layers, optimizers and decoders take: which ones are refused, and where the limits are."""

import math

import numpy as np
import pytest

from lodcore import DTypeError, nn, ops

RNG = np.random.default_rng(0)
HALF = np.array([0.5, 1.5])


def step(tokens, state):
    return np.zeros((len(tokens), 5)), state


#: What is called, and numbers that it takes and refuses, besides nan, bools and text, which are refused everywhere.
NUMBERS = {
    "clip of LSTM": (lambda v: nn.LSTM(2, 3, clip=v), [1e-9, 2, math.inf], [0, 0.0, -1]),
    "rate of SGD": (lambda v: nn.SGD(v), [0, 2, math.inf], [-1e-9, -1]),
    "momentum of SGD": (lambda v: nn.SGD(0.1, momentum=v), [0, 0.999, 1], [1.001, -0.1, math.inf]),
    "decay of SGD": (lambda v: nn.SGD(0.1, weight_decay=v), [0, 2], [-1e-9]),
    "rate of Adam": (lambda v: nn.Adam(v), [0, 2], [-1e-9]),
    "first beta": (lambda v: nn.Adam(0.1, betas=(v, 0.9)), [0, 0.999], [1, 2, -0.1, math.inf]),
    "second beta": (lambda v: nn.Adam(0.1, betas=(0.9, v)), [0, 0.999], [1, 2, -0.1, math.inf]),
    "eps of Adam": (lambda v: nn.Adam(0.1, eps=v), [0, 1e-3], [-1e-9]),
    "decay of AdamW": (lambda v: nn.AdamW(0.1, weight_decay=v), [0, 2], [-1e-9]),
    "global norm": (lambda v: nn.clip_by_global_norm({"a": HALF}, v), [1e-9, math.inf], [0, -1]),
    "dropout": (lambda v: nn.dropout(HALF, v, RNG), [0, 0.999], [1.001, -0.1, math.inf]),
    "label smoothing": (
        lambda v: ops.cross_entropy(np.ones((2, 3)), np.array([0, 1]), label_smoothing=v),
        [0, 0.999],
        [1.001, -0.1, math.inf],
    ),
    "eps of layer norm": (lambda v: nn.LayerNorm(3, eps=v), [0, 1e-3], [-1e-9]),
    "length penalty": (lambda v: decoder(length_penalty=v), [-1, 0, 2], [math.inf, -math.inf]),
    "temperature": (lambda v: decoder(temperature=v), [1e-3, 2], [0, -1, math.inf]),
    "share of tokens": (lambda v: decoder(top_p=v), [1e-3, 1], [0, -1, 1.001, math.inf]),
    "number of tokens": (lambda v: decoder(top_k=v), [1, 2], [0, -1]),
}


def decoder(**options):
    return nn.BeamSearchDecoder(step, 2, 0, 1, 5, **options)


@pytest.mark.parametrize("name", NUMBERS)
def test_settings_of_nn_take_numbers_within_their_limits_and_refuse_others(name):
    call, taken, refused = NUMBERS[name]
    for number in taken:
        call(number)
    for number in refused:
        with pytest.raises(ValueError, match=r"is .*"):
            call(number)
    for wrong in (math.nan, np.float64("nan"), np.float32("nan"), True, "a", [1]):
        with pytest.raises((ValueError, DTypeError)):
            call(wrong)
