//# about: objects of other machines and word sizes are named
//# matrix: what=i386,aarch64,x32,big-endian,mach-o,coff
//# [what=i386] sh: as --32 other.s -o other.o
//# [what=x32] sh: as --x32 other.s -o other.o
//# [what=aarch64] sh: clang-22 --target=aarch64-linux-gnu -c other.s -o other.o
//# [what=big-endian] sh: clang-22 --target=powerpc64-linux-gnu -c other.s -o other.o
//# [what=mach-o] sh: clang-22 --target=x86_64-apple-macos -c other.s -o other.o
//# [what=coff] sh: clang-22 --target=x86_64-pc-windows-msvc -c other.s -o other.o
//# fail: other-machine.o other.o
//# [what=x32|mach-o|coff|big-endian] not: bfd mold lld -- some link these
//# error: other\.o
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- other.s
.data
.long 1
