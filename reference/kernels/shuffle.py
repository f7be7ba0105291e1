"""Twin of lodcore/kernels/shuffle.pyx."""


def shuffle_places(offsets, sizes, random, work, out):
    """Draw elements of each sequence without replacement, by a partial Fisher-Yates shuffle."""
    for s in range(len(offsets) - 1):
        length, first = int(offsets[s + 1] - offsets[s]), sizes[s]
        left = []
        for i in range(length):
            left.append(i)
        for i in range(sizes[s + 1] - first):
            chance, j = float(random[first + i]), i
            if 0 < chance < 1:
                j = i + int(chance * (length - i))
                if j >= length:
                    j = length - 1
            out[first + i] = left[j]
            left[j] = left[i]
