//# about: R_X86_64_NONE does nothing but keep its target alive
//# not: mold -- 1.10 drops the target
//# link: none.o --gc-sections
//# symbol: kept
//# bytes: sym(_start) = c3
.section .text._start,"ax",@progbits
.globl _start
_start: ret
.reloc 0, R_X86_64_NONE, kept
.section .data.kept,"aw",@progbits
kept: .quad 1
.section .note.GNU-stack,"",@progbits
