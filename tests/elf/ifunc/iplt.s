//# about: IFUNCs of the output have entries in .iplt; one that is only called stays an IFUNC, another is known by its entry. Their relocations come last
//# not: mold bfd -- they have no section of its own for them
//# matrix: kind=exec,pie,lazy
//# obj: lib.o = lib.s
//# [kind=exec] obj: main.o = iplt.s --defsym BOUNDS=1
//# [kind=pie] obj: main.o = iplt.s
//# [kind=lazy] obj: main.o = iplt.s --defsym CALLS=1
//# link: -shared lib.o -o lib.so -soname lib.so
//# [kind=exec] link: main.o
//# [kind=pie] link: -pie main.o
//# [kind=lazy] link: main.o lib.so
//# section: .iplt type=PROGBITS flags=AX size=32 align=16
//# symbol: called type=IFUNC section=.text
//# symbol: known type=FUNC section=.iplt
//# check: sym(known) == addr(.iplt) + 16
//# [kind=exec|pie] no-section: .plt .rela.plt
//# [kind=exec|pie] check: size(.got.plt) == 16
//# [kind=lazy] check: size(.got.plt) == 24 + 8 + 16
//# [kind=exec] check: size(.rela.dyn) == 48
//# [kind=exec|pie] reloc: R_X86_64_IRELATIVE in=.rela.dyn count=2
//# [kind=exec] check: u64(addr(.data)) == addr(.rela.dyn)
//# [kind=exec] check: u64(addr(.data) + 8) == end(.rela.dyn)
//# [kind=lazy !lld] check: dyn(PLTRELSZ) == 72
.globl _start, called, known
.type called, @gnu_indirect_function
called: ret
.type known, @gnu_indirect_function
known: ret
_start:
  call called
  call known
  lea known(%rip), %rax
.ifdef CALLS
  call bar@PLT
.endif
.ifdef BOUNDS
.data
  .quad __rela_iplt_start, __rela_iplt_end
.endif
//--- lib.s
.globl bar
bar: ret
