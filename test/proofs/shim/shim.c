// An LD_PRELOAD library between a server and the C library. It records every write, truncation and sync of one SQLite
// database's files in order, interleaved with writes to sockets, so that the log also orders the responses to
// clients. It can also make the disk fail. It supports one thread: the service writes in one.
//
//   SHIM_DATABASE  the file; its -wal and -journal belong to it. The -shm does not: it is mapped, and rebuilt.
//   SHIM_LOG       where the records go, if anywhere
//   SHIM_FAIL_AT   which write, truncation or sync of its files fails, counted from 1
//   SHIM_FAIL_HOW  error: EIO and nothing done; half: half is written, then EIO; short: half is written, and it says so
//   SHIM_FULL      while this file exists, no file of the database can grow (ENOSPC)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// shim.ts has the same numbers.
enum { OP_WRITE = 1, OP_TRUNCATE, OP_SYNC, OP_SEND, OP_CREATE, OP_UNLINK, OP_FAIL };
enum { NOTHING = 0, MAIN = 1, WAL, JOURNAL, FOLDER, SOCKET, OTHER };

struct record {
  uint32_t op;
  uint32_t file;
  uint64_t offset;
  uint64_t length;
};

#define MOST_FILES 4096
static unsigned char kinds[MOST_FILES];
static const char *database, *full, *fail_how;
static char folder[4096];
static long fail_at, operations;
static int log_file = -1;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void begin(void) {
  database = getenv("SHIM_DATABASE");
  full = getenv("SHIM_FULL");
  fail_how = getenv("SHIM_FAIL_HOW");
  if (!fail_how) fail_how = "error";
  const char *at = getenv("SHIM_FAIL_AT"), *path = getenv("SHIM_LOG");
  fail_at = at ? atol(at) : 0;
  if (database && strrchr(database, '/')) memcpy(folder, database, strrchr(database, '/') - database);
  if (path) log_file = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  // Child processes are not recorded.
  unsetenv("LD_PRELOAD");
}

static void note(int op, int file, uint64_t offset, const void *bytes, uint64_t length) {
  if (log_file < 0) return;
  struct record head = {op, file, offset, length};
  struct iovec parts[2] = {{&head, sizeof head}, {(void *)bytes, bytes ? length : 0}};
  int kept = errno;
  // An incomplete record would make the rest of the log unreadable.
  if (REAL(writev)(log_file, parts, 2) != (ssize_t)(sizeof head + parts[1].iov_len)) abort();
  errno = kept;
}

static int kind_of_path(const char *path) {
  if (!database) return OTHER;
  size_t length = strlen(database);
  if (strcmp(path, folder) == 0) return FOLDER;
  if (strncmp(path, database, length) != 0) return OTHER;
  if (path[length] == 0) return MAIN;
  if (strcmp(path + length, "-wal") == 0) return WAL;
  if (strcmp(path + length, "-journal") == 0) return JOURNAL;
  return OTHER;
}

static int kind(int fd) {
  if (fd < 0 || fd >= MOST_FILES || !database) return OTHER;
  if (kinds[fd] == NOTHING) {
    struct stat about;
    kinds[fd] = fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode) ? SOCKET : OTHER;
  }
  return kinds[fd];
}

static int is_tracked(int fd) {
  int what = kind(fd);
  return what >= MAIN && what <= FOLDER;
}

/** Whether this operation is the one that fails; only a write can be short. */
static int fails(int operation) {
  return ++operations == fail_at && (operation == OP_WRITE || strcmp(fail_how, "short") != 0);
}

static int opened(int fd, const char *path, int flags, int was_there) {
  if (fd < 0 || fd >= MOST_FILES) return fd;
  kinds[fd] = flags & O_PATH ? OTHER : kind_of_path(path);
  if (kinds[fd] == OTHER) kinds[fd] = NOTHING;
  if ((flags & O_CREAT) && !was_there && is_tracked(fd)) note(OP_CREATE, kinds[fd], 0, NULL, 0);
  return fd;
}

