//# about: AArch64: pointers in data that are to be signed are left to the loader, at fixed addresses, too; the words keep how
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# obj: aarch64-signed-pointers.o = aarch64-signed-pointers.s @clang -march=armv8.3-a
//# obj: lib.o = lib.s @clang
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
