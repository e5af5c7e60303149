//# about: PT_PHDR first, program headers loaded
//# link: -pie --dynamic-linker=/lib64/ld-linux-x86-64.so.2 pt-phdr.o
//# segment: PHDR flags=R align=8
//# check: seg(PHDR) == seg(LOAD) + 64
//# check: segoff(PHDR) == 64
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
