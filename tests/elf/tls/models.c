//# about: every TLS model in every kind of output, with threads
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel mips mips64el
//# matrix: cc=gcc,clang kind=static,static-pie,pie,nopie model=global-dynamic,local-dynamic,initial-exec,local-exec,desc
//# [kind=static|nopie] cflags: -fno-pie
//# [!model=desc] cflags: -ftls-model={model}
//# [model=global-dynamic|local-dynamic] cflags: -fPIC
//# [model=desc machine=x86-64] cflags: -fPIC -mtls-dialect=gnu2
//# [model=desc machine=aarch64] cflags: -fPIC
// gcc 12 has no descriptors here, nor has the C library's loader.
//# except: model=desc machine=riscv64 cc=gcc
//# [model=desc machine=riscv64] cflags: -fPIC -mtls-dialect=desc
//# [machine=aarch64 cc=gcc model=global-dynamic|local-dynamic] cflags: -mtls-dialect=trad
//# obj: two.o = two.c
//# link: %{kind} models.o two.o
//# [kind=static|static-pie] no-reloc: DTPMOD64
//# run: ./out
//# stdout: 11 22 33 0 7
//# stdout: 11 22 33 0 7
#include <pthread.h>
#include <stdio.h>
__thread int a = 1;
static __thread int b = 2;
extern __thread int c;
__thread char big[1000];
extern __thread long zero;
extern __thread int aligned;
static void *run(void *arg) {
  (void)arg;
  a += 10; b += 20; c += 30; big[999]++;
  if ((unsigned long)&aligned % 64) puts("misaligned");
  printf("%d %d %d %ld %d\n", a, b, c, zero, aligned);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);
  run(0);
  return 0;
}
//--- two.c
__thread int c = 3;
__thread long zero;
__thread int aligned __attribute__((aligned(64))) = 7;
