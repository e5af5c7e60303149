//# about: --enable-non-contiguous-regions: what does not fit its memory goes to the next pattern that matches
//# only: weld lld -- GNU ld leaves out what fits nowhere, mold reads no SECTIONS
//# link: --enable-non-contiguous-regions non-contiguous.o -T next.ld
//# check: size(.first) == 1
//# section: .last addr=0x8 size=2 align=8
//# check: u16(sym(two)) == 0x2222
//# link: --enable-non-contiguous-regions non-contiguous.o -T load.ld -o load
//# check: size(.first) == 1
//# section: .last addr=0x3 size=2
//# link: --enable-non-contiguous-regions non-contiguous.o -T later.ld -o later
//# section: .last addr=0x3 size=2
//# link: --enable-non-contiguous-regions non-contiguous.o -T earlier.ld -o earlier
//# check: size(.first) == 2
//# section: .last addr=0x2 size=1
//# link: --enable-non-contiguous-regions order.o -T order.ld -o order
//# contains: .order = bca
// What comes to a region may push on what was there.
//# link: --enable-non-contiguous-regions chain.o -T chain.ld -o chain
//# contains: .first = ab
//# contains: .second = cx
//# contains: .third = ydz
//# fail: non-contiguous.o -T next.ld
//# error: overflow
//# fail: --enable-non-contiguous-regions non-contiguous.o -T full.ld
//# error: overflow
//# fail: --enable-non-contiguous-regions non-contiguous.o -T discard.ld
//# error: overflow
//# link: --enable-non-contiguous-regions strings.o -T strings.ld -o strings
//# contains: .second = ab
//# check: u8(sym(text)) == 0x61
//# [weld] link: --enable-non-contiguous-regions --emit-relocs --gc-sections non-contiguous.o -T next.ld -u two -o kept
.globl two, _start
.section .one,"a"; .byte 0x11
.section .two,"a"; two: _start: .byte 0x22, 0x22
.section .note.GNU-stack,"",@progbits
//--- chain.s
.globl _start
_start:
.section .s1,"a"; .ascii "a"
.section .s2,"a"; .ascii "b"
.section .s3,"a"; .ascii "c"
.section .x,"a"; .ascii "x"
.section .y,"a"; .ascii "y"
.section .s4,"a"; .ascii "d"
.section .z,"a"; .ascii "z"
.section .note.GNU-stack,"",@progbits
//--- chain.ld
MEMORY { a : ORIGIN = 0, LENGTH = 2 b : ORIGIN = 2, LENGTH = 2 c : ORIGIN = 4, LENGTH = 8 }
SECTIONS { .first : { *(.s*) } >a .second : { *(.s3) *(.x .y .s4) } >b .third : { *(.y .s4 .z) *(.text .data .bss) } >c }
//--- next.ld
MEMORY { a : ORIGIN = 0, LENGTH = 2 b : ORIGIN = 2, LENGTH = 16 }
SECTIONS { .first : SUBALIGN(1) { *(.one) *(.two) } >a .last : SUBALIGN(8) { *(.two) } >b .rest : { *(.text .data .bss) } >b }
//--- load.ld
MEMORY { a : ORIGIN = 0, LENGTH = 3 b : ORIGIN = 3, LENGTH = 3 la : ORIGIN = 6, LENGTH = 2 lb : ORIGIN = 8, LENGTH = 2 }
SECTIONS { .first : { *(.one) *(.two) } >a AT>la .last : { *(.two) } >b AT>lb }
//--- later.ld
MEMORY { a : ORIGIN = 0, LENGTH = 2 b : ORIGIN = 2, LENGTH = 1 c : ORIGIN = 3, LENGTH = 2 }
SECTIONS { .first : { *(.one) *(.two) } >a .second : { *(.two) } >b .last : { *(.two) } >c }
//--- earlier.ld
MEMORY { a : ORIGIN = 0, LENGTH = 2 b : ORIGIN = 2, LENGTH = 1 }
SECTIONS { .first : { *(.one) *(.two) } >a .last : { *(.one) } >b }
//--- full.ld
MEMORY { a : ORIGIN = 0, LENGTH = 1 b : ORIGIN = 2, LENGTH = 0 }
SECTIONS { .first : { *(.one) *(.two) } >a .last : { *(.two) } >b }
//--- discard.ld
MEMORY { a : ORIGIN = 0, LENGTH = 1 }
SECTIONS { .first : { *(.two) } >a /DISCARD/ : { *(.one .two) } }
//--- order.s
.globl _start
.section .a,"a"; _start: .byte 1
.section .b,"a"; .byte 2
.section .c,"a"; .byte 3
.section .link.a,"ao",@progbits,.a; .ascii "a"
.section .link.b,"ao",@progbits,.b; .ascii "b"
.section .link.c,"ao",@progbits,.c; .ascii "c"
.section .note.GNU-stack,"",@progbits
//--- order.ld
MEMORY { order : ORIGIN = 0, LENGTH = 3 small : ORIGIN = 3, LENGTH = 0 bc : ORIGIN = 3, LENGTH = 2 a : ORIGIN = 5, LENGTH = 1 }
SECTIONS { .order : { *(.link.*) } >order .small : { *(.a) } >small .bc : { *(.b) *(.c) } >bc .a : { *(.a) } >a }
//--- strings.s
.globl text, _start
.section .a,"aMS",@progbits,1; text: _start: .asciz "ab"
.section .note.GNU-stack,"",@progbits
//--- strings.ld
MEMORY { a : ORIGIN = 0, LENGTH = 2 b : ORIGIN = 2, LENGTH = 4 }
SECTIONS { .first : { *(.a) } >a .second : { *(.a) } >b }
