//# about: gaps in code are padded as code, up to where FILL stands
//# only: weld -- GNU ld pads with other instructions, ld.lld has FILL hold for the whole section
//# link: fills.o -T x.ld
//# bytes: sym(_start) = 90 cc cc cc 90 11 11 11 90
// A pattern begins anew in each gap, FILL holds from its place on, and a fill is no division by what follows.
//# link: gaps.o -T gaps.ld
//# contains: .data = \x01\x12\x34\x56\x12\x12\x34\x56\x02\x12\x34\xaa\x03\xaa
//# no-section: .gone
// A gap is filled as if it were in one piece, however large it is.
//# link: gaps.o -T large.ld
//# bytes: addr(.data) + 1 = 01 02 03 01 02 03
//# check: u8(addr(.data) + 0x40000) == 1
//# check: u8(addr(.data) + 0x40001) == 2
//# check: u8(addr(.data) + 0x40002) == 3
//# check: u8(addr(.data) + 0x10000) == 1
//# check: u8(addr(.data) + 0x8000) == 2
.globl _start
_start: nop
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { .text 0x10000 : { *(.text) . = ALIGN(4); BYTE(0x90) FILL(0x11) . = ALIGN(8); BYTE(0x90) } }
//--- gaps.s
.globl _start
_start = 0
.data
.byte 1
.section .d,"aw"
.balign 8
.byte 2
.section .gone,"a"
.byte 3
.section .note.GNU-stack,"",@progbits
//--- gaps.ld
SECTIONS {
  .data 0x10000 : { *(.data) . = . + 3; . = . + 1; *(.d) . = . + 2; FILL(0xaabb) . = . + 1; BYTE(3) . = . + 1; } =0x123456
  /DISCARD/ : { *(.gone) }
}
//--- large.ld
SECTIONS { .data 0x10000 : { *(.data) . = 0x50000; } =0x010203 }
