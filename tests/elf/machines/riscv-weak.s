//# about: RISC-V: a weak symbol that nothing defines has the address 0 wherever the code is; labels of compilers are no symbols
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: riscv64
//# except: machine=x86-64
//# obj: riscv-weak.o = riscv-weak.s @clang
//# [weld] link: riscv-weak.o -Ttext=0x90000000
//# [weld] disasm: _start => lui a0, 0x0\n(mv a0, a0|addi a0, a0, 0x0)\n
//# [weld] no-symbol: .Lvalue
//# [weld] run: ./out
//# [weld] exit: 5
//# [weld] link: riscv-weak.o -Ttext=0x90000000 --no-relax --discard-none
//# [weld] symbol: .Lvalue type=NOTYPE
//# [weld] run: ./out
//# [weld] exit: 5
//# [weld] link: riscv-weak.o machine.lds --emit-relocs
//# [weld] symbol: .Lvalue type=NOTYPE
//# [weld] fail: riscv-weak.o -pie -Ttext=0x90000000
//# [weld] error: R_RISCV_PCREL_HI20 cannot give 'nobody', which is undefined and weak, the address 0 in position-independent output
// What is not loaded is no part of an image without headers.
//# [weld] link: riscv-weak.o -Ttext=0x10000 -Tdata=0x10040 -N --oformat=binary -o raw.bin
//# [weld] no-verify: no ELF file
//# [weld] sh: stat -c %s raw.bin
//# [weld] stdout: 72
.weak nobody
.globl _start
_start:
    lla a0, nobody
    lla a1, nobody + 5
    bnez a0, .Lwrong
    mv a0, a1
    li a7, 93
    ecall
.Lwrong:
    lla a0, .Lvalue
    lw a0, 0(a0)
    li a7, 93
    ecall
.data
    .word 1
.Lvalue: .word 2
//--- machine.lds
OUTPUT_ARCH("riscv") OUTPUT_FORMAT("elf64-littleriscv")
