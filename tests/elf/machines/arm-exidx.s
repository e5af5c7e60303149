//# about: ARM: one table says how to unwind from code, in the order of that: what says the same is left out, code without one stops the unwinder, and so does the end
//# not: bfd mold -- those that are installed are for this machine's programs
//# sh: arm-linux-gnueabihf-as arm-exidx.s -o a.o
//# sh: $LD a.o -o table
//# in: table
// one; two says the same and is left out; three has a table of its own; four has none; five; then routine, which has none; the end.
//# check: size(.ARM.exidx) == 48
//# readelf: -l => EXIDX .*0x00030 0x00030 R
//# check: link(.ARM.exidx) == index(.text)
//# check: u32(sym(_start) + 12) == addr(.ARM.exidx)
//# check: u32(sym(_start) + 16) == addr(.ARM.exidx) + 48
//# check: u32(addr(.ARM.exidx) + 4) == 0x80b0b0b0
//# check: u32(addr(.ARM.exidx) + 20) == 1
//# check: u32(addr(.ARM.exidx) + 28) == 0x80b0b0b0
//# check: u32(addr(.ARM.exidx) + 36) == 1
//# check: u32(addr(.ARM.exidx) + 44) == 1
//# sh: llvm-readelf-22 --unwind table
//# stdout-re: FunctionName: three\n +ExceptionHandlingTable: \.ARM\.extab
//# stdout-re: FunctionName: four\n +Model: CantUnwind
//# stdout-not: FunctionName: two
//# sh: $LD --no-merge-exidx-entries a.o -o all && llvm-readelf-22 --unwind all
//# stdout-re: FunctionName: two
// What describes dead code goes with it.
//# sh: $LD --gc-sections a.o -o live && llvm-readelf-22 --unwind live
//# stdout-not: FunctionName: three
// A script may throw it away, or put something in front of it.
//# sh: printf 'SECTIONS { .text : { *(.text*) } /DISCARD/ : { *(.ARM.exidx*) *(.ARM.extab*) } }' > drop.ld
//# sh: $LD -T drop.ld --defsym=__exidx_start=0 --defsym=__exidx_end=0 a.o -o dropped && llvm-readelf-22 -lS dropped
//# stdout-not: exidx|EXIDX
//# sh: printf 'SECTIONS { .text : { *(.text*) } .tables : { *(.ARM.extab*) *(.ARM.exidx*) } }' > in.ld
//# sh: $LD -T in.ld --defsym=__exidx_start=0 --defsym=__exidx_end=0 a.o -o within && llvm-readelf-22 -l within
//# stdout-re: EXIDX .*0x00030 0x00030 R
// Program headers that a script lists are more by that of the table: GNU's objcopy adds what is missing, and has no room for it.
//# sh: printf 'PHDRS { text PT_LOAD FILEHDR PHDRS; } SECTIONS { . = SIZEOF_HEADERS; .text : { *(.text*) } :text .ARM.exidx : { *(.ARM.exidx*) } }' > list.ld
//# sh: $LD -T list.ld --defsym=__exidx_start=0 --defsym=__exidx_end=0 a.o -o listed && arm-linux-gnueabihf-objcopy -S listed copied && llvm-readelf-22 -l copied
//# stdout-re: There are 2 program headers
//# stdout-re: EXIDX .*0x00030 0x00030 R
//# sh: printf 'PHDRS { text PT_LOAD; table 0x70000001; } SECTIONS { .text : { *(.text*) } :text .ARM.exidx : { *(.ARM.exidx*) } :text :table }' > own.ld
//# sh: $LD -T own.ld --defsym=__exidx_start=0 --defsym=__exidx_end=0 a.o -o own && llvm-readelf-22 -l own
//# stdout-re: There are 2 program headers
// The machine is that of a thin archive's members, if there is nothing else: Linux is joined from one.
//# sh: arm-linux-gnueabihf-ar rcST liball.a a.o && $LD -r --whole-archive liball.a -o joined.o && llvm-readelf-22 -h joined.o
//# stdout-re: Machine: +ARM
    .syntax unified
    .globl _start
    .macro function name
    .section .text.\name, "ax", %progbits
    .type \name, %function
\name:
    .fnstart
    .endm
    function one
    .type _start, %function
_start:
    bl two
    bl four
    bl five
    .word __exidx_start, __exidx_end
    .fnend
    function two
    bx lr
    .fnend
    function three
    bx lr
    .personality routine
    .handlerdata
    .word 0
    .fnend
    .section .text.four, "ax", %progbits
    .type four, %function
four:
    bx lr
    function five
    bx lr
    .fnend
    .section .text.routine, "ax", %progbits
    .type routine, %function
routine:
    bx lr
