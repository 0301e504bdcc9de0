/*
 * libstci-mpi: tells the STCI agent of this host when the rank waits in a blocking MPI call, and for which ranks of
 * MPI_COMM_WORLD, so that detector `sporadic` probes their hosts (docs/mpi.md). Built by `stci mpi-shim build`;
 * preloaded, or linked before the MPI library.
 *
 * A blocking call costs a few stores: it writes whom it waits for into a slot of its thread, between two steps of a
 * counter. A thread of its own looks at the slots every LOOK_MS; a call that it finds twice is told, and its end. So
 * nothing is sent for calls that return sooner, MPI calls are made as the program makes them, and the program's threads
 * make no system call. Where the socket is missing, lost or full, the thread ends, and calls pass through.
 */

#define _GNU_SOURCE
#include <mpi.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A wait is told after LOOK_MS to 2 * LOOK_MS: short beside a detector's timeout, long beside a message. */
#define LOOK_MS 50
/* Looks until a connection must have been taken. */
#define CONNECT_LOOKS 100
/* Threads of the program that may wait at a time; further ones are not told. */
#define SLOTS 64
/* Ranks that one call, and all calls together, name; more are told as all ranks. The agent takes as many. */
#define CALL_RANKS 16
#define TOLD_RANKS 64
/* Requests whose ranks are known; others are told as all ranks. A power of 2. */
#define REQUEST_BITS 12
/* Requests of one call that are looked at again after it. */
#define COPIES 64

#define ALL (-1)
#define NOBODY (-2)

/* What a thread waits for. Odd: it is in a call. */
struct slot {
  atomic_uint sequence;
  atomic_int isUsed;
  atomic_int count; /* ALL, or of `ranks` */
  atomic_int ranks[CALL_RANKS];
} __attribute__((aligned(64)));

struct set {
  int count; /* ALL, or of `ranks` */
  int ranks[TOLD_RANKS];
};

static struct slot slots[SLOTS];
static __thread struct slot *ownSlot __attribute__((tls_model("initial-exec")));
static pthread_key_t slotKey;
static atomic_int isOn;
static atomic_int isStopping;
static int hasBegun;

/* ---- the connection, of the watching thread alone ---- */

static char path[sizeof ((struct sockaddr_un *)0)->sun_path];
static char token[65];
static int descriptor = -1;
static struct stat identity;

/* A program may have closed all its descriptors, and have others under their numbers. */
static int isOwnDescriptor(void) {
  struct stat now;
  return fstat(descriptor, &now) == 0 && now.st_ino == identity.st_ino && now.st_dev == identity.st_dev;
}

/* One write, which never waits. */
static int sendText(const char *text, size_t length) {
  if (!isOwnDescriptor()) return 0;
  return send(descriptor, text, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}

static int connectAgent(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char hello[160];
  int length, looks = 0;
  strcpy(address.sun_path, path);
  descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0 || fstat(descriptor, &identity) != 0) return 0;
  while (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
    if ((errno != EAGAIN && errno != EINTR) || ++looks > CONNECT_LOOKS || isStopping) return 0;
    poll(NULL, 0, LOOK_MS);
  }
  length = snprintf(hello, sizeof hello,
    "{\"type\":\"hello\",\"version\":2,\"token\":\"%s\",\"only\":\"waits\"}\n", token);
  return length < (int)sizeof hello && sendText(hello, length);
}

/* Reads and drops what the agent says. Returns 0 when it says no more. */
static int readAgent(void) {
  char dropped[512];
  ssize_t length;
  if (!isOwnDescriptor()) return 0;
  do length = recv(descriptor, dropped, sizeof dropped, MSG_DONTWAIT); while (length == (ssize_t)sizeof dropped);
  return length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR));
}

