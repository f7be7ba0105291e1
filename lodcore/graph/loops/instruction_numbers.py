"""The numbers that `kernels.machine` has for kinds of operands, for instructions, and for what these met."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["AFTER", "BATCH", "BEFORE", "CODES", "EARLIER", "LINE", "ROW", "TILE", "is_told"]

#: The kinds of operands, and the instructions, in the order of the numbers that `kernels.machine` gives them.
TILE, ROW, BEFORE, AFTER, BATCH, EARLIER, LINE = range(7)
CODES = {
    code: number
    for number, code in enumerate(
        [
            *("move", "add", "sub", "mul", "div", "neg", "abs", "sqrt", "square"),
            *("greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "select", "expand"),
            *(
                "sigmoid",
                "logistic_back",
                "tanh_back",
                "add_three",
                "mul_add",
                "mul_sub",
                "sub_mul",
                "times_sub",
                "logistic_back_mul",
                "tanh_back_mul",
                "sum",
                "largest",
                "first",
                "ufunc",
                "product",
                "added",
                "call",
            ),
        ]
    )
}

#: The bits of floating-point exceptions, and the names that `numpy.errstate` has for them.
EXCEPTIONS = ((1, "divide"), (2, "over"), (4, "under"), (8, "invalid"))


def is_told(flags: int) -> bool:
    """Return whether NumPy would warn of a floating-point exception, or raise it."""
    wanted: dict[str, Any] = {**np.geterr()}
    return any(flags & bit and wanted[name] != "ignore" for bit, name in EXCEPTIONS)
