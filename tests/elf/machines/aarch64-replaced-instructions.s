//# about: AArch64: instructions that a symbol's value replaces if something defines it (R_AARCH64_PATCHINST), in both byte orders
//# not: bfd mold -- those that are installed do not know it
//# machines: aarch64
//# matrix: target=aarch64,aarch64_be
//# except: machine=x86-64
//# obj: use.o = aarch64-replaced-instructions.s @clang --target={target}-linux-gnu
//# obj: def.o = def.s @clang --target={target}-linux-gnu
//# obj: place.o = place.s @clang --target={target}-linux-gnu
//# link: use.o
//# bytes: sym(_start) = 20 00 02 8b 02 00 00 14 83 00 05 8b c0 03 5f d6
//# link: -pie use.o
//# bytes: sym(_start) = 20 00 02 8b 02 00 00 14 83 00 05 8b c0 03 5f d6
//# link: -shared use.o
//# bytes: sym(_start) = 20 00 02 8b 02 00 00 14 83 00 05 8b c0 03 5f d6
//# no-reloc: *
//# link: use.o def.o
//# bytes: sym(_start) = 1f 20 03 d5 1f 20 03 d5 1f 20 03 d5 c0 03 5f d6
//# link: -pie use.o --defsym=ds=0xd503201f --defsym=more=0
//# bytes: sym(_start) = 1f 20 03 d5 1f 20 03 d5 1f 20 03 d5 c0 03 5f d6
//# [weld] link: -shared use.o def.o
//# [weld] bytes: sym(_start) = 1f 20 03 d5 1f 20 03 d5 1f 20 03 d5 c0 03 5f d6
//# link: -r use.o -o part.o
//# readelf: -r => R_AARCH64_PATCHINST
//# [weld] fail: use.o place.o
//# error: R_AARCH64_PATCHINST stores an instruction, but 'ds' is no number
//# [weld] fail: use.o def.o --defsym=more=0x100000000
//# error: more
//# [weld] fail: use.o --defsym=ds=0x100000000
//# error: R_AARCH64_PATCHINST is out of range: 0x100000000 is not in
    .globl _start
    .weak ds, more
    .text
_start:
    .reloc ., R_AARCH64_PATCHINST, ds
    add x0, x1, x2
    .reloc ., R_AARCH64_PATCHINST, ds
    b 1f
    .reloc ., R_AARCH64_PATCHINST, more + 0xd503201f
    add x3, x4, x5
1:  ret
//--- def.s
    .globl ds, more
    ds = 0xd503201f
    more = 0
//--- place.s
    .globl ds
    .text
ds: ret
