//# about: GOT loads stay where addresses are too high for immediates, or symbols too far for lea
//# obj: gotpcrelx-far.o = gotpcrelx-far.s
//# only: weld lld -- others say nothing or cannot
//# link: gotpcrelx-far.o --image-base=0x100000000
//# run: ./out
//# exit: 0
.globl _start
_start:
  mov far@GOTPCREL(%rip), %rbx
  cmp far@GOTPCREL(%rip), %rbx
  jne bad
  movl $0, (%rbx)
  mov (%rbx), %edi
  mov $60, %eax
  syscall
bad: ud2
.section .lbss,"awl",@nobits
.zero 0x90000000
.globl far
far: .zero 8
.section .note.GNU-stack,"",@progbits
