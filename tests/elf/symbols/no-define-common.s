//# about: --no-define-common leaves a library's common symbols to the program
//# only: weld bfd -- others have no such option
//# link: -shared no-define-common.o --no-define-common -o lib.so
//# dynsym: block section=UND
//# reloc: R_X86_64_GLOB_DAT sym=block
//# dynsym: other section=.data
//# obj: main.o = main.s
//# link: main.o lib.so
//# dynsym: block section=.bss
//# fail: main.o --no-define-common
//# error: --no-define-common
.globl f, other
f: mov block@GOTPCREL(%rip), %rax
  ret
.comm block, 64, 32
.data
other: .quad 1
.section .note.GNU-stack,"",@progbits
//--- main.s
.globl _start
_start: call f
  mov block(%rip), %rax
.comm block, 64, 32
.section .note.GNU-stack,"",@progbits
