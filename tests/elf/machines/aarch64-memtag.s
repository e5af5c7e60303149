//# about: AArch64: what memory Android is to tag is said in a note, and in tags of .dynamic where there is one
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# obj: aarch64-memtag.o = aarch64-memtag.s
//# obj: variables.o = variables.s @clang
//# obj: others.o = others.s @clang
//# obj: odd.o = odd.s @clang
//# obj: code.o = code.s @clang
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
//# no-section: .memtag.globals.static .memtag.globals.dynamic
//# readelf-not: -d => MEMTAG
// Loaders are told of those that all objects list. Pointers to them are never packed, slots of the GOT neither, and stay in the GOT.
//# link: -shared variables.o others.o --android-memtag-mode=sync -z pack-relative-relocs -Bsymbolic --gc-sections -u pointers -u load -u plain
//# no-section: .memtag.globals.static
//# section: .memtag.globals.dynamic type=0x70000008 flags=A
//# check: dyn(0x7000000d) == addr(.memtag.globals.dynamic)
//# readelf: --memtag => (?s)Memtag Global Descriptors:\n +0x[0-9a-f]+: 0x10\n +0x[0-9a-f]+: 0x20\n +0x[0-9a-f]+: 0x90\s*$
//# check: u64(sym(pointers)) == 0
//# check: s64(sym(pointers) + 8) == -16
//# check: s64(sym(pointers) + 16) == 4
//# check: u64(sym(pointers) + 24) == 0
//# check: u64(sym(pointers) + 32) == sym(disputed)
//# check: u64(sym(plain)) == sym(disputed)
//# check: u64(sym(plain) + 9) == 0
//# check: nrelr == 2
//# reloc: RELATIVE at=sym(pointers) addend=sym(variable)
//# reloc: RELATIVE at=sym(pointers)+8 addend=sym(variable)+16
//# reloc: RELATIVE at=sym(pointers)+24
//# reloc: RELATIVE count=6
//# disasm: load => adrp.*\n.*ldr.*\n.*adrp.*\n.*add
//# reloc: RELATIVE in=.rela.dyn addend=sym(large)
// Scripts that only add to the default layout leave both where they are.
//# link: -shared variables.o others.o --android-memtag-mode=sync add.lds
//# order: .note.android.memtag .memtag.globals.dynamic .dynsym .text
//# check: addr(.memtag.globals.dynamic) == end(.note.android.memtag)
//# [weld] fail: -shared variables.o --android-memtag-mode=sync --apply-dynamic-relocs
//# error: --apply-dynamic-relocs: where pointers get tags
//# [weld] fail: -shared odd.o --android-memtag-mode=sync
//# error: 'odd' is to be tagged, but lies at 0x[0-9a-f]+ and has 0x8 bytes: both have to be multiples of 16
//# error: 'empty' is to be tagged, but lies at 0x[0-9a-f]+ and has 0x0 bytes
//# [weld] fail: -shared code.o --android-memtag-mode=sync
//# error: code.o:\(.rela.memtag.globals.static\): lists 'f' to be tagged, which is no variable in ordinary memory
// Others load their own addresses.
//# [weld] link: -pie --no-dynamic-linker variables.o --android-memtag-mode=sync -e load
//# warning: variables.o: asks for tagged variables, which are left without tags
//# no-section: .memtag.globals.dynamic
//# link: variables.o others.o --android-memtag-mode=sync -e load
//# no-section: .memtag.globals.dynamic
//# check: u64(sym(pointers) + 8) == sym(variable) + 16
//# link: -pie --dynamic-linker=/none variables.o others.o --android-memtag-mode=sync -e load
//# section: .memtag.globals.dynamic
//# link: -r variables.o -o joined.o
//# no-verify: compilers let relocations of a section without bytes name the variables
//# check: count(.memtag.globals.static) == 1
    .globl _start
_start: ret
//--- variables.s
    .globl variable
    .type variable, @object
    .size variable, 16
    .globl disputed, pointers, load, inner, large, unused
    .hidden inner, large, unused
    .text
load:
    adrp x0, :got:large
    ldr x0, [x0, :got_lo12:large]
    adrp x0, :got:disputed
    ldr x0, [x0, :got_lo12:disputed]
    .data
    .p2align 4
variable: .zero 16
    .section .data.large, "aw"
    .p2align 4
    .type inner, @object
    .size inner, 32
inner: .zero 32
    .type large, @object
    .size large, 144
large: .zero 144
    .section .data.disputed, "aw"
    .p2align 4
    .type disputed, @object
    .size disputed, 16
disputed: .zero 16
    .section .data.unused, "aw"
    .p2align 4
    .type unused, @object
    .size unused, 16
unused: .zero 16
    .section .data.pointers, "aw"
    .p2align 4
pointers:
    .quad variable
    .quad variable + 16
    .quad inner - 4
    .quad inner + 31
    .quad disputed
    .section .memtag.globals.static, "", @0x70000007
    .reloc ., R_AARCH64_NONE, variable
    .reloc ., R_AARCH64_NONE, inner
    .reloc ., R_AARCH64_NONE, large
    .reloc ., R_AARCH64_NONE, disputed
    .reloc ., R_AARCH64_NONE, unused
//--- others.s
    .globl plain
    .section .data.plain, "aw"
    .p2align 3
plain:
    .quad disputed
    .byte 0
    .quad disputed
//--- odd.s
    .data
    .p2align 4
    .globl odd, empty
    .type odd, @object
    .size odd, 8
    .type empty, @object
odd: .zero 16
empty:
    .section .memtag.globals.static, "", @0x70000007
    .reloc ., R_AARCH64_NONE, odd
    .reloc ., R_AARCH64_NONE, empty
//--- code.s
    .text
    .globl f
    .type f, @function
f:  ret
    .section .memtag.globals.static, "", @0x70000007
    .reloc ., R_AARCH64_NONE, f
//--- add.lds
SECTIONS { .mine : { *(.mine) } } INSERT AFTER .text;
