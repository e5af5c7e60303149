//# about: SORT_BY_ALIGNMENT goes by the alignment of the sections, not by what SUBALIGN has in its place
//# not: mold -- it reads no SECTIONS
//# link: subalign.o -T x.ld
//# contains: .d = bca
//# check: size(.d) == 3
.globl _start
_start: ret
.section .d.1,"a"; .ascii "a"
.section .d.2,"a"; .balign 16; .ascii "b"
.section .d.3,"a"; .balign 4; .ascii "c"
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = 0x10000; .text : { *(.text) } .d : SUBALIGN(1) { *(SORT_BY_ALIGNMENT(.d.*)) } }
