//# about: ALIGN beside an address of its own aligns that, and what the contents need does not
//# only: weld bfd -- lld takes the address as it is
//# link: given-and-aligned.o -T x.ld
//# no-verify: the address is that of the script
//# section: .a addr=0x10108
//# check: sym(a) == 0x10140
//# check: size(.a) == 0x39
.globl _start, a
_start: ret
.section .a,"a"; .balign 64; a: .byte 1
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { .text 0x10000 : { *(.text) } .a 0x10101 : ALIGN(8) { *(.a) } }
