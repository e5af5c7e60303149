//# about: an object that asks for an executable stack is reported
//# only: weld -- lld accepts it, GNU ld obeys it
//# link: stack-note-conflict.o
//# warning: stack-note-conflict.o.*execstack
//# segment: GNU_STACK flags=RW
.globl _start
_start: ret
.section .note.GNU-stack,"x",@progbits
