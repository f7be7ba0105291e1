"""Twin of lodcore/kernels/sort.pyx."""


def keep_first(offsets, k, out):
    """Compute the offsets of the rows that remain if each sequence keeps at most k."""
    if len(offsets) != len(out):
        raise ValueError("offsets and out have different shapes")
    out[0] = 0
    for s in range(len(offsets) - 1):
        length = offsets[s + 1] - offsets[s]
        out[s + 1] = out[s] + (length if length < k else k)


def sort_rows(x, offsets, kept, descending, out, positions):
    """Sort each column of each sequence, and keep the first cells."""
    n_seqs, width = len(offsets) - 1, x.shape[1]
    if len(x) != offsets[n_seqs] or len(out) != kept[n_seqs]:
        raise ValueError("cells are needed as C-contiguous rows, as many as the offsets say")
    same = len(kept) == len(offsets) and out.shape[1] == width and out.dtype == x.dtype
    if not same or (positions is not None and positions.shape != out.shape):
        raise ValueError("x, offsets, kept, out and positions do not belong together")
    for s in range(n_seqs):
        for c in range(width):
            for r in range(offsets[s], offsets[s + 1]):
                place = kept[s]
                for other in range(offsets[s], offsets[s + 1]):
                    if _comes_first(x[other, c], other, x[r, c], r, descending):
                        place += 1
                if place < kept[s + 1]:
                    out[place, c] = x[r, c]
                    if positions is not None:
                        positions[place, c] = r - offsets[s]


def _comes_first(cell, row, other, other_row, descending):
    """Return whether a cell comes before another one; nan is the greatest, and equal cells keep their order."""
    if cell == other or (cell != cell and other != other):
        return row < other_row
    greater = cell != cell or (other == other and cell > other)
    return greater if descending else not greater


def place_cells(cells, offsets, kept, positions, out):
    """Scatter cells to the rows from which `sort_rows` took them, and write zeros elsewhere: its adjoint."""
    n_seqs, width = len(offsets) - 1, out.shape[1]
    if len(out) != offsets[n_seqs] or len(cells) != kept[n_seqs]:
        raise ValueError("cells are needed as C-contiguous rows, as many as the offsets say")
    if (
        len(kept) != len(offsets)
        or cells.shape[1] != width
        or out.dtype != cells.dtype
        or positions.shape != cells.shape
    ):
        raise ValueError("cells, offsets, kept, positions and out do not belong together")
    for r in range(len(out)):
        for c in range(width):
            out[r, c] = 0
    for s in range(n_seqs):
        for r in range(kept[s], kept[s + 1]):
            for c in range(width):
                if not 0 <= positions[r, c] < offsets[s + 1] - offsets[s]:
                    return r
                out[offsets[s] + positions[r, c], c] = cells[r, c]
    return -1
