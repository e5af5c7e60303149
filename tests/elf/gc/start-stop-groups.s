//# about: sections whose bounds are asked for stay, members of groups among them
//# not: lld -- it lets members of groups go
//# link: start-stop-groups.o --gc-sections
//# symbol: in_set
//# check: sym(__start_set) == sym(in_set)
.globl _start
_start: lea __start_set(%rip), %rax
.section set,"aG",@progbits,signature,comdat
.globl in_set
in_set: .quad 1
.section .note.GNU-stack,"",@progbits
