//# about: .eh_frame is written anew, so a symbol among its records lies at its start
//# link: eh-frame-symbol.o
//# check: sym(frames) == addr(.eh_frame)
//# check: shndx(frames) == index(.eh_frame)
//# not: lld bfd mold -- they keep its distance from the start of the input
.globl _start, frames
.text
_start:
.cfi_startproc
  ret
.cfi_endproc
.section .eh_frame, "a", @progbits
frames:
