//# about: SHF_LINK_ORDER sections live and die with their target; group members stay together
//# obj: groups-and-links.o = groups-and-links.s @clang
//# link: groups-and-links.o --gc-sections
//# symbol: meta_live
//# no-symbol: meta_dead
//# symbol: grouped_data
//# no-symbol: grouped_dead
//# not: mold -- 1.10 keeps all of them
.section .text._start,"ax",@progbits
.globl _start
_start: call live
  call grouped
.section .text.live,"ax",@progbits
live: ret
.section .text.dead,"ax",@progbits
dead: ret
.section .meta,"ao",@progbits,.text.live
meta_live: .quad 1
.section .meta,"ao",@progbits,.text.dead
meta_dead: .quad 1
.section .text.grouped,"axG",@progbits,grouped,comdat
.globl grouped
grouped: ret
.section .data.grouped,"awG",@progbits,grouped,comdat
grouped_data: .quad 1
.section .text.grouped2,"axG",@progbits,grouped2,comdat
.globl grouped2
grouped2: ret
.section .data.grouped2,"awG",@progbits,grouped2,comdat
grouped_dead: .quad 1
.section .note.GNU-stack,"",@progbits
