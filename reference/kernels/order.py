"""Twin of lodcore/kernels/order.pyx."""

from numpy import errstate

WIDE_CHARACTER = 2**21 - 1


def _characters(x, r, first, size, unit):
    """List the characters of a text."""
    found = []
    for c in range(first, first + size, unit):
        if unit == 1:
            found.append(int(x[r, c]))
        else:
            found.append(int(x[r, c]) + 2**8 * int(x[r, c + 1]) + 2**16 * int(x[r, c + 2]) + 2**24 * int(x[r, c + 3]))
    return found


def prefix_keys(x, unit, out):
    """Compute a key from the first characters of each text, such that different keys have the order of the texts."""
    size = x.shape[1]
    if len(out) != len(x) or size % unit:
        raise ValueError("x, unit and out do not belong together")
    several = size > (8 if unit == 1 else 12)
    most, bits = (8, 8) if unit == 1 else (3, 21)
    for r in range(len(x)):
        characters, key, more = _characters(x, r, 0, size, unit), 0, True
        for c in range(most):
            character = characters[c] if more and c < len(characters) else 0
            if unit == 4 and character >= WIDE_CHARACTER:
                character, more, several = WIDE_CHARACTER, False, True
            key = key * 2**bits + character
        out[r] = key
    return several


def order_ties(x, unit, keys, offsets, descending, positions):
    """Sort the texts whose keys are equal, column by column, to complete a sort by keys."""
    width = keys.shape[1]
    if not len(x) == len(keys) == len(positions) == offsets[len(offsets) - 1] or positions.shape[1] != width:
        raise ValueError("x, unit, keys, offsets and positions do not belong together")
    if width and x.shape[1] % (width * unit):
        raise ValueError("x, unit, keys, offsets and positions do not belong together")
    size = x.shape[1] // width if width else 0
    for s in range(len(offsets) - 1):
        for r in range(offsets[s], offsets[s + 1]):
            for c in range(width):
                if not 0 <= positions[r, c] < offsets[s + 1] - offsets[s]:
                    raise ValueError("positions name no rows of their sequences")
    for s in range(len(offsets) - 1):
        for c in range(width):
            for r in range(offsets[s], offsets[s + 1]):
                k = r
                while k > offsets[s] and keys[k - 1, c] == keys[k, c]:
                    one = _characters(x, offsets[s] + positions[k - 1, c], c * size, size, unit)
                    other = _characters(x, offsets[s] + positions[k, c], c * size, size, unit)
                    if not (one < other if descending else one > other):
                        break
                    place = int(positions[k, c])
                    positions[k, c] = positions[k - 1, c]
                    positions[k - 1, c] = place
                    k -= 1


def take_cells(x, offsets, positions, out):
    """Gather cells by their positions within their sequences, column by column."""
    width = positions.shape[1]
    if not len(x) == len(positions) == len(out) == offsets[len(offsets) - 1] or out.shape[1] != x.shape[1]:
        raise ValueError("x, offsets, positions and out do not belong together")
    if width and x.shape[1] % width:
        raise ValueError("x, offsets, positions and out do not belong together")
    size = x.shape[1] // width if width else 0
    for s in range(len(offsets) - 1):
        for r in range(offsets[s], offsets[s + 1]):
            for c in range(width if size else 0):
                if not 0 <= positions[r, c] < offsets[s + 1] - offsets[s]:
                    return r
                for k in range(c * size, (c + 1) * size):
                    out[r, k] = x[offsets[s] + positions[r, c], k]
    return -1


def count_numbers(x, offsets, out):
    """Count the cells of each sequence that are not nan, column by column, where nan come last."""
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            out[s, c] = 0
            for r in range(offsets[s], offsets[s + 1]):
                out[s, c] += x[r, c] == x[r, c]


def mix_rows(x, offsets, low, weights, out):
    """Interpolate between two neighbouring cells of each sequence, column by column, `count` times."""
    if len(offsets) != len(out) + 1 or low.shape != out.shape or weights.shape != out.shape:
        raise ValueError("x, offsets, low, weights and out do not belong together")
    if len(x) != offsets[len(out)]:
        raise ValueError("x, offsets, low, weights and out do not belong together")
    for s in range(len(out)):
        for c in range(out.shape[1]):
            row, above = _neighbours(offsets, low, s, c)
            if row < 0:
                out[s, c] = 0 if x.dtype in ("int64", "uint64") else float("nan")
                continue
            one, other, weight = x[row, c % x.shape[1]], x[above, c % x.shape[1]], float(weights[s, c])
            if weight == 0 or one == other or (weight != 1 and x.dtype in ("int64", "uint64")):
                out[s, c] = one
            elif weight == 1:
                out[s, c] = other
            else:
                with errstate(all="ignore"):
                    one, other = float(one), float(other)
                    near = one + (other - one) * weight if weight < 0.5 else other - (other - one) * (1 - weight)
                    if other - one == float("inf"):
                        near = one * (1 - weight) + other * weight
                    out[s, c] = x.dtype.type(near)


def _neighbours(offsets, low, s, c):
    """Return the rows of two neighbours, -1 where there are none."""
    last = offsets[s + 1] - offsets[s] - 1
    if low[s, c] < 0 or last < 0:
        return -1, -1
    row = low[s, c] if low[s, c] < last else last
    return offsets[s] + row, offsets[s] + (row + 1 if row < last else last)


def spread_mixed(rows, offsets, low, weights, out):
    """Distribute each cotangent to its two neighbours, and zeros to all other cells: the adjoint of `mix_rows`."""
    if len(offsets) != len(rows) + 1 or low.shape != rows.shape or weights.shape != rows.shape:
        raise ValueError("rows, offsets, low, weights and out do not belong together")
    if len(out) != offsets[len(rows)]:
        raise ValueError("rows, offsets, low, weights and out do not belong together")
    for r in range(len(out)):
        for c in range(out.shape[1]):
            out[r, c] = 0
    for s in range(len(rows)):
        for c in range(rows.shape[1]):
            row, above = _neighbours(offsets, low, s, c)
            if row >= 0:
                d, weight = float(rows[s, c]), float(weights[s, c])
                with errstate(all="ignore"):
                    out[row, c % out.shape[1]] += out.dtype.type(d * (1 - weight))
                    out[above, c % out.shape[1]] += out.dtype.type(d * weight)


def fill_nan(x, value, out):
    """Replace each nan by a number."""
    if len(x) != len(out):
        raise ValueError("x and out do not belong together")
    for k in range(len(x)):
        out[k] = x[k] if x[k] == x[k] else value
