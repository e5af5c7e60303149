//# about: memory without contents that lies in front of data, in one segment with it, has room in the file
//# not: mold -- it reads no SECTIONS
//# link: room-first.o -T x.ld
//# check: u8(sym(d)) == 2
//# check: u8(sym(b)) == 0
//# [weld|bfd] check: seg(LOAD) == sym(b)
.globl _start, b, d
_start: nop
.section .b,"aw",@nobits
.balign 0x8000
b: .skip 4
.data
d: .byte 2
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = 0x88000; .b : { *(.b) } .data : { *(.data) } .text 0x90000 : { *(.text) } }
