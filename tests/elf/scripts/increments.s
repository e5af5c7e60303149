//# about: what goes on from an earlier value of the same symbol, without SECTIONS
//# not: mold -- it reads no assignments
//# link: increments.o -T x.ld
//# check: sym(a) == 8
//# check: sym(b) == sym(_start) + 6
// Of a symbol that an object defines.
//# [weld] link: increments.o -T own.ld
//# [weld] check: sym(own) == sym(_start) + 3
.globl _start, own
_start: ret
own: ret
.quad a, b
.section .note.GNU-stack,"",@progbits
//--- x.ld
a = 1; a += 2; a *= 2; a += 2;
b = _start; b += 8; b -= 2;
//--- own.ld
a = 1; b = 1;
own += 2;
