"""Products of matrices, softmax and loss of rows of numbers."""

from reference.ops.levels import at_level, sequences
from reference.reals import add_up, divide, exp, log

__all__ = ["cross_entropy", "product", "sequence_matmul", "softmax"]


def product(row, matrix):
    """Multiply a row by a matrix, or by a column."""
    if matrix and not isinstance(matrix[0], list):
        return add_up(a * b for a, b in zip(row, matrix, strict=True))
    width = len(matrix[0]) if matrix else 0
    return [add_up(row[k] * matrix[k][c] for k in range(len(row))) for c in range(width)]


def sequence_matmul(x, y, transpose_y, level, width):
    """Multiply the rows of x, sequence by sequence of a level, by those of y; both are pairs (levels, nested)."""
    following = iter(sequences(y[1], level))

    def multiplied(sequence):
        rows = sequences(next(following), y[0] - 1 - level)

        def row_of_products(row):
            if transpose_y:
                return [add_up(a * b for a, b in zip(row, other, strict=True)) for other in rows]
            return [add_up(a * other[c] for a, other in zip(row, rows, strict=True)) for c in range(width)]

        return at_level(row_of_products, sequence, x[0] - (1 if transpose_y else 2) - level)

    return at_level(multiplied, x[1], level)


def softmax(row):
    """Compute exp(x) / sum(exp(x)) of a row."""
    if not row:
        return []
    powers = [exp(x - max(row)) for x in row]
    return [divide(power, add_up(powers)) for power in powers]


def cross_entropy(row, label, label_smoothing=0.0):
    """Compute the loss of a row of logits; label smoothing distributes a part of the target over all classes."""
    logs = [log(x) for x in softmax(row)]
    if not label_smoothing:
        return -logs[label]
    return (label_smoothing - 1) * logs[label] - divide(label_smoothing, len(row)) * add_up(logs)
