//# about: --emit-relocs: section symbols and addends, local symbols that are needed, references to what is gone, .eh_frame, and what an option cannot take away
//# obj: a.o = emit-relocs-symbols.s
//# obj: b.o = b.s
//# not: mold -- 1.10 keeps no relocations of debug sections
//# xfail: bfd -- it keeps relocations of what is gone, with other addends
//# link: a.o b.o -q --gc-sections -x
//# run: ./out
//# exit: 7
//# section: .rela.text type=RELA entsize=24 align=8
//# check: link(.rela.text) == index(.symtab)
//# check: info(.rela.text) == index(.text)
//# check: info(.rela.data) == index(.data)
//# [weld] check: info(.rela.eh_frame) == index(.eh_frame)
// The second object's .data lies 24 bytes behind that of the first.
//# reloc: R_X86_64_PC32 in=.rela.text sym=.data addend=36 count=1
// -x takes local symbols, but not those that relocations name.
//# symbol: needed_local bind=LOCAL section=.data
//# no-symbol: unneeded_local
//# reloc: R_X86_64_REX_GOTPCRELX in=.rela.text sym=needed_local addend=-4
// Strings: the symbol says which.
//# symbol: .Lstring bind=LOCAL section=.rodata
//# reloc: R_X86_64_64 in=.rela.data sym=.Lstring addend=1
// Weak and never defined.
//# symbol: nowhere bind=WEAK section=UND
//# reloc: R_X86_64_64 in=.rela.data sym=nowhere
// One FDE of three: the functions of the others are gone or lost.
//# check: nfdes == 2
//# [weld] reloc: R_X86_64_PC32 in=.rela.eh_frame sym=.text count=2
//# [weld] reloc: R_X86_64_NONE in=.rela.debug_x count=2
//# [weld] reloc: R_X86_64_64 in=.rela.debug_x sym=_start count=2
//# [weld] reloc: R_X86_64_64 in=.rela.debug_x sym=only_in_debug
//# [weld] link: a.o b.o -q --gc-sections -S -o no-debug
//# [weld] no-section: .rela.debug_x .debug_x
//# [weld] link: a.o b.o -q --compress-sections=.debug_x=zlib -shared -z notext -Bsymbolic -o shared
//# [weld] section: .rela.debug_x
//# [weld] reloc: R_X86_64_64 in=.rela.debug_x sym=gone
//# fail: a.o b.o -q -s
//# error: --strip-all and --emit-relocs|-s
.globl _start, gone
.weak nowhere
_start:
  .cfi_startproc
  mov needed_local@GOTPCREL(%rip), %rax
  call both
  mov $60, %eax
  syscall
  .cfi_endproc
.section .text.gone,"ax",@progbits
gone: .cfi_startproc
  ret
  .cfi_endproc
.section .text.both,"axG",@progbits,both,comdat
.weak both
both: .cfi_startproc
  jmp in_b
  .cfi_endproc
.data
needed_local: .quad 1
unneeded_local: .quad .Lstring+1, nowhere
.section .rodata.str1.1,"aMS",@progbits,1
  .asciz "first"
.Lstring: .asciz "second"
.section .debug_x,"",@progbits
  .quad _start, gone, only_in_debug
.weak only_in_debug
.section .note.GNU-stack,"",@progbits
//--- b.s
.globl in_b
.hidden in_b
in_b:
  mov .Lvalue(%rip), %edi
  ret
.section .text.both,"axG",@progbits,both,comdat
.weak both
both: .cfi_startproc
  nop
.Linside: jmp in_b
  .cfi_endproc
.data
  .quad 0
.Lplace: .quad 0
.Lvalue: .quad 7
.section .debug_x,"",@progbits
  .quad _start, .Linside
.section .note.GNU-stack,"",@progbits