#define OPEN(name, call, ...)                                   \
  int name(__VA_ARGS__, int flags, ...) {                       \
    mode_t mode = 0;                                            \
    if (flags & (O_CREAT | O_TMPFILE)) {                        \
      va_list rest;                                             \
      va_start(rest, flags);                                    \
      mode = va_arg(rest, mode_t);                              \
      va_end(rest);                                             \
    }                                                           \
    int was_there = access(path, F_OK) == 0;                    \
    return opened(call, path, flags, was_there);                \
  }
OPEN(open, REAL(open)(path, flags, mode), const char *path)
OPEN(open64, REAL(open64)(path, flags, mode), const char *path)
OPEN(openat, REAL(openat)(at, path, flags, mode), int at, const char *path)

int close(int fd) {
  if (fd >= 0 && fd < MOST_FILES) kinds[fd] = NOTHING;
  return REAL(close)(fd);
}

static int is_no_room(int fd, off_t end) {
  struct stat about;
  return full && access(full, F_OK) == 0 && fstat(fd, &about) == 0 && end > about.st_size;
}

static ssize_t write_at(int fd, const void *bytes, size_t length, off_t offset) {
  if (is_no_room(fd, offset + length)) {
    errno = ENOSPC;
    return -1;
  }
  int is_half = 0, is_error = 0;
  if (fails(OP_WRITE)) {
    note(OP_FAIL, kinds[fd], OP_WRITE, NULL, 0);
    is_half = strcmp(fail_how, "half") == 0 || strcmp(fail_how, "short") == 0;
    is_error = strcmp(fail_how, "half") == 0 || strcmp(fail_how, "error") == 0;
  }
  ssize_t written = is_error && !is_half ? 0 : REAL(pwrite)(fd, bytes, is_half ? length / 2 : length, offset);
  if (written > 0) note(OP_WRITE, kinds[fd], offset, bytes, written);
  if (!is_error) return written;
  errno = EIO;
  return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  return is_tracked(fd) ? write_at(fd, bytes, length, offset) : REAL(pwrite)(fd, bytes, length, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  return pwrite(fd, bytes, length, offset);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  if (is_tracked(fd)) {
    off_t offset = lseek(fd, 0, SEEK_CUR);
    ssize_t written = write_at(fd, bytes, length, offset);
    if (written > 0) lseek(fd, offset + written, SEEK_SET);
    return written;
  }
  if (kind(fd) == SOCKET) note(OP_SEND, SOCKET, 0, bytes, length);
  return REAL(write)(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  // SQLite does not use this call; an unrecorded change would make the log wrong.
  if (is_tracked(fd)) abort();
  if (kind(fd) == SOCKET)
    for (int part = 0; part < count; part++) note(OP_SEND, SOCKET, 0, parts[part].iov_base, parts[part].iov_len);
  return REAL(writev)(fd, parts, count);
}

int ftruncate(int fd, off_t length) {
  if (!is_tracked(fd)) return REAL(ftruncate)(fd, length);
  if (is_no_room(fd, length)) {
    errno = ENOSPC;
    return -1;
  }
  if (fails(OP_TRUNCATE)) {
    note(OP_FAIL, kinds[fd], OP_TRUNCATE, NULL, 0);
    errno = EIO;
    return -1;
  }
  int result = REAL(ftruncate)(fd, length);
  if (result == 0) note(OP_TRUNCATE, kinds[fd], length, NULL, 0);
  return result;
}

int ftruncate64(int fd, off64_t length) {
  return ftruncate(fd, length);
}

static int sync_by(int fd, int (*call)(int)) {
  if (!is_tracked(fd)) return call(fd);
  // A sync of the folder never fails: SQLite ignores its error (unixSync in os_unix.c).
  if (kinds[fd] != FOLDER && fails(OP_SYNC)) {
    note(OP_FAIL, kinds[fd], OP_SYNC, NULL, 0);
    errno = EIO;
    return -1;
  }
  int result = call(fd);
  if (result == 0) note(OP_SYNC, kinds[fd], 0, NULL, 0);
  return result;
}

int fsync(int fd) {
  return sync_by(fd, REAL(fsync));
}

int fdatasync(int fd) {
  return sync_by(fd, REAL(fdatasync));
}

int unlink(const char *path) {
  int what = kind_of_path(path);
  int result = REAL(unlink)(path);
  if (result == 0 && what != OTHER) note(OP_UNLINK, what, 0, NULL, 0);
  return result;
}
