"""Gradients of undefined results, of too few rows or none: they are finite, and such results do not contribute."""

import numpy as np
import pytest

import lodcore
from lodcore import ops
from tests.helpers.tables import for_each

SHORT = lodcore.array([[1.0, 3.0, 2.0, 7.0], [4.0], [], [2.0, 2.0, 5.0], [6.0, 6.0]])
ROLLING = ["sum", "mean", "max", "min", "var", "std"]
CALLS = {
    **{
        f"rolling {kind} of {size}, at least {least}": lambda x, kind=kind, size=size, least=least: (
            ops.sequence_rolling(x, size, kind, min_periods=least)
        )
        for kind in ROLLING
        for size, least in [(3, None), (2, 2), (4, 2), (3, 3), (2, 1)]
    },
    **{
        f"{name}, ddof {ddof}": lambda x, name=name, ddof=ddof: getattr(ops, name)(x, ddof=ddof)
        for name in ("sequence_std", "sequence_var")
        for ddof in (0, 1, 2, 3)
    },
    **{f"pool {kind}": lambda x, kind=kind: ops.sequence_pool(x, kind, pad_value=np.nan) for kind in ("mean", "max")},
    "quantile": lambda x: ops.sequence_quantile(x, 0.3),
    "logsumexp": ops.sequence_logsumexp,
    "difference": ops.sequence_diff,
    "shift": lambda x: ops.sequence_shift(x, 2, np.nan),
}


@for_each("name", CALLS)
@pytest.mark.parametrize("width", [0, 2])
def test_gradients_are_finite_and_none_comes_from_where_no_value_is(name, width):
    call = CALLS[name]
    x = lodcore.LoDTensor(np.stack([SHORT.values, -SHORT.values], 1), SHORT.lod) if width else SHORT
    with np.errstate(all="ignore"):
        out, back = lodcore.vjp(call, x)
        rows = np.asarray(getattr(out, "values", out))
        all_ones, held = np.ones_like(rows), np.where(np.isfinite(rows), 1.0, 0.0)
        (found,), (wanted,) = back(all_ones), back(held)
    assert np.isfinite(found.values).all(), found
    np.testing.assert_array_equal(found.values, wanted.values)


@for_each(("kind", "number"), [(kind, number) for kind in ROLLING for number in (np.nan, np.inf)])
def test_what_no_window_holds_has_no_gradient(kind, number):
    """The first sequence is shorter than a window, so that its numbers have no part in any result."""
    x = lodcore.array([[number], [1.0, 3.0, 2.0]])
    out, back = lodcore.vjp(lambda x: ops.sequence_rolling(x, 2, kind), x)
    found = back(np.ones(4))[0].values
    assert np.isnan(out.values).tolist() == [True, True, False, False]
    assert found[0] == 0
    assert np.isfinite(found).all()
