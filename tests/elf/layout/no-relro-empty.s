//# about: a program without anything to protect has no PT_GNU_RELRO, and no .dynamic
//# link: no-relro-empty.o
//# no-segment: DYNAMIC INTERP TLS
//# [!mold] no-segment: GNU_RELRO
//# [!mold] no-section: .dynamic .got .plt .rela.dyn
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
