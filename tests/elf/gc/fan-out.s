//# about: a section that refers to thousands of others, each of which refers to another: --gc-sections visits them all
//# link: fan-out.o --gc-sections -o out
//# symbol: value2999 section=.data
//# no-symbol: dead
//# run: ./out
.altmacro
.macro function number
.section .text.function\number,"ax",@progbits
function\number:
  movq value\number@GOTPCREL(%rip), %rax
  movl (%rax), %eax
  ret
.section .data.value\number,"aw",@progbits
.globl value\number
value\number: .long 1
.section .data.rel.ro,"aw",@progbits
  .quad function\number
.endm

.section .data.rel.ro,"aw",@progbits
table:
.set i, 0
.rept 3000
  function %i
.set i, i + 1
.endr
table_end:

.section .text.dead,"ax",@progbits
.globl dead
dead: ret

.text
.globl _start
_start:
  leaq table(%rip), %rbx
  xorl %ebp, %ebp
1: call *(%rbx)
  addl %eax, %ebp
  addq $8, %rbx
  leaq table_end(%rip), %rcx
  cmpq %rcx, %rbx
  jb 1b
  xorl %edi, %edi
  cmpl $3000, %ebp
  setne %dil
  movl $60, %eax
  syscall
