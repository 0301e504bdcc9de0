/*
 * stci-records.h: what the calls of stci.h are made of: records over the agent's socket, answers, collectives. Nothing
 * that the agent says is trusted: memory is taken as bytes arrive, ranks are below the job's size.
 */
#ifndef STCI_RECORDS_H
#define STCI_RECORDS_H
#include "stci-json.h"

#define STCI__LINE_MAX (64L << 20)
#define STCI__BYTES_MAX (1L << 30)
#define STCI__RANKS_MAX (1L << 24)
#ifndef STCI__GRACE_MS
#define STCI__GRACE_MS 10000
#endif
#ifdef __GNUC__
#define STCI__FORMAT(which, first) __attribute__((__format__(__printf__, which, first)))
#else
#define STCI__FORMAT(which, first)
#endif

typedef struct { char type[24]; const char *line, *data; size_t bytes; } stci__record;

STCI__FORMAT(3, 4)
static inline int stci__fail(stci *s, int code, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(s->text, sizeof s->text, format, list);
  va_end(list);
  return code;
}

static inline int stci__end(stci *s, const char *reason) {
  if (s->fd >= 0) close(s->fd);
  s->fd = -1;
  if (reason != s->reason) snprintf(s->reason, sizeof s->reason, "%s", reason);
  return stci__fail(s, STCI_CLOSED, "The connection to the session agent has ended: %s.", s->reason);
}

static inline long long stci__now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline long long stci__deadline(int wait_ms) { return wait_ms < 0 ? -1 : stci__now() + wait_ms; }

/* A range [first, last, …] of the job's ranks; 0 where it is none. */
static inline int stci__range(const stci *s, const char *item, int *first, int *last) {
  const char *p = stci__first(item, '[');
  *first = (int)stci__number(p, s->size - 1);
  *last = (int)stci__number(stci__next(p), s->size - 1);
  return *first >= 0 && *first <= *last;
}

static inline void stci__mark(stci *s, const char *ranges, char state, const char *reason) {
  const char *p;
  char text[400];
  int first, last;
  for (p = stci__first(ranges, '['); stci__range(s, p, &first, &last); p = stci__next(p)) {
    snprintf(text, sizeof text, "%s", reason);
    if (state == 1 && *reason == 0) stci__string(stci__next(stci__next(stci__first(p, '['))), text, sizeof text);
    for (; first <= last; first++) {
      int is_news = state == 1 && s->lost[first] != 1;
      s->lost[first] = state;
      if (is_news && s->on_failure != NULL) s->on_failure(s, first, text, s->context);
    }
  }
}

/* A list of ranges of ranks, or of numbers below `size`. */
static inline int stci__list(stci *s, const char *list, int size, stci_ranks *out) {
  const char *p;
  int first, last;
  memset(out, 0, sizeof *out);
  if (*list != '[') return stci__end(s, "it broke the protocol");
  out->rank = (int *)malloc(sizeof(int) * (size_t)size);
  if (out->rank == NULL) return stci__fail(s, STCI_MEMORY, "Out of memory");
  for (p = stci__first(list, '['); *p; p = stci__next(p)) {
    int is_good = *p == '[' && stci__range(s, p, &first, &last);
    if (*p != '[') is_good = (first = last = (int)stci__number(p, size - 1)) >= 0;
    if (!is_good || last - first >= size - out->count) return stci__end(s, "it broke the protocol");
    for (; first <= last; first++) out->rank[out->count++] = first;
  }
  return STCI_OK;
}

