//# about: a static function chosen at run time, called and pointed to
//# machines: aarch64 riscv64 i386 s390x armhf ppc64le ppc64
//# not: bfd mold -- addresses differ
//# matrix: kind=static,static-pie,pie,nopie
//# obj: i.o = ifunc-local.c -O1 -fPIE
//# link: %{kind} i.o
//# run: ./out
//# stdout: 55 1
#include <stdio.h>
static int five(void) { return 55; }
static int (*resolve(void))(void) { return five; }
static int f(void) __attribute__((ifunc("resolve")));
int (*const table[])(void) = {f};
int (*volatile pointer)(void) = f;
int main(void) {
  printf("%d %d\n", f(), pointer == table[0] && pointer() == 55);
  return 0;
}
