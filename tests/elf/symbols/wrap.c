//# about: --wrap redirects references, __real_ reaches the definition, for functions and data
//# machines: aarch64 riscv64 i386 s390x armhf ppc64le ppc64 mipsel
//# matrix: kind=static,pie
//# link: %{kind} wrap.o def.o --wrap=f --wrap data --wrap=malloc
//# run: ./out
//# stdout: wrapped real 7 1
#include <stdio.h>
#include <stdlib.h>
int calls;
const char *f(void);
extern int data;
const char *__real_f(void);
void *__real_malloc(size_t);
int __wrap_data = 7;
void *__wrap_malloc(size_t n) { calls++; return __real_malloc(n); }
const char *__wrap_f(void) { static char b[32]; snprintf(b, sizeof b, "wrapped %s", __real_f()); return b; }
int main(void) {
  void *volatile p = malloc(3);
  free(p);
  const char *s = f();
  printf("%s %d %d\n", s, data, calls > 0);
  return 0;
}
//--- def.c
const char *f(void) { return "real"; }
int data = 1;
