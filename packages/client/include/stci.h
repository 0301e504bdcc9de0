/*
 * stci.h: ranks of an STCI job in C and C++. One header for C99 and C++ on POSIX systems, without a library; its
 * protocol is docs/client-protocol.md, and docs/client-languages.md has examples.
 *
 *   stci job;
 *   if (stci_connect(&job, 60000) != STCI_OK) { fprintf(stderr, "%s\n", stci_error(&job)); return 1; }
 *   stci_send(&job, (job.rank + 1) % job.size, "default", "hello", 5);
 *   stci_close(&job);
 *
 * Calls return STCI_OK or another of the codes below; stci_error() then says what was wrong. They block, at most for
 * job.timeout_ms (-1: for ever). A connection is used by one thread at a time. No call ends the process or prints,
 * except that an experiment (docs/finject.md, fault `exit`) may have it call exit(). What a call gives in a
 * stci_message, stci_parts or stci_ranks is the caller's, to be freed by the function of its kind, also after an error.
 * Started without stcirun, a program is a job of one: the same calls, with rank 0 alone.
 */
#ifndef STCI_H
#define STCI_H
#if defined(__STRICT_ANSI__) && !defined(_POSIX_C_SOURCE) && !defined(_GNU_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#ifndef CLOCK_MONOTONIC
#error "Include stci.h before all other headers, or compile with -D_POSIX_C_SOURCE=200809L"
#endif

enum {
  STCI_OK = 0,
  STCI_NONE,        /* no such message in time, no such key; in a job of one, a message that nobody can send */
  STCI_TIMEOUT,     /* no answer in time. A collective goes on: the same call again waits for its end */
  STCI_RANK_LOST,   /* a rank that the call needs is lost; a collective: call stci_shrink() */
  STCI_MISMATCH,    /* the ranks called different collectives at the same place */
  STCI_ARGUMENT,    /* a value that is not allowed, or another collective while one waits */
  STCI_LIMIT,       /* a message of more than 8 MiB, a part or value of more than 1 MiB, or another bound */
  STCI_DISABLED,    /* the job was started without --client */
  STCI_REFUSED,     /* the agent does not take the connection */
  STCI_CLOSED,      /* the connection has ended: by stci_close(), with the agent, or because of what it sent */
  STCI_MEMORY,      /* out of memory */
  STCI_FAILED,      /* what stci_error() says */
  STCI_RANK_ENDED   /* a rank that the call needs has ended with 0; a collective: call stci_shrink() */
};

#define STCI_ANY (-1)
#define STCI_MESSAGE_BYTES_MAX (8L << 20)
#define STCI_PART_BYTES_MAX (1L << 20)
#define STCI_POSITIONS_MAX (1 << 20)

/* Bytes of a rank (-1: a key's value). `data` has a 0 after them. `form`: how they are encoded: bytes, json or text. */
typedef struct { int rank; char tag[65]; char form[8]; size_t bytes; char *data; } stci_message;
/* What ranks brought to a collective, in ascending order of rank. */
typedef struct { int count; stci_message *part; char *own; } stci_parts;
typedef struct { int count; int *rank; } stci_ranks;
struct stci__kept { struct stci__kept *next; int is_key; char name[257]; stci_message message; };

typedef struct stci {
  int rank, size, attempt;
  char host[256];
  int timeout_ms;                 /* longest wait of a call, ms; -1: for ever. May be changed */
  const char *form;               /* of what is sent: "bytes"; may be set to "text" or "json", which must be UTF-8 */
  /* Called within other calls for each rank that is lost; may be NULL. Must not call with this job itself. */
  void (*on_failure)(struct stci *job, int rank, const char *reason, void *context);
  void *context;
  /* The rest is internal. */
  int fd, is_alone;
  long long id;
  const char *voting;             /* the collective that waits */
  char *lost;                     /* by rank: 1 lost, 2 has ended */
  char *buffer, *stash;           /* stash: a decision that came while another call waited */
  size_t at, used, room, scanned, whole, stash_bytes;
  struct stci__kept *kept;        /* in a job of one: messages to itself, and keys */
  char reason[400], text[640];
} stci;

