//# about: sections outside memory: distances count from the place in the output section; a program header can say where one is in the file
//# not: mold -- it reads no SECTIONS
//# link: unloaded.o -T x.ld
//# no-verify: the script asks for no PT_GNU_STACK, and for a program header of what is not loaded
//# [lld] warning: non-ABS
//# contains: .notes = \x90\xe8\xfa\xff\xff\xff\xfa\xff\xff\xff
//# [weld|lld] readelf: -lW => 0x12345678 .* 0x00000a
//# [weld|lld] readelf: -lW => 01 +\.notes
// An address that the script gives such a section is its address, else the location counter; ld.lld has 0. Debug information begins at 0.
//# [!lld] link: placed.o -T placed.ld
//# no-verify: the script asks for no PT_GNU_STACK
//# [!lld] check: addr(.fixed) == 0x7ff0
//# [!lld] check: sym(inside) == 0x7ff1
//# [!lld] check: u32(sym(_start) + 1) == 0x7ff1 - 0x1005
//# [!lld] check: addr(.free) == 0x1005
//# [weld] check: addr(.debug_x) == 0
// What is assigned behind one whose address the script does not give counts from its end, but the next section does not.
//# [!lld] link: placed.o -T moves.ld
//# no-verify: the script asks for no PT_GNU_STACK
//# [!lld] check: addr(.free) == 0x1005
//# [!lld] check: sym(after) == 0x1006
//# [!lld] check: addr(.data) == 0x2000
.globl _start
_start: ret
.section .n0,""; .byte 0x90
.section .n1,""; .byte 0xe8
.long _start - . - 4 - 0x1000
.long .n0 - .
.section .note.GNU-stack,"",@progbits
//--- x.ld
PHDRS { text PT_LOAD; notes 0x12345678; }
SECTIONS { .text 0x1000 : { *(.text) } :text .notes 0 : { *(.n0) *(.n1) } :notes }
//--- placed.s
.globl _start, inside
_start: .byte 0xe8
.long inside - . - 4
.section .fixed,""
nop
inside: nop
.section .free,""
nop
.section .debug_x,""
nop
.section .note.GNU-stack,"",@progbits
//--- placed.ld
SECTIONS { .text 0x1000 : { *(.text) } .fixed 0x7ff0 : { *(.fixed) } .free : { *(.free) } .debug_x : { *(.debug_x) } }
//--- moves.ld
SECTIONS {
  .text 0x1000 : { *(.text) } .fixed 0x7ff0 : { *(.fixed) } .free : { *(.free) } after = .;
  . = ALIGN(0x1000); .data : { *(.data) BYTE(1) } .debug_x 0 : { *(.debug_x) }
}
