//# about: PowerPC64: calls that do not reach, that lose the caller's TOC or that want the function's address in r12 go through thunks
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: ppc64le
//# except: machine=x86-64
//# asflags: -mpower10
//# link: ppc64-thunks.o --section-start=.far=0x18000000 -o far
//# [weld] symbol: __long_branch_far_same type=FUNC bind=LOCAL section=.text size=16
//# [weld] symbol: __toc_save_far_loses type=FUNC bind=LOCAL section=.text size=20
//# [weld] symbol: __gep_setup_far_same type=FUNC bind=LOCAL section=.text size=16
//# [weld] symbol: __toc_save_near_loses type=FUNC bind=LOCAL section=.text size=8
//# [weld] no-symbol: __long_branch_near_same
//# sh: QEMU_CPU=power10 $RUN ./far
//# exit: 42
// A branch goes as far as it reaches, and one step further it does not.
//# link: ppc64-thunks.o --section-start=.text=0x10010000 --section-start=.far=0x12010000 -o border
//# sh: QEMU_CPU=power10 $RUN ./border
//# exit: 42
//# link: -pie ppc64-thunks.o --section-start=.far=0x8000000 -o pie
//# sh: QEMU_CPU=power10 $RUN ./pie
//# exit: 42
// Without instructions of Power10, as far as the linker can say.
//# link: ppc64-thunks.o --section-start=.far=0x18000000 --power10-stubs=no -o old
//# [weld] symbol: __gep_setup_far_same type=FUNC bind=LOCAL section=.text size=32
//# run: old
//# exit: 42
    .abiversion 2
    .text
    .globl _start, far_same, far_loses, near_same, near_loses
    .type _start,@function
_start:
    addis 2, 12, .TOC.-_start@ha
    addi 2, 2, .TOC.-_start@l
    .localentry _start, .-_start
    stdu 1, -64(1)
    li 3, 0
    bl near_same
    nop
    bl near_loses
    nop
    bl far_same
    nop
    bl far_loses
    nop
    bl pointless
    nop
    // r2 is what it was.
    addis 4, 2, value@toc@ha
    lwz 4, value@toc@l(4)
    add 3, 3, 4
    cmpwi 3, 0
    bc 4, 2, by_condition
by_condition:
    li 0, 1
    sc

    .type near_same,@function
near_same:
    addis 2, 12, .TOC.-near_same@ha
    addi 2, 2, .TOC.-near_same@l
    .localentry near_same, .-near_same
    addis 4, 2, value@toc@ha
    lwz 4, value@toc@l(4)
    add 3, 3, 4
    blr

    .type near_loses,@function
near_loses:
    .localentry near_loses, 1
    li 2, 0
    addi 3, 3, 2
    blr

// It has no TOC.
    .type pointless,@function
pointless:
    .localentry pointless, 1
    mflr 30
    li 2, 0
    bl near_same@notoc
    bl far_same@notoc
    bl far_loses@notoc
    mtlr 30
    blr

    .section .far, "ax"
    .type far_same,@function
far_same:
    addis 2, 12, .TOC.-far_same@ha
    addi 2, 2, .TOC.-far_same@l
    .localentry far_same, .-far_same
    addis 4, 2, value@toc@ha
    lwz 4, value@toc@l(4)
    add 3, 3, 4
    blr

    .type far_loses,@function
far_loses:
    .localentry far_loses, 1
    li 2, 0
    addi 3, 3, 5
    blr

    .data
value: .long 6
