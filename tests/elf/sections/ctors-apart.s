//# about: --no-ctors-in-init-array keeps .ctors and .dtors, by priority
//# only: weld bfd -- others have no such option
//# link: ctors-apart.o
//# no-section: .ctors
//# link: ctors-apart.o --no-ctors-in-init-array
//# [weld] no-section: .init_array
//# [weld] check: size(.ctors) == 24
//# [weld] check: u64(addr(.ctors)) == 1
//# [weld] check: u64(addr(.ctors) + 8) == 2
//# [weld] check: u64(addr(.ctors) + 16) == 3
//# [weld] section: .dtors size=8
//# link: ctors-apart.o --no-ctors-in-init-array --ctors-in-init-array
//# no-section: .ctors
.globl _start
_start: ret
.section .ctors.00200,"aw",@progbits
.quad 3
.section .ctors.00100,"aw",@progbits
.quad 2
.section .ctors,"aw",@progbits
.quad 1
.section .dtors,"aw",@progbits
.quad 1
.section .note.GNU-stack,"",@progbits
