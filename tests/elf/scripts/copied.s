//# about: a script names a variable of a library that the program copies, be it read-only or not
//# not: mold bfd -- mold reads no SECTIONS, and GNU ld copies after the script has been computed
//# obj: lib.o = lib.s
//# link: -shared lib.o -o lib.so
//# link: copied.o lib.so -T x.ld
//# check: sym(ro_alias) == sym(ro)
//# check: sym(rw_alias) == sym(rw)
.globl _start
_start: .quad ro, rw
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl ro, rw
.type ro,@object
.type rw,@object
.section .rodata,"a"
.size ro, 8
ro: .quad 1
.data
.quad 0
.size rw, 8
rw: .quad 2
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = 0x10000 + SIZEOF_HEADERS; .text : { *(.text) } ro_alias = ro; rw_alias = rw; }
