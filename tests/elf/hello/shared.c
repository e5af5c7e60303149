//# about: an executable that uses a shared library of ours, by each compiler, each kind and libc
//# machines: aarch64 riscv64 i386 s390x armhf armel ppc64le ppc64 mipsel mips64el
//# matrix: cc=gcc,clang libc=glibc,musl kind=pie,nopie
//# [kind=nopie] obj: main.o = shared.c -fno-pie
//# [kind=pie] obj: main.o = shared.c
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -soname libhello.so.1 -o libhello.so
//# dynamic: SONAME libhello.so.1
//# dynsym: greet type=FUNC bind=GLOBAL
//# dynsym: table type=OBJECT size=16
//# no-dynsym: internal
//# sh: ln -s libhello.so libhello.so.1
//# link: %{kind} main.o -L. -lhello -o main
//# dynamic: NEEDED libhello.so.1
//# run: ./main
//# stdout: hello from a library: 6 1 1
#include <stdio.h>
extern int table[4];
int greet(int (*add)(int, int));
static int add(int a, int b) { return a + b; }
int main(void) {
  table[3] = 3;
  int n = greet(add);
  printf(" %d %d\n", n, table[0]);
  return 0;
}
//--- lib.c
#include <stdio.h>
int table[4] = {1, 2, 0, 0};
__attribute__((visibility("hidden"))) int internal(int i) { return table[i]; }
int greet(int (*add)(int, int)) {
  printf("hello from a library:");
  int sum = 0;
  for (int i = 0; i < 4; i++) sum = add(sum, internal(i));
  printf(" %d", sum);
  return table[0];
}
