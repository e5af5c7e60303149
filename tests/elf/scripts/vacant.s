//# about: an output section with nothing in it has an address all the same: for its symbols, and for expressions
//# not: mold -- it reads no SECTIONS
//# link: vacant.o -T x.ld
//# no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# [weld] no-section: .heap .lost .given
//# check: sym(text) == 0x10000
//# check: sym(heap) == 0x20010 == sym(address)
//# check: sym(limit) == 0x20010
//# check: sym(given) == 0x20100 == sym(given_address)
//# check: sym(lost) == addr(.more) + 1
//# check: sym(load) == 0x50004
//# check: sym(alignment) == 16
//# check: sym(size) == 0
// What follows lies as if it were there, if it assigns to something.
//# check: sym(behind) == 0x20100
//# [!lld] check: sym(behind_lost) == 0x20100
//# check: addr(.last) == 0x20110
//# check: sym(padding) == 12
.globl _start
_start: ret
.section .last,"aw"
.byte 1
.data
.long 1
.section .more,"ax"
ret
.section .note.GNU-stack,"",@progbits
//--- x.ld
MEMORY { R (rx) : ORIGIN = 0x10000, LENGTH = 4K  W (w) : ORIGIN = 0x20000, LENGTH = 4K  L : ORIGIN = 0x50000, LENGTH = 4K }
SECTIONS {
  .text : { text = .; *(.text) } > R
  .data : AT(0x50000) { *(.data) } > W
  .more : { *(.more) } > R
  .heap : ALIGN(16) { heap = .; *(.heap) limit = .; } > W
  .given 0x20100 : { given = .; } > W
  behind = .;
  .lost : { *(.lost) } > R
  behind_lost = .;
  .odd 0x20104 : { *(.odd) . = ALIGN(16); } > W
  .last : { *(.last) } > W
  padding = SIZEOF(.odd);
  address = ADDR(.heap);
  given_address = ADDR(.given);
  lost = ADDR(.lost);
  load = LOADADDR(.after);
  alignment = ALIGNOF(.heap);
  size = SIZEOF(.heap);
  .after : AT(LOADADDR(.data) + SIZEOF(.data)) { *(.after) } > W
}
