/* A library for LD_PRELOAD that makes a disk fail and a clock go wrong, as a page of memory says that the
 * tests share with the process (see shim.py, which knows the same layout).
 *
 * Only calls on paths below `root` fail. Calls that the process makes without libc are not seen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OPEN_WRITE = 1, WRITE = 2, SYNC = 4, RENAME = 8, MKDIR = 16, TRUNCATE = 32, OPEN_READ = 64 };
enum { SHORT = 1, LOSE = 2 };
enum { LOST_MAX = 64, FILES = 8192 };

struct lost {
  uint64_t inode, from, to;
};

struct control {
  uint32_t calls;   /* which calls may fail; 0: none */
  uint32_t error;   /* the errno they fail with */
  uint32_t flags;   /* SHORT: half of a write is done first; LOSE: what a failed sync had to keep is lost */
  uint32_t ppm;     /* how many of a million calls fail */
  uint64_t skip;    /* so many calls are let pass first */
  uint64_t burst;   /* then so many fail; 0: all */
  uint64_t seen;    /* calls counted since the rule was set */
  uint64_t failed;  /* how many of them failed */
  uint64_t chance;  /* state of the random numbers */
  double rate;      /* the wall clock goes so fast, from `since_ns` on */
  int64_t since_ns;
  int64_t offset_ns;
  uint64_t lost_count;
  char part[64];    /* only paths that contain this */
  char root[256];
  struct lost lost[LOST_MAX];
};

static struct control *control;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  uint64_t inode, bytes;
} synced[FILES];

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULTS_CONTROL");
  int fd = path ? REAL(open)(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *page = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page != MAP_FAILED) control = page;
  close(fd);
}

/* Whether this call is one that fails. */
static int strikes(uint32_t call, const char *path) {
  if (!control || !(control->calls & call)) return 0;
  size_t length = strlen(control->root);
  if (strncmp(path, control->root, length) || (path[length] && path[length] != '/')) return 0;
  if (control->part[0] && !strstr(path, control->part)) return 0;
  pthread_mutex_lock(&lock);
  uint64_t number = control->seen++;
  control->chance = control->chance * 6364136223846793005u + 1442695040888963407u;
  int hit = number >= control->skip && (!control->burst || number < control->skip + control->burst) &&
            (control->chance >> 33) % 1000000 < control->ppm;
  if (hit) control->failed++;
  pthread_mutex_unlock(&lock);
  return hit;
}

static int strikes_file(uint32_t call, int fd) {
  char link[64], path[PATH_MAX];
  if (!control || !(control->calls & call)) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strikes(call, path);
}

static int fail(void) {
  errno = (int)control->error;
  return -1;
}

/* --- Files */

static int wants_write(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
}

/* The length up to which a file was synced, after it is set to `bytes` unless that is negative. */
static uint64_t synced_bytes(uint64_t inode, int64_t bytes) {
  uint64_t was = 0;
  for (uint64_t step = 0; step < FILES; step++) {
    uint64_t at = (inode + step) % FILES;
    if (synced[at].inode && synced[at].inode != inode) continue;
    was = synced[at].inode ? synced[at].bytes : 0;
    if (bytes >= 0) {
      synced[at].inode = inode;
      synced[at].bytes = (uint64_t)bytes;
    }
    break;
  }
  return was;
}

static int seen_before(uint64_t inode) {
  for (uint64_t step = 0; step < FILES; step++) {
    uint64_t at = (inode + step) % FILES;
    if (!synced[at].inode) return 0;
    if (synced[at].inode == inode) return 1;
  }
  return 1;
}

