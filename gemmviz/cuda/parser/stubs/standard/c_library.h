// Functions of the C library and of POSIX that host code calls. Those whose result alone matters take any arguments.
#pragma once

#define __GEMMVIZ_ANY(NAME, RESULT) template <class... Arguments> RESULT NAME(Arguments&&...);

struct FILE;
extern FILE *stdin, *stdout, *stderr;
struct timeval { long tv_sec, tv_usec; };
struct timespec { long tv_sec, tv_nsec; };
struct timezone { int tz_minuteswest, tz_dsttime; };
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; };
extern int errno, optind;
extern char* optarg;
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1

extern "C" {
int printf(const char*, ...);
int fprintf(FILE*, const char*, ...);
int sprintf(char*, const char*, ...);
int snprintf(char*, size_t, const char*, ...);
int scanf(const char*, ...);
int sscanf(const char*, const char*, ...);
int fscanf(FILE*, const char*, ...);
void* malloc(size_t);
void* calloc(size_t, size_t);
void* realloc(void*, size_t);
void* aligned_alloc(size_t, size_t);
void free(void*);
void* memcpy(void*, const void*, size_t);
void* memmove(void*, const void*, size_t);
void* memset(void*, int, size_t);
int memcmp(const void*, const void*, size_t);
size_t strlen(const char*);
}
__GEMMVIZ_ANY(puts, int)
__GEMMVIZ_ANY(putchar, int)
__GEMMVIZ_ANY(fputs, int)
__GEMMVIZ_ANY(fopen, FILE*)
__GEMMVIZ_ANY(fclose, int)
__GEMMVIZ_ANY(fflush, int)
__GEMMVIZ_ANY(fread, size_t)
__GEMMVIZ_ANY(fwrite, size_t)
__GEMMVIZ_ANY(fgets, char*)
__GEMMVIZ_ANY(fseek, int)
__GEMMVIZ_ANY(ftell, long)
__GEMMVIZ_ANY(getchar, int)
__GEMMVIZ_ANY(perror, void)
__GEMMVIZ_ANY(posix_memalign, int)
__GEMMVIZ_ANY(rand, int)
__GEMMVIZ_ANY(srand, void)
__GEMMVIZ_ANY(random, long)
__GEMMVIZ_ANY(srandom, void)
__GEMMVIZ_ANY(drand48, double)
__GEMMVIZ_ANY(srand48, void)
__GEMMVIZ_ANY(exit, void)
__GEMMVIZ_ANY(abort, void)
__GEMMVIZ_ANY(atexit, int)
__GEMMVIZ_ANY(system, int)
__GEMMVIZ_ANY(getenv, char*)
__GEMMVIZ_ANY(atoi, int)
__GEMMVIZ_ANY(atol, long)
__GEMMVIZ_ANY(atoll, long long)
__GEMMVIZ_ANY(atof, double)
__GEMMVIZ_ANY(strtol, long)
__GEMMVIZ_ANY(strtoul, unsigned long)
__GEMMVIZ_ANY(strtoll, long long)
__GEMMVIZ_ANY(strtof, float)
__GEMMVIZ_ANY(strtod, double)
__GEMMVIZ_ANY(strcmp, int)
__GEMMVIZ_ANY(strncmp, int)
__GEMMVIZ_ANY(strcasecmp, int)
__GEMMVIZ_ANY(strcpy, char*)
__GEMMVIZ_ANY(strncpy, char*)
__GEMMVIZ_ANY(strcat, char*)
__GEMMVIZ_ANY(strchr, char*)
__GEMMVIZ_ANY(strrchr, char*)
__GEMMVIZ_ANY(strstr, char*)
__GEMMVIZ_ANY(strtok, char*)
__GEMMVIZ_ANY(strdup, char*)
__GEMMVIZ_ANY(strerror, char*)
__GEMMVIZ_ANY(qsort, void)
__GEMMVIZ_ANY(isdigit, int)
__GEMMVIZ_ANY(isspace, int)
__GEMMVIZ_ANY(tolower, int)
__GEMMVIZ_ANY(toupper, int)
__GEMMVIZ_ANY(getopt, int)
__GEMMVIZ_ANY(time, time_t)
__GEMMVIZ_ANY(difftime, double)
__GEMMVIZ_ANY(localtime, tm*)
__GEMMVIZ_ANY(strftime, size_t)
__GEMMVIZ_ANY(gettimeofday, int)
__GEMMVIZ_ANY(clock_gettime, int)
__GEMMVIZ_ANY(nanosleep, int)
__GEMMVIZ_ANY(sleep, unsigned int)
__GEMMVIZ_ANY(usleep, int)
__GEMMVIZ_ANY(omp_get_wtime, double)
__GEMMVIZ_ANY(omp_get_thread_num, int)
__GEMMVIZ_ANY(omp_get_max_threads, int)
__GEMMVIZ_ANY(omp_get_num_threads, int)
__GEMMVIZ_ANY(omp_set_num_threads, void)
__GEMMVIZ_ANY(cudaProfilerStart, int)
__GEMMVIZ_ANY(cudaProfilerStop, int)
__GEMMVIZ_ANY(nvtxRangePush, int)
__GEMMVIZ_ANY(nvtxRangePushA, int)
__GEMMVIZ_ANY(nvtxRangePop, int)
clock_t clock();
void assert(bool);
template <class T> void assert(const T&);
