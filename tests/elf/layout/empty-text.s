//# about: an output section of size 0 needs no segment
//# only: weld -- lld and mold make one; GNU ld has no empty sections
//# obj: behind.o = behind.s
//# link: -shared empty-text.o
// Headers, .dynamic, .data.
//# check: segcount(LOAD) == 3
//# readelf-not: -lW => R E
//# obj: constant.o = constant.s
//# link: constant.o -e 0 -o c
//# check: segcount(LOAD) == 2
//# no-segment: GNU_RELRO
//# link: -shared empty-text.o behind.o -o b
//# check: segcount(LOAD) == 3
.text
.data
.quad 1
.section .note.GNU-stack,"",@progbits
//--- behind.s
.bss
.zero 0x100000
.section .after,"aw",@progbits
.section .note.GNU-stack,"",@progbits
//--- constant.s
nop
.section .data.rel.ro,"aw",@progbits
.section .note.GNU-stack,"",@progbits