#include "stci-records.h"

/* Free what calls have given. */
static inline void stci_free(stci_message *m) { free(m->data); m->data = NULL; }
static inline void stci_free_ranks(stci_ranks *ranks) { free(ranks->rank); memset(ranks, 0, sizeof *ranks); }
static inline void stci_free_parts(stci_parts *parts) {
  free(parts->part);
  free(parts->own);
  memset(parts, 0, sizeof *parts);
}

/* What was wrong at the last call that did not return STCI_OK. */
static inline const char *stci_error(const stci *s) { return s->text; }

/* Whether a rank is known to be lost. */
static inline int stci_is_lost(const stci *s, int rank) {
  return s->lost != NULL && rank >= 0 && rank < s->size && s->lost[rank] == 1;
}

/* Ends the connection and frees all that is the job's. Never fails; may be called twice, and after a failed connect. */
static inline void stci_close(stci *s) {
  struct stci__kept *kept;
  while ((kept = s->kept) != NULL) {
    s->kept = kept->next;
    stci_free(&kept->message);
    free(kept);
  }
  free(s->lost);
  free(s->buffer);
  free(s->stash);
  s->lost = s->buffer = s->stash = NULL;
  s->is_alone = 0;
  stci__end(s, "stci_close() was called");
}

/*
 * Connects this rank; a rank has one connection at a time. Call it once, before all others, on a job of any content.
 * STCI_DISABLED, STCI_REFUSED, STCI_MEMORY, STCI_TIMEOUT; STCI_OK also for a job of one.
 */
static inline int stci_connect(stci *s, int timeout_ms) {
  const char *path = getenv("STCI_CLIENT_SOCKET"), *token = getenv("STCI_CLIENT_TOKEN");
  struct sockaddr_un address;
  struct timeval within;
  char proof[140];
  stci__record r;
  int code;
  memset(s, 0, sizeof *s);
  s->fd = -1;
  s->size = s->attempt = 1;
  s->timeout_ms = timeout_ms;
  s->form = "bytes";
  if (path == NULL || token == NULL) {
    if (getenv("STCI_RANK") != NULL) {
      return stci__fail(s, STCI_DISABLED, "The job was started without --client. Write: stcirun --client program");
    }
    s->is_alone = 1;
    if (gethostname(s->host, sizeof s->host - 1) != 0) snprintf(s->host, sizeof s->host, "localhost");
    return (s->lost = (char *)calloc(1, 1)) != NULL ? STCI_OK : stci__fail(s, STCI_MEMORY, "Out of memory");
  }
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path || stci__quote(s, "", token, '!', 64, proof) != STCI_OK) {
    return stci__fail(s, STCI_REFUSED, "STCI_CLIENT_SOCKET or STCI_CLIENT_TOKEN is not what stcirun sets");
  }
  strcpy(address.sun_path, path);
  within.tv_sec = timeout_ms < 0 ? 0 : timeout_ms / 1000;
  within.tv_usec = timeout_ms < 0 ? 0 : timeout_ms % 1000 * 1000 + 1;
  s->fd = socket(AF_UNIX, SOCK_STREAM, 0);
  setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &within, sizeof within);
  while ((code = connect(s->fd, (struct sockaddr *)&address, sizeof address)) != 0 && errno == EINTR) continue;
  if (code != 0) code = stci__end(s, strerror(errno));
  else code = stci__send(s, NULL, 0, "\"type\":\"hello\",\"version\":2,\"token\":%s", proof);
  if (code == STCI_OK) code = stci__read(s, stci__deadline(timeout_ms), &r);
  if (code == STCI_OK && strcmp(r.type, "welcome") == 0) {
    s->size = (int)stci__number(stci__member(r.line, "size"), STCI__RANKS_MAX);
    s->rank = (int)stci__number(stci__member(r.line, "rank"), s->size - 1);
    s->attempt = (int)stci__number(stci__member(r.line, "attempt"), INT_MAX);
    stci__string(stci__member(r.line, "host"), s->host, sizeof s->host);
    if (s->rank >= 0 && s->attempt >= 0 && (s->lost = (char *)calloc((size_t)s->size, 1)) != NULL) return STCI_OK;
    code = stci__end(s, "it broke the protocol");
  } else if (code == STCI_OK) {
    stci__string(stci__member(r.line, "reason"), s->reason, sizeof s->reason);
    stci__end(s, *s->reason ? s->reason : "it broke the protocol");
  }
  snprintf(proof, sizeof proof, "%.139s", s->reason);
  stci_close(s);
  return stci__fail(s, code == STCI_TIMEOUT ? code : STCI_REFUSED, "Cannot connect to the session agent at %.108s: %s.",
    path, code == STCI_TIMEOUT ? "no answer in time" : proof);
}

