"""Bins by their remaining room: the set from which best fit selects, and the tree that first fit searches."""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memmove, memset

from lodcore.kernels.simd cimport forced_void, lowest_bit

cdef enum:
    BLOCK_ENTRIES = 512
    BIT_LEVELS = 11
    SMALL_TABLE = 1 << 16

ctypedef struct Entry:
    int64_t room, member

ctypedef struct Block:
    Entry* entries
    int64_t count

# Members by their room, among equal ones the latest first. For small budgets: a list of members per room, and bits, 64
# per word on each level, for the lists that are not empty. Otherwise: blocks of entries sorted by room.
ctypedef struct RoomSet:
    int64_t* heads  # the latest member plus 1
    int64_t* next  # the one before it plus 1
    int64_t next_capacity
    uint64_t* bits[BIT_LEVELS]
    int64_t sizes[BIT_LEVELS]  # the number of places on each level
    int bit_levels
    Block* blocks
    int64_t n_blocks, block_capacity

# A tree of the most room below each node, with the bins as leaves; -1 for missing bins.
ctypedef struct RoomTree:
    int64_t* most
    int64_t leaves


cdef inline bint make_place(void** array, int64_t* capacity, int64_t count, size_t size) noexcept nogil:
    """Ensure room for entry `count` of an array; return whether there is memory for it."""
    cdef int64_t wanted = 2 * capacity[0] if capacity[0] else 1024
    cdef void* grown
    if count < capacity[0]:
        return True
    grown = realloc(array[0], wanted * size)
    if grown == NULL:
        return False
    array[0] = grown
    capacity[0] = wanted
    return True


# -- blocks of entries -------------------------------------------------------------------------------------------------


cdef inline int64_t find_block(const RoomSet* rooms, int64_t room) noexcept nogil:
    """Return the first block whose last room is at least `room`; the number of blocks if there is none."""
    cdef int64_t low = 0, high = rooms.n_blocks, middle
    cdef const Block* here
    while low < high:
        middle = (low + high) // 2
        here = rooms.blocks + middle
        if here.entries[here.count - 1].room < room:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline int64_t find_entry(const Block* here, int64_t room) noexcept nogil:
    """Return the first entry of a block whose room is at least `room`."""
    cdef int64_t low = 0, high = here.count, middle
    while low < high:
        middle = (low + high) // 2
        if here.entries[middle].room < room:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline bint insert_block(RoomSet* rooms, int64_t k) noexcept nogil:
    """Insert a block at position k; return whether there is memory for it."""
    cdef Entry* entries
    if not make_place(<void**> &rooms.blocks, &rooms.block_capacity, rooms.n_blocks, sizeof(Block)):
        return False
    entries = <Entry*> malloc(BLOCK_ENTRIES * sizeof(Entry))
    if entries == NULL:
        return False
    memmove(rooms.blocks + k + 1, rooms.blocks + k, (rooms.n_blocks - k) * sizeof(Block))
    rooms.blocks[k].entries = entries
    rooms.blocks[k].count = 0
    rooms.n_blocks += 1
    return True


