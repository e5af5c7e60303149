//# about: AArch64: slots with addresses and offsets are replaced by what they hold, also where instructions use other registers or share a page; else all of a symbol's stay
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# link: -z separate-code aarch64-relax.o
//# no-section: .got
// shared page: adrp x1; add x2, x1; add x3, x1
//# [weld] disasm: _start => adrp x1, .*\nadd x2, x1, #.*\nadd x3, x1, #
// initial exec
//# disasm: initial => movz? x0, #0x0, lsl #16|mov x0, #0x0
//# disasm: initial => movk x0, #0x10
// descriptors
//# disasm: descriptor => movk x0, #0x10\nnop\nnop
// general dynamic
//# disasm: general => movk x0, #0x10\nmrs x1, TPIDR_EL0\nadd x0, x0, x1
// A load into another register keeps its slot, and so do all others of that symbol.
//# [weld] link: --no-relax aarch64-relax.o
//# [weld] check: size(.got) >= 16
//# [weld] link: aarch64-relax.o apart.o
//# [weld] check: size(.got) == 8
//# [weld] disasm: initial => ldr x0, \[x0, #
//# [weld] disasm: apart => ldr x5, \[x4, #
.globl _start, x, v
.text
_start:
    adrp x1, :got:x
    ldr x2, [x1, :got_lo12:x]
    ldr x3, [x1, :got_lo12:x]
    ret
.globl initial
initial:
    adrp x0, :gottprel:v
    ldr x0, [x0, :gottprel_lo12:v]
    ret
.globl descriptor
descriptor:
    adrp x0, :tlsdesc:v
    ldr x1, [x0, :tlsdesc_lo12:v]
    add x0, x0, :tlsdesc_lo12:v
    .tlsdesccall v
    blr x1
    ret
.globl general
general:
    adrp x0, :tlsgd:v
    add x0, x0, :tlsgd_lo12:v
    bl __tls_get_addr
    nop
    ret
.data
x: .quad 1
.section .tdata,"awT"
v: .quad 2
.section .note.GNU-stack,"",%progbits
//--- apart.s
.globl apart
apart:
    adrp x4, :gottprel:v
    ldr x5, [x4, :gottprel_lo12:v]
    ret
.section .note.GNU-stack,"",%progbits
