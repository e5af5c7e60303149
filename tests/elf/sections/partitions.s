//# about: who asks for a program in partitions is told that there is one, and the list of what would go there is left out
//# only: weld -- ld.lld makes them, others keep the list
//# obj: a.o = a.s @clang
//# link: a.o
//# warning: a\.o: asks for a program in partitions, but all of it stays in one
//# no-section: .llvm_sympart.f
//# symbol: f section=.text
//--- a.s
.globl _start, f
_start: ret
.section .text.f,"ax",@progbits
f: ret
.section .llvm_sympart.f,"",@llvm_sympart
.asciz "part1"
.quad f
.section .note.GNU-stack,"",@progbits
