//# about: what no pattern of a script matches lies beside its like, or is left out, or is warned of, or is an error
//# not: mold -- it reads no SECTIONS
//# link: orphans.o -T x.ld
//# order: .text .mycode .rodata .myro .data .mydata
//# link: orphans.o -T x.ld --orphan-handling=discard
//# no-section: .mycode .myro .mydata
//# [weld] link: orphans.o -T x.ld --orphan-handling=warn
//# [weld] warning: orphans\.o:\(\.mycode\): no output section of the script is for it
//# [weld] warning: \.myro
//# [weld] warning: \.mydata
//# fail: orphans.o -T x.ld --orphan-handling=error
//# error: \.mycode
.globl _start
_start: ret
.section .rodata,"a"; .byte 1
.data; .byte 2
.section .mycode,"ax"; ret
.section .myro,"a"; .byte 3
.section .mydata,"aw"; .byte 4
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { .text : { *(.text) } .rodata : { *(.rodata) } .data : { *(.data) } .bss : { *(.bss) } }
