//# about: CIEs whose augmentation does not begin with z, as assemblers wrote them by hand, are understood
//# matrix: case=plain,encoded,personality,unknown,aligned
//# not: bfd mold -- they keep what they do not understand as it is, or refuse others
//# [case=plain] obj: a.o = a.s --defsym PLAIN=1
//# [case=encoded] obj: a.o = a.s --defsym ENCODED=1
//# [case=personality] obj: a.o = a.s --defsym PERSONALITY=1
//# [case=unknown] obj: a.o = a.s --defsym UNKNOWN=1
//# [case=aligned] obj: a.o = a.s --defsym ALIGNED=1
//# [case=plain|encoded|personality] link: --eh-frame-hdr a.o
//# [case=encoded|personality] no-verify: its reader of frames knows no R without z
//# [case=plain|encoded|personality] check: nfdes == 1
//# [case=plain|encoded|personality] check: ncies == 1
//# [case=encoded|personality] check: u32(addr(.eh_frame_hdr) + 8) == 1
//# [case=unknown|aligned] fail: --eh-frame-hdr a.o
//# [case=unknown] error: a\.o:\(\.eh_frame\): CIE at 0x0 has an unknown augmentation|unknown \.eh_frame augmentation
//# [case=aligned] error: a\.o:\(\.eh_frame\): CIE at 0x0 has an unsupported pointer encoding|DW_EH_PE_aligned
//--- a.s
.text
.globl _start
_start: ret
1:
.section .eh_frame,"a",@unwind
cie:
.long cie_end - . - 4
.long 0
.byte 1
.ifdef PLAIN
.asciz "S"
.byte 1, 0x78, 16
.endif
.ifdef ENCODED
.asciz "R"
.byte 1, 0x78, 16, 0x1b
.endif
.ifdef PERSONALITY
.asciz "PLR"
.byte 1, 0x78, 16, 0x03
.long 0
.byte 0x00, 0x1b
.endif
.ifdef UNKNOWN
.asciz "QR"
.byte 1, 0x78, 16, 0x1b
.endif
.ifdef ALIGNED
.asciz "PR"
.byte 1, 0x78, 16, 0x50
.quad 0
.byte 0x1b
.endif
.balign 4, 0
cie_end:
.long fde_end - . - 4
.long . - cie
.ifdef PLAIN
.quad _start
.quad 1b - _start
.else
.long _start - .
.long 1b - _start
.endif
.balign 4, 0
fde_end:
.section .note.GNU-stack,"",@progbits
