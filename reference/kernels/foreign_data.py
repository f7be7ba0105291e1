"""Twin of lodcore/kernels/foreign_data.pyx."""


def copy_offsets(offsets, first, out):
    """Copy offsets that start anywhere, shifted so that they start at 0; return the first invalid position, or -1."""
    first[0] = offsets[0]
    for s in range(len(offsets)):
        if offsets[s] < 0 or (s > 0 and offsets[s] < offsets[s - 1]):
            return s
        out[s] = int(offsets[s]) - int(offsets[0])
    return -1


def first_fall(offsets, before):
    """Check a part of the offsets of one level."""
    for s in range(len(offsets)):
        if offsets[s] < 0 or offsets[s] < (offsets[s - 1] if s else before):
            return s
    return -1


def checksum(data, before):
    """Compute a checksum of words of 8 bytes (little-endian) that every change of a single word alters."""
    total = before
    for w in range(len(data) // 8):
        word = 0
        for b in range(8):
            word += int(data[8 * w + b]) * 256**b
        total = (total * 0x9E3779B97F4A7C15 + word) % 2**64
    return total
