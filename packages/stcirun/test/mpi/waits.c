/* Rank 0 waits in an MPI call of each kind, for ranks that come when the test says so, or never. Arguments: the kind;
 * the path of files by which the test says it: PATH.1, rank 0 may begin; PATH.2 and PATH.3, the others may come;
 * PATH.end; and the path of a socket in place of the agent's: then nobody waits in MPI before. `freeze` in its place:
 * the agent of rank 2 stands still before rank 0 waits, and rank 1 says `late` when that should have been found. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Longer than two looks of the shim. */
#define TOLD_MS 200
/* After it nothing is on the way that an agent would have to answer. */
#define QUIET_MS 1500
/* Longer than the detector needs. */
#define FOUND_MS 4000

static int rank;
static const char *steps;
static MPI_Comm sub = MPI_COMM_NULL;

static void rest(int ms) {
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&pause, NULL);
}

static void await(const char *step) {
  char path[256];
  snprintf(path, sizeof path, "%s.%s", steps, step);
  while (access(path, F_OK) != 0) rest(5);
}

/* Of ranks 2 and 0 in this order, made by a call that the shim does not know. */
static void makeSub(void) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, (int[]){2, 0}, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &sub);
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
    if (isLate && rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (isLate) return;
    MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, requests);
    for (flag = 0; !flag;) MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
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
    if (isLate && rank == 1) await("3");
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
  } else if (strcmp(kind, "sub") == 0) { /* Rank 0 of it is rank 2 of the world. */
    if (!isLate) MPI_Recv(&value, 1, MPI_INT, 0, 0, sub, MPI_STATUS_IGNORE);
    else if (rank == 2) MPI_Send(&value, 1, MPI_INT, 1, 0, sub);
  }
}

int main(int argc, char **argv) {
  const char *kind = argv[1];
  char token[16];
  int isFrozen = argc > 3 && strcmp(argv[3], "freeze") == 0, isToAgent = argc > 3 && !isFrozen;
  steps = argv[2];
  if (isToAgent) {
    snprintf(token, sizeof token, "0%s", getenv("STCI_RANK"));
    setenv("STCI_CLIENT_SOCKET", argv[3], 1);
    setenv("STCI_CLIENT_TOKEN", token, 1);
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!isToAgent) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(kind, "sub") == 0 && rank != 1) makeSub();
  printf("up %d %d\n", rank, (int)getpid());
  fflush(stdout);
  await("1");
  if (isFrozen) {
    rest(QUIET_MS);
    if (rank == 2) kill(getppid(), SIGSTOP);
    rest(rank == 1 ? FOUND_MS : 500);
    if (rank == 1) puts("late"), fflush(stdout);
  }
  if (strcmp(kind, "quick") == 0) {
    int value = 0, more = 0;
    for (int i = 0; i < 100000; i++) {
      MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &more, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
  } else if (rank == 0) play(kind, 0);
  else {
    await("2");
    rest(TOLD_MS);
    play(kind, 1);
  }
  printf("done %d\n", rank);
  fflush(stdout);
  if (sub != MPI_COMM_NULL) MPI_Comm_free(&sub);
  await("end"); /* MPI_Finalize is a wait, too. */
  MPI_Finalize();
  return 0;
}
