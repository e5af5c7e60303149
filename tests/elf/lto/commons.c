//# about: common symbols of several files, in intermediate code and in machine code, are as large as the largest
//# matrix: by=full,thin,gcc
//# only: weld -- for GCC the compiler's driver passes others a plugin
//# [by=full|thin] obj: commons.o = commons.c @clang -O2 -fcommon -flto={by}
//# [by=full|thin] obj: large.o = large.c @clang -O2 -fcommon -flto={by}
//# [by=gcc] obj: commons.o = commons.c @gcc -O2 -fcommon -flto
//# [by=gcc] obj: large.o = large.c @gcc -O2 -fcommon -flto
//# obj: native.o = native.c @gcc -O2 -fcommon
//# obj: user.o = user.c @gcc -O2
//# link: %pie commons.o large.o user.o
//# check: symsize(block) == 400
//# run:
//# stdout: 7 8 9
//# link: %pie commons.o native.o large.o user.o
//# check: symsize(block) == 800
//# run:
//# stdout: 7 8 9
#include <stdio.h>
int block[4];
int large(void), user(void);
int main(void) {
  block[3] = 7;
  int l = large(), u = user();
  printf("%d %d %d\n", block[3], l, u);
}
//--- large.c
int block[100];
int large(void) {
  block[99] = 8;
  return block[99];
}
//--- native.c
int block[200];
//--- user.c
extern int block[];
int user(void) {
  block[50] = 9;
  return block[50];
}