/* Reads what there is; waits for nothing. */
static inline int stci__fill(stci *s) {
  ssize_t got;
  if (s->room - s->used < 65536) {
    if (s->at > 0) memmove(s->buffer, s->buffer + s->at, s->used - s->at);
    s->used -= s->at;
    s->at = 0;
    if (s->room - s->used < 65536) {
      char *buffer = (char *)realloc(s->buffer, s->room * 2 + (1 << 18));
      if (buffer == NULL) return stci__end(s, "out of memory");
      s->buffer = buffer;
      s->room = s->room * 2 + (1 << 18);
    }
  }
  got = recv(s->fd, s->buffer + s->used, s->room - s->used - 1, MSG_DONTWAIT);
  if (got > 0) s->used += (size_t)got;
  else if (got == 0) return stci__end(s, "the agent closed it");
  else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) return stci__end(s, strerror(errno));
  return STCI_OK;
}

static inline int stci__wait(stci *s, short events, long long deadline) {
  while (s->fd >= 0) {
    struct pollfd one;
    long long rest = deadline < 0 ? -1 : deadline - stci__now();
    int ready;
    one.fd = s->fd;
    one.events = events;
    one.revents = 0;
    ready = poll(&one, 1, deadline < 0 ? -1 : rest <= 0 ? 0 : rest > INT_MAX ? INT_MAX : (int)rest);
    if (ready > 0) return one.revents & (POLLIN | POLLHUP | POLLERR) ? stci__fill(s) : STCI_OK;
    if (ready < 0 && errno != EINTR) return stci__end(s, strerror(errno));
    if (ready == 0 && rest <= 0) return stci__fail(s, STCI_TIMEOUT, "No answer of the session agent in time");
  }
  return stci__end(s, s->reason);
}

static inline int stci__write(stci *s, const char *data, size_t bytes, long long deadline) {
  while (bytes > 0) {
    ssize_t sent = send(s->fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) { data += sent; bytes -= (size_t)sent; continue; }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      int code = stci__wait(s, POLLIN | POLLOUT, deadline);
      if (code == STCI_TIMEOUT) return stci__end(s, "it took no more in time");
      if (code != STCI_OK) return code;
    } else if (errno != EINTR) return stci__end(s, strerror(errno));
  }
  return STCI_OK;
}

/* The next record; it lies in the buffer until the next call. */
static inline int stci__read(stci *s, long long deadline, stci__record *r) {
  s->at += s->whole;
  s->scanned = s->whole = 0;
  for (;;) {
    size_t have = s->used - s->at;
    char *line = have > 0 ? s->buffer + s->at : NULL;
    char *end = have > s->scanned ? (char *)memchr(line + s->scanned, '\n', have - s->scanned) : NULL;
    int code;
    if (end != NULL) {
      long long bytes;
      *end = 0;
      bytes = *stci__member(line, "bytes") ? stci__number(stci__member(line, "bytes"), STCI__BYTES_MAX) : 0;
      stci__string(stci__member(line, "type"), r->type, sizeof r->type);
      if (bytes < 0 || memchr(line, 0, have) != end || !*r->type) return stci__end(s, "it broke the protocol");
      s->scanned = (size_t)(end - line);
      if (have - s->scanned - 1 >= (size_t)bytes) {
        r->line = line;
        r->data = end + 1;
        r->bytes = (size_t)bytes;
        s->whole = s->scanned + 1 + (size_t)bytes;
        return STCI_OK;
      }
      *end = '\n';
    } else if ((s->scanned = have) > STCI__LINE_MAX) return stci__end(s, "it sent a line that is too long");
    if ((code = stci__wait(s, POLLIN, deadline)) != STCI_OK) return code;
  }
}

/* An answer's code, which is absent or empty where the call was done. */
static inline int stci__result(stci *s, const char *line) {
  static const struct { const char *text; int code; } table[] = {
    { "TIMEOUT", STCI_NONE }, { "RANK_LOST", STCI_RANK_LOST }, { "RANK_ENDED", STCI_RANK_ENDED },
    { "MISMATCH", STCI_MISMATCH }, { "ARGUMENT", STCI_ARGUMENT }, { "RANK", STCI_ARGUMENT },
    { "TOPOLOGY", STCI_ARGUMENT }, { "LIMIT", STCI_LIMIT }
  };
  char text[64], reason[500];
  size_t i;
  stci__string(stci__member(line, "code"), text, sizeof text);
  if (*text == 0) return STCI_OK;
  stci__string(stci__member(line, "reason"), reason, sizeof reason);
  for (i = 0; i < sizeof table / sizeof *table; i++) {
    if (strncmp(text, "STCI_CLIENT_", 12) == 0 && strcmp(text + 12, table[i].text) == 0) break;
  }
  return stci__fail(s, i < sizeof table / sizeof *table ? table[i].code : STCI_FAILED, "%s (%s)", reason, text);
}

