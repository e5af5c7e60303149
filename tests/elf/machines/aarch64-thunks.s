//# about: AArch64: calls that do not reach go through thunks, which have names; any distance, addresses fixed or not
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# link: aarch64-thunks.o --section-start=.far=0x9000000 -o near
//# run: near
//# exit: 42
//# symbol: __AArch64AbsLongThunk_f type=FUNC bind=LOCAL section=.text size=16
//# symbol: __AArch64AbsLongThunk_h type=FUNC bind=LOCAL section=.far size=16
//# no-symbol: __AArch64AbsLongThunk_near
//# readelf: -s => \$d
//# disasm: _start => bl.*<__AArch64AbsLongThunk_f>
//# disasm: _start => bl.*<near>
//# [weld] bytes: sym(__AArch64AbsLongThunk_f) = 50 00 00 58 00 02 1f d6 00 00 00 09 00 00 00 00
// A branch goes as far as it reaches, and one step further it does not.
//# link: aarch64-thunks.o --section-start=.text=0x10000000 --section-start=.far=0x17fffffc -o border
//# no-symbol: __AArch64AbsLongThunk_f
//# link: aarch64-thunks.o --section-start=.text=0x10000000 --section-start=.far=0x18000000 -o border
//# run: border
//# exit: 42
//# symbol: __AArch64AbsLongThunk_f
// Further than 4 GiB.
//# link: aarch64-thunks.o --section-start=.far=0x1234560000 -o far
//# run: far
//# exit: 42
// In programs that may be moved.
//# link: -pie aarch64-thunks.o --section-start=.far=0x9000000 -o pie
//# run: pie
//# exit: 42
//# symbol: __AArch64ADRPThunk_f type=FUNC bind=LOCAL section=.text size=12
//# disasm: __AArch64ADRPThunk_f => adrp\s+x16
//# [weld] link: -pie aarch64-thunks.o --section-start=.far=0x1234560000 -o far-pie
//# [weld] run: far-pie
//# exit: 42
//# [weld] symbol: __AArch64RelLongThunk_f type=FUNC bind=LOCAL section=.text size=24
// The map has them, and relocations that are kept name what was called.
//# [weld] link: aarch64-thunks.o --section-start=.far=0x9000000 --emit-relocs -Map=map -o kept
//# run: kept
//# exit: 42
//# reloc: R_AARCH64_CALL26 sym=f
//# reloc: R_AARCH64_JUMP26 sym=h
//# file: map => <internal>:\(\.text\.thunk\)\n.* __AArch64AbsLongThunk_f
//# check: sym(near) > sym(__AArch64AbsLongThunk_g) - 0x1000
//# link: aarch64-thunks.o --section-start=.far=0x9000000 -s -o stripped
//# run: stripped
//# exit: 42
// What is absolute may be anywhere, and what is undefined and weak is not gone to.
//# sh: printf '.globl _start; _start: bl fixed; bl nowhere; b fixed+8; .weak nowhere' | $AS - -o absolute.o
//# link: absolute.o --defsym=fixed=0x123456789abc -o absolute
//# symbol: __AArch64AbsLongThunk_fixed
//# disasm: _start => bl.*<_start\+0x8>
//# [weld] link: --branch-reach=0x400 --gc-sections --icf=all aarch64-thunks.o -o short
//# run: short
//# exit: 42
//# sh-fail: $LD --branch-reach=0x10 aarch64-thunks.o
//# [weld] stderr-re: expected 0x400 or more
//# sh-fail: printf '' | as - -o native.o && $LD --branch-reach=0x1000 native.o -o native
//# [weld] stderr-re: --branch-reach: on x86-64 all branches reach
.globl _start, near, f, g, h
.text
_start:
    bl f
    bl g
    bl near
    mov x8, #93
    svc #0
near:
    ret
.section .text.h,"ax",@progbits
h:
    add x0, x0, #1
    ret
.section .far,"ax",@progbits
f:
    mov x0, #40
    ret
g:
    str x30, [sp, #-16]!
    bl f
    bl h
    ldr x30, [sp], #16
    b h