/*
 * Waits at most wait_ms for news of the agent, and handles all that is there: on_failure is called, stci_is_lost() is
 * up to date. For programs that compute for long between other calls. STCI_OK also if there was none; STCI_CLOSED.
 */
static inline int stci_poll(stci *s, int wait_ms) {
  stci__record r;
  int code = STCI_OK;
  if (s->is_alone) return STCI_OK;
  if (s->fd < 0) return stci__end(s, s->reason);
  for (; code == STCI_OK; wait_ms = 0) code = stci__take(s, -1, stci__deadline(wait_ms), &r);
  return code == STCI_TIMEOUT ? STCI_OK : code;
}

/*
 * Sends a message; returns when the receiver's agent has it. `tag`: 1 to 64 printable ASCII characters without space.
 * STCI_RANK_LOST, STCI_RANK_ENDED, STCI_ARGUMENT, STCI_LIMIT, STCI_CLOSED; after STCI_TIMEOUT it may still arrive.
 */
static inline int stci_send(stci *s, int to, const char *tag, const void *data, size_t bytes) {
  char quoted[140];
  stci__record r;
  if (to < 0 || to >= s->size) return stci__fail(s, STCI_ARGUMENT, "send: there is no rank %d", to);
  if (stci__quote(s, "send: tag", tag, '!', 64, quoted) != STCI_OK) return STCI_ARGUMENT;
  if (bytes > STCI_MESSAGE_BYTES_MAX) return stci__fail(s, STCI_LIMIT, "send: a message has at most 8 MiB");
  if (s->is_alone) return stci__keep(s, 0, tag, data, bytes);
  return stci__call(s, data == NULL ? "" : data, bytes, &r, "\"type\":\"send\",\"to\":%d,\"tag\":%s", to, quoted);
}

/*
 * Takes the oldest message from rank `from` (STCI_ANY: any) with this tag (NULL: any). wait_ms: 0 takes what is there,
 * -1 waits for ever, else at most a day. STCI_NONE: no such message in time. STCI_RANK_LOST, STCI_RANK_ENDED:
 * `from` is lost or has ended, or all others, and nothing that fits is left.
 */
