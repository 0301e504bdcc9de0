/* Rank 0 waits in an MPI call of each kind, for ranks that come late or never. Arguments: the kind; how late, ms, or
 * `never`; the path of a socket in place of the agent's. `freeze`: they never come, the agent of rank 2 stands still
 * before rank 0 waits, and rank 1 says `late` when that should have been found. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void rest(int ms) {
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&pause, NULL);
}

/* Ranks in reverse order, without rank 1. */
static MPI_Comm reversed(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1, size - rank, &made);
  return made;
}

/* `isLate`: what the others do for the call to return. */
static void play(const char *kind, int isLate) {
  int value = 0, more = 0, which, flag;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  static char large[1 << 24];
  if (strcmp(kind, "recv") == 0) {
    if (!isLate) MPI_Recv(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 2) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else if (strcmp(kind, "any") == 0) {
    if (!isLate) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 2) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else if (strcmp(kind, "probe") == 0) {
    if (!isLate) MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!isLate) MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else if (strcmp(kind, "ssend") == 0) {
    if (!isLate) MPI_Ssend(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    else if (rank == 2) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(kind, "send") == 0) {
    if (!isLate) MPI_Send(large, sizeof large, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1) MPI_Recv(large, sizeof large, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(kind, "sendrecv") == 0) {
    if (!isLate) MPI_Sendrecv(&value, 1, MPI_INT, 1, 0, &more, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else if (strcmp(kind, "wait") == 0) {
    if (isLate && rank == 2) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (isLate) return;
    MPI_Irecv(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, requests);
    MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
  } else if (strcmp(kind, "waitall") == 0) {
    if (isLate) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (isLate) return;
    for (int i = 0; i < 2; i++) MPI_Irecv(i ? &value : &more, 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(2, requests, statuses);
  } else if (strcmp(kind, "waitany") == 0) {
    if (isLate && rank == 1) rest(1000);
    if (isLate) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (isLate) return;
    for (int i = 0; i < 2; i++) MPI_Irecv(i ? &value : &more, 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1 - which], MPI_STATUS_IGNORE);
  } else if (strcmp(kind, "barrier") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(kind, "ibarrier") == 0) {
    MPI_Ibarrier(MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
  } else if (strcmp(kind, "allreduce") == 0) {
    MPI_Allreduce(&value, &more, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  const char *kind = argv[1], *late = argv[2];
  char token[16];
  int isFrozen = strcmp(late, "freeze") == 0;
  if (argc > 3) {
    snprintf(token, sizeof token, "0%s", getenv("STCI_RANK"));
    setenv("STCI_CLIENT_SOCKET", argv[3], 1);
    setenv("STCI_CLIENT_TOKEN", token, 1);
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm sub = strcmp(kind, "sub") == 0 ? reversed() : MPI_COMM_NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  printf("up %d %d\n", rank, (int)getpid());
  fflush(stdout);
  if (isFrozen) { /* By then nothing else is on the way that the agent would have to answer. */
    rest(rank == 2 ? 1500 : rank == 0 ? 2000 : 6000);
    if (rank == 1) puts("late"), fflush(stdout);
    if (rank == 2) kill(getppid(), SIGSTOP);
  }
  if (strcmp(kind, "quick") == 0) {
    int value = 0, more = 0;
    for (int i = 0; i < 100000; i++) {
      MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &more, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
  } else if (strcmp(kind, "sub") == 0) { /* Of ranks 2 and 0 in this order: 0 is rank 2 of the world. */
    int value = 0;
    if (rank == 2) rest(atoi(late));
    if (rank == 2) MPI_Send(&value, 1, MPI_INT, 1, 0, sub);
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 0, 0, sub, MPI_STATUS_IGNORE);
    MPI_Comm_free(&sub);
  } else if (rank == 0) play(kind, 0);
  else if (isFrozen || strcmp(late, "never") == 0) for (;;) pause();
  else rest(atoi(late)), play(kind, 1);
  printf("done %d\n", rank);
  fflush(stdout);
  if (rank == 0) rest(500); /* It computes: that it waits no more is told. */
  MPI_Finalize();
  return 0;
}
