//# about: the smallest program: no libraries, no start files
//# matrix: kind=static,pie,static-pie
//# [kind=static] link: asm.o
//# [kind=pie] link: -pie -dynamic-linker /lib64/ld-linux-x86-64.so.2 asm.o
//# [kind=static-pie] link: -static -pie --no-dynamic-linker asm.o
//# run: ./out
//# exit: 42
//# check: entry == sym(_start)
//# [kind=static] check: etype == 2
//# [!kind=static] check: etype == 3
//# [kind=static] no-section: .interp .dynamic .dynsym
//# [kind=pie] segment: INTERP
//# [kind=static-pie] no-segment: INTERP
//# [kind=static-pie] segment: DYNAMIC
.globl _start
_start:
  mov $60, %eax
  lea value(%rip), %rbx
  mov (%rbx), %edi
  syscall
.data
value: .long 42
.section .note.GNU-stack,"",@progbits
