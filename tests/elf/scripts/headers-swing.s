//# about: a script settles also where the number of program headers depends on where SIZEOF_HEADERS has things lie
//# not: mold -- it reads no SECTIONS
//# matrix: size=3848,3856,3864,3872,3912,3920,3928,3936
//# obj: o.o = headers-swing.s --defsym size={size}
//# link: o.o -T x.ld
//# check: sym(d) == addr(.data)
//# check: addr(.text) >= 64 + 56
.globl _start, d
_start: .skip size, 0x90
.data
d: .long 1
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = SIZEOF_HEADERS; .text : { *(.text) } .rodata : { *(.rodata) } .data : { *(.data) } .bss : { *(.bss) } }
