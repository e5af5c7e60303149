//# about: --sort-section decides among sections that are alike to what the script sorts by, and sorts common symbols
//# not: mold -- it reads no SECTIONS
//# link: sorted-twice.o -T x.ld --sort-section=name
//# contains: .a = 21
//# link: sorted-twice.o -T x.ld --sort-section=alignment -o commons
//# check: size(.bss) == 19
//# [weld|lld] check: sym(large) < sym(small)
.globl _start
_start: ret
.section .a.z,"a"; .ascii "1"
.section .a.b,"a"; .ascii "2"
.comm small, 1, 1
.comm large, 16, 16
.comm middle, 2, 2
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = 0x10000; .text : { *(.text) } .a : { *(SORT_BY_INIT_PRIORITY(.a.*)) } .bss : { *(COMMON) } }