static void add(struct set *set, int rank) {
  if (set->count == ALL || rank == NOBODY) return;
  for (int i = 0; i < set->count; i++) if (set->ranks[i] == rank) return;
  if (rank == ALL || set->count == TOLD_RANKS) set->count = ALL;
  else set->ranks[set->count++] = rank;
}

/* Adds what a call waits for that the last look has found, too. */
static void look(struct slot *slot, unsigned *seen, struct set *waits) {
  struct set own = {0};
  unsigned sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);
  int isLong = sequence % 2 == 1 && sequence == *seen;
  *seen = sequence;
  if (!isLong) return;
  int count = atomic_load_explicit(&slot->count, memory_order_relaxed);
  if (count == ALL) add(&own, ALL);
  for (int i = 0; i < count && i < CALL_RANKS; i++) {
    add(&own, atomic_load_explicit(&slot->ranks[i], memory_order_relaxed));
  }
  atomic_thread_fence(memory_order_acquire);
  if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) != sequence) return;
  if (own.count == ALL) add(waits, ALL);
  for (int i = 0; i < own.count; i++) add(waits, own.ranks[i]);
}

static int isSame(const struct set *a, const struct set *b) {
  size_t bytes = a->count > 0 ? (size_t)a->count * sizeof a->ranks[0] : 0;
  return a->count == b->count && memcmp(a->ranks, b->ranks, bytes) == 0;
}

static int tell(const struct set *waits) {
  char text[64 + TOLD_RANKS * 12];
  int length = snprintf(text, sizeof text, "{\"type\":\"waiting\"%s", waits->count == ALL ? "" : ",\"ranks\":[");
  for (int i = 0; i < waits->count; i++) {
    length += snprintf(text + length, sizeof text - length, "%s%d", i == 0 ? "" : ",", waits->ranks[i]);
  }
  length += snprintf(text + length, sizeof text - length, waits->count == ALL ? "}\n" : "]}\n");
  return sendText(text, length);
}

static void *watch(void *unused) {
  unsigned seen[SLOTS] = {0};
  struct set told = {0};
  int isConnected = connectAgent();
  while (isConnected && !isStopping) {
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    struct set waits = {0};
    if (poll(&ready, 1, LOOK_MS) > 0) {
      if (!readAgent()) break;
      continue;
    }
    for (int i = 0; i < SLOTS; i++) if (slots[i].isUsed) look(&slots[i], &seen[i], &waits);
    if (isSame(&waits, &told)) continue;
    if (!tell(&waits)) break;
    told = waits;
  }
  isOn = 0;
  if (descriptor >= 0 && isOwnDescriptor()) close(descriptor);
  return unused;
}

/* ---- communicators: their ranks as those of MPI_COMM_WORLD ---- */

struct table {
  int count;
  int ranks[];
};

static int tableKey = MPI_KEYVAL_INVALID;
static pthread_mutex_t tableLock = PTHREAD_MUTEX_INITIALIZER;

static int dropTable(MPI_Comm comm, int key, void *table, void *unused) {
  (void)comm, (void)key, (void)unused;
  free(table);
  return MPI_SUCCESS;
}

