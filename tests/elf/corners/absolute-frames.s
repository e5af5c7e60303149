//# about: exception frames with absolute addresses are no good in position-independent output
//# only: weld lld -- GNU ld makes them relative
//# link: absolute-frames.o -e f
//# fail: -shared absolute-frames.o
//# error: eh_frame.*R_X86_64_64.*'?f'?
.globl f
.hidden f
.text
f: ret
.section .eh_frame,"a",@progbits
cie: .long 16
.long 0
.byte 1
.asciz ""
.uleb128 1
.sleb128 -8
.byte 16
.byte 0xc,7,8,0x90,1,0
.balign 4
fde:
.long 20
.long fde+4-cie
.quad f
.quad 1
.section .note.GNU-stack,"",@progbits
