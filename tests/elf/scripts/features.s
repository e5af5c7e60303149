//# about: LD_FEATURE("SANE_EXPR") says that an address with a number added stays one; there is no other feature
//# not: mold lld gold -- they have no LD_FEATURE
//# link: features.o -T x.ld
//# symbol: a section=.data
//# symbol: b section=.text
//# symbol: c section=ABS value=8
//# symbol: d section=.data
//# check: sym(d) == addr(.data) + 5
//# fail: features.o -T other.ld
//# error: SANE_EXPR, the only feature|unknown feature .OTHER
.globl _start, five, p, q
five = 5
_start: ret
.data
p: .quad 0
q: .quad 0
.section .note.GNU-stack,"",@progbits
//--- x.ld
LD_FEATURE("SANE_EXPR")
SECTIONS {
  . = 0x10000;
  .text : { *(.text*) }
  .data : { *(.data*) d = 5; }
  a = p + 1;
  b = _start + five;
  c = q - p;
}
//--- other.ld
LD_FEATURE("OTHER")
SECTIONS { .text : { *(.text*) } .data : { *(.data*) } }
