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
//# link: -pie aarch64-signed-pointers.o libfar.so -z nodynamic-undefined-weak
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
//# error: pointers are to be signed, .* nothing in the program names __rela_iplt_start
// Without a loader, start code has them signed.
//# obj: start.o = start.s @clang
//# link: start.o aarch64-signed-pointers.o lib.o
//# readelf: -r => R_AARCH64_AUTH_RELATIVE +[0-9a-f]+\n
//# section: .rela.dyn size=48
//# check: sym(__rela_iplt_end) - sym(__rela_iplt_start) == 48
//# no-section: .relr.auth.dyn .rela.plt
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
//# obj: slot.o = slot.s @clang -march=armv8.3-a
//# link: start.o slot.o lib.o -e begin
//# check: sym(__rela_iplt_end) - sym(__rela_iplt_start) == 24
//# [weld] fail: slots.o code.o lib.o
//# error: R_AARCH64_AUTH_TLSDESC_ADR_PAGE21 is not in a TLS descriptor sequence that can be rewritten, and without a loader nobody fills descriptors
//# readelf: -r => R_AARCH64_AUTH_RELATIVE +[0-9a-f]+\n
// Packed, if there is room for the address in the lower half of the word.
//# obj: packed.o = packed.s @clang -march=armv8.3-a
//# link: -pie -z pack-relative-relocs packed.o lib.o
//# check: nsignedrelr == 3
//# check: dyn(0x70000012) == addr(.relr.auth.dyn)
//# check: dyn(0x70000011) == size(.relr.auth.dyn) == 16
//# check: dyn(0x70000013) == 8
//# check: u32(sym(packed)) == sym(packed) + 2
//# check: u32(sym(packed) + 8) == 0xfffffffd
//# check: u64(sym(packed) + 16) == 0x2000002d12345678
//# check: u64(sym(packed) + 24) == 0x2000002e00000000
//# check: u64(sym(packed) + 32) == 0x2000002f00000000
//# check: size(.rela.dyn) == 72
//# readelf: -r => R_AARCH64_AUTH_RELATIVE +123456789a\n
//# readelf: -r => R_AARCH64_AUTH_RELATIVE +4\n
//# link: packed.o libfar.so -z pack-relative-relocs -e packed
//# check: nsignedrelr == 3
//# check: u64(sym(packed) + 16) == 0x2000002d12345678 + sym(__ehdr_start)
//# link: -shared -Bsymbolic packed.o libfar.so --pack-dyn-relocs=android+relr
//# check: nsignedrelr == 3
// What has no room stays in the other table, where there may be nothing else. There is no table for nothing.
//# [weld] link: -shared -Bsymbolic packed.o lib.o -z pack-relative-relocs --section-start=.packed=0x91000000
//# [weld] check: nsignedrelr == 2
//# obj: far.o = far.s @clang -march=armv8.3-a
//# link: -shared far.o -z pack-relative-relocs
//# check: nsignedrelr == 0
//# [weld] no-section: .relr.auth.dyn
//# [weld] no-dynamic: 0x70000012
//# check: size(.rela.dyn) == 24
//# obj: big.o = packed.s @clang --target=aarch64_be-linux-gnu -march=armv8.3-a
//# [weld] link: -shared -Bsymbolic big.o -z pack-relative-relocs
//# [weld] check: nsignedrelr == 3
//# [weld] check: u64(sym(packed)) == 0x8000002b00000002 + sym(packed)
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
//--- start.s
    .globl begin
    .text
begin:
    adrp x0, __rela_iplt_start
    adrp x1, __rela_iplt_end
//--- packed.s
    .globl packed
    .section .packed, "aw", @progbits
    .p2align 3
packed:
    .quad (packed + 2)@AUTH(ia,43,addr)
    .quad (__ehdr_start - 3)@AUTH(ia,44,addr)
    .quad (__ehdr_start + 0x12345678)@AUTH(da,45)
    .quad (__ehdr_start + 0x123456789a)@AUTH(da,46)
    .quad (packed + 0x7fffffff)@AUTH(da,47)
    .byte 0x77
    .quad (__ehdr_start + 4)@AUTH(da,51)
//--- far.s
    .section .packed, "aw", @progbits
    .p2align 3
    .quad (.packed + 0x7fffffff)@AUTH(da,47)
//--- slot.s
    .text
    adrp x0, :got_auth:far
    ldr x0, [x0, :got_auth_lo12:far]
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
