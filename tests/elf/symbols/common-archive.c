//# about: a common symbol does not pull a member that defines it, a reference does
//# sh: ar rcs libx.a def.o
//# cflags: -fcommon
//# not: mold bfd -- they take the member's definition for a common symbol
//# link: %pie common-archive.o libx.a
//# run: ./out
//# stdout: 0
#include <stdio.h>
int value;
int main(void) { printf("%d\n", value); return 0; }
//--- def.c
int value = 7;
