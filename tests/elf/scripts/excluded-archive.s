//# about: EXCLUDE_FILE with the name of an archive excludes its members
//# not: mold lld -- mold reads no SECTIONS; ld.lld wants an archive and a colon
//# sh: ar rc lib.a member.o
//# link: excluded-archive.o --whole-archive lib.a -T x.ld
//# check: sym(own) == addr(.a)
//# check: sym(other) == addr(.b)
.globl _start, own
_start = 0
.section .x,"a"
own: .byte 1
.section .note.GNU-stack,"",@progbits
//--- member.s
.globl other
.section .x,"a"
other: .byte 2
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { .a : { *(EXCLUDE_FILE(*lib.a) .x) } .b : { *(.x) } }
