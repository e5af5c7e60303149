//# about: --defsym and assignments in scripts that name an ifunc make another one: calls reach what the resolver chose
//# not: mold bfd lld -- mold calls the resolver; GNU ld and lld differ about its address
//# matrix: kind=nopie,pie,static,static-pie,shared
//# obj: main.o = main.s
//# [kind=shared] link: %shared defsym.o --defsym=alias=chosen script.ld -o lib.so
//# [kind=shared] dynsym: alias type=IFUNC
//# [kind=shared] link: %pie main.o lib.so
//# [!kind=shared] link: %{kind} main.o defsym.o --defsym=alias=chosen script.ld
//# [!kind=shared] symbol: alias type=FUNC
//# run: ./out
//# exit: 0
//# [kind=nopie] fail: %nopie main.o defsym.o --defsym=alias=chosen+1 script.ld
//# [kind=nopie] error: chosen is an IFUNC
.text
.globl chosen
.type chosen, @gnu_indirect_function
chosen: lea target(%rip), %rax
  ret
.type target, @function
target: mov $9, %eax
  ret
.section .note.GNU-stack,"",@progbits
//--- script.ld
assigned = chosen;
//--- main.s
.text
.globl main
.type main, @function
main:
  push %rbx
  call alias@PLT
  cmp $9, %eax
  jne bad
  call assigned@PLT
  cmp $9, %eax
  jne bad
  mov alias@GOTPCREL(%rip), %rbx
  call *%rbx
  cmp $9, %eax
  jne bad
  cmp %rbx, word(%rip)
  jne bad
  call *word2(%rip)
  cmp $9, %eax
  jne bad
  xor %eax, %eax
  pop %rbx
  ret
bad: mov $1, %eax
  pop %rbx
  ret
.data
.balign 8
word: .quad alias
word2: .quad assigned
.section .note.GNU-stack,"",@progbits
