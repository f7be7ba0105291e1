"""New memory that holds what it may: nan, and the greatest integers."""

from contextlib import contextmanager

import numpy as np
import pytest


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


@contextmanager
def new_memory_holds_anything():
    """Let `np.empty` and `np.empty_like` return what nobody should read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "empty", filled(np.empty))
        patch.setattr(np, "empty_like", filled(np.empty_like))
        yield
