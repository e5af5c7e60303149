//# about: versions of the C library that an executable needs, with weak ones marked
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# link: %pie needed.o
//# [machine=x86-64] need-version: libc.so.6 GLIBC_2.2.5
//# [machine=x86-64] dynsym: puts@GLIBC_2.2.5
//# [machine=aarch64] need-version: libc.so.6 GLIBC_2.17
//# [machine=riscv64] need-version: libc.so.6 GLIBC_2.27
//# [machine=riscv64] dynsym: puts@GLIBC_2.27
//# [machine=aarch64] dynsym: puts@GLIBC_2.17
//# dynamic: VERNEEDNUM 1
//# run: ./out
#include <stdio.h>
int main(void) { puts("x"); return 0; }
