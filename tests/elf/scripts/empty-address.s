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
// Addresses below zero count from the end of the address space, which what lies there may reach if it is one of 32 bits.
//# sh: printf '.globl _start\n_start: nop\n.section reset,"ax"\n.long 1\n' | as --32 -o reset.o
//# link: -m elf_i386 reset.o -T reset.ld -o reset
//# check: addr(reset) == 0xfffffffc
//# check: sym(_start) == 0xfffff000
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
//--- reset.ld
SECTIONS { reset -4 : { *(reset) } . = -0x1000; .text : { *(.text) } }
//--- high.ld
SECTIONS {
  . = -0x100000;
  .text : AT(ADDR(.text) + 0x100000) { *(.text) }
}
