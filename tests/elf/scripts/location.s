//# about: the location counter: alignment, room, data, fill, numbers inside of sections, expressions
//# not: mold -- it reads no SECTIONS
//# link: location.o -T x.ld
//# check: addr(.data) == 0x2000
//# check: size(.data) == 64
//# bytes: 0x2000 = 01 02 00 03 00 00 00 04 00 00 00 00 00 00 00 ff
//# bytes: 0x2010 = cc cc cc cc cc cc cc cc cc cc cc cc cc cc cc cc
//# bytes: 0x2020 = 68 69 00 cc
//# check: sym(inside) == 0x2020
//# check: sym(number) == 0x10
//# check: addr(.bss) == 0x3000
//# check: size(.bss) == 0x100
//# check: sym(top) == 0x3100
//# section: .bss type=NOBITS
//# check: sym(most) == 7
//# check: sym(shifted) == 0x40
//# check: sym(choice) == 2
//# check: sym(log) == 5
//# fail: location.o -T back.ld
//# error: backwards
//# [weld] error: back\.ld:1:\d+: '\.' cannot move backwards
//# fail: location.o -T assert.ld
//# error: no room
//# only: weld bfd -- ld.lld takes numbers inside of sections as addresses
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  .text 0x1000 : { *(.text) }
  .data 0x2000 : {
    BYTE(1) SHORT(2) LONG(3) QUAD(4)
    . = 0x10 - 1; BYTE(0xff)
    FILL(0xcccccccc)
    . = 0x20;
    inside = .;
    ASCIZ "hi"
    . = ALIGN(64);
  }
  .bss 0x3000 : { . += 0x100; top = .; }
  number = 0x10;
  most = MAX(3, 7);
  shifted = 1 << 6;
  choice = DEFINED(nothere) ? 1 : 2;
  log = LOG2CEIL(17);
  ASSERT(SIZEOF(.data) == 64, "size")
}
//--- back.ld
SECTIONS { .text : { *(.text) . = . + 8; . = 4; } }
//--- assert.ld
SECTIONS { .text : { *(.text) } } ASSERT(SIZEOF(.text) > 100, "no room");
