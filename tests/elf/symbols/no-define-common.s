//# about: --no-define-common leaves a library's common symbols to the program; scripts can say so, too
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
//# [weld] link: -shared no-define-common.o -T inhibit.ld -o lib.so
//# [weld] dynsym: block section=UND
//# [weld] fail: main.o -T inhibit.ld
//# [weld] error: INHIBIT_COMMON_ALLOCATION needs -shared or -r
//# [weld] link: -r main.o -T inhibit.ld -d -o r.o
//# [weld] symbol: block section=COMMON
//# [weld] link: -r main.o -T force.ld -o r.o
//# [weld] symbol: block section=.bss size=64
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
//--- inhibit.ld
INHIBIT_COMMON_ALLOCATION
//--- force.ld
FORCE_COMMON_ALLOCATION
