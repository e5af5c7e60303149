//# about: -r cannot take a shared object
//# sh: $LD -shared lib.o -o lib.so
//# fail: -r shared-input.o lib.so -o r.o
//# error: lib.so: a shared object cannot be joined with -r
.globl _start
_start: call x
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl x
x: ret
.section .note.GNU-stack,"",@progbits
