//# about: AArch64: what memory Android is to tag is said in a note, and in tags of .dynamic where there is one
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# obj: aarch64-memtag.o = aarch64-memtag.s
//# obj: variables.o = variables.s
//# link: -shared aarch64-memtag.o --android-memtag-mode=async --android-memtag-heap
//# section: .note.android.memtag flags=A align=4 size=24
//# bytes: addr(.note.android.memtag) = 08 00 00 00 04 00 00 00 04 00 00 00 41 6e 64 72 6f 69 64 00 05 00 00 00
//# readelf: --memtag => AARCH64_MEMTAG_MODE: Asynchronous \(1\)
//# readelf: --memtag => AARCH64_MEMTAG_HEAP: Enabled \(1\)
//# readelf: --memtag => AARCH64_MEMTAG_STACK: Disabled \(0\)
//# readelf: --memtag => Tagging Mode: ASYNC\s+Heap: Enabled\s+Stack: Disabled
//# link: aarch64-memtag.o --android-memtag-mode=sync --android-memtag-stack
//# no-section: .dynamic
//# readelf: --memtag => Tagging Mode: SYNC\s+Heap: Disabled\s+Stack: Enabled
//# link: -shared aarch64-memtag.o --android-memtag-mode=sync --android-memtag-mode=none
//# no-section: .note.android.memtag
//# readelf-not: -d => MEMTAG
//# [weld] link: -shared aarch64-memtag.o --android-memtag-heap
//# warning: --android-memtag-heap and --android-memtag-stack do nothing without --android-memtag-mode
//# no-section: .note.android.memtag
//# [weld] fail: -shared aarch64-memtag.o --android-memtag-mode=asymm
//# error: --android-memtag-mode: expected sync, async or none, but got 'asymm'
//# sh-fail: printf '' | as - -o native.o && $LD -shared --android-memtag-mode=sync native.o -o native.so
//# [weld] stderr-re: --android-memtag-mode: x86-64 has no such property
// Lists of variables are for linkers.
//# link: -shared variables.o
//# no-section: .memtag.globals.static
//# [weld] link: -shared variables.o --android-memtag-mode=sync
//# warning: variables.o: asks for tagged variables, which are left without tags
//# no-section: .memtag.globals.static
//# link: -r variables.o -o joined.o
//# no-verify: compilers let relocations of a section without bytes name the variables
//# check: count(.memtag.globals.static) == 1
    .globl _start
_start: ret
//--- variables.s
    .globl variable
    .type variable, @object
    .size variable, 16
    .data
    .p2align 4
variable: .zero 16
    .section .memtag.globals.static, "", @0x70000007
    .reloc ., R_AARCH64_NONE, variable