/* Handles records until the answer to call `id` is there, or the decision (0), or any record at all (-1). */
static inline int stci__take(stci *s, long long id, long long deadline, stci__record *r) {
  for (;;) {
    int code = stci__read(s, deadline, r);
    const char *agreed;
    char word[28];
    if (code != STCI_OK) return code;
    snprintf(word, sizeof word, "|%s|", r->type);
    agreed = stci__member(r->line, "agreed");
    if (strcmp(r->type, "failed") == 0) stci__mark(s, stci__member(r->line, "lost"), 1, "");
    else if (strcmp(r->type, "ended") == 0) stci__mark(s, stci__member(r->line, "ranks"), 2, "");
    else if (strcmp(r->type, "exit") == 0) exit((int)stci__number(stci__member(r->line, "status"), 255));
    else if (strcmp(r->type, "refused") == 0) {
      stci__string(stci__member(r->line, "reason"), s->reason, sizeof s->reason);
      return stci__end(s, s->reason);
    } else if (strcmp(r->type, "agreed") == 0) {
      if (s->voting == NULL || s->stash != NULL || *agreed != '{') return stci__end(s, "it broke the protocol");
      stci__mark(s, stci__member(agreed, "joined"), 0, "");
      stci__mark(s, stci__member(agreed, "failed"), 1, "it is lost");
      if (id == 0) return STCI_OK;
      if ((s->stash = (char *)malloc(s->whole)) == NULL) return stci__end(s, "out of memory");
      memcpy(s->stash, r->line, s->whole);
      s->stash_bytes = r->bytes;
    } else if (strstr("|done|message|value|topology|failed-call|", word) != NULL) {
      if (id > 0 && stci__number(stci__member(r->line, "id"), s->id) == id) return stci__result(s, r->line);
    } else return stci__end(s, "it broke the protocol");
    if (id < 0) return STCI_OK;
  }
}

/* Text as a JSON string: 1 to chars_max characters from `least` to '~'; `to` has room for 2 * chars_max + 3. */
static inline int stci__quote(stci *s, const char *what, const char *text, char least, size_t chars_max, char *to) {
  size_t n = 0, chars = text == NULL ? 0 : strlen(text);
  if (chars > chars_max) chars = 0;
  to[n++] = '"';
  for (; chars > 0 && *text >= least && *text < 127; text++) {
    if (*text == '"' || *text == '\\') to[n++] = '\\';
    to[n++] = *text;
  }
  memcpy(to + n, "\"", 2);
  if (chars > 0 && *text == 0) return STCI_OK;
  return stci__fail(s, STCI_ARGUMENT, "%s: expected 1 to %d printable ASCII characters%s", what, (int)chars_max,
    least == ' ' ? "" : " without space");
}

/* Sends a record: `format` are its members. With `data`, also where it is empty, it carries bytes. */
static inline int stci__vsend(stci *s, const void *data, size_t bytes, const char *format, va_list list) {
  char line[4096];
  long long deadline = stci__deadline(s->timeout_ms);
  size_t n;
  int code;
  if (s->fd < 0) return stci__end(s, *s->reason ? s->reason : "stci_connect() was not called");
  n = (size_t)snprintf(line, sizeof line, "{\"id\":%lld,", ++s->id);
  if (data != NULL) {
    n += (size_t)snprintf(line + n, 80, "\"bytes\":%lu,\"form\":\"%.8s\",", (unsigned long)bytes, s->form);
  }
  n += (size_t)vsnprintf(line + n, sizeof line - n - 2, format, list);
  if (n > sizeof line - 3) return stci__fail(s, STCI_ARGUMENT, "The arguments are longer than a record may be");
  memcpy(line + n, "}\n", 2);
  code = stci__write(s, line, n + 2, deadline);
  return code != STCI_OK || data == NULL ? code : stci__write(s, (const char *)data, bytes, deadline);
}

