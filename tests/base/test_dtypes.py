"""What is no dtype of NumPy is refused in the same way everywhere."""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, Program, data, nn
from lodcore.base.dtypes import as_dtype
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference
X = lodcore.array([[1, 2], [3]])
WRONG = ["08", "f4,08", "i4,(", ",", "f99", "", 8, [("a", "08")], ["a"], {"names": 1}, ("i4",)]


def declared(dtype):
    with Program():
        return data("x", (None, 2), dtype=dtype)


def declared_by_spec(dtype):
    with Program():
        return data("x", lodcore.Spec((None, 2), dtype))


CALLS = {
    "array": lambda dtype: lodcore.array([[1]], dtype=dtype),
    "astype": X.astype,
    "concatenate": lambda dtype: np.concatenate([X, X], dtype=dtype),
    "decode_utf8": lambda dtype: lodcore.decode_utf8(lodcore.encode_utf8(["a"]), dtype),
    "Vocabulary.decode": lambda dtype: lodcore.Vocabulary(["a"]).decode([[0]], dtype),
    "data": declared,
    "Spec": declared_by_spec,
    "parameters": lambda dtype: nn.LSTM(2, 2).init(np.random.default_rng(0), dtype=dtype),
    "of": lambda dtype: as_dtype("of", dtype),
}


@for_each(("name", "call"), CALLS.items())
def test_functions_with_a_dtype_refuse_other_objects(name, call):
    for dtype in WRONG:
        with pytest.raises(DTypeError):
            call(dtype)


@for_each(
    ("times", "dtype"),
    [
        (np.array(["2024-01-02T12:30", "1901-01-01T01:00", "NaT"], "M8[ns]"), "M8[D]"),
        (np.array(["2024-01-02", "1901-03-01", "NaT"], "M8[D]"), "M8[Y]"),
        (np.array([61, -61, 0], "m8[s]"), "m8[m]"),
        (np.array([61, -61, 0], "m8[10s]"), "m8[15s]"),
        (np.array(["2024-01-02"], "M8[D]"), "M8[ns]"),
    ],
)
def test_dates_are_rounded_down_to_a_coarser_unit_as_in_numpy(times, dtype):
    found = lodcore.LoDTensor.from_lengths(times, [len(times)]).astype(dtype)
    np.testing.assert_array_equal(found.values, times.astype(dtype))
    assert found.dtype == dtype
