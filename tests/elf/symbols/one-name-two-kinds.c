//# about: a program's variable does not take the place of a library's function of the same name, nor the reverse
//# machines: aarch64 riscv64 i386 s390x armhf ppc64le ppc64 mipsel
//# not: lld mold -- there it does
//# cflags: -fno-pie
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# obj: versioned.o = versioned.c -fPIC
//# link: %shared versioned.o --version-script=v.map -o libversioned.so
//# obj: user.o = user.c -fPIC
//# link: %shared user.o -L. -lversioned -o libuser.so
//# link: %nopie one-name-two-kinds.o -L. -llib -luser -lversioned
//# no-dynsym: far
//# dynsym: meant
//# no-dynsym: function
//# no-dynsym: variable
//# dynsym: both
//# run: ./out
//# no-dynsym: thread
//# stdout: 3 4 6 7 9 10
#include <stdio.h>
int function = 1;
int variable(void) { return 2; }
int both(void) { return 6; }
int thread = 8;
int far = 1, meant = 10;
int call(void), get(void), call_both(void), get_thread(void), call_far(void), get_meant(void);
int main(void) {
  printf("%d %d %d %d %d %d\n", call(), get(), call_both(), get_thread(), call_far(), get_meant());
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
//--- versioned.c
int far(void) { return 9; }
//--- v.map
V1 { far; };
//--- user.c
// It refers to far@V1, which is libversioned's, and to a variable that is nobody's yet.
int far(void);
extern int meant;
int call_far(void) { return far(); }
int get_meant(void) { return meant; }
