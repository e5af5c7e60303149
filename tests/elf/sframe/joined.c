//# about: -r keeps tables apart, so that the link after it makes them one; what other linkers leave concatenated is read, too
//# only: weld bfd -- mold and lld do not make one table of all
//# cflags: -Wa,--gsframe -ffunction-sections
//# link: -r joined.o other.o -o both.o
//# [weld] check: count(.sframe) == 2
//# [weld] check: relocs(R_X86_64_PC32) > 4
//# link: %pie both.o
//# check: count(.sframe) == 1
//# [weld] check: u32(addr(.sframe)+8) == 5
//# run: ./out
//# stdout: 42
//# [weld] link: %pie both.o --gc-sections -o collected
//# [weld] check: u32(addr(.sframe)+8) == 4
//# [weld] link: -r joined.o other.o --gc-sections -e main -o alive.o
//# [weld] link: %pie alive.o -o from-alive
//# [weld] check: u32(addr(.sframe)+8) == 4
//# [weld] sh: ld.lld-22 -r joined.o other.o -o lld.o && test $(readelf -SW lld.o | grep -c ' \.sframe') = 1
//# [weld] link: %pie lld.o -o from-lld
//# [weld] check: u32(addr(.sframe)+8) == 5
//# [weld] run: ./from-lld
//# [weld] stdout: 42
//# [weld] sh: printf 'SECTIONS { .sframe : { *(.sframe) } }' > join.ld && $LD -r -T join.ld joined.o other.o -o scripted.o
//# [weld] link: %pie scripted.o -o from-scripted
//# [weld] check: u32(addr(.sframe)+8) == 5
#include <stdio.h>
int other(int), used(int);
__attribute__((noinline)) static int own(int n) { return other(n) + 1; }
int unused(int n) { return used(n); }
int main(int argc, char **argv) {
  printf("%d\n", own(argc + 39));
  return 0;
}
//--- other.c
__attribute__((noinline)) int used(int n) { __asm__ volatile("" ::: "memory"); return n; }
int other(int n) { return used(n) + 1; }
