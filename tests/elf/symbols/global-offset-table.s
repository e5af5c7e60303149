//# about: _GLOBAL_OFFSET_TABLE_ and the relocations relative to it (GOTOFF64, GOTPC64, GOT64, GOTPC32, PLTOFF64) in position-independent code
//# matrix: kind=exec,pie
//# [kind=exec] link: global-offset-table.o
//# [kind=pie] link: -pie -dynamic-linker /lib64/ld-linux-x86-64.so.2 global-offset-table.o
//# run: ./out
//# exit: 3
.globl _start, three
_start:
here: lea here(%rip), %rbx
  movabs $_GLOBAL_OFFSET_TABLE_ - here, %rax
  add %rax, %rbx
  movabs $data@GOTOFF, %rax
  mov (%rbx, %rax), %edi
  cmp $3, %edi
  jne bad
  movabs $data@GOT, %rax
  mov (%rbx, %rax), %rcx
  mov (%rcx), %edi
  cmp $3, %edi
  jne bad
  lea _GLOBAL_OFFSET_TABLE_(%rip), %rcx
  cmp %rcx, %rbx
  jne bad
  movabs $three@PLTOFF, %rax
  add %rbx, %rax
  call *%rax
  mov $60, %eax
  syscall
bad: ud2
three: mov $3, %edi
  ret
.data
.globl data
data: .long 3
.section .note.GNU-stack,"",@progbits
