//# about: -r: --relocatable-merge-sections gives sections the names of other output; -z common makes STT_COMMON; --sort-common.
//# only: weld -- mold's and GNU ld's options
//#
//# link: -r --relocatable-merge-sections names-and-commons.o -o r.o
//# section: .text size=3
//# section: .data size=8
//# section: .init_array.5
//# section: .init_array.7
//# no-section: .text.f .text.g .data.x
//# section: .text.h
//# link: r.o -o merged
//# check: u64(addr(.init_array)) == sym(f)
//# link: -r names-and-commons.o -o r.o
//# section: .text.f
//#
//# link: -r -z common names-and-commons.o -o r.o
//# symbol: a16 type=COMMON size=16
//# link: -r r.o -o r2.o
//# symbol: a16 type=COMMON size=16
//# link: -r -z nocommon r.o -o r2.o
//# symbol: a16 type=OBJECT size=16
//# link: r.o
//# symbol: a16 type=OBJECT section=.bss
//#
//# link: --sort-common names-and-commons.o
//# check: sym(a16) < sym(a4) < sym(a1)
//# link: --sort-common=ascending b.o
//# check: sym(c1) < sym(c4)
//# link: b.o
//# check: sym(c4) < sym(c1)
.globl _start, f
.text
_start:
    ret
.section .text.f, "ax"
f:  ret
.section .text.g, "ax"
    ret
.section .text.h, "axG", @progbits, h, comdat
    ret
.section .data.x, "aw"
    .quad 1
.section .init_array.7, "aw", @init_array
    .quad _start
.section .init_array.5, "aw", @init_array
    .quad f
.comm a1, 1, 1
.comm a4, 4, 4
.comm a16, 16, 16
//--- b.s
.globl _start
_start:
    ret
.comm c4, 4, 4
.comm c1, 1, 1
