//# about: RISC-V: what does not fit or does not belong together is an error that names it
//# not: bfd mold lld -- the words are weld's
//# machines: riscv64
//# except: machine=x86-64
//# obj: far.o = far.s @clang
//# obj: branch.o = branch.s @clang
//# obj: lonely.o = lonely.s @clang
//# obj: riscv-limits.o = riscv-limits.s @clang
//# fail: --no-relax far.o --defsym=far=0x80001000 -Ttext=0x1000
//# error: far.o:\(.text\+0x0\): R_RISCV_CALL_PLT is out of range: .* it refers to 'far'
//# fail: --no-relax branch.o --defsym=far=0x80001000 -Ttext=0x1000
//# error: R_RISCV_JAL is out of range: .* is not in \[-0x100000, 0xfffff\]
//# error: R_RISCV_BRANCH is out of range
//# fail: lonely.o
//# error: R_RISCV_PCREL_LO12_I names no instruction with the upper half of a distance
//# error: R_RISCV_SUB_ULEB128 has no R_RISCV_SET_ULEB128 before it
//# obj: unpadded.o = unpadded.s @clang
//# fail: unpadded.o
//# error: R_RISCV_ALIGN has padding where there is none
//# obj: soft.o = riscv-limits.s @clang -mabi=lp64 -march=rv64gc
//# fail: riscv-limits.o soft.o
//# error: soft.o: passes floating-point arguments as in the soft-float ABI
.globl _start
_start: ret
//--- far.s
.globl _start
_start: call far
//--- branch.s
.globl _start
_start:
    jal far
    .reloc ., R_RISCV_BRANCH, far
    .word 0x00b50063
//--- lonely.s
.globl _start
_start:
    .reloc ., R_RISCV_PCREL_LO12_I, _start
    addi a0, a0, 0
    ret
.data
    .reloc ., R_RISCV_SUB_ULEB128, _start
    .byte 0
//--- unpadded.s
.globl _start
_start:
    .reloc ., R_RISCV_ALIGN, 1000
    ret
