//# about: one ifunc reached by call, GOT load and absolute address has one address
//# not: mold bfd -- a pointer in data gets the address of the target, one in code that of the PLT entry
//# matrix: kind=nopie,pie
//# [kind=pie] obj: main.o = got-and-plt.s
//# [kind=nopie] obj: main.o = got-and-plt.s --defsym ABS=1
//# link: %{kind} main.o
//# run: ./out
//# exit: 0
.text
.globl main
.type f, @gnu_indirect_function
f: lea target(%rip), %rax
  ret
.type target, @function
target: mov $9, %eax
  ret
main:
  sub $8, %rsp
  call f@PLT
  cmp $9, %eax
  jne bad
  mov f@GOTPCREL(%rip), %rbx
  lea f(%rip), %rcx
  cmp %rbx, %rcx
  jne bad
  cmp %rbx, word(%rip)
  jne bad
.ifdef ABS
  mov $f, %ecx
  cmp %rbx, %rcx
  jne bad
.endif
  call *%rbx
  cmp $9, %eax
  jne bad
  xor %eax, %eax
  add $8, %rsp
  ret
bad: mov $1, %eax
  add $8, %rsp
  ret
.data
word: .quad f
.section .note.GNU-stack,"",@progbits
