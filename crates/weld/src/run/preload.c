/* What `weld run` has the dynamic loader put into the programs that it starts: where one of them executes a linker,
 * weld is executed in its place.
 *
 * The arguments stay, argv[0] too, by which weld knows which linker it stands in for. The environment tells which one
 * that was (WELD_RUN_INSTEAD), for weld hands on what it cannot link. Nothing is replaced when the process that `weld
 * run` became has ended, so that a server that was started on the way goes back to what it would do by itself.
 *
 * Programs that take LD_PRELOAD out of the environment, or give those that they start one of their own (`env -i`, both
 * of them Bazel), would end all this: what is weld's is put back. Who does not want it sets WELD_RUN to nothing.
 *
 * WELD_RUN has, with colons between: the number of that process, of its namespace of process numbers, the path of this
 * library, and weld's path.
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

static const char run_name[] = "WELD_RUN=";
static const char log_name[] = "WELD_RUN_LOG=";
static const char preload_name[] = "LD_PRELOAD=";

/* The variables of this process when it began; NULL if there were none. */
static const char *own_run, *own_log;

static const char *find(char *const *list, const char *name) {
  for (; list && *list; ++list)
    if (strncmp(*list, name, strlen(name)) == 0)
      return *list;
  return NULL;
}

/* Copies, for programs may write over what they were given. */
__attribute__((constructor)) static void remember(void) {
  const char *run = find(environ, run_name), *log = find(environ, log_name);
  own_run = run ? strdup(run) : NULL;
  own_log = log ? strdup(log) : NULL;
}

/* What is behind a number and the character `end`. */
static const char *number(const char *text, char end, unsigned long *value) {
  for (*value = 0; *text >= '0' && *text <= '9'; ++text)
    *value = *value * 10 + (unsigned long)(*text - '0');
  return *text == end ? text + 1 : NULL;
}

/* Whether the numbers of this process are of another namespace than `space`, where `weld run` is. */
static int is_elsewhere(unsigned long space) {
  static const char start[] = "pid:[";
  char link[64];
  unsigned long here = 0;
  const ssize_t length = readlink("/proc/self/ns/pid", link, sizeof link - 1);
  if (space == 0 || length < (ssize_t)sizeof start)
    return 0;
  link[length] = 0;
  return memcmp(link, start, sizeof start - 1) == 0 && number(link + sizeof start - 1, ']', &here) && here != space;
}

/* The paths of this library and of weld, with a colon between, if the process that `weld run` became is there.
 * Elsewhere its number says nothing; whoever began a namespace was asked before. */
static const char *paths(void) {
  unsigned long process = 0, space = 0;
  const char *rest = own_run ? number(own_run + sizeof run_name - 1, ':', &process) : NULL;
  rest = rest ? number(rest, ':', &space) : NULL;
  if (!rest || process == 0)
    return NULL;
  return kill((pid_t)process, 0) == 0 || errno == EPERM || is_elsewhere(space) ? rest : NULL;
}

/* weld's path, if it is to be executed for `path`. */
static const char *stand_in(const char *path) {
  const char *both = path && is_linker(path) ? paths() : NULL;
  const char *colon = both ? strchr(both, ':') : NULL;
  return colon ? colon + 1 : NULL;
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

/* The path of this library, if an environment lacks what makes weld link, and should not; how long it is. */
static const char *lost(char *const *environment, size_t *length) {
  const char *run = find(environment, run_name), *preload = find(environment, preload_name);
  const char *both = own_run && (!run || run[sizeof run_name - 1]) ? paths() : NULL;
  const char *colon = both ? strchr(both, ':') : NULL;
  if (!colon)
    return NULL;
  *length = (size_t)(colon - both);
  char library[*length + 1];
  memcpy(library, both, *length);
  library[*length] = 0;
  return run && preload && strstr(preload, library) ? NULL : both;
}

/* The environment with what is weld's, which takes three places more. `preload` has room for what the loader is told:
 * the library, and what the environment says by itself. */
static char **restored(char *const *from, const char *library, size_t length, char *preload, char **room) {
  const char *others = find(from, preload_name);
  size_t count = 0;
  for (const char *run = find(from, run_name), *log = find(from, log_name); from && *from; ++from)
    if (*from != others && *from != run && *from != log)
      room[count++] = *from;
  strcpy(preload, preload_name);
  strncat(preload, library, length);
  if (others && others[sizeof preload_name - 1]) {
    strcat(preload, ":");
    strcat(preload, others + sizeof preload_name - 1);
  }
  room[count++] = preload;
  room[count++] = (char *)own_run;
  if (own_log)
    room[count++] = (char *)own_log;
  room[count] = NULL;
  return room;
}

static size_t preload_size(char *const *environment, size_t length) {
  const char *others = find(environment, preload_name);
  return sizeof preload_name + length + 1 + (others ? strlen(others) : 0);
}

/* `all` is the environment, with what is weld's if that is `lost`. */
#define WITH_OWN(environment)                                                                                          \
  size_t length;                                                                                                       \
  const char *library = lost(environment, &length);                                                                    \
  char preload[library ? preload_size(environment, length) : 1];                                                       \
  char *own_room[library ? count_of(environment) + 4 : 1];                                                             \
  char *const *all =                                                                                                   \
      library ? restored(environment, library, length, preload, own_room) : (char *const *)(environment)

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
  WITH_OWN(envp);
  STAND_IN(path, all, NEXT(execve)(weld, argv, variables));
  return NEXT(execve)(path, argv, all);
}

EXPORTED int execv(const char *path, char *const argv[]) {
  WITH_OWN(environ);
  STAND_IN(path, all, NEXT(execve)(weld, argv, variables));
  return library ? NEXT(execve)(path, argv, all) : NEXT(execv)(path, argv);
}

typedef int Execvpe(const char *, char *const[], char *const[]);

EXPORTED int execvp(const char *path, char *const argv[]) {
  WITH_OWN(environ);
  STAND_IN(path, all, NEXT(execve)(weld, argv, variables));
  return library ? ((Execvpe *)dlsym(RTLD_NEXT, "execvpe"))(path, argv, all) : NEXT(execvp)(path, argv);
}

EXPORTED int execvpe(const char *path, char *const argv[], char *const envp[]) {
  WITH_OWN(envp);
  STAND_IN(path, all, NEXT(execve)(weld, argv, variables));
  return ((Execvpe *)dlsym(RTLD_NEXT, "execvpe"))(path, argv, all);
}

EXPORTED int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) {
  WITH_OWN(envp);
  STAND_IN(path, all, NEXT(posix_spawn)(child, weld, actions, attributes, argv, variables));
  return NEXT(posix_spawn)(child, path, actions, attributes, argv, all);
}

EXPORTED int posix_spawnp(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) {
  WITH_OWN(envp);
  STAND_IN(path, all, NEXT(posix_spawn)(child, weld, actions, attributes, argv, variables));
  return NEXT(posix_spawnp)(child, path, actions, attributes, argv, all);
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
