"""The numbers that `kernels.machine` has for kinds of operands, and for instructions."""

__all__ = ["AFTER", "BATCH", "BEFORE", "CODES", "EARLIER", "LINE", "ROW", "TILE"]

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
