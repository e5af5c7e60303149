//# about: a response file that names itself
//# not: mold bfd lld -- one hangs, one overflows its stack
//# fail: response-cycle.o @cycle.rsp
//# error: cycle\.rsp
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- cycle.rsp
--gc-sections @cycle2.rsp
//--- cycle2.rsp
@cycle.rsp
