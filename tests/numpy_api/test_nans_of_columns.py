"""nanvar and nanstd of rows with several columns, each with nan in other rows, compared with NumPy."""

import warnings

import numpy as np

import lodcore
from lodcore import LoD, LoDTensor
from tests.helpers.tables import for_each

LOD = LoD.from_lengths([2, 0, 2], [3, 2, 6, 1])


@for_each(
    ("dtype", "shape", "ddof", "axis"),
    [(d, s, n, a) for d in ("f8", "f4") for s in [(3,), (2, 2), (0,)] for n in (0, 1, 1.5) for a in (2, (1, 2))],
)
def test_each_column_leaves_out_its_own_nan(dtype, shape, ddof, axis):
    random = np.random.default_rng(0)
    values = np.where(random.random((12, *shape)) < 0.4, np.nan, random.normal(5, 1, (12, *shape))).astype(dtype)
    x = LoDTensor(values, LOD)
    parts = np.split(values, [3, 5, 11] if axis == 2 else [5, 5])
    for function in (np.nanvar, np.nanstd):
        found = function(x, axis=axis, ddof=ddof)
        assert found.dtype == values.dtype
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = np.stack([function(part, axis=0, ddof=ddof) for part in parts])
        np.testing.assert_allclose(getattr(found, "values", found), wanted, rtol=1e-4 if dtype == "f4" else 1e-11)


def test_they_have_gradients_and_are_recorded():
    random = np.random.default_rng(1)
    values = np.where(random.random((12, 2)) < 0.3, np.nan, random.normal(5, 1, (12, 2)))
    x = LoDTensor(values, LOD)
    found, back = lodcore.vjp(lambda x: np.nanvar(x, axis=2), x)
    (d,) = back(found.with_values(np.ones((4, 2))))
    for start, stop in ((0, 3), (3, 5), (5, 11)):
        part = values[start:stop]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = 2 * (part - np.nanmean(part, axis=0)) / np.maximum((part == part).sum(0), 1)
        np.testing.assert_allclose(d.values[start:stop], np.nan_to_num(wanted), atol=1e-12)
    constant = LoDTensor(np.array([[1.0, 1], [1, np.nan]]), LoD.from_lengths([2]))
    found, back = lodcore.vjp(lambda x: np.nanstd(x, axis=1), constant)
    assert back(np.ones((1, 2)))[0].values.tolist() == [[0, 0], [0, 0]]
