//# about: the address of an output section counts for what is in it: if that is nothing, what follows goes on where it would without it
//# not: mold lld -- mold reads no SECTIONS; in ld.lld the section of an empty input moves what follows
//# link: empty-address.o -T x.ld
//# check: sym(behind) == 0x10010
//# link: empty-address.o -T x.ld -Tdata=0x20000
//# check: sym(behind) == 0x10010
// Symbols in it are something.
//# link: empty-address.o -T symbols.ld
//# check: sym(behind) == 0x20000
// Up to the last page of all, code runs where a script says.
//# link: empty-address.o -T high.ld
//# check: sym(_start) == 0xffffffffffe00000 + 0x100000
.globl _start
_start: .space 16
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  .text 0x10000 : { *(.text) }
  .data ALIGN(0x1000) + (. & 0xfff) : { PROVIDE(data_start = .); *(.data) }
  behind = .;
  .bss : { *(.bss) }
}
//--- symbols.ld
SECTIONS {
  .text 0x10000 : { *(.text) }
  .data 0x20000 : { data_start = .; *(.data) }
  behind = .;
  .bss : { *(.bss) }
}
//--- high.ld
SECTIONS {
  . = -0x100000;
  .text : AT(ADDR(.text) + 0x100000) { *(.text) }
}
