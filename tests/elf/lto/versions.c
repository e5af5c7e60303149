//# about: names with versions, aliases, IFUNCs, weak and hidden symbols of bitcode in a shared library
//# matrix: lto=full,thin
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: lib.o = lib.c @clang -O2 -fPIC -flto={lto}
//# obj: versions.o = versions.c @gcc -O1
//# link: %shared lib.o -o libx.so --version-script=x.map
//# dynsym: f@@V2
//# dynsym: f@V1
//# dynsym: same type=FUNC
//# dynsym: chosen type=IFUNC
//# dynsym: weak bind=WEAK
//# no-dynsym: hidden
//# link: %pie versions.o libx.so
//# run:
//# stdout: 2 2 7 5
#include <stdio.h>
int f(void), same(void), chosen(void), weak(void);
int main(void) { printf("%d %d %d %d\n", f(), same(), chosen(), weak()); }
//--- lib.c
__asm__(".symver f_old, f@V1");
__asm__(".symver f_new, f@@V2");
int f_old(void) { return 1; }
int f_new(void) { return 2; }
__attribute__((visibility("hidden"))) int hidden(void) { return 5; }
int same(void) __attribute__((alias("f_new")));
__attribute__((weak)) int weak(void) { return hidden(); }
static int seven(void) { return 7; }
static int (*resolve(void))(void) { return seven; }
int chosen(void) __attribute__((ifunc("resolve")));
//--- x.map
V1 { global: f; same; chosen; weak; local: *; };
V2 { global: f; } V1;
