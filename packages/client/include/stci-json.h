/*
 * stci-json.h: reads the lines of docs/client-protocol.md where they lie. A line ends with 0, and nothing reads beyond,
 * whatever it contains: what is not as expected is like a member that is not there.
 */
#ifndef STCI_JSON_H
#define STCI_JSON_H

/* What follows the value at p. */
static inline const char *stci__after(const char *p) {
  size_t depth = 0;
  for (; *p; p++) {
    if (*p == '"') {
      for (p++; *p != '"'; p++) if (!*p || (*p == '\\' && !*++p)) return p;
    } else if (*p == '[' || *p == '{') depth++;
    else if (*p == ',' || *p == ']' || *p == '}') {
      if (depth == 0) return p;
      if (*p != ',') depth--;
    }
  }
  return p;
}

static inline const char *stci__blanks(const char *p) { return p + strspn(p, " \t"); }

/* The list's or object's first item; the next one after an item; an empty string where there is none. */
static inline const char *stci__first(const char *p, char open) {
  p = *p == open ? stci__blanks(p + 1) : "";
  return *p == ']' || *p == '}' ? "" : p;
}
static inline const char *stci__next(const char *item) {
  item = stci__after(item);
  return *item == ',' ? stci__blanks(item + 1) : "";
}

/* The value of a member; an empty string where there is none. */
static inline const char *stci__member(const char *object, const char *name) {
  size_t chars = strlen(name);
  const char *p;
  for (p = stci__first(object, '{'); *p == '"'; p = stci__next(p)) {
    if (strncmp(p + 1, name, chars) != 0 || p[chars + 1] != '"') continue;
    p = stci__blanks(p + chars + 2);
    return *p == ':' ? stci__blanks(p + 1) : "";
  }
  return "";
}

static inline int stci__is_true(const char *object, const char *name) {
  return strncmp(stci__member(object, name), "true", 4) == 0;
}

/* A whole number from 0 to max; -1 where there is none. */
static inline long long stci__number(const char *p, long long max) {
  char *end;
  long long value;
  if (*p < '0' || *p > '9') return -1;
  errno = 0;
  value = strtoll(p, &end, 10);
  return errno != 0 || value > max || !strchr(",]} \t", *end) ? -1 : value;
}

/* Copies a string's characters, as many as fit; characters that are not ASCII become '?'. */
static inline void stci__string(const char *p, char *to, size_t room) {
  size_t n = 0;
  if (*p == '"') for (p++; *p && *p != '"' && n + 1 < room; p++) {
    if (*p != '\\') to[n++] = *p;
    else if (*++p != 'u') { if (!*p) break; to[n++] = *p; }
    else {
      unsigned code = 0;
      int digits;
      for (digits = 0; digits < 4 && p[1]; digits++) {
        const char *hex = "0123456789abcdef", *at = strchr(hex, *++p | 32);
        code = code * 16 + (at == NULL ? 0 : (unsigned)(at - hex));
      }
      to[n++] = code >= 32 && code < 127 ? (char)code : '?';
    }
  }
  to[n] = 0;
}
#endif
