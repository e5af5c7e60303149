//# about: members of machine code that are wanted after code has been generated: they share inline variables with it, and stay away if it defines what they were read for
//# matrix: lto=full,thin,gcc
//# not: bfd gold -- they have two copies of the variable
//# not: lld -- it has two copies of the variable
//# not: mold -- a version that does it right is not packaged
//# [lto=gcc] obj: late-members.o = late-members.cc @gcc -O2 -flto
//# [!lto=gcc] obj: late-members.o = late-members.cc @clang -O2 -flto={lto}
//# obj: divide.o = divide.cc @gcc -O2
//# sh: rm -f libdivide.a && ar rcs libdivide.a divide.o
//# lang: c++
//# link: %pie late-members.o -L. -ldivide
//# run:
//# stdout: 1 3 3
//# [lto=gcc] obj: hidden.o = hidden.c @gcc -O2 -flto
//# [lto=gcc] obj: user.o = user.c @gcc -O2 -flto
//# [lto=gcc] obj: member.o = member.c @gcc -O2
//# [lto=gcc] sh: rm -f libmember.a && ar rcs libmember.a member.o
//# [lto=gcc] link: %pie user.o hidden.o -L. -lmember
//# [lto=gcc] run:
//# [lto=gcc] stdout: 42
#include <cstdio>
#include "count.h"
volatile long long dividend = 20, divisor = 7;
int main() {
  // Compilers take a division for an operation that touches no memory.
  int first = count();
  __asm__ volatile("" : : : "memory");
  int quotient = (__int128)dividend / divisor;
  __asm__ volatile("" : "+r"(quotient) : : "memory");
  printf("%d %d %d\n", first, quotient, count());
}
//--- count.h
inline int count() {
  static int calls;
  return ++calls;
}
//--- divide.cc
#include "count.h"
// Numbers of 64 bits need no function.
extern "C" __int128 __divti3(__int128 a, __int128 b) { return (long long)a / (long long)b + count() - 1; }
//--- hidden.c
__asm__(".data\n.globl from_assembly\nfrom_assembly: .byte 42\n.text");
extern char from_assembly;
int value(void) { return *(volatile char *)&from_assembly; }
//--- user.c
#include <stdio.h>
int value(void);
int main(void) { printf("%d\n", value()); }
//--- member.c
char from_assembly = 1;
