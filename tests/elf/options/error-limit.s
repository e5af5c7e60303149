//# about: --error-limit: the first so many, then one line that says so; 0 shows all
//# only: weld lld -- GNU-style linkers have no limit
//# sh-fail: $LD error-limit.o
//# stderr-re: undefined symbol: u1$
//# stderr-re: undefined symbol: u20$
//# stderr-re: -?-error-limit=0
//# stderr-not: undefined symbol: u25
//# sh-fail: $LD error-limit.o --error-limit=0
//# stderr-re: undefined symbol: u30$
//# sh-fail: $LD error-limit.o --error-limit=2
//# stderr-not: undefined symbol: u3$
.globl _start
_start:
.macro u n
  call u\n
.endm
.irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
  u \n
.endr
.section .note.GNU-stack,"",@progbits
