//# about: AArch64: adrp, add of an address within a megabyte become nop, adr, where they follow one another and make it in one register
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# link: aarch64-near-addresses.o --section-start=.text=0x300000 --section-start=.near=0x200004 --section-start=.far=0x40000c -o border
//# disasm: first => nop\s.*adr\s+x0, 0x200004
//# disasm: first => adrp\s+x1, 0x400000.*\s.*add\s+x1, x1
// Nothing is behind the first instruction, or between the two, that uses another register.
//# disasm: others => adrp\s+x2.*\s.*add\s+x3, x2
//# disasm: others => adrp\s+x4.*\s.*nop\s.*add\s+x4, x4
//# disasm: others => adrp\s+x5.*\s.*add\s+x5, x5
//# link: aarch64-near-addresses.o --section-start=.text=0x300000 --section-start=.near=0x200003 --section-start=.far=0x40000b -o further
//# disasm: first => adrp\s+x0, 0x200000
//# disasm: first => nop\s.*adr\s+x1, 0x40000b
//# link: aarch64-near-addresses.o --no-relax -o plain
//# disasm: first => adrp\s+x0.*\s.*add\s+x0, x0
// Tools that read relocations find the instructions that these are for.
//# link: aarch64-near-addresses.o --emit-relocs -o kept
//# disasm: first => adrp\s+x0.*\s.*add\s+x0, x0
.globl _start, first, others
.type first, %function
.type others, %function
_start:
first:
  adrp x0, near
  add x0, x0, :lo12:near
  adrp x1, far
  add x1, x1, :lo12:far
  ret
.size first, .-first
others:
  adrp x2, near
  add x3, x2, :lo12:near
  adrp x4, near
  nop
  add x4, x4, :lo12:near
  adrp x5, near
  add x5, x5, :lo12:near+4
  ret
.size others, .-others
.section .near, "a"
near: .word 1, 2
.section .far, "a"
far: .word 3
