"""Levels of the products of sequences."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops
from tests.helpers.tables import for_each


@pytest.mark.not_on_reference
@for_each("dtype", ["i1", "u2", "f4", "f8", "c8", "c16"])
def test_vecdot_of_arrays_and_of_sequences_equals_numpy(dtype):
    x = (np.arange(6) + (2j if dtype[0] == "c" else 0)).astype(dtype)
    wanted = (
        np.vecdot(x.reshape(2, 3), x[::-1].reshape(2, 3))
        if hasattr(np, "vecdot")
        else ((np.conj(x) * x[::-1]).reshape(2, 3).sum(1, dtype=dtype))
    )
    for one, other in (
        (x.reshape(2, 3), x[::-1].reshape(2, 3)),
        (LoDTensor.from_lengths(y, [3, 3]) for y in (x, x[::-1])),
    ):
        found = ops.vecdot(one, other)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted)


@pytest.mark.not_on_reference
@for_each("flag", [True, np.True_, False, np.False_])
def test_sequence_matmul_in_a_program_knows_its_levels_for_any_flag(flag):
    with lodcore.Program():
        x, y = lodcore.data("x", (None, 2), num_levels=1), lodcore.data("y", (None,), num_levels=2)
        assert lodcore.sequence_matmul(x if flag else y, x, flag).num_levels == (2 if flag else 1)
