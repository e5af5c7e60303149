//# about: the stack is not executable whatever the inputs say, unless -z execstack
//# obj: without.o = without.s
//# not: mold bfd lld -- lld fails, GNU ld makes the stack executable, mold 1.10 knows no stack-size
//# link: gnu-stack.o without.o -o a
//# [weld] warning: gnu-stack.o.*execstack
//# segment: GNU_STACK flags=RW
//# link: gnu-stack.o -z execstack -o b
//# segment: GNU_STACK flags=RWX
//# link: gnu-stack.o -z execstack -z noexecstack -z stack-size=0x12345 -o c
//# [weld] warning: gnu-stack.o.*execstack
//# segment: GNU_STACK flags=RW memsz=0x12345
//# no-section: .note.GNU-stack
.globl _start
_start: ret
.section .note.GNU-stack,"x",@progbits
//--- without.s
nop
