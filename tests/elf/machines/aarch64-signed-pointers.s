//# about: AArch64: pointers in data that are to be signed are left to the loader, at fixed addresses, too; the words keep how
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# obj: aarch64-signed-pointers.o = aarch64-signed-pointers.s @clang -march=armv8.3-a
//# obj: lib.o = lib.s @clang
//# obj: code.o = code.s @clang
//# obj: says.o = says.s @clang
//# obj: differs.o = differs.s @clang
//# link: -shared lib.o -soname libfar.so -o libfar.so
//# link: -pie aarch64-signed-pointers.o libfar.so
//# readelf: -r => R_AARCH64_AUTH_RELATIVE +[0-9a-f]+\n
//# readelf: -r => R_AARCH64_AUTH_ABS64 .* far \+ 8
//# bytes: sym(pointers) = 00 00 00 00 2a 00 00 20 00 00 00 00 2b 00 00 80
// Null is not signed.
//# [weld] bytes: sym(pointers) + 16 = 00 00 00 00 00 00 00 00
//# readelf-not: -r => nothing
//# link: aarch64-signed-pointers.o libfar.so
//# readelf: -r => R_AARCH64_AUTH_RELATIVE +[0-9a-f]+\n
//# readelf: -r => R_AARCH64_AUTH_ABS64 .* far \+ 8
//# [weld] fail: aarch64-signed-pointers.o lib.o
//# error: R_AARCH64_AUTH_ABS64 cannot be used for 'near': without a loader nobody signs it
//# [weld] sh: printf '.section .rodata,"a"; .quad near@AUTH(ia,1); .globl near; near:' | clang-22 --target=aarch64-linux-gnu -march=armv8.3-a -c -x assembler - -o fixed.o
//# [weld] fail: -shared fixed.o
//# error: R_AARCH64_AUTH_ABS64 in a read-only section needs a dynamic relocation against 'near'
// Slots and descriptors: functions are signed by one key, data by another, both by where they are.
//# obj: slots.o = slots.s @clang -march=armv8.3-a
//# link: -shared slots.o libfar.so
//# readelf: -r => R_AARCH64_AUTH_GLOB_DAT .* far \+ 0
//# readelf: -r => R_AARCH64_AUTH_GLOB_DAT .* code \+ 0
//# readelf: -r => R_AARCH64_AUTH_RELATIVE +[0-9a-f]+\n
//# readelf: -r => R_AARCH64_AUTH_TLSDESC +4\n
//# check: count(.got) == 1
//# check: u64(relocaddr(far)) == 0xa000000000000000
//# check: u64(relocaddr(code)) == 0x8000000000000000
//# disasm: slots => (?s)adrp.*ldr.*add.*adr .*ldr
//# link: -pie slots.o code.o lib.o
//# readelf-not: -r => GLOB_DAT
//# [weld] sh: printf '.text; adrp x0, :got:far; ldr x0, [x0, :got_lo12:far]' | $AS - -o plain.o
//# [weld] fail: -shared slots.o plain.o libfar.so
//# error: against 'far': its slot has a signed pointer for others, or for this alone
//# [weld] fail: slots.o code.o lib.o
//# error: which nobody signs here
// By which conventions: objects have to agree.
//# link: -shared says.o -o says.so
//# readelf: -n => AArch64 PAuth ABI core info: platform 0x2a \(unknown\), version 0x1
//# link: -r says.o lib.o -o joined.o
//# readelf: -n => AArch64 PAuth ABI core info: platform 0x2a \(unknown\), version 0x1
//# link: -shared says.o lib.o
//# [weld] link: -shared lib.o says.o -z pauth-report=warning
//# warning: lib.o: -z pauth-report: file does not say how it signs pointers, but says.o does
//# [weld] fail: -shared lib.o says.o -z pauth-report=error
//# error: lib.o: -z pauth-report: file does not say how it signs pointers, but says.o does
//# [weld] fail: -shared says.o differs.o
//# error: differs.o: signs pointers by version 0x2 for platform 0x2a, but says.o by version 0x1 for platform 0x2a
    .globl _start, near, pointers
    .weak nothing
    .text
_start:
near: ret
    .data
    .p2align 3
pointers:
    .quad near@AUTH(da,42)
    .quad (far + 8)@AUTH(ia,43,addr)
    .quad nothing@AUTH(ia,44)
//--- slots.s
    .globl slots
    .type slots, @function
    .type code, @function
    .hidden local
    .text
slots:
    adrp x0, :got_auth:far
    ldr x0, [x0, :got_auth_lo12:far]
    add x0, x0, :got_auth_lo12:far
    adr x0, :got_auth:code
    ldr x0, :got_auth:local
    adrp x0, :tlsdesc_auth:variable
    ldr x16, [x0, :tlsdesc_auth_lo12:variable]
    add x0, x0, :tlsdesc_auth_lo12:variable
    blraa x16, x0
    .data
    .globl local
local: .quad 1
    .section .tdata, "awT", @progbits
    .word 0
variable: .word 2
//--- code.s
    .globl code
    .type code, @function
    .text
code: ret
//--- lib.s
    .globl far, _start
    .type far, @object
    .size far, 16
    .data
far: .zero 16
    .weak _start
    .text
_start: ret
//--- says.s
    .section ".note.gnu.property", "a"
    .p2align 3
    .long 4, 24, 5
    .asciz "GNU"
    .long 0xc0000001, 16
    .quad 42, 1
//--- differs.s
    .section ".note.gnu.property", "a"
    .p2align 3
    .long 4, 24, 5
    .asciz "GNU"
    .long 0xc0000001, 16
    .quad 42, 2
