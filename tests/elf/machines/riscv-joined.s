//# about: RISC-V: code that -r puts behind code that gets shorter keeps its alignment, by a section of its own
//# not: bfd mold -- GNU ld loses the alignment; mold that is installed is for this machine's programs
//# machines: riscv64
//# except: machine=x86-64
//# obj: riscv-joined.o = riscv-joined.s @clang
//# obj: aligned.o = aligned.s @clang
//# link: -r riscv-joined.o aligned.o -o r.o
//# link: r.o
//# check: sym(aligned) % 16 == 0
//# run: ./out
//# exit: 0
.globl _start, near
_start:
    call near
    call near
    call near
    tail aligned
near:
    ret
//--- aligned.s
.globl aligned
.p2align 4
aligned:
    li a7, 93
    la a0, aligned
    andi a0, a0, 15
    ecall
