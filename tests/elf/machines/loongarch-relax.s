//# about: LoongArch: calls, addresses, slots, offsets of thread-local variables and padding get shorter, and everything that counts bytes counts what is left
//# not: bfd mold -- those that are installed are for this machine's programs
//# obj: loongarch-relax.o = loongarch-relax.s @clang --target=loongarch64-unknown-linux-gnu -mrelax
//# obj: far.o = far.s @clang --target=loongarch64-unknown-linux-gnu -mrelax
//# link: --no-relax -z separate-code loongarch-relax.o
//# check: sym(aligned) % 32 == 0
//# check: symsize(_start) == 88
// Slots and descriptors of variables that are known are not needed; without --relax code that loads stays.
//# [weld] disasm: _start => pcaddu18i \$ra, 0\njirl \$ra, \$ra, 96 .*\npcaddu18i \$t8, 0\njirl \$zero
//# check: sym(limited) == sym(aligned) + 32
//# sh: qemu-loongarch64 ./out
//# link: -z separate-code loongarch-relax.o
//# check: sym(aligned) % 32 == 0
//# [weld] check: symsize(_start) == 36
// bl; b; pcaddi twice; offsets by one instruction.
//# [weld] disasm: _start => bl 64 <aligned>\nb 60 <aligned>\npcaddi \$a0, \d+\npcaddi \$a1, \d+\nori \$a2, \$zero, 8\nori \$a0, \$zero, 8\naddi.d \$a3, \$tp, 8\nld.d \$a4, \$tp, 0\nbl 32 
//# [weld] no-section: .got
// The difference of two labels around what went, as a word, as LEB128 and as six bits.
//# [weld] check: u32(sym(differences)) == 36
//# [weld] check: u8(sym(differences) + 4) == 0xa4
//# [weld] check: u8(sym(differences) + 5) == 0
//# [weld] check: u8(sym(differences) + 6) == 0xe4
//# [weld] check: u8(sym(differences) + 7) == 7 + 36
//# check: u64(sym(differences) + 8) == sym(aligned)
// Padding of at most 8 bytes, which suffice before code gets shorter.
//# [weld] check: sym(limited) == sym(aligned) + 20
//# sh: qemu-loongarch64 ./out
// What is kept says what code has become.
//# [weld] link: -z separate-code --emit-relocs loongarch-relax.o
//# [weld] reloc: B26 sym=aligned in=.rela.text count=3
//# [weld] reloc: PCREL20_S2 sym=differences in=.rela.text count=3
//# [weld] no-reloc: CALL36
// Where it does not reach, it stays.
//# [weld] link: --section-start=.data=0x400000 loongarch-relax.o
//# [weld] disasm: _start => bl \d+ <aligned>\nb \d+ <aligned>\npcalau12i \$a0, .*\naddi.d \$a0, .*\npcalau12i \$a1, .*\naddi.d \$a1
//# sh: qemu-loongarch64 ./out
// A script computes what is called: nothing is shorter than its value allows.
//# [weld] link: far.o -T far.lds
//# [weld] check: symsize(_start) == 12
.globl _start, aligned, differences, limited
.text
.type _start, @function
_start:
    call36 aligned
    tail36 $t8, aligned
    la.pcrel $a0, differences
    la.got $a1, differences
    la.tls.ie $a2, variable
    la.tls.desc $a0, variable
    lu12i.w $a3, %le_hi20_r(variable)
    .reloc ., R_LARCH_TLS_LE_ADD_R, variable
    .reloc ., R_LARCH_RELAX, 0
    add.d $a3, $a3, $tp
    addi.d $a3, $a3, %le_lo12_r(variable)
    lu12i.w $a4, %le_hi20_r(first)
    .reloc ., R_LARCH_TLS_LE_ADD_R, first
    .reloc ., R_LARCH_RELAX, 0
    add.d $a4, $a4, $tp
    ld.d $a4, $a4, %le_lo12_r(first)
    call36 aligned
end:
.size _start, end - _start
.p2align 5
.type aligned, @function
aligned:
    la.got $a0, differences
    ld.wu $a0, $a0, 0
    move $a0, $zero
    move $a1, $zero
    li.w $a7, 93
    .p2align 4,,8
limited:
    syscall 0
    ret
.size aligned, . - aligned
.data
.p2align 3
differences:
    .word end - _start
    .reloc ., R_LARCH_ADD_ULEB128, end
    .reloc ., R_LARCH_SUB_ULEB128, _start
    .byte 0x80, 0
    .reloc ., R_LARCH_ADD6, end
    .reloc ., R_LARCH_SUB6, _start
    .byte 0xc0
    .reloc ., R_LARCH_ADD8, end
    .reloc ., R_LARCH_SUB8, _start
    .byte 7
    .dword aligned
.section .tdata,"awT"
first: .dword 1
variable: .dword 2
//--- far.s
.globl _start
.type _start, @function
_start:
    call36 far
    ret
.size _start, . - _start
//--- far.lds
SECTIONS {
  . = 0x10000;
  .text : { *(.text) }
  far = ADDR(.text) + 0x8000000;
}
