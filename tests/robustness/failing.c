/* A memory handler of NumPy (NEP 49) that refuses the n-th request; the tests compile it. */
#include <stdint.h>
#include <stdlib.h>

int64_t met = 0, fails = -1;

static int refused(void)
{
    return ++met == fails;
}

static void *failing_malloc(void *context, size_t size)
{
    (void)context;
    return refused() ? NULL : malloc(size);
}

static void *failing_calloc(void *context, size_t count, size_t size)
{
    (void)context;
    return refused() ? NULL : calloc(count, size);
}

static void *failing_realloc(void *context, void *memory, size_t size)
{
    (void)context;
    return refused() ? NULL : realloc(memory, size);
}

static void failing_free(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

struct {
    char name[127];
    uint8_t version;
    void *context;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *, size_t);
} handler = {"failing", 1, NULL, failing_malloc, failing_calloc, failing_realloc, failing_free};
