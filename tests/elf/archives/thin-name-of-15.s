//# about: GNU ar leaves the end of a name of 15 characters behind the number that takes its place in a thin archive
//# sh: cp x.o abcdefghijklm.o && ar csrDT libx.a abcdefghijklm.o && grep -qa '^/0  */' libx.a && rm x.o
//# link: thin-name-of-15.o libx.a
//# link: thin-name-of-15.o --whole-archive libx.a
.globl _start
_start: call x
.section .note.GNU-stack,"",@progbits
//--- x.s
.globl x
x: ret
.section .note.GNU-stack,"",@progbits
