//# about: tables of versions 1, 2 and 3 become one of the newest that there is; those without functions do not count, nor do files without
//# only: weld -- GNU ld 2.40 knows version 1 only, mold 1.10 and ld.lld put one after the other
//# link: versions.o one.o none.o -o v1
//# check: size(.sframe) == 28 + 2*17 + 8 == segmemsz(GNU_SFRAME)
//# check: u16(addr(.sframe)) == 0xdee2
//# check: u16(addr(.sframe)+2) == 0x101
//# check: u32(addr(.sframe)+8) == 2 == u32(addr(.sframe)+12) - 1
//# check: addr(.sframe) + s32(addr(.sframe)+28) == sym(_start)
//# check: addr(.sframe) + s32(addr(.sframe)+28+17) == sym(one)
//# sh: objdump --sframe v1 > v1.txt
//# file: v1.txt => (?s)SFRAME_VERSION_1.*SFRAME_F_FDE_SORTED.*Num FDEs: 2.*Num FREs: 3
//# link: versions.o one.o two.o none.o -o v2
//# section: .sframe type=GNU_SFRAME flags=A align=8 size=28+3*20+12
//# check: u16(addr(.sframe)+2) == 0x502
//# check: addr(.sframe) + 28 + s32(addr(.sframe)+28) == sym(_start)
//# check: addr(.sframe) + 68 + s32(addr(.sframe)+68) == sym(two)
//# check: u32(addr(.sframe)+68+4) == 4
//# check: u8(addr(.sframe)+68+17) == 16
//# sh: llvm-readelf-22 --sframe v2 > v2.txt
//# file: v2.txt => (?s)Version: V2.*FDEFuncStartPCRel.*Num FDEs: 3.*Num FREs: 4
//# link: versions.o one.o two.o three.o none.o -o v3
//# section: .sframe size=28+4*16+4*5+19
//# check: u16(addr(.sframe)+2) == 0x503
//# check: addr(.sframe) + 28 + s64(addr(.sframe)+28) == sym(_start)
//# check: addr(.sframe) + 76 + s64(addr(.sframe)+76) == sym(three)
//# check: u32(addr(.sframe)+76+8) == 5
//# check: u32(addr(.sframe)+76+12) == 27
//# bytes: addr(.sframe)+28+64+27 = 02 00 80 01 00 00 03 08 02 05 10 f0
//# link: versions.o three.o -o only-three
//# check: u32(addr(.sframe)+8) == 2
//# link: none.o versions.o old.o -o none
//# check: u32(addr(.sframe)+8) == 1
//# link: none.o bare.o -o empty
//# no-section: .sframe
//# no-segment: GNU_SFRAME
.globl _start
.text
_start:
	ret
	ret
.section .sframe,"a",@progbits
// Made by an assembler that knows no type for it.
	.short 0xdee2
	.byte 1, 0, 3, 0, 0xf8, 0
	.long 1, 2, 5, 0, 17
	.long _start - ., 2, 0, 2
	.byte 0
	.byte 0, 3, 8
	.byte 1, 1
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
.text
one:	ret
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 1, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 17
	.long one - ., 1, 0, 1
	.byte 0
	.byte 0, 3, 8
.section .note.GNU-stack,"",@progbits
//--- two.s
// A block that repeats, as in a PLT.
.globl two
.text
two:	ret
	ret
	ret
	ret
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 2, 4, 3, 0, 0xf8, 0
	.long 1, 1, 4, 0, 20
	.long two - ., 4, 0, 1
	.byte 0x11, 16, 0, 0
	.short 0
	.byte 3, 8
.section .note.GNU-stack,"",@progbits
//--- three.s
// A signal frame with flexible rows.
.globl three
.text
three:	.zero 5, 0xc3
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 3, 4, 3, 0, 0xf8, 0
	.long 1, 2, 12, 0, 16
	.quad three - .
	.long 5, 0
	.short 2
	.byte 0x80, 1, 0
	.byte 0, 3, 8
	.byte 2, 5, 16, 0xf0
.section .note.GNU-stack,"",@progbits
//--- none.s
// A header and no functions, as some start files have it, of a version that would be the newest.
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 3, 4, 3, 0, 0xf8, 0
	.long 0, 0, 0, 0, 0
.section .note.GNU-stack,"",@progbits
//--- old.s
.section .sframe,"a",@progbits
.section .note.GNU-stack,"",@progbits
//--- bare.s
.globl _start
_start:	ret
.section .note.GNU-stack,"",@progbits
