//# about: a table that is cut into several units, of functions that lie in another order than their frames, is the same for any number of threads
//# only: weld bfd -- mold and ld.lld do not make one table of all
//# asflags: --gsframe
//# link: many.o more.o -T order.ld
//# check: u32(addr(.sframe)+8) == 80001
//# check: addr(.sframe) + s32(addr(.sframe)+28) == sym(last)
//# [weld] link: many.o more.o -T order.ld --threads=1 -o one
//# [weld] link: many.o more.o -T order.ld --threads=8 -o eight
//# [weld] same: one eight
.globl _start
.text
_start:
	.cfi_startproc
	ret
	.cfi_endproc
	.rept 40000
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.endr
.section .note.GNU-stack,"",@progbits
//--- more.s
.section .text.b,"ax"
	.rept 20000
	.cfi_startproc
	ret
	.cfi_endproc
	.endr
.section .text.a,"ax"
.globl last
last:
	.rept 20000
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	ret
	.cfi_endproc
	.endr
.section .note.GNU-stack,"",@progbits
//--- order.ld
SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .sframe : { *(.sframe) } . = ALIGN(0x1000); .text : { *(.text.a) *(.text.b) *(.text) } }
