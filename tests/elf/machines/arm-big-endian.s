//# about: ARM, big endian: code, words, addends and thunks have that order; it runs
//# not: bfd mold -- those that are installed are for this machine's programs
//# sh: llvm-mc-22 -triple=armv7eb-linux-gnueabi -arm-add-build-attributes -filetype=obj arm-big-endian.s -o be.o
//# sh: $LD be.o --section-start=.far=0x4000000 -o be && { qemu-armeb ./be || [ $? = 42 ]; }
//# in: be
//# symbol: __ARMv7ABSLongThunk_ff type=FUNC bind=LOCAL section=.text size=12
//# readelf: -h => big endian
//# sh: $LD -r be.o -o joined.o && $LD joined.o --section-start=.far=0x4000000 -o again && { qemu-armeb ./again || [ $? = 42 ]; }
 .syntax unified
 .globl _start
 .arm
 .type _start,%function
_start:
 ldr r4, =value
 ldr r0, [r4]
 bl tf
 blx tf
 bl ff
 b out
 .ltorg
 .thumb
 .type tf,%function
tf: adds r0, #1
 bx lr
 .arm
 .type out,%function
out: mov r7,#1
 svc #0
 .section .far,"ax",%progbits
 .thumb
 .type ff,%function
ff: adds r0,#1
 bx lr
 .data
value: .word 39
