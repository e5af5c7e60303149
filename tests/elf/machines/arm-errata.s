//# about: ARM: Thumb branches over the end of a page, which early Cortex-A8 processors execute wrongly, go by way of others: all forms, with relocations and without, through thunks, cut between what is written at once, with instructions in the other byte order
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: armhf
//# except: machine=x86-64
//# link: arm-errata.o --section-start=.text=0x20000 --fix-cortex-a8 --no-fix-cortex-a8 -o plain
//# run: plain
//# exit: 42
//# no-symbol: __CortexA8657417_20FFE
//# disasm: page0 => b\S*\s+0x20002 <back0>
//# link: arm-errata.o --section-start=.text=0x20000 --fix-cortex-a8 -Map=map -o fixed
//# run: fixed
//# exit: 42
//# symbol: __CortexA8657417_20FFE type=FUNC bind=LOCAL section=.text size=4
//# symbol: __CortexA8657417_21FFE
//# symbol: __CortexA8657417_22FFE
//# symbol: __CortexA8657417_23FFE
//# symbol: __CortexA8657417_24FFE
//# symbol: __CortexA8657417_ABFFE
// The branch before, the target in the other page, the instruction of 16 bits, and data.
//# no-symbol: __CortexA8657417_25FFE
//# no-symbol: __CortexA8657417_26FFE
//# no-symbol: __CortexA8657417_27FFE
//# no-symbol: __CortexA8657417_28FFE
// The end of another instruction in front.
//# no-symbol: __CortexA8657417_29FFE
//# disasm: page0 => b\S*\s+0x\S+ <__CortexA8657417_20FFE>
//# disasm: page1 => beq\S*\s+0x\S+ <__CortexA8657417_21FFE>
//# disasm: page2 => bl\s+0x\S+ <__CortexA8657417_22FFE>
//# disasm: page3 => blx\s+0x\S+ <__CortexA8657417_23FFE>
//# disasm: page4 => bl\s+0x\S+ <__CortexA8657417_24FFE>
//# disasm: __CortexA8657417_20FFE => b\S*\s+0x20002 <back0>
//# check: sym(__CortexA8657417_20FFE) % 2 == 1
//# check: sym(__CortexA8657417_23FFE) % 2 == 0
//# disasm: __CortexA8657417_23FFE => b\s+0x23008 <arm3>
//# file: map => <internal>:\(\.text\.thunk\)\n(.*\n)*.* __CortexA8657417_20FFE
// Pools are near.
//# link: arm-errata.o --section-start=.text=0x20000 --fix-cortex-a8 --branch-reach=0x100000 --section-start=.far=0x4000000 -pie -o far
//# run: far
//# exit: 42
//# sh: $LD --fix-cortex-a8 -r arm-errata.o -o joined.o && $LD --fix-cortex-a8 joined.o -o joined && { code=0; $RUN ./joined || code=$?; [ $code = 42 ]; } && nm joined | grep __CortexA8657417_ >/dev/null
// Where the other branch would be is too far from a conditional one.
//# sh: printf '.thumb\n.syntax unified\n.globl _start\n.balign 4096\n.thumb_func\n_start: nop\n.space 4088\n1: nop.w\nbeq.w 1b\n.space 0x200000\n' | $AS -march=armv7-a - -o large.o
//# fail: --fix-cortex-a8 large.o -o large
//# error: large.o:\(.text\+0xffe\): the section is so large that no branch leads out of it
//# sh-fail: printf '' | as - -o native.o && $LD --fix-cortex-a8 native.o -o native
//# [weld] stderr-re: --fix-cortex-a8 is for ARM, not for x86-64
//# sh: clang-22 --target=armv7eb-linux-gnueabi -c $(ls -d ./arm-errata.s) -o big.o && $LD --be8 --fix-cortex-a8 big.o --section-start=.text=0x20000 -o be8 && { code=0; qemu-armeb ./be8 || code=$?; [ $code = 42 ]; } && nm be8 | grep __CortexA8657417_ABFFE >/dev/null
    .syntax unified
    .arch armv7-a
    .text
    .thumb
    .balign 4096
    .globl _start
    .type _start, %function
    nop
    .thumb_func
back0:
    adds r0, r0, #3
    b.w page1
    .thumb_func
_start:
    movs r0, #0
    b.w page0
    .org 0xffa
    .thumb_func
page0:
    nop.w
    b.w back0
@ Of a symbol that the linker knows.
    .globl back1
    .thumb_func
    .type back1, %function
back1:
    adds r0, r0, #5
    b.w page2
    .org 0x1ff8
    .thumb_func
page1:
    cmp r0, r0
    nop.w
    beq.w back1
    bkpt 0
    .thumb_func
back2:
    adds r0, r0, #7
    bx lr
    .org 0x2ffa
    .thumb_func
page2:
    nop.w
    bl back2
    b.w page3
    .balign 4
    .arm
    .globl arm3
    .type arm3, %function
arm3:
    add r0, r0, #11
    bx lr
    .thumb
    .org 0x3ffa
    .thumb_func
page3:
    nop.w
    blx arm3
    b.w page4
    .globl back4
    .thumb_func
    .type back4, %function
back4:
    adds r0, r0, #13
    bx lr
    .org 0x4ffa
    .thumb_func
page4:
    nop.w
    bl back4
    bl many
    movs r7, #1
    svc #0
    .thumb_func
not5:
    bx lr
    .org 0x5ffa
    b.w not5
    b.w not5
    .org 0x6ffa
    nop.w
    b.w not7
    .thumb_func
not7:
    bx lr
    .org 0x7ffa
    nop
    nop
    b.w not7
    .thumb_func
not8:
    bx lr
    .balign 4
    .org 0x8ff8
@ What looks like such code.
    .short 0, 0xf3af, 0x8000, 0xf7ff, 0xbffc, 0
    .thumb_func
not9:
    bx lr
    .balign 4
    .org 0x9ff8
@ adc.w r0, r0, r0 and others, whose second halves look like first ones.
    .inst.w 0xf040f3af
    .inst.n 0x8000
    .inst.w 0xf7ffbffc
    bx lr
    .balign 4096
@ Without relocations, and larger than what is written at once: the branch is over the end of that, too.
    .section .text.many, "ax", %progbits
    .balign 4096
    .globl many
    .type many, %function
    .thumb_func
many:
    push {r4, lr}
    b.w 1f
    .org 0x7f100
2:  adds r0, r0, #3
    pop {r4, pc}
    .org 0x7fffa
1:  nop.w
    b.w 2b
    .space 0x300000
    .section .far, "ax", %progbits
    .thumb
    .globl unused
    .type unused, %function
    .thumb_func
unused:
    bx lr
