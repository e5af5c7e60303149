//# about: OVERWRITE_SECTIONS: in place of what another script describes, or where an orphan would lie; its patterns come first
//# only: weld lld -- GNU ld does not have it, mold reads no SECTIONS
//# link: overwrite.o first.ld
//# order: .text .foo.text .data
//# section: .foo.text align=8 size=2
//# link: overwrite.o second.ld
//# check: sym(data_start) == addr(.foo.data)
//# check: sym(data_end) == end(.foo.data)
//# check: sym(text_start) == addr(.foo.text)
//# order: .foo.text .foo.data
//# link: -T main.ld first.ld overwrite.o
//# order: .data .text .foo.text
//# section: .foo.text align=8 size=2
//# no-section: .foo.data
//# link: first.ld -T main.ld overwrite.o -o other
//# same: other out
//# link: insert.ld second.ld overwrite.o
//# order: .data .foo.data .foo.text
//# check: sym(text_start) == addr(.foo.text)
//# link: discard.ld discard.ld -T main.ld overwrite.o
//# no-section: .data
//# link: first.ld first.ld overwrite.o
//# warning: OVERWRITE_SECTIONS (has|specifies duplicate) .foo.text
//# [weld] fail: -T assign.ld overwrite.o
//# [weld] error: assign\.ld:1:\d+: expected
//# [weld] fail: -r first.ld overwrite.o
//# [weld] error: OVERWRITE_SECTIONS and PHDRS without SECTIONS are not supported with -r
.globl _start
_start: ret
.section .foo.text,"ax"; .byte 1
.section .foo.data,"aw"; .byte 2
.section .text.1,"ax"; .byte 3
.section .data.1,"aw"; .byte 4
.section .note.GNU-stack,"",@progbits
//--- main.ld
SECTIONS {
  . = 0x10000;
  .data : { *(.data*) }
  .foo.data : { *(.foo.data) }
  .text : { *(.text*) }
  .foo.text : ALIGN(16) { *(.foo.text) }
}
//--- first.ld
OVERWRITE_SECTIONS { .foo.text : ALIGN(8) { *(.foo.data .foo.text) } }
//--- second.ld
OVERWRITE_SECTIONS {
  .foo.data : { data_start = .; *(.foo.data) data_end = .; }
  .foo.text : { text_start = .; *(.foo.text) }
}
//--- insert.ld
SECTIONS { .foo.text : { } } INSERT AFTER .foo.data;
//--- discard.ld
OVERWRITE_SECTIONS { /DISCARD/ : { *(.data*) } }
//--- assign.ld
OVERWRITE_SECTIONS { a = 1; }