/* Of the group that ranks in `comm` are ranks of: of an intercommunicator the other one. */
static struct table *makeTable(MPI_Comm comm) {
  MPI_Group group, world;
  int isInter = 0, count = 0;
  PMPI_Comm_test_inter(comm, &isInter);
  if ((isInter ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS) return NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_size(group, &count);
  struct table *table = malloc(sizeof *table + (size_t)count * sizeof table->ranks[0]);
  int *own = malloc((size_t)count * sizeof *own + 1);
  if (table != NULL && own != NULL) {
    table->count = count;
    for (int i = 0; i < count; i++) own[i] = i;
    PMPI_Group_translate_ranks(group, count, own, world, table->ranks);
    if (PMPI_Comm_set_attr(comm, tableKey, table) != MPI_SUCCESS) free(table), table = NULL;
  } else free(table), table = NULL;
  free(own);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return table;
}

/* A process of another job is not of MPI_COMM_WORLD: who waits for it waits for anybody. */
static int worldRank(int rank, MPI_Comm comm) {
  struct table *table = NULL;
  int isThere = 0;
  if (rank == MPI_PROC_NULL) return NOBODY;
  if (rank < 0 || comm == MPI_COMM_NULL) return ALL;
  if (comm == MPI_COMM_WORLD) return rank;
  pthread_mutex_lock(&tableLock);
  PMPI_Comm_get_attr(comm, tableKey, &table, &isThere);
  if (!isThere) table = makeTable(comm);
  int world = table != NULL && rank < table->count ? table->ranks[rank] : MPI_UNDEFINED;
  pthread_mutex_unlock(&tableLock);
  return world == MPI_UNDEFINED || world < 0 ? ALL : world;
}

/* ---- requests: the rank of each. One that is not known is waited for as all ranks ---- */

static _Atomic uint64_t requests[1 << REQUEST_BITS];
#define REQUEST_RANKS 0xffffffULL

/* Different handles give different numbers. */
static uint64_t mixed(MPI_Request request) {
  uint64_t x = 0;
  memcpy(&x, &request, sizeof request < sizeof x ? sizeof request : sizeof x);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/* Place in the table, and what an entry of this request has besides its rank. */
#define PLACE(x) requests[(x) >> (64 - REQUEST_BITS)]
#define NAME(x) (((x) << REQUEST_BITS) & ~REQUEST_RANKS)

static void keepRequest(MPI_Request request, int rank) {
  uint64_t x = mixed(request);
  if (rank < 0 || (uint64_t)rank + 1 > REQUEST_RANKS) return;
  atomic_store_explicit(&PLACE(x), NAME(x) | (uint64_t)(rank + 1), memory_order_relaxed);
}

static int rankOfRequest(MPI_Request request) {
  uint64_t x = mixed(request), entry = atomic_load_explicit(&PLACE(x), memory_order_relaxed);
  if (request == MPI_REQUEST_NULL) return NOBODY;
  return entry != 0 && (entry & ~REQUEST_RANKS) == NAME(x) ? (int)(entry & REQUEST_RANKS) - 1 : ALL;
}

/* Its handle may be that of another one soon. */
static void dropRequest(MPI_Request request) {
  uint64_t x = mixed(request), entry = atomic_load_explicit(&PLACE(x), memory_order_relaxed);
  if ((entry & ~REQUEST_RANKS) != NAME(x)) return;
  atomic_store_explicit(&PLACE(x), 0, memory_order_relaxed);
}

struct copies {
  int count;
  MPI_Request requests[COPIES];
};

static void copyRequests(struct copies *copies, int count, const MPI_Request *from) {
  copies->count = 0;
  if (!atomic_load_explicit(&isOn, memory_order_relaxed) || from == NULL) return;
  if (count <= COPIES) copies->count = count;
  for (int i = 0; i < copies->count; i++) copies->requests[i] = from[i];
  for (int i = 0; i < count && count > COPIES; i++) dropRequest(from[i]);
}

/* The handles of those that are complete have changed. */
static void dropComplete(const struct copies *copies, const MPI_Request *now) {
  for (int i = 0; i < copies->count; i++) if (copies->requests[i] != now[i]) dropRequest(copies->requests[i]);
}

/* ---- waits ---- */

static void freeSlot(void *slot) {
  atomic_store(&((struct slot *)slot)->isUsed, 0);
}

static struct slot *takeSlot(void) {
  for (int i = 0; i < SLOTS; i++) {
    int unused = 0;
    if (!atomic_compare_exchange_strong(&slots[i].isUsed, &unused, 1)) continue;
    if (pthread_setspecific(slotKey, &slots[i]) == 0) return ownSlot = &slots[i];
    freeSlot(&slots[i]);
    return NULL;
  }
  return NULL;
}

/* The slot of this thread, to be filled; NULL: nothing is told of this call, or it is made inside of another. */
static struct slot *openSlot(void) {
  if (!atomic_load_explicit(&isOn, memory_order_relaxed)) return NULL;
  struct slot *slot = ownSlot != NULL ? ownSlot : takeSlot();
  if (slot == NULL || atomic_load_explicit(&slot->sequence, memory_order_relaxed) % 2 == 1) return NULL;
  atomic_store_explicit(&slot->count, 0, memory_order_relaxed);
  return slot;
}

static void addWait(struct slot *slot, int rank) {
  int count = atomic_load_explicit(&slot->count, memory_order_relaxed);
  if (count == ALL || rank == NOBODY) return;
  for (int i = 0; i < count; i++) {
    if (atomic_load_explicit(&slot->ranks[i], memory_order_relaxed) == rank) return;
  }
  if (rank == ALL || count == CALL_RANKS) return atomic_store_explicit(&slot->count, ALL, memory_order_relaxed);
  atomic_store_explicit(&slot->ranks[count], rank, memory_order_relaxed);
  atomic_store_explicit(&slot->count, count + 1, memory_order_relaxed);
}

static void step(struct slot *slot) {
  unsigned sequence = atomic_load_explicit(&slot->sequence, memory_order_relaxed);
  atomic_store_explicit(&slot->sequence, sequence + 1, memory_order_release);
}

static struct slot *enter(int rank, MPI_Comm comm) {
  struct slot *slot = openSlot();
  if (slot == NULL) return NULL;
  addWait(slot, worldRank(rank, comm));
  step(slot);
  return slot;
}

static struct slot *enterTwo(int one, int other, MPI_Comm comm) {
  struct slot *slot = openSlot();
  if (slot == NULL) return NULL;
  addWait(slot, worldRank(one, comm));
  addWait(slot, worldRank(other, comm));
  step(slot);
  return slot;
}

static struct slot *enterAll(void) {
  struct slot *slot = openSlot();
  if (slot == NULL) return NULL;
  addWait(slot, ALL);
  step(slot);
  return slot;
}

static struct slot *enterRequests(int count, const MPI_Request *from) {
  struct slot *slot = openSlot();
  if (slot == NULL) return NULL;
  for (int i = 0; from != NULL && i < count && slot->count != ALL; i++) addWait(slot, rankOfRequest(from[i]));
  step(slot);
  return slot;
}

static void leave(struct slot *slot) {
  if (slot == NULL) return;
  step(slot);
  atomic_thread_fence(memory_order_release); /* The next call's ranks are written after this step. */
}

/* ---- begin and end ---- */

/* Lower-case hexadecimal, as agents make it: nothing in it needs an escape. */
static int isToken(const char *token) {
  size_t length = strlen(token);
  return length > 0 && length <= 64 && strspn(token, "0123456789abcdef") == length;
}

/* Handles of one library are none of another's: MPICH's are numbers, Open MPI's addresses. So not even calls could
 * pass. */
static void checkLibrary(void) {
  char version[8192] = ""; /* Of any library. */
  int length = 0, isOpenMpi;
#ifdef OPEN_MPI
  int isMeant = 1;
#else
  int isMeant = 0;
#endif
  PMPI_Get_library_version(version, &length);
  isOpenMpi = strncmp(version, "Open MPI", 8) == 0;
  if (isOpenMpi == isMeant) return;
  for (char *tab = version; (tab = strchr(tab, '\t')) != NULL;) *tab = ' ';
  fprintf(stderr, "libstci-mpi.so was built with %s, and this program has %.*s: build it with the mpicc of that "
    "library (stci mpi-shim build --mpicc).\n", isMeant ? "Open MPI" : "MPICH or a relative of it",
    (int)strcspn(version, ",\n"), version);
  exit(1);
}

/* Not of a world that another launcher has made inside of a rank, and whose processes have the rank's variables. */
static int isWorldOfJob(int rank, int size) {
  const char *ownRank = getenv("STCI_RANK"), *jobSize = getenv("STCI_SIZE");
  return ownRank != NULL && jobSize != NULL && atoi(ownRank) == rank && atoi(jobSize) == size;
}

static void begin(void) {
  const char *givenPath = getenv("STCI_CLIENT_SOCKET"), *givenToken = getenv("STCI_CLIENT_TOKEN");
  sigset_t all, before;
  pthread_t watcher;
  int rank = 0, size = 1;
  if (givenPath == NULL || givenToken == NULL || strlen(givenPath) >= sizeof path || !isToken(givenToken)) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2 || !isWorldOfJob(rank, size) || hasBegun++ > 0 || pthread_key_create(&slotKey, freeSlot) != 0) return;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, dropTable, &tableKey, NULL) != MPI_SUCCESS) return;
  strcpy(path, givenPath);
  strcpy(token, givenToken);
  isOn = 1;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* Signals are the program's threads'. */
  if (pthread_create(&watcher, NULL, watch, NULL) == 0) pthread_detach(watcher);
  else isOn = 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int MPI_Init(int *argc, char ***argv) {
  checkLibrary();
  int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) begin();
  return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  checkLibrary();
  int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin();
  return code;
}

