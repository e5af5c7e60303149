//# about: -r: a reference to what only a discarded group defines stays a strong one
//# not: lld mold -- they make it weak, or leave the definition
//# link: -r first.o discarded-only.o -o r.o
//# symbol: lost bind=GLOBAL section=UND
//# fail: r.o
//# error: undefined.*lost
//# fail: first.o discarded-only.o
//# error: lost
.globl _start
_start: call lost
.section .text.f,"axG",@progbits,f,comdat
.globl lost
lost: ret
.section .note.GNU-stack,"",@progbits
//--- first.s
.section .text.f,"axG",@progbits,f,comdat
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
