//# about: a TLS symbol reached by an ordinary relocation is an error, and the other way round
//# only: weld -- others produce code that reads the wrong place
//# obj: mismatch.o = mismatch.s @clang
//# fail: mismatch.o tls.o
//# error: var.*TLS|TLS.*var
//# error: mismatch.o
//# error: plain
// What has no type is what its section says.
//# error: R_X86_64_GOTTPOFF needs a TLS symbol, which '.*\.text.*' is not
.globl _start
_start:
  mov var@tpoff, %eax
  mov plain@gottpoff(%rip), %rax
  .reloc . + 3, R_X86_64_GOTTPOFF, .text - 4
  mov 0(%rip), %rax
  .reloc . + 3, R_X86_64_GOTTPOFF, .tdata - 4
  mov 0(%rip), %rax
  ret
.section .tdata,"awT",@progbits
  .quad 1
.data
.globl plain
.type plain, @object
plain: .quad 0
.section .note.GNU-stack,"",@progbits
//--- tls.s
.text
.globl f
f: mov var(%rip), %eax
.section .tbss,"awT",@nobits
.globl var
.type var, @object
var: .zero 4
.section .note.GNU-stack,"",@progbits
