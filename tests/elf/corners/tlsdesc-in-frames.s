//# about: what rewrites instructions leaves the records of .eh_frame alone: a descriptor's relocation in there is refused
//# only: weld lld bfd -- the others were not asked
//# fail: tlsdesc-in-frames.o
//# [weld] error: tlsdesc-in-frames\.o:\(\.eh_frame\+0x2c\)
.globl _start
.type _start,@function
_start:
  .cfi_startproc
  .cfi_def_cfa_offset 32
  .cfi_def_cfa_offset 48
  .cfi_def_cfa_offset 64
  .cfi_def_cfa_offset 80
  .cfi_def_cfa_offset 96
  ret
  nop
  .cfi_endproc
.section .tdata,"awT",@progbits
t: .quad 1
.section .eh_frame,"a",@unwind
.reloc 44, R_X86_64_GOTPC32_TLSDESC, t
.section .note.GNU-stack,"",@progbits
