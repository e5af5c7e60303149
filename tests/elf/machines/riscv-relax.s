//# about: RISC-V: calls, upper halves and padding get shorter, and everything that counts bytes counts what is left
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: riscv64
//# except: machine=x86-64
//# obj: riscv-relax.o = riscv-relax.s @clang
//# obj: far.o = far.s @clang
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
// What is kept says what code has become.
//# [weld] link: -z separate-code --emit-relocs riscv-relax.o
//# [weld] reloc: JAL sym=aligned in=.rela.text count=1
//# [weld] reloc: RVC_JUMP sym=aligned in=.rela.text count=1
//# [weld] no-reloc: CALL_PLT
// A script computes what is called: nothing is shorter than its value allows.
//# [weld] link: far.o -T far.lds
//# [weld] check: symsize(_start) == 12
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
//--- far.s
.globl _start
.type _start, @function
_start:
    jump there, t2
    jump there, t3
    call there
1:
.size _start, 1b - _start
//--- far.lds
SECTIONS { .text 0x100000 : { *(.text) } }
there = 8;
