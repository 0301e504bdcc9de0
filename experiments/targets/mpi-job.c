/*
 * MPI jobs for the experiments on what detectors cost (Kharbas, chapter 4), of the two kinds that NAS has at its ends:
 * `exchange ROUNDS`: integers are sorted by buckets, as IS does: each round draws keys, agrees on how many fall into
 * each bucket, and gives every rank those of its bucket, all to all. `compute MILLIONS`: each rank draws so many pairs
 * of numbers and counts those inside of the circle, as EP does; they meet once, at the end. Rank 0 prints `took MS ms`.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 65536
#define KEY_MAX 0x7fffffffU

static int rank, size;

static uint32_t draw(uint64_t *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (uint32_t)(*state >> 33);
}

static int compare(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void *array(size_t count, size_t bytes) {
  void *made = calloc(count, bytes);
  if (made == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  return made;
}

static int bucketOf(uint32_t key) {
  return (int)((uint64_t)key * (uint64_t)size / ((uint64_t)KEY_MAX + 1));
}

/* Returns whether all keys came where they belong. */
static int sortKeys(uint64_t *state) {
  uint32_t *keys = array(KEYS, sizeof *keys), *sorted = array(KEYS, sizeof *sorted);
  int *counts = array(size, sizeof(int)), *all = array(size, sizeof(int)), *from = array(size, sizeof(int));
  int *sendAt = array(size, sizeof(int)), *recvAt = array(size, sizeof(int)), *next = array(size, sizeof(int));
  int total = 0, isGood = 1;
  for (int i = 0; i < KEYS; i++) counts[bucketOf(keys[i] = draw(state))]++;
  MPI_Allreduce(counts, all, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoall(counts, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 1; i < size; i++) sendAt[i] = sendAt[i - 1] + counts[i - 1], recvAt[i] = recvAt[i - 1] + from[i - 1];
  memcpy(next, sendAt, size * sizeof(int));
  for (int i = 0; i < KEYS; i++) sorted[next[bucketOf(keys[i])]++] = keys[i];
  for (int i = 0; i < size; i++) total += from[i];
  uint32_t *own = array(total + 1, sizeof *own);
  MPI_Alltoallv(sorted, counts, sendAt, MPI_UINT32_T, own, from, recvAt, MPI_UINT32_T, MPI_COMM_WORLD);
  qsort(own, total, sizeof *own, compare);
  isGood = total == all[rank] && (total == 0 || (bucketOf(own[0]) == rank && bucketOf(own[total - 1]) == rank));
  free(keys), free(sorted), free(counts), free(all), free(from), free(sendAt), free(recvAt), free(next), free(own);
  return isGood;
}

static int64_t countPairs(int64_t pairs, uint64_t *state) {
  int64_t inside = 0;
  for (int64_t i = 0; i < pairs; i++) {
    double x = draw(state) / (double)KEY_MAX, y = draw(state) / (double)KEY_MAX;
    inside += x * x + y * y <= 1;
  }
  return inside;
}

int main(int argc, char **argv) {
  int isGood = 1, areGood;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *what = argc > 2 ? argv[1] : "";
  long amount = argc > 2 ? atol(argv[2]) : 0;
  uint64_t state = 4711 + (uint64_t)rank;
  MPI_Barrier(MPI_COMM_WORLD);
  double since = MPI_Wtime();
  if (strcmp(what, "exchange") == 0) {
    for (long round = 0; round < amount; round++) isGood &= sortKeys(&state);
  } else if (strcmp(what, "compute") == 0) {
    int64_t inside = countPairs(amount * 1000000, &state), all = 0;
    MPI_Allreduce(&inside, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    double pi = 4.0 * (double)all / ((double)amount * 1e6 * size);
    isGood = pi > 3.1 && pi < 3.2;
  } else isGood = 0;
  MPI_Allreduce(&isGood, &areGood, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0 && areGood) printf("took %.1f ms\n", (MPI_Wtime() - since) * 1e3);
  MPI_Finalize();
  return areGood ? 0 : 1;
}