int MPI_Finalize(void) {
  struct slot *slot = enterAll();
  int code = PMPI_Finalize();
  leave(slot);
  isOn = 0;
  isStopping = 1;
  return code;
}

/* ---- calls ---- */

#define CALL(name, parameters, arguments, waits) \
  int MPI_##name parameters { \
    struct slot *slot = waits; \
    int code = PMPI_##name arguments; \
    leave(slot); \
    return code; \
  }

CALL(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), enter(to, c))
CALL(Ssend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), enter(to, c))
CALL(Rsend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), enter(to, c))
CALL(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),
  (b, n, t, from, tag, c, s), enter(from, c))
CALL(Probe, (int from, int tag, MPI_Comm c, MPI_Status *s), (from, tag, c, s), enter(from, c))
CALL(Mprobe, (int from, int tag, MPI_Comm c, MPI_Message *m, MPI_Status *s), (from, tag, c, m, s), enter(from, c))
CALL(Mrecv, (void *b, int n, MPI_Datatype t, MPI_Message *m, MPI_Status *s), (b, n, t, m, s), enterAll())
CALL(Sendrecv, (const void *b, int n, MPI_Datatype t, int to, int tag, void *rb, int rn, MPI_Datatype rt, int from,
  int rtag, MPI_Comm c, MPI_Status *s), (b, n, t, to, tag, rb, rn, rt, from, rtag, c, s), enterTwo(to, from, c))
