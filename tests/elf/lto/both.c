//# about: bitcode, GCC's intermediate code and machine code in one link
//# only: weld -- no other linker asks both compilers
//# obj: both.o = both.c @clang -O2 -flto
//# obj: gcc.o = gcc.c @gcc -O2 -flto
//# obj: native.o = native.c @gcc -O2
//# obj: bit.o = bit.c @clang -O2 -flto=thin
//# sh: llvm-ar-22 rcs libbit.a bit.o
//# link: %pie both.o gcc.o native.o libbit.a
//# run:
//# stdout: main gcc native bit common 7
#include <stdio.h>
void gcc(void);
int common[8];
int main(void) {
  printf("main ");
  gcc();
  printf("common %d\n", common[7]);
}
//--- gcc.c
#include <stdio.h>
void native(void);
void gcc(void) {
  printf("gcc ");
  native();
}
//--- native.c
#include <stdio.h>
void bit(void);
void native(void) {
  printf("native ");
  bit();
}
//--- bit.c
#include <stdio.h>
extern int common[8];
void bit(void) {
  printf("bit ");
  common[7] = 7;
}
