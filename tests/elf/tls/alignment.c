//# about: a .tbss of large alignment behind a small .tdata
//# matrix: kind=static,pie align=16,256,4096
//# cflags: -DALIGN={align}
//# link: %{kind} alignment.o
//# check: segalign(TLS) == {align}
//# check: seg(TLS) % {align} == 0
//# run: ./out
//# stdout: 0 0 42
#include <pthread.h>
#include <stdio.h>
__thread int init = 42;
__thread char zero[3] __attribute__((aligned(ALIGN)));
__thread char more[5] __attribute__((aligned(ALIGN)));
static void *run(void *arg) {
  printf("%lu %lu %d\n", (unsigned long)zero % ALIGN, (unsigned long)more % ALIGN, init + zero[0] + more[0]);
  return arg;
}
int main(void) { run(0); return 0; }
