/* A memory handler for NumPy (NEP 49) that recycles freed blocks: fresh pages cost more time than most kernels. */
#ifndef LODCORE_RECYCLING_H
#define LODCORE_RECYCLING_H

#include <Python.h>
#include <numpy/arrayobject.h>
#include <string.h>

#if !defined(__GNUC__)
#include <intrin.h>
#endif

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)0)
#endif

/* Blocks of more than 2^10 and at most 2^30 bytes, in four sizes per power of two. */
#define LODCORE_FIRST 10
#define LODCORE_LAST 30
#define LODCORE_SIZES (4 * (LODCORE_LAST - LODCORE_FIRST))

/* Blocks begin at a cache line, so that no vector of the widest instructions lies in two; what the source of memory
 * gave stands before them. */
#define LODCORE_LINE ((size_t)64)

/* Blocks of at least so many bytes are beyond the limit kept on call: the system takes their pages back when it needs
 * memory (MADV_FREE). From this size on NumPy asks for huge pages, for which that call takes 0.5 us per megabyte; for
 * small pages it would take 55, and to fill a megabyte takes 60. */
#define LODCORE_ON_CALL ((size_t)1 << 22)
#define LODCORE_PAGE ((size_t)1 << 12)

typedef struct lodcore_block {
    struct lodcore_block *next;
    size_t on_call; /* the bytes that are kept on call: all or none */
} lodcore_block;

static lodcore_block *lodcore_kept[LODCORE_SIZES];
static size_t lodcore_kept_bytes = 0, lodcore_most_bytes = 0;
static size_t lodcore_on_call_bytes = 0, lodcore_most_on_call = 0;
static char lodcore_busy = 0;
static PyDataMemAllocator *lodcore_source; /* NumPy's own */

/* A thread that finds the lists locked does not wait, but uses NumPy's allocator; so does a fork with locked lists. */
static int lodcore_enter(void)
{
#if defined(__GNUC__)
    return !__atomic_test_and_set(&lodcore_busy, __ATOMIC_ACQUIRE);
#else
    return !_InterlockedExchange8(&lodcore_busy, 1);
#endif
}

static void lodcore_leave(void)
{
#if defined(__GNUC__)
    __atomic_clear(&lodcore_busy, __ATOMIC_RELEASE);
#else
    _InterlockedExchange8(&lodcore_busy, 0);
#endif
}

/* Return the list of blocks for a size, and their size; -1 if there is none. */
static int lodcore_list(size_t size, size_t *whole)
{
    *whole = size;
    if (size <= (size_t)1 << LODCORE_FIRST || size > (size_t)1 << LODCORE_LAST)
        return -1;
    int power = LODCORE_FIRST;
    while (size > (size_t)2 << power)
        power++;
    size_t step = (size_t)1 << (power - 2);
    size_t quarter = (size - 1 - ((size_t)1 << power)) / step;
    *whole = ((size_t)1 << power) + (quarter + 1) * step;
    return 4 * (power - LODCORE_FIRST) + (int)quarter;
}

/* Mark the used part of a block for the address sanitizer, without recycled blocks and the rest of a block. */
static void *lodcore_used(void *block, size_t size, size_t whole)
{
    if (block != NULL) {
        ASAN_UNPOISON_MEMORY_REGION(block, size);
        ASAN_POISON_MEMORY_REGION((char *)block + size, whole - size);
    }
    return block;
}

/* Return the first line within memory of LODCORE_LINE bytes more than the block has: at least 8 bytes from its start. */
static char *lodcore_line_of(char *memory)
{
    return (char *)(((size_t)memory + LODCORE_LINE) & ~(LODCORE_LINE - 1));
}

/* Return the block in memory, before which stands where this begins; NULL for NULL. */
static void *lodcore_at_line(char *memory)
{
    if (memory == NULL)
        return NULL;
    void **block = (void **)lodcore_line_of(memory);
    block[-1] = memory;
    return block;
}

static void *lodcore_fresh(size_t whole, int zeros)
{
    if (whole + LODCORE_LINE < whole)
        return NULL;
    return lodcore_at_line(zeros ? lodcore_source->calloc(lodcore_source->ctx, 1, whole + LODCORE_LINE)
                                 : lodcore_source->malloc(lodcore_source->ctx, whole + LODCORE_LINE));
}

static void lodcore_release(void *block, size_t whole)
{
    if (block != NULL)
        lodcore_source->free(lodcore_source->ctx, ((void **)block)[-1], whole + LODCORE_LINE);
}

static void lodcore_empty(void)
{
    for (int list = 0; list < LODCORE_SIZES; list++) {
        size_t size = ((size_t)1 << (LODCORE_FIRST + list / 4)) / 4 * (size_t)(5 + list % 4);
        while (lodcore_kept[list] != NULL) {
            lodcore_block *block = lodcore_kept[list];
            lodcore_kept[list] = block->next;
            lodcore_release(block, size);
        }
    }
    lodcore_kept_bytes = lodcore_on_call_bytes = 0;
}

