//# about: an IFUNC of a program at fixed addresses made of position-independent code is a function at its PLT entry for the libraries that ask for it: its resolver may
//# about: not be called before the program is relocated
//# not: lld mold gold -- they export the IFUNC, which the loader refuses with -z now
//# matrix: flags=-fPIE,-fno-pie
//# obj: lib.o = lib.c -fPIC
//# link: lib.o %shared -o lib.so -z now
//# obj: asked-for.o = asked-for.c {flags}
//# obj: user.o = user.c {flags}
//# link: %nopie lib.so user.o asked-for.o -z now
//# dynsym: func type=FUNC
//# run:
//# stdout: 3 3 same
static int three(void) { return 3; }
static int (*resolve(void))(void) { return three; }
int func(void) __attribute__((ifunc("resolve")));
//--- user.c
#include <stdio.h>
int func(void);
int call(void);
int (*address(void))(void);
int (*volatile here)(void);
int main(void) {
  here = func;
  printf("%d %d %s\n", func(), call(), here == address() ? "same" : "different");
}
//--- lib.c
int func(void);
int call(void) { return func(); }
int (*address(void))(void) { return func; }
