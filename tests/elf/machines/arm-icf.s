//# about: ARM: of functions that are the same one is kept only if they are unwound in the same way, too
//# not: bfd mold -- those that are installed are for this machine's programs
//# sh: arm-linux-gnueabihf-as arm-icf.s -o a.o
//# sh: $LD --icf=all a.o -o folded
//# in: folded
//# check: sym(one) == sym(same)
//# check: sym(one) != sym(other)
//# check: sym(one) != sym(none)
    .syntax unified
    .globl _start, one, same, other, none
_start:
    bl one
    bl same
    bl other
    bl none
    .macro function name, what
    .section .text.\name, "ax", %progbits
    .type \name, %function
\name:
    .fnstart
    push {r4, lr}
    .save {r4, lr}
    pop {r4, pc}
    .personality routine
    .handlerdata
    .word \what
    .fnend
    .endm
    function one, 1
    function same, 1
    function other, 2
    .section .text.none, "ax", %progbits
    .type none, %function
none:
    push {r4, lr}
    pop {r4, pc}
    .text
    .type routine, %function
routine:
    bx lr
