//# about: TLS of a shared library, exported and local, used by itself and by an executable
//# matrix: cc=gcc,clang kind=pie,nopie dialect=gnu,gnu2
//# [kind=nopie] obj: main.o = shared.c -fno-pie
//# [kind=pie] obj: main.o = shared.c
//# obj: lib.o = lib.c -fPIC -mtls-dialect={dialect}
//# link: %shared lib.o -o liblib.so
//# [dialect=gnu] reloc: DTPMOD64 sym=exported
//# [dialect=gnu] reloc: DTPOFF64 sym=exported
//# [dialect=gnu2] reloc: TLSDESC sym=exported
//# [dialect=gnu2] no-reloc: DTPMOD64
//# dynsym: exported type=TLS size=4
//# segment: TLS
//# link: %{kind} main.o -L. -llib
//# reloc: TPOFF64 sym=exported
//# no-reloc: COPY
//# run: ./out
//# stdout: 6 7 8
//# stdout: 16 8 9
//# stdout: 5 7 8
#include <pthread.h>
#include <stdio.h>
extern __thread int exported;
int *hidden(void);
int *file_local(void);
static void *run(void *arg) {
  printf("%d %d %d\n", exported, *hidden(), *file_local());
  exported += 10; ++*hidden(); ++*file_local();
  return arg;
}
int main(void) {
  pthread_t t;
  run(0);
  run(0);
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);
  return 0;
}
//--- lib.c
__thread int exported = 5;
__attribute__((visibility("hidden"))) __thread int hid = 7;
static __thread int local = 8;
int *hidden(void) { return &hid; }
int *file_local(void) { return &local; }
__attribute__((constructor)) static void init(void) { exported = 6; }
