"""Programs of instructions: their codes, numbers to run them on, and a run on copies of the arrays."""

import numpy as np

from tests.helpers.against_twin import GARBAGE, MARGIN, guarded

TILE, ROW, BEFORE, AFTER, BATCH, EARLIER, LINE = range(7)
CODES = ["move", "add", "sub", "mul", "div", "neg", "abs", "sqrt", "square"]
CODES += ["greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "select", "expand"]
CODES += ["sigmoid", "logistic_back", "tanh_back", "add_three"]
CODES += ["mul_add", "mul_sub", "sub_mul", "times_sub", "logistic_back_mul", "tanh_back_mul"]
CODES += ["sum", "largest", "first", "ufunc"]
CODES += ["product", "added", "call"]
CODE = {name: number for number, name in enumerate(CODES)}
ONE = ["move", "neg", "abs", "square", "sigmoid", "sqrt"]
TWO = ["add", "sub", "mul", "div", "logistic_back", "tanh_back"]
TWO += ["greater", "greater_equal", "less", "less_equal", "equal", "not_equal"]
THREE = ["select", "add_three", "mul_add", "mul_sub", "sub_mul", "times_sub", "logistic_back_mul", "tanh_back_mul"]
ORDINARY = [0.5, -1.25, 3, -2, 1, 0, -0.0, 0.1]
EXTREME = [np.inf, -np.inf, np.nan, 1e38, -1e-38, 1e-45]


def run(kernel, arguments):
    """Run a kernel on copies of the arrays that it writes; return what it returns, and these arrays."""
    arrays, *rest = arguments
    copies = [guarded(one) if one.flags.writeable else (None, one) for one in arrays]
    met = kernel([copy for _, copy in copies], *rest)
    for buffer, _ in copies:
        if buffer is not None:
            edges = (buffer[:MARGIN], buffer[len(buffer) - MARGIN :])
            assert all((edge == GARBAGE).all() for edge in edges), "it writes beside its arrays"
    return met, [copy for buffer, copy in copies if buffer is not None]


def one_nan(array):
    """Return an array with the same bits for every nan."""
    return np.where(np.isnan(array), array.dtype.type(np.nan), array)


def with_changes(given, changes):
    """Return the arguments of a program; a change is a new argument, or a dict of new items at their places."""
    for name, change in changes.items():
        if isinstance(change, dict):
            table = given[name] if isinstance(given[name], list) else given[name].copy()
            for place, value in change.items():
                table[place] = value
            given[name] = table
        else:
            given[name] = change
    return list(given.values())


def changed(name, place, value):
    """Return a change of one item of an argument."""
    return {name: {place: value}}
