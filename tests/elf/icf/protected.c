//# about: --ignore-data-address-equality and --ignore-function-address-equality let a program stand in for what is protected
//# machines: aarch64 riscv64 i386 s390x
//# cflags: -fno-pie
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o libp.so
//# [weld] fail: %nopie protected.o -L. -lp -o out
//# [weld] error: protects
//# [weld] fail: %nopie protected.o -L. -lp --ignore-data-address-equality -o out
//# [weld] error: function
//# [weld] error-not: variable
//# link: %nopie protected.o -L. -lp --ignore-data-address-equality --ignore-function-address-equality -o out
//# run: ./out
//# stdout: 7 5
#include <stdio.h>
int function(void);
extern int variable;
int (*pointer)(void) = function;
int *address = &variable;
int main(void) {
  int (*volatile f)(void) = function;
  int *volatile v = &variable;
  printf("%d %d\n", f(), *v);
}
//--- lib.c
__attribute__((visibility("protected"))) int variable = 5;
__attribute__((visibility("protected"))) int function(void) { return variable + 2; }
