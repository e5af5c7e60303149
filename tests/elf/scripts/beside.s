//# about: what no pattern matches lies beside its like: data before other data, zeroes at the end; behind, if there are memory regions; in its segment
//# not: mold -- it reads no SECTIONS
//# [!bfd] link: beside.o -T x.ld
//# [!bfd] order: .text .mycode .ro1 .init_array .data .mydata
//# [!bfd] check: addr(.text) == 0x10000
//# [!bfd] check: sym(end) == end(.mydata)
//# [!bfd] link: beside.o -T memory.ld
//# [!bfd] order: .text .mycode .data .mydata .init_array
//# link: beside.o -T phdrs.ld
//# no-verify: the script asks for no PT_GNU_STACK
//# readelf: -lW => LOAD .* R E
//# readelf: -lW => 00 +\.text \.mycode *\n
//# readelf: -lW => 01 .*\.data
.globl _start
_start: ret
.section .mycode,"ax"; ret
.section .ro1,"a"; .byte 1
.section .init_array,"aw",@init_array; .quad 0
.data; .quad 2
.section .mydata,"aw"; .quad 4
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = 0x10000; .text : { *(.text) } .ro1 : { *(.ro1) } . = 0x20000; .data : { *(.data) } .mydata : { *(.mydata) } end = .; }
//--- memory.ld
MEMORY { rom : ORIGIN = 0x1000, LENGTH = 0x100  ram : ORIGIN = 0x8000, LENGTH = 0x100 }
SECTIONS { .text : { *(.text) *(.ro1) } > rom .data : { *(.data) } > ram }
//--- phdrs.ld
PHDRS { code PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); }
SECTIONS { .text : { *(.text) } :code .nothing : { *(.nothing) } :data .data 0x2000 : { *(.data) *(.ro1) *(.mydata) } }
