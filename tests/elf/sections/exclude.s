//# about: SHF_EXCLUDE sections stay out of outputs, but -r keeps them
//# link: exclude.o
//# no-section: .gone
//# link: -r exclude.o -o r.o
//# [!bfd !mold] section: .gone
.globl _start
_start: ret
.section .gone,"e",@progbits
.quad 1
.section .note.GNU-stack,"",@progbits
