//# about: TLS code that the linker may not rewrite calls __tls_get_addr in executables, too, beside code that is rewritten
//# not: lld bfd mold -- they rewrite what does not fit, or refuse it
//# matrix: kind=static,static-pie,pie,nopie libc=glibc,musl
//# except: libc=glibc kind=static|static-pie -- glibc has no __tls_get_addr there: only rewritten code links
//# except: libc=musl kind=pie|nopie -- the same as with glibc
//# obj: lib.o = lib.s
//# obj: here.o = lib.s
//# link: %shared lib.o -o lib.so
//# [kind=static|static-pie] link: %{kind} unknown-sequences.o here.o
//# [kind=pie|nopie] link: %{kind} unknown-sequences.o lib.so -o out
//# [kind=static|static-pie] no-reloc: DTPMOD64
//# [kind=pie|nopie] reloc: DTPMOD64 sym=far
//# run: ./out
//# exit: 0
.text
.globl main
.type main, @function
main:
  push %rbx
  # General dynamic, another register in between, without prefixes.
  lea near@TLSGD(%rip), %rdi
  call __tls_get_addr@PLT
  cmpl $21, (%rax)
  jne bad
  lea far@TLSGD(%rip), %rdi
  call *__tls_get_addr@GOTPCREL(%rip)
  cmpl $22, (%rax)
  jne bad
  # The same symbols in the form that is rewritten.
  .byte 0x66
  lea near@TLSGD(%rip), %rdi
  .value 0x6666
  rex64
  call __tls_get_addr@PLT
  cmpl $21, (%rax)
  jne bad
  .byte 0x66
  lea far@TLSGD(%rip), %rdi
  .value 0x6666
  rex64
  call __tls_get_addr@PLT
  cmpl $22, (%rax)
  jne bad
  # The argument on its way through another register, and the call far from it.
  lea near@TLSGD(%rip), %rbx
  nop
  mov %rbx, %rdi
  call __tls_get_addr@PLT
  cmpl $21, (%rax)
  jne bad
  # Local dynamic: offsets count from the same place for both.
  lea near@TLSLD(%rip), %rdi
  nop
  call __tls_get_addr@PLT
  cmpl $21, near@DTPOFF(%rax)
  jne bad
  mov %rax, %rbx
  lea near@TLSLD(%rip), %rdi
  call __tls_get_addr@PLT
  cmpl $21, near@DTPOFF(%rax)
  jne bad
  cmp %rax, %rbx
  jne bad
  xor %eax, %eax
  pop %rbx
  ret
bad: mov $1, %eax
  pop %rbx
  ret
.section .tdata,"awT",@progbits
.balign 64
.fill 3
.balign 4
near: .long 21
.section .tbss,"awT",@nobits
.balign 32
.zero 100
.section .note.GNU-stack,"",@progbits
//--- lib.s
.section .tdata,"awT",@progbits
.globl far
.type far, @object
far: .long 22
.size far, 4
.section .note.GNU-stack,"",@progbits
