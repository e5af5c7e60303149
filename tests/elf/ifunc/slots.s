//# about: code that loads an IFUNC's address from a slot has that of what was chosen, and what the PLT entry jumps through is the slot
//# not: mold bfd -- the slot has the address of the PLT entry
//# matrix: kind=nopie,pie
//# link: %{kind} slots.o
//# run: ./out
//# exit: 0
//# symbol: f type=IFUNC section=.text
//# [kind=nopie] no-symbol: __rela_iplt_start
.text
.globl main, f
.type f, @gnu_indirect_function
f: lea target(%rip), %rax
  ret
.type target, @function
target: mov $9, %eax
  ret
main:
  sub $8, %rsp
  mov f@GOTPCREL(%rip), %rbx
  lea target(%rip), %rcx
  cmp %rbx, %rcx
  jne bad
  call f@PLT
  cmp $9, %eax
  jne bad
  call *f@GOTPCREL(%rip)
  cmp $9, %eax
  jne bad
  xor %eax, %eax
  add $8, %rsp
  ret
bad: mov $1, %eax
  add $8, %rsp
  ret
.section .note.GNU-stack,"",@progbits
