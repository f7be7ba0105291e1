"""No result or gradient contains what was in new memory before: it is the same if new memory is full of nan."""

import numpy as np
import pytest

from lodcore.operators.registry import OPS
from lodcore.testing.samples import bits
from tests.helpers.small_calls import calls, gradients
from tests.helpers.tables import for_each


def filled(make):
    """Return a function that makes arrays full of nan, or of the greatest number, as `np.empty` may."""

    def poisoned(*args, **options):
        made = make(*args, **options)
        if made.dtype.kind in "fc":
            made.fill(np.nan)
        elif made.dtype.kind in "iu":
            made.fill(np.iinfo(made.dtype).max)
        return made

    return poisoned


@for_each(("name", "sample"), calls())
def test_new_memory_is_written_before_it_is_read(name, sample):
    op = OPS[name.split()[0]]
    wanted = bits(gradients(op, sample)[1:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "empty", filled(np.empty))
        patch.setattr(np, "empty_like", filled(np.empty_like))
        assert bits(gradients(op, sample)[1:]) == wanted
