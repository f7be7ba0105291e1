"""Words, as consecutive bytes: numbered in the order of their first occurrence, and looked up by their numbers.

A table is a power of two of slots. A slot is -1, or has the number of a word in its low 32 bits and the high 31 bits of
the word's hash above them; a word is in the first free slot from that given by the low bits of its hash.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    KNOWN = 0xffffffff  # the bits of a slot that contain a number

cdef uint64_t MIX = 0x9e3779b97f4a7c15
cdef uint64_t STIR = 0xff51afd7ed558ccd


cdef inline uint64_t load(const uint8_t* word, int64_t size, const uint8_t* limit) noexcept nogil:
    """Load up to eight bytes as a little-endian number; `limit` is the end of the text."""
    cdef uint64_t made = 0
    if limit - word >= 8:
        memcpy(&made, word, 8)
        return made if size >= 8 else made & ((<uint64_t> 1 << (8 * size)) - 1)
    memcpy(&made, word, size if size < 8 else 8)
    return made


cdef inline uint64_t hash_of(const uint8_t* word, int64_t size, const uint8_t* limit, uint64_t seed) noexcept nogil:
    """Hash eight bytes at a time; `seed` makes collisions unpredictable."""
    cdef uint64_t made = seed ^ (<uint64_t> size * MIX)
    while size > 0:
        made = (made ^ load(word, size, limit)) * MIX
        made = (made ^ (made >> 32)) * STIR  # otherwise later bytes could cancel a difference, for any seed
        made ^= made >> 29
        word += 8
        size -= 8
    made *= MIX
    return made ^ (made >> 29)


cdef inline bint is_equal(const uint8_t* one, const uint8_t* limit, const uint8_t* other, const uint8_t* other_limit,
                          int64_t size) noexcept nogil:
    while size > 0:
        if load(one, size, limit) != load(other, size, other_limit):
            return False
        one += 8
        other += 8
        size -= 8
    return True


cdef inline int64_t slot_of(uint64_t made, int64_t number) noexcept nogil:
    return <int64_t> ((made >> 33) << 32) | number


cdef inline int64_t place_of(const uint8_t* word, int64_t size, const uint8_t* limit, uint64_t made,
                             const uint8_t* text, const uint8_t* text_limit, const int64_t* begins,
                             const int64_t* ends, const int64_t* table, int64_t mask) noexcept nogil:
    """Find the slot of a word, or the free slot for it; `begins` and `ends` are those of the numbered words."""
    cdef int64_t at = <int64_t> (made & <uint64_t> mask), known
    while table[at] >= 0:
        if (table[at] >> 32) == <int64_t> (made >> 33):
            known = table[at] & KNOWN
            if ends[known] - begins[known] == size and is_equal(word, limit, text + begins[known], text_limit, size):
                return at
        at = (at + 1) & mask
    return at


cdef bint is_table(const int64_t[::1] table) noexcept nogil:
    return table.shape[0] > 0 and (table.shape[0] & (table.shape[0] - 1)) == 0


def number_words(const uint8_t[::1] text not None, const int64_t[::1] offsets not None, int64_t start, int64_t known,
                 uint64_t seed, int64_t[::1] table not None, int64_t[::1] begins not None, int64_t[::1] ends not None,
                 int64_t[::1] counts not None, int64_t[::1] ids not None):
    """Number words in the order of their first occurrence, until the table is half full.

    Parameters
    ----------
    text : uint8, shape (n_bytes,)
    offsets : int64, shape (n_words + 1,), in bytes
    start : int
        The first word without a number.
    known : int
        The number of different words before it.
    seed : int
        The seed of the hash; the same for all calls with a table.
    table : int64, shape (a power of two,)
    begins, ends : int64, shape (n_slots // 2,), in bytes
        The position of the first occurrence of each different word.
    counts : int64, shape (n_slots // 2,)
        The number of occurrences of each different word.
    ids : int64, shape (n_words,)

    Returns
    -------
    (int, int)
        The first word that is still without a number, n_words if there is none; and the number of different words.
    """
    cdef int64_t n_words = offsets.shape[0] - 1, most = table.shape[0] // 2, mask = table.shape[0] - 1
    cdef int64_t j = start, at, first, size, number
    cdef uint64_t made
    if not is_table(table) or begins.shape[0] != most or ends.shape[0] != most or counts.shape[0] != most:
        raise ValueError("the table has another number of slots than twice the different words")
    if n_words < 0 or offsets[n_words] != text.shape[0] or ids.shape[0] != n_words or not 0 <= start <= n_words:
        raise ValueError("text, offsets and ids are of different words")
    if not 0 <= known <= most:
        raise ValueError("more different words are known than the table holds")
    cdef const uint8_t* letters = &text[0] if text.shape[0] else NULL
    cdef const uint8_t* limit = letters + text.shape[0]
    cdef const int64_t* from_ = &begins[0] if most else NULL
    cdef const int64_t* to = &ends[0] if most else NULL
    with nogil:
        while j < n_words:
            first = offsets[j]
            size = offsets[j + 1] - first
            made = hash_of(letters + first, size, limit, seed)
            at = place_of(letters + first, size, limit, made, letters, limit, from_, to, &table[0], mask)
            if table[at] < 0:
                if known >= most:
                    break
                table[at] = slot_of(made, known)
                begins[known], ends[known], counts[known] = first, first + size, 0
                known += 1
            number = table[at] & KNOWN
            counts[number] += 1
            ids[j] = number
            j += 1
    return j, known


def fill_table(const uint8_t[::1] text not None, const int64_t[::1] begins not None, const int64_t[::1] ends not None,
               uint64_t seed, int64_t[::1] table not None):
    """Insert words into a table of free slots, each with its own position as number.

    Parameters
    ----------
    text : uint8, shape (n_bytes,)
    begins, ends : int64, shape (n_words,), in bytes
    seed : int
    table : int64, shape (a power of two, at least 2 * n_words,)
        All -1.

    Returns
    -------
    int
        The first word that is already in the table, -1 if all are different.
    """
    cdef int64_t n_words = begins.shape[0], mask = table.shape[0] - 1, j, at, size, bad = -1
    cdef uint64_t made
    if not is_table(table) or table.shape[0] < 2 * n_words or ends.shape[0] != n_words:
        raise ValueError("the table has fewer slots than twice the words")
    for j in range(n_words):
        if not 0 <= begins[j] <= ends[j] <= text.shape[0]:
            raise ValueError("a word leaves the text")
    if n_words == 0:
        return -1
    cdef const uint8_t* letters = &text[0] if text.shape[0] else NULL
    cdef const uint8_t* limit = letters + text.shape[0]
    with nogil:
        for j in range(n_words):
            size = ends[j] - begins[j]
            made = hash_of(letters + begins[j], size, limit, seed)
            at = place_of(letters + begins[j], size, limit, made, letters, limit, &begins[0], &ends[0], &table[0], mask)
            if table[at] >= 0:
                bad = j
                break
            table[at] = slot_of(made, j)
    return bad


def look_up(const uint8_t[::1] text not None, const int64_t[::1] offsets not None, const uint8_t[::1] known not None,
            const int64_t[::1] begins not None, const int64_t[::1] ends not None, uint64_t seed,
            const int64_t[::1] table not None, int64_t unknown, int64_t[::1] ids not None):
    """Look up the number of each word in a table.

    Parameters
    ----------
    text : uint8, shape (n_bytes,)
    offsets : int64, shape (n_words + 1,), in bytes
    known : uint8, shape (n_known_bytes,)
    begins, ends : int64, shape (n_known,), in bytes
        The words that `fill_table` inserted, in the bytes of `known`.
    seed : int
    table : int64, shape (a power of two,)
    unknown : int
        The number for words that are not in the table.
    ids : int64, shape (n_words,)

    Returns
    -------
    int
        The first word that is not in the table, -1 if all are.
    """
    cdef int64_t n_words = offsets.shape[0] - 1, n_known = begins.shape[0], mask = table.shape[0] - 1
    cdef int64_t j, at, first, size, bad = -1
    cdef uint64_t made
    if not is_table(table) or table.shape[0] < 2 * n_known or ends.shape[0] != n_known:
        raise ValueError("the table has fewer slots than twice the words")
    if n_words < 0 or offsets[n_words] != text.shape[0] or ids.shape[0] != n_words:
        raise ValueError("text, offsets and ids are of different words")
    cdef const uint8_t* letters = &text[0] if text.shape[0] else NULL
    cdef const uint8_t* limit = letters + text.shape[0]
    cdef const uint8_t* others = &known[0] if known.shape[0] else NULL
    cdef const uint8_t* others_limit = others + known.shape[0]
    cdef const int64_t* from_ = &begins[0] if n_known else NULL
    cdef const int64_t* to = &ends[0] if n_known else NULL
    with nogil:
        for j in range(n_words):
            first = offsets[j]
            size = offsets[j + 1] - first
            made = hash_of(letters + first, size, limit, seed)
            at = place_of(letters + first, size, limit, made, others, others_limit, from_, to, &table[0], mask)
            if table[at] >= 0:
                ids[j] = table[at] & KNOWN
            else:
                ids[j] = unknown
                if bad < 0:
                    bad = j
    return bad
