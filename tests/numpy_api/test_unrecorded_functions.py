"""Calls of NumPy's functions that compute at once only: a Variable in any place is refused."""

import re

import numpy as np
import pytest

from lodcore import LoDTensor, Program, data
from lodcore.operators.roles import spec_of

pytestmark = pytest.mark.not_on_reference  # no kernels

X = LoDTensor.from_lengths(np.arange(12.0).reshape(6, 2), [3, 3])
N = LoDTensor.from_lengths(np.arange(6), [3, 3])
#: The names in the message and the calls; `v` stands for a Variable of X, `n` for one of N.
CALLS = {
    "array_equal": ["np.array_equal(v, X)", "np.array_equal(X, v)"],
    "isclose": ["np.isclose(v, X)", "np.isclose(X, v)", "np.isclose(X, X, atol=v)"],
    "nan_to_num": ["np.nan_to_num(v)", "np.nan_to_num(X, nan=v)"],
    "real": ["np.real(v)"],
    "imag": ["np.imag(v)"],
    "angle": ["np.angle(v)"],
    "isneginf": ["np.isneginf(v)"],
    "isposinf": ["np.isposinf(v)"],
    "isin": ["np.isin(v, [1])", "np.isin(X, v)"],
    "sort": ["np.sort(v, axis=2)"],
    "argsort": ["np.argsort(v, axis=2)"],
    "unique": ["np.unique(v)"],
    "diff": ["np.diff(v, axis=2)", "np.diff(X, axis=2, append=v)", "np.diff(v, axis=1, prepend=0.0)"],
    "ediff1d": ["np.ediff1d(N, to_end=n)", "np.ediff1d(N, to_begin=n)"],
    "interp": ["np.interp(v, [0, 1], [0, 1])", "np.interp(N, d, [0.0, 1.0])", "np.interp(N, [0.0, 1.0], d)"],
    "searchsorted": ["np.searchsorted([0.0, 1.0], n)", "np.searchsorted(d, N)"],
    "squeeze": ["np.squeeze(v, 0)", "np.squeeze(v, 1)"],
    "transpose": ["np.transpose(v)", "np.swapaxes(v, 0, 1)", "np.moveaxis(v, 1, 0)"],
    "round": ["np.round(n, -1)"],
    "frexp": ["np.frexp(v)"],
    "modf": ["np.modf(v)"],
    "add": [
        "np.add(X, X, out=v)",
        "np.add(v, X, out=X)",
        "np.add(X, v, out=X)",
        "np.add(X, X, out=X, where=v)",
        "np.add(v, 1, dtype='f4')",
    ],
    "multiply.accumulate": ["np.multiply.accumulate(v, axis=2)"],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_variable_in_any_place_is_refused(name):
    before = X.copy()
    for call in CALLS[name]:
        with Program():
            names = {"v": data("v", spec_of(X)), "n": data("n", spec_of(N)), "d": data("d", (2,), "float64")}
            called = call.partition("(")[0].removeprefix("np.")
            says = rf"^numpy\.{re.escape(called)}: with these arguments it cannot be recorded; a Variable is given$"
            with pytest.raises(TypeError, match=says):
                eval(call, {"np": np, "X": X, "N": N, **names})
    assert X.equals(before)
