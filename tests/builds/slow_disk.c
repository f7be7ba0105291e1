/* Makes every change of a file system wait, as on a slow disk. `tests.builds.elsewhere` compiles this, and loads it
   before the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#define SLOW(name, parameters, arguments)                                        \
    int name parameters                                                          \
    {                                                                            \
        static int(*own) parameters;                                             \
        struct timespec wait = {0, 3000000};                                     \
        if (!own)                                                                \
            own = (int(*) parameters)dlsym(RTLD_NEXT, #name);                    \
        nanosleep(&wait, NULL);                                                  \
        return own arguments;                                                    \
    }

SLOW(fsync, (int file), (file))
SLOW(fdatasync, (int file), (file))
SLOW(ftruncate, (int file, off_t size), (file, size))
SLOW(rename, (const char *from, const char *to), (from, to))
SLOW(unlink, (const char *name), (name))
SLOW(rmdir, (const char *name), (name))
SLOW(mkdir, (const char *name, mode_t mode), (name, mode))
