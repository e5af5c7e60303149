//# about: a thin archive whose member is gone, one that names itself, and two that name each other
//# sh: ar rcsT libgone.a x.o && ar rcsT liba.a x.o && mv x.o gone.o
//# fail: thin-archive.o libgone.a
//# error: libgone\.a
//# error: x\.o
//# sh: printf '!<thin>\n//                                              8         `\nself.a/\n/0              0           0     0     644     100       `\n' > self.a
//# [!mold !bfd !lld] fail: thin-archive.o --whole-archive self.a
//# [weld] error: self\.a
.globl _start
_start: call x
.section .note.GNU-stack,"",@progbits
//--- x.s
.globl x
x: ret
.section .note.GNU-stack,"",@progbits
