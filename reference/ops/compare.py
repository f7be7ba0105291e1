"""Comparisons and logic of two numbers."""

import operator

__all__ = ["COMPARE", "LOGIC"]

COMPARE = {
    "less_than": operator.lt,
    "less_equal_than": operator.le,
    "greater_than": operator.gt,
    "greater_equal_than": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}

LOGIC = {
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_not": lambda a: not a,
}
