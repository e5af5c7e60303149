//# about: a record for code of no length does not take the place of that for the code at the same address; records lie as closely as the compiler wrote them
//# not: lld mold -- lld finds the empty one (mold 1.10 too)
//# link: eh-frame-empty.o --eh-frame-hdr
//# check: nfdes == 2
//# check: ncies == 1
//# check: s32(addr(.eh_frame_hdr) + 12) + addr(.eh_frame_hdr) == sym(_start)
//# check: s32(addr(.eh_frame_hdr) + 20) + addr(.eh_frame_hdr) == sym(other)
//# [weld] check: size(.eh_frame) == 24 + 20 + 24 + 4
.section .text.empty,"ax",@progbits
.cfi_startproc
.cfi_endproc
.section .text.full,"ax",@progbits
.globl _start, other
_start:
.cfi_startproc
ret
.cfi_endproc
other:
.cfi_startproc
push %rax
.cfi_def_cfa_offset 16
pop %rax
.cfi_def_cfa_offset 8
ret
.cfi_endproc
.section .note.GNU-stack,"",@progbits
