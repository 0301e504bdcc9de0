/* pi by the midpoint rule: each rank sums every size-th of N strips, MPI_Reduce adds them up. */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long strips = argc > 1 ? atol(argv[1]) : 1000000;
  if (strips < 1) {
    if (rank == 0) fprintf(stderr, "usage: pi [STRIPS]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double sum = 0, pi = 0;
  for (long i = rank; i < strips; i += size) {
    const double x = (i + 0.5) / strips;
    sum += 4 / (1 + x * x) / strips;
  }
  MPI_Reduce(&sum, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  /* The rule errs by about 1 / (12 strips^2); the rest is rounding. */
  const double error = fabs(pi - acos(-1));
  const int wrong = rank == 0 && error > 1.0 / strips / strips + 1e-9;
  if (rank == 0) printf("%d ranks: pi is %.10f\n", size, pi);
  MPI_Finalize();
  return wrong;
}
