"""Twin of lodcore/kernels/combine.pyx."""


def pair_ranges(offsets, gap, repeats, ranges, out):
    """List for each element its partners: the elements that follow it in its sequence."""
    repeats[0] = out[0] = total = 0
    for s in range(len(offsets) - 1):
        stop = int(offsets[s + 1])
        for e in range(offsets[s], stop):
            total += stop - e - gap
            if total >= 2**63:
                return s
            ranges[e, 0], ranges[e, 1] = e + gap, stop
            repeats[e + 1] = total
        out[s + 1] = total
    return -1


def product_ranges(offsets, others, repeats, ranges, out):
    """List for each element of a sequence s its partners: all elements of the other sequence s."""
    repeats[0] = out[0] = total = 0
    for s in range(len(offsets) - 1):
        for e in range(offsets[s], offsets[s + 1]):
            total += int(others[s + 1]) - int(others[s])
            if total >= 2**63:
                return s
            ranges[e, 0], ranges[e, 1] = others[s], others[s + 1]
            repeats[e + 1] = total
        out[s + 1] = total
    return -1


def _combinations(length, n, again, first=0):
    """List the combinations of n of the positions from the first on, as lists."""
    if n == 0:
        return [[]]
    found = []
    for place in range(first, length):
        for rest in _combinations(length, n - 1, again, place + 1 - again):
            found.append([place, *rest])
    return found


def combination_offsets(offsets, n, again, out):
    """Count the combinations of n elements of each sequence, and compute their offsets."""
    out[0] = total = 0
    for s in range(len(offsets) - 1):
        length = int(offsets[s + 1] - offsets[s])
        size = 1 if length else 0
        for i in range(n):
            size = size * (length + (n - 1) * again - i) // (i + 1) if length + (n - 1) * again >= n else 0
        total += size
        if total >= 2**63:
            return s
        out[s + 1] = total
    return -1


def list_combinations(offsets, n, again, column, counted, chosen, out):
    """List one element of each combination of n elements of a sequence, in lexicographic order."""
    place = 0
    for s in range(len(offsets) - 1):
        for one in _combinations(int(offsets[s + 1] - offsets[s]), n, again):
            out[place] = one[column] + (offsets[s] if counted else 0)
            place += 1


def take_turns(levels, out):
    """List the elements of joined sequences in turn: the first element of each part, then the second of each."""
    if len(levels) == 0 or len(out) == 0:
        return
    place = 0
    for s in range(len(levels[0]) - 1):
        left, turn = 0, 0
        for offsets in levels:
            left += offsets[s + 1] - offsets[s]
        while left > 0:
            before = 0
            for offsets in levels:
                size = offsets[s + 1] - offsets[s]
                if turn < size:
                    out[place] = before + turn
                    place += 1
                    left -= 1
                before += size
            turn += 1
