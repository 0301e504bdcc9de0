/* What an MPI program does at the least, and where it asks its launcher: one mode a run. Prints "ok" a rank. */
#include <mpi.h>
#ifdef WITH_FT
#include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }

static int collectives(void) {
  int sum = -1, from = -1;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return sum == size * (size - 1) / 2 && from == (rank + size - 1) % size;
}

/* Each rank writes its number into a file, and reads that of the next. */
static int file(const char *path) {
  int read = -1, next = (rank + 1) % size;
  MPI_File handle;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &handle);
  MPI_File_write_at(handle, rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(handle);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at(handle, next * (MPI_Offset)sizeof next, &read, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&handle);
  return read == next;
}

/* The lower half accepts under a published name, the upper one looks it up and connects. */
static int connected(void) {
  char port[MPI_MAX_PORT_NAME];
  int half = size / 2, remote = -1;
  MPI_Comm part, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank < half, rank, &part);
  if (rank < half) {
    if (rank == 0) {
      MPI_Open_port(MPI_INFO_NULL, port);
      MPI_Publish_name("stci service", MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, part, &inter);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == half) MPI_Lookup_name("stci service", MPI_INFO_NULL, port);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, part, &inter);
  }
  MPI_Comm_remote_size(inter, &remote);
  MPI_Comm_disconnect(&inter);
  if (rank == 0) MPI_Unpublish_name("stci service", MPI_INFO_NULL, port);
  return remote == (rank < half ? size - half : half);
}

/* One of two jobs accepts, the other connects; each sends the other its size. */
static int met(const char *mode) {
  char port[MPI_MAX_PORT_NAME];
  int remote = -1, told = -1;
  MPI_Comm inter;
  if (is(mode, "accept")) {
    if (rank == 0) {
      MPI_Open_port(MPI_INFO_NULL, port);
      MPI_Publish_name("stci meeting", MPI_INFO_NULL, port);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  } else {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (rank == 0 && MPI_Lookup_name("stci meeting", MPI_INFO_NULL, port) != MPI_SUCCESS) usleep(20000);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  }
  MPI_Comm_remote_size(inter, &remote);
  if (rank == 0) MPI_Sendrecv(&size, 1, MPI_INT, 0, 0, &told, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&inter);
  return rank != 0 || told == remote;
}

/* Two more ranks of the same program, and a sum over all. */
static int spawned(char *self, const char *key, char *value) {
  int one = 1, total = 0, all_size = 0;
  MPI_Comm parent, inter, all;
  MPI_Comm_get_parent(&parent);
  inter = parent;
  if (parent == MPI_COMM_NULL) {
    char *args[] = {"spawn", NULL};
    MPI_Info info;
    MPI_Info_create(&info);
    if (key != NULL) MPI_Info_set(info, key, value);
    MPI_Comm_spawn(self, args, 2, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &all);
  MPI_Comm_size(all, &all_size);
  MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&inter);
  return total == all_size;
}

static int windows(void) {
  int *own, next = (rank + 1) % size, isRight;
  MPI_Win window;
  MPI_Win_allocate(sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
  *own = -1;
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  isRight = *own == (rank + size - 1) % size;
  MPI_Win_free(&window);
  return isRight;
}

#ifdef WITH_FT
/* The last rank dies; the others learn of it, and go on without it. */
static int survived(void) {
  int value = 1, sum = -1, class, code, flag = 1;
  MPI_Comm rest;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) raise(SIGKILL);
  code = MPI_Recv(&value, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Error_class(code, &class);
  if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED) return 0;
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  MPIX_Comm_shrink(MPI_COMM_WORLD, &rest);
  MPIX_Comm_agree(rest, &flag);
  value = 1;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, rest);
  MPI_Comm_free(&rest);
  return sum == size - 1;
}
#endif

/* Where it runs, a variable, and what it reads. */
static void says(void) {
  char here[4096] = "", word[64] = "-";
  const char *own = getenv("OWN");
  if (scanf("%63s", word) != 1) strcpy(word, "-");
  printf("rank %d says %s %s %s\n", rank, getcwd(here, sizeof here), own == NULL ? "-" : own, word);
}

#if MPI_VERSION >= 4
/* A communicator without MPI_COMM_WORLD: a group of PMIx. */
static int sessions(void) {
  int one = 1, total = -1, count;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm all;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "stci", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
  MPI_Comm_size(all, &count);
  MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_rank(all, &rank);
  size = count;
  MPI_Comm_free(&all);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  printf("rank %d of %d session %s\n", rank, count, total == count ? "ok" : "wrong");
  return total == count ? 0 : 1;
}
#endif

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "collectives", *own = getenv("STCI_RANK");
  int ok = 1, flag = 0, *universe = NULL, host_size = 0;
  MPI_Comm host;
  if (is(mode, "dies-before") && own != NULL && strcmp(own, "1") == 0) raise(SIGKILL);
#if MPI_VERSION >= 4
  if (is(mode, "sessions")) return sessions();
#endif
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (is(mode, "abort") && rank == size - 1) MPI_Abort(MPI_COMM_WORLD, argc > 2 ? atoi(argv[2]) : 37);
  if (is(mode, "vanish") && rank == size - 1) _exit(0);
  if (is(mode, "fail") && rank == size - 1) _exit(3);
  if (is(mode, "dies") && rank == size - 1) raise(SIGKILL);
  if (is(mode, "wrong-rank") && rank == size - 1) MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
  if (is(mode, "says")) says();
  if (is(mode, "wait")) {
    printf("rank %d waits\n", rank);
    fflush(stdout);
    pause();
  }
#ifdef WITH_FT
  if (is(mode, "survive")) {
    ok = survived();
    printf("rank %d of %d %s\n", rank, size, ok ? "ok" : "wrong");
    MPI_Finalize();
    return ok ? 0 : 1;
  }
#endif
  ok &= collectives();
  if (is(mode, "connect")) ok &= connected();
  if (is(mode, "accept") || is(mode, "meet")) ok &= met(mode);
  if (is(mode, "spawn")) ok &= spawned(argv[0], argc > 3 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
  if (is(mode, "windows")) ok &= windows();
  if (is(mode, "file")) ok &= file(argv[2]);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &host_size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
  printf("rank %d of %d host %d universe %d %s\n", rank, size, host_size, flag ? *universe : -1, ok ? "ok" : "wrong");
  fflush(stdout);
  MPI_Finalize();
  if (is(mode, "after") && rank == size - 1) return 5;
  return ok ? 0 : 1;
}
