//# about: i386: calls from code at fixed addresses do not make a function of a shared object known by its entry in the PLT, so it may be protected, too
//# not: lld -- it refuses calls of protected functions and gives all called functions fixed addresses
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: i386
//# except: machine=x86-64
//# matrix: kind=nopie
//# link: %shared lib.o -o lib.so
//# link: %nopie i386-calls.o lib.so -rpath . -o out
//# dynsym: called value=0
//# dynsym: protected value=0
//# check: dynsym(taken) > 0
//# run: ./out
//# stdout: 5 6 7 1 1
//# obj: lib.o = lib.c -fPIC
//# cflags: -fno-pie
// The address of what is protected is another matter.
//# fail: %nopie address.o lib.so -o address
//# error: R_386_32 needs a fixed address of 'protected', which its shared object protects
#include <stdio.h>
int called(void), protected(void), taken(void);
int is_taken(int (*)(void));
int main(void) {
  int (*volatile pointer)(void) = taken;
  printf("%d %d %d %d %d\n", called(), protected(), taken(), pointer == taken, is_taken(taken));
  return 0;
}
//--- lib.c
int called(void) { return 5; }
__attribute__((visibility("protected"))) int protected(void) { return 6; }
int taken(void) { return 7; }
int is_taken(int (*p)(void)) { return p == taken; }
//--- address.c
int protected(void);
int main(void) { return (int)(unsigned long)protected; }
