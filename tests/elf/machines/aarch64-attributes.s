//# about: AArch64: what attributes (.ARM.attributes) say of code is a property of the output, together with what notes say
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# sh: for name in note both more platform schema same denied unknown broken twice; do $AS $name.s -o $name.o || exit 1; done
//# link: -shared aarch64-attributes.o
//# readelf: -n => aarch64 feature: BTI, PAC, GCS\n
//# readelf: -d => AARCH64_BTI_PLT
//# section: .plt size=56
//# no-section: .ARM.attributes
// Objects that say it in either way count alike, and with -r, too.
//# link: -shared -z bti-report=error aarch64-attributes.o note.o
//# readelf: -n => aarch64 feature: BTI, PAC\n
//# link: -r aarch64-attributes.o note.o
//# readelf: -n => aarch64 feature: BTI, PAC\n
//# no-section: .ARM.attributes
//# sh: printf '.text; nop' | $AS - -o plain.o
//# link: -shared aarch64-attributes.o plain.o
//# no-section: .note.gnu.property .ARM.attributes
//# section: .plt size=48
// Where one object says two things of its features, what both say counts; where attributes say nothing of them, the note does.
//# [weld] link: -shared aarch64-attributes.o both.o
//# warning: both.o: .ARM.attributes claims BTI, 0x20, but .note.gnu.property BTI, PAC; only what both claim counts
//# readelf: -n => aarch64 feature: BTI\n
//# [weld] link: -shared aarch64-attributes.o more.o
//# readelf: -n => aarch64 feature: BTI, PAC\n +AArch64 PAuth ABI core info: platform 0x5 \(unknown\), version 0x86
// How pointers are signed.
//# link: -shared platform.o schema.o
//# readelf: -n => platform 0x5 \(unknown\), version 0x86
//# [weld] link: -shared schema.o same.o
//# readelf: -n => platform 0x5 \(unknown\), version 0x86
//# [weld] fail: -shared denied.o
//# error: denied.o: .ARM.attributes says that pointers are signed by version 0x0 for platform 0x0, but .note.gnu.property by version 0x86 for platform 0x5
//# fail: -shared -z pauth-report=error schema.o plain.o
//# [weld] error: plain.o: -z pauth-report: file does not say how it signs pointers, but schema.o does
// What has to be known and is not, and what cannot be read.
//# [weld] fail: -shared unknown.o
//# error: unknown.o:\(.ARM.attributes\): has the subsection 'aeabi_new', which is not known and may not be passed over
//# [weld] link: -shared broken.o
//# warning: broken.o:\(.ARM.attributes\): is damaged\n>>> the section is passed over
//# [weld] link: -shared twice.o
//# warning: twice.o:\(.ARM.attributes\): has two values of the tag 0 in 'aeabi_feature_and_bits'
.globl f
f:
    bti c
    b elsewhere
.section .ARM.attributes,"",%0x70000003
.byte 'A'
.long 0x23
.asciz "aeabi_feature_and_bits"
.byte 1, 0, 0, 1, 1, 1, 2, 1
.long 10
.asciz "mine"
.byte 9
.section .note.GNU-stack,"",%progbits
//--- note.s
.text
bti c
.section .note.gnu.property,"a"
.balign 8
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000000, 4, 3, 0
//--- both.s
.text
bti c
.section .note.gnu.property,"a"
.balign 8
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000000, 4, 3, 0
.section .ARM.attributes,"",%0x70000003
.byte 'A'
.long 0x23
.asciz "aeabi_feature_and_bits"
.byte 1, 0, 0, 1, 5, 1, 40, 7
//--- more.s
.text
bti c
.section .note.gnu.property,"a"
.balign 8
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000000, 4, 3, 0
.section .ARM.attributes,"",%0x70000003
.byte 'A'
.long 0x1a
.asciz "aeabi_pauthabi"
.byte 0, 0, 2, 0x86, 1, 1, 5
//--- platform.s
.text
nop
.section .note.gnu.property,"a"
.balign 8
.long 4, 24, 5
.asciz "GNU"
.long 0xc0000001, 16
.quad 5, 0x86
//--- schema.s
.text
nop
.section .ARM.attributes,"",%0x70000003
.byte 'A'
.long 0x1a
.asciz "aeabi_pauthabi"
.byte 0, 0, 1, 5, 2, 0x86, 1
//--- same.s
.text
nop
.section .note.gnu.property,"a"
.balign 8
.long 4, 24, 5
.asciz "GNU"
.long 0xc0000001, 16
.quad 5, 0x86
.section .ARM.attributes,"",%0x70000003
.byte 'A'
.long 0x1a
.asciz "aeabi_pauthabi"
.byte 0, 0, 1, 5, 2, 0x86, 1
//--- denied.s
.text
nop
.section .note.gnu.property,"a"
.balign 8
.long 4, 24, 5
.asciz "GNU"
.long 0xc0000001, 16
.quad 5, 0x86
.section .ARM.attributes,"",%0x70000003
.byte 'A'
.long 0x15
.asciz "aeabi_pauthabi"
.byte 0, 0
//--- unknown.s
.text
nop
.section .ARM.attributes,"",%0x70000003
.byte 'A'
.long 0x12
.asciz "aeabi_new"
.byte 0, 0, 1, 1
//--- broken.s
.text
nop
.section .ARM.attributes,"",%0x70000003
.byte 'A'
.long 0xfffffff0
.asciz "aeabi_feature_and_bits"
.byte 1, 0
//--- twice.s
.text
nop
.section .ARM.attributes,"",%0x70000003
.byte 'A'
.long 0x21
.asciz "aeabi_feature_and_bits"
.byte 1, 0, 0, 1, 0, 0
