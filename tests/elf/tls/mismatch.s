//# about: a TLS symbol reached by an ordinary relocation is an error, and the other way round
//# only: weld -- others produce code that reads the wrong place
//# obj: mismatch.o = mismatch.s @clang
//# fail: mismatch.o tls.o
//# error: var.*TLS|TLS.*var
//# error: mismatch.o
//# error: plain
.globl _start
_start:
  mov var@tpoff, %eax
  mov plain@gottpoff(%rip), %rax
  ret
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
