/* Makes the n-th memory request fail, of arrays (NumPy's default handler, NEP 49) and of malloc in kernels. The tests
   compile this, and load it before the interpreter, so that its malloc is found first. */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST = 128 };

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

/* Add the range of a loaded library, if it holds the address that is asked for. */
static int add_holder(struct dl_phdr_info *library, size_t size, void *address)
{
    uintptr_t first = UINTPTR_MAX, last = 0, inside = (uintptr_t)address;
    (void)size;
    for (int j = 0; j < library->dlpi_phnum; j++)
        if (library->dlpi_phdr[j].p_type == PT_LOAD) {
            uintptr_t from = library->dlpi_addr + library->dlpi_phdr[j].p_vaddr, to = from + library->dlpi_phdr[j].p_memsz;
            first = from < first ? from : first;
            last = to > last ? to : last;
        }
    if (inside < first || inside >= last || n_watched == MOST)
        return 0;
    watched[n_watched].first = first;
    watched[n_watched++].last = last;
    return 1;
}

/* Watch the library that holds an address; 0 if there is none, or too many are watched. */
int watch(void *address)
{
    return dl_iterate_phdr(add_holder, address);
}