cdef inline bint put_entry(RoomSet* rooms, int64_t member, int64_t room) noexcept nogil:
    cdef int64_t k = find_block(rooms, room), at
    cdef Block* here
    if rooms.n_blocks == 0 and not insert_block(rooms, 0):
        return False
    if k == rooms.n_blocks:
        k -= 1
    if rooms.blocks[k].count == BLOCK_ENTRIES:
        if not insert_block(rooms, k + 1):
            return False
        here = rooms.blocks + k
        here.count = here[1].count = BLOCK_ENTRIES // 2
        memcpy(here[1].entries, here.entries + here.count, BLOCK_ENTRIES // 2 * sizeof(Entry))
        k += here.entries[here.count - 1].room < room
    here = rooms.blocks + k
    at = find_entry(here, room) if here.count else 0
    memmove(here.entries + at + 1, here.entries + at, (here.count - at) * sizeof(Entry))
    here.entries[at].room = room
    here.entries[at].member = member
    here.count += 1
    return True


cdef inline int64_t take_entry(RoomSet* rooms, int64_t need, int64_t* room) noexcept nogil:
    cdef int64_t k = find_block(rooms, need), at, member
    cdef Block* here = rooms.blocks + k
    if k == rooms.n_blocks:
        return -1
    at = find_entry(here, need)
    member = here.entries[at].member
    room[0] = here.entries[at].room
    here.count -= 1
    memmove(here.entries + at, here.entries + at + 1, (here.count - at) * sizeof(Entry))
    if here.count == 0:
        free(here.entries)
        rooms.n_blocks -= 1
        memmove(here, here + 1, (rooms.n_blocks - k) * sizeof(Block))
    return member


# -- the set -----------------------------------------------------------------------------------------------------------


cdef inline void close_rooms(RoomSet* rooms) noexcept nogil:
    cdef int64_t k
    for k in range(rooms.bit_levels):
        free(rooms.bits[k])
    for k in range(rooms.n_blocks):
        free(rooms.blocks[k].entries)
    free(rooms.heads)
    free(rooms.next)
    free(rooms.blocks)


cdef inline bint open_rooms(RoomSet* rooms, int64_t budget, int64_t count) noexcept nogil:
    """Initialize a set for rooms 0 .. budget that will receive about `count` members; return whether there is memory.
    """
    cdef int64_t words = budget + 1
    cdef bint done
    memset(rooms, 0, sizeof(RoomSet))
    if budget > SMALL_TABLE and budget // 4 > count:
        return True
    rooms.heads = <int64_t*> calloc(words, sizeof(int64_t))
    done = rooms.heads != NULL
    while done:
        rooms.sizes[rooms.bit_levels] = words
        words = (words + 63) // 64
        rooms.bits[rooms.bit_levels] = <uint64_t*> calloc(words, sizeof(uint64_t))
        done = rooms.bits[rooms.bit_levels] != NULL
        rooms.bit_levels += done
        if words == 1:
            break
    if not done:
        close_rooms(rooms)
    return done


cdef inline forced_void put_room(RoomSet* rooms, int64_t member, int64_t room, bint* done) noexcept nogil:
    """Insert a member into the set; `done` tells whether there is memory for it."""
    cdef int level
    cdef uint64_t before
    done[0] = True
    if rooms.heads == NULL:
        done[0] = put_entry(rooms, member, room)
        return
    while member >= rooms.next_capacity:
        if not make_place(<void**> &rooms.next, &rooms.next_capacity, rooms.next_capacity, sizeof(int64_t)):
            done[0] = False
            return
    rooms.next[member] = rooms.heads[room]
    rooms.heads[room] = member + 1
    for level in range(rooms.bit_levels):
        before = rooms.bits[level][room >> 6]
        rooms.bits[level][room >> 6] = before | (<uint64_t> 1 << (room & 63))
        if before:
            break
        room >>= 6


cdef inline forced_void take_room(RoomSet* rooms, int64_t need, int64_t* member, int64_t* room) noexcept nogil:
    """Remove and return the latest member with the least room that is at least `need`; -1 if there is none."""
    cdef int64_t place = need
    cdef int level = 0
    cdef uint64_t word
    cdef uint64_t** bits = rooms.bits  # of arrays the compiler knows the size, and computes all places before any loop
    cdef const int64_t* sizes = rooms.sizes
    if rooms.heads == NULL:
        member[0] = take_entry(rooms, need, room)
        return
    while True:  # upwards, to a word with a bit at or after `place`
        if place < sizes[level]:
            word = bits[level][place >> 6] & (~<uint64_t> 0 << (place & 63))
            if word:
                place = (place & ~<int64_t> 63) + lowest_bit(word)
                break
        place = (place >> 6) + 1
        level += 1
        if level == rooms.bit_levels:
            member[0] = -1
            return
    while level > 0:
        level -= 1
        place = 64 * place + lowest_bit(bits[level][place])
    room[0] = place
    member[0] = rooms.heads[place] - 1
    rooms.heads[place] = rooms.next[member[0]]
    if rooms.heads[place] != 0:
        return
    while level < rooms.bit_levels:
        bits[level][place >> 6] &= ~(<uint64_t> 1 << (place & 63))
        place >>= 6
        if bits[level][place]:
            return
        level += 1


# -- the first bin with enough room ------------------------------------------------------------------------------------


cdef inline bint grow_tree(RoomTree* tree) noexcept nogil:
    """Double the number of leaves; return whether there is memory for them."""
    cdef int64_t leaves = 2 * tree.leaves if tree.leaves else 1024, k
    cdef int64_t* most = <int64_t*> malloc(leaves * 2 * sizeof(int64_t))
    if most == NULL:
        return False
    for k in range(leaves):
        most[leaves + k] = tree.most[tree.leaves + k] if k < tree.leaves else -1
    for k in range(leaves - 1, 0, -1):
        most[k] = most[2 * k] if most[2 * k] > most[2 * k + 1] else most[2 * k + 1]
    free(tree.most)
    tree.most = most
    tree.leaves = leaves
    return True


cdef inline int64_t first_room(const RoomTree* tree, int64_t need) noexcept nogil:
    """Return the first bin whose room is at least `need`, -1 if there is none."""
    cdef int64_t k = 1
    if tree.leaves == 0 or tree.most[1] < need:
        return -1
    while k < tree.leaves:
        k = 2 * k + (tree.most[2 * k] < need)
    return k - tree.leaves


cdef inline void set_room(RoomTree* tree, int64_t bin, int64_t room) noexcept nogil:
    cdef int64_t k = tree.leaves + bin, left, right, most
    tree.most[k] = room
    k //= 2
    while k > 0:
        left, right = tree.most[2 * k], tree.most[2 * k + 1]
        most = left if left > right else right
        if tree.most[k] == most:
            break
        tree.most[k] = most
        k //= 2
