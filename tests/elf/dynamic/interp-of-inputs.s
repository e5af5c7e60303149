//# about: a section .interp of an object names the loader, in a library that is to run, too; the linker's own comes first
//# not: mold -- it has no program header for that
//# link: -shared interp-of-inputs.o -o lib.so
//# segment: INTERP count=1 filesz=7
//# check: seg(INTERP) == addr(.interp)
//# check: u8(addr(.interp)) == 0x2f
//# link: -pie --dynamic-linker=/my interp-of-inputs.o -o program
//# segment: INTERP count=1
//# [!bfd] check: u8(seg(INTERP) + 1) == 0x6d
.globl _start
_start: ret
.section .interp,"a"
.asciz "/other"
.section .note.GNU-stack,"",@progbits
