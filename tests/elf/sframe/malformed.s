//# about: what is wrong with a .sframe is said with the file and the place
//# only: weld -- messages; GNU ld says less, mold 1.10 and ld.lld do not look
//# fail: malformed.o short.o magic.o order.o version.o flags.o more.o
//# error: short\.o:\(\.sframe\+0x0\): SFrame header reaches beyond the section
//# error: magic\.o:\(\.sframe\+0x0\): no SFrame header is here
//# error: order\.o:\(\.sframe\+0x0\): SFrame table has another byte order than its file
//# error: version\.o:\(\.sframe\+0x2\): SFrame version 9 is not known
//# error: flags\.o:\(\.sframe\+0x3\): SFrame flags are not known: 0x80
//# error: more\.o:\(\.sframe\+0x7\): SFrame header has an auxiliary part, which is not known
//# fail: malformed.o index.o rows.o first.o row.o type.o size.o second.o
//# error: index\.o:\(\.sframe\+0x8\): SFrame index of 4294967295 functions reaches beyond the section
//# error: rows\.o:\(\.sframe\+0x10\): 4294967295 bytes of SFrame rows reach beyond the section
//# error: first\.o:\(\.sframe\+0x1c\): rows of the SFrame FDE begin after the end of all rows
//# error: row\.o:\(\.sframe\+0x30\): SFrame row reaches beyond the end of all rows
//# error: type\.o:\(\.sframe\+0x1c\): SFrame FDE has rows of an unknown type: 3
//# error: size\.o:\(\.sframe\+0x30\): SFrame row has numbers of an unknown size
//# error: second\.o:\(\.sframe\+0x38\): no SFrame header is here
//# fail: malformed.o reloc.o absolute.o
//# error: reloc\.o:\(\.sframe\+0x20\): relocation applies to no function's address
//# error: absolute\.o:\(\.sframe\+0x1c\): R_X86_64_32 does not store a distance of 4 bytes
//# link: malformed.o short.o --gc-sections -r -e _start -o whole.o
.globl _start
.text
_start:	ret
.section .note.GNU-stack,"",@progbits
//--- short.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 1, 0, 3, 0, 0xf8, 0
//--- magic.s
.section .sframe,"a",@progbits
	.zero 28, 1
//--- order.s
.section .sframe,"a",@progbits
	.byte 0xde, 0xe2, 2, 0
	.zero 24
//--- version.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 9, 0
	.zero 24
//--- flags.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0x80
	.zero 24
//--- more.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 4
	.zero 24
//--- index.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 0xffffffff, 0, 0, 0, 0
//--- rows.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 0, 0, 0xffffffff, 0, 0
//--- first.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 20
	.long 0, 1, 4, 1, 0
	.byte 0, 3, 8
//--- row.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 20
	.long 0, 1, 0, 1, 0
	.byte 0, 5, 8
//--- type.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 20
	.long 0, 1, 0, 1, 3
	.byte 0, 3, 8
//--- size.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 20
	.long 0, 1, 0, 1, 0
	.byte 0, 0x63, 8
//--- second.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 20
	.long 0, 1, 0, 1, 0
	.byte 0, 3, 8
	.balign 8
	.zero 28, 5
//--- reloc.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 20
	.long 0, here - ., 0, 1, 0
	.byte 0, 3, 8
.text
here:	ret
//--- absolute.s
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 2, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 20
	.long here, 1, 0, 1, 0
	.byte 0, 3, 8
.text
here:	ret