STCI__FORMAT(4, 5)
static inline int stci__send(stci *s, const void *data, size_t bytes, const char *format, ...) {
  va_list list;
  int code;
  va_start(list, format);
  code = stci__vsend(s, data, bytes, format, list);
  va_end(list);
  return code;
}

/* Sends, and waits for the answer. */
STCI__FORMAT(5, 6)
static inline int stci__call(stci *s, const void *data, size_t bytes, stci__record *r, const char *format, ...) {
  va_list list;
  int code;
  va_start(list, format);
  code = stci__vsend(s, data, bytes, format, list);
  va_end(list);
  return code != STCI_OK ? code : stci__take(s, s->id, stci__deadline(s->timeout_ms), r);
}

static inline int stci__copy(stci *s, stci_message *m, int rank, const char *data, size_t bytes) {
  m->rank = rank;
  m->bytes = bytes;
  if ((m->data = (char *)malloc(bytes + 1)) == NULL) return stci__fail(s, STCI_MEMORY, "Out of memory");
  if (bytes > 0) memcpy(m->data, data, bytes);
  m->data[bytes] = 0;
  return STCI_OK;
}

/* In a job of one: the first message or key of this name, NULL: any; or the place at the end. */
static inline struct stci__kept **stci__find(stci *s, int is_key, const char *name) {
  struct stci__kept **at = &s->kept;
  while (*at && ((*at)->is_key != is_key || (name && strcmp((*at)->name, name) != 0))) at = &(*at)->next;
  return at;
}

static inline int stci__keep(stci *s, int is_key, const char *name, const void *data, size_t bytes) {
  struct stci__kept **at = stci__find(s, is_key, is_key ? name : ""), *kept = *at; /* No tag is empty. */
  if (kept != NULL) free(kept->message.data);
  else if ((kept = *at = (struct stci__kept *)calloc(1, sizeof *kept)) == NULL) {
    return stci__fail(s, STCI_MEMORY, "Out of memory");
  }
  kept->is_key = is_key;
  snprintf(kept->name, sizeof kept->name, "%s", name);
  snprintf(kept->message.tag, sizeof kept->message.tag, "%s", is_key ? "" : name);
  snprintf(kept->message.form, sizeof kept->message.form, "%s", s->form);
  return stci__copy(s, &kept->message, 0, (const char *)data, bytes);
}

/* In a job of one, the oldest message with this tag, NULL: any. */
static inline int stci__take_kept(stci *s, const char *tag, stci_message *out) {
  struct stci__kept **at = stci__find(s, 0, tag), *kept = *at;
  if (kept == NULL) return stci__fail(s, STCI_NONE, "receive: no such message, and nobody else in a job of one");
  *at = kept->next;
  *out = kept->message;
  free(kept);
  return STCI_OK;
}

/* Of a rank; or of none, -1, as values are. */
static inline int stci__message(stci *s, const stci__record *r, int is_value, stci_message *out) {
  int rank = is_value ? -1 : (int)stci__number(stci__member(r->line, "from"), s->size - 1);
  if (rank < 0 && !is_value) return stci__end(s, "it broke the protocol");
  stci__string(stci__member(r->line, "tag"), out->tag, sizeof out->tag);
  stci__string(stci__member(r->line, "form"), out->form, sizeof out->form);
  return stci__copy(s, out, rank, r->data, r->bytes);
}

