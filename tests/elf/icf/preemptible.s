//# about: what another module may replace is told apart by its name
//# link: -shared preemptible.o --icf=all
//# check: sym(a1) != sym(a2)
//# check: sym(a1) == sym(a3)
//# check: sym(u1) != sym(u2)
//# check: sym(f1) == sym(f2)
//# link: -shared preemptible.o --icf=all -Bsymbolic
//# check: sym(a1) == sym(a2) == sym(a3)
//# check: sym(u1) != sym(u2)
.globl f1, f2
.section .text.f1,"ax",@progbits
f1: ret
.section .text.f2,"ax",@progbits
f2: ret
.section .text.a1,"ax",@progbits
a1: call f1@plt
.section .text.a2,"ax",@progbits
a2: call f2@plt
.section .text.a3,"ax",@progbits
a3: call f1@plt
.section .text.u1,"ax",@progbits
u1: jmp nowhere1@plt
.section .text.u2,"ax",@progbits
u2: jmp nowhere2@plt
.section .note.GNU-stack,"",@progbits
