//# about: ARM: values that do not fit, or cannot be made of the parts that instructions have, are refused; so are branches that cannot change to the other instruction set
//# not: bfd mold -- those that are installed are for this machine's programs
//# sh: arm-linux-gnueabihf-as arm-limits.s -o limits.o
//# sh: $LD --defsym=near=_start+0x40 --defsym=half=0xffff --defsym=byte=0xff limits.o -o good
//# in: good
//# bytes: sym(_start) = 38 00 8f e2 34 00 9f e5
//# [weld] sh-fail: $LD --defsym=near=_start+0x1234 --defsym=half=0x10000 --defsym=byte=-0x81 limits.o -o bad
//# [weld] stderr-re: R_ARM_ALU_PC_G0: the instruction cannot hold 0x122c; it refers to 'near'
//# [weld] stderr-re: R_ARM_LDR_PC_G0: the instruction cannot hold 0x1228; it refers to 'near'
//# [weld] stderr-re: R_ARM_ABS16 is out of range: 0x10000 is not in \[-0x8000, 0xffff\]; it refers to 'half'
//# [weld] stderr-re: R_ARM_ABS8 is out of range: .* is not in \[-0x80, 0xff\]; it refers to 'byte'
//# sh: printf '.syntax unified; .globl _start; .arch armv7-a; .thumb; .type _start, %%function; _start: nop; .reloc ., R_ARM_THM_JUMP11, f; .inst.n 0xe7fe; .balign 4; .arm; .type f, %%function; f: bx lr' | arm-linux-gnueabihf-as - -o short.o
//# [weld] sh-fail: $LD short.o -o bad
//# [weld] stderr-re: R_ARM_THM_JUMP11 does not change to the instruction set of 'f'
// v6-M has no code that makes a distance without data that are read.
//# sh: printf '.syntax unified; .section .low, "axy"; .thumb; .globl _start; .type _start, %%function; _start: bl far; .section .high, "axy"; .thumb; .type far, %%function; .globl far; far: bx lr' | llvm-mc-22 -triple=thumbv6m-none-eabi -arm-add-build-attributes -filetype=obj - -o unread.o
//# sh: $LD --no-rosegment --section-start=.low=0x100000 --section-start=.high=0x12345678 unread.o -o unread
//# sh: echo 'SECTIONS { .low 0x11345670 : { *(.low) } .high 0x12345678 : { *(.high) } }' > far.t
//# [weld] sh-fail: $LD -pie -T far.t unread.o -o bad
//# [weld] stderr-re: R_ARM_THM_CALL is out of range: .*; it refers to 'far'
// Calls that change to the other instruction set at a label, which thunks do not; and ARM code that lies in no word.
//# sh: printf '.syntax unified; .globl _start; .arch armv7-a; .arm; .type _start, %%function; _start: blx lab; bl word; .section .far, "ax"; .thumb; .globl lab; lab: bx lr' | arm-linux-gnueabihf-as - -o label.o
//# sh: $LD --defsym=word=0x10004 label.o -o label
//# [weld] sh-fail: $LD --section-start=.far=0x8000000 --defsym=word=0x10004 label.o -o bad
//# [weld] stderr-re: label.o:\(.text\+0x0\): R_ARM_CALL does not change to the instruction set of 'lab'
//# [weld] sh-fail: $LD --defsym=word=0x10001 label.o -o bad
//# [weld] stderr-re: label.o:\(.text\+0x4\): R_ARM_CALL: 0x10001 is not a multiple of 4; it refers to 'word'
//# sh: printf '.syntax unified; .globl _start; .arch armv7-a; .thumb; .type _start, %%function; _start: blx lab; .section .far, "ax"; .arm; .globl lab; lab: bx lr' | arm-linux-gnueabihf-as - -o label.o
//# [weld] sh-fail: $LD --section-start=.far=0x8000000 label.o -o bad
//# [weld] stderr-re: R_ARM_THM_CALL does not change to the instruction set of 'lab'
//# sh: printf '.globl _start; _start: .reloc ., R_ARM_TLS_GOTDESC, x; .word 0; .section .tdata, "awT"; x: .word 0' | arm-linux-gnueabihf-as - -o tls.o
//# [weld] sh-fail: $LD tls.o -o bad
//# [weld] stderr-re: R_ARM_TLS_GOTDESC is not supported
// How floating-point arguments are passed.
//# sh: for n in 1 2; do echo ".eabi_attribute 28, $n" | arm-linux-gnueabihf-as - -o args$n.o; done; echo | arm-linux-gnueabihf-as - -o args0.o
//# [weld] sh-fail: $LD args1.o args2.o -o bad
//# [weld] stderr-re: args2.o:\(.ARM.attributes\): the passing of floating-point arguments \(Tag_ABI_VFP_args\) is 2, but 1 in args1.o
//# sh: for n in 0 1 2; do $LD -shared -m armelf_linux_eabi args$n.o -o args.so && llvm-readelf-22 -h args.so | grep Flags; done
//# stdout-re: 0x5000200.*\n.*0x5000400.*\n.*0x5000000
    .syntax unified
    .globl _start
    .reloc ., R_ARM_ALU_PC_G0, near
_start:
    .inst 0xe24f0008
    .reloc ., R_ARM_LDR_PC_G0, near
    .inst 0xe51f0008
    .data
    .reloc ., R_ARM_ABS16, half
    .short 0
    .reloc ., R_ARM_ABS8, byte
    .byte 0
