//# about: GOT entries: GLOB_DAT for preemptible, RELATIVE for own symbols
//# link: -shared got-shared.o
//# reloc: GLOB_DAT sym=exported count=1
//# reloc: GLOB_DAT sym=ext count=1
//# reloc: RELATIVE count=1
.globl f, exported, hid
.hidden hid
f:
  mov ext@GOTPCREL(%rip), %rax
  mov exported@GOTPCREL(%rip), %rax
  mov exported@GOTPCREL(%rip), %rcx
  cmpq $0, hid@GOTPCREL(%rip)
.data
exported: .quad 1
hid: .quad 2
.section .note.GNU-stack,"",@progbits
