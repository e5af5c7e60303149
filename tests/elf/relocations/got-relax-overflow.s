//# about: a GOTPCRELX load whose target is out of reach of lea keeps its GOT entry
//# only: weld lld -- others fail or did not look
//# [kind=pie] not: lld -- its dynamic table loses its end
//# matrix: kind=nopie,pie
//# obj: main.o = got-relax-overflow.s @clang
//# [kind=nopie] link: main.o
//# [kind=pie] link: -pie main.o
//# bytes: sym(f) = 48 8b 05
//# [kind=nopie] check: u64(sym(f) + 7 + s32(sym(f) + 3)) == sym(far)
//# [lld] bytes: sym(g) = 48 8d 05
.globl _start
_start:
f: movq far@GOTPCREL(%rip), %rax
g: movq near@GOTPCREL(%rip), %rax
.data
near: .quad 1
.bss
.skip 0xc0000000
.globl far
far: .zero 8
.section .note.GNU-stack,"",@progbits
