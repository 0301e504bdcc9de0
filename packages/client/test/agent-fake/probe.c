/*
 * A program for the tests of stci.h: connects, carries out what its arguments say, one after the other, and prints a
 * line for each: what it was, the code, and what came. `.` is no tag. `storm` first: a signal every half millisecond
 * interrupts all calls.
 */
#include "stci.h"
#include <signal.h>

static stci job;

static void on_failure(stci *of, int rank, const char *reason, void *context) {
  (void)of;
  printf("  %s %d: %s\n", (const char *)context, rank, reason);
}

static void on_alarm(int number) { (void)number; }

static void storm(void) {
  struct itimerval every = { { 0, 500 }, { 0, 500 } };
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &every, NULL);
}

static void print_message(const stci_message *m) {
  unsigned long sum = 0;
  size_t i;
  for (i = 0; i < m->bytes; i++) sum = sum * 31 % 1000003 + (unsigned char)m->data[i];
  if (m->data != NULL) printf(" [%d %s %s %lu #%lu]", m->rank, m->tag, m->form, (unsigned long)m->bytes, sum);
}

static void print_parts(stci_parts *parts) {
  int i;
  for (i = 0; i < parts->count; i++) print_message(&parts->part[i]);
  stci_free_parts(parts);
}

static void print_ranks(stci_ranks *ranks) {
  int i;
  for (i = 0; i < ranks->count; i++) printf(" %d", ranks->rank[i]);
  stci_free_ranks(ranks);
}

static int run(const char *what, const char *a, const char *b, const char *c) {
  int code = STCI_OK, flag = atoi(a);
  stci_message m;
  stci_parts parts;
  stci_ranks ranks;
  memset(&m, 0, sizeof m);
  memset(&parts, 0, sizeof parts);
  memset(&ranks, 0, sizeof ranks);
  if (strcmp(what, "timeout") == 0) job.timeout_ms = flag;
  else if (strcmp(what, "send") == 0) code = stci_send(&job, flag, b, c, strlen(c));
  else if (strcmp(what, "fill") == 0) {
    char *data = (char *)malloc((size_t)atoi(b));
    memset(data, 'x', (size_t)atoi(b));
    code = stci_send(&job, flag, "big", data, (size_t)atoi(b));
    free(data);
  } else if (strcmp(what, "receive") == 0) code = stci_receive(&job, flag, strcmp(b, ".") ? b : NULL, atoi(c), &m);
  else if (strcmp(what, "barrier") == 0) code = stci_barrier(&job);
  else if (strcmp(what, "exchange") == 0) code = stci_exchange(&job);
  else if (strcmp(what, "agree") == 0) { code = stci_agree(&job, &flag); printf("%d ", flag); }
  else if (strcmp(what, "shrink") == 0) code = stci_shrink(&job, &ranks);
  else if (strcmp(what, "gather") == 0) code = stci_gather(&job, flag, b, strlen(b), &parts);
  else if (strcmp(what, "allgather") == 0) code = stci_allgather(&job, a, strlen(a), &parts);
  else if (strcmp(what, "broadcast") == 0) code = stci_broadcast(&job, flag, b, strlen(b), &m);
  else if (strcmp(what, "put") == 0) code = stci_put(&job, a, b, strlen(b));
  else if (strcmp(what, "get") == 0) code = stci_get(&job, a, &m);
  else if (strcmp(what, "neighbours") == 0) {
    code = stci_neighbours(&job, a, *b ? atoi(b) : job.size, *c ? atoi(c) : job.rank, &ranks);
  }
  else if (strcmp(what, "poll") == 0) code = stci_poll(&job, flag);
  else if (strcmp(what, "lost") == 0) printf("%d ", stci_is_lost(&job, flag));
  else if (strcmp(what, "alive") == 0) code = stci_alive(&job, flag);
  else if (strcmp(what, "mark") == 0) code = stci_mark(&job, a);
  else if (strcmp(what, "close") == 0) stci_close(&job);
  else { fprintf(stderr, "unknown: %s\n", what); exit(99); }
  printf("%s %d", what, code);
  print_message(&m);
  print_parts(&parts);
  print_ranks(&ranks);
  printf(code == STCI_OK ? "\n" : " %s\n", stci_error(&job));
  stci_free(&m);
  return code;
}

int main(int count, char **arguments) {
  int i = 1, code;
  if (count > 1 && strcmp(arguments[1], "storm") == 0) { storm(); i++; }
  code = stci_connect(&job, 5000);
  job.on_failure = on_failure;
  job.context = (void *)"lost";
  if (code == STCI_OK) printf("connect 0 %d %d %d %s\n", job.rank, job.size, job.attempt, job.host);
  else printf("connect %d %s\n", code, stci_error(&job));
  for (; i < count; i++) {
    char word[4][200] = { "", "", "", "" };
    sscanf(arguments[i], "%199[^,],%199[^,],%199[^,],%199[^,]", word[0], word[1], word[2], word[3]);
    run(word[0], word[1], word[2], word[3]);
    fflush(stdout);
  }
  stci_close(&job);
  stci_close(&job);
  return 0;
}
