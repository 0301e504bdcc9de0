/* What an MPI program does at the least, and where it asks its launcher: one mode a run. Prints "ok" a rank. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static int collectives(void) {
  int sum = -1, from = -1;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return sum == size * (size - 1) / 2 && from == (rank + size - 1) % size;
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
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, part, &inter);
  } else {
    if (rank == half) MPI_Lookup_name("stci service", MPI_INFO_NULL, port);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, part, &inter);
  }
  MPI_Comm_remote_size(inter, &remote);
  MPI_Comm_disconnect(&inter);
  if (rank == 0) MPI_Unpublish_name("stci service", MPI_INFO_NULL, port);
  return remote == (rank < half ? size - half : half);
}

/* Two more ranks of the same program, and a sum over all. */
static int spawned(char *self) {
  int one = 1, total = 0, all_size = 0;
  MPI_Comm parent, inter, all;
  MPI_Comm_get_parent(&parent);
  inter = parent;
  if (parent == MPI_COMM_NULL) {
    char *args[] = {"spawn", NULL};
    MPI_Comm_spawn(self, args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &all);
  MPI_Comm_size(all, &all_size);
  MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&inter);
  return total == all_size;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "collectives";
  int ok = 1, flag = 0, *universe = NULL, host_size = 0;
  MPI_Comm host;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(mode, "abort") == 0 && rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 37);
  if (strcmp(mode, "vanish") == 0 && rank == size - 1) _exit(0);
  ok &= collectives();
  if (strcmp(mode, "connect") == 0) ok &= connected();
  if (strcmp(mode, "spawn") == 0) ok &= spawned(argv[0]);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &host_size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
  printf("rank %d of %d host %d universe %d %s\n", rank, size, host_size, flag ? *universe : -1, ok ? "ok" : "wrong");
  fflush(stdout);
  MPI_Finalize();
  return ok ? 0 : 1;
}
