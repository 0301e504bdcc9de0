/* A client of PMIx without MPI, by the name of the case. It writes a line `rank R ...` of each answer. */
#include <pmix.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pmix_proc_t self;

static void tell(const char *format, ...) {
  char line[4096];
  va_list list;
  va_start(list, format);
  vsnprintf(line, sizeof line, format, list);
  va_end(list);
  printf("rank %u %s\n", self.rank, line);
  fflush(stdout);
}

static void must(const char *what, pmix_status_t status) {
  if (status == PMIX_SUCCESS) return;
  tell("%s: %d", what, status);
  exit(1);
}

/* One query of all the keys: its status, and what is known. */
static void ask(const char *const keys[], const char *qualifier, const char *nspace) {
  pmix_query_t query;
  pmix_info_t *found = NULL;
  size_t count = 0;
  PMIX_QUERY_CONSTRUCT(&query);
  int size = 0;
  while (keys[size] != NULL) size++;
  query.keys = calloc(size + 1, sizeof *query.keys);
  for (int i = 0; i < size; i++) query.keys[i] = strdup(keys[i]);
  if (qualifier != NULL) {
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
    PMIX_INFO_LOAD(&query.qualifiers[0], qualifier, nspace, nspace == NULL ? PMIX_BOOL : PMIX_STRING);
  }
  tell("status %d", PMIx_Query_info(&query, 1, &found, &count));
  for (size_t i = 0; i < count; i++) {
    pmix_value_t *value = &found[i].value;
    if (value->type == PMIX_STRING) {
      int isOwn = strcmp(value->data.string, self.nspace) == 0;
      tell("%s = %s", found[i].key, isOwn ? "own" : value->data.string);
    } else if (value->type == PMIX_SIZE) tell("%s = %zu", found[i].key, value->data.size);
    else if (value->type == PMIX_UINT32) tell("%s = %u", found[i].key, value->data.uint32);
    else if (value->type == PMIX_STATUS) tell("%s = %d", found[i].key, value->data.status);
    else if (value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_PROC_INFO) {
      pmix_proc_info_t *rows = value->data.darray->array;
      for (size_t k = 0; k < value->data.darray->size; k++) {
        int isSelf = rows[k].proc.rank == self.rank && rows[k].pid == getpid();
        const char *name = strrchr(rows[k].executable_name, '/');
        tell("%s: %u%s %s %d", found[i].key, rows[k].proc.rank, isSelf ? " itself" : "", name, rows[k].state);
      }
    } else if (value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_INFO) {
      pmix_info_t *calls = value->data.darray->array;
      for (size_t k = 0; k < value->data.darray->size; k++) {
        pmix_data_array_t *keys = calls[k].value.data.darray;
        if (keys->size > 0) tell("%s: %s %s", found[i].key, calls[k].key, ((pmix_regattr_t *)keys->array)[0].string);
      }
    } else tell("%s: type %d", found[i].key, value->type);
  }
}

static void query(void) {
  const char *const known[] = {
    PMIX_QUERY_NAMESPACES, PMIX_QUERY_JOB_STATUS, PMIX_QUERY_LOCAL_PROC_TABLE, PMIX_QUERY_NUM_PSETS,
    PMIX_QUERY_PSET_NAMES, PMIX_QUERY_SPAWN_SUPPORT, NULL,
  };
  const char *const attributes[] = {PMIX_QUERY_ATTRIBUTE_SUPPORT, NULL};
  const char *const some[] = {PMIX_QUERY_JOB_STATUS, PMIX_QUERY_QUEUE_LIST, NULL};
  const char *const sizes[] = {PMIX_JOB_SIZE, PMIX_UNIV_SIZE, NULL};
  const char *const none[] = {"no.such.key", NULL};
  const char *const status[] = {PMIX_QUERY_JOB_STATUS, NULL};
  if (self.rank != 0) return;
  ask(known, NULL, NULL);
  ask(attributes, PMIX_HOST_ATTRIBUTES, NULL);
  ask(some, NULL, NULL);
  ask(sizes, NULL, NULL);
  ask(sizes + 1, PMIX_NSPACE, self.nspace);
  ask(none, NULL, NULL);
  ask(status, PMIX_NSPACE, "another");
}

static void control(void) {
  pmix_info_t info;
  pmix_proc_t last = self;
  int number = 9;
  if (self.rank != 0) return;
  last.rank = 1;
  PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT);
  tell("signal %d", PMIx_Job_control(&last, 1, &info, 1, NULL, NULL));
}

static void await_file(const char *path) {
  while (access(path, F_OK) != 0) usleep(10000);
}

