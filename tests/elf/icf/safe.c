//# about: --icf=safe folds functions that are only called, and leaves apart those whose addresses are compared
//# obj: safe.o = safe.c @clang -O1 -fPIC -ffunction-sections -fdata-sections -faddrsig
//# obj: shy.o = shy.c @clang -O1 -fPIC -ffunction-sections -faddrsig
//# obj: gcc.o = gcc.c @gcc -O1 -fPIC -ffunction-sections
//# link: %pie safe.o shy.o gcc.o --icf=safe --print-icf-sections=list
//# check: sym(called1) == sym(called2)
//# check: sym(compared1) != sym(compared2)
//# check: sym(gcc1) != sym(gcc2)
//# check: sym(from_gcc1) != sym(from_gcc2)
//# run: ./out
//# stdout: apart 24
//# link: %pie safe.o shy.o gcc.o --icf=all
//# check: sym(called1) == sym(called2) == sym(compared1) == sym(compared2)
//# check: sym(gcc1) == sym(gcc2)
//# check: sym(from_gcc1) == sym(from_gcc2)
//# run: ./out
//# stdout: together 24
//# link: %shared safe.o shy.o gcc.o --icf=safe -o safe.so
//# check: sym(called1) != sym(called2)
//# sh: objcopy safe.o moved.o && ld -r shy.o -o moved2.o
//# [weld] link: %pie moved2.o moved.o gcc.o --icf=safe -o moved
//# [weld] warning: moved2\.o .*cut off
//# [weld] check: sym(called1) != sym(called2)
#include <stdio.h>
#define F(name) __attribute__((noinline)) int name(int n) { __asm__ volatile("" : "+r"(n)); return n * 3; }
F(called1) F(called2) F(compared1) F(compared2)
int gcc1(int), gcc2(int), gcc_compare(void);
int shy(int (*)(int), int (*)(int));
int main(void) {
  int same = shy(compared1, compared2);
  printf("%s %d\n", same ? "together" : "apart", called1(1) + called2(1) + gcc1(1) + gcc2(1) + gcc_compare());
}
//--- shy.c
int shy(int (*a)(int), int (*b)(int)) { return a == b; }
__attribute__((noinline)) int from_gcc1(int n) { __asm__ volatile("" : "+r"(n)); return n * 6; }
__attribute__((noinline)) int from_gcc2(int n) { __asm__ volatile("" : "+r"(n)); return n * 6; }
//--- gcc.c
int from_gcc1(int), from_gcc2(int);
__attribute__((noinline)) int gcc1(int n) { __asm__ volatile("" : "+r"(n)); return n * 3; }
__attribute__((noinline, noclone, no_icf)) int gcc2(int n) { __asm__ volatile("" : "+r"(n)); return n * 3; }
int gcc_compare(void) { return from_gcc1(1) + from_gcc2(1); }
