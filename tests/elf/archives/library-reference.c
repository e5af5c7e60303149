//# about: a shared library that refers to a name reads the archive member that has it, but not if it refers to a version
//# obj: f.o = f.c -fPIC
//# obj: g.o = g.c -fPIC
//# obj: member.o = member.c
//# link: %shared f.o --version-script=v.map -soname=libf.so -o libf.so
//# link: %shared g.o ./libf.so -soname=libg.so -o libg.so
//# sh: ar rcs libm.a member.o
//# link: %pie library-reference.o libm.a ./libg.so ./libf.so -rpath=$ORIGIN
//# no-symbol: member
//# run: ./out
//# stdout: f@V 1
//# link: %shared f.o -soname=libf.so -o libf.so
//# link: %shared g.o ./libf.so -soname=libg.so -o libg.so
//# link: %pie library-reference.o libm.a ./libg.so ./libf.so -rpath=$ORIGIN
//# symbol: member
//# run: ./out
//# stdout: f@V 2
void g(void);
int main(void) { g(); }
//--- f.c
int f(void) { return 1; }
//--- g.c
#include <stdio.h>
int f(void);
void g(void) { printf("f@V %d\n", f()); }
//--- member.c
int member(void) { return 2; }
int f(void) { return member(); }
//--- v.map
V { *; };