CALL(Sendrecv_replace, (void *b, int n, MPI_Datatype t, int to, int tag, int from, int rtag, MPI_Comm c, MPI_Status *s),
  (b, n, t, to, tag, from, rtag, c, s), enterTwo(to, from, c))

CALL(Barrier, (MPI_Comm c), (c), enterAll())
CALL(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c), enterAll())
CALL(Gather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c),
  (b, n, t, rb, rn, rt, root, c), enterAll())
CALL(Gatherv, (const void *b, int n, MPI_Datatype t, void *rb, const int *rn, const int *at, MPI_Datatype rt, int root,
  MPI_Comm c), (b, n, t, rb, rn, at, rt, root, c), enterAll())
CALL(Scatter, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c),
  (b, n, t, rb, rn, rt, root, c), enterAll())
CALL(Scatterv, (const void *b, const int *n, const int *at, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root,
  MPI_Comm c), (b, n, at, t, rb, rn, rt, root, c), enterAll())
CALL(Allgather, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, MPI_Comm c),
  (b, n, t, rb, rn, rt, c), enterAll())
CALL(Allgatherv, (const void *b, int n, MPI_Datatype t, void *rb, const int *rn, const int *at, MPI_Datatype rt,
  MPI_Comm c), (b, n, t, rb, rn, at, rt, c), enterAll())
