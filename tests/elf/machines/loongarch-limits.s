//# about: LoongArch: what does not fit or does not belong together is an error that names it
//# not: bfd mold lld -- the words are weld's
//# obj: far.o = far.s @clang --target=loongarch64-unknown-linux-gnu
//# obj: lonely.o = lonely.s @clang --target=loongarch64-unknown-linux-gnu
//# obj: loongarch-limits.o = loongarch-limits.s @clang --target=loongarch64-unknown-linux-gnu
//# fail: far.o --defsym=far=0x2200020000 -Ttext=0x20000
//# error: R_LARCH_CALL36 is out of range: .* it refers to 'far'
//# error: R_LARCH_B21 is out of range
//# error: R_LARCH_B16 is out of range
//# error: R_LARCH_PCREL20_S2 is out of range: .* is not in \[-0x200000, 0x1fffff\]
//# error: R_LARCH_PCALA_HI20 is out of range
// With the upper half, all is in reach.
//# error-not: whole
//# fail: lonely.o
//# error: R_LARCH_SUB_ULEB128 has no R_LARCH_ADD_ULEB128 before it
//# error: R_LARCH_ADD_ULEB128 has no R_LARCH_SUB_ULEB128 after it
//# error: R_LARCH_PCADD_LO12 names no instruction with the upper half of a distance
//# obj: stack.o = stack.s @clang --target=loongarch64-unknown-linux-gnu
//# fail: stack.o
//# error: R_LARCH_SOP_PUSH_PCREL is not supported
//# obj: unpadded.o = unpadded.s @clang --target=loongarch64-unknown-linux-gnu
//# fail: unpadded.o
//# error: R_LARCH_ALIGN has padding where there is none
//# obj: soft.o = loongarch-limits.s @clang --target=loongarch64-unknown-linux-gnu -mabi=lp64s
//# fail: loongarch-limits.o soft.o
//# error: soft.o: passes floating-point arguments as in the soft-float ABI \(e_flags\), not as in the double-float ABI
//# sh: cp loongarch-limits.o old.o && printf '\003' | dd of=old.o bs=1 seek=48 conv=notrunc 2>/dev/null
//# fail: old.o
//# error: old.o: is of version 0 of the object ABI \(e_flags\); only version 1 is supported
.globl _start
_start: ret
//--- far.s
.globl _start
_start:
    call36 far
    .reloc ., R_LARCH_B21, far
    beqz $a0, 0
    .reloc ., R_LARCH_B16, far
    beq $a0, $a1, 0
    .reloc ., R_LARCH_PCREL20_S2, far
    pcaddi $a0, 0
    la.pcrel $a0, far
whole:
    la.pcrel $a0, $a1, far
//--- lonely.s
.globl _start
_start:
    .reloc ., R_LARCH_PCADD_LO12, _start
    addi.d $a0, $a0, 0
    ret
.data
    .reloc ., R_LARCH_SUB_ULEB128, _start
    .byte 0
    .reloc ., R_LARCH_ADD_ULEB128, _start
    .byte 0
//--- stack.s
.globl _start
_start:
    .reloc ., R_LARCH_SOP_PUSH_PCREL, _start
    ret
//--- unpadded.s
.globl _start
_start:
    ret
    .reloc ., R_LARCH_ALIGN, 12
