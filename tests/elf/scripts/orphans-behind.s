//# about: no orphan comes in front of a first section that lies where the script says; of several that are alike the one with the usual name has it behind it
//# not: mold -- it reads no SECTIONS
//# [weld|bfd] link: orphans-behind.o -T boot.ld
//# [weld|bfd] order: .boot .text .data .jcr
//# [weld|bfd] link: orphans-behind.o -T own.ld
//# [weld|bfd] order: .boot .text .data .jcr
//# [weld|bfd] link: orphans-behind.o -T memory.ld
//# [weld|bfd] order: .boot .text .data .tables .more
.globl _start
.text
_start: ret
.section .boot,"aw"; .quad 1
.section .tables,"aw"; .quad 2
.data; .quad 3
.section .more,"aw"; .quad 4
.section .jcr,"aw"; .quad 5
.section .note.GNU-stack,"",@progbits
//--- boot.ld
SECTIONS { . = 0x7c00; .boot : { *(.boot) } .text : { *(.text) } .data : { *(.data) } .more : { *(.more) } }
//--- own.ld
SECTIONS { .boot 0x7c00 : { *(.boot) } .text : { *(.text) } .data : { *(.data) } .more : { *(.more) } }
//--- memory.ld
MEMORY { A : ORIGIN = 0x10000, LENGTH = 0x10000 B : ORIGIN = 0x20000, LENGTH = 0x10000 }
SECTIONS { .boot : { *(.boot) } >A .text : { *(.text) } >A .data : { *(.data) } >A .more : { *(.more) } >B }
