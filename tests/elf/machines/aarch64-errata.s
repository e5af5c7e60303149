//# about: AArch64: instructions that early Cortex-A53 processors execute wrongly are carried out elsewhere
//# not: lld bfd mold -- they find other sequences, or give no names
//# machines: aarch64
//# except: machine=x86-64
// As it is written: the end of the page, the access that uses its address, and a sum.
//# link: aarch64-errata.o --section-start=.text=0x20000 -o plain
//# run: plain
//# exit: 42
//# bytes: 0x21000 = 02 ?? 40 f9
//# no-symbol: __CortexA53843419_21000
//# link: aarch64-errata.o --section-start=.text=0x20000 --fix-cortex-a53-843419 -Map=map -o address
//# run: address
//# exit: 42
//# symbol: __CortexA53843419_21000 type=FUNC bind=LOCAL section=.text size=8
//# disasm: _start => adrp
//# disasm: __CortexA53843419_21000 => ldr\s+x2, \[x0
//# bytes: 0x21003 = 14
//# bytes: sym(data) + 0xff8 = 00 00 00 90 21 00 40 f9 00 04 40 f9
//# file: map => <internal>:\(\.text\.thunk\)\n.* __CortexA53843419_21000
// What follows is as far into a page as before.
//# check: size(.text) % 0x1000 == 0xc
//# link: aarch64-errata.o --section-start=.text=0x20000 --fix-cortex-a53-835769 --emit-relocs -o sum
//# run: sum
//# exit: 42
//# no-symbol: __CortexA53843419_21000
//# symbol: __CortexA53835769_21010 type=FUNC bind=LOCAL section=.text size=8
//# disasm: __CortexA53835769_21010 => madd
//# disasm: big => ^\S+:\s+.*ldr
//# bytes: sym(big) + 7 = 14
//# link: -pie aarch64-errata.o --section-start=.text=0x20000 --fix-cortex-a53-835769 --fix-cortex-a53-843419 --branch-reach=0x10000 -o both
//# run: both
//# exit: 42
//# symbol: __CortexA53843419_21000
//# symbol: __CortexA53835769_21010
//# link: aarch64-errata.o --section-start=.text=0x20000 --fix-cortex-a53-843419 --no-fix-cortex-a53-843419 -o neither
//# no-symbol: __CortexA53843419_21000
//# sh-fail: printf '' | as - -o native.o && $LD --fix-cortex-a53-843419 native.o -o native
//# [weld] stderr-re: --fix-cortex-a53-843419 is for AArch64, not for x86-64
.globl _start
.text
.balign 4096
.space 4096 - 8
_start:
    adrp x0, value
    ldr x1, [sp]
    ldr x2, [x0, :lo12:value]
    mov x5, #1
    mov x6, #1
    ldr x1, [sp]
    madd x0, x2, x5, x6
    bl big
    mov x8, #93
    svc #0
.balign 4096
data:
.space 4096 - 8
.word 0x90000000, 0xf9400021, 0xf9400400
.section .text.big,"ax",@progbits
// Without relocations, and as large as what is written by itself.
.balign 4096
.globl big
big:
    ldr x1, [sp]
    madd x0, x5, x6, x0
    ret
.space 0x20000
.section .text.last,"ax",@progbits
.balign 4096
.space 12
.data
.balign 8
value: .quad 40
