//# about: sections that no address space holds: an error, not a wrong file
//# only: weld -- others differ in what they notice
//# fail: bss-overflow.o
//# error: bss-overflow.o|address|large
.globl _start
_start: lea b(%rip), %rax
.bss
b: .skip 0x7fffffffffffffff
.section .bss.b,"aw",@nobits
.skip 0x7fffffffffffffff
.section .note.GNU-stack,"",@progbits