/* Rank 1 puts and ends well; rank 0 gets it once there is a file: what was put, or that it is not known. */
static int late(const char *path) {
  pmix_proc_t other = self;
  pmix_value_t value, *found = NULL;
  if (self.rank == 1) {
    PMIX_VALUE_LOAD(&value, "here", PMIX_STRING);
    must("put", PMIx_Put(PMIX_GLOBAL, "stci.word", &value));
    must("commit", PMIx_Commit());
    must("finalize", PMIx_Finalize(NULL, 0));
    return 0;
  }
  other.rank = 1;
  tell("waits");
  await_file(path);
  pmix_status_t status = PMIx_Get(&other, "stci.word", NULL, 0, &found);
  tell("got %s", status == PMIX_SUCCESS ? found->data.string : status == PMIX_ERR_NOT_FOUND ? "nothing" : "?");
  must("finalize", PMIx_Finalize(NULL, 0));
  return 0;
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static volatile int lost = 0;

static void on_lost(size_t handler, pmix_status_t status, const pmix_proc_t *source, pmix_info_t infos[], size_t count,
                    pmix_info_t results[], size_t results_count, pmix_event_notification_cbfunc_fn_t next, void *data) {
  (void)handler, (void)source, (void)results, (void)results_count;
  for (size_t i = 0; i < count; i++) {
    if (!PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC)) continue;
    tell("lost %u status %d at %.1f", infos[i].value.data.proc->rank, status, now_ms());
    lost++;
  }
  next(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void on_registered(pmix_status_t status, size_t handler, void *data) {
  (void)handler, (void)data;
  if (status == PMIX_SUCCESS) tell("listens");
}

/* Ranks tell when they hear of the loss of others, of which there will be so many. */
static int listen_for(int count) {
  pmix_status_t code = PMIX_ERR_PROC_ABORTED;
  PMIx_Register_event_handler(&code, 1, NULL, 0, on_lost, on_registered, NULL);
  while (lost < count) usleep(1000);
  must("finalize", PMIx_Finalize(NULL, 0));
  return 0;
}

/* Members of a group tell each other a number; a client since 6 finds it under the group's context. */
static void group(void) {
  pmix_proc_t all;
  pmix_info_t infos[2], told, *found = NULL;
  pmix_data_array_t array = {PMIX_INFO, 1, &told};
  size_t count = 0, context = 0;
  int number = 40 + self.rank;
  PMIX_LOAD_PROCID(&all, self.nspace, PMIX_RANK_WILDCARD);
  PMIX_INFO_LOAD(&told, "stci.number", &number, PMIX_INT);
  PMIX_INFO_LOAD(&infos[0], PMIX_GROUP_ASSIGN_CONTEXT_ID, NULL, PMIX_BOOL);
  PMIX_INFO_LOAD(&infos[1], "pmix.grp.info", &array, PMIX_DATA_ARRAY);
  must("group", PMIx_Group_construct("g", &all, 1, infos, 2, &found, &count));
  for (size_t i = 0; i < count; i++) {
    if (PMIX_CHECK_KEY(&found[i], PMIX_GROUP_CONTEXT_ID)) context = found[i].value.data.size;
  }
  tell("context %zu", context);
#if PMIX_NUMERIC_VERSION >= 0x00060000
  uint32_t size = 0;
  pmix_value_t *value;
  PMIX_LOAD_PROCID(&all, self.nspace, PMIX_RANK_WILDCARD);
  must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value));
  size = value->data.uint32;
  for (uint32_t rank = 0; rank < size; rank++) {
    pmix_proc_t member = all;
    pmix_info_t of;
    member.rank = rank;
    PMIX_INFO_LOAD(&of, PMIX_GROUP_CONTEXT_ID, &context, PMIX_SIZE);
    PMIX_INFO_SET_QUALIFIER(&of);
    must("number", PMIx_Get(&member, "stci.number", &of, 1, &value));
    tell("number of %u: %d", rank, value->data.integer);
  }
#endif
  must("ungroup", PMIx_Group_destruct("g", NULL, 0));
}

int main(int count, char **words) {
  must("init", PMIx_Init(&self, NULL, 0));
  const char *mode = count > 1 ? words[1] : "query";
  printf("agent of %s: %d\n", getenv("STCI_HOST"), getppid());
  if (strcmp(mode, "late") == 0) return late(words[2]);
  if (strcmp(mode, "listen") == 0) return listen_for(atoi(words[2]));
  if (strcmp(mode, "query") == 0) query();
  if (strcmp(mode, "control") == 0) control();
  if (strcmp(mode, "group") == 0) group();
  must("fence", PMIx_Fence(NULL, 0, NULL, 0));
  must("finalize", PMIx_Finalize(NULL, 0));
  return 0;
}
