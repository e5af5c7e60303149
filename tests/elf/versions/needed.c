//# about: versions of the C library that an executable needs, with weak ones marked
//# link: %pie needed.o
//# need-version: libc.so.6 GLIBC_2.2.5
//# dynsym: puts@GLIBC_2.2.5
//# dynamic: VERNEEDNUM 1
//# run: ./out
#include <stdio.h>
int main(void) { puts("x"); return 0; }
