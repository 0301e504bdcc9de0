/* What bench/mpi.mjs measures. init: time from the start of MPI_Init to the end of the first barrier, the longest of
 * all ranks, in ms; survive: from the kill of the last rank to the agreed new communicator, the longest, in ms;
 * wait: as init, and waits for a signal then. */
#include <mpi.h>
#ifdef WITH_FT
#include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
  int rank, size;
  double start = now_ms(), took, longest;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  took = now_ms() - start;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef WITH_FT
  if (argc > 1 && strcmp(argv[1], "survive") == 0) {
    MPI_Comm rest;
    int flag = 1, value;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    start = now_ms();
    MPI_Bcast(&start, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    if (rank == size - 1) {
      struct timespec pause = {0, 100000000};
      nanosleep(&pause, NULL);
      raise(SIGKILL);
    }
    MPI_Recv(&value, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPIX_Comm_shrink(MPI_COMM_WORLD, &rest);
    MPIX_Comm_agree(rest, &flag);
    took = now_ms() - start - 100;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, rest);
    if (rank == 0) printf("took %f\n", longest);
    MPI_Comm_free(&rest);
    MPI_Finalize();
    return 0;
  }
#endif
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("took %f\n", longest);
  if (argc > 1 && strcmp(argv[1], "wait") == 0) {
    fflush(stdout);
    pause();
  }
  MPI_Finalize();
  return 0;
}
