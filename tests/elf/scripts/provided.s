//# about: PROVIDE that nobody asks for keeps no section; one that somebody asks for keeps what it names
//# not: mold -- it reads no SECTIONS
//# link: provided.o -T x.ld --gc-sections
//# no-symbol: unused dead
//# symbol: wanted
//# symbol: live
.globl _start, dead, live
_start: .quad wanted
.section .dead,"a"
dead: .byte 1
.section .live,"a"
live: .byte 2
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  .text : { *(.text) }
  .all : { *(.dead) *(.live) }
  PROVIDE(unused = dead);
  PROVIDE(wanted = live);
}
