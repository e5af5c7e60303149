//# about: each TLS code sequence relaxed to local-exec, byte for byte, and run
//# not: mold -- 1.10 relaxes fewer forms
//# matrix: kind=static,pie
//# link: %{kind} relax.o seq.o
//# run: ./out
//# stdout: ok
//# no-reloc: DTPMOD64
//# no-reloc: TPOFF64
//# bytes: sym(gd) = 64 48 8b 04 25 00 00 00 00 48 8d 80
//# check: s32(sym(gd) + 12) + tp == sym(var) + seg(TLS)
//# bytes: sym(gd_indirect) = 64 48 8b 04 25 00 00 00 00 48 8d 80
//# check: s32(sym(gd_indirect) + 12) + tp == sym(var) + seg(TLS)
//# bytes: sym(ld) + 3 = 64 48 8b 04 25 00 00 00 00
//# bytes: sym(ie_mov) + 9 = 48 c7 c0
//# check: s32(sym(ie_mov) + 12) + tp == sym(var) + seg(TLS)
//# bytes: sym(ie_mov12) = 49 c7 c4
//# bytes: sym(ie_add12) + 2 = 49 81 c4
//# bytes: sym(desc) = 48 c7 c0
//# bytes: sym(desc) + 7 = 66 90
//# check: s32(sym(desc) + 3) + tp == sym(var) + seg(TLS)
#include <stdio.h>
__thread long pad = 1;
__thread int var = 5;
int *gd(void), *gd_indirect(void), *ld(void), *ld_indirect(void), *ie_mov(void), *ie_add(void), *desc(void),
    *le(void), *desc_rcx(void), *large(void);
int main(void) {
  int *(*all[])(void) = {gd, gd_indirect, ld, ld_indirect, ie_mov, ie_add, desc, desc_rcx, le, large};
  for (int i = 0; i < 10; i++)
    if (all[i]() != &var) printf("%d is wrong\n", i);
  puts("ok");
  return 0;
}
//--- seq.s
.text
.globl gd, gd_indirect, ld, ld_indirect, ie_mov, ie_mov12, ie_add, ie_add12, desc, desc_rcx, le, large
.macro enter
  sub $8, %rsp
.endm
gd_start:
gd:
  .byte 0x66
  leaq var@tlsgd(%rip), %rdi
  .value 0x6666
  rex64
  call __tls_get_addr@PLT
  ret
gd_indirect:
  .byte 0x66
  leaq var@tlsgd(%rip), %rdi
  .byte 0x66
  rex64
  call *__tls_get_addr@GOTPCREL(%rip)
  ret
ld:
  leaq var@tlsld(%rip), %rdi
  call __tls_get_addr@PLT
  leaq var@dtpoff(%rax), %rax
  ret
ld_indirect:
  leaq var@tlsld(%rip), %rdi
  call *__tls_get_addr@GOTPCREL(%rip)
  leaq var@dtpoff(%rax), %rax
  ret
ie_mov:
  mov %fs:0, %rdx
  movq var@gottpoff(%rip), %rax
  add %rdx, %rax
  ret
ie_mov12:
  movq var@gottpoff(%rip), %r12
  ret
ie_add:
  mov %fs:0, %rax
  addq var@gottpoff(%rip), %rax
  ret
ie_add12:
  xor %eax, %eax
  addq var@gottpoff(%rip), %r12
  ret
desc:
  leaq var@tlsdesc(%rip), %rax
  call *var@tlscall(%rax)
  addq %fs:0, %rax
  ret
desc_rcx:
  push %rbx
  leaq var@tlsdesc(%rip), %rax
  call *var@tlscall(%rax)
  mov %rax, %rbx
  addq %fs:0, %rbx
  mov %rbx, %rax
  pop %rbx
  ret
le:
  mov %fs:0, %rax
  leaq var@tpoff(%rax), %rax
  ret
large:
  movabsq $var@tpoff, %rax
  addq %fs:0, %rax
  ret
.section .note.GNU-stack,"",@progbits
