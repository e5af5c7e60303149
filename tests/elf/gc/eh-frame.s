//# about: frames of dropped functions go, with their LSDAs; those of kept ones keep theirs
//# link: eh-frame.o --gc-sections --eh-frame-hdr
//# check: nfdes == 2
//# check: ncies == 2
//# symbol: lsda_live
//# [!lld] no-symbol: lsda_dead
//# symbol: personality
//# link: eh-frame.o --eh-frame-hdr
//# check: nfdes == 4
.section .text._start,"ax",@progbits
.globl _start, live
_start:
  .cfi_startproc
  call live
  .cfi_endproc
.section .text.live,"ax",@progbits
live:
  .cfi_startproc
  .cfi_personality 0x1b, personality
  .cfi_lsda 0x1b, lsda_live
  ret
  .cfi_endproc
.section .text.dead,"ax",@progbits
dead:
  .cfi_startproc
  .cfi_personality 0x1b, personality
  .cfi_lsda 0x1b, lsda_dead
  ret
  .cfi_endproc
.section .text.dead2,"ax",@progbits
dead2:
  .cfi_startproc
  ret
  .cfi_endproc
.section .gcc_except_table.live,"a",@progbits
lsda_live: .quad 1
.section .gcc_except_table.dead,"a",@progbits
lsda_dead: .quad 1
.section .text.personality,"ax",@progbits
.globl personality
personality: ret
.section .note.GNU-stack,"",@progbits
