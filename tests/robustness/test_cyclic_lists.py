"""Lists that contain themselves, or are nested very deeply, are refused by every function that takes lists."""

import pytest

from tests.robustness.programs import survives

pytestmark = pytest.mark.not_on_reference  # only compiled code can crash


def test_a_list_that_contains_itself_is_refused_beside_a_variable():
    survives("""
from lodcore.graph import Executor, Program, map_fn
from lodcore.operators.registry import OPS
v, x = lodcore.Variable(np.ones(3)), lodcore.array([[1.0, 2.0], [3.0]])
own, deep, both = [], [], []
own.append(own)
both += [both, both]
for _ in range(100_000):
    deep = [deep]

def refused(call, text=None):
    try:
        call()
    except (ValueError, TypeError, IndexError, RuntimeError, AttributeError) as error:
        assert text is None or text in str(error), error
        assert len(str(error)) < 2000

for bad in (own, deep, both):
    refused(lambda: lodcore.add(v, bad), "add: an argument is a list nested more than 64 deep; does it contain itself?")
    refused(lambda: lodcore.concat_batches([v, bad]), "concat_batches: an argument is a list nested more than 64 deep")
for name, op in OPS.items():
    for bad in (own, deep):
        refused(lambda: op(v, bad))
        refused(lambda: op([v, bad]))
        refused(lambda: op(x, bad))
        refused(lambda: vjp(lambda a: op(a, bad), x))
        refused(lambda: vjp(lambda a: op([a, bad]), x))
for bad in (own, deep):
    for call in (lodcore.array, TensorArray, LoD.from_lengths, lodcore.tree_leaves, repr, lodcore.from_arrow):
        refused(lambda: call(bad))
    refused(lambda: vjp(lambda a: a, bad))
    refused(lambda: map_fn(lambda a: bad, np.ones(3)))
    refused(lambda: lodcore.save("unused.npz", bad))
    refused(lambda: x[bad])
    refused(lambda: lodcore.testing.assert_equal(x, bad))
""")
