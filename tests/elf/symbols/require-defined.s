//# about: --require-defined is -u that insists
//# not: lld mold -- lld has no such option, mold 1.10 does not insist
//# fail: require-defined.o --require-defined=absent
//# error: absent
//# link: require-defined.o --require-defined=_start
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
