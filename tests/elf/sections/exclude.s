//# about: SHF_EXCLUDE sections stay out of outputs with what they define, but -r keeps them
//# obj: also.o = also.s
//# obj: uses.o = uses.s
//# link: exclude.o
//# no-section: .gone
//# link: -r exclude.o -o r.o
//# [!bfd !mold] section: .gone
//# [weld] link: exclude.o also.o -o b
//# [weld] no-section: .gone .loaded
//# [weld] no-symbol: twice
//# [weld] fail: exclude.o also.o uses.o -o c
//# [weld] error: (undefined|discarded).*twice
.globl _start
_start: ret
.section .gone,"e",@progbits
.quad 1
.section .loaded,"ae",@progbits
.globl twice
twice: .quad 1
.section .note.GNU-stack,"",@progbits
//--- also.s
.section .loaded,"ae",@progbits
.globl twice
twice: .quad 1
.section .note.GNU-stack,"",@progbits
//--- uses.s
.data
.quad twice
.section .note.GNU-stack,"",@progbits
