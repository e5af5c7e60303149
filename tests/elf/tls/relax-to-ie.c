//# about: dynamic TLS sequences for a library's variable relaxed to initial-exec in an executable
//# not: mold -- 1.10 does not relax to initial-exec
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# link: %pie relax-to-ie.o seq.o -L. -llib
//# run: ./out
//# stdout: ok
//# reloc: TPOFF64 sym=var count=1
//# no-reloc: DTPMOD64
//# no-reloc: TLSDESC
//# bytes: sym(gd) = 64 48 8b 04 25 00 00 00 00 48 03 05
//# check: sym(gd) + 16 + s32(sym(gd) + 12) == relocaddr(var)
//# bytes: sym(desc) = 48 8b 05
//# bytes: sym(desc) + 7 = 66 90
//# check: sym(desc) + 7 + s32(sym(desc) + 3) == relocaddr(var)
#include <stdio.h>
extern __thread int var;
int *gd(void), *gd_indirect(void), *ie(void), *desc(void), *from_lib(void);
int main(void) {
  int *(*all[])(void) = {gd, gd_indirect, ie, desc, from_lib};
  for (int i = 0; i < 5; i++)
    if (all[i]() != &var) printf("%d is wrong\n", i);
  puts("ok");
  return 0;
}
//--- lib.c
__thread int other, var = 5;
int *from_lib(void) { return &var; }
//--- seq.s
.text
.globl gd, gd_indirect, ie, desc
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
ie:
  mov %fs:0, %rax
  addq var@gottpoff(%rip), %rax
  ret
desc:
  leaq var@tlsdesc(%rip), %rax
  call *var@tlscall(%rax)
  addq %fs:0, %rax
  ret
.section .note.GNU-stack,"",@progbits
