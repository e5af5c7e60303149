//# about: .note.gnu.property: IBT and SHSTK stay only if all objects have them; -z ibt, -z shstk force
//# not: mold -- 1.10 merges no properties
//# obj: both.o = property-note.s
//# obj: both2.o = two.s
//# obj: ibt.o = ibt.s
//# obj: none.o = none.s
//# link: both.o both2.o -o a
//# section: .note.gnu.property type=NOTE flags=A align=8
//# segment: GNU_PROPERTY align=8
//# readelf: -n => x86 feature: IBT, SHSTK
//# link: both.o ibt.o -o b
//# readelf: -n => x86 feature: IBT\n
//# link: both.o none.o -o c
//# readelf-not: -n => IBT
//# [!lld] link: both.o none.o -z ibt -z shstk -o d
//# [!lld] readelf: -n => x86 feature: IBT, SHSTK
//# [lld|weld] link: both.o none.o -z force-ibt -o e
//# [lld|weld] warning: none.o
//# [lld|weld] readelf: -n => x86 feature: IBT
// Several sections of an object say it together.
//# obj: apart.o = apart.s @clang
//# link: both.o apart.o -o apart
//# readelf: -n => x86 feature: IBT, SHSTK
//# [!bfd] fail: both.o none.o -z cet-report=error
//# [!bfd] error: none.o.*IBT
.globl _start
_start: ret
.section .note.gnu.property,"a",@note
.p2align 3
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000002, 4, 3, 0
.section .note.GNU-stack,"",@progbits
//--- two.s
.section .note.gnu.property,"a",@note
.p2align 3
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000002, 4, 3, 0
.section .note.GNU-stack,"",@progbits
//--- ibt.s
.section .note.gnu.property,"a",@note
.p2align 3
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000002, 4, 1, 0
.section .note.GNU-stack,"",@progbits
//--- none.s
.text
nop
.section .note.GNU-stack,"",@progbits
//--- apart.s
.text
nop
.section .note.gnu.property,"a",@note,unique,1
.balign 8
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000002, 4, 1, 0
.section .note.gnu.property,"a",@note,unique,2
.balign 8
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000002, 4, 2, 0
