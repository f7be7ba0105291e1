"""Twin of lodcore/kernels/doors.pyx."""


def copy_offsets(offsets, first, out):
    """Copy offsets so that they begin at 0; give the first one that is negative or falls, or -1."""
    first[0] = offsets[0]
    for s in range(len(offsets)):
        if offsets[s] < 0 or (s > 0 and offsets[s] < offsets[s - 1]):
            return s
        out[s] = int(offsets[s]) - int(offsets[0])
    return -1


def first_fall(offsets, before):
    """Return the first offset that is negative or below the one before, or -1."""
    for s in range(len(offsets)):
        if offsets[s] < 0 or offsets[s] < (offsets[s - 1] if s else before):
            return s
    return -1


def checksum(data, before):
    """Sum up words of 8 bytes, each times a power of a number that grows with what follows it."""
    total = before
    for w in range(len(data) // 8):
        word = 0
        for b in range(8):
            word += int(data[8 * w + b]) * 256**b
        total = (total * 0x9E3779B97F4A7C15 + word) % 2**64
    return total
