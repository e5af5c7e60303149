//# about: common symbols are writable, so a section that is to be read-only does not take them
//# not: mold -- it reads no SECTIONS
//# link: constrained-commons.o -T x.ld
//# check: sym(c) == addr(.b)
//# no-section: .a
//# link: constrained-commons.o -T file.ld -o file
//# check: sym(c) == addr(.b)
//# no-section: .a
.globl _start
_start: ret
.comm c, 8, 8
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = 0x10000; .text : { *(.text) } .a : ONLY_IF_RO { *(COMMON) } .b : ONLY_IF_RW { *(COMMON) } }
//--- file.ld
SECTIONS { . = 0x10000; .text : { *(.text) } .a : ONLY_IF_RO { *commons.o(COMMON) } .b : { *(COMMON) } }
