/*
 * Ends inside of the library. Rank 1 kills itself right after a message to its agent has left it: POINT is that of
 * MPI_Init or MPI_Finalize, of which MESSAGE is the first: hello, put, fence, bye. The executable's write and writev
 * are found before libc's by the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *volatile wanted = "";

/* PMI-1 has lines; a message of PMIx is a header, then a count and the number of the command. */
static void die_after(const char *bytes, size_t count) {
  static const struct { const char *name, *line; char command; } kinds[] = {
    {"hello", "cmd=init", 0}, {"put", "cmd=put", 2}, {"fence", "cmd=barrier_in", 3}, {"bye", "cmd=finalize", 5},
  };
  for (int i = 0; i < 4; i++) {
    if (strcmp(wanted, kinds[i].name) != 0) continue;
    int is_line = count >= strlen(kinds[i].line) && memcmp(bytes, kinds[i].line, strlen(kinds[i].line)) == 0;
    if (is_line || (count > 1 && bytes[0] == 2 && bytes[1] == kinds[i].command)) kill(getpid(), SIGKILL);
  }
}

ssize_t write(int file, const void *bytes, size_t count) {
  ssize_t (*real)(int, const void *, size_t) = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  ssize_t written = real(file, bytes, count);
  die_after(bytes, count);
  return written;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  ssize_t (*real)(int, const struct iovec *, int) =
      (ssize_t (*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
  ssize_t written = real(file, parts, count);
  if (count > 0) die_after(parts[count - 1].iov_base, parts[count - 1].iov_len);
  return written;
}

int main(int argc, char **argv) {
  const char *own = getenv("STCI_RANK"), *point = argc > 1 ? argv[1] : "", *message = argc > 2 ? argv[2] : "";
  int is_victim = own != NULL && strcmp(own, "1") == 0;
  if (is_victim && strcmp(point, "init") == 0) wanted = message;
  MPI_Init(&argc, &argv);
  wanted = "";
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_victim && strcmp(point, "finalize") == 0) wanted = message;
  MPI_Finalize();
  return 0;
}
