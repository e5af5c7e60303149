//# about: AArch64: values that do not fit parts of an instruction, or are not aligned, are refused with their range; slots have no addends
//# not: bfd mold -- those that are installed are for this machine's programs
//# sh: aarch64-linux-gnu-as aarch64-limits.s -o limits.o
//# sh: $LD --defsym=near=_start+0x40 --defsym=word=0xfff8 --defsym=half=0xffff --defsym=byte=0xff limits.o -o good
//# in: good
//# bytes: sym(_start) = 10 00 00 94 e0 01 00 10 00 fc 47 f9 e0 ff 9f d2
//# [weld] sh-fail: $LD --defsym=near=_start+0x8000000 --defsym=word=0xfff8 --defsym=half=0xffff --defsym=byte=0xff limits.o -o bad
//# [weld] stderr-re: R_AARCH64_ADR_PREL_LO21 is out of range: 0x7fffffc is not in \[-0x100000, 0xfffff\]; it refers to 'near'
//# [weld] sh-fail: $LD --defsym=near=_start+0x42 --defsym=word=0xfff8 --defsym=half=0xffff --defsym=byte=0xff limits.o -o bad
//# [weld] stderr-re: R_AARCH64_CALL26: 0x42 is not a multiple of 4; it refers to 'near'
//# [weld] sh-fail: $LD --defsym=near=_start+0x40 --defsym=word=0xfff4 --defsym=half=0x10000 --defsym=byte=0x1ffff limits.o -o bad
//# [weld] stderr-re: R_AARCH64_LDST64_ABS_LO12_NC: 0xfff4 is not a multiple of 8; it refers to 'word'
//# [weld] stderr-re: R_AARCH64_MOVW_UABS_G0 is out of range: 0x10000 is not in \[0, 0xffff\]; it refers to 'half'
//# [weld] stderr-re: R_AARCH64_ABS16 is out of range: 0x1ffff is not in \[-0x8000, 0xffff\]; it refers to 'byte'
//# sh: printf '.globl _start; .data; .quad 1; x: .quad 2; .text; _start: adrp x0, :got:x; ldr x0, [x0, :got_lo12:x]' | aarch64-linux-gnu-as - -o addend.o
//# [weld] sh-fail: $LD addend.o -o bad
//# [weld] stderr-re: R_AARCH64_ADR_GOT_PAGE against 'addend.o:\(.data\)|R_AARCH64_ADR_GOT_PAGE against '.data' has the addend 0x8
.globl _start
_start:
    bl near
    adr x0, near
    ldr x0, [x0, :lo12:word]
    movz x0, :abs_g0:half
.data
    .hword byte
