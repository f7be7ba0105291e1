"""Twin of lodcore/kernels/position.pyx."""


def count_positions(outer, offsets, out):
    """Compute the offsets of the positions of each group from its greatest lengths."""
    out[0] = 0
    for g in range(len(outer) - 1):
        longest = 0
        for s in range(outer[g], outer[g + 1]):
            if offsets[s + 1] - offsets[s] > longest:
                longest = offsets[s + 1] - offsets[s]
        out[g + 1] = out[g] + longest


def count_elements(outer, offsets, positions, out):
    """Compute the offsets of the elements at each position: how many sequences of the group reach it."""
    out[0] = 0
    for g in range(len(outer) - 1):
        for t in range(positions[g + 1] - positions[g]):
            count = 0
            for s in range(outer[g], outer[g + 1]):
                if offsets[s + 1] - offsets[s] > t:
                    count += 1
            out[positions[g] + t + 1] = out[positions[g] + t] + count


def order_by_position(outer, offsets, positions, next_places, out):
    """List the numbers of all elements by position, and at each position by sequence."""
    for g in range(len(outer) - 1):
        for s in range(outer[g], outer[g + 1]):
            for t in range(offsets[s + 1] - offsets[s]):
                out[next_places[positions[g] + t]] = offsets[s] + t
                next_places[positions[g] + t] += 1


def add_positions(x, outer, offsets, positions, out):
    """Sum the rows at each position, one sequence after another. Integers wrap around."""
    for g in range(len(outer) - 1):
        for t in range(positions[g + 1] - positions[g]):
            for c in range(x.shape[1]):
                first = True
                for s in range(outer[g], outer[g + 1]):
                    if offsets[s + 1] - offsets[s] > t:
                        row = offsets[s] + t
                        out[positions[g] + t, c] = x[row, c] if first else _sum(x, out[positions[g] + t, c], x[row, c])
                        first = False


def _sum(x, before, number):
    """Add two numbers of the dtype of x."""
    if x.dtype == "int64":
        total = (int(before) + int(number)) % 2**64
        return total - 2**64 if total >= 2**63 else total
    return (int(before) + int(number)) % 2**64 if x.dtype == "uint64" else before + number


def best_positions(x, outer, offsets, positions, least, out, index):
    """Compute the maximum (or minimum) of each column at each position: nan wins, then the first of equal cells."""
    for g in range(len(outer) - 1):
        for t in range(positions[g + 1] - positions[g]):
            for c in range(x.shape[1]):
                best = -1
                for s in range(outer[g], outer[g + 1]):
                    row = offsets[s] + t
                    if offsets[s + 1] - offsets[s] > t and (best < 0 or _better(x[row, c], x[best, c], least)):
                        best = row
                out[positions[g] + t, c] = x[best, c]
                if len(index):
                    index[positions[g] + t, c] = best * x.shape[1] + c


def _better(number, before, least):
    """Return whether a number replaces the best one before."""
    if number != number:
        return before == before
    return number < before if least else number > before


def spread_positions(x, outer, offsets, positions, out):
    """Copy to each row the row of its position: the adjoint of `add_positions`."""
    for g in range(len(outer) - 1):
        for s in range(outer[g], outer[g + 1]):
            for t in range(offsets[s + 1] - offsets[s]):
                for c in range(x.shape[1]):
                    out[offsets[s] + t, c] = x[positions[g] + t, c]
