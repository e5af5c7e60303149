//# about: missing inputs and libraries: all are named, with the paths searched
//# fail: missing-files.o nothere.o nolib.a -L/some/dir -lnolib -l:exact.a
//# error: nothere\.o
//# error: nolib\.a
//# error: -lnolib
//# [weld] error: /some/dir
//# error: exact\.a
//# fail: -shared missing-files.o --version-script=nomap
//# error: nomap
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
