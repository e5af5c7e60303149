//# about: outputs that cannot be written: a directory, a missing directory, a read-only directory
//# not: bfd mold lld -- some delete what was there
//# sh: mkdir dir
//# fail: output.o -o dir
//# error: dir
//# fail: output.o -o nowhere/out
//# error: nowhere/out
//# fail: output.o -o /proc/nothere
//# error: /proc/nothere
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
