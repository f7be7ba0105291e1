"""Functions that are made of operators, recorded."""

import numpy as np

from lodcore import LoDTensor, Spec
from lodcore.graph import Executor, Program, data


def assert_recorded(function, x):
    """Check that a function returns the same recorded with values, and in a Program without values."""
    eager = function(x)
    several = eager if isinstance(eager, tuple) else (eager,)
    with Program() as program:
        v = data("x", Spec((None, *x.values.shape[1:]), x.dtype, x.num_levels, LoDTensor))
        made = function(v)
    later = Executor().run(program, feed={"x": x}, fetch=list(made) if isinstance(made, tuple) else [made])
    for one, other in zip(several, later, strict=True):
        assert isinstance(one, np.generic) == isinstance(other, np.generic), (one, other)
        assert one.equals(other) if isinstance(one, LoDTensor) else np.array_equal(one, other)
