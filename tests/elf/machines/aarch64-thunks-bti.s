//# about: AArch64: where indirect branches have to end at marks, thunks go to code without one by way of a mark
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# link: aarch64-thunks-bti.o --section-start=.far=0x9000000 -o fixed
//# run: fixed
//# exit: 42
//# readelf: -n => aarch64 feature: BTI
//# symbol: __AArch64AbsLongThunk_plain section=.text
//# symbol: __AArch64AbsLongThunk_marked section=.text
//# symbol: __AArch64BTIThunk_plain type=FUNC bind=LOCAL section=.far size=8
//# disasm: __AArch64BTIThunk_plain => bti\s+c
//# no-symbol: __AArch64BTIThunk_marked __AArch64BTIThunk_signed
//# link: -pie aarch64-thunks-bti.o --section-start=.far=0x9000000 -o pie
//# run: pie
//# exit: 42
//# symbol: __AArch64BTIThunk_plain section=.far
// Where nothing is claimed, nothing is marked.
//# sh: printf '.text; nop' | $AS - -o other.o
//# link: aarch64-thunks-bti.o other.o --section-start=.far=0x9000000 -o unclaimed
//# run: unclaimed
//# exit: 42
//# no-symbol: __AArch64BTIThunk_plain
.globl _start, plain, marked, signed
.text
_start:
    bti c
    bl marked
    bl plain
    bl signed
    mov x8, #93
    svc #0
.section .far,"ax",@progbits
marked:
    bti c
    mov x0, #40
    ret
plain:
    add x0, x0, #1
    ret
signed:
    paciasp
    add x0, x0, #1
    autiasp
    ret
.section .note.gnu.property,"a"
.balign 8
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000000, 4, 1, 0
.section .note.GNU-stack,"",%progbits
