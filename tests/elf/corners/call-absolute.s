//# about: an absolute symbol is no place that position-independent code can call
//# only: weld lld -- others say nothing or cannot
//# fail: -shared call-absolute.o
//# error: absolute
.globl f
f: call there@PLT
.globl there
.hidden there
there = 0x1234
.section .note.GNU-stack,"",@progbits
