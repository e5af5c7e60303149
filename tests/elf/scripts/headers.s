//# about: where there is room for the headers only as long as they are not loaded, they are not loaded; memory without contents below the first page
//# not: mold -- it reads no SECTIONS
//# link: headers.o -T x.ld
//# [weld] segment: LOAD count=2
//# check: addr(.text) == 0x10100
//# [weld] check: seg(LOAD) == 0x10100
//# link: headers.o -T room.ld -o room
//# [weld] check: seg(LOAD) == 0x10000
//# link: headers.o -T low.ld -o low
//# [weld] check: seg(LOAD) == 0x10
.globl _start
_start: nop
.section .rodata,"a"; .byte 1
.data; .byte 2
.bss; .skip 4
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = 0x10100; .text : { *(.text) } .bss : { *(.bss) } .rodata : { *(.rodata) } . = . + 0x1000; .data : { *(.data) } }
//--- low.ld
SECTIONS { .bss 0x10 : { *(.bss) } .text 0x10000 : { *(.text) } .rodata : { *(.rodata) } .data 0x20000 : { *(.data) } }
//--- room.ld
SECTIONS { . = 0x10200; .text : { *(.text) } .bss : { *(.bss) } .rodata : { *(.rodata) } . = . + 0x1000; .data : { *(.data) } }
