//# about: hot and unlikely code is gathered; -z keep-text-section-prefix gives it sections of its own
//# only: weld lld -- the order of GNU ld and mold differs
//# link: text-order.o -z keep-text-section-prefix
//# section: .text.hot
//# section: .text.unlikely
//# section: .text.startup
//# section: .text.exit
//# no-section: .text.plain
.text
.globl _start
_start: ret
.section .text.hot.a,"ax",@progbits
  nop
.section .text.unlikely.a,"ax",@progbits
  nop
.section .text.startup.a,"ax",@progbits
  nop
.section .text.exit.a,"ax",@progbits
  nop
.section .text.plain,"ax",@progbits
  nop
.section .note.GNU-stack,"",@progbits
