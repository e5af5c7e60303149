//# about: ARM, --be8: instructions are little endian, data big endian; of ARM and Thumb code, literals, large sections, thunks and the PLT, in both instruction sets; it runs
//# not: bfd mold -- those that are installed are for this machine's programs
//# sh: assemble() { llvm-mc-22 -triple=armv7eb-linux-gnueabi -arm-add-build-attributes -filetype=obj $1 -o $2; }; assemble arm-be8.s be8.o; assemble added.txt lib.o; llvm-objcopy-22 -N '$t' -N '$d' --redefine-sym added=none lib.o gone.o
//# sh: $LD --be8 be8.o lib.o --section-start=.far=0x4000000 -o prog && { code=0; qemu-armeb ./prog || code=$?; [ $code = 42 ]; }
//# sh: llvm-readelf-22 -h prog > flags; grep 'Flags: *0x5800200' flags && llvm-objdump-22 -d --triple=armv7 prog > code && grep -A3 '<_start>:' code | grep 'ldr.*r4, \[pc' >/dev/null
//# sh: $LD --be8 -shared lib.o -soname lib.so -o lib.so && $LD --be8 be8.o lib.so --section-start=.far=0x4000000 -o dynamic
//# sh: llvm-objdump-22 -d --triple=armv7eb --section=.plt dynamic > plt && grep -q 'str.*lr, \[sp, #-0x4\]!' plt && [ $(grep -c 'ldr.*pc, \[r12' plt) = 1 ]
//# sh: $LD --be8 -r be8.o lib.o -o joined.o && llvm-readelf-22 -h joined.o > flags; grep 'Flags: *0x5000000' flags && $LD --be8 joined.o --section-start=.far=0x4000000 -o again && { code=0; qemu-armeb ./again || code=$?; [ $code = 42 ]; }
//# sh: ! $LD --be8 be8.o lib.o gone.o --section-start=.far=0x4000000 -o prog 2> said && grep 'gone.o:(.text): --be8: no mapping symbol .* says which instructions none has' said && { code=0; qemu-armeb ./prog || code=$?; [ $code = 42 ]; }
//# sh: llvm-mc-22 -triple=armv7-linux-gnueabi -filetype=obj added.txt -o little.o && ! $LD --be8 little.o -e added -o little 2> said && grep -e '--be8 is for ARM (big endian), not for ARM' said
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
 bl added
 bl large
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
@ Larger than what is written at once.
 .section .text.large,"ax",%progbits
 .type large,%function
large: b 1f
 .space 0x300000
1: sub r0, r0, #3
 bx lr
 .section .far,"ax",%progbits
 .thumb
 .type ff,%function
ff: movw r1, #0x101
 movt r1, #0x7f01
 adds r0,#1
 bx lr
 .data
value: .word 39
//--- added.txt
 .syntax unified
 .thumb
 .globl added
 .type added,%function
added: ldr r1, 1f
 adds r0, r1
 bx lr
 .p2align 2
1: .word 3
