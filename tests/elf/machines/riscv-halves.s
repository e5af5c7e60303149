//# about: RISC-V: lower halves find their upper ones, be they gone and in another section, or far away in a large one
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: riscv64
//# except: machine=x86-64
//# obj: riscv-halves.o = riscv-halves.s @clang
//# obj: large.o = large.s @clang -mno-relax
//# link: --relax-gp riscv-halves.o
//# disasm: _start => .*\n.*\nlw a0, -0x800\(gp\)\nlui a5, 0xdead\n
//# disasm: cold => lw a1, -0x800\(gp\)
//# run: ./out
//# exit: 0
// Code of some MiB is written in parts.
//# link: large.o
//# run: ./out
//# exit: 0
.section .text.hot, "ax", @progbits
.globl _start, cold
_start:
.option push
.option norelax
    lla gp, __global_pointer$
.option pop
    lui a5, %hi(value)
    lw a0, %lo(value)(a5)
    lui a5, 0xdead
    lui a5, %hi(value)
    j cold
.section .text.cold, "ax", @progbits
cold:
    lw a1, %lo(value)(a5)
    sub a0, a0, a1
    li a7, 93
    ecall
.section .sdata, "aw", @progbits
value: .word 7
//--- large.s
.globl _start
_start:
.rept 6000
1:  auipc a0, %pcrel_hi(value)
    j 3f
    .zero 1024
3:  lw a0, %pcrel_lo(1b)(a0)
.endr
    addi a0, a0, -7
    li a7, 93
    ecall
.data
value: .word 7
