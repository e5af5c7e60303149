//# about: PowerPC with 32 bits, SPARC V9, m68k: threads with variables by all models, IFUNCs, RELR, gc, ICF, a library joined before by -r, emitted relocations
//# not: bfd mold lld -- those that are installed are for this machine's programs, or make no position-independent ones of what GCC compiles
//# machines: ppc32 ppc64 sparc64 m68k
//# except: machine=x86-64
//# matrix: kind=static,pie,nopie
//# cflags: -fPIC -ffunction-sections
//# [kind=nopie] cflags: -fno-pic -ffunction-sections
//# obj: a.o = a.c -fPIC -O2
//# obj: b.o = b.c -fPIC -O2 -ftls-model=initial-exec
//# obj: c.o = c.c -fPIC -O2 -ftls-model=local-dynamic
//# link: -r a.o b.o c.o -o abc.o
//# [!kind=static] link: %shared abc.o -o abc.so
//# [!kind=static] link: %{kind} threads.o abc.so -z pack-relative-relocs
//# [!kind=static] run: ./out
//# [!kind=static] stdout: 10 11 12 13 77
//# link: %{kind} threads.o abc.o --gc-sections --icf=all --emit-relocs -z now
//# run: ./out
//# stdout: 10 11 12 13 77
#include <pthread.h>
#include <stdio.h>
__thread int own = 10;
int a(void), b(void), c(void);
static int seventy_seven(void) { return 77; }
static void *choose(void) { return (void *)seventy_seven; }
#ifdef __m68k__
// Its loaders know no IFUNCs.
int chosen(void) { return ((int (*)(void))choose())(); }
#else
int chosen(void) __attribute__((ifunc("choose")));
#endif
static void *run(void *out) {
    int *values = out;
    values[0] = own;
    values[1] = a();
    values[2] = b();
    values[3] = c();
    return 0;
}
int main(void) {
    int values[4];
    pthread_t thread;
    own = a() + b() + c();
    pthread_create(&thread, 0, run, values);
    pthread_join(thread, 0);
    printf("%d %d %d %d %d\n", values[0], values[1], values[2], values[3], chosen());
    return 0;
}
//--- a.c
__thread int va = 10;
int a(void) { return ++va; }
//--- b.c
__thread int vb = 11;
int b(void) { return ++vb; }
//--- c.c
static __thread int vc = 6, vd = 7;
int c(void) { return vc++ + vd++; }
