//# about: with a script, GNU ld's output has .comment only if an input has it
//# only: weld bfd -- ld.lld writes its own name in any case
//# sh: printf 'SECTIONS { .text : { *(.text) } }' > s.ld
//# link: -T s.ld no-comment.o
//# no-section: .comment
//# [weld] link: -T s.ld no-comment.o comment.o -o both
//# [weld] contains: .comment = Linker: weld
//# sh: printf 'SECTIONS { .text : { *(.text) } .comment 0 : { *(.comment) } }' > named.ld
//# [weld] link: -T named.ld no-comment.o comment.o -o named
//# [weld] contains: .comment = Linker: weld
//# link: -T named.ld no-comment.o -o named-only
//# no-section: .comment
//# [weld] link: no-comment.o -o plain
//# [weld] contains: .comment = Linker: weld
//# [weld] sh: $LD_DIR/ld.lld -T s.ld no-comment.o -o lld 2>/dev/null && grep -q 'Linker: weld' lld
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- comment.s
.ident "as"
.section .note.GNU-stack,"",@progbits
