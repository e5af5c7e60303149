//# about: AArch64: if all code marks where indirect branches end, PLT entries do so, too, and the output says so
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# link: -shared aarch64-bti.o
//# section: .plt size=56
//# readelf: -d => AARCH64_BTI_PLT
//# readelf: -n => aarch64 feature: BTI
//# disasm: .plt => bti c
//# sh: printf '.text; nop' | $AS - -o plain.o
//# link: -shared aarch64-bti.o plain.o
//# section: .plt size=48
//# readelf-not: -n => BTI
//# no-section: .note.gnu.property
.globl f
f:
    bti c
    b elsewhere
.section .note.gnu.property,"a"
.balign 8
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000000, 4, 1, 0
.section .note.GNU-stack,"",%progbits
