/*
 * Laplace's equation on a square by Jacobi's method, in C with stci.h: README.md. jacobi.mjs is the same for Node.
 *
 *   cc -O2 -I "$(stci-client include-dir)" jacobi.c -o jacobi -lm
 *   stcirun --client -n 4 ./jacobi [POINTS [TOLERANCE]]
 */

#include <stci.h>
#include <math.h>

enum { CHECK_EVERY = 10, STEPS_MAX = 1000000 };

static stci job;
static int points = 32;
static double tolerance = 1e-4;

static void check(int code) {
  if (code == STCI_OK) return;
  fprintf(stderr, "jacobi: rank %d: %s\n", job.rank, stci_error(&job));
  exit(1);
}

/* The rows from first to last, and one more on either side: 1 above the square, 0 at its other sides, 0 within. */
static double *make(int first, int last) {
  int width = points + 2, column;
  double *rows = (double *)calloc((size_t)(last - first + 3) * (size_t)width, sizeof *rows);
  if (rows == NULL) exit(1);
  if (first == 1) for (column = 0; column < width; column++) rows[column] = 1;
  return rows;
}

/* Sends a row to a neighbour, and takes his. */
static void exchange(int with, const double *mine, double *his) {
  size_t bytes = (size_t)(points + 2) * sizeof *mine;
  stci_message m;
  check(stci_send(&job, with, "border", mine, bytes));
  check(stci_receive(&job, with, "border", -1, &m));
  if (m.bytes == bytes) memcpy(his, m.data, bytes);
  stci_free(&m);
}

/* The greatest of all ranks' numbers. */
static double greatest(double mine) {
  stci_parts parts;
  int i;
  check(stci_allgather(&job, &mine, sizeof mine, &parts));
  for (i = 0; i < parts.count; i++) {
    double other = 0;
    if (parts.part[i].bytes == sizeof other) memcpy(&other, parts.part[i].data, sizeof other);
    mine = fmax(mine, other);
  }
  stci_free_parts(&parts);
  return mine;
}

/* Computes `count` rows until no point of the square changes by the tolerance or more; returns the number of steps. */
static int solve(double **rows, int count, int is_alone) {
  int width = points + 2, steps, row, column;
  double *from = *rows, *to = (double *)malloc((size_t)(count + 2) * (size_t)width * sizeof *to);
  if (to == NULL) exit(1);
  memcpy(to, from, (size_t)(count + 2) * (size_t)width * sizeof *to);
  for (steps = 1; steps <= STEPS_MAX; steps++) {
    double change = 0, *spare = from;
    if (!is_alone && job.rank > 0) exchange(job.rank - 1, from + width, from);
    if (!is_alone && job.rank < job.size - 1) exchange(job.rank + 1, from + count * width, from + (count + 1) * width);
    for (row = 1; row <= count; row++) for (column = 1; column <= points; column++) {
      int at = row * width + column;
      to[at] = ((from[at - width] + from[at + width]) + (from[at - 1] + from[at + 1])) / 4;
      change = fmax(change, fabs(to[at] - from[at]));
    }
    from = to;
    to = spare;
    if (steps % CHECK_EVERY == 0 && (is_alone ? change : greatest(change)) < tolerance) break;
  }
  *rows = from;
  free(to);
  return steps;
}

/* Rank 0 compares all rows with what it computes alone. */
static int compare(const stci_parts *parts, int steps) {
  double *rows = make(1, points);
  int steps_alone = solve(&rows, points, 1), i, is_equal = steps == steps_alone;
  const char *at = (const char *)(rows + points + 2);
  for (i = 0; i < parts->count; at += parts->part[i++].bytes) {
    is_equal = is_equal && memcmp(at, parts->part[i].data, parts->part[i].bytes) == 0;
  }
  printf("%d x %d points, %d ranks, %d steps, middle %.17g: %s\n", points, points, job.size, steps,
    rows[(points / 2) * (points + 2) + points / 2], is_equal ? "as computed by one process" : "NOT as by one process");
  free(rows);
  return is_equal ? 0 : 1;
}

int main(int count, char **arguments) {
  int first, last, steps, status = 0;
  double *rows;
  stci_parts parts;
  check(stci_connect(&job, 60000));
  if (count > 1) points = atoi(arguments[1]);
  if (count > 2) tolerance = atof(arguments[2]);
  if (points < job.size || points > 300 || !(tolerance > 0)) {
    fprintf(stderr, "jacobi: expected %d to 300 points, a row for each rank, and a tolerance above 0\n", job.size);
    return 2;
  }
  first = points * job.rank / job.size + 1;
  last = points * (job.rank + 1) / job.size;
  rows = make(first, last);
  steps = solve(&rows, last - first + 1, 0);
  check(stci_gather(&job, 0, rows + points + 2, (size_t)((last - first + 1) * (points + 2)) * sizeof *rows, &parts));
  if (job.rank == 0) status = compare(&parts, steps);
  stci_free_parts(&parts);
  free(rows);
  stci_close(&job);
  return status;
}
