//# about: what an older version cannot say in a newer one is left out, with a warning that names both files; conventions have to agree
//# only: weld -- GNU ld refuses all that differs
//# link: conversions.o two.o -o a
//# warning: conversions\.o:\(\.sframe\+0x0\): functions are left out of \.sframe: a block of code repeats, .* version 1 does not go together with version 2 of two\.o
//# check: u32(addr(.sframe)+8) == 1
//# check: addr(.sframe) + s32(addr(.sframe)+28) == sym(two)
//# link: conversions.o many.o -o b
//# warning: conversions\.o:.* version 2 of many\.o
//# check: u32(addr(.sframe)+8) == 1
//# link: two.o conversions.o --gc-sections -e two -o c
//# check: u32(addr(.sframe)+8) == 1
//# link: many.o three.o -e 0 -o d
//# warning: many\.o:\(\.sframe\+0x0\): .*: a function has more than 65535 rows, .* version 2 .* version 3 of three\.o
//# fail: two.o arm.o -e two -o e
//# error: arm\.o:\(\.sframe\+0x0\): SFrame ABI 2 is not that of x86-64
//# error: arm\.o:\(\.sframe\+0x0\): SFrame table has ABI 2, frame pointer at 0, return address at 0, but that of two\.o has ABI 3, frame pointer at 0, return address at -8
//# fail: two.o fixed.o -e two -o f
//# error: fixed\.o:\(\.sframe\+0x0\): SFrame table has ABI 3, frame pointer at -16, return address at -8, but that of two\.o has
.globl _start
.text
_start:	ret
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 1, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 17
	.long _start - ., 1, 0, 1
	.byte 0x10
	.byte 0, 3, 8
.section .note.GNU-stack,"",@progbits
//--- two.s
.section .text.two,"ax"
.globl two
two:	ret
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 20
	.long two - ., 1, 0, 1, 0
	.byte 0, 3, 8
.section .note.GNU-stack,"",@progbits
//--- many.s
.globl many
.text
many:	.zero 70000, 0xc3
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 1, 70000, 350000, 0, 20
	.long many - ., 70000, 0, 70000, 2
	.set i, 0
	.rept 70000
	.long i
	.byte 1
	.set i, i + 1
	.endr
.section .note.GNU-stack,"",@progbits
//--- three.s
.globl three
.text
three:	ret
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 3, 4, 3, 0, 0xf8, 0
	.long 1, 1, 8, 0, 16
	.quad three - .
	.long 1, 0
	.short 1
	.byte 0, 0, 0
	.byte 0, 3, 8
.section .note.GNU-stack,"",@progbits
//--- arm.s
.globl arm
.text
arm:	ret
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 2, 4, 2, 0, 0, 0
	.long 1, 1, 3, 0, 20
	.long arm - ., 1, 0, 1, 0
	.byte 0, 3, 8
.section .note.GNU-stack,"",@progbits
//--- fixed.s
.globl fixed
.text
fixed:	ret
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 2, 4, 3, 0xf0, 0xf8, 0
	.long 1, 1, 3, 0, 20
	.long fixed - ., 1, 0, 1, 0
	.byte 0, 3, 8
.section .note.GNU-stack,"",@progbits
