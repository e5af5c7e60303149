//# about: MIPS: the GOT of a library: words with addresses and pages without relocations, each address once, then those of symbols in the order of the end of .dynsym; what loaders are told of it
//# not: bfd mold lld -- they have other words there
//# sh: mipsel-linux-gnu-as -KPIC mips-got.s -o got.o
//# link: -shared got.o -o out.so
//# in: out.so
//# dynamic: HASH
//# no-dynamic: GNU_HASH
//# no-section: .gnu.hash
// Two words for the loader, the page, the address of a hidden function; then two symbols.
//# check: dyn(1879048202) == 4
//# check: dyn(1879048209) - dyn(1879048211) == 2
//# check: size(.got) == 6 * 4
//# check: u32(addr(.got) + 4) == 0x80000000
//# bytes: addr(.got) + 0 = 00 00 00 00
//# check: sym(_gp) == addr(.got) + 0x7ff0
//# no-reloc: * in=.got
//# segment: 0x70000003
//# segment: 0x70000000
    .text
    .globl first, second
    .type first, @function
    .type second, @function
    .type own, @function
    .hidden own
    .globl own
    .ent first
first:
    .set noreorder
    .cpload $25
    .set reorder
    lw $2, %got(local)($28)
    addiu $2, $2, %lo(local)
    lw $3, %got(local + 4)($28)
    addiu $3, $3, %lo(local + 4)
    lw $25, %call16(own)($28)
    lw $25, %call16(second)($28)
    lw $4, %got(elsewhere)($28)
    lui $5, %hi(_gp_disp)
    addiu $5, $5, %lo(_gp_disp)
    jr $31
    .end first
second:
    jr $31
own:
    jr $31
    .data
    .space 0x9000
local:
    .word first, 0
    .word _gp