CALL(Alltoall, (const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, MPI_Comm c),
  (b, n, t, rb, rn, rt, c), enterAll())
CALL(Alltoallv, (const void *b, const int *n, const int *at, MPI_Datatype t, void *rb, const int *rn, const int *rat,
  MPI_Datatype rt, MPI_Comm c), (b, n, at, t, rb, rn, rat, rt, c), enterAll())
CALL(Alltoallw, (const void *b, const int *n, const int *at, const MPI_Datatype *t, void *rb, const int *rn,
  const int *rat, const MPI_Datatype *rt, MPI_Comm c), (b, n, at, t, rb, rn, rat, rt, c), enterAll())
CALL(Reduce, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
  (b, rb, n, t, op, root, c), enterAll())
CALL(Allreduce, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, rb, n, t, op, c),
  enterAll())
CALL(Reduce_scatter, (const void *b, void *rb, const int *n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
  (b, rb, n, t, op, c), enterAll())
CALL(Reduce_scatter_block, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
  (b, rb, n, t, op, c), enterAll())
CALL(Scan, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, rb, n, t, op, c), enterAll())
CALL(Exscan, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, rb, n, t, op, c), enterAll())
CALL(Comm_dup, (MPI_Comm c, MPI_Comm *made), (c, made), enterAll())
CALL(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *made), (c, g, made), enterAll())
CALL(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *made), (c, color, key, made), enterAll())
CALL(Win_fence, (int assertion, MPI_Win window), (assertion, window), enterAll())

#define REQUEST(name, parameters, arguments, rank) \
  int MPI_##name parameters { \
    int code = PMPI_##name arguments; \
    if (code == MPI_SUCCESS && atomic_load_explicit(&isOn, memory_order_relaxed)) keepRequest(*r, worldRank(rank, c)); \
    return code; \
  }

REQUEST(Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),
  (b, n, t, to, tag, c, r), to)
REQUEST(Issend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),
  (b, n, t, to, tag, c, r), to)
REQUEST(Irsend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),
  (b, n, t, to, tag, c, r), to)
REQUEST(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),
  (b, n, t, from, tag, c, r), from)

#define COMPLETE(name, parameters, arguments, count, list, waits) \
  int MPI_##name parameters { \
    struct slot *slot = waits; \
    struct copies copies; \
    copyRequests(&copies, count, list); \
    int code = PMPI_##name arguments; \
    leave(slot); \
    dropComplete(&copies, list); \
    return code; \
  }

COMPLETE(Wait, (MPI_Request *r, MPI_Status *s), (r, s), 1, r, enterRequests(1, r))
COMPLETE(Waitany, (int n, MPI_Request r[], int *which, MPI_Status *s), (n, r, which, s), n, r, enterRequests(n, r))
COMPLETE(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s), n, r, enterRequests(n, r))
COMPLETE(Waitsome, (int n, MPI_Request r[], int *done, int which[], MPI_Status s[]), (n, r, done, which, s), n, r,
  enterRequests(n, r))
COMPLETE(Test, (MPI_Request *r, int *flag, MPI_Status *s), (r, flag, s), 1, r, NULL)
COMPLETE(Testany, (int n, MPI_Request r[], int *which, int *flag, MPI_Status *s), (n, r, which, flag, s), n, r, NULL)
COMPLETE(Testall, (int n, MPI_Request r[], int *flag, MPI_Status s[]), (n, r, flag, s), n, r, NULL)
COMPLETE(Testsome, (int n, MPI_Request r[], int *done, int which[], MPI_Status s[]), (n, r, done, which, s), n, r, NULL)
COMPLETE(Request_free, (MPI_Request *r), (r), 1, r, NULL)
