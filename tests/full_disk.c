/* Fails writes of this process as a full disk does: preloaded, and told from Python which write is the first to fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[4096];
static long left = -1;  /* writes that still succeed; -1: all */

void full_disk_arm(const char* path, long writes) { strncpy(folder, path, sizeof folder - 1); left = writes; }
long full_disk_disarm(void) { long had = left; left = -1; return had; }

static int is_full(int file)
{
    char link[64], path[4096];
    if (left < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (strncmp(path, folder, strlen(folder))) return 0;
    if (left > 0) { --left; return 0; }
    errno = ENOSPC;
    return 1;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void* data, size_t size) { REAL(write); return is_full(file) ? -1 : real(file, data, size); }
ssize_t pwrite(int file, const void* data, size_t size, off_t at) { REAL(pwrite); return is_full(file) ? -1 : real(file, data, size, at); }
ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) { REAL(pwrite64); return is_full(file) ? -1 : real(file, data, size, at); }
ssize_t writev(int file, const struct iovec* parts, int count) { REAL(writev); return is_full(file) ? -1 : real(file, parts, count); }
