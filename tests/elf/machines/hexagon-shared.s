//# about: Hexagon: shared objects and a program that uses one: slots, the PLT, thread-local storage by all models, copies; __tls_get_addr, which calls for it do not name, also from an archive
//# not: bfd mold -- those that are installed are for this machine's programs
//# not: lld -- it puts an address into instructions of shared objects by the loader, and calls __tls_get_addr of programs that have it by the PLT
//# obj: library.o = library.s @clang --target=hexagon-unknown-linux-musl
//# obj: hexagon-shared.o = hexagon-shared.s @clang --target=hexagon-unknown-linux-musl
//# obj: getter.o = getter.s @clang --target=hexagon-unknown-linux-musl
//# link: -m hexagonelf -shared library.o -o library.so
//# reloc: JMP_SLOT sym=function count=1
//# reloc: JMP_SLOT sym=__tls_get_addr count=1
//# reloc: GLOB_DAT sym=variable count=1
//# reloc: R_HEX_32 sym=variable count=1
//# reloc: DTPMOD_32 sym=each count=1
//# reloc: DTPREL_32 sym=each count=1
//# reloc: DTPMOD_32 count=3
//# reloc: TPREL_32 sym=each count=1
//# reloc: RELATIVE count=1
//# dynamic: FLAGS STATIC_TLS
//# dynsym: __tls_get_addr
// The header of the PLT, which finds .got.plt; an entry, whose word leads to the header at first.
//# check: dyn(PLTGOT) == addr(.got.plt)
//# check: u32(addr(.got.plt)) == addr(.dynamic)
//# check: u32(addr(.got.plt) + 16) == u32(addr(.got.plt) + 20) == addr(.plt)
//# bytes: addr(.plt) + 4 = ?? ?? 49 6a 0e 42 9c e2 4f 40 9c 91 3c c0 9c 91 0e 42 0e 8c 00 c0 9c 52 0c db 00 54
//# bytes: addr(.plt) + 36 = ?? ?? 49 6a 1c c0 8e 91 00 c0 9c 52
//# link: -m hexagonelf hexagon-shared.o library.so --allow-shlib-undefined
//# reloc: COPY sym=variable count=1
//# reloc: JMP_SLOT sym=function count=1
//# readelf: -h => Flags: +0x68
//# link: -m hexagonelf hexagon-shared.o library.so --allow-shlib-undefined -pie -z pack-relative-relocs -o pie
//# reloc: JMP_SLOT sym=function count=1
//# check: nrelr == 1
// Into one object, and once more.
//# link: -m hexagonelf -r library.o -o joined.o
//# link: -m hexagonelf -shared joined.o -o again.so
//# reloc: JMP_SLOT sym=__tls_get_addr count=1
//# reloc: TPREL_32 sym=each count=1
// In a program the function is the program's own, of an archive if there is one; without one it is missing.
//# sh: llvm-ar-22 rc getter.a getter.o && $LD -m hexagonelf -static library.o getter.a --defsym=function=0x10000 --defsym=variable=0x10000 -e local -o static
//# in: static
//# symbol: __tls_get_addr bind=GLOBAL
// Offsets of the local-dynamic model count from the start of the storage; so do the pair's.
//# check: u32(addr(.got) + 4) == 0
//# bytes: sym(function_end) - 28 = 00 40 00 00 80 c0 00 b0
//# no-section: .plt .rela.plt .rela.dyn
//# sh-fail: $LD -m hexagonelf -static library.o --defsym=function=0x10000 --defsym=variable=0x10000 -e local -o bad
//# stderr-re: undefined symbol: __tls_get_addr
// Slots by their addresses are for images at fixed ones.
//# sh: printf '.globl f\nf: r2 = memw(##e@IE)\n.section .tbss,"awT",@nobits\n.globl e\ne: .space 4\n' | clang-22 --target=hexagon-unknown-elf -x assembler -c - -o ie.o && $LD -m hexagonelf -e f ie.o -o fixed
//# sh-fail: $LD -m hexagonelf -shared -z notext ie.o -o bad
//# stderr-re: R_HEX_IE_32_6_X cannot be used against symbol 'e'
.globl _start
_start:
    r0 = add(pc, ##variable@PCREL)
    call function
    jumpr r31
.data
.p2align 2
word:
    .word word
//--- library.s
.globl function, variable, each, local
.type function, @function
.type variable, @object
.text
function:
local:
    call function
    r2 = add(pc, ##_GLOBAL_OFFSET_TABLE_@PCREL)
    r0 = memw(r2 + ##variable@GOT)
    r0 = add(r2, ##each@GDGOT)
    call each@GDPLT
    r0 = add(r2, ##mine@GDGOT)
    call ##mine@GDPLT
    r0 = add(r2, ##mine@LDGOT)
    call mine@LDPLT
    r0 = add(r0, ##mine@DTPREL)
    r3 = memw(r2 + ##each@IEGOT)
    r0 = add(r2, ##word@GOTREL)
    jumpr r31
.globl function_end
function_end:
.size function, .-function
.data
.p2align 2
word:
    .word word
    .word variable
variable:
    .word 7
.size variable, 4
.section .tdata,"awT",@progbits
.p2align 2
.globl each
.type each, @object
each: .word 1
.size each, 4
mine: .word 2
//--- getter.s
.globl __tls_get_addr
__tls_get_addr:
    jumpr r31
