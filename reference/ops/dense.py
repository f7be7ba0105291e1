"""Products of matrices, softmax and loss of rows of numbers."""

from reference.reals import add_up, divide, exp, log

__all__ = ["cross_entropy", "product", "softmax"]


def product(row, matrix):
    """Multiply a row with a matrix, or with a column."""
    if matrix and not isinstance(matrix[0], list):
        return add_up(a * b for a, b in zip(row, matrix, strict=True))
    width = len(matrix[0]) if matrix else 0
    return [add_up(row[k] * matrix[k][c] for k in range(len(row))) for c in range(width)]


def softmax(row):
    """Compute exp(x) / sum(exp(x)) of a row."""
    if not row:
        return []
    powers = [exp(x - max(row)) for x in row]
    return [divide(power, add_up(powers)) for power in powers]


def cross_entropy(row, label):
    """Compute the loss of a row of logits."""
    return -log(softmax(row)[label])
