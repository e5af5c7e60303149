//# about: --emit-relocs with debug information, merged strings and --gc-sections
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64
//# matrix: cc=gcc,clang
//# cflags: -g -ffunction-sections
//# link: %pie emit-relocs-gc.o -q --gc-sections
//# [!machine=i386] section: .rela.debug_info
//# [machine=i386] section: .rel.debug_info
//# run: ./out
//# stdout: text
#include <stdio.h>
int unused(void) { return 3; }
int main(void) { puts("text"); return 0; }