static inline int stci_receive(stci *s, int from, const char *tag, int wait_ms, stci_message *out) {
  char quoted[140], source[30] = "", tagged[160] = "", within[30] = "";
  if (wait_ms > 86400000) wait_ms = 86400000;
  long long deadline = stci__deadline(wait_ms);
  stci__record r;
  int code;
  memset(out, 0, sizeof *out);
  if (from != STCI_ANY && (from < 0 || from >= s->size)) {
    return stci__fail(s, STCI_ARGUMENT, "receive: there is no rank %d", from);
  }
  if (tag != NULL && stci__quote(s, "receive: tag", tag, '!', 64, quoted) != STCI_OK) return STCI_ARGUMENT;
  if (s->is_alone) return stci__take_kept(s, tag, out);
  if (from != STCI_ANY) snprintf(source, sizeof source, ",\"from\":%d", from);
  if (tag != NULL) snprintf(tagged, sizeof tagged, ",\"tag\":%s", quoted);
  if (wait_ms >= 0) snprintf(within, sizeof within, ",\"waitMs\":%d", wait_ms);
  code = stci__send(s, NULL, 0, "\"type\":\"receive\"%s%s%s", source, tagged, within);
  if (code != STCI_OK) return code;
  code = stci__take(s, s->id, deadline < 0 ? -1 : deadline + STCI__GRACE_MS, &r);
  /* An answer after this one was given up would be a message that nobody takes. */
  if (code == STCI_TIMEOUT) return stci__end(s, "it does not answer");
  return code != STCI_OK ? code : stci__message(s, &r, 0, out);
}

/*
 * Collectives: all ranks call the same ones in the same order. Once a rank of the group is lost, they give
 * STCI_RANK_LOST at all ranks, and STCI_RANK_ENDED once one has ended with 0, until the next stci_shrink(); stci_agree
 * and stci_shrink go on without it. STCI_MISMATCH, STCI_LIMIT, STCI_ARGUMENT, STCI_TIMEOUT, STCI_CLOSED.
 */

/* Waits for all ranks of the group. */
static inline int stci_barrier(stci *s) { return stci__collective(s, "barrier", NULL, 0, NULL, 0, NULL, NULL); }

/* Gives the parts of all ranks to rank root; the others get none. */
static inline int stci_gather(stci *s, int root, const void *data, size_t bytes, stci_parts *out) {
  return stci__collective(s, "gather", NULL, root, data == NULL ? "" : data, bytes, out, NULL);
}

/* Gives the parts of all ranks to all. */
static inline int stci_allgather(stci *s, const void *data, size_t bytes, stci_parts *out) {
  return stci__collective(s, "allgather", NULL, 0, data == NULL ? "" : data, bytes, out, NULL);
}

/* Gives the bytes of rank root to all, itself included; what others bring is ignored. */
static inline int stci_broadcast(stci *s, int root, const void *data, size_t bytes, stci_message *out) {
  const void *brought = root != s->rank ? NULL : data == NULL ? "" : data;
  stci_parts parts;
  int code = stci__collective(s, "broadcast", NULL, root, brought, brought == NULL ? 0 : bytes, &parts, NULL);
  memset(out, 0, sizeof *out);
  if (code == STCI_OK && parts.count != 1) code = stci__end(s, "it broke the protocol");
  if (code == STCI_OK) {
    *out = parts.part[0];
    parts.own = NULL;
  }
  stci_free_parts(&parts);
  return code;
}

/* *flag becomes 1 if all ranks that are left have given another value than 0, else 0. */
static inline int stci_agree(stci *s, int *flag) {
  return stci__collective(s, "agree", flag, 0, NULL, 0, NULL, NULL);
}

/* The ranks that are left, the same at all of them, in ascending order; from now on they are the group. */
static inline int stci_shrink(stci *s, stci_ranks *out) {
  return stci__collective(s, "shrink", NULL, 0, NULL, 0, NULL, out);
}

/* A value under a key of 1 to 256 printable ASCII characters without space; others see it after stci_exchange(). */
static inline int stci_put(stci *s, const char *key, const void *data, size_t bytes) {
  char quoted[520];
  stci__record r;
  if (stci__quote(s, "put: key", key, '!', 256, quoted) != STCI_OK) return STCI_ARGUMENT;
  if (bytes > STCI_PART_BYTES_MAX) return stci__fail(s, STCI_LIMIT, "put: a value has at most 1 MiB");
  if (s->is_alone) return stci__keep(s, 1, key, data, bytes);
  return stci__call(s, data == NULL ? "" : data, bytes, &r, "\"type\":\"put\",\"key\":%s", quoted);
}