/* A file that this process has not seen was there before it, and is on the disk as it is. */
static int opened(int fd, int flags) {
  struct stat file;
  int error = errno;
  if (fd >= 0 && control && wants_write(flags) && !fstat(fd, &file) && S_ISREG(file.st_mode)) {
    pthread_mutex_lock(&lock);
    if (!seen_before(file.st_ino) || (flags & O_TRUNC)) synced_bytes(file.st_ino, file.st_size);
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return fd;
}

#define OPEN(name)                                                                        \
  int name(const char *path, int flags, ...) {                                            \
    va_list rest;                                                                         \
    va_start(rest, flags);                                                                \
    mode_t mode = va_arg(rest, mode_t);                                                   \
    va_end(rest);                                                                         \
    if (strikes(wants_write(flags) ? OPEN_WRITE : OPEN_READ, path)) return fail();        \
    return opened(REAL(name)(path, flags, mode), flags);                                  \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                      \
  int name(int folder, const char *path, int flags, ...) {                                \
    va_list rest;                                                                         \
    va_start(rest, flags);                                                                \
    mode_t mode = va_arg(rest, mode_t);                                                   \
    va_end(rest);                                                                         \
    if (strikes(wants_write(flags) ? OPEN_WRITE : OPEN_READ, path)) return fail();        \
    return opened(REAL(name)(folder, path, flags, mode), flags);                          \
  }
OPENAT(openat)
OPENAT(openat64)

/* What is written again after a failed sync is not lost. */
static void rewritten(int fd, off_t from, size_t bytes) {
  struct stat file;
  if (!control || !control->lost_count || fstat(fd, &file)) return;
  pthread_mutex_lock(&lock);
  for (uint64_t n = 0; n < control->lost_count; n++) {
    struct lost *lost = &control->lost[n];
    if (lost->inode == file.st_ino && (uint64_t)from <= lost->from && lost->from < from + bytes)
      lost->from = from + bytes < lost->to ? from + bytes : lost->to;
  }
  pthread_mutex_unlock(&lock);
}

static off_t end_of_write(int fd, ssize_t done) {
  off_t now = lseek(fd, 0, SEEK_CUR);
  return now < done ? 0 : now - done;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  if (strikes_file(WRITE, fd)) {
    if (!(control->flags & SHORT) || count < 2) return fail();
    count /= 2;
  }
  ssize_t done = REAL(write)(fd, bytes, count);
  if (control && control->lost_count && done > 0) rewritten(fd, end_of_write(fd, done), (size_t)done);
  return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (strikes_file(WRITE, fd)) return fail();
  ssize_t done = REAL(writev)(fd, parts, count);
  if (control && control->lost_count && done > 0) rewritten(fd, end_of_write(fd, done), (size_t)done);
  return done;
}

#define PWRITE(name, offset)                                                              \
  ssize_t name(int fd, const void *bytes, size_t count, offset at) {                      \
    if (strikes_file(WRITE, fd)) {                                                        \
      if (!(control->flags & SHORT) || count < 2) return fail();                          \
      count /= 2;                                                                         \
    }                                                                                     \
    ssize_t done = REAL(name)(fd, bytes, count, at);                                      \
    if (done > 0) rewritten(fd, at, (size_t)done);                                        \
    return done;                                                                          \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t count, unsigned flags) {
  if (strikes_file(WRITE, out)) return fail();
  return REAL(copy_file_range)(in, in_at, out, out_at, count, flags);
}

/* --- Syncs */

static int sync_file(int fd, int (*sync)(int)) {
  struct stat file;
  int hit = strikes_file(SYNC, fd);
  int known = control && !fstat(fd, &file) && S_ISREG(file.st_mode);
  int result = hit ? fail() : sync(fd);
  int error = errno;
  if (known) {
    pthread_mutex_lock(&lock);
    uint64_t was = synced_bytes(file.st_ino, hit ? -1 : (int64_t)file.st_size);
    if (hit && (control->flags & LOSE) && was < (uint64_t)file.st_size && control->lost_count < LOST_MAX)
      control->lost[control->lost_count++] = (struct lost){file.st_ino, was, (uint64_t)file.st_size};
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return result;
}

int fsync(int fd) {
  return sync_file(fd, REAL(fsync));
}

int fdatasync(int fd) {
  return sync_file(fd, REAL(fdatasync));
}

/* --- Names */

int rename(const char *from, const char *to) {
  return strikes(RENAME, to) ? fail() : REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode) {
  return strikes(MKDIR, path) ? fail() : REAL(mkdir)(path, mode);
}

int ftruncate(int fd, off_t length) {
  return strikes_file(TRUNCATE, fd) ? fail() : REAL(ftruncate)(fd, length);
}

int ftruncate64(int fd, off64_t length) {
  return strikes_file(TRUNCATE, fd) ? fail() : REAL(ftruncate64)(fd, length);
}

/* --- The wall clock. The monotonic one stays: the kernel's own time-outs go by it. */

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*call)(clockid_t, struct timespec *);
  if (!call) call = REAL(clock_gettime);
  int result = call(clock, now);
  if (result || !control || clock != CLOCK_REALTIME || !control->since_ns) return result;
  int64_t ns = now->tv_sec * 1000000000ll + now->tv_nsec - control->since_ns;
  ns = control->since_ns + control->offset_ns + (int64_t)((double)ns * control->rate);
  now->tv_sec = ns / 1000000000ll;
  now->tv_nsec = ns % 1000000000ll;
  return 0;
}
