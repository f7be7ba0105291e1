"""Windows over documents, from lists."""


def windows(tokens, size, stride, full):
    """List the windows of a document, as pairs of a start and a stop."""
    found = []
    start = 0
    while tokens:
        begin = max(0, min(start, len(tokens) - size)) if full else start
        found.append((begin, min(begin + size, len(tokens))))
        if start + size >= len(tokens):
            break
        start += stride
    return found


def undo(pieces, where, length, first):
    """Merge the windows of a document into one number per token."""
    said = [[] for _ in range(length)]
    for piece, (start, stop) in zip(pieces, where, strict=True):
        for number, place in zip(piece, range(start, stop), strict=True):
            said[place].append(number)
    return [one[0] if first else sum(one) / len(one) for one in said]
