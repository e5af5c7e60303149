//# about: gaps in code are padded as code, up to where FILL stands
//# only: weld -- GNU ld pads with other instructions, ld.lld has FILL hold for the whole section
//# link: fills.o -T x.ld
//# bytes: sym(_start) = 90 cc cc cc 90 11 11 11 90
.globl _start
_start: nop
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { .text 0x10000 : { *(.text) . = ALIGN(4); BYTE(0x90) FILL(0x11) . = ALIGN(8); BYTE(0x90) } }