/* A collective: tells all ranks the keys that were put since the last one. */
static inline int stci_exchange(stci *s) { return stci__collective(s, "exchange", NULL, 0, NULL, 0, NULL, NULL); }

/* The value of a key. STCI_NONE: there is none. */
static inline int stci_get(stci *s, const char *key, stci_message *out) {
  char quoted[520];
  struct stci__kept *kept;
  stci__record r;
  int code;
  memset(out, 0, sizeof *out);
  if (stci__quote(s, "get: key", key, '!', 256, quoted) != STCI_OK) return STCI_ARGUMENT;
  if (s->is_alone && (kept = *stci__find(s, 1, key)) != NULL) {
    *out = kept->message;
    return stci__copy(s, out, -1, kept->message.data, kept->message.bytes);
  }
  if (s->is_alone) return stci__fail(s, STCI_NONE, "get: there is no key %.100s", key);
  code = stci__call(s, NULL, 0, &r, "\"type\":\"get\",\"key\":%s", quoted);
  if (code != STCI_OK) return code;
  if (!stci__is_true(r.line, "found")) return stci__fail(s, STCI_NONE, "get: there is no key %.100s", key);
  return stci__message(s, &r, 1, out);
}

/*
 * The neighbours of `position` in a topology over `size` positions. `spec`: as of stcirun's parameters, such as
 * "tree:arity=3" or a plugin's. For all ranks: job.size and job.rank; after stci_shrink(), the place in what it gave.
 */
static inline int stci_neighbours(stci *s, const char *spec, int size, int position, stci_ranks *out) {
  char quoted[1030];
  stci__record r;
  int code;
  memset(out, 0, sizeof *out);
  if (stci__quote(s, "neighbours: topology", spec, ' ', 512, quoted) != STCI_OK) return STCI_ARGUMENT;
  if (size < 1 || size > STCI_POSITIONS_MAX) {
    return stci__fail(s, STCI_ARGUMENT, "neighbours: the size is 1 to %d, not %d", STCI_POSITIONS_MAX, size);
  }
  if (position < 0 || position >= size) {
    return stci__fail(s, STCI_ARGUMENT, "neighbours: there is no position %d of %d", position, size);
  }
  if (s->is_alone && size == 1) return STCI_OK;
  if (s->is_alone) {
    return stci__fail(s, STCI_ARGUMENT, "neighbours: without stcirun --client a topology has 1 position, not %d", size);
  }
  code = stci__call(s, NULL, 0, &r, "\"type\":\"topology\",\"spec\":%s,\"size\":%d,\"position\":%d,\"root\":0", quoted,
    size, position);
  return code != STCI_OK ? code : stci__list(s, stci__member(r.line, "neighbours"), size, out);
}

/*
 * Promises a sign of life, which is the same call, within so many ms, again and again; 0 takes the promise back. A rank
 * that breaks it is killed, and lost.
 */
static inline int stci_alive(stci *s, int within_ms) {
  if (within_ms < 0 || within_ms > 86400000) {
    return stci__fail(s, STCI_ARGUMENT, "alive: %d is not 0 to 86400000 ms", within_ms);
  }
  return s->is_alone ? STCI_OK : stci__send(s, NULL, 0, "\"type\":\"alive\",\"withinMs\":%d", within_ms);
}

/* Tells experiments that the program has come to a point of this name: 1 to 256 printable ASCII characters. */
static inline int stci_mark(stci *s, const char *name) {
  char quoted[520];
  if (stci__quote(s, "mark: name", name, ' ', 256, quoted) != STCI_OK) return STCI_ARGUMENT;
  return s->is_alone ? STCI_OK : stci__send(s, NULL, 0, "\"type\":\"mark\",\"name\":%s", quoted);
}
#endif
