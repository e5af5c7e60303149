//# about: members that are no objects are skipped while nobody needs them
//# sh: echo text > readme.txt && ar rcs libx.a one.o readme.txt
//# link: not-an-object.o libx.a
//# symbol: one
.globl _start
_start: call one
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: ret
.section .note.GNU-stack,"",@progbits
