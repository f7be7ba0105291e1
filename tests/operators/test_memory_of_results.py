"""Memory of results: written before it is read, and never that of an input."""

import numpy as np
import pytest

import lodcore
from lodcore import ops
from lodcore.operators.registry import OPS
from lodcore.testing.samples import bits
from tests.helpers.new_memory import new_memory_holds_anything
from tests.helpers.small_calls import calls, gradients
from tests.helpers.tables import for_each

IDENTITIES = {
    "diff": lambda x: lodcore.sequence_diff(x, 0),
    "shift": lambda x: lodcore.sequence_shift(x, 0),
    "conv": lambda x: lodcore.sequence_conv(x, [[1.0]], 1),
    "row conv": lambda x: lodcore.row_conv(x, [1.0]),
    "gather": lambda x: lodcore.gather_sequences(x, range(len(x))),
    "sort": lambda x: lodcore.sequence_sort(x),
    "rolling": lambda x: lodcore.sequence_rolling(x, 1, "sum"),
    "fill": lambda x: ops.fill_nan(x),
    "spread": lambda x: ops.spread(x, 0),
    "windows": lambda x: lodcore.sliding_window(x, 1),
    "runs": lambda x: lodcore.run_lengths(x)[0],
    "repeat": lambda x: lodcore.repeat_runs(x, x.with_values(np.ones(x.num_rows, int))),
    "average": lambda x: lodcore.sequence_moving_average(x, 1),
    "unique": lambda x: lodcore.sequence_unique(x),
    "split": lambda x: lodcore.split_by_mask(x, True)[0],
    "merge": lambda x: lodcore.merge_by_mask(x, x[:0], [True] * len(x)),
    "scatter": lambda x: lodcore.sequence_scatter(x.values[:, None], [[]] * x.num_rows, 1.0),
    "steps": lambda x: lodcore.tensor_array_pack(*(lambda s, m: (s, 0, m))(*lodcore.tensor_array_unpack(x, 0))),
    "positions": lambda x: ops.by_position(x, 0),
    "elementwise": lambda x: ops.elementwise((x,), np.positive),
}


@pytest.mark.not_on_reference
@for_each("name", IDENTITIES)
def test_identities_share_no_memory_with_their_input(name):
    x = lodcore.array([[1.0, 2.0], [3.0]])
    found = IDENTITIES[name](x)
    np.asarray(getattr(found, "values", found))[...] = 9
    assert x.tolist() == [[1.0, 2.0], [3.0]]


@for_each(("name", "sample"), calls())
def test_results_and_gradients_do_not_depend_on_uninitialized_memory(name, sample):
    op = OPS[name.split()[0]]
    wanted = bits(gradients(op, sample)[1:])
    with new_memory_holds_anything():
        assert bits(gradients(op, sample)[1:]) == wanted
