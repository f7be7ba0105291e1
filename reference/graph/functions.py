"""The functions that programs call, by name: of numbers, NumPy arrays and nested batches."""

import numpy as np

from reference.graph import values
from reference.graph.values import Unsized, each, elements, rows

__all__ = ["FUNCTIONS"]


def elementwise(function):
    """Extend a function of arrays to batches."""
    return lambda *inputs: each(function, *inputs)


def total(x):
    """Sum all values."""
    return 0.0 if isinstance(x, Unsized) else np.sum(rows(x))


def one(index):
    """Convert an array of one integer to an integer."""
    return int(np.reshape(index, ()))


def sigmoid(x):
    """Compute the logistic function."""
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    **dict.fromkeys(["add", "+"], elementwise(np.add)),
    **dict.fromkeys(["minus", "-"], elementwise(np.subtract)),
    **dict.fromkeys(["mul", "*"], elementwise(np.multiply)),
    **dict.fromkeys(["matmul", "@"], elementwise(np.matmul)),
    "tanh": elementwise(np.tanh),
    "sigmoid": elementwise(sigmoid),
    "sum": total,
    "mean": lambda x: np.mean(rows(x)),
    "sum of rows": lambda x: np.sum(x, axis=0),
    "float": elementwise(lambda x: np.asarray(x, "float64")),
    "%": elementwise(np.remainder),
    "pool sum": lambda x: values.pool(lambda part: np.sum(part, axis=0), x),
    "pool mean": lambda x: values.pool(lambda part: np.mean(part, axis=0), x),
    "pool last": lambda x: values.pool(lambda part: part[-1], x),
    "reverse": values.reverse,
    "concat_batches": values.joined,
    **dict.fromkeys(["lengths", "lod_lengths"], lambda x: np.array(x.lengths(0), "int64")),
    "lengths of level": lambda x, level: np.array(x.lengths(level), "int64"),
    "first column": lambda x: x[:, 0],
    "element": lambda x, at: elements(x)[one(at)],
    **dict.fromkeys(["equal", "=="], np.equal),
    **dict.fromkeys(["greater_equal_than", ">="], np.greater_equal),
    **dict.fromkeys(["greater_than", ">"], np.greater),
    "less_than": np.less,
    "logical_or": np.logical_or,
    "logical_and": np.logical_and,
    "logical_not": np.logical_not,
    "lod_rank_table": lambda x: values.rank(x),
    "reorder_by_rank": values.reorder,
    "lengths in order": lambda made: np.array([made.lengths[at] for at in made.order], "int64"),
    "rank of steps": lambda steps: steps.rank,
    "boot": lambda steps, x: values.reorder(x, steps.rank),
    "shrink_memory": lambda x, step, made: values.shrink(x, one(step), made),
}
