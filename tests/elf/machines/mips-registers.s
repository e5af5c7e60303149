//# about: MIPS: .reginfo of the output has the registers of all objects and gp, .MIPS.abiflags what all need; -r keeps both
//# sh: mips-linux-gnu-as mips-registers.s -o a.o
//# sh: printf '.globl g\ng: addu $5, $6, $7\n' | mips-linux-gnu-as - -o b.o
//# not: bfd mold lld -- ld.lld asks for an entry of other objects
//# link: a.o b.o -o out
//# check: u32(addr(.reginfo)) == 0x000000fe
//# check: u32(addr(.reginfo) + 20) == sym(_gp)
//# section: .reginfo size=24 align=4
//# section: .MIPS.abiflags size=24 align=8
//# sh: $LD -r a.o b.o -o r.o && $LD r.o -o out2 && cmp <(llvm-objcopy-22 -O binary --only-section=.reginfo out -) <(llvm-objcopy-22 -O binary --only-section=.reginfo out2 -)
    .globl __start
__start:
    addu $2, $3, $4
    lui $1, %hi(_gp)
    addiu $1, $1, %lo(_gp)
