//# about: the stack is executable if an object asks for it, with a warning, or as -z says
//# obj: without.o = without.s
//# obj: also.o = also.s
//# not: mold lld -- lld refuses the object, mold 1.10 knows no stack-size
//# link: gnu-stack.o without.o -o a
//# [weld] warning: gnu-stack.o.*executable stack
//# [bfd] warning: requires executable stack
//# segment: GNU_STACK flags=RWX
//# link: gnu-stack.o -z execstack -o b
//# segment: GNU_STACK flags=RWX
//# [weld] link: gnu-stack.o -z execstack -z noexecstack -z stack-size=0x12345 -o c
//# [weld] warning: gnu-stack.o.*noexecstack
//# [weld] segment: GNU_STACK flags=RW memsz=0x12345
//# no-section: .note.GNU-stack
//# [weld] link: gnu-stack.o -z execstack-if-needed -o d
//# [weld] segment: GNU_STACK flags=RWX
//# link: gnu-stack.o --no-warn-execstack -o e
//# segment: GNU_STACK flags=RWX
//# [weld] fail: gnu-stack.o --error-execstack -o f
//# [weld] error: gnu-stack.o.*executable stack
//# [weld] link: without.o -e 0 -o g
//# [weld] segment: GNU_STACK flags=RW
//# link: gnu-stack.o also.o -z nognustack -o h
//# no-verify: there is to be no PT_GNU_STACK
//# [weld] warning: gnu-stack.o.*executable stack
//# [bfd] warning: requires executable stack
//# no-segment: GNU_STACK
.globl _start
_start: ret
.section .note.GNU-stack,"x",@progbits
//--- without.s
nop
//--- also.s
nop
.section .note.GNU-stack,"",@progbits
