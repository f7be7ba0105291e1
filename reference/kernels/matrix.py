"""Twin of lodcore/kernels/matrix.pyx, without fused multiply-adds."""

from numpy import errstate


def is_fast():
    """Return whether these products are compiled for the processor in use; if not, those of NumPy are faster."""
    return False


def is_zero(matrix):
    """Return whether all cells of a matrix are zero."""
    return all(cell == 0 for row in matrix for cell in row)


def pack_columns(matrix, transposed, out):
    """Pack a matrix."""
    depth, columns = (matrix.shape[1], matrix.shape[0]) if transposed else (matrix.shape[0], matrix.shape[1])
    cells = 128 // matrix.itemsize
    if len(out) != _panels(columns, cells) * cells * depth or not _in_lines(matrix):
        raise ValueError("matrix and out do not belong together")
    at = 0
    for panel in range(_panels(columns, cells)):
        for k in range(depth):
            for c in range(panel * cells, (panel + 1) * cells):
                out[at] = 0 if c >= columns else matrix[c, k] if transposed else matrix[k, c]
                at += 1


@errstate(all="ignore")
def multiply_packed(left, packed, adding, out):
    """Multiply rows by a packed matrix."""
    depth, columns, cells = left.shape[1], out.shape[1], 128 // left.itemsize
    fit = len(packed) == _panels(columns, cells) * cells * depth and len(out) == len(left)
    if not fit or not _in_lines(left) or not _in_lines(out):
        raise ValueError("left, packed and out do not belong together")
    for r in range(len(left)):
        for c in range(columns):
            total = out[r, c] if adding else left.dtype.type(0)
            for k in range(depth):
                total += left[r, k] * packed[(c // cells * depth + k) * cells + c % cells]
            out[r, c] = total


@errstate(all="ignore")
def multiply_pairs(left, left_index, right, right_index, adding, out):
    """Multiply the columns of two matrices over pairs of rows."""
    pairs = len(left) if left_index is None else len(left_index)
    fit = pairs == (len(right) if right_index is None else len(right_index)) and left.shape[1] == out.shape[0]
    if not fit or right.shape[1] != out.shape[1] or not all(_in_lines(x) for x in (left, right, out)):
        raise ValueError("left, right and out do not belong together")
    for index, rows in ((left_index, left), (right_index, right)):
        if index is not None and any(not 0 <= r < len(rows) for r in index):
            raise ValueError("an index leaves the rows")
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            total = out[r, c] if adding else left.dtype.type(0)
            for k in range(pairs):
                i = k if left_index is None else left_index[k]
                j = k if right_index is None else right_index[k]
                total += left[i, r] * right[j, c]
            out[r, c] = total


def _panels(columns, cells):
    """Return the number of panels for some columns."""
    return (columns + cells - 1) // cells


def _in_lines(matrix):
    """Return whether the cells of each row are contiguous."""
    return True
