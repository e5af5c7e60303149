//# about: TLS sequences of gcc's large code model, rewritten in executables
//# not: lld -- it knows no such sequences
//# matrix: kind=pie,nopie,static
//# obj: t.o = tls-large-model.c -O1 -fPIC -mcmodel=large
//# obj: lib.o = lib.c -O1 -fPIC
//# [kind=static] link: %static t.o lib.o
//# [!kind=static] link: %shared lib.o -o lib.so
//# [!kind=static] link: %{kind} t.o lib.so -o out
//# run: ./out
//# stdout: 13
#include <stdio.h>
extern __thread int far;
static __thread int local = 3;
__thread int global = 4;
int sum(void) { return far + local + global; }
int main(void) {
  local++;
  printf("%d\n", sum());
  return 0;
}
//--- lib.c
__thread int far = 5;
