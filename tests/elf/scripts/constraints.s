//# about: ONLY_IF_RO and ONLY_IF_RW ask about the sections that the output section would take, not about those that others have
//# not: mold -- it reads no SECTIONS
//# link: constraints.o -T x.ld
//# contains: .first = w
//# contains: .second = r
//# no-section: .third
//# contains: .fourth = z
.globl _start
_start: ret
.section .x,"aw"; .ascii "w"
.section .y,"a"; .ascii "r"
.section .z,"aw"; .ascii "z"
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = 0x10000;
  .text : { *(.text) }
  .first : { *(.x) }
  .second : ONLY_IF_RO { *(.x .y) }
  .third : ONLY_IF_RO { *(.z) }
  .fourth : ONLY_IF_RW { *(.z) }
}
