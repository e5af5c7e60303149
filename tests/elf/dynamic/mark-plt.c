//# about: -z mark-plt tells the loader where PLT entries are, and each relocation where the jump of its entry is
//# only: weld -- GNU ld 2.40 has no such option
//# matrix: cc=gcc
//# cflags: -fPIE -fcf-protection=none
//# link: %pie mark-plt.o -z mark-plt -o plain
//# run:
//# stdout: hello
//# readelf: -d => 0x0000000070000000
//# readelf: -d => 0x0000000070000003.*0x10\n
//# reloc: R_X86_64_JUMP_SLOT sym=puts addend=addr(.plt)+16
//# need-version: libc.so.6 GLIBC_2.36
//# link: %pie mark-plt.o -z mark-plt -z ibt -o marked
//# run:
//# reloc: R_X86_64_JUMP_SLOT sym=puts addend=addr(.plt.sec)+4
//# link: %pie mark-plt.o -z mark-plt -z nomark-plt -o not
//# no-need-version: libc.so.6 GLIBC_2.36
//# fail: %pie mark-plt.o -z mark-plt -z retpolineplt
//# error: -z mark-plt is not supported with -z retpolineplt
#include <stdio.h>

int main(void) {
    puts("hello");
    return 0;
}
