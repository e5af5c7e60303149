//# about: where linker scripts put .sframe, /DISCARD/ and --discard-sframe
//# only: weld -- GNU ld 2.40 has no place for it in most of these, mold and ld.lld do not merge
//# link: scripts.o -T own.ld -o own
//# section: .sframe flags=A size=28+17+3
//# check: seg(GNU_SFRAME) == addr(.sframe) == sym(frames)
//# order: .rodata .sframe .text
//# link: scripts.o -T only-if-ro.ld -o ro
//# check: seg(GNU_SFRAME) == addr(.sframe)
//# link: scripts.o -T orphan.ld -o orphan
//# check: seg(GNU_SFRAME) == addr(.sframe)
//# link: scripts.o -T discard.ld -o discard
//# no-section: .sframe
//# no-segment: GNU_SFRAME
//# link: scripts.o -T among.ld -o among
//# no-segment: GNU_SFRAME
//# check: u16(sym(frames)) == 0xdee2
//# link: scripts.o -T phdrs.ld -o phdrs
//# check: seg(GNU_SFRAME) == addr(.sframe)
//# link: scripts.o -T insert.ld -o insert
//# check: seg(GNU_SFRAME) == addr(.sframe)
//# link: scripts.o --section-start=.sframe=0x900000 -o start
//# check: seg(GNU_SFRAME) == 0x900000 == addr(.sframe)
//# link: scripts.o --discard-sframe -o option
//# no-section: .sframe
//# link: -r scripts.o --discard-sframe -o option.o
//# no-section: .sframe .rela.sframe
//# sh: $LD --print-default-script > default.ld && grep -q '\.sframe' default.ld && $LD scripts.o -T default.ld -o default
//# in: default
//# section: .sframe type=GNU_SFRAME
.globl _start
.text
_start:	ret
.section .rodata,"a"
.byte 1
.section .sframe,"a",@progbits
	.short 0xdee2
	.byte 1, 0, 3, 0, 0xf8, 0
	.long 1, 1, 3, 0, 17
	.long _start - ., 1, 0, 1
	.byte 0
	.byte 0, 3, 8
.section .note.GNU-stack,"",@progbits
//--- own.ld
SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .rodata : { *(.rodata) } .sframe : { frames = .; *(.sframe) } . = ALIGN(0x1000); .text : { *(.text) } }
//--- only-if-ro.ld
SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .sframe : ONLY_IF_RO { *(.sframe) *(.sframe.*) } .rodata : { *(.rodata) }
 . = ALIGN(0x1000); .text : { *(.text) } .sframe : ONLY_IF_RW { *(.sframe) *(.sframe.*) } }
//--- orphan.ld
SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .rodata : { *(.rodata) } . = ALIGN(0x1000); .text : { *(.text) } }
//--- discard.ld
SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .rodata : { *(.rodata) } . = ALIGN(0x1000); .text : { *(.text) } /DISCARD/ : { *(.sframe) } }
//--- among.ld
SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .rodata : { *(.rodata) . = ALIGN(8); frames = .; *(.sframe) } . = ALIGN(0x1000); .text : { *(.text) } }
//--- phdrs.ld
PHDRS { headers PT_PHDR PHDRS; data PT_LOAD FILEHDR PHDRS FLAGS(4); code PT_LOAD FLAGS(5); stack PT_GNU_STACK FLAGS(6); frames PT_GNU_SFRAME FLAGS(4); }
SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .rodata : { *(.rodata) } :data .sframe : { *(.sframe) } :data :frames . = ALIGN(0x1000); .text : { *(.text) } :code }
//--- insert.ld
SECTIONS { .extra : { BYTE(1) } } INSERT AFTER .rodata;
