//# about: IRELATIVE relocations of a static executable lie between __rela_iplt_start and _end
//# not: mold -- 1.10 puts them elsewhere
//# link: static-relocs.o
//# check: sym(__rela_iplt_end) - sym(__rela_iplt_start) == 24
//# check: u64(sym(__rela_iplt_start) + 8) == 37
//# check: u64(sym(__rela_iplt_start) + 16) == sym(resolve)
//# run: ./out
//# exit: 9
.text
.globl _start, resolve, f
.type f, @gnu_indirect_function
.set f, resolve
.type resolve, @function
resolve: lea target(%rip), %rax
  ret
.type target, @function
target: mov $9, %edi
  ret
_start:
  lea __rela_iplt_start(%rip), %rbx
  lea __rela_iplt_end(%rip), %rcx
  cmp %rbx, %rcx
  je fail
  mov 16(%rbx), %rax
  call *%rax
  mov (%rbx), %rdx
  mov %rax, (%rdx)
  call f
  mov $60, %eax
  syscall
fail: ud2
.section .note.GNU-stack,"",@progbits
