//# about: what is linked to a section that a script discards (SHF_LINK_ORDER) goes with it, and so does what is linked to that
//# not: lld mold gold -- an error in ld.lld; the others read no such script, or do not discard it
//# link: linked-to-discarded.o -T x.ld
//# no-section: .meta .gone .first .second
//# section: .other size=8
.globl _start
_start: ret
.section .gone,"ax",@progbits
nop
.section .meta,"ao",@progbits,.gone
.quad 1
.section .second,"ao",@progbits,.first
.quad 1
.section .first,"ao",@progbits,.meta
.quad 1
.section .other,"ao",@progbits,.text
.quad 2
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { .text : { *(.text*) } .meta : { *(.meta) } .other : { *(.other) } .data : { *(.data*) } /DISCARD/ : { *(.gone) } }
