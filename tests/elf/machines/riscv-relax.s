//# about: RISC-V: calls, upper halves and padding get shorter, and everything that counts bytes counts what is left
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: riscv64
//# except: machine=x86-64
//# obj: riscv-relax.o = riscv-relax.s @clang
//# link: --no-relax -z separate-code riscv-relax.o
//# check: sym(aligned) % 16 == 0
//# check: symsize(_start) == 24
//# [weld] disasm: _start => auipc ra, 0x0\njalr 0x\w+\(ra\) .*\nauipc t1, 0x0\njr
//# link: -z separate-code riscv-relax.o
//# check: sym(aligned) % 16 == 0
//# check: symsize(_start) == 14
// jal ra; c.j; the load of a slot becomes an addition.
//# disasm: _start => jal 0x\w+ <aligned>\nj 0x\w+ <aligned>
//# [weld] disasm: aligned => auipc a0, 0x1\naddi a0, a0, -0x10
//# [weld] no-section: .got
// The difference of two labels around what went, as a word, as LEB128 and as six bits.
//# check: u32(sym(differences)) == 14
//# check: u8(sym(differences) + 4) == 0x8e
//# check: u8(sym(differences) + 5) == 0
//# check: u8(sym(differences) + 6) == 0xce
//# check: u64(sym(differences) + 8) == sym(aligned)
//# run: ./out
//# exit: 0
.option rvc
.globl _start, aligned, differences
.text
.type _start, @function
_start:
    call aligned
    tail aligned
    lla a0, differences
end:
.size _start, end - _start
.p2align 4
.type aligned, @function
aligned:
    la a0, differences
    lw a0, 0(a0)
    addi a0, a0, -14
    li a7, 93
    ecall
.size aligned, . - aligned
.data
.p2align 3
differences:
    .word end - _start
    .reloc ., R_RISCV_SET_ULEB128, end
    .reloc ., R_RISCV_SUB_ULEB128, _start
    .byte 0x80, 0
    .reloc ., R_RISCV_SET6, end
    .reloc ., R_RISCV_SUB6, _start
    .byte 0xc0
    .byte 0
    .quad aligned
