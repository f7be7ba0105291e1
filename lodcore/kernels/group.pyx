"""Grouping of rows by keys: equal keys are numbered by hashing, and the rows of each number are listed."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from lodcore.kernels.simd cimport folded, forced_void
from lodcore.kernels.sizes cimport agree

ctypedef struct hash_words:  # constants of the hash, derived from a seed so that nobody can choose keys that collide
    uint64_t first, second, third

ctypedef struct key_slot:
    int64_t id  # the number of a key; -1 if the slot is free
    uint64_t hash  # of the key; for keys of 8 bytes, the key itself


def number_keys(const unsigned char[:, ::1] keys not None, uint64_t seed, int64_t[:, ::1] table not None,
                int64_t[::1] ids not None, int64_t[::1] firsts not None):
    """Number equal keys in the order of their first appearance.

    Parameters
    ----------
    keys : uint8, shape (n_rows, key_bytes)
        Two keys are equal if all of their bytes are. They are read more than once, so no other thread may write to
        them.
    seed : int
        The seed of the hash: 0 .. 2**64 - 1, kept secret, so that nobody can choose keys that collide. The numbers do
        not depend on it.
    table : int64, shape (slots, 2)
        Work space; the number of slots is a power of two, at least 4.
    ids : int64, shape (n_rows,)
        Written: the number of each key.
    firsts : int64, shape (slots // 4 * 3,)
        Written: the row in which each number first occurs.

    Returns
    -------
    int
        The number of different keys; -1 if there are more than slots // 4 * 3, and then what is written is undefined.
    """
    cdef int64_t n_rows = keys.shape[0], size = keys.shape[1], slots = table.shape[0], count
    agree(ids.shape[0] == n_rows and table.shape[1] == 2 and slots >= 4 and (slots & (slots - 1)) == 0
          and firsts.shape[0] == slots // 4 * 3)
    if n_rows == 0:
        return 0
    cdef const char* source = <const char*> &keys[0, 0] if size else NULL
    cdef int64_t* work = &table[0, 0]
    cdef int64_t* numbers = &ids[0]
    cdef int64_t* places = &firsts[0]
    if size == 0:
        ids[:] = 0
        firsts[0] = 0
        return 1
    with nogil:
        count = number_all(source, size, n_rows, seed, <key_slot*> work, slots, numbers, places)
    return count


def number_texts(const unsigned char[::1] source not None, const int64_t[::1] offsets not None, uint64_t seed,
                 int64_t[:, ::1] table not None, int64_t[::1] ids not None, int64_t[::1] firsts not None):
    """Number equal sequences of bytes in the order of their first appearance.

    Parameters
    ----------
    source : uint8, shape (n_bytes,)
        Read more than once, so no other thread may write to it.
    offsets : int64, shape (n_rows + 1,)
        Where each sequence begins and ends: offsets of a LoD of these bytes.
    seed : int
        As in `number_keys`.
    table : int64, shape (slots, 2)
        Work space; the number of slots is a power of two, at least 4.
    ids : int64, shape (n_rows,)
        Written: the number of each sequence.
    firsts : int64, shape (slots // 4 * 3,)
        Written: the row in which each number first occurs.

    Returns
    -------
    int
        The number of different sequences; -1 if there are more than slots // 4 * 3, and then what is written is
        undefined.
    """
    cdef int64_t n_rows = ids.shape[0], slots = table.shape[0], count
    agree(offsets.shape[0] == n_rows + 1 and table.shape[1] == 2 and slots >= 4 and (slots & (slots - 1)) == 0
          and firsts.shape[0] == slots // 4 * 3)
    if n_rows == 0:
        return 0
    cdef const int64_t* bounds = &offsets[0]
    agree(bounds[0] == 0 and bounds[n_rows] == source.shape[0])
    cdef const char* letters = <const char*> &source[0] if source.shape[0] else NULL
    cdef int64_t* work = &table[0, 0]
    cdef int64_t* numbers = &ids[0]
    cdef int64_t* places = &firsts[0]
    with nogil:
        count = number_all_texts(letters, bounds, n_rows, seed, <key_slot*> work, slots, numbers, places)
    return count


def find_runs(const unsigned char[:, ::1] keys not None, int64_t[::1] out not None):
    """Find where runs of equal keys begin.

    Parameters
    ----------
    keys : uint8, shape (n_rows, key_bytes)
        Two keys are equal if all of their bytes are.
    out : int64, shape (n_rows,)
        Written: the first row of each run; the entries after them are undefined.

    Returns
    -------
    int
        The number of runs.
    """
    cdef int64_t n_rows = keys.shape[0], size = keys.shape[1], count
    agree(out.shape[0] == n_rows)
    if n_rows == 0:
        return 0
    if size == 0:
        out[0] = 0
        return 1
    cdef const char* source = <const char*> &keys[0, 0]
    cdef int64_t* places = &out[0]
    with nogil:
        count = find_all_runs(source, size, n_rows, places)
    return count


def order_by_id(const int64_t[::1] ids not None, int64_t[::1] offsets not None, int64_t[::1] out not None):
    """List the rows of each number, in ascending order.

    Parameters
    ----------
    ids : int64, shape (n_rows,)
        0 .. count - 1.
    offsets : int64, shape (count + 1,)
        Written: the offsets of the rows of each number.
    out : int64, shape (n_rows,)
        Written: the rows.

    Returns
    -------
    int
        The first row whose number is out of range, -1 if there is none.
    """
    cdef int64_t n_rows = ids.shape[0], count = offsets.shape[0] - 1, r, bad = -1
    agree(out.shape[0] == n_rows and count >= 0)
    cdef const int64_t* numbers = &ids[0] if n_rows else NULL
    cdef int64_t* bounds = &offsets[0]
    cdef int64_t* rows = &out[0] if n_rows else NULL
    with nogil:
        for r in range(n_rows):
            if numbers[r] < 0 or numbers[r] >= count:
                bad = r
                break
        if bad < 0:
            order_all(numbers, n_rows, count, bounds, rows)
    return bad


# -- hashes ------------------------------------------------------------------------------------------------------------


cdef inline uint64_t mixed(uint64_t key) noexcept nogil:
    """The finalizer of MurmurHash3: every bit of the key reaches every bit of the hash."""
    key = (key ^ (key >> 33)) * 0xff51afd7ed558ccdULL
    key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53ULL
    return key ^ (key >> 33)


cdef inline hash_words words_of(uint64_t seed) noexcept nogil:
    cdef hash_words words
    words.first = mixed(seed + 0x9e3779b97f4a7c15ULL)
    words.second = mixed(seed + 0x3c6ef372fe94f82aULL) | 1
    words.third = mixed(seed + 0xdaa66d2c7ddf743fULL)
    return words


cdef inline uint64_t word_at(const char* key) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, key, 8)
    return word


cdef inline uint64_t short_word(const char* key, int64_t size) noexcept nogil:
    """Return up to eight bytes as a word, which differs for all keys of this size; reads that overlap need no loop."""
    cdef uint32_t low, high
    if size >= 4:
        memcpy(&low, key, 4)
        memcpy(&high, key + size - 4, 4)
        return low | <uint64_t> high << 32
    if size == 0:
        return 0
    return <unsigned char> key[0] | <unsigned char> key[size >> 1] << 8 | <unsigned char> key[size - 1] << 16


cdef inline uint64_t hash_of(const char* key, int64_t size, hash_words words) noexcept nogil:
    """Hash sixteen bytes at a time; the last ones overlap those before."""
    cdef uint64_t hashed = words.second, word = 0
    cdef const char* last = key + size - 8
    if size <= 8:
        return folded(short_word(key, size) ^ words.first, hashed)
    while size > 16:
        hashed = folded(word_at(key) ^ words.third, word_at(key + 8) ^ hashed)
        size -= 16
        key += 16
    word = word_at(key) if size > 8 else 0
    return folded(word ^ words.first, word_at(last) ^ hashed)


cdef inline bint same_key(const char* one, const char* other, int64_t size) noexcept nogil:
    cdef int64_t at = 0
    if size <= 8:
        return short_word(one, size) == short_word(other, size)
    while at + 8 <= size:
        if word_at(one + at) != word_at(other + at):
            return False
        at += 8
    return word_at(one + size - 8) == word_at(other + size - 8)


# -- numbers -----------------------------------------------------------------------------------------------------------


cdef inline forced_void number_sized(
    const char* keys, const int64_t size, int64_t n_keys, uint64_t seed, key_slot* table, int64_t slots, int64_t* ids,
    int64_t* firsts, int64_t* result
) noexcept nogil:
    """Number equal keys of a size that the compiler may know in the order of their first appearance.

    The result is -1 if there are more of them than three quarters of the slots.
    """
    cdef hash_words words = words_of(seed)
    cdef int64_t count = 0, last = -1, most = slots // 4 * 3, r
    cdef uint64_t last_hash = 0, hashed, slot, mask = <uint64_t> slots - 1
    cdef const char* key
    for r in range(n_keys):
        key = keys + r * size
        hashed = word_at(key) if size == 8 else hash_of(key, size, words)
        if last >= 0 and hashed == last_hash and (size == 8 or same_key(keys + firsts[last] * size, key, size)):
            ids[r] = last  # runs of equal keys are common
            continue
        slot = (hash_of(key, 8, words) if size == 8 else hashed) & mask
        while table[slot].id >= 0 and (
            table[slot].hash != hashed
            or (size != 8 and not same_key(keys + firsts[table[slot].id] * size, key, size))
        ):
            slot = (slot + 1) & mask
        if table[slot].id < 0:
            if count == most:
                result[0] = -1
                return
            firsts[count] = r
            table[slot].hash = hashed
            table[slot].id = count
            count += 1
        last = table[slot].id
        ids[r] = last
        last_hash = hashed
    result[0] = count


cdef int64_t number_all(
    const char* keys, int64_t size, int64_t n_keys, uint64_t seed, key_slot* table, int64_t slots, int64_t* ids,
    int64_t* firsts
) noexcept nogil:
    cdef int64_t slot, count = 0
    for slot in range(slots):
        table[slot].id = -1
    if size == 8:
        number_sized(keys, 8, n_keys, seed, table, slots, ids, firsts, &count)
    elif size == 4:
        number_sized(keys, 4, n_keys, seed, table, slots, ids, firsts, &count)
    else:
        number_sized(keys, size, n_keys, seed, table, slots, ids, firsts, &count)
    return count


cdef int64_t number_all_texts(
    const char* source, const int64_t* offsets, int64_t n_rows, uint64_t seed, key_slot* table, int64_t slots,
    int64_t* ids, int64_t* firsts
) noexcept nogil:
    """Number equal sequences of bytes in the order of their first appearance; -1 if there are too many."""
    cdef hash_words words = words_of(seed)
    cdef int64_t count = 0, most = slots // 4 * 3, slot_of, size, first, r
    cdef uint64_t hashed, slot, mask = <uint64_t> slots - 1
    cdef const char* key
    for slot_of in range(slots):
        table[slot_of].id = -1
    for r in range(n_rows):
        key = source + offsets[r]
        size = offsets[r + 1] - offsets[r]
        hashed = hash_of(key, size, words) ^ <uint64_t> size
        slot = hashed & mask
        while table[slot].id >= 0:
            first = firsts[table[slot].id]
            if (
                table[slot].hash == hashed
                and offsets[first + 1] - offsets[first] == size
                and same_key(source + offsets[first], key, size)
            ):
                break
            slot = (slot + 1) & mask
        if table[slot].id < 0:
            if count == most:
                return -1
            firsts[count] = r
            table[slot].hash = hashed
            table[slot].id = count
            count += 1
        ids[r] = table[slot].id
    return count


cdef int64_t find_all_runs(const char* keys, int64_t size, int64_t n_keys, int64_t* out) noexcept nogil:
    """List the first row of each run of equal keys."""
    cdef int64_t count = 0, r
    if size == 8:
        for r in range(n_keys):
            out[count] = r
            count += r == 0 or word_at(keys + 8 * r) != word_at(keys + 8 * (r - 1))
        return count
    for r in range(n_keys):
        if r == 0 or memcmp(keys + r * size, keys + (r - 1) * size, size) != 0:
            out[count] = r
            count += 1
    return count


cdef void order_all(
    const int64_t* ids, int64_t n_rows, int64_t count, int64_t* offsets, int64_t* out
) noexcept nogil:
    """Group rows by their numbers with a stable counting sort: write offsets of the groups, and the rows."""
    cdef int64_t r, group
    memset(offsets, 0, (count + 1) * sizeof(int64_t))
    for r in range(n_rows):
        offsets[ids[r] + 1] += 1
    for group in range(count):
        offsets[group + 1] += offsets[group]
    for r in range(n_rows):
        out[offsets[ids[r]]] = r
        offsets[ids[r]] += 1
    for group in range(count, 0, -1):
        offsets[group] = offsets[group - 1]
    offsets[0] = 0
