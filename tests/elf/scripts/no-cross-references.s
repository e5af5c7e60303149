//# about: NOCROSSREFS, NOCROSSREFS_TO and those of overlays
//# not: mold -- it reads no SECTIONS
//# link: no-cross-references.o -T fine.ld
//# [weld|lld] link: no-cross-references.o -T few.ld -o few
//# [weld] warning: few\.ld:2:1: NOCROSSREFS has no effect: it wants two output sections
//# [lld] warning: few
//# fail: no-cross-references.o -T both.ld
//# [weld] error: no-cross-references\.o:\(\.a\+0x1\): \.a may not refer to \.b, as NOCROSSREFS says; it refers to 'in_b'
//# [weld] error: no-cross-references\.o:\(\.b\+0x0\): \.b may not refer to \.a, as NOCROSSREFS says; it refers to '\.a'
//# fail: no-cross-references.o -T to.ld
//# [weld] error: no-cross-references\.o:\(\.b\+0x0\): \.b may not refer to \.a
//# [weld] error-not: \.a may not refer
//# [bfd|weld] fail: no-cross-references.o -T overlay.ld
//# [weld] error: no-cross-references\.o:\(\.a\+0x1\): \.a may not refer to \.b
.globl _start
_start: ret
.section .a,"ax"
1: call in_b
.section .b,"ax"
.globl in_b
in_b: .quad 1b
.section .c,"ax"
.quad in_b
.section .note.GNU-stack,"",@progbits
//--- fine.ld
SECTIONS { .text : { *(.text) } .a : { *(.a) } .b : { *(.b) } .c : { *(.c) } }
NOCROSSREFS(.a .c) NOCROSSREFS(.nothing .b) NOCROSSREFS_TO(.c .a .b) NOCROSSREFS_TO(.nothing .b .c)
//--- few.ld
SECTIONS { .text : { *(.text) } .a : { *(.a) } .b : { *(.b) } .c : { *(.c) } }
NOCROSSREFS(.a)
//--- both.ld
SECTIONS { .text : { *(.text) } .a : { *(.a) } .b : { *(.b) } .c : { *(.c) } }
NOCROSSREFS(.a .b)
//--- to.ld
SECTIONS { .text : { *(.text) } .a : { *(.a) } .b : { *(.b) } .c : { *(.c) } }
NOCROSSREFS_TO(.a .b)
//--- overlay.ld
SECTIONS { .text : { *(.text) } .c : { *(.c) } OVERLAY 0x10000 : NOCROSSREFS { .a { *(.a) } .b { *(.b) } } }
