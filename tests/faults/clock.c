/* Adds an offset to the wall clock of a process, for the fault `clock`. LD_PRELOAD names this library, and FAULTS_CLOCK a file that
 * begins with the offset: an int64 in nanoseconds, which may change at any time. The steady clock stays right.
 *
 * Nothing here allocates memory. libfaketime does: the binary waits forever in its first allocation, in which jemalloc reads the clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t SECOND = 1000000000;

static const volatile int64_t *offset;
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
  /* The function in the C library needs no system call. */
  real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("FAULTS_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *page = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (page != MAP_FAILED) offset = page;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  /* Earlier constructors read the clock, too. */
  int outcome = real_clock_gettime ? real_clock_gettime(clock, now) : (int)syscall(SYS_clock_gettime, clock, now);
  if (outcome != 0 || !offset || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return outcome;
  int64_t shown = now->tv_sec * SECOND + now->tv_nsec + *offset;
  now->tv_sec = shown / SECOND;
  now->tv_nsec = shown % SECOND;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  if (now) *now = precise.tv_sec;
  return precise.tv_sec;
}
