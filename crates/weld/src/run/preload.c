/* What `weld run` has the dynamic loader put into the programs that it starts: where one of them executes a linker,
 * weld is executed in its place.
 *
 * The arguments stay, argv[0] too, by which weld knows which linker it stands in for. The environment tells which one
 * that was (WELD_RUN_INSTEAD), for weld hands on what it cannot link. Nothing is replaced when the process that `weld
 * run` became has ended, so that a server that was started on the way goes back to what it would do by itself.
 *
 * WELD_RUN is the number of that process, a colon, and weld's path.
 *
 * This library needs none: its functions are those of whatever C library the program has. */

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

#define EXPORTED __attribute__((visibility("default")))

/* In front of the path in the variable that tells weld which linker it is executed for. */
static const char instead[] = "WELD_RUN_INSTEAD=";

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* `ld`, `ld.NAME`, `lld`, `gold`, `mold`, `wild`, `lld-link`, with a target in front or a version behind. */
static int is_linker(const char *path) {
  static const char *const names[] = {"ld",      "ld.bfd",  "ld.gold", "ld.lld",   "ld.mold",
                                      "ld.wild", "lld",     "rust-lld", "lld-link", "mold"};
  static const char *const ends[] = {"-ld", "-ld.bfd", "-ld.gold", "-ld.lld"};
  const char *name = base_name(path);
  size_t length = strlen(name);
  while (length > 0 && ((name[length - 1] >= '0' && name[length - 1] <= '9') || name[length - 1] == '.'))
    --length;
  if (length < strlen(name) && length > 0 && name[length - 1] == '-')
    --length;
  for (size_t at = 0; at < sizeof names / sizeof *names; ++at)
    if (strlen(names[at]) == length && memcmp(names[at], name, length) == 0)
      return 1;
  /* Only a target has two dashes: wasm-ld is none that weld stands in for. */
  if (!memchr(name, '-', length) || strncmp(name, "wasm", 4) == 0)
    return 0;
  for (size_t at = 0; at < sizeof ends / sizeof *ends; ++at) {
    const size_t end = strlen(ends[at]);
    if (length > end && memcmp(ends[at], name + length - end, end) == 0)
      return 1;
  }
  return 0;
}

/* weld's path, if it is to be executed for `path`. */
static const char *stand_in(const char *path) {
  if (!path || !is_linker(path))
    return NULL;
  const char *run = getenv("WELD_RUN");
  if (!run)
    return NULL;
  long process = 0;
  while (*run >= '0' && *run <= '9')
    process = process * 10 + (*run++ - '0');
  if (*run != ':' || process <= 0 || (kill((pid_t)process, 0) != 0 && errno != EPERM))
    return NULL;
  return run + 1;
}

/* A path that was looked for in PATH is told as it was given. Whether a file is there that could be executed is
 * asked where it is named, for who tries several places counts on errors. */
static int is_there(const char *path) { return !strchr(path, '/') || access(path, X_OK) == 0; }

/* The environment with one more variable. `room` has space for it. */
static char **extended(char *const *from, const char *path, char *text, char **room) {
  memcpy(text, instead, sizeof instead - 1);
  strcpy(text + sizeof instead - 1, path);
  size_t count = 0;
  for (; from && *from; ++from)
    if (strncmp(*from, instead, sizeof instead - 1) != 0)
      room[count++] = *from;
  room[count++] = text;
  room[count] = NULL;
  return room;
}

static size_t count_of(char *const *list) {
  size_t count = 0;
  while (list && list[count])
    ++count;
  return count;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Calls `next` with weld's path and an environment that says for whom, if a linker is executed. */
#define STAND_IN(path, environment, call)                                                                              \
  do {                                                                                                                 \
    const char *weld = stand_in(path);                                                                                 \
    if (weld && is_there(path)) {                                                                                      \
      char text[sizeof instead + strlen(path)];                                                                        \
      char *room[count_of(environment) + 2];                                                                           \
      char **variables = extended(environment, path, text, room);                                                      \
      return call;                                                                                                     \
    }                                                                                                                  \
  } while (0)

EXPORTED int execve(const char *path, char *const argv[], char *const envp[]) {
  STAND_IN(path, envp, NEXT(execve)(weld, argv, variables));
  return NEXT(execve)(path, argv, envp);
}

EXPORTED int execv(const char *path, char *const argv[]) {
  STAND_IN(path, environ, NEXT(execve)(weld, argv, variables));
  return NEXT(execv)(path, argv);
}

EXPORTED int execvp(const char *path, char *const argv[]) {
  STAND_IN(path, environ, NEXT(execve)(weld, argv, variables));
  return NEXT(execvp)(path, argv);
}

EXPORTED int execvpe(const char *path, char *const argv[], char *const envp[]) {
  int (*next)(const char *, char *const[], char *const[]) =
      (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execvpe");
  STAND_IN(path, envp, NEXT(execve)(weld, argv, variables));
  return next(path, argv, envp);
}

EXPORTED int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) {
  STAND_IN(path, envp, NEXT(posix_spawn)(child, weld, actions, attributes, argv, variables));
  return NEXT(posix_spawn)(child, path, actions, attributes, argv, envp);
}

EXPORTED int posix_spawnp(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) {
  STAND_IN(path, envp, NEXT(posix_spawn)(child, weld, actions, attributes, argv, variables));
  return NEXT(posix_spawnp)(child, path, actions, attributes, argv, envp);
}

/* Those with the arguments as a list are the others with an array. */
#define COLLECT(first, array)                                                                                          \
  va_list list;                                                                                                        \
  size_t count = 1;                                                                                                    \
  va_start(list, first);                                                                                               \
  while (va_arg(list, char *))                                                                                         \
    ++count;                                                                                                           \
  va_end(list);                                                                                                        \
  char *array[count + 1];                                                                                              \
  array[0] = (char *)first;                                                                                            \
  va_start(list, first);                                                                                               \
  for (size_t at = 1; at <= count; ++at)                                                                               \
    array[at] = va_arg(list, char *);                                                                                  \
  char *const *last = NULL;                                                                                            \
  (void)last

EXPORTED int execl(const char *path, const char *first, ...) {
  COLLECT(first, words);
  va_end(list);
  return execv(path, words);
}

EXPORTED int execlp(const char *path, const char *first, ...) {
  COLLECT(first, words);
  va_end(list);
  return execvp(path, words);
}

EXPORTED int execle(const char *path, const char *first, ...) {
  COLLECT(first, words);
  last = va_arg(list, char *const *);
  va_end(list);
  return execve(path, words, last);
}
