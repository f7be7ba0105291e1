"""Rolling reductions, compared with NumPy window by window."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops
from tests.helpers.tables import for_each

LENGTHS = [3, 0, 1, 4]


def cut(values, lengths=LENGTHS):
    return np.split(values, np.cumsum(lengths)[:-1])


@pytest.mark.not_on_reference
@for_each(
    ("kind", "least", "ddof"),
    list(itertools.product(("sum", "mean", "max", "min", "var", "std", "median"), (None, 0, 1, 2, 3, 4), (0, 1, 2.5))),
)
def test_sequence_rolling_equals_numpy_for_each_window_min_periods_and_ddof(kind, least, ddof):
    values = np.cos(np.arange(8.0))
    found = lodcore.sequence_rolling(LoDTensor.from_lengths(values, LENGTHS), 3, kind, least, ddof).to_arrays()
    options = {"ddof": ddof} if kind in ("var", "std") else {}
    for one, part in zip(found, cut(values), strict=True):
        windows = [part[max(0, j - 2) : j + 1] for j in range(len(part))]
        with np.errstate(all="ignore"):
            wanted = [
                getattr(np, kind)(w, **options)
                if len(w) >= (3 if least is None else least) and len(w) > options.get("ddof", 0)
                else np.nan
                for w in windows
            ]
        np.testing.assert_allclose(one, wanted, rtol=1e-12, atol=1e-12)


ROLLING = ["sum", "mean", "max", "min", "var", "std", "median"]


@for_each(("kind", "number"), [(kind, number) for kind in ROLLING for number in (np.nan, np.inf)])
def test_sequence_rolling_gradient_of_rows_in_no_window_is_zero(kind, number):
    """The first sequence is shorter than a window, so that its numbers have no part in any result."""
    x = lodcore.array([[number], [1.0, 3.0, 2.0]])
    out, back = lodcore.vjp(lambda x: ops.sequence_rolling(x, 2, kind), x)
    found = back(np.ones(4))[0].values
    assert np.isnan(out.values).tolist() == [True, True, False, False]
    assert found[0] == 0
    assert np.isfinite(found).all()
