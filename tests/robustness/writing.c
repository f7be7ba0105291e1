/* A thread that writes to the arrays of a call without holding the GIL, as NumPy does in threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static struct {
    char *place;
    char *first; /* a copy of the original bytes */
    int64_t count, size;
} victims[MOST];
static int n_victims;
static volatile int going;
static uint64_t state = 88172645463325252ULL;
static pthread_t thread;

static const int64_t GARBAGE[] = {-1, 0, 1, 2, 127, 255, 1000000, INT64_MAX, INT64_MIN, 0x7ff8000000000000, 0x7fc00000};

static uint64_t drawn(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void *run(void *unused)
{
    while (going) {
        const int v = (int)(drawn() % (uint64_t)n_victims);
        char *place = victims[v].place + (int64_t)(drawn() % (uint64_t)victims[v].count) * victims[v].size;
        const uint64_t which = drawn();
        for (int64_t done = 0; done < victims[v].size; done += 8) {
            const int64_t garbage = GARBAGE[which % (sizeof GARBAGE / sizeof *GARBAGE)];
            const int64_t rest = victims[v].size - done;
            memcpy(place + done, &garbage, (size_t)(rest < 8 ? rest : 8));
        }
        for (volatile uint64_t wait = drawn() % 200; wait > 0; wait--)
            ;
        if (drawn() % 4)
            memcpy(victims[v].place, victims[v].first, (size_t)(victims[v].count * victims[v].size));
    }
    return unused;
}

void add_victim(char *place, int64_t count, int64_t size)
{
    if (n_victims == MOST || count == 0 || size == 0)
        return;
    char *first = malloc((size_t)(count * size));
    if (first == NULL)
        return;
    memcpy(first, place, (size_t)(count * size));
    victims[n_victims].place = place;
    victims[n_victims].first = first;
    victims[n_victims].count = count;
    victims[n_victims++].size = size;
}

int begin_writing(uint64_t seed)
{
    state = seed * 2 + 88172645463325253ULL;
    if (n_victims == 0)
        return 0;
    going = 1;
    if (pthread_create(&thread, NULL, run, NULL) != 0)
        going = 0;
    return going;
}

void end_writing(void)
{
    if (going) {
        going = 0;
        pthread_join(thread, NULL);
    }
    while (n_victims)
        free(victims[--n_victims].first);
}
