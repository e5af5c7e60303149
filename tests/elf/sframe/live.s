//# about: functions that are gone have no frames: by --gc-sections, as losers of COMDAT groups, folded by --icf, without code; .sframe keeps nothing alive
//# only: weld -- GNU ld 2.40 knows version 1 only, mold 1.10 and ld.lld put one after the other
//# link: live.o other.o -o all
//# check: u32(addr(.sframe)+8) == 5
//# link: live.o other.o --gc-sections -o gc
//# check: u32(addr(.sframe)+8) == 4
//# check: u8(addr(.sframe)+3) == 7
//# no-symbol: dead
//# link: live.o other.o --gc-sections --icf=all -o icf
//# check: u32(addr(.sframe)+8) == 3
//# check: sym(same) == sym(fold)
//# link: live.o other.o --strip-all --threads=8 -o stripped
//# section: .sframe flags=A
//# link: live.o other.o -pie -z text -o pie
//# check: u32(addr(.sframe)+8) == 5
//# link: live.o other.o -shared -z text -o lib.so
//# check: segcount(GNU_SFRAME) == 1
//# link: live.o other.o --emit-relocs -o kept
//# no-section: .rela.sframe
//# link: live.o other.o --gc-sections -e 0 -o nothing
//# no-section: .sframe
//# link: -r live.o other.o -o joined.o
//# check: count(.sframe) == 2
//# link: joined.o -o from-joined
//# check: u32(addr(.sframe)+8) == 5
.section .text._start,"ax"
.globl _start
_start:
	call group
	call same
	call fold
.section .text.same,"ax"
.globl same
same:	xor %eax, %eax
	ret
.section .text.fold,"ax"
.globl fold
fold:	xor %eax, %eax
	ret
.section .text.dead,"ax"
.globl dead, empty
empty:
dead:	ud2
.section .text.group,"axG",@progbits,group,comdat
.globl group
group:
.Lgroup: ret
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 2, 6, 3, 0, 0xf8, 0
	.long 6, 6, 15, 0, 120
	.long _start - ., 15, 0, 1, 0
	.long dead - ., 2, 3, 1, 0
	.long .Lgroup - ., 1, 6, 1, 0
	.long empty - ., 0, 9, 0, 0
	.long fold - ., 3, 9, 1, 0
	.long same - ., 3, 12, 1, 0
	.byte 0, 3, 8
	.byte 0, 3, 8
	.byte 0, 3, 8
	.byte 0, 3, 8
	.byte 0, 3, 8
.section .note.GNU-stack,"",@progbits
//--- other.s
.section .text.group,"axG",@progbits,group,comdat
.globl group
group:
.Lgroup: nop
	ret
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 2, 6, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 20
	.long .Lgroup - ., 2, 0, 1, 0
	.byte 0, 3, 8
.section .note.GNU-stack,"",@progbits