static inline int stci__parts(stci *s, const stci__record *r, stci_parts *out) {
  const char *list = stci__member(r->line, "parts"), *p;
  size_t at = 0;
  int count = 0;
  for (p = stci__first(list, '['); *p == '[' && count <= s->size; p = stci__next(p)) count++;
  out->part = (stci_message *)calloc((size_t)count + 1, sizeof *out->part);
  out->own = (char *)malloc(r->bytes + (size_t)count + 1);
  if (out->part == NULL || out->own == NULL) return stci__fail(s, STCI_MEMORY, "Out of memory");
  for (p = stci__first(list, '['); *p == '[' && out->count < s->size; p = stci__next(p)) {
    stci_message *m = &out->part[out->count];
    const char *item = stci__first(p, '['), *length = stci__next(item);
    long long bytes = stci__number(length, (long long)(r->bytes - at));
    m->rank = (int)stci__number(item, s->size - 1);
    if (m->rank < 0 || bytes < 0) return stci__end(s, "it broke the protocol");
    stci__string(stci__next(length), m->form, sizeof m->form);
    m->bytes = (size_t)bytes;
    m->data = out->own + at + out->count++;
    memcpy(m->data, r->data + at, m->bytes);
    m->data[m->bytes] = 0;
    at += m->bytes;
  }
  return STCI_OK;
}

/* What the decision says. */
static inline int stci__decision(stci *s, const stci__record *r, stci_parts *parts, stci_ranks *ranks) {
  int code = stci__result(s, r->line);
  if (code != STCI_OK) return code;
  if (ranks != NULL) return stci__list(s, stci__member(stci__member(r->line, "agreed"), "ranks"), s->size, ranks);
  return parts != NULL ? stci__parts(s, r, parts) : STCI_OK;
}

static inline int stci__collective(stci *s, const char *kind, int *flag, int root, const void *data, size_t bytes,
    stci_parts *parts, stci_ranks *ranks) {
  stci__record r;
  int code = STCI_OK;
  if (parts != NULL) memset(parts, 0, sizeof *parts);
  if (ranks != NULL) memset(ranks, 0, sizeof *ranks);
  if (s->voting != NULL && strcmp(s->voting, kind) != 0) {
    return stci__fail(s, STCI_ARGUMENT, "%s: %s ran out of time, and is to be called again first", kind, s->voting);
  }
  if (bytes > STCI_PART_BYTES_MAX) return stci__fail(s, STCI_LIMIT, "%s: a part has at most 1 MiB", kind);
  if (root < 0 || root >= s->size) return stci__fail(s, STCI_ARGUMENT, "%s: there is no rank %d", kind, root);
  if (s->is_alone) {
    char text[80];
    memset(&r, 0, sizeof r);
    snprintf(text, sizeof text, "{\"agreed\":{\"ranks\":[0]},\"parts\":[[0,%lu,\"%.8s\"]]}", (unsigned long)bytes,
      s->form);
    r.line = text;
    r.data = (const char *)data;
    r.bytes = bytes;
    return stci__decision(s, &r, parts, ranks);
  }
  if (s->voting == NULL) {
    code = stci__send(s, data, bytes, "\"type\":\"vote\",\"kind\":\"%s\",\"flag\":%s,\"root\":%d", kind,
      flag == NULL || *flag ? "true" : "false", root);
    if (code != STCI_OK) return code;
    s->voting = kind;
  }
  if (s->stash == NULL) code = stci__take(s, 0, stci__deadline(s->timeout_ms), &r);
  else {
    r.line = s->stash;
    r.data = s->stash + strlen(s->stash) + 1;
    r.bytes = s->stash_bytes;
  }
  if (code == STCI_TIMEOUT) return stci__fail(s, code, "%s: not all ranks have called it in time", kind);
  if (code != STCI_OK) return code;
  s->voting = NULL;
  if (flag != NULL) *flag = stci__is_true(stci__member(r.line, "agreed"), "flag");
  code = stci__decision(s, &r, parts, ranks);
  free(s->stash);
  s->stash = NULL;
  return code;
}
#endif
