//# about: GOTPCRELX to absolute symbols, small and too large for an immediate, also where the image moves
//# matrix: kind=nopie,pie
//# [kind=nopie] link: got-relax-absolute.o abs.o
//# [kind=pie] link: -pie --dynamic-linker=/lib64/ld-linux-x86-64.so.2 got-relax-absolute.o abs.o
//# run: ./out
//# exit: 5
.globl _start
_start:
  movq small_abs@GOTPCREL(%rip), %rax
  cmpq $0x12345678, %rax
  jne bad
  movq big_abs@GOTPCREL(%rip), %rax
  movabsq $0x123456789abc, %rcx
  cmpq %rax, %rcx
  jne bad
  movq zero_abs@GOTPCREL(%rip), %rax
  testq %rax, %rax
  jne bad
  mov $5, %edi
  mov $60, %eax
  syscall
bad: ud2
.section .note.GNU-stack,"",@progbits
//--- abs.s
.globl small_abs, big_abs, zero_abs
small_abs = 0x12345678
big_abs = 0x123456789abc
zero_abs = 0
.section .note.GNU-stack,"",@progbits
