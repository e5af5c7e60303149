//# about: a function of a library has one address in the process, also for non-PIC code
//# machines: aarch64 riscv64 i386 s390x armhf
//# matrix: cc=gcc,clang kind=pie,nopie bind=lazy,now
//# [kind=nopie] obj: main.o = canonical-plt.c -fno-pie
//# [kind=pie] obj: main.o = canonical-plt.c
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# link: %{kind} main.o -L. -llib -z {bind}
//# [kind=nopie] check: dynsym(f) > 0
//# run: ./out
//# stdout: 1 1 1 42
#include <stdio.h>
int f(void), *p(void);
typedef int (*fn)(void);
fn get(void);
int same(fn);
fn stored = f;
int main(void) { printf("%d %d %d %d\n", get() == f, stored == f, same(f), f()); return 0; }
//--- lib.c
typedef int (*fn)(void);
int f(void) { return 42; }
fn get(void) { return f; }
int same(fn g) { return f == g; }
