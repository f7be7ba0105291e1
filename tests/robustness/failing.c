/* Makes the n-th memory request fail, of arrays (NumPy's default handler, NEP 49) and of malloc in kernels. The tests
   compile this, and load it before the interpreter, so that its malloc is found first. */
#include <stddef.h>
#include <stdint.h>

enum { MOST = 64 };

typedef struct {
    void *context;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *, size_t);
} allocator; /* the struct of NumPy */

int64_t met = 0, fails = -1, met_in_kernels = 0;

static allocator numpys;
static struct {
    uintptr_t first, last;
} watched[MOST]; /* the address ranges of the compiled modules of lodcore */
static int n_watched;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static int refused(void)
{
    return fails >= 0 && ++met == fails;
}

static int refused_to(const void *caller)
{
    if (fails >= 0)
        for (int j = 0; j < n_watched; j++)
            if (watched[j].first <= (uintptr_t)caller && (uintptr_t)caller < watched[j].last) {
                met_in_kernels++;
                return refused();
            }
    return 0;
}

void *malloc(size_t size)
{
    return refused_to(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused_to(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return refused_to(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

static void *failing_malloc(void *context, size_t size)
{
    return refused() ? NULL : numpys.malloc(context, size);
}

static void *failing_calloc(void *context, size_t count, size_t size)
{
    return refused() ? NULL : numpys.calloc(context, count, size);
}

static void *failing_realloc(void *context, void *memory, size_t size)
{
    return refused() ? NULL : numpys.realloc(context, memory, size);
}

/* The functions of NumPy's default handler are replaced in place, so that no other handler bypasses them. */
void replace(allocator *handlers)
{
    numpys = *handlers;
    handlers->malloc = failing_malloc;
    handlers->calloc = failing_calloc;
    handlers->realloc = failing_realloc;
}

void watch(uintptr_t first, uintptr_t last)
{
    if (n_watched < MOST) {
        watched[n_watched].first = first;
        watched[n_watched++].last = last;
    }
}
