"""Operands of different dtypes: the gradient of each has its own dtype, and the numbers of a wide computation."""

import numpy as np
import pytest

from lodcore import DTypeError
from lodcore.operators.registry import OPS
from lodcore.testing.samples import with_tensors
from tests.helpers.small_calls import calls, gradients, is_float
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # dtypes are chosen above the kernels

#: Operators whose operands must have one dtype.
OF_ONE_DTYPE = {"concat_batches", "sequence_concat", "merge_by_mask"}
#: Operators whose results have the numbers, and the dtype, of one operand.
MOVING = {"beam_search", "cartesian", "refuse_unlike", "spread", "with_values"}


@for_each(("name", "sample"), calls())
def test_one_narrow_operand_changes_its_own_gradient_only(name, sample):
    """All is computed as if it were wide; its gradient alone is rounded to its dtype."""
    op = OPS[name.split()[0]]
    floats, results, wanted = gradients(op, sample)
    for at in range(len(floats)):
        left = iter(range(len(floats)))
        mixed = with_tensors(sample, lambda x: x.astype("f4") if is_float(x) and next(left) == at else x)  # noqa: B023
        if name in OF_ONE_DTYPE:
            with pytest.raises(DTypeError, match="float"):
                op(*mixed.args, **mixed.kwargs)
            continue
        operands, rows, found = gradients(op, mixed)
        for one, other in zip(rows, results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, strict=name not in MOVING)
        for x, one, other in zip(operands, found, wanted, strict=True):
            if one is None:
                assert other is None
                continue
            one, other = (getattr(d, "values", d) for d in (one, other))
            assert one.dtype == x.dtype, at
            np.testing.assert_allclose(one, other, *[(1e-12, 1e-12), (1e-6, 1e-6)][x.dtype == np.float32])
