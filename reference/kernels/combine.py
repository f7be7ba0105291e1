"""Twin of lodcore/kernels/combine.pyx."""


def pair_ranges(offsets, gap, repeats, ranges, out):
    """List for each element those that follow it in its sequence; give the first sequence of too many, or -1."""
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
    """List for each element all elements of the other sequence; give the first sequence of too many, or -1."""
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


def take_turns(levels, out):
    """List the elements of joined sequences in turn, as places in the joined sequence."""
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
