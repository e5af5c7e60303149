//# about: --eh-frame-hdr and --no-eh-frame-hdr; .eh_frame with SHT_X86_64_UNWIND
//# obj: eh-frame-options.o = eh-frame-options.s @clang
//# link: eh-frame-options.o
//# [!mold] no-section: .eh_frame_hdr
//# section: .eh_frame
//# link: eh-frame-options.o --eh-frame-hdr
//# section: .eh_frame_hdr
//# segment: GNU_EH_FRAME flags=R
//# check: u32(addr(.eh_frame_hdr) + 8) == 2
//# [!mold] link: eh-frame-options.o --eh-frame-hdr --no-eh-frame-hdr
//# [!mold] no-section: .eh_frame_hdr
.globl _start
_start:
  .cfi_startproc
  ret
  .cfi_endproc
b:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  ret
  .cfi_endproc
.section .note.GNU-stack,"",@progbits
