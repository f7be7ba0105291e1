"""Twin of lodcore/kernels/group.pyx."""


def number_keys(keys, seed, table, ids, firsts):
    """Number equal keys in the order of their first appearance."""
    known, count = {}, 0
    for r in range(keys.shape[0]):
        key = keys[r].tobytes()
        if key not in known:
            if count == len(table) // 4 * 3:
                return -1
            firsts[count] = r
            known[key] = count
            count += 1
        ids[r] = known[key]
    return count


def number_texts(source, offsets, seed, table, ids, firsts):
    """Number equal sequences of bytes in the order of their first appearance."""
    known, count = {}, 0
    for r in range(len(ids)):
        key = 1  # before the first byte, so that the length counts
        for at in range(offsets[r], offsets[r + 1]):
            key = key * 256 + int(source[at])
        if key not in known:
            if count == len(table) // 4 * 3:
                return -1
            firsts[count] = r
            known[key] = count
            count += 1
        ids[r] = known[key]
    return count


def find_runs(keys, out):
    """Find where runs of equal keys begin."""
    count = 0
    for r in range(keys.shape[0]):
        if r == 0 or keys[r].tobytes() != keys[r - 1].tobytes():
            out[count] = r
            count += 1
    return count


def order_by_id(ids, offsets, out):
    """List the rows of each number, in ascending order; return the first invalid position, or -1."""
    count = len(offsets) - 1
    for r in range(len(ids)):
        if ids[r] < 0 or ids[r] >= count:
            return r
    rows = []
    for _ in range(count):
        rows.append([])
    for r in range(len(ids)):
        rows[ids[r]].append(r)
    offsets[0] = place = 0
    for number in range(count):
        for r in rows[number]:
            out[place] = r
            place += 1
        offsets[number + 1] = place
    return -1
