//# about: ARM: calls that do not reach, and those that cannot change to the other instruction set, go through thunks, whose names and mapping symbols say what they are
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: armhf
//# except: machine=x86-64
//# link: arm-thunks.o --section-start=.far=0x4000000 -o near
//# run: near
//# exit: 42
//# symbol: __ARMv7ABSLongThunk_far_thumb type=FUNC bind=LOCAL section=.text size=12
//# symbol: __Thumbv7ABSLongThunk_far_arm type=FUNC bind=LOCAL section=.text size=10
//# symbol: __ARMv7ABSLongThunk_near_thumb type=FUNC bind=LOCAL section=.text
//# no-symbol: __Thumbv7ABSLongThunk_near_arm
//# readelf: -s => \$t
//# check: sym(__Thumbv7ABSLongThunk_far_arm) % 2 == 1
//# check: sym(__ARMv7ABSLongThunk_far_thumb) % 2 == 0
//# check: sym(near_thumb) % 2 == 1
// A branch goes as far as it reaches, and one step further it does not.
//# link: arm-thunks.o --section-start=.text=0x8000000 --section-start=.far=0xa000000 -o border
//# run: border
//# exit: 42
//# link: arm-thunks.o --section-start=.far=0x4000000 --pic-veneer -o veneer
//# run: veneer
//# exit: 42
//# symbol: __ARMV7PILongThunk_far_thumb type=FUNC bind=LOCAL section=.text size=16
//# link: -pie arm-thunks.o --section-start=.far=0x4000000 -o pie
//# run: pie
//# exit: 42
//# symbol: __ThumbV7PILongThunk_far_arm type=FUNC bind=LOCAL section=.text size=12
    .syntax unified
    .arch armv7-a
    .text
    .globl _start, near_thumb, near_arm, far_thumb, far_arm, far_label
    .arm
    .type _start, %function
_start:
    mov r0, #0
    bl far_thumb
    bl far_arm
    blx near_thumb
    bl near_thumb_by_jump
    bl near_caller
    mov r7, #1
    svc #0
    .type near_thumb_by_jump, %function
near_thumb_by_jump:
    b near_thumb
    .type near_arm, %function
near_arm:
    add r0, r0, #5
    bx lr
    .thumb
    .type near_thumb, %function
near_thumb:
    adds r0, #2
    bx lr
    .type near_caller, %function
near_caller:
    push {r4, lr}
    bl near_arm
    bl far_arm
    bl far_thumb
    @ Of a label that is no function nothing is known but how it is called.
    bl far_label
    subs r0, #1
    cmp r0, #0
    bl jump_away
    pop {r4, pc}
    .type jump_away, %function
jump_away:
    bne.w far_thumb
    udf #0
    .section .far, "ax", %progbits
    .thumb
    .type far_thumb, %function
far_thumb:
    adds r0, #7
    bx lr
far_label:
    adds r0, #1
    bx lr
    .balign 4
    .arm
    .type far_arm, %function
far_arm:
    add r0, r0, #6
    bx lr
