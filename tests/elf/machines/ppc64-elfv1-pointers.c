//# about: PowerPC64, ELFv1: an IFUNC of a program at fixed addresses is known by its descriptor in the PLT, also to libraries that copy it before the resolver is called; functions of libraries are known by their own, so that code cannot have their addresses
//# machines: ppc64
//# except: machine=x86-64
//# matrix: bind=lazy,now
//# cflags: -fno-pie -mcmodel=medium
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o lib.so
//# link: %nopie ppc64-elfv1-pointers.o lib.so -z {bind}
//# run: ./out
//# stdout: 6 same, 7 same, 12 3 8
//# check: sym(chosen) >= addr(.plt)
//# check: sym(chosen) < end(.plt)
//# obj: address.o = address.c -fno-pie
//# fail: %nopie address.o lib.so
//# error: R_PPC64_ADDR16_HI cannot be used against symbol 'twice' with -no-pie; recompile with -fPIC
#include <stdio.h>
int twice(int);
int (*of_library(void))(int);
int call(int (*f)(int), int);
static int one(int x) { return x + 1; }
static int (*choose(void))(int) { return one; }
int chosen(int) __attribute__((ifunc("choose")));
static int hidden(int) __attribute__((ifunc("choose")));
int (*chosen_in_library(void))(int);
int call_chosen(int);
#define ADDRESS(f) ({ int (*p)(int); __asm__("lis %0, " #f "@h\n\tori %0, %0, " #f "@l" : "=r"(p)); p; })
int main(void) {
    int (*volatile f)(int) = twice, (*volatile g)(int) = ADDRESS(chosen);
    int first = f(3);
    const char *same = f == of_library() && f == &twice ? "same" : "other";
    printf("%d %s, ", first, same);
    same = g == chosen_in_library() && g == &chosen ? "same" : "other";
    printf("%d %s, %d %d %d\n", call(g, 6), same, call(f, 6) * (twice(1) == 2), hidden(2), call_chosen(7));
    return 0;
}
//--- lib.c
int twice(int x) { return 2 * x; }
int (*of_library(void))(int) { return twice; }
int call(int (*f)(int), int x) { return f(x); }
int chosen(int);
int (*chosen_in_library(void))(int) { return chosen; }
int call_chosen(int x) {
    // Its own TOC is there after the call.
    static int (*volatile again)(int) = chosen;
    return chosen(x) * (again(x) == x + 1);
}
//--- address.c
int twice(int);
int chosen(int x) { return x; }
int main(void) {
    int (*f)(int);
    __asm__("lis %0, twice@h" : "=r"(f));
    return f == twice;
}
