//# about: --gc-sections keeps what a pattern with KEEP matches, also if another pattern takes it, and common symbols
//# not: mold -- it reads no SECTIONS
//# link: keeps.o -T x.ld --gc-sections
//# check: addr(.text) < sym(vector) < end(.text)
//# check: symsize(kept) == 4
//# no-symbol: lost
//# no-symbol: gone
.globl _start, vector, lost
.text
_start: ret
.section .text.isr,"ax"
vector: ret
.section .text.lost,"ax"
lost: ret
.comm kept, 4
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = 0x10000;
  .text : { *(.text .text.*) }
  .vectors : { KEEP(*(.text.isr)) }
  .bss : { KEEP(*(COMMON)) }
}
