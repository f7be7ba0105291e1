"""Twin of lodcore/kernels/words.pyx."""


def _hash(text, begin, end, seed):
    mix, limit = 0x9E3779B97F4A7C15, 2**64
    made = seed ^ ((end - begin) * mix % limit)
    for at in range(begin, end, 8):
        chunk = 0
        for k in range(at, end if end < at + 8 else at + 8):
            chunk += int(text[k]) << 8 * (k - at)
        made = (made ^ chunk) * mix % limit
        made = (made ^ (made >> 32)) * 0xFF51AFD7ED558CCD % limit
        made ^= made >> 29
    made = made * mix % limit
    return made ^ (made >> 29)


def _place(text, begin, end, others, begins, ends, seed, table):
    """Find the slot of a word, or the free slot for it; return also its hash."""
    made = _hash(text, begin, end, seed)
    at = made % len(table)
    while table[at] >= 0:
        number = int(table[at]) % 2**32
        other, size = int(begins[number]), int(ends[number]) - int(begins[number])
        if size == end - begin and all(text[begin + k] == others[other + k] for k in range(size)):
            break
        at = (at + 1) % len(table)
    return at, made


def number_words(text, offsets, start, known, seed, table, begins, ends, counts, ids):
    """Number words in the order of their first occurrence, until the table is half full."""
    for j in range(start, len(ids)):
        begin, end = int(offsets[j]), int(offsets[j + 1])
        at, made = _place(text, begin, end, text, begins, ends, seed, table)
        if table[at] < 0:
            if known >= len(table) // 2:
                return j, known
            table[at] = (made >> 33 << 32) + known
            begins[known] = begin
            ends[known] = end
            counts[known] = 0
            known += 1
        ids[j] = int(table[at]) % 2**32
        counts[ids[j]] += 1
    return len(ids), known


def fill_table(text, begins, ends, seed, table):
    """Insert words into a table of free slots, each with its own position as number."""
    for j in range(len(begins)):
        at, made = _place(text, int(begins[j]), int(ends[j]), text, begins, ends, seed, table)
        if table[at] >= 0:
            return j
        table[at] = (made >> 33 << 32) + j
    return -1


def look_up(text, offsets, known, begins, ends, seed, table, unknown, ids):
    """Look up the number of each word in a table."""
    bad = -1
    for j in range(len(ids)):
        at, _ = _place(text, int(offsets[j]), int(offsets[j + 1]), known, begins, ends, seed, table)
        ids[j] = int(table[at]) % 2**32 if table[at] >= 0 else unknown
        if table[at] < 0 and bad < 0:
            bad = j
    return bad
