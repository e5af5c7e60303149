//# about: options that cannot go together
//# not: bfd mold -- they let one win
//# fail: -r -shared conflicting-options.o
//# error: -r.*-shared|-shared.*-r
//# fail: -r -pie conflicting-options.o
//# error: -r.*-pie|-pie.*-r
//# [weld|lld] fail: -shared -pie conflicting-options.o
//# error: -shared.*-pie|-pie.*-shared
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
