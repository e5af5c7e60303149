//# about: a folded function's frame goes; functions that are unwound differently are not folded
//# link: frames.o --icf=all --eh-frame-hdr
//# check: sym(f1) == sym(f2)
//# check: sym(lsda1) == sym(lsda2)
//# check: sym(f1) != sym(f3)
//# check: sym(f1) != sym(f4)
//# check: sym(f1) != sym(f5)
//# check: sym(f1) != sym(f6)
//# check: sym(g1) == sym(g2)
//# check: nfdes == 6
//# link: frames.o --eh-frame-hdr
//# check: nfdes == 8
.globl _start
.section .text._start,"ax",@progbits
_start: ret
.macro function name, lsda, personality=personality, rule=16
.section .text.\name,"ax",@progbits
\name:
  .cfi_startproc
  .cfi_personality 0x1b, \personality
  .cfi_lsda 0x1b, \lsda
  .cfi_def_cfa_offset \rule
  ret
  .cfi_endproc
.endm
function f1, lsda1
function f2, lsda2
function f3, lsda3
function f4, lsda1, personality=personality2
function f5, lsda1, rule=24
.section .text.f6,"ax",@progbits
f6: ret
.macro plain name
.section .text.\name,"ax",@progbits
\name:
  .cfi_startproc
  nop
  ret
  .cfi_endproc
.endm
plain g1
plain g2
plain g3
  nop
.section .gcc_except_table.1,"a",@progbits
lsda1: .quad 1
.section .gcc_except_table.2,"a",@progbits
lsda2: .quad 1
.section .gcc_except_table.3,"a",@progbits
lsda3: .quad 2
.section .text.personality,"ax",@progbits
.globl personality, personality2
personality: push %rax
.section .text.personality2,"ax",@progbits
personality2: push %rbx
.section .note.GNU-stack,"",@progbits
