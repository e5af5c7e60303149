//# about: a program's variable does not take the place of a library's function of the same name, nor the reverse
//# machines: aarch64 riscv64 i386 s390x
//# not: lld mold -- there it does
//# cflags: -fno-pie
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# link: %nopie one-name-two-kinds.o -L. -llib
//# no-dynsym: function
//# no-dynsym: variable
//# dynsym: both
//# run: ./out
//# no-dynsym: thread
//# stdout: 3 4 6 7
#include <stdio.h>
int function = 1;
int variable(void) { return 2; }
int both(void) { return 6; }
int thread = 8;
int call(void), get(void), call_both(void), get_thread(void);
int main(void) {
  printf("%d %d %d %d\n", call(), get(), call_both(), get_thread());
  return 0;
}
//--- lib.c
int function(void) { return 3; }
int variable = 4;
int both(void) { return 5; }
int call(void) { return function(); }
int get(void) { return variable; }
int call_both(void) { return both(); }
__thread int thread = 7;
int get_thread(void) { return thread; }
