//# about: a TLS descriptor in code that the linker may not rewrite is left to the loader; without one it is an error
//# not: lld bfd mold -- they rewrite what does not fit, or refuse it
//# matrix: kind=pie,nopie
//# link: %shared lib.o -o lib.so
//# link: %{kind} unknown-descriptor.o lib.so
//# reloc: TLSDESC count=2
//# run: ./out
//# exit: 0
//# fail: %static unknown-descriptor.o lib.o
//# error: R_X86_64_GOTPC32_TLSDESC.*TLS descriptor
.text
.globl main
.type main, @function
main:
  push %rbx
  # movabs-like: the address is computed by something else than lea.
.macro descriptor symbol, value
  push %rcx
  mov $0, %eax
  .byte 0x48, 0x8d, 0x05
  .reloc ., R_X86_64_GOTPC32_TLSDESC, \symbol - 4
  .long 0
  call *\symbol@TLSCALL(%rax)
  mov %fs:(%rax), %ecx
  cmp $\value, %ecx
  pop %rcx
  jne bad
  # add $descriptor - here, %rax
  lea 1f(%rip), %rax
1:
  .byte 0x48, 0x05
  .reloc ., R_X86_64_GOTPC32_TLSDESC, \symbol + 2
  .long 0
  call *\symbol@TLSCALL(%rax)
  mov %fs:(%rax), %ecx
  cmp $\value, %ecx
  jne bad
.endm
  descriptor near, 21
  descriptor far, 22
  xor %eax, %eax
  pop %rbx
  ret
bad: mov $1, %eax
  pop %rbx
  ret
.section .tdata,"awT",@progbits
near: .long 21
.section .note.GNU-stack,"",@progbits
//--- lib.s
.section .tdata,"awT",@progbits
.globl far
.type far, @object
far: .long 22
.size far, 4
.section .note.GNU-stack,"",@progbits