/* Let the system take back the pages of a freed block, all but the first one; return whether it may. */
static int lodcore_offer(void *block, size_t whole)
{
#if defined(__linux__) && defined(MADV_FREE) && !defined(__SANITIZE_ADDRESS__)
    size_t first = ((size_t)block + sizeof(lodcore_block) + LODCORE_PAGE - 1) & ~(LODCORE_PAGE - 1);
    size_t stop = ((size_t)block + whole) & ~(LODCORE_PAGE - 1);
    return madvise((void *)first, stop - first, MADV_FREE) == 0;
#else
    (void)block, (void)whole;
    return 0;
#endif
}

/* Return a recycled block, or NULL if there is none; set its size, or that of the new block that is needed. */
static void *lodcore_take(size_t size, size_t *whole)
{
    lodcore_block *block = NULL;
    int list = lodcore_list(size, whole);
    if (list >= 0 && lodcore_enter()) {
        block = lodcore_kept[list];
        if (block != NULL) {
            lodcore_kept[list] = block->next;
            lodcore_on_call_bytes -= block->on_call;
            lodcore_kept_bytes -= *whole - block->on_call;
        }
        lodcore_leave();
    }
    return block;
}

/* Release all kept blocks, since there is no memory, or no room for addresses; return whether there were any. */
static int lodcore_gave_up(void)
{
    int any = 0;
    if (lodcore_enter()) {
        any = lodcore_kept_bytes + lodcore_on_call_bytes > 0;
        lodcore_empty();
        lodcore_leave();
    }
    return any;
}

static void *lodcore_malloc(void *ctx, size_t size)
{
    size_t whole;
    void *block = lodcore_take(size, &whole);
    if (block == NULL)
        block = lodcore_fresh(whole, 0);
    if (block == NULL && lodcore_gave_up())
        block = lodcore_fresh(whole, 0);
    return lodcore_used(block, size, whole);
}

static void *lodcore_calloc(void *ctx, size_t count, size_t each)
{
    size_t whole, size = count * each;
    if (each != 0 && size / each != count)
        return NULL;
    void *block = lodcore_take(size, &whole);
    if (block != NULL)
        return memset(lodcore_used(block, size, whole), 0, size);
    block = lodcore_fresh(whole, 1);
    if (block == NULL && lodcore_gave_up())
        block = lodcore_fresh(whole, 1);
    return lodcore_used(block, size, whole);
}

static void lodcore_free(void *ctx, void *block, size_t size)
{
    size_t whole, on_call = 0;
    int list = lodcore_list(size, &whole);
    if (block != NULL && list >= 0 && whole >= LODCORE_ON_CALL && whole <= lodcore_most_on_call &&
        lodcore_kept_bytes + whole > lodcore_most_bytes && lodcore_offer(block, whole))
        on_call = whole;
    if (block != NULL && list >= 0 && (whole <= lodcore_most_bytes || on_call) && lodcore_enter()) {
        if (on_call ? lodcore_on_call_bytes + whole > lodcore_most_on_call
                    : lodcore_kept_bytes + whole > lodcore_most_bytes)
            lodcore_empty(); /* blocks of sizes that are no longer requested must not stay forever */
        ((lodcore_block *)block)->next = lodcore_kept[list];
        ((lodcore_block *)block)->on_call = on_call;
        lodcore_kept[list] = (lodcore_block *)block;
        lodcore_on_call_bytes += on_call;
        lodcore_kept_bytes += whole - on_call;
        lodcore_used(block, sizeof(lodcore_block), whole);
        lodcore_leave();
        return;
    }
    lodcore_release(block, whole);
}

static void *lodcore_realloc(void *ctx, void *block, size_t size)
{
    size_t whole;
    (void)lodcore_list(size, &whole);
    if (block == NULL)
        return lodcore_malloc(ctx, size);
    if (whole + LODCORE_LINE < whole)
        return NULL;
    size_t before = (size_t)((char *)block - ((char **)block)[-1]);
    char *memory = lodcore_source->realloc(lodcore_source->ctx, ((void **)block)[-1], whole + LODCORE_LINE);
    if (memory == NULL)
        return NULL;
    if (lodcore_line_of(memory) != memory + before)
        memmove(lodcore_line_of(memory), memory + before, size);
    return lodcore_used(lodcore_at_line(memory), size, whole);
}

/* Set the maximum number of recycled bytes, and of those that are kept on call. */
static void lodcore_set_most(size_t most, size_t on_call)
{
    lodcore_most_bytes = most;
    lodcore_most_on_call = on_call;
    if (lodcore_enter()) {
        if (lodcore_kept_bytes > most || lodcore_on_call_bytes > on_call)
            lodcore_empty();
        lodcore_leave();
    }
}

static PyDataMem_Handler lodcore_handler = {
    "lodcore", 1, {NULL, lodcore_malloc, lodcore_calloc, lodcore_realloc, lodcore_free}};

static PyObject *lodcore_make_handler(void)
{
    PyDataMem_Handler *source = (PyDataMem_Handler *)PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler");
    if (source == NULL)
        return NULL;
    lodcore_source = &source->allocator;
    return PyCapsule_New(&lodcore_handler, "mem_handler", NULL);
}

#endif
